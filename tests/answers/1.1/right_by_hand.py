"""No optimizer: torch.autograd.grad over the trainable parameters and an update in place."""

import torch


def overfit_one_batch(model, x, y, lr, steps):
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    names = [name for name, p in model.named_parameters()]
    params = [p for name, p in model.named_parameters()]
    free = [p for p in params if p.requires_grad]
    criterion = torch.nn.CrossEntropyLoss()
    record = []
    for _ in range(steps):
        out = model(x)
        loss = criterion(out, y)
        found = iter(torch.autograd.grad(loss, free, allow_unused=True))
        grads = [next(found) if p.requires_grad else None for p in params]
        old = [p.data.clone() for p in params]
        with torch.no_grad():
            for p, g in zip(params, grads):
                if g is not None:
                    p -= lr * g
        record.append(
            dict(
                loss=float(loss.detach()),
                predictions=out.max(1).indices,
                gradients=dict(zip(names, grads)),
                changes={name: p.data - o for name, p, o in zip(names, params, old)},
            )
        )
    for module, mode in modes:
        module.training = mode
    return record
