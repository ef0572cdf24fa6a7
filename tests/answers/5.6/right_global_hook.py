"""The global module hook, sifted by name."""

import torch
from torch.nn.modules.module import register_module_forward_hook


def watch(model, batches, every, log):
    log["records"] = records = []
    log["failed"] = None
    names = {id(m): n for n, m in model.named_modules() if not m._modules}
    for position, (step, x) in enumerate(batches):
        handle = None
        if position % every == 0:

            def note(module, args, output, step=step):
                if id(module) in names:
                    records.append((step, names[id(module)], output.detach().abs().amax().item()))

            handle = register_module_forward_hook(note)
        try:
            model(x)
        except BaseException:
            log["failed"] = step
            raise
        finally:
            if handle is not None:
                handle.remove()
