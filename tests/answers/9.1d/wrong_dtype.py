"""Returns float32 whatever the dtype."""

import torch


def breaking_logits(loss, target, classes, dtype):
    z = torch.zeros(classes)
    z[(target + 1) % classes] = loss
    return z if z.to(dtype).softmax(0).log()[target].isinf() else None
