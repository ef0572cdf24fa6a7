"""Mistake: divides by the sum of the weights, as the weighted mean does."""

import torch


def data_loss(run):
    total, count = 0.0, 0
    for batch in run["batches"]:
        mask = batch["mask"]
        n = int(mask.sum())
        if n == 0:
            continue
        if run["reduction"] == "none":
            plain = batch["loss"][mask]
            total += plain.sum().item()
        elif run["reduction"] == "mean":
            total += (batch["loss"] - run["penalty"]) * n
        else:
            total += batch["loss"] - run["penalty"]
        count += (
            run["class_weights"][batch["targets"][mask]].sum().item() if run["reduction"] == "none" else n
        )
    return total / count


def comparable_losses(run_a, run_b):
    return data_loss(run_a), data_loss(run_b)
