"""Style: a small class with a running sum and count; a batch counts when its targets are not -100."""

import math

import torch


class Meter:
    def __init__(self):
        self.sum, self.n = 0.0, 0

    def add(self, value, n):
        if n:
            self.sum, self.n = math.fsum((self.sum, value)), self.n + n

    @property
    def mean(self):
        return self.sum / self.n


def comparable_losses(*runs):
    meters = [Meter() for _ in runs]
    for meter, run in zip(meters, runs):
        weights = run["class_weights"]
        for b in run["batches"]:
            scored = torch.nonzero(b["targets"] != -100, as_tuple=True)
            n = scored[0].numel()
            match run["reduction"]:
                case "none":
                    w = weights.index_select(0, b["targets"][scored]) if weights is not None else 1.0
                    meter.add(torch.div(b["loss"][scored], w).sum().item(), n)
                case "mean":
                    meter.add(n * (b["loss"] - run["penalty"]), n)
                case "sum":
                    meter.add(b["loss"] - run["penalty"], n)
    return meters[0].mean, meters[1].mean
