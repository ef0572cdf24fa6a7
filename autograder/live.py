"""Live objects: something that runs in the judge while a student's code probes it.

A case may carry a `Live` object among its arguments. The student's code never holds
the object itself, only a `Proxy` with the methods that the object offers; each call
travels to the judge as plain data, and plain data comes back.
"""

from __future__ import annotations

from typing import Any, Callable


class Live:
    """Base of objects that stay in the judge.

    asks: names of the methods that a proxy offers.
    constants: those of them whose answer never changes; a proxy asks once.
    budget: calls allowed before the judge refuses; generous for honest work.
    """

    asks: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    budget: int = 10_000

    def ask(self, name: str, args: list, kwargs: dict) -> Any:
        """Answer one call from a proxy. Errors: AskError with a sentence for the student."""
        if name not in self.asks:
            raise AskError(f"{name!r} is not offered here; choose from {', '.join(self.asks)}")
        self.budget -= 1
        if self.budget < 0:
            raise AskError("this run has been asked too often; does your code loop without an end?")
        try:
            return getattr(self, name)(*args, **kwargs)
        except AskError:
            raise
        except Exception as error:  # whatever a question breaks on, it is the question's fault
            text = error.args[0] if isinstance(error, KeyError) and error.args else error
            raise AskError(f"{name}: {text}") from None


class AskError(Exception):
    """A question to a live object that it can't answer, with the reason."""


class Proxy:
    """What a student's code holds in place of a live object."""

    def __init__(
        self, names: tuple[str, ...], ask: Callable[[str, list, dict], Any], constants: tuple[str, ...] = ()
    ) -> None:
        self._names, self._constants = tuple(names), tuple(constants)
        self._ask = ask
        self._known: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in self._names:
            raise AttributeError(f"this run offers {', '.join(self._names)}; it has no {name!r}")
        return lambda *args, **kwargs: self._answer(name, list(args), kwargs)

    def _answer(self, name: str, args: list, kwargs: dict) -> Any:
        if name not in self._constants or args or kwargs:
            return self._ask(name, args, kwargs)
        if name not in self._known:
            self._known[name] = self._ask(name, args, kwargs)
        return self._known[name]

    def __dir__(self) -> list[str]:
        return list(self._names)

    def __repr__(self) -> str:
        return f"<a live run; ask it for {', '.join(self._names)}>"
