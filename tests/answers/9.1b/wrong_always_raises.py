"""A constant answer."""


def anomaly_report(values, ops):
    return "raises"
