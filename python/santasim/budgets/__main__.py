"""python -m santasim.budgets"""

import sys

from .program import main

sys.exit(main(sys.argv[1:]))
