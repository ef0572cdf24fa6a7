"""A list of positions shuffled by random.Random."""

import random

import torch


def joint_shuffle(inputs, labels, ids, seed):
    order = list(range(ids.shape[0]))
    random.Random(seed).shuffle(order)
    return tuple(t[order] for t in (inputs, labels, ids))
