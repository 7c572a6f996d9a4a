"""A multilingual encoder's states of words, computed on the cores at hand: evidence of which words mean the same."""

import importlib
from typing import Any

_HOMES = {
    "Encoder": "encoder", "Linked": "mapping", "Similarities": "similarities", "WordMap": "mapping",
    "compare": "similarities", "learn": "mapping", "load": "encoder",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import what is asked for; settings alone need no compiler."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
