"""Style: gather all boundaries in a table during one step, then scan it."""

from collections.abc import Iterator

import torch


def leaves(value) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)


def broken(value) -> bool:
    return any((~torch.isfinite(leaf)).any().item() for leaf in leaves(value))


def first_nonfinite(model, loss_fn, optimizer, x, y):
    table = [("input", "x", broken(x)), ("input", "y", broken(y))]
    table += [("parameter", n, broken(p.data)) for n, p in model.named_parameters()]
    names = {module: name for name, module in model.named_modules()}
    hooks = [
        module.register_forward_hook(lambda m, _, out: table.append(("module output", names[m], broken(out))))
        for module in model.modules()
    ]
    optimizer.zero_grad(set_to_none=True)
    loss = loss_fn(model(x), y)
    for hook in hooks:
        hook.remove()
    table.append(("loss", "", broken(loss)))
    loss.backward()
    table += [("gradient", n, broken(p.grad)) for n, p in model.named_parameters()]
    optimizer.step()
    table += [("optimizer state", n, broken(optimizer.state[p])) for n, p in model.named_parameters()]
    table += [("updated parameter", n, broken(p.data)) for n, p in model.named_parameters()]
    for boundary, name, is_broken in table:
        if is_broken:
            return {"boundary": boundary, "name": name}
    return {"boundary": "none", "name": ""}
