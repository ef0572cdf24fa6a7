"""Style: measure the factor with autograd and SGD in float64."""

import torch


def fate(a, eta):
    w = torch.ones((), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=eta)
    (0.5 * a * w**2).backward()
    optimizer.step()
    after = w.item()
    if after == 1:
        return "stay"
    if after == -1:
        return "oscillate"
    return "converge" if -1 < after < 1 else "diverge"
