"""Logs of training: JSON lines, one object for each step, as ``--log-json`` writes them."""

import os
from typing import Any

from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import in_words, is_number, parse_json
from aligntools.ground.errors import DataError


def read_training_log(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Read the steps of a training: for each its ``stage`` and figures by name.

    Returns figures are finite numbers or lists of them; what is neither is left out, but for the stage. A last line
    that is cut short, of a training that still runs, is left out too. Raises DataError when the file cannot be read,
    has no steps, or a line is not an object with a stage.
    """
    steps: list[dict[str, Any]] = []
    lines = list(files.lines(os.fspath(path)))
    for number, line in enumerate(lines, 1):
        try:
            value = parse_json(line)
        except ValueError:
            if number == len(lines) > 1:
                continue
            raise DataError(
                path, number, "is not JSON; a log of training has an object on each line (see `progress`)"
            ) from None
        if not isinstance(value, dict) or not isinstance(value.get("stage"), str):
            found = in_words(value)
            raise DataError(path, number, f"{found}: a step of training has a 'stage' (see `progress`)")
        figures = {name: x for name, x in value.items() if is_number(x) or _numbers(x)}
        steps.append({"stage": value["stage"]} | figures)
    if not steps:
        raise DataError(path, None, "has no steps of training (see `progress`)")
    return steps


def _numbers(value: list[float] | str) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_number, value))
