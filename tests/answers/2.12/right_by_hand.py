"""Style: algebra by hand: subtract the maximum and cancel log and exp."""

import torch


def lse(z):
    top = z.max(-1, keepdim=True).values.detach()
    return top + (z - top).exp().sum(-1, keepdim=True).log()


def plus(z):
    # max(z, 0) + log(1 + exp(-|z|)), with the tie at 0 shared evenly
    return torch.relu(z) + torch.log1p(torch.exp(-z.abs()))


def repaired(name, z):
    z = z.detach().requires_grad_()
    log_p = z - lse(z)
    value = {
        "log_softmax": lambda: log_p,
        "logsumexp": lambda: lse(z).squeeze(-1),
        "softplus": lambda: plus(z),
        "log_not": lambda: -plus(z),
        "entropy": lambda: -(log_p.exp() * log_p).sum(-1),
    }[name]()
    value.sum().backward()
    return value.detach(), z.grad
