"""Pages for people: templates filled with text that is shown as it was typed, under a policy that runs nothing."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ...text import printable

# What a browser may do with a page: show text, styles and images that lie in the page itself.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def render(template: str, **values: Any) -> str:
    """A page of this folder's template of that name."""
    return _environment().get_template(f"{template}.html").render(policy=POLICY, **values)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader(__name__, "."), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters["shown"] = lambda value: "\n".join(map(printable, str(value).split("\n")))
    made.filters["points"] = lambda value: f"{value:.2f}".rstrip("0").rstrip(".")
    return made
