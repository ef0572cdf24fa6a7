"""Small faults in one expression: operators, constants, keywords and names that people mix up."""

from __future__ import annotations

import ast
import re
from typing import Callable, Iterator

Change = tuple[str, Callable[[], None]]

COMPARE = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitOr,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
BOOLEAN = {ast.And: ast.Or, ast.Or: ast.And}
_PAIRS = (
    ("min", "max"), ("amin", "amax"), ("argmin", "argmax"), ("mean", "sum"), ("nanmean", "nansum"),
    ("any", "all"), ("clamp_min", "clamp_max"), ("minimum", "maximum"), ("isnan", "isinf"),
    ("softmax", "log_softmax"), ("exp", "expm1"), ("log", "log1p"), ("floor", "ceil"),
    ("zeros", "ones"), ("zeros_like", "ones_like"), ("logsumexp", "sum"), ("std", "var"),
    ("train", "eval"), ("sqrt", "square"), ("squeeze", "unsqueeze"), ("append", "extend"),
    ("logical_and", "logical_or"), ("parameters", "buffers"), ("named_parameters", "named_buffers"),
    ("cross_entropy", "mse_loss"), ("backward", "detach"), ("tril", "triu"), ("keys", "values"),
)  # fmt: skip
NAMES = {a: b for pair in _PAIRS for a, b in (pair, pair[::-1])} | {"isfinite": "isnan", "sum": "mean"}
WORDS = {"mean": "sum", "sum": "mean", "none": "mean"}  # of a reduction
DROPPED = {"abs", "clone", "detach", "item", "tolist", "copy", "double", "long", "sorted", "set", "list", "bool"}


def changes(node: ast.AST, statement: ast.stmt) -> Iterator[Change]:
    """What to do to one expression, or to a statement's own operator."""
    if isinstance(node, ast.Compare):
        yield from _compare(node)
    elif isinstance(node, (ast.BinOp, ast.AugAssign)):
        for new in ARITHMETIC.get(type(node.op), ()):
            yield _named(node.op, new), _set(node, "op", new())
    elif isinstance(node, ast.BoolOp):
        new = BOOLEAN[type(node.op)]
        yield _named(node.op, new), _set(node, "op", new())
    elif isinstance(node, ast.UnaryOp):
        yield f"{type(node.op).__name__}->none", _become(node, node.operand)
    elif isinstance(node, ast.IfExp):
        yield "IfExp->not", _set(node, "test", ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        yield from _comprehension(node)
    elif isinstance(node, ast.Constant):
        yield from _constant(node, statement)
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield f"{node.attr}->{NAMES[node.attr]}", _set(node, "attr", NAMES[node.attr])
    elif isinstance(node, ast.Call):
        yield from _call(node)


def _compare(node: ast.Compare) -> Iterator[Change]:
    for index, op in enumerate(node.ops):
        for new in COMPARE[type(op)]:
            yield _named(op, new), lambda i=index, n=new: node.ops.__setitem__(i, n())


def _comprehension(node: ast.AST) -> Iterator[Change]:
    for generator in node.generators:
        for index, test in enumerate(generator.ifs):
            put = generator.ifs.__setitem__
            yield "if->not", lambda i=index, t=test, put=put: put(i, ast.UnaryOp(ast.Not(), t))


def _constant(node: ast.Constant, statement: ast.stmt) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield f"{value}->{not value}", _set(node, "value", not value)
    elif isinstance(value, (int, float)):
        for new in dict.fromkeys((value + 1, value - 1, type(value)(0))):
            if new != value:
                yield f"{value}->{new}", _set(node, "value", new)
    elif isinstance(value, str) and not isinstance(statement, (ast.Raise, ast.Assert)):
        new = WORDS.get(value, value + "?")
        yield f"'{_brief(value)}'->'{_brief(new)}'", _set(node, "value", new)


def _call(node: ast.Call) -> Iterator[Change]:
    """Leave a keyword out; call the other of two names; leave a call out and keep what it got."""
    for keyword in node.keywords:
        name = f"{keyword.arg}=" if keyword.arg else "**"
        yield f"{name}->none", lambda k=keyword: node.keywords.remove(k)
    if isinstance(node.func, ast.Name):
        if node.func.id in NAMES and node.func.id != "sum":  # there is no builtin mean
            yield f"{node.func.id}->{NAMES[node.func.id]}", _set(node.func, "id", NAMES[node.func.id])
        if node.func.id in DROPPED and len(node.args) == 1:
            yield f"{node.func.id}->none", _become(node, node.args[0])
    elif isinstance(node.func, ast.Attribute) and node.func.attr in DROPPED and not node.args:
        yield f"{node.func.attr}->none", _become(node, node.func.value)


def _brief(text: str) -> str:
    """A string's start without spaces and colons, which names can't hold."""
    return re.sub(r"[^\w.?+-]", "_", text if len(text) <= 24 else text[:23] + "…")


def _named(old: ast.AST, new: type) -> str:
    return f"{type(old).__name__}->{new.__name__}"


def _set(node: ast.AST, field: str, value: object) -> Callable[[], None]:
    return lambda: setattr(node, field, value)


def _become(node: ast.AST, other: ast.AST) -> Callable[[], None]:
    """Turn a node into another one in place, whoever holds it."""

    def apply() -> None:
        node.__class__ = other.__class__
        node.__dict__.clear()
        node.__dict__.update(other.__dict__)

    return apply
