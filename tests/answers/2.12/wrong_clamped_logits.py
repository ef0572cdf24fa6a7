"""Mistake: clamps the logits to a range that is safe."""

import torch


def repaired(name, z):
    z = z.detach().requires_grad_()
    t = z.clamp(-50, 50)
    p = torch.softmax(t, -1)
    value = {
        "log_softmax": lambda: torch.log(p),
        "logsumexp": lambda: torch.log(torch.exp(t).sum(-1)),
        "softplus": lambda: torch.log(1 + torch.exp(t)),
        "log_not": lambda: torch.log(1 - torch.sigmoid(t)),
        "entropy": lambda: -(p * torch.log(p)).sum(-1),
    }[name]()
    value.sum().backward()
    return value.detach(), z.grad
