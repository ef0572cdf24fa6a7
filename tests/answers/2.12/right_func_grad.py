"""Style: torch.func, clamps on safe arguments only."""

import torch


def softplus(z):
    small = torch.clamp(z, max=20.0)
    return torch.where(z > 20, z, torch.log1p(torch.exp(small)))


def entropy(z):
    logits = z - z.logsumexp(-1, keepdim=True)
    return -(logits.softmax(-1) * logits).sum(-1)


FUNCTIONS = {
    "log_softmax": lambda z: torch.log_softmax(z, dim=-1),
    "logsumexp": lambda z: torch.logsumexp(z, dim=-1),
    "softplus": softplus,
    "log_not": lambda z: -softplus(z),
    "entropy": entropy,
}


def repaired(name, z):
    f = FUNCTIONS[name]
    gradient = torch.func.grad(lambda t: f(t).sum())(z)
    return f(z), gradient
