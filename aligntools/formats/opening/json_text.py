"""JSON from files, of which nothing is known: whatever it is, it is read or refused, and shown in messages."""

import json
from typing import Any

from aligntools.ground.ranges import amounts, shown

#: Weights and other numbers that may have either sign.
NUMBER = amounts(-1e300, 1e300)


def parse_json(text: bytes | str) -> Any:
    """Return what a text says.

    Raises
    ------
    ValueError
        When it is not JSON, or nested too deeply for any file of ours.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def in_words(value: object) -> str:
    """Return a value for a message, as JSON, cut where it is long."""
    try:
        return shown(json.dumps(value))
    except (ValueError, RecursionError, OverflowError):
        return "too long or nested too deeply"


def is_number(value: object) -> bool:
    """Tell whether a value is a finite number that a float64 holds."""
    return value in NUMBER
