"""The converse that is false."""

import math

import torch
import torch.nn.functional as F


def what_it_means(logits, targets):
    near = abs(F.cross_entropy(logits, targets).item() - math.log(logits.shape[1])) <= 0.01
    return "uniform" if near else "elsewhere"
