"""Shuffles a list of triples and stacks them again."""

import numpy as np
import torch


def joint_shuffle(inputs, labels, ids, seed):
    rows = list(zip(inputs, labels, ids))
    np.random.default_rng(seed).shuffle(order := np.arange(len(rows)))
    rows = [rows[i] for i in order]
    return tuple(torch.stack(column) for column in zip(*rows))
