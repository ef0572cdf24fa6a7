"""Probes: what is done with an answer where the student's code runs, when one call is not enough.

A probe takes the answer and a case's arguments, uses the answer as its user would, and
returns plain data for the judge. It decides nothing. What it returns hangs on the case's
fresh inputs (outputs, gradients, hook counts beside planted hooks), so that making it up
is no easier than earning it.
"""

from __future__ import annotations

from typing import Any, Callable

import torch
from torch import Tensor, nn

_HOOK_TABLES = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
)
_GLOBAL_TABLES = (
    "_global_forward_hooks",
    "_global_forward_pre_hooks",
    "_global_backward_hooks",
    "_global_backward_pre_hooks",
)


class Tripwire(nn.Module):
    """Passes its input on, and raises when a NaN is in it: a finite check inside a model.

    message: text of the error. interrupt: raise KeyboardInterrupt, as the stop button does.
    """

    def __init__(self, message: str, interrupt: bool = False) -> None:
        super().__init__()
        self.message, self.interrupt = message, interrupt

    def forward(self, x: Tensor) -> Tensor:
        if torch.isnan(x).any():
            raise (KeyboardInterrupt if self.interrupt else FloatingPointError)(self.message)
        return x


def hook_count(model: nn.Module) -> int:
    """Hooks on a model's modules and parameters, the global module hooks, and replaced forwards."""
    count = sum(len(getattr(nn.modules.module, table, ())) for table in _GLOBAL_TABLES)
    for module in model.modules():
        count += sum(len(getattr(module, table, ())) for table in _HOOK_TABLES)
        count += "forward" in vars(module)
    for parameter in model.parameters():
        count += len(parameter._backward_hooks or ())
    return count


def watched_run(watch: Callable, model: nn.Module, batches: list, every: int, planted: int) -> dict[str, Any]:
    """Let `watch` run a model that carries `planted` hooks of others, and say what it left behind.

    Returns: "records" and "failed" from the log, "raised" ([type, message] or None),
        "forwards" (a fingerprint of the input and the number of foreign hooks at each forward),
        "before" and "after" (hooks), "modes" (training flags afterwards), "alive" (calls that the
        planted hooks saw in one more forward after the run).
    """
    calls: list[int] = []
    leaves = [m for m in model.modules() if not list(m.children())]
    for index in range(planted):
        leaves[index % len(leaves)].register_forward_hook(lambda *_: calls.append(1))
    forwards: list[list[float]] = []
    before = hook_count(model) + 1  # the next line's own hook

    def note(module: nn.Module, args: tuple) -> None:
        forwards.append([float(args[0].double().nan_to_num().sum()), hook_count(module) - before])

    model.register_forward_pre_hook(note)
    log: dict[str, Any] = {}
    raised = None
    try:
        watch(model, iter(batches), every, log)
    except NotImplementedError:
        raise
    except (Exception, KeyboardInterrupt) as error:
        raised = [type(error).__name__, str(error)]
    after, during = hook_count(model), list(forwards)
    seen = len(log["records"]) if isinstance(log.get("records"), list) else 0
    calls.clear()
    clean = [x for _, x in batches if not torch.isnan(x).any()]
    _quiet_call(model, clean[0])
    grown = len(log["records"]) - seen if isinstance(log.get("records"), list) else 0
    return {
        "records": log.get("records"),
        "failed": log.get("failed", "no entry"),
        "raised": raised,
        "forwards": during,
        "before": before,
        "after": after,
        "modes": [m.training for m in model.modules()],
        "alive": len(calls),
        "grown": grown,
    }


def _quiet_call(model: nn.Module, x: Tensor) -> None:
    try:
        with torch.no_grad():
            model(x)
    except Exception:  # a hook left behind may fail by itself; its count says so already
        pass


def shuffled(
    shuffle: Callable, inputs: Tensor, labels: Tensor, ids: Tensor, seeds: list[int]
) -> dict[str, Any]:
    """Shuffle copies of the data once for each seed: what came back, and whether the arguments stayed."""
    answers, kept = [], []
    for seed in seeds:
        given = [inputs.clone(), labels.clone(), ids.clone()]
        answers.append(shuffle(*given, seed))
        kept.append(all(torch.equal(a, b) for a, b in zip(given, (inputs, labels, ids))))
    return {"answers": answers, "kept": kept}


