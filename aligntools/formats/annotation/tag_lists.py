"""Tags as text: sequences with log-probabilities, posteriors, and sets of tags that a word may have.

Sequences are lines ``sentence ||| tags ||| log-probability``, sentences counted from 0, as lists of translations are.
Posteriors are a line a token, ``word TAB tag:probability TAB ...``, the most probable tag first, and a blank line after
each sentence. A tag may have a colon: the last one of a field counts. ``NOUN|VERB`` is a set of tags.
"""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from aligntools.formats.annotation.tagged_text import Tokens
from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import as_number
from aligntools.ground.errors import DataError
from aligntools.ground.ranges import shown
from aligntools.words.vocabulary import split_words

_log = logging.getLogger("aligntools")
_Name = TypeVar("_Name", str, bytes)
#: What stands for no tag, and between the tags of a set.
NONE, OR = b"_", b"|"


def format_sequences(first: int, lists: Iterable[Sequence[Any]]) -> bytes:
    """Format sequences with ``tags`` and ``log_probability``, one a line, of sentences from number ``first`` on."""
    return files.format_lists(
        first, (((" ".join(one.tags), f"{one.log_probability:.6f}") for one in own) for own in lists)
    )


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
            ranked = sorted(own, key=lambda c: -values[c])
            fields = [b"%s:%.6f" % (tags[c], values[c]) for c in ranked if values[c] >= 5e-7]
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


def read_dictionary(path: object) -> dict[bytes, dict[bytes, float]]:
    """Read lines of a word, a tag it can have and a weight, between tabs, as `format_dictionary` writes them.

    Lines of the same word and tag add up. A line without a weight counts 1.
    """
    found: dict[bytes, dict[bytes, float]] = {}
    with files.reading(path) as file:
        for number, line in enumerate(file, 1):
            fields = line.rstrip(b"\r\n").split(b"\t")
            if fields == [b""]:
                continue
            weight = _weight(fields)
            if weight is None:
                text = shown(b"\t".join(fields))
                problem = f"'{text}': a word, a tag and perhaps a weight of 0 or more were expected, between tabs"
                raise DataError(path, number, f"{problem} (`Projection.dictionary()` makes such lines)")
            word, tag = fields[:2]
            if not _is_tag(tag):
                name = shown(tag)
                raise DataError(path, number, f"'{name}' is not a tag: give each tag of a word a line of its own")
            tags = found.setdefault(word, {})
            tags[tag] = tags.get(tag, 0.0) + weight
    if not found:
        raise DataError(path, None, "has no words; lines of word, tag and weight were expected, between tabs")
    return found


def format_dictionary(found: Mapping[str, Mapping[str, float]]) -> bytes:
    """Return a dictionary as `read_dictionary` reads it; tags that would mean several are left out and counted."""
    rows = [(word, tag, weight) for word, tags in found.items() for tag, weight in tags.items()]
    lines = [
        f"{word}\t{tag}\t{weight:.4g}\n".encode("utf-8", "surrogateescape")
        for word, tag, weight in rows
        if _is_tag(tag.encode("utf-8", "surrogateescape"))
    ]
    if left_out := len(rows) - len(lines):
        said = "their tags are _ or have | or a space in them, which a dictionary has no form for"
        _log.warning("%d row%s left out: %s", left_out, "s" if left_out > 1 else "", said)
    return b"".join(lines)


def _is_tag(tag: bytes) -> bool:
    return tag != NONE and OR not in tag and split_words(tag) == [tag]


def likely(weights: Mapping[_Name, float], least: float) -> dict[_Name, float]:
    """Return a word's tags with their weights, heaviest first, without those of a smaller share; never none."""
    total = sum(weights.values())
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return {tag: weight for tag, weight in ranked if weight >= least * total} or dict(ranked[:1])


def _weight(fields: list[bytes]) -> float | None:
    """Return the weight of a line of a dictionary, None where it is none."""
    if len(fields) not in (2, 3) or not fields[0] or split_words(fields[1]) != [fields[1]]:
        return None
    weight = as_number(fields[2]) if len(fields) == 3 else 1.0
    return weight if 0 <= weight < float("inf") else None


def sets_of(text: Tokens, path: object, known: Collection[bytes] = ()) -> dict[bytes, tuple[bytes, ...]]:
    """Return the tags that each label of a text stands for: ``_`` none, ``NOUN|VERB`` two, all else itself.

    known: Names of tags, apart from those that stand alone in the text.
    """
    labels = text.tags or []
    sets = {label: tuple(label.split(OR)) if label != NONE else () for label in set(labels)}
    alone = {label for label, tags in sets.items() if len(tags) == 1} | set(known)
    for label in sorted(sets):
        tags = sets[label]
        if len(tags) < 2:
            continue
        name = f"'{shown(label)}'"
        strange = next((tag for tag in tags if tag not in alone), None)
        if b"" in tags or NONE in tags or len(set(tags)) < len(tags):
            problem = f"the set of tags {name} has an empty tag, _ or a tag twice; NOUN|VERB stands for two tags, _ for"
            problem += " any"
        elif strange is not None:
            tag = shown(strange)
            problem = (
                f"{name} is a set of tags, but no word has the tag '{tag}' alone (if | is part of the tags, replace"
            )
            problem += " it; if they are right, name them in a dictionary)"
        else:
            continue
        raise DataError(path, text.line_of_word(labels.index(label)), problem)
    return sets
