"""Samples every step."""

import torch


def watch(model, batches, every, log):
    log["records"], log["failed"] = [], None
    names = {m: name for name, m in model.named_modules() if not list(m.children())}
    step = None

    def keep(module, args, output):
        log["records"].append((step, names[module], output.detach().abs().max().item()))

    for position, (step, x) in enumerate(batches):
        handles = []
        try:
            if True:
                handles = [m.register_forward_hook(keep) for m in names]
            model(x)
        except BaseException:
            log["failed"] = step
            raise
        finally:
            for handle in handles:
                handle.remove()
