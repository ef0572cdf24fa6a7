"""Mutants: copies of a solution with one small fault each, named by line and change.

A mutation is found on the syntax tree, so layout and comments do not matter. A name such
as `L12:Lt->LtE` holds as long as line 12 of the cell stays line 12; a second change of the
same kind in that line gets `#2`.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from dataclasses import dataclass
from typing import Callable, Iterator

from . import swaps

Change = tuple[str, Callable[[], None]]


@dataclass(frozen=True)
class Mutant:
    """A faulty copy of a solution cell. name: `L<line>:<change>`. text: that line as it was."""

    name: str
    tree: ast.Module
    text: str


def mutants(source: str, lines: range | None = None) -> Iterator[Mutant]:
    """Every mutant of a cell's source, in the order of its lines.

    lines: of the cell that may change, from 1; others stay (a signature and docstring, say).
    Errors: SyntaxError.
    """
    count: Counter[str] = Counter()
    rows = source.split("\n")
    total = sum(1 for _ in _changes(ast.parse(source), lines))
    for index in range(total):
        tree = ast.parse(source)
        line, (what, apply) = next(c for i, c in enumerate(_changes(tree, lines)) if i == index)
        apply()
        ast.fix_missing_locations(tree)
        name = f"L{line}:{what}"
        count[name] += 1
        yield Mutant(name if count[name] == 1 else f"{name}#{count[name]}", tree, rows[line - 1].strip()[:90])


def _changes(tree: ast.Module, lines: range | None) -> Iterator[tuple[int, Change]]:
    """(line, change) of every mutation; applying one changes the tree in place."""
    found = []
    for block in _blocks(tree):
        for position, statement in enumerate(block):
            if _is_docstring(statement, position) or isinstance(statement, (ast.Import, ast.ImportFrom)):
                continue
            for change in _statement_changes(block, position, statement):
                found.append((statement.lineno, statement.col_offset, change))
            for node in _own_nodes(statement):
                for change in swaps.changes(node, statement):
                    found.append((node.lineno, node.col_offset, change))
    found.sort(key=lambda item: item[:2])
    yield from ((line, change) for line, _, change in found if lines is None or line in lines)


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements in a tree."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _is_docstring(statement: ast.stmt, position: int) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Expressions of a statement, without those of statements inside it.

    Annotations say nothing at run time, and f-strings have no dependable lines before Python 3.12.
    """
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.JoinedStr):
            continue
        yield from [node] if isinstance(node, (ast.expr, ast.keyword)) or node is statement else []
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "type_params", "type_comment"):
                continue
            children = value if isinstance(value, list) else [value]
            stack += [child for child in children if isinstance(child, ast.AST) and not isinstance(child, ast.stmt)]


def _statement_changes(block: list[ast.stmt], position: int, statement: ast.stmt) -> Iterator[Change]:
    """Leave a statement out, return None, drop a with or a condition, swap break and continue."""
    kind = type(statement).__name__

    def put(node: ast.stmt | list[ast.stmt]) -> Callable[[], None]:
        nodes = node if isinstance(node, list) else [node]
        return lambda: block.__setitem__(slice(position, position + 1), nodes)

    if isinstance(statement, ast.Return):
        if statement.value is not None and not _is_none(statement.value):
            yield "Return->None", put(_at(statement, ast.Return(ast.Constant(None))))
        return
    if isinstance(statement, ast.Break):
        yield "Break->Continue", put(_at(statement, ast.Continue()))
    if isinstance(statement, ast.Continue):
        yield "Continue->Break", put(_at(statement, ast.Break()))
    if isinstance(statement, ast.With):
        yield "With->body", put(statement.body)
    if isinstance(statement, (ast.If, ast.While)):
        yield f"{kind}->not", lambda: setattr(statement, "test", _negated(statement.test))
    if isinstance(statement, ast.Try) and statement.finalbody:
        yield "finally->pass", lambda: setattr(statement, "finalbody", [_at(statement, ast.Pass())])
    if not isinstance(statement, (ast.Pass, ast.ClassDef, ast.FunctionDef, ast.Nonlocal, ast.Global)):
        yield f"{kind}->pass", put(_at(statement, ast.Pass()))


def _negated(test: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), copy.deepcopy(test)), test)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _at(old: ast.stmt, new: ast.stmt) -> ast.stmt:
    return ast.copy_location(new, old)
