"""Whatever is meant to rest is fine, moved or not."""

import torch
import torch.nn.functional as F


def audit_chain(model, optimizer, x, y, x_ids, y_ids, tensors, resting):
    registered = {id(p) for p in model.parameters()}
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    before = {name: t.detach().clone() for name, t in tensors.items()}
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    if loss.requires_grad:
        loss.backward()
    optimizer.step()
    findings = {}
    for name, t in tensors.items():
        moved = not torch.equal(before[name], t)
        links = {
            "no graph": t.requires_grad and t.grad is not None,
            "not registered": id(t) in registered,
            "not in optimizer": id(t) in held,
            "bad gradient": t.grad is not None and bool(torch.isfinite(t.grad).all()) and bool(t.grad.any()),
            "not moved": moved,
        }
        if name in resting:
            findings[name] = "ok"
        else:
            findings[name] = next((link for link, good in links.items() if not good), "ok")
    return findings, torch.equal(x_ids, y_ids)
