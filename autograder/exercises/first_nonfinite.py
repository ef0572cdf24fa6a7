"""2.1: find the first boundary of a training step that holds a nan or an inf."""

from __future__ import annotations

import copy
import random
from typing import Any, Callable, Iterator

import torch
from torch import nn

from ..result import Case, Verdict
from .base import Exercise, decisions, describe, right, wrong

BOUNDARIES = (
    "input",
    "parameter",
    "module output",
    "loss",
    "gradient",
    "optimizer state",
    "updated parameter",
    "none",
)
NAN, INF = float("nan"), float("inf")


# --- what a step really holds -------------------------------------------------------------------


def measure(model: nn.Module, loss_fn: nn.Module, optimizer: Any, x: Any, y: Any) -> tuple[str, str]:
    """Run one step on copies; return (boundary, name) of the first value that is not finite."""
    model, loss_fn, optimizer, x, y = copy.deepcopy((model, loss_fn, optimizer, x, y))
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        return next(_faults(model, loss_fn, optimizer, x, y), ("none", ""))


def _faults(
    model: nn.Module, loss_fn: nn.Module, optimizer: Any, x: Any, y: Any
) -> Iterator[tuple[str, str]]:
    parameters = list(model.named_parameters())
    yield from (("input", name) for name, t in (("x", x), ("y", y)) if _bad(t))
    yield from (("parameter", name) for name, p in parameters if _bad(p))

    failed: list[str] = []
    for name, module in model.named_modules():
        # judged while it runs: a later in-place operation may overwrite an output
        module.register_forward_hook(lambda m, i, out, name=name: failed.append(name) if _bad(out) else None)
    optimizer.zero_grad()
    output = model(x)
    yield from (("module output", name) for name in failed)
    loss = loss_fn(output, y)
    if _bad(loss):
        yield "loss", ""
    loss.backward()
    yield from (("gradient", name) for name, p in parameters if _bad(p.grad))
    optimizer.step()
    yield from (("optimizer state", name) for name, p in parameters if _bad(optimizer.state.get(p)))
    yield from (("updated parameter", name) for name, p in parameters if _bad(p))


def _bad(value: Any) -> bool:
    """Whether a tensor, a number, or anything in a container of them is nan or inf."""
    if isinstance(value, dict):
        return any(_bad(v) for v in value.values())
    if isinstance(value, (list, tuple)):
        return any(_bad(v) for v in value)
    if isinstance(value, float):
        value = torch.tensor(value, dtype=torch.float64)
    return isinstance(value, torch.Tensor) and not bool(torch.isfinite(value).all())


def judge(case: Case, answer: Any) -> Verdict:
    boundary, name = measure(*case.args)
    wanted = "the first boundary that is not finite, in the order of the docstring, and the name there"
    if type(answer) is not dict or set(answer) != {"boundary", "name"}:
        return wrong(describe(answer), "a dict with the keys 'boundary' and 'name'",
                     "compare what you return with the docstring", group=boundary)  # fmt: skip
    said, said_name = answer["boundary"], answer["name"]
    if type(said) is not str or type(said_name) is not str or said not in BOUNDARIES:
        return wrong(f"boundary {said!r}, name {said_name!r}"[:200], f"strings; one of {', '.join(BOUNDARIES)}",
                     "copy the spelling of the boundary from the docstring", group=boundary)  # fmt: skip
    observed = f"boundary {said!r}, name {said_name!r}"[:200]
    if said != boundary:
        late = BOUNDARIES.index(said) > BOUNDARIES.index(boundary)
        return wrong(observed, wanted, _LATE if late else _EARLY, group=boundary)
    if said_name not in _synonyms(case.args[0], boundary, name):
        return wrong(observed, wanted, _NAME[boundary], group=boundary)
    return right(observed, wanted, group=boundary)


def _synonyms(model: nn.Module, boundary: str, name: str) -> set[str]:
    """Every name of the module that `name` names: a module used twice has two."""
    if boundary != "module output":
        return {name}
    modules = dict(model.named_modules(remove_duplicate=False))
    return {other for other, module in modules.items() if module is modules[name]}


