"""All hooks see the loop's last name."""

import torch


def watch(model, batches, every, log):
    log["records"], log["failed"] = [], None
    for position, (step, x) in enumerate(batches):
        handles = []
        try:
            if position % every == 0:
                for name, m in model.named_modules():
                    if not list(m.children()):
                        handles.append(
                            m.register_forward_hook(
                                lambda mod, a, o: log["records"].append(
                                    (step, name, o.detach().abs().max().item())
                                )
                            )
                        )
            model(x)
        except BaseException:
            log["failed"] = step
            raise
        finally:
            for handle in handles:
                handle.remove()
