"""Style: one branch for each reduction."""

import torch


def data_loss(run):
    total, count = 0.0, 0
    for batch in run["batches"]:
        n = int(batch["mask"].sum())
        if n == 0:
            continue
        count += n
        if run["reduction"] == "none":
            loss = batch["loss"][batch["mask"]]
            if run["class_weights"] is not None:
                loss = loss / run["class_weights"][batch["targets"][batch["mask"]]]
            total += loss.sum().item()
        elif run["reduction"] == "mean":
            total += (batch["loss"] - run["penalty"]) * n
        else:
            total += batch["loss"] - run["penalty"]
    return total / count


def comparable_losses(run_a, run_b):
    return data_loss(run_a), data_loss(run_b)
