"""Controls for figures that were drawn once without them."""

from __future__ import annotations

import inspect
from typing import Any, Callable

MISSING = (
    "This kernel has no ipywidgets, so nothing moves here; the figure above stays as it is. "
    "To move it: pip install ipywidgets, then restart the kernel."
)


def show(function: Callable, labels: dict[str, str], controls: dict[str, Any]) -> None:
    """A row of controls above a figure that follows them; one sentence without ipywidgets."""
    try:
        import ipywidgets
        from IPython.display import display
    except ModuleNotFoundError:
        print(MISSING)
        return
    defaults = {name: p.default for name, p in inspect.signature(function).parameters.items()}
    widgets = {
        name: _control(ipywidgets, labels.get(name, name), given, defaults[name])
        for name, given in controls.items()
    }
    figure = ipywidgets.interactive_output(lambda **chosen: function(**chosen) and None, widgets)
    display(ipywidgets.VBox([*widgets.values(), figure]))


def _control(ipywidgets: Any, label: str, given: Any, value: Any) -> Any:
    look = {
        "description": label,
        "style": {"description_width": "9em"},
        "layout": {"width": "30em"},
    }
    if given is bool:
        return ipywidgets.Checkbox(value=value, **look)
    # A figure is drawn when a slider comes to rest, not at each point on its way. Choices are a slider too:
    # in Lab the keyboard moves no menu, since the notebook takes its arrows.
    look["continuous_update"] = False
    if isinstance(given, list):
        return ipywidgets.SelectionSlider(options=given, value=value if value in given else given[0], **look)
    low, high, step = given
    whole = all(type(number) is int for number in (low, high, step, value))
    kind = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
    return kind(value=value, min=low, max=high, step=step, **look)
