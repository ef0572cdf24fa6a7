"""torch.func.functional_call on a dict of tensors; the model's own parameters are set at the end."""

import torch
from torch.func import functional_call, grad_and_value


def overfit_one_batch(model, x, y, lr, steps):
    was_training = model.training
    model.eval()
    state = {name: p.detach().clone() for name, p in model.named_parameters()}
    trainable = {name for name, p in model.named_parameters() if p.requires_grad}

    def objective(free, fixed):
        logits = functional_call(model, {**free, **fixed}, (x,))
        return -logits.log_softmax(1).gather(1, y[:, None]).mean(), logits

    used = _used(model, x, y)
    record = []
    for _ in range(steps):
        free = {name: value for name, value in state.items() if name in trainable}
        fixed = {name: value for name, value in state.items() if name not in trainable}
        grads, (loss, logits) = grad_and_value(objective, has_aux=True)(free, fixed)
        after = {name: state[name] - lr * grads[name] if name in grads else state[name] for name in state}
        record.append(
            {
                "loss": loss.item(),
                "predictions": torch.argmax(logits, -1),
                "gradients": {name: grads[name] if name in used else None for name in state},
                "changes": {name: after[name] - state[name] for name in state},
            }
        )
        state = after
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(state[name])
    model.train(was_training)
    return record


def _used(model, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    slopes = torch.autograd.grad(model(x).sum(), list(named.values()), allow_unused=True)
    return {name for name, slope in zip(named, slopes) if slope is not None}
