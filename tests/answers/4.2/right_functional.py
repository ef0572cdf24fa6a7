"""Style: functional_call with detached parameters, log_softmax and gather, a context manager."""

from contextlib import contextmanager

import torch
from torch.func import functional_call


@contextmanager
def evaluating(model):
    modes = [m.training for m in model.modules()]
    model.eval()
    try:
        yield {k: v.detach() for k, v in (*model.named_parameters(), *model.named_buffers())}
    finally:
        for m, mode in zip(model.modules(), modes):
            m.train(mode) if not list(m.children()) else setattr(m, "training", mode)


def same_terms(model, train, val, weight_decay):
    out = {}
    with evaluating(model) as tensors:
        for key, part in {"train": train, "val": val}.items():
            picked = []
            for x, y in part:
                logp = functional_call(model, tensors, (x,)).log_softmax(dim=1)
                picked.extend((-logp.gather(1, y[:, None])).flatten().tolist())
            out[key] = sum(picked) / len(picked)
    out["penalty"] = (
        weight_decay * sum((p.detach() * p.detach()).sum().item() for p in model.parameters()) / 2
    )
    return out
