"""Mistake: log of sigmoid(z) instead of log of 1 - sigmoid(z)."""

import torch
import torch.nn.functional as F


def repaired(name, z):
    z = z.detach().requires_grad_()
    if name == "log_softmax":
        value = F.log_softmax(z, -1)
    elif name == "logsumexp":
        value = torch.logsumexp(z, -1)
    elif name == "softplus":
        value = F.softplus(z)
    elif name == "log_not":
        value = F.logsigmoid(z)
    else:
        value = -(F.softmax(z, -1) * F.log_softmax(z, -1)).sum(-1)
    value.sum().backward()
    return value.detach(), z.grad
