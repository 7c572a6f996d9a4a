"""Hidden structure learned from plain text: word alignments, tags, trees, translations.

The names in ``__all__`` are the public interface: they keep their meaning until the next major version. What they
need is imported when they are first used, so that ``import aligntools`` costs next to nothing. They are listed in the
stub beside this file, which type checkers read, too.
"""

import importlib
import logging
import pkgutil
import re
from typing import Any

__version__ = "1.0.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # programs choose where warnings go

_STUB = pkgutil.get_data(__name__, "__init__.pyi") or b""
_HOMES = {name: home for home, name in re.findall(r"^from (\S+) import (\w+)", _STUB.decode(), re.MULTILINE)}
__all__ = sorted(["__version__", *_HOMES])


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'aligntools' has no attribute '{name}'")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*globals(), *__all__})
