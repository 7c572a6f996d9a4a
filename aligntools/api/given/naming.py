"""What messages call what a function was given: a file by its name, data from memory by what it is."""

import os

#: Text that is not from a file.
IN_MEMORY = "<sentences>"


def name_of(given: object, otherwise: str = IN_MEMORY) -> str:
    """Return the name of a file that was given, or what else was is called."""
    return os.fspath(given) if isinstance(given, str | os.PathLike) else otherwise
