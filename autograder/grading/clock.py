"""Dask's waits by a clock that nobody can set back.

Dask, and tornado on which it talks, reckon the pause between two messages by the clock on the wall: set back by
an hour, the next message waits for an hour. To be imported before a process talks: a pause that was reckoned
by one clock never ends by the other.
"""

import time

from distributed import batched
from tornado.ioloop import IOLoop

IOLoop.time = lambda self: time.monotonic()  # which tornado's documentation suggests
batched.time = time.monotonic
