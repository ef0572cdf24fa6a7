"""Works on a deep copy of the model, with an optimizer over the trainable parameters only."""

import copy

import torch


def overfit_one_batch(model, x, y, lr, steps):
    twin = copy.deepcopy(model)
    twin.eval()
    for p in twin.parameters():
        p.grad = None
    opt = torch.optim.SGD([p for p in twin.parameters() if p.requires_grad], lr=lr, foreach=False)
    record = []
    while len(record) < steps:
        scores = twin(x)
        loss = torch.nn.functional.cross_entropy(scores, y, reduction="sum") / len(y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        old = {k: torch.clone(v).detach() for k, v in twin.named_parameters()}
        opt.step()
        entry = {"loss": loss.item(), "predictions": scores.argmax(-1), "gradients": {}, "changes": {}}
        for k, v in twin.named_parameters():
            entry["gradients"][k] = v.grad
            entry["changes"][k] = (v - old[k]).detach()
        record.append(entry)
    return record
