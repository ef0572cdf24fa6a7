"""What the benchmark reads off the command's output is there to be read; how large it is, `make bench` tells."""

import pytest

from .bench.__main__ import finished
from .bench.classes import our_course, write
from .bench.watched import first_result
from .conftest import needs_bubblewrap

pytestmark = [needs_bubblewrap, pytest.mark.long]


def test_the_first_result_and_each_line_are_seen(tmp_path):
    course = our_course(tmp_path / "course", ["05_histograms"])
    names = write(course, course.submitted, 2)
    assert first_result(course.root) > 0
    assert len(finished(course)) == len(names)
