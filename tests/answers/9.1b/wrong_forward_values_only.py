"""Raises where the gradient is nan, silent where a forward value is not finite; forgets gradients."""

import torch


def anomaly_report(values, ops):
    chain = [torch.tensor(values, requires_grad=True)]
    for op in ops:
        chain.append(getattr(torch, op)(chain[-1]))
    grads = torch.autograd.grad(chain[-1].sum(), chain)
    if any(g.isnan().any() for g in grads):
        return "raises"
    return "finite" if all(t.isfinite().all() for t in chain) else "silent"
