"""Registers once; the hooks test a flag, so every step pays."""

import torch


def watch(model, batches, every, log):
    log["records"], log["failed"] = [], None
    state = {"on": False, "step": None}
    handles = []
    for name, m in model.named_modules():
        if not list(m.children()):

            def keep(module, args, output, name=name):
                if state["on"]:
                    log["records"].append((state["step"], name, output.detach().abs().max().item()))

            handles.append(m.register_forward_hook(keep))
    try:
        for position, (step, x) in enumerate(batches):
            state.update(on=position % every == 0, step=step)
            log["failed"] = step
            model(x)
            log["failed"] = None
    finally:
        for handle in handles:
            handle.remove()
