"""The judge: draws the cases, asks the student's process, reaches the verdict outside of it."""

from .cell import Check, checks_in
from .discreet import discreet
from .remote import RemoteAnswer
from .seeds import SecretUnreadable, course_secret, seed_for

__all__ = ["Check", "RemoteAnswer", "SecretUnreadable", "checks_in", "course_secret", "discreet", "seed_for"]
