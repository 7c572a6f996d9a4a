"""JSON from files that may hold anything: it is read or refused, and values are shown in messages."""

import json
import math
from collections.abc import Mapping
from typing import Any

from aligntools.formats.opening import files
from aligntools.ground.errors import DataError
from aligntools.ground.ranges import amounts, shown

#: Weights and other numbers that may have either sign.
NUMBER = amounts(-1e300, 1e300)


class Fault(Exception):
    """What is wrong with a line, before it is known which line that is."""


def json_line(value: object) -> bytes:
    """Return a value as a line of JSON."""
    return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def parse_json(text: bytes | str) -> Any:
    """Parse JSON; ValueError when it is none, or nested too deeply for any file of ours."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_described(path: Any, described: Mapping[str, str], what: str) -> dict[str, Any]:
    """Read a JSON object that says what it is, as ``described``; ``what`` messages call it."""
    with files.reading(path) as file:
        data = file.read()
    try:
        text = parse_json(data)
    except ValueError:
        text = None
    if not isinstance(text, dict) or any(text.get(name) != value for name, value in described.items()):
        raise DataError(path, None, f"is not {what}")
    return text


def check_version(path: Any, text: Mapping[str, Any], version: int) -> None:
    """Refuse what such a file has under another version than the one that is read."""
    if text.get("version") != version:
        found = in_words(text.get("version"))
        raise DataError(path, None, f"has version {found}, this program reads {version}; learn it again")


def in_words(value: object) -> str:
    """Return a value for a message, as JSON, cut where it is long."""
    try:
        return shown(json.dumps(value))
    except (ValueError, RecursionError, OverflowError):
        return "too long or nested too deeply"


def is_number(value: object) -> bool:
    """Return whether a value is a finite number that a float64 holds."""
    return value in NUMBER


def as_number(field: bytes | str) -> float:
    """Return the number that a field of a line is; NaN where it is none."""
    try:
        return float(field)
    except ValueError:
        return math.nan
