"""Removes the hooks after the forward, without finally."""

import torch


def watch(model, batches, every, log):
    log["records"], log["failed"] = [], None
    names = {m: name for name, m in model.named_modules() if not list(m.children())}
    step = None

    def keep(module, args, output):
        log["records"].append((step, names[module], output.detach().abs().max().item()))

    for position, (step, x) in enumerate(batches):
        handles = [m.register_forward_hook(keep) for m in names] if position % every == 0 else []
        log["failed"] = step
        model(x)
        log["failed"] = None
        for handle in handles:
            handle.remove()
