"""Compiles what training a model needs later: ``python -m aligntools.aligning.compile_ahead hmm``."""

import sys

from aligntools.aligning.models.registry import kind_of

if __name__ == "__main__":
    about = kind_of(sys.argv[1]).load().compiled_ahead()
    for compile_now in about.functions if about else ():
        compile_now()
