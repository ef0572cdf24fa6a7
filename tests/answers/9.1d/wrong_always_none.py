"""A constant answer."""


def breaking_logits(loss, target, classes, dtype):
    return None
