"""Compares the final loss with known floors and changes nothing."""


def why_not_zero(fit):
    base = fit.loss()
    cause = "nothing" if base < 0.05 else "unsuitable loss" if 0.5 < base < 0.8 else "label smoothing" if base < 0.5 else "learning rate"
    return {"cause": cause, "change": {}, "before": base, "after": base}
