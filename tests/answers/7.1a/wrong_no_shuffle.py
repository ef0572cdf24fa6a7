"""Returns everything as it came."""

import torch


def joint_shuffle(inputs, labels, ids, seed):
    return inputs, labels, ids
