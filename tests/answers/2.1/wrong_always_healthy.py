"""Mistake: a constant answer."""


def first_nonfinite(model, loss_fn, optimizer, x, y):
    return {"boundary": "none", "name": ""}
