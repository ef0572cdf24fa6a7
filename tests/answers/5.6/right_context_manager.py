"""A generator context manager around the forward."""

import contextlib

import torch


@contextlib.contextmanager
def hooked(model, rows):
    leaves = [(n, m) for n, m in model.named_modules() if len(list(m.children())) == 0]
    handles = []
    try:
        for name, leaf in leaves:
            handles.append(
                leaf.register_forward_hook(
                    lambda m, i, o, name=name: rows.append(
                        (name, torch.linalg.vector_norm(o.detach(), float("inf")).item())
                    )
                )
            )
        yield
    finally:
        while handles:
            handles.pop().remove()


def watch(model, batches, every, log):
    log["records"] = []
    log["failed"] = None
    for position, (step, x) in enumerate(batches):
        rows = []
        manager = hooked(model, rows) if position % every == 0 else contextlib.nullcontext()
        done = False
        try:
            with manager:
                model(x)
            done = True
        finally:
            log["records"] += [(step, name, value) for name, value in rows]
            if not done:
                log["failed"] = step
