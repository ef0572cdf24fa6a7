"""Loaded only by the process that local workers are forked from.

A terminal sends Ctrl-C to every process of a command. The command alone answers it: it closes its workers,
which would each print a traceback of Dask's.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
