"""How fast a class is graded: ours, stock nbgrader and the bare floor on the same class, in one run.

python -m tests.bench [--students 30] [--rounds 3] [--growth 1000]
"""
