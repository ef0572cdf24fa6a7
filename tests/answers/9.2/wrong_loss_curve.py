"""Diagnoses from the loss curve alone."""

import math


def diagnose(run):
    losses = [run.step() for _ in range(3 * run.batches())]
    if any(math.isnan(loss) for loss in losses):
        fault = "nan input"
    elif losses[-1] > 10 * losses[0]:
        fault = "learning rate"
    elif losses[-1] > 0.98 * losses[0]:
        fault = "wrong parameter"
    elif any(b > 1.5 * a for a, b in zip(losses, losses[1:])):
        fault = "zero_grad"
    else:
        fault = "healthy"
    return {"fault": fault, "observable": {"value": losses[-1], "ids": []}, "control": {"value": losses[0]}}
