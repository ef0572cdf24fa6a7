"""Mistake: looks for nan and lets inf pass."""

import torch


def finite(value):
    if isinstance(value, (tuple, list)):
        return all(finite(v) for v in value)
    return not isinstance(value, torch.Tensor) or not bool(torch.isnan(value).any())


def first_nonfinite(model, loss_fn, optimizer, x, y):
    def found(boundary, name=""):
        return {"boundary": boundary, "name": name}

    for name, tensor in (("x", x), ("y", y)):
        if not finite(tensor):
            return found("input", name)
    for name, parameter in model.named_parameters():
        if not finite(parameter):
            return found("parameter", name)

    bad = []
    handles = []
    for name, module in model.named_modules():

        def look(module, args, output, name=name):
            if not finite(output):
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    try:
        optimizer.zero_grad()
        output = model(x)
    finally:
        for handle in handles:
            handle.remove()
    if bad:
        return found("module output", bad[0])
    loss = loss_fn(output, y)
    if not finite(loss):
        return found("loss")
    loss.backward()
    for name, parameter in model.named_parameters():
        if parameter.grad is not None and not finite(parameter.grad):
            return found("gradient", name)
    optimizer.step()
    for name, parameter in model.named_parameters():
        for value in optimizer.state.get(parameter, {}).values():
            if not finite(value):
                return found("optimizer state", name)
    for name, parameter in model.named_parameters():
        if not finite(parameter):
            return found("updated parameter", name)
    return found("none")
