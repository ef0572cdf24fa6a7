"""Mistake: takes whatever cross_entropy does not refuse for valid."""

import torch
import torch.nn.functional as F


def violated(logits, target, mask=None, ignore_index=-100):
    try:
        loss = F.cross_entropy(logits, target, ignore_index=ignore_index)
    except (RuntimeError, ValueError):
        return ["target shape"]
    except IndexError:
        return ["target range"]
    return [] if torch.isfinite(loss) else ["logits finite"]
