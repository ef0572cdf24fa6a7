"""Style: masked_fill before, product with the mask after."""

import torch


def masked_op(op, w, features, valid):
    w = w.clone().requires_grad_(True)
    x = torch.mv(features, w).masked_fill(~valid, 0.5)
    y = x.pow(0.3) if op == "power" else getattr(x, op)()
    value = y * valid
    return value.detach(), torch.autograd.grad(value.sum(), w)[0]
