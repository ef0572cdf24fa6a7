"""One helper with early returns; identity by `is`; loops instead of sets."""

import torch
from torch import nn


def _same(tensor, others):
    for other in others:
        if tensor is other:
            return True
    return False


def _finding(tensor, gradient, old, parameters, held, rests):
    changed = bool((tensor.detach() != old).any())
    if rests:
        return "moved" if changed else "ok"
    if not tensor.requires_grad or gradient is None:
        return "no graph"
    if not _same(tensor, parameters):
        return "not registered"
    if not _same(tensor, held):
        return "not in optimizer"
    if not torch.isfinite(gradient).all() or torch.count_nonzero(gradient) == 0:
        return "bad gradient"
    if not changed:
        return "not moved"
    return "ok"


def audit_chain(model, optimizer, x, y, x_ids, y_ids, tensors, resting):
    held = []
    for group in optimizer.param_groups:
        held.extend(group["params"])
    old = {}
    for name in tensors:
        old[name] = tensors[name].detach().clone()
        tensors[name].grad = None
    loss = nn.CrossEntropyLoss()(model(x), y)
    try:
        loss.backward()
    except RuntimeError:
        pass
    optimizer.step()
    findings = {}
    for name, tensor in tensors.items():
        findings[name] = _finding(
            tensor, tensor.grad, old[name], list(model.parameters()), held, name in resting
        )
    paired = True
    for a, b in zip(x_ids.tolist(), y_ids.tolist()):
        if a != b:
            paired = False
    return findings, paired
