"""Style: gradients switched off by hand, weighted mean of batch means."""

import torch
import torch.nn.functional as F


def same_terms(model, train, val, weight_decay):
    grad, modes = torch.is_grad_enabled(), [m.training for m in model.modules()]
    torch.set_grad_enabled(False)
    for m in model.modules():
        m.training = False

    def mean(batches):
        n = sum(y.numel() for _, y in batches)
        return sum(F.cross_entropy(model(x), y).item() * y.numel() / n for x, y in batches)

    answer = dict(train=mean(train), val=mean(val))
    answer["penalty"] = 0.5 * weight_decay * sum(float((p * p).sum()) for p in model.parameters())
    for m, mode in zip(model.modules(), modes):
        m.training = mode
    torch.set_grad_enabled(grad)
    return answer
