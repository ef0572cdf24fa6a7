"""Rotates by a random amount."""

import torch


def joint_shuffle(inputs, labels, ids, seed):
    shift = seed % len(ids)
    return inputs.roll(shift, 0), labels.roll(shift, 0), ids.roll(shift, 0)
