"""Style: a class with leaf hooks; optimizer state read from state_dict, finiteness by subtraction."""

import torch


class Finder:
    def __init__(self):
        self.first = None

    def see(self, boundary, name, value):
        if self.first is not None or not torch.is_tensor(value) or not value.is_floating_point():
            return
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
    for name, p in named.items():
        finder.see("parameter", name, p.detach())
    for name, module in model.named_modules():
        module.register_forward_hook(finder.hook(name))
    model.zero_grad()
    loss = loss_fn(model(x), y)
    finder.see("loss", "", loss.detach())
    loss.backward()
    for name, p in named.items():
        finder.see("gradient", name, p.grad)
    optimizer.step()
    order = [p for group in optimizer.param_groups for p in group["params"]]
    state = optimizer.state_dict()["state"]
    index = {id(q): i for i, q in enumerate(order)}
    for name, p in named.items():
        for value in state.get(index.get(id(p)), {}).values():
            finder.see("optimizer state", name, value)
    for name, p in named.items():
        finder.see("updated parameter", name, p.detach())
    return finder.first or {"boundary": "none", "name": ""}
