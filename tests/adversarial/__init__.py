"""Submissions that graders trip over, as data: awkward ones of honest students, and hostile ones.

`course` is a small course with canaries in everything that is secret, `awkward` and `hostile` hold
the rows, `ours` and `stock` grade them, and `python -m tests.adversarial` prints what came of each.
"""
