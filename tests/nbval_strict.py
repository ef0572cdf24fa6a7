"""nbval with one rule more: a cell that puts something out has something stored. Stock nbval passes one that has not."""

import pytest
from nbval.plugin import IPyNbCell


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    result = yield
    if isinstance(item, IPyNbCell) and item.test_outputs and not item.cell.outputs:
        pytest.fail(f"cell {item.cell.id!r} puts something out when run, but has no stored output; run make build")
    return result