_LATE = (
    "something before the boundary that you named is not finite already; test every element of every "
    "boundary in order, each at the moment it is made"
)
_EARLY = (
    "every element at the boundary that you named is finite: a sum or a norm of finite numbers can "
    "overflow, and buffers are not among the boundaries"
)
_NAME = {
    "input": "the boundary is right; the name says which of 'x' and 'y' it is",
    "module output": "the boundary is right; name the innermost module that failed first, as named_modules does",
    "loss": "the boundary is right; the loss has no name: use ''",
    "none": "the decision is right; with nothing found the name is ''",
} | dict.fromkeys(
    ("parameter", "gradient", "optimizer state", "updated parameter"),
    "the boundary is right; name the first such parameter in the order of model.named_parameters()",
)


# --- runs, healthy and faulty -------------------------------------------------------------------
# Each takes an rng and returns (what the student may know, model, loss function, optimizer, x, y).


def _classifier(optimizer: Callable = torch.optim.SGD, **options: Any) -> list:
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))
    options = {"lr": 0.05} | options
    name = f"classifier, {optimizer.__name__}"
    y = torch.randint(0, 3, (8,))
    return [
        name,
        model,
        nn.CrossEntropyLoss(),
        optimizer(model.parameters(), **options),
        torch.randn(8, 4),
        y,
    ]


def _regression(*layers: nn.Module, dtype: torch.dtype = torch.float32, reduction: str = "mean",
                optimizer: Callable = torch.optim.SGD, lr: float = 1e-3) -> list:  # fmt: skip
    model = nn.Sequential(*layers).to(dtype)
    name = f"{str(dtype).removeprefix('torch.')} regression, {optimizer.__name__}"
    x = torch.randn(6, 4, dtype=dtype)
    y = torch.zeros_like(model(x).detach())
    opt = optimizer([p for p in model.parameters() if p.requires_grad], lr=lr)
    return [name, model, nn.MSELoss(reduction=reduction), opt, x, y]


def _frozen(linear: nn.Linear, weight: float) -> nn.Linear:
    """Freeze a square linear layer as `weight` times the identity."""
    linear.weight.data = weight * torch.eye(linear.in_features)
    linear.bias.data.zero_()
    return linear.requires_grad_(False)


def _plant(tensor: torch.Tensor, rng: random.Random, values: tuple = (NAN, INF, -INF)) -> None:
    tensor.detach().view(-1)[rng.randrange(tensor.numel())] = rng.choice(values)


def _healthy_adam(rng: random.Random) -> list:
    return _classifier(rng.choice([torch.optim.Adam, torch.optim.RMSprop]))


def _healthy_frozen(rng: random.Random) -> list:
    _, model, loss_fn, _, x, y = _classifier()
    model[0].requires_grad_(False)
    model.register_buffer("causal_mask", torch.full((4, 4), -INF).triu(1))
    opt = torch.optim.SGD(
        [{"params": []}, {"params": [*model[2].parameters(), *model[4].parameters()]}], lr=0.1
    )
    return ["classifier, SGD, first layer frozen, a mask among the buffers", model, loss_fn, opt, x, y]


def _healthy_huge(rng: random.Random) -> list:
    run = _regression(_frozen(nn.Linear(4, 4), 5e-38), nn.Tanh(), nn.Linear(4, 2))
    run[4] = run[4].sign() * rng.uniform(2e38, 3e38)
    return run


def _healthy_half(rng: random.Random) -> list:
    run = _regression(_frozen(nn.Linear(4, 4), 240.0), nn.Hardtanh(), nn.Linear(4, 2), dtype=torch.float16)
    run[4] = (200 + 65 * torch.rand(6, 4)).half()
    return run


def _healthy_embedding(rng: random.Random) -> list:
    model = nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(12, 3))
    opt = torch.optim.Adam(model.parameters())
    return ["token classifier, Adam", model, nn.CrossEntropyLoss(), opt,
            torch.randint(0, 9, (5, 3)), torch.randint(0, 3, (5,))]  # fmt: skip


