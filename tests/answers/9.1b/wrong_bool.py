"""A bool where one of three words is asked."""

import torch


def anomaly_report(values, ops):
    chain = [torch.tensor(values, requires_grad=True)]
    for op in ops:
        chain.append(getattr(torch, op)(chain[-1]))
    return any(bool(g.isnan().any()) for g in torch.autograd.grad(chain[-1].sum(), chain))
