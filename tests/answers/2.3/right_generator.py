"""Style: a generator with counts instead of masks."""

import torch


def clauses(logits, target, mask, ignore_index):
    shape = tuple(logits.shape)
    where = shape[1:] if len(shape) == 1 else shape[:1] + shape[2:]
    c = shape[min(1, len(shape) - 1)]
    if not torch.is_floating_point(logits):
        yield "logits dtype"
    if torch.isfinite(logits).sum() != logits.numel():
        yield "logits finite"
    mask_ok = mask is None or (mask.dtype == torch.bool and tuple(mask.shape) == where)
    if not mask_ok:
        yield "mask"
    if target.is_floating_point() and tuple(target.shape) == shape:
        rows = target.transpose(0, 1).reshape(c, -1) if len(shape) > 1 else target[:, None]
        if rows.min() < 0 or (rows.sum(0) - 1).abs().max() > 0.01:
            yield "target range"
        if mask_ok and mask is not None and mask.count_nonzero() == 0:
            yield "denominator"
        return
    if target.dtype != torch.int64:
        yield "target dtype"
    if tuple(target.shape) != where:
        yield "target shape"
    if target.dtype == torch.int64 and tuple(target.shape) == where:
        scored = target.flatten()[target.flatten() != ignore_index]
        if len(scored) and not (0 <= int(scored.min()) and int(scored.max()) < c):
            yield "target range"
        if mask_ok:
            kept = target if mask is None else target[mask]
            if torch.count_nonzero(kept - ignore_index) == 0:
                yield "denominator"


def violated(logits, target, mask=None, ignore_index=-100):
    return list(clauses(logits, target, mask, ignore_index))
