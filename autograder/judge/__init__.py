"""The judge: draws the cases, asks the student's process, reaches the verdict outside of it.

`remote`, which asks, is imported by its own name: it needs torch, and what only reads seeds and cells does not.
"""

from .cell import Check, checks_in
from .discreet import discreet
from .seeds import SecretUnreadable, course_secret, seed_for

__all__ = ["Check", "SecretUnreadable", "checks_in", "course_secret", "discreet", "seed_for"]
