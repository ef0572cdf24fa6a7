"""Mistake: subtracts the maximum and then takes the logarithm of a rounded zero."""

import torch


def repaired(name, z):
    z = z.detach().requires_grad_()
    e = torch.exp(z - z.max(-1, keepdim=True).values)
    p = e / e.sum(-1, keepdim=True)
    value = {
        "log_softmax": lambda: torch.log(p),
        "logsumexp": lambda: torch.log(torch.exp(z).sum(-1)),
        "softplus": lambda: torch.log(1 + torch.exp(z)),
        "log_not": lambda: torch.log(1 - torch.sigmoid(z)),
        "entropy": lambda: -(p * torch.log(p)).sum(-1),
    }[name]()
    value.sum().backward()
    return value.detach(), z.grad
