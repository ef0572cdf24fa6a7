"""A training run that stays in the judge and is found out by observables and interventions."""

from __future__ import annotations

import contextlib
import math
from typing import Any, Iterator

import torch

from ..live import AskError, Live
from .faults import Recipe, build
from .tasks import clear

_TASKS = {
    "line": "squared error of numbers",
    "squares": "squared error of classes",
    "classes": "cross entropy of classes",
}


class Run(Live):
    """One training run, healthy or with one fault; nothing that it offers names the fault.

    Data: batches, batch, catalog, edit. Measurements: loss, score, lr.
    State: parameters, gradients, assign. Training: backward, zero_grad, step, reset.
    """

    asks = (
        "batches", "batch", "catalog", "edit", "loss", "score", "lr", "parameters", "gradients",
        "assign", "backward", "zero_grad", "step", "reset",
    )  # fmt: skip
    constants = ("batches", "lr")

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        with own_ground():
            self._parts = parts = build(recipe)
            self._start = parts.inputs.clone(), parts.targets.clone(), self.parameters()
        self._rows = {i: row for row, i in enumerate(parts.ids.tolist())}
        self._position = 0

    def __deepcopy__(self, memo: dict) -> Run:
        """A fresh copy stands at the start, whatever was done to this one."""
        return Run(self._recipe)

    def ask(self, name: str, args: list, kwargs: dict) -> Any:
        with own_ground():
            try:
                return super().ask(name, args, kwargs)
            except (AttributeError, ArithmeticError) as error:  # such as a list where a dict is asked
                raise AskError(f"{name}: {error}") from None

    def reset(self) -> None:
        """Back to the start: parameters, gradients, data and position."""
        inputs, targets, parameters = self._start
        self._parts.inputs, self._parts.targets = inputs.clone(), targets.clone()
        self.assign(parameters)
        self.zero_grad()
        self._position = 0

    def title(self) -> str:
        """What a case may be called: the task and its sizes, which every fault shares."""
        return f"{_TASKS[self._parts.task]}, {self.batches()} batches of {len(self._batch_rows(0))}"

    # data

    def batches(self) -> int:
        """The number of batches in an epoch."""
        return len(self._parts.batches)

    def batch(self, i: int = 0) -> dict[str, torch.Tensor]:
        """Batch i as supplied: "ids" [B] int64, "inputs" [B, F], "targets" [B]."""
        parts, rows = self._parts, self._batch_rows(i)
        return {"ids": parts.ids[rows], "inputs": parts.inputs[rows], "targets": parts.targets[rows]}

    def catalog(self, ids: Any) -> torch.Tensor:
        """The recorded targets of these ids, in the order asked."""
        return self._parts.truth[self._find(ids)]

    def edit(self, ids: Any, inputs: Any = None, targets: Any = None) -> None:
        """Give these examples other inputs or targets, until reset."""
        rows = self._find(ids)
        for name, new in (("inputs", inputs), ("targets", targets)):
            held = getattr(self._parts, name)
            if new is not None:
                new = torch.as_tensor(new)
                if new.shape != held[rows].shape:
                    wanted = tuple(held[rows].shape)
                    raise ValueError(f"{name} of shape {wanted} are wanted, not {tuple(new.shape)}")
                held[rows] = new.to(held.dtype)

    # measurements

    @torch.no_grad()
    def loss(self, i: int = 0) -> float:
        """The loss on batch i now; changes nothing."""
        return self._loss(i).item()

    @torch.no_grad()
    def score(self) -> float:
        """The loss on held-out examples with the catalog's targets; lower is better."""
        inputs, targets = self._parts.held_out
        return self._parts.criterion(self._parts.model(inputs), targets).item()

    def lr(self) -> float:
        """The run's learning rate."""
        return self._parts.lr

    # state

    def parameters(self) -> dict[str, torch.Tensor]:
        """Every tensor that the forward pass uses, by name."""
        return {name: p.detach().clone() for name, p in self._parts.model.tensors().items()}

    def gradients(self) -> dict[str, torch.Tensor | None]:
        """What lies in each tensor's gradient now; None where there is none."""
        tensors = self._parts.model.tensors()
        return {name: None if p.grad is None else p.grad.clone() for name, p in tensors.items()}

    @torch.no_grad()
    def assign(self, values: dict[str, torch.Tensor]) -> None:
        """Overwrite tensors by name."""
        tensors = self._parts.model.tensors()
        for name, value in values.items():
            if name not in tensors:
                raise KeyError(f"there is no tensor {name!r}; there are {', '.join(tensors)}")
            if torch.as_tensor(value).shape != tensors[name].shape:
                raise ValueError(f"{name} has shape {tuple(tensors[name].shape)}")
            tensors[name].copy_(torch.as_tensor(value))

    # training

    def backward(self, i: int = 0) -> float:
        """Add the gradient of the loss on batch i to the gradients; returns that loss."""
        loss = self._loss(i)
        loss.backward()
        return loss.item()

    def zero_grad(self) -> None:
        """Clear every gradient."""
        clear(self._parts.model.tensors().values())

    def step(self, i: int | None = None, lr: float | None = None) -> float:
        """One update as this run makes it, on batch i (or the next in order), at rate lr (or its own).

        Returns the loss before the update. Afterwards `gradients` are those that the update used.
        """
        parts = self._parts
        rate = parts.lr if lr is None else float(lr)
        if not math.isfinite(rate):
            raise ValueError("a finite rate is wanted")
        first = self._position if i is None else i
        self._batch_rows(first)
        parts.clear()
        total = 0.0
        for k in range(parts.micro):
            loss = self._loss((first + k) % self.batches()) / parts.micro
            loss.backward()
            total += loss.item()
        parts.optimizer.step(rate)
        self._position = (first + parts.micro) % self.batches()
        return total

    def _loss(self, i: int) -> torch.Tensor:
        parts, rows = self._parts, self._batch_rows(i)
        return parts.criterion(parts.model(parts.inputs[rows]), parts.targets[rows])

    def _batch_rows(self, i: Any) -> torch.Tensor:
        count = self.batches()
        if type(i) is not int or not 0 <= i < count:
            raise IndexError(f"batches are numbered 0 to {count - 1}; there is no batch {i!r}")
        return self._parts.batches[i]

    def _find(self, ids: Any) -> list[int]:
        """Rows of these ids."""
        ids = [int(i) for i in (ids.reshape(-1).tolist() if isinstance(ids, torch.Tensor) else ids)]
        for i in ids:
            if i not in self._rows:
                raise KeyError(f"no example has the id {i}")
        return [self._rows[i] for i in ids]


@contextlib.contextmanager
def own_ground() -> Iterator[None]:
    """Compute alike whatever mode or default dtype the caller's code has set."""
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(dtype)
