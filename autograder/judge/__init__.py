"""The judge: draws the cases, asks the student's process, reaches the verdict outside of it."""

from .cell import checks_in
from .remote import RemoteAnswer
from .seeds import SecretUnreadable, course_secret, seed_for

__all__ = ["RemoteAnswer", "SecretUnreadable", "checks_in", "course_secret", "seed_for"]
