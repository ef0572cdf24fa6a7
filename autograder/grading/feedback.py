"""Feedback pages, by nbgrader's own converter from the autograded notebooks."""

from __future__ import annotations

import logging
import os

from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory

from .course import Course


def write_feedback(course: Course, students: list[str]) -> None:
    """Write feedback/STUDENT/ASSIGNMENT/*.html for the students that have a graded notebook."""
    here = os.getcwd()
    os.chdir(course.root)
    try:
        for student in students:
            if any((course.autograded / student / course.assignment).glob("*.ipynb")):
                _convert(course, student)
    finally:
        os.chdir(here)


def _convert(course: Course, student: str) -> None:
    directory = CourseDirectory(
        config=course.config, root=str(course.root), student_id=student, assignment_id=course.assignment
    )
    converter = GenerateFeedback(coursedir=directory, config=course.config, force=True)
    converter.log.setLevel(logging.ERROR)
    converter.start()
