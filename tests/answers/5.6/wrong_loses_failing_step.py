"""Hands rows over only after a step that ended well."""

import torch


def watch(model, batches, every, log):
    log["records"], log["failed"] = [], None
    for position, (step, x) in enumerate(batches):
        rows, handles = [], []
        try:
            if position % every == 0:
                for name, m in model.named_modules():
                    if not list(m.children()):
                        handles.append(
                            m.register_forward_hook(
                                lambda mod, a, o, name=name, rows=rows, step=step: rows.append(
                                    (step, name, o.abs().max().item())
                                )
                            )
                        )
            model(x)
            log["records"] += rows
        except BaseException:
            log["failed"] = step
            raise
        finally:
            for handle in handles:
                handle.remove()
