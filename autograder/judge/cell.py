"""Graded cells: a call of `check` for the student, one with hidden=True for the judge."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One `check(exercise_id, name, hidden=...)` of a graded cell."""

    exercise_id: str
    name: str
    hidden: bool


def checks_in(source: str) -> list[Check]:
    """The checks of a graded cell, which holds nothing else. Errors: ValueError naming the line.

    The judge reads a graded cell instead of executing it: there is no code in it to run.
    """
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno}: not Python") from None
    return [_check(statement) for statement in body]


def _check(statement: ast.stmt) -> Check:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check"):
        raise ValueError(f"line {statement.lineno}: a graded cell holds calls of check and nothing else")
    hidden = {k.arg: k.value for k in call.keywords}
    plain = (
        len(call.args) == 2
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
        and isinstance(call.args[1], ast.Name)
        and set(hidden) <= {"hidden"}
        and all(isinstance(v, ast.Constant) and type(v.value) is bool for v in hidden.values())
    )
    if not plain:
        raise ValueError(f'line {statement.lineno}: expected check("<id>", <name>) or the same with hidden=True')
    return Check(call.args[0].value, call.args[1].id, bool(hidden and hidden["hidden"].value))
