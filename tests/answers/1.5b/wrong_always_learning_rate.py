"""Blames the learning rate every time, with honest numbers."""


def why_not_zero(fit):
    return {"cause": "learning rate", "change": {"lr": 0.5}, "before": fit.loss(), "after": fit.loss(lr=0.5)}
