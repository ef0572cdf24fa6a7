"""Mistake: a constant answer."""


def violated(logits, target, mask=None, ignore_index=-100):
    return []
