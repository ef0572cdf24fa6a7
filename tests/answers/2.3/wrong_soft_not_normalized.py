"""Mistake: any nonnegative soft target passes."""

import torch


def violated(logits, target, mask=None, ignore_index=-100):
    names = []
    if not logits.is_floating_point():
        names.append("logits dtype")
    if not torch.isfinite(logits).all():
        names.append("logits finite")
    dim = min(1, logits.dim() - 1)
    positions = list(logits.shape)
    classes = positions.pop(dim)
    soft = target.is_floating_point() and target.shape == logits.shape
    dtype_ok = soft or target.dtype == torch.long
    shape_ok = soft or list(target.shape) == positions
    if not dtype_ok:
        names.append("target dtype")
    if not shape_ok:
        names.append("target shape")
    if dtype_ok and shape_ok:
        if soft:
            scored = torch.ones(positions, dtype=torch.bool)
            ok = (target >= 0).all()
        else:
            scored = target != ignore_index
            kept = target[scored]
            ok = ((kept >= 0) & (kept < classes)).all()
        if not ok:
            names.append("target range")
    mask_ok = mask is None or (mask.dtype == torch.bool and list(mask.shape) == positions)
    if not mask_ok:
        names.append("mask")
    if dtype_ok and shape_ok and mask_ok:
        if mask is not None:
            scored = scored & mask
        if scored.sum() == 0:
            names.append("denominator")
    return names