def weighted_gradient(function: Callable, logits: Tensor, labels: Tensor, weights: Tensor) -> dict[str, Any]:
    """A function's value on logits, and the gradient of its weighted sum with respect to them."""
    leaf = logits.clone().requires_grad_()
    value = function(leaf, labels)
    gradient = None
    if isinstance(value, Tensor) and value.requires_grad and value.shape == weights.shape:
        (gradient,) = torch.autograd.grad((value * weights).sum(), leaf, allow_unused=True)
    return {"value": value, "gradient": gradient}


def module_modes(
    build: Callable, sizes: dict[str, Any], state: dict[str, Tensor], x: Tensor, row: Tensor
) -> dict[str, Any]:
    """A module's outputs under the modes: sizes go to its constructor, `state` into its parameters.

    x: a batch for evaluation mode, called twice and once more after a round through training mode.
    row: many copies of one example of length one, for training mode.
    """
    module = build(**sizes)
    module.load_state_dict(state)
    parent = nn.Sequential(module)  # eval() must reach the answer from above, as it does in a model
    with torch.no_grad():
        parent.train()
        train = [module(row), module(row)]
        parent.eval()
        plain = [module(x), module(x)]
        parent.train()
        module(x)
        parent.eval()
        again = module(x)
    with torch.inference_mode():
        inference = module(x)
    graph = module(x)
    module.train()
    with torch.inference_mode():
        train_inference = module(row)
    return {
        "eval": plain,
        "again": again,
        "inference": inference,
        "train": train,
        "train_inference": train_inference,
        "tracks": bool(graph.requires_grad),
        "kinds": all(type(t) is Tensor for t in (*plain, again, inference, graph, *train, train_inference)),
    }


def evaluated(
    evaluate: Callable, model: nn.Module, batches: list, modes: list[bool], grad: bool
) -> dict[str, Any]:
    """Let `evaluate` see a model twice; its answers, and the state of model and autograd afterwards.

    modes: the training flag of each module before the call. grad: whether gradients are on around it.
    """
    for module, mode in zip(model.modules(), modes):
        module.training = mode
    before = [b.clone() for b in model.state_dict().values()]
    runs, raised, graph = [], None, False
    with torch.set_grad_enabled(grad):
        try:
            for _ in range(2):
                loss, logits = evaluate(model, list(batches))
                graph |= isinstance(logits, Tensor) and (logits.requires_grad or logits.grad_fn is not None)
                runs.append([loss, logits])
        except FloatingPointError as error:
            raised = str(error)
        after_grad = torch.is_grad_enabled()
    state = zip(before, model.state_dict().values())
    return {
        "runs": runs,
        "raised": raised,
        "graph": bool(graph),
        "grad": after_grad,
        "modes": [m.training for m in model.modules()],
        "state_kept": all(torch.equal(a, b) for a, b in state),
        "grads": [p.grad is not None for p in model.parameters()],
    }

def measured_model(answer: Any, model: nn.Module, *rest: Any) -> dict:
    """Call `answer(model, *rest)` and report what became of the model.

    Returns: value: what the answer returned; modes: `training` of every module afterwards;
        state: copies of parameters and buffers afterwards; grads: names of parameters that
        hold a gradient; graph: whether any module's output was attached to a graph;
        forwards: number of outputs seen, of the model itself or of the modules in it.
    """
    seen: list[bool] = []

    def watch(module: nn.Module, args: tuple, output: Any) -> None:
        seen.append(isinstance(output, torch.Tensor) and output.requires_grad)

    handles = [module.register_forward_hook(watch) for module in model.modules()]
    try:
        value = answer(model, *rest)
    finally:
        for handle in handles:
            handle.remove()
    return {
        "value": value,
        "modes": [module.training for module in model.modules()],
        "state": {name: tensor.detach().clone() for name, tensor in model.state_dict().items()},
        "grads": [name for name, p in model.named_parameters() if p.grad is not None],
        "graph": any(seen),
        "forwards": len(seen),
    }
