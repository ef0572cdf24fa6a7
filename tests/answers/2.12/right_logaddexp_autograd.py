"""Style: logaddexp, and torch.autograd.grad."""

import torch


def repaired(name, z):
    z = z.clone().requires_grad_(True)
    zero = torch.zeros_like(z)
    functions = {
        "log_softmax": lambda z: z - z.logsumexp(-1, keepdim=True),
        "logsumexp": lambda z: z.logsumexp(-1),
        "softplus": lambda z: torch.logaddexp(z, zero),
        "log_not": lambda z: -torch.logaddexp(z, zero),
        "entropy": lambda z: torch.distributions.Categorical(logits=z).entropy(),
    }
    value = functions[name](z)
    (gradient,) = torch.autograd.grad(value.sum(), z)
    return value.detach(), gradient
