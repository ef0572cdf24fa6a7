"""Style: a class with leaf hooks; optimizer state read from state_dict, finiteness by subtraction."""

import torch


class Finder:
    def __init__(self):
        self.first = None

    def see(self, boundary, name, value):
        if self.first is None and torch.is_tensor(value) and value.numel() and value.is_floating_point():
            # inf - inf and nan - nan are nan
            if not torch.equal(value - value, torch.zeros_like(value)):
                self.first = {"boundary": boundary, "name": name}

    def hook(self, name):
        def seen(module, inputs, output):
            for value in output if isinstance(output, (tuple, list)) else [output]:
                self.see("module output", name, value)

        return seen


def first_nonfinite(model, loss_fn, optimizer, x, y):
    finder = Finder()
    finder.see("input", "x", x)
    finder.see("input", "y", y)
    named = dict(model.named_parameters())
    for name in named:
        finder.see("parameter", name, named[name].detach())
    for name, module in model.named_modules():
        module.register_forward_hook(finder.hook(name))
    model.zero_grad()
    loss = loss_fn(model(x), y)
    finder.see("loss", "", loss.detach())
    loss.backward()
    for name in named:
        finder.see("gradient", name, named[name].grad)
    optimizer.step()
    order = [p for group in optimizer.param_groups for p in group["params"]]
    state = optimizer.state_dict()["state"]
    index = {id(p): i for i, p in enumerate(order)}
    for name in named:
        for value in state.get(index.get(id(named[name])), {}).values():
            finder.see("optimizer state", name, value)
    for name in named:
        finder.see("updated parameter", name, named[name].detach())
    return finder.first or {"boundary": "none", "name": ""}
