"""Compares exp(-loss) with half of the dtype's smallest subnormal number."""

import math

import torch


def breaking_logits(loss, target, classes, dtype):
    info = torch.finfo(dtype)
    if -loss > math.log(info.tiny) + math.log(info.eps) - math.log(2):
        return None
    z = torch.full((classes,), -loss / 2, dtype=dtype)
    other = 0 if target else 1
    z[other] = loss / 2
    return z