def _input_x(rng: random.Random) -> list:
    run = _classifier()
    _plant(run[4], rng)
    return run


def _input_y(rng: random.Random) -> list:
    run = _regression(nn.Linear(4, 5), nn.GELU(), nn.Linear(5, 2))
    _plant(run[5], rng)
    return run


def _parameter_any(rng: random.Random) -> list:
    run = _classifier(torch.optim.Adam)
    _plant(rng.choice(list(run[1].parameters())), rng)
    return run


def _parameter_unused(rng: random.Random) -> list:
    run = _healthy_embedding(rng)
    run[4] = run[4].clamp(max=7)
    run[1][0].weight.data[8] = NAN  # a row that no token of this batch looks up
    return run


def _output_hidden(rng: random.Random) -> list:
    """A float16 overflow that the next module, in place, turns into a finite number."""
    layer = _frozen(nn.Linear(4, 4), -300.0)
    run = _regression(layer, nn.Hardtanh(inplace=True), nn.Linear(4, 2), dtype=torch.float16)
    run[4] = (rng.uniform(250, 400) + torch.rand(6, 4)).half()
    return run


def _output_twice(rng: random.Random) -> list:
    """One layer used twice; only its second call overflows."""
    shared = _frozen(nn.Linear(4, 4), 1e20)
    run = _regression(shared, nn.ReLU(), shared, nn.Hardtanh(), nn.Linear(4, 2))
    run[4] = run[4].abs() + 1
    return run


def _output_norm(rng: random.Random) -> list:
    inner = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.ReLU())
    run = _regression(inner, nn.Linear(4, 2))
    inner[1].eps = NAN
    return run


def _output_attention(rng: random.Random) -> list:
    """Finite projections, infinite attention scores; the module returns (output, None)."""
    block = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    run = _regression(block, nn.Linear(4, 1))
    block.self_attn.in_proj_weight.data *= 1e25
    run[0] = "transformer block, SGD"
    run[4] = torch.randn(2, 3, 4)
    run[5] = torch.zeros(2, 3, 1)
    return run


def _loss_overflow(rng: random.Random) -> list:
    run = _regression(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2))
    run[5] += rng.choice([-1, 1]) * 1e25
    return run


def _loss_ignored(rng: random.Random) -> list:
    run = _classifier()
    run[5] = torch.full((8,), -100)
    return run


def _gradient_half(rng: random.Random) -> list:
    run = _regression(nn.Linear(4, 1), dtype=torch.float16, reduction="sum")
    run[4] = torch.full((6, 4), rng.uniform(1500, 2000), dtype=torch.float16)
    run[5] = run[1](run[4]).detach() + 60  # loss 6 * 60**2, gradient 6 * 2 * 60 * 1500
    return run


def _gradient_large(rng: random.Random) -> list:
    run = _regression(nn.Linear(4, 2))
    run[1][0].weight.data *= 1e-10
    run[4] = (1 + torch.rand(6, 4)) * 1e24
    run[5] = torch.full((6, 2), rng.uniform(2e16, 4e16))
    return run


def _gradient_gelu(rng: random.Random) -> list:
    """tanh-GELU of a huge number: finite forward, 0 * inf backward."""
    run = _regression(nn.Linear(4, 4), nn.GELU(approximate="tanh"), _frozen(nn.Linear(4, 4), 1e-21))
    run[4] *= 1e21
    return run


def _state_adam(rng: random.Random) -> list:
    optimizer = rng.choice([torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad])
    run = _regression(nn.Linear(4, 2), optimizer=optimizer)
    run[4] = (1 + torch.rand(6, 4)) * 1e15
    run[1][0].weight.data *= 1e-15
    run[5] += 1e10  # gradient about 1e25, its square is inf, and the update is 0
    return run


