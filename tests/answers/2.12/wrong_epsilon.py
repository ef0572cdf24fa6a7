"""Mistake: an epsilon inside every logarithm."""

import torch


def repaired(name, z):
    z = z.detach().requires_grad_()
    p = torch.softmax(z, -1)
    value = {
        "log_softmax": lambda: torch.log(p + 1e-12),
        "logsumexp": lambda: torch.log(torch.exp(z).sum(-1) + 1e-12),
        "softplus": lambda: torch.log(1 + torch.exp(z)),
        "log_not": lambda: torch.log(1 - torch.sigmoid(z) + 1e-12),
        "entropy": lambda: -(p * torch.log(p + 1e-12)).sum(-1),
    }[name]()
    value.sum().backward()
    return value.detach(), z.grad
