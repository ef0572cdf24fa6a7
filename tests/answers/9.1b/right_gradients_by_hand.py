"""No tool: asks autograd for the gradient of every value, and looks for nan by itself."""

import torch


def anomaly_report(values, ops):
    chain = [torch.tensor(values, dtype=torch.float32).requires_grad_()]
    for op in ops:
        chain.append(getattr(torch, op)(chain[-1]))
    grads = torch.autograd.grad(chain[-1].sum(), chain)
    if any(g.isnan().any() for g in grads):
        return "raises"
    everything = torch.cat([t.detach() for t in (*chain, *grads)] + [chain[-1].detach().sum()[None]])
    return "silent" if not everything.isfinite().all() else "finite"
