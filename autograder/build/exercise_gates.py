"""Gates on exercises in a text: the form of their checks, and head, stub and check in order."""

from __future__ import annotations

import ast
import io
import tokenize
from typing import Iterator

from nbformat import NotebookNode

from ..exercises import UnknownExercise
from . import delimiters
from .course import Problem
from .text import Find, bound_names, check_id, grader, placeholders, plain_code


def graded(cell: NotebookNode) -> Iterator[str]:
    """A graded cell holds check(ID, NAME) and the same with hidden=True, and nothing else."""
    form = 'write check("ID", NAME), then check("ID", NAME, hidden=True) between the hidden-test delimiters'
    try:
        body = ast.parse(cell.source).body
        comments = _comments(cell.source)
    except (SyntaxError, tokenize.TokenError) as error:
        yield f"does not parse: {error}"
        return
    calls = [_check_call(node) for node in body]
    if None in calls or len(calls) != 2:
        yield f"a graded cell holds two calls of check and nothing else; {form}"
        return
    (visible, hidden) = calls
    if visible[:2] != hidden[:2]:
        yield f"its two checks differ: {visible[:2]} and {hidden[:2]}"
    if visible[2] or not hidden[2]:
        yield f"the first check is the visible one, the second the hidden one; {form}"
    block = delimiters.regions(cell.source, "hidden tests")
    if len(block) == 1 and "\n".join(block[0]).strip() != ast.get_source_segment(cell.source, body[1]):
        yield f"only the hidden check may stand between the hidden-test delimiters; {form}"
    if any(comment not in delimiters.EXACT for comment in comments):
        yield "comments do not belong in a graded cell; it is shown in feedback"


def _check_call(node: ast.stmt) -> tuple[str, str, bool] | None:
    """(id, name, hidden) of a statement check("ID", NAME[, hidden=True]); None for any other."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check"):
        return None
    if not (len(call.args) == 2 and isinstance(call.args[0], ast.Constant) and isinstance(call.args[1], ast.Name)):
        return None
    keywords = [(k.arg, getattr(k.value, "value", None)) for k in call.keywords]
    if keywords not in ([], [("hidden", True)]) or not isinstance(call.args[0].value, str):
        return None
    return call.args[0].value, call.args[1].id, bool(keywords)


def _comments(source: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token.string.strip() for token in tokens if token.type == tokenize.COMMENT]


def ungraded(cell: NotebookNode) -> Iterator[str]:
    """Other code cells parse, and put no exercise to a check: that would be a graded cell without id."""
    if cell.cell_type != "code":
        return
    try:
        tree = ast.parse(plain_code(cell.source))
    except SyntaxError as error:
        yield f"does not parse: {error.msg} (line {error.lineno} of the cell)"
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check":
            yield "it calls check, but has no nbgrader metadata with a grade_id and \"grade\": true"
            return


def exercises(nb: NotebookNode, find: Find) -> list[tuple[NotebookNode, str]]:
    """Each exercise: its head, the stub that defines its answer, its check, in this order."""
    found: list[tuple[NotebookNode, str]] = []
    head: tuple[str, NotebookNode] | None = None
    names: set[str] = set()
    done: set[str] = set()
    for cell in nb.cells:
        for exercise_id in placeholders(cell):
            if head:
                found.append((head[1], f"exercise {head[0]} has a placeholder but no check after it"))
            found += _unknown(cell, exercise_id, find)
            head, names = (exercise_id, cell), set()
        if grader(cell).get("solution") is True and cell.cell_type == "code":
            names |= _names_or_none(cell.source)
        exercise_id = check_id(cell)
        if exercise_id is None:
            continue
        unknown = _unknown(cell, exercise_id, find)
        found += unknown
        if not head or head[0] != exercise_id:
            found.append((cell, f"check {exercise_id!r} has no placeholder {{{{exercise {exercise_id}}}}} before it"))
        if exercise_id in done:
            found.append((cell, f"exercise {exercise_id} is checked twice"))
        if not unknown:
            found += _answer(cell, find(exercise_id).answer, names)
        done.add(exercise_id)
        head = None if head and head[0] == exercise_id else head
    if head:
        found.append((head[1], f"exercise {head[0]} has a placeholder but no check after it"))
    return found


def _unknown(cell: NotebookNode, exercise_id: str, find: Find) -> list[tuple[NotebookNode, str]]:
    try:
        find(exercise_id)
    except UnknownExercise as error:
        return [(cell, str(error))]
    return []


def _names_or_none(source: str) -> set[str]:
    try:
        return bound_names(source)
    except SyntaxError:
        return set()


def _answer(cell: NotebookNode, answer: str, names: set[str]) -> list[tuple[NotebookNode, str]]:
    """The check hands over the exercise's answer, and a solution cell above defines it."""
    found = []
    given = ast.parse(cell.source).body[0].value.args[1:2]
    if [getattr(arg, "id", None) for arg in given] != [answer]:
        found.append((cell, f"the check must hand over {answer!r}, the name that the exercise asks for"))
    if answer not in names:
        found.append((cell, f"no solution cell between the placeholder and this check defines {answer!r}"))
    return found


def course_problems(notebooks: dict[str, NotebookNode]) -> list[Problem]:
    """No exercise in two notebooks."""
    home: dict[str, str] = {}
    found = []
    for file, nb in notebooks.items():
        for cell in nb.cells:
            exercise_id = check_id(cell)
            if exercise_id is not None and home.setdefault(exercise_id, file) != file:
                found.append(Problem(file, cell.where, f"exercise {exercise_id} is in {home[exercise_id]} too"))
    return found
