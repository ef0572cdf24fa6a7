"""ExitStack undoes every change."""

from contextlib import ExitStack

import torch
from torch import nn


class _Undo:
    def __init__(self, module):
        self.module, self.flag = module, module.training

    def __call__(self):
        self.module.training = self.flag


def evaluate(model, batches):
    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        for module in model.modules():
            stack.callback(_Undo(module))
        model.eval()
        pairs = [(model(x), y) for x, y in batches]
        losses = torch.cat([nn.CrossEntropyLoss(reduction="none")(out, y) for out, y in pairs])
        return losses.mean().item(), torch.cat([out for out, _ in pairs])