def _state_loaded(rng: random.Random) -> list:
    optimizer, key = rng.choice([(torch.optim.Adam, "exp_avg"), (torch.optim.AdamW, "exp_avg_sq")])
    run = _classifier(optimizer)
    _warm_up(run)
    _plant(run[3].state[rng.choice(list(run[1].parameters()))][key], rng, (NAN, INF))
    return run


def _state_momentum(rng: random.Random) -> list:
    run = _classifier(torch.optim.SGD, momentum=0.9)
    _warm_up(run)
    _plant(run[3].state[run[1][4].weight]["momentum_buffer"], rng)
    run[1][0].requires_grad_(False)
    return run


def _warm_up(run: list) -> None:
    _, model, loss_fn, optimizer, x, y = run
    loss_fn(model(x), y).backward()
    optimizer.step()
    optimizer.zero_grad()


def _update_rate(rng: random.Random) -> list:
    run = _regression(nn.Linear(4, 2))
    run[5] += 50
    run[3].param_groups[0]["lr"] = rng.uniform(1e38, 3e38)
    return run


def _update_eps_nan(rng: random.Random) -> list:
    run = _classifier(rng.choice([torch.optim.Adam, torch.optim.NAdam]))
    run[3].param_groups[0]["eps"] = NAN
    return run


def _update_eps_zero(rng: random.Random) -> list:
    """Adam without an epsilon divides 0 by 0 where a layer's units are all dead."""
    run = _classifier(torch.optim.Adam, eps=0.0)
    run[1][0].bias.data -= 100
    return run


def _update_eps_half(rng: random.Random) -> list:
    """Adam's default epsilon is 0 in float16, and so is the square of a small gradient."""
    run = _regression(nn.Linear(4, 2), dtype=torch.float16, optimizer=torch.optim.Adam)
    run[5] = run[1](run[4]).detach() + 1e-3
    return run


HEALTHY = (_healthy_adam, _healthy_frozen, _healthy_huge, _healthy_half, _healthy_embedding)
FAULTY = (
    _input_x, _input_y, _parameter_any, _parameter_unused,
    _output_hidden, _output_twice, _output_norm, _output_attention,
    _loss_overflow, _loss_ignored, _gradient_half, _gradient_large, _gradient_gelu,
    _state_adam, _state_loaded, _state_momentum,
    _update_rate, _update_eps_nan, _update_eps_zero, _update_eps_half,
)  # fmt: skip
# what each run was made for, for the tests of this module; the judge measures for itself
PLANTED = {"input": "input", "parameter": "parameter", "output": "module output", "loss": "loss",
           "gradient": "gradient", "state": "optimizer state", "update": "updated parameter",
           "healthy": "none"}  # fmt: skip


def _case(make: Callable, rng: random.Random, number: int) -> Case:
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(rng.getrandbits(62))
        name, *args = make(rng)
    return Case(f"run {number}: {name}", tuple(args), PLANTED[make.__name__.split("_")[1]])


def public() -> list[Case]:
    rng = random.Random(21)
    return [
        _case(make, rng, n)
        for n, make in enumerate((_healthy_frozen, _input_x, _output_hidden, _update_rate), 1)
    ]


def hidden(rng: random.Random) -> list[Case]:
    makers = [*HEALTHY, *FAULTY]
    rng.shuffle(makers)
    return [_case(make, rng, n) for n, make in enumerate(makers, 1)]


EXERCISES = (
    Exercise(
        id="2.1",
        title="The first boundary that fails",
        answer="first_nonfinite",
        points=4,
        minutes=10,
        level="core",
        claims=("2.1",),
        hints=(
            "List the boundaries in the order in which a step makes them, and print for each whether all of "
            "its elements are finite.",
            "What a module returned can be gone by the end of the forward pass. When must you look at it, and "
            "which torch mechanism calls you at that moment?",
            "For a run that you judge wrongly, print each boundary's elements themselves: no sums, and look "
            "also at entries that are None, at tuples, and at what the optimizer holds after its step.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
        score=decisions,
    ),
)
