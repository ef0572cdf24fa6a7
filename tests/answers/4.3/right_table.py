"""Style: a table of undoing functions, float64, zip and sum."""

import torch


def undo_none(batch, run):
    mask = batch["mask"]
    weights = run["class_weights"]
    divisor = torch.ones(()) if weights is None else weights[batch["targets"].clamp(min=0)]
    return torch.where(mask, batch["loss"].double() / divisor, 0.0).sum()


UNDO = {
    "none": undo_none,
    "mean": lambda b, r: torch.nan_to_num(torch.tensor(b["loss"] - r["penalty"])) * b["mask"].sum(),
    "sum": lambda b, r: torch.tensor(b["loss"] - r["penalty"]),
}


def comparable_losses(run_a, run_b):
    out = []
    for run in (run_a, run_b):
        total = sum(UNDO[run["reduction"]](b, run) for b in run["batches"])
        out.append(float(total / sum(b["mask"].sum() for b in run["batches"])))
    return tuple(out)
