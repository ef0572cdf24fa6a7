"""Masks and torch.linalg, nan left to arise by itself."""

import torch


def tensor_stats(tensor, previous=None):
    with torch.no_grad():
        t = tensor.double()
        mask = t.isfinite()
        kept = t.masked_select(mask)
        mean = kept.sum() / kept.numel()
        result = {
            "mean": mean,
            "std": ((kept - mean).pow(2).sum() / kept.numel()).sqrt(),
            "finite": mask.double().mean(),
            "zero": t.eq(0).double().mean(),
            "norm": torch.linalg.vector_norm(kept),
            "relative_update": torch.tensor(float("nan")),
        }
        if previous is not None:
            p = previous.double()
            d = t - p
            up = torch.linalg.vector_norm(torch.where(d.isfinite(), d, 0.0))
            down = torch.linalg.vector_norm(torch.where(p.isfinite(), p, 0.0))
            result["relative_update"] = up / down if down > 0 or up > 0 else up
    return {k: v.item() for k, v in result.items()}
