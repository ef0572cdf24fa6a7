"""2.6: next-token inputs, targets and the mask of what is scored."""

from __future__ import annotations

import random
from typing import Any

import torch

from ..result import Case, Verdict
from .base import Exercise, describe, right, wrong

IGNORED = -100


def expected(tokens: torch.Tensor, real: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(inputs, targets, scored), each (B, T - 1): a pair is scored when both of its tokens are real."""
    scored = real[:, 1:] & real[:, :-1]
    targets = torch.where(scored, tokens[:, 1:], torch.full_like(tokens[:, 1:], IGNORED))
    return tokens[:, :-1], targets, scored


def judge(case: Case, answer: Any) -> Verdict:
    inputs, targets, scored = expected(*case.args)
    wanted = "(inputs, targets, scored), each of shape (B, T - 1), of dtype int64, int64 and bool"
    if type(answer) is not tuple or len(answer) != 3:
        return wrong(describe(answer), wanted, "return a tuple of three tensors")
    for name, got, want in zip(("inputs", "targets", "scored"), answer, (inputs, targets, scored)):
        if not isinstance(got, torch.Tensor) or got.dtype != want.dtype or got.shape != want.shape:
            return wrong(f"{name}: {describe(got)}", wanted, f"tokens are {describe(case.args[0])}")
    if not torch.equal(answer[0], inputs):
        return wrong("inputs differ from what the model may read", "each position's own token, without the last",
                     "which token has no successor in its row?")  # fmt: skip
    if not torch.equal(answer[2], scored):
        differ = (answer[2] != scored).sum(1)
        return wrong(f"scored: {int(answer[2].sum())} positions, {int(differ.sum())} of them misjudged or missed",
                     "a position is scored when its input and its target are both real tokens",
                     f"print row {int(differ.argmax())} of tokens, of real and of scored below each other")  # fmt: skip
    if not torch.equal(answer[1], targets):
        row = int((answer[1] != targets).sum(1).argmax())
        return wrong(f"targets of row {row}: {answer[1][row].tolist()}"[:300],
                     f"the next token where scored, {IGNORED} elsewhere",
                     f"compare with tokens of that row, {case.args[0][row].tolist()}"[:300])  # fmt: skip
    return right(f"{int(scored.sum())} scored positions, all as wanted", wanted)


def _case(name: str, lengths: list[int], width: int, side: str, seed: int, pad: int = 0) -> Case:
    """Rows of the given lengths, padded on one side, or on both ("center") or by turns ("mixed").

    The padding's id is an id that real tokens have too, as where a tokenizer pads with its end token.
    """
    g = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, 7, (len(lengths), width), generator=g)
    real = torch.zeros(len(lengths), width, dtype=torch.bool)
    for row, length in enumerate(lengths):
        gap = width - length
        start = {"right": 0, "left": gap, "center": gap // 2, "mixed": gap * (row % 2)}[side]
        real[row, start : start + length] = True
        if length > 1:
            tokens[row, start + length - 1] = pad  # a real token with the padding's id
    tokens[~real] = pad
    return Case(name, (tokens, real))


def public() -> list[Case]:
    return [
        _case("padding on the right", [5, 3, 4], 5, "right", 1),
        _case("padding on the left", [5, 3, 2], 5, "left", 2),
        _case("no padding", [4, 4], 4, "right", 3),
    ]


def hidden(rng: random.Random) -> list[Case]:
    cases = []
    for side in ("right", "left", "mixed", "center"):
        for _ in range(2):
            width = rng.randint(6, 12)
            lengths = [width - 2, *(rng.randint(2, width - 1) for _ in range(rng.randint(2, 5)))]
            rng.shuffle(lengths)
            cases.append(
                _case(f"padding: {side}", lengths, width, side, rng.getrandbits(62), rng.randrange(7))
            )
    width = rng.randint(4, 7)
    cases.append(
        _case("rows of one token, and of none", [1, 0, width, 1], width, "left", rng.getrandbits(62), 3)
    )
    cases.append(_case("a single column", [1, 1, 0], 1, "right", rng.getrandbits(62), 2))
    cases.append(_case("one full row", [width], width, "right", rng.getrandbits(62), 1))
    return cases


EXERCISES = (
    Exercise(
        id="2.6",
        title="Targets one step ahead",
        answer="next_token",
        points=3,
        minutes=6,
        level="stretch",
        claims=("2.6",),
        hints=(
            "Write one padded row on paper and, below it, the row that the model is to predict. At which "
            "column does each of the two begin and end?",
            "For each pair of input and target, ask of both whether it is a real token; do it once with the "
            "padding on the right and once on the left.",
            "Print tokens, real, targets and scored of one row below each other, and count the scored "
            "positions by hand: a row of n real tokens has n - 1 successors.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
    ),
)
