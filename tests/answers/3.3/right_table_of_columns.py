"""Columns of booleans as one tensor; the first False of a row is its finding."""

import copy

import torch
import torch.nn.functional as F

WORDS = ["no graph", "not registered", "not in optimizer", "bad gradient", "not moved", "ok"]


def audit_chain(model, optimizer, x, y, x_ids, y_ids, tensors, resting):
    values = list(tensors.values())
    before = copy.deepcopy([t.detach() for t in values])
    with torch.enable_grad():
        loss = F.cross_entropy(model(x), y, reduction="sum") / len(y)
    if any(t.requires_grad for t in values) and loss.requires_grad:
        loss.backward()
    gradients = [None if t.grad is None else t.grad.clone() for t in values]
    optimizer.step()
    parameters = set(model.parameters())  # tensors hash by identity
    held = set().union(*(group["params"] for group in optimizer.param_groups))
    columns = torch.tensor(
        [
            [g is not None for g in gradients],
            [t in parameters for t in values],
            [t in held for t in values],
            [g is not None and bool(((g * 0) == 0).all() & (g != 0).any()) for g in gradients],
            [bool(torch.any(t.detach().ne(b))) for t, b in zip(values, before)],
            [True] * len(values),
        ]
    )
    rows = (~columns).int()
    rows[-1] = 1
    first = rows.argmax(dim=0).tolist()
    findings = {}
    for i, name in enumerate(tensors):
        findings[name] = WORDS[first[i]]
        if name in resting:
            findings[name] = "moved" if columns[4, i] else "ok"
    return findings, torch.equal(x_ids, y_ids)
