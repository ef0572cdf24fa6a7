"""A B by B table of equal rows gives every example its averaged target; float32, no groups at all."""

import torch


def loss_floor(x, y, num_classes, label_smoothing):
    flat = x.reshape(x.shape[0], -1)
    same = (flat[:, None] == flat[None, :]).all(-1).float()
    one_hot = torch.eye(num_classes)[y]
    mixed = same @ one_hot / same.sum(1, keepdim=True)
    target = mixed * (1 - label_smoothing) + label_smoothing / num_classes
    return float(-torch.xlogy(target, target).sum(1).mean())
