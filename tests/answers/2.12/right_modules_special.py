"""Style: modules and torch.special; entr for the entropy."""

import torch


class Entropy(torch.nn.Module):
    def forward(self, z):
        log_p = torch.nn.LogSoftmax(dim=-1)(z)
        return torch.logsumexp(z, -1) - (log_p.exp() * z).sum(-1)


class LogSumExp(torch.nn.Module):
    def forward(self, z):
        top = z.amax(-1, keepdim=True).detach()
        return (z - top).exp().sum(-1).log() + top[..., 0]


class LogNot(torch.nn.Module):
    def forward(self, z):
        return torch.special.log_softmax(torch.stack([z, torch.zeros_like(z)], -1), -1)[..., 1]


MODULES = {
    "log_softmax": torch.nn.LogSoftmax(dim=-1),
    "logsumexp": LogSumExp(),
    "softplus": torch.nn.Softplus(threshold=30),
    "log_not": LogNot(),
    "entropy": Entropy(),
}


def repaired(name, z):
    z = z.detach().requires_grad_()
    value = MODULES[name](z)
    value.sum().backward()
    return value.detach(), z.grad
