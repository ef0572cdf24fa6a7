"""A class with start and stop."""

import torch


class Watcher:
    def __init__(self, model, log):
        self.model, self.log, self.handles, self.step = model, log, [], None

    def start(self):
        for name, module in self.model.named_modules():
            if not any(True for _ in module.children()):
                self.handles.append(module.register_forward_hook(self.hook(name)))

    def stop(self):
        for handle in self.handles:
            handle.remove()
        self.handles.clear()

    def hook(self, name):
        return lambda module, inputs, output: self.log["records"].append(
            (self.step, name, self.largest(output))
        )

    @staticmethod
    def largest(output):
        low, high = output.detach().aminmax()
        return max(-low.item(), high.item())


def watch(model, batches, every, log):
    log["records"], log["failed"] = [], None
    watcher = Watcher(model, log)
    count = 0
    for step, x in batches:
        watcher.step = step
        if count % every == 0:
            watcher.start()
        try:
            model(x)
        except BaseException:
            log["failed"] = step
            raise
        finally:
            watcher.stop()
        count += 1
