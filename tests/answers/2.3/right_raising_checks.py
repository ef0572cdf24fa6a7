"""Style: small functions that assert, collected by a loop."""

import torch


class Batch:
    def __init__(self, logits, target, mask, ignore_index):
        self.logits, self.target, self.mask, self.ignore = logits, target, mask, ignore_index
        self.axis = 0 if logits.dim() == 1 else 1
        self.positions = tuple(n for i, n in enumerate(logits.shape) if i != self.axis)
        self.soft = torch.is_floating_point(target) and tuple(target.shape) == tuple(logits.shape)

    def logits_dtype(self):
        assert torch.is_floating_point(self.logits)

    def logits_finite(self):
        assert torch.isfinite(self.logits).all()

    def target_dtype(self):
        assert self.soft or self.target.dtype == torch.int64

    def target_shape(self):
        assert self.soft or tuple(self.target.shape) == self.positions

    def target_range(self):
        if self.soft:
            assert not (self.target < 0).any()
            assert ((self.target.sum(self.axis) - 1).abs() < 0.01).all()
        else:
            bad = (self.target < 0) | (self.target >= self.logits.shape[self.axis])
            assert not (bad & (self.target != self.ignore)).any()

    def mask_(self):
        if self.mask is not None:
            assert self.mask.dtype == torch.bool
            assert tuple(self.mask.shape) == self.positions

    def denominator(self):
        scored = torch.ones(self.positions, dtype=torch.bool) if self.soft else self.target != self.ignore
        assert (scored if self.mask is None else scored * self.mask).any()


def violated(logits, target, mask=None, ignore_index=-100):
    batch = Batch(logits, target, mask, ignore_index)
    failed = []

    def run(name, check):
        try:
            check()
        except AssertionError:
            failed.append(name)

    run("logits dtype", batch.logits_dtype)
    run("logits finite", batch.logits_finite)
    run("target dtype", batch.target_dtype)
    run("target shape", batch.target_shape)
    if not {"target dtype", "target shape"} & set(failed):
        run("target range", batch.target_range)
    run("mask", batch.mask_)
    if not {"target dtype", "target shape", "mask"} & set(failed):
        run("denominator", batch.denominator)
    return failed
