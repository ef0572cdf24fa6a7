"""Draws from the global generator."""

import torch


def joint_shuffle(inputs, labels, ids, seed):
    order = torch.randperm(len(ids))
    return inputs[order], labels[order], ids[order]
