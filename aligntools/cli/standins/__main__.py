"""``python -m aligntools.cli.standins PROGRAM ARGS``: a program that stands in, without a wrapper."""

import sys

from aligntools.cli.standins import PROGRAMS, main

if len(sys.argv) < 2 or sys.argv[1] not in PROGRAMS:
    sys.exit(f"Usage: python -m aligntools.cli.standins PROGRAM [ARGS]\nPrograms: {' '.join(PROGRAMS)}")
sys.exit(main(sys.argv[1], sys.argv[2:]))
