"""A constant: every tensor is fine and every batch is paired."""


def audit_chain(model, optimizer, x, y, x_ids, y_ids, tensors, resting):
    return {name: "ok" for name in tensors}, True
