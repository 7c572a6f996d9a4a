"""What is known of tags where they are not all given: sets of tags (``NOUN|VERB``) and dictionaries of words' tags."""

import logging
from collections.abc import Collection, Mapping
from typing import TypeVar

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
