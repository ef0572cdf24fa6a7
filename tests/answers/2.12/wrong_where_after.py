"""Mistake: chooses the linear branch after the overflow, so its derivative still gets through."""

import torch


def repaired(name, z):
    z = z.detach().requires_grad_()
    p = torch.softmax(z, -1)
    value = {
        "log_softmax": lambda: torch.log(p),
        "logsumexp": lambda: torch.log(torch.exp(z).sum(-1)),
        "softplus": lambda: torch.where(z > 20, z, torch.log1p(torch.exp(z))),
        "log_not": lambda: torch.log(1 - torch.sigmoid(z)),
        "entropy": lambda: -(p * torch.log(p)).sum(-1),
    }[name]()
    value.sum().backward()
    return value.detach(), z.grad
