"""Tag sequences with log-probabilities, and posteriors of tags, as text.

Sequences are lines ``sentence ||| tags ||| log-probability``, sentences counted from 0, as lists of translations are.
Posteriors are a line a token, ``word TAB tag:probability TAB ...``, the most probable tag first, and a blank line after
each sentence. A tag may have a colon: the last one of a field counts.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from aligntools.formats.opening import files
from aligntools.ground.errors import DataError


def format_lists(first: int, lists: Iterable[Iterable[Sequence[str]]]) -> bytes:
    """Format several results of each sentence, one a line: its number and the fields, ' ||| ' between them."""
    lines = [" ||| ".join((str(number), *row)) + "\n" for number, own in enumerate(lists, first) for row in own]
    return "".join(lines).encode("utf-8", "surrogateescape")


def format_sequences(first: int, lists: Iterable[Sequence[Any]]) -> bytes:
    """Format sequences with ``tags`` and ``log_probability``, one a line, of sentences from number ``first`` on."""
    return format_lists(first, (((" ".join(one.tags), f"{one.log_probability:.6f}") for one in own) for own in lists))


def format_scores(values: Sequence[float], offsets: np.ndarray) -> bytes:
    """Format a log-probability for each sentence; a sentence of no words has an empty line."""
    empty = (np.diff(offsets) == 0).tolist()
    return "".join("\n" if no else f"{x:.6f}\n" for x, no in zip(values, empty, strict=True)).encode()


def format_posteriors(
    words: Sequence[bytes], offsets: np.ndarray, cells: np.ndarray, tags: Sequence[bytes], values: np.ndarray
) -> bytes:
    """Format the posteriors of each token's tags, those that six decimals do not show left out.

    words (bytes [tokens]), offsets (int64 [sentences + 1]), cells (int64 [tokens + 1]), tags (bytes [cells]), values
        (float64 [cells]).
    """
    lines = []
    for a, b in pairwise(offsets.tolist()):
        for t in range(a, b):
            own = range(int(cells[t]), int(cells[t + 1]))
            shown = sorted(own, key=lambda c: -values[c])
            fields = [b"%s:%.6f" % (tags[c], values[c]) for c in shown if values[c] >= 5e-7]
            lines.append(b"\t".join([words[t].replace(b"\t", b" "), *fields]))
        lines.append(b"")
    return b"".join(line + b"\n" for line in lines)


def read_posteriors(path: str) -> list[list[tuple[bytes, dict[bytes, float]]]]:
    """Read posteriors: of each sentence its words with the probabilities of their tags."""
    sentences: list[list[tuple[bytes, dict[bytes, float]]]] = []
    own: list[tuple[bytes, dict[bytes, float]]] = []
    for number, line in enumerate(files.lines(path), 1):
        if not line:
            sentences.append(own)
            own = []
            continue
        word, *fields = line.split(b"\t")
        found = dict[bytes, float]()
        for field in fields:
            tag, _, value = field.rpartition(b":")
            try:
                found[tag] = float(value)
            except ValueError:
                problem = f"'{files.start_of(field)}' is not tag:probability; these were expected, separated by tabs"
                raise DataError(path, number, problem) from None
        own.append((word, found))
    return sentences + ([own] if own else [])
