"""contextlib.ExitStack removes the handles."""

from contextlib import ExitStack


def watch(model, batches, every, log):
    log.update(records=[], failed=None)

    def recorder(step, name):
        def record(module, args, output):
            log["records"].append((step, name, float(output.abs().max())))

        return record

    for position, (step, x) in enumerate(batches):
        with ExitStack() as stack:
            if position % every == 0:
                for name, module in model.named_modules():
                    if next(module.children(), None) is None:
                        handle = module.register_forward_hook(recorder(step, name))
                        stack.callback(handle.remove)
            log["failed"] = step
            model(x)
            log["failed"] = None
