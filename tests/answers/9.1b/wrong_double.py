"""Computes in float64, where fewer numbers overflow."""

import torch


def anomaly_report(values, ops):
    chain = [torch.tensor(values, dtype=torch.float64).requires_grad_()]
    for op in ops:
        chain.append(getattr(torch, op)(chain[-1]))
    grads = torch.autograd.grad(chain[-1].sum(), chain)
    if any(g.isnan().any() for g in grads):
        return "raises"
    return "finite" if all(t.isfinite().all() for t in (*chain, *grads)) else "silent"
