"""A class that walks the loss's grad_fn to its leaves, and reads numpy copies of the values."""

import numpy as np
import torch
import torch.nn.functional as F


class Audit:
    def __init__(self, model, optimizer, tensors, resting):
        self.model, self.optimizer = model, optimizer
        self.tensors, self.resting = tensors, resting

    @staticmethod
    def leaves(loss):
        todo, seen, found = [loss.grad_fn], set(), set()
        while todo:
            node = todo.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            if hasattr(node, "variable"):
                found.add(id(node.variable))
            todo.extend(parent for parent, _ in node.next_functions)
        return found

    def snapshot(self):
        return {n: t.detach().double().numpy().copy() for n, t in self.tensors.items()}

    def run(self, x, y):
        loss = F.nll_loss(F.log_softmax(self.model(x), 1), y)
        reached, before = self.leaves(loss), self.snapshot()
        self.optimizer.zero_grad(set_to_none=True)
        if reached:
            loss.backward()
        self.optimizer.step()
        after = self.snapshot()
        return {n: self.verdict(n, reached, before[n], after[n]) for n in self.tensors}

    def verdict(self, n, reached, before, after):
        t = self.tensors[n]
        same = np.array_equal(before, after)
        if n in self.resting:
            return "ok" if same else "moved"
        if id(t) not in reached:
            return "no graph"
        if not any(t is p for p in self.model.parameters()):
            return "not registered"
        if not any(t is p for group in self.optimizer.param_groups for p in group["params"]):
            return "not in optimizer"
        g = t.grad.double().numpy()
        if not np.isfinite(g).all() or not g.any():
            return "bad gradient"
        return "not moved" if same else "ok"


def audit_chain(model, optimizer, x, y, x_ids, y_ids, tensors, resting):
    return Audit(model, optimizer, tensors, resting).run(x, y), x_ids.tolist() == y_ids.tolist()
