"""``python -m aligntools``."""

from aligntools.cli import main

main()
