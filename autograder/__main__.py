"""`python -m autograder`: the command where the package lies in the folder but is not installed."""

import sys

from .cli import main

sys.exit(main())
