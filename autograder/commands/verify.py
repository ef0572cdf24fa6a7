"""Test the exercises: stubs and wrong answers must fail, right answers pass, and mutants of the solutions fail."""

from __future__ import annotations

import argparse

HELP = "test the exercises: stubs, right and wrong answers, mutants"
EXAMPLE = "  autograder verify 2.1 9.2    these two alone"
NEEDS = ("torch", "rich")
IN_COURSE = True


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercises", nargs="*", help="ids (default: all)")


def run(options: argparse.Namespace) -> int:
    from .. import verify

    return verify.main(options.course, options.exercises)
