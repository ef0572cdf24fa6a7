"""Whether the answer that a check judged still stands, told in the check's own output.

After each cell, what the answers are made of is compared with what was judged. Where it differs, the
line above the check's table is replaced; where it is the same again, the line comes back.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any, Callable, Iterator

_watches: dict[str, Watch] = {}


class Watch:
    """One check's answer: the name it has in the notebook, and what it was made of.

    tell: called with True when the answer changed since, with False when it is as judged again.
    """

    def __init__(self, name: str, namespace: dict[str, Any], tell: Callable[[bool], None]) -> None:
        self.name, self.namespace, self.tell = name, namespace, tell
        self.judged, self.stale = made_of(namespace.get(name), namespace), False

    def look(self) -> None:
        """Compare, and tell a change."""
        stale = made_of(self.namespace.get(self.name), self.namespace) != self.judged
        if stale != self.stale:
            self.stale = stale
            self.tell(stale)


def watch(key: str, shell: Any, name: str, tell: Callable[[bool], None]) -> None:
    """Watch a name of the notebook from now on, in the place of an earlier watch of the same key."""
    if not _watches:
        shell.events.register("post_run_cell", _look_at_all)
    _watches[key] = Watch(name, shell.user_ns, tell)


def _look_at_all(_: Any = None) -> None:
    for one in _watches.values():
        one.look()


def made_of(answer: Any, namespace: dict[str, Any]) -> dict[str, Any]:
    """Code of a function or class of the notebook and of those that it calls, by name; else the object's id."""
    found: dict[str, Any] = {}
    todo = [("", answer)]
    while todo:
        name, one = todo.pop()
        functions = list(_functions(one))
        parts = [(part, _essence(f.__code__, f.__defaults__, f.__kwdefaults__)) for part, f in functions]
        found[name] = parts or id(one)
        called = {n for _, f in functions for n in _names(f.__code__)}
        todo += [(n, namespace[n]) for n in sorted(called - set(found)) if _is_own(namespace.get(n))]
    return found


def _is_own(value: Any) -> bool:
    """Written in the notebook: not imported."""
    return isinstance(value, (type, FunctionType)) and value.__module__ == "__main__"


def _functions(value: Any) -> Iterator[tuple[str, FunctionType]]:
    """The function itself, or a class's methods by name."""
    value = getattr(value, "__wrapped__", value)  # under a decorator such as torch.no_grad()
    if isinstance(value, FunctionType):
        yield "", value
    elif isinstance(value, type):
        for name, part in vars(value).items():
            for one in (part, getattr(part, "__func__", None), getattr(part, "fget", None)):
                if isinstance(one, FunctionType):
                    yield name, one


def _essence(code: CodeType, *defaults: Any) -> tuple:
    """What code does, whatever line of whatever cell it stands in."""
    constants = [_essence(c) if isinstance(c, CodeType) else (type(c), repr(c)) for c in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants, repr(defaults)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
