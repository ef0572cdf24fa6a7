"""Mistake: replaces what is not finite in the value and in the gradient."""

import torch


def repaired(name, z):
    z = z.detach().requires_grad_()
    p = torch.softmax(z, -1)
    value = {
        "log_softmax": lambda: torch.log(p),
        "logsumexp": lambda: torch.log(torch.exp(z).sum(-1)),
        "softplus": lambda: torch.log(1 + torch.exp(z)),
        "log_not": lambda: torch.log(1 - torch.sigmoid(z)),
        "entropy": lambda: -(p * torch.log(p)).sum(-1),
    }[name]().nan_to_num(0.0, 0.0, 0.0)
    value.sum().backward()
    return value.detach(), z.grad.nan_to_num(0.0)
