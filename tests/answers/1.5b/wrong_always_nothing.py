"""Calls every fit healthy, with honest numbers."""


def why_not_zero(fit):
    base = fit.loss()
    return {"cause": "nothing", "change": {}, "before": base, "after": base}
