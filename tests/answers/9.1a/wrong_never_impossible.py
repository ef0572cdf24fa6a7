"""Believes that a large enough net memorizes anything."""

import torch


def counterexamples(x, y, classes):
    return (y + 1) % classes, None
