"""Style: a dict from clause to verdict, with None for what can't be judged."""

import torch


def violated(logits, target, mask=None, ignore_index=-100):
    classes_last = logits.movedim(1, -1) if logits.dim() > 1 else logits
    shape, c = classes_last.shape[:-1], classes_last.shape[-1]
    soft = target.is_floating_point() and target.shape == logits.shape
    holds = {
        "logits dtype": logits.dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16),
        "logits finite": not (logits.isnan() | logits.isinf()).any(),
        "target dtype": soft or target.dtype is torch.int64,
        "target shape": soft or target.shape == shape,
        "target range": None,
        "mask": mask is None or (mask.dtype is torch.bool and mask.shape == shape),
        "denominator": None,
    }
    if holds["target dtype"] and holds["target shape"]:
        if soft:
            p = target.movedim(1, -1) if target.dim() > 1 else target
            count = torch.full(shape, True)
            holds["target range"] = all(
                min(row) >= 0 and abs(sum(row) - 1) <= 0.01 for row in p.reshape(-1, c).tolist()
            )
        else:
            count = target.ne(ignore_index)
            holds["target range"] = all(0 <= t < c for t in target.flatten().tolist() if t != ignore_index)
        if holds["mask"]:
            holds["denominator"] = bool((count if mask is None else count.logical_and(mask)).any())
    return [clause for clause, ok in holds.items() if ok is False or (ok is not None and not ok)]
