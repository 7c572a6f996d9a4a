"""Compares the words of a scored text with those of the gold, and reports where they first differ."""

from typing import Protocol

import numpy as np

from aligntools.formats.annotation.tagged_text import without_spaces
from aligntools.ground.errors import DataError
from aligntools.words.normal_forms import alike


class WordSentences(Protocol):
    """Words of sentences, and where these begin in their file."""

    @property
    def words(self) -> list[bytes] | None:
        """All sentences, joined; None where only their lengths are known."""

    @property
    def offsets(self) -> np.ndarray:
        """Where each sentence begins [shape=(sentences + 1,)]."""

    @property
    def lines(self) -> np.ndarray | None:
        """1-based number of each sentence's first line [shape=(sentences,)]; None where there is no file."""


def check_words(
    gold: WordSentences,
    other: WordSentences,
    gold_name: str,
    name: str,
    *,
    ignore_forms: bool = False,
    head: bool = False,
    what: str = "sentences",
) -> None:
    """Check that two texts have the same sentences.

    gold, other: Words are compared where both have them.
    gold_name, name: The files, for messages.
    ignore_forms: Compare only how many words the sentences have.
    head: Whether the message may recommend ``--head``.
    what: What is counted, for the message.
    Raises DataError for the first sentence that differs.
    """
    forms = not ignore_forms and gold.words is not None and other.words is not None
    lengths, theirs = np.diff(gold.offsets), np.diff(other.offsets)
    if np.array_equal(lengths, theirs) and (not forms or gold.words == other.words):
        return
    for s in range(min(len(lengths), len(theirs))):
        if lengths[s] == theirs[s] and not forms:
            continue
        words, others = (_sentence(text, s) for text in (gold, other))
        if lengths[s] != theirs[s] or words != others:
            place = f"{gold_name}:{_line(gold, s)}"
            raise DataError(name, _line(other, s), _difference(words, others, lengths[s], theirs[s], s, place))
    if len(lengths) != len(theirs):
        named = "" if gold_name == "gold" else f" {gold_name}"
        problem = f"{len(theirs)} {what}, but the gold{named} has {len(lengths)}"
        more = " (if they are the first ones, score those with `head`)" if head and len(theirs) > len(lengths) else ""
        raise DataError(name, None, problem + more)


def _line(text: WordSentences, s: int) -> int:
    return s + 1 if text.lines is None else int(text.lines[s])


def _sentence(text: WordSentences, s: int) -> list[bytes]:
    if text.words is None:
        return []
    return [without_spaces(word) for word in text.words[text.offsets[s] : text.offsets[s + 1]]]


def _difference(words: list[bytes], others: list[bytes], length: int, other_length: int, s: int, place: str) -> str:
    """Describe how sentence ``s`` differs from the gold's."""
    k = next((k for k, pair in enumerate(zip(words, others, strict=False)) if pair[0] != pair[1]), None)
    first = "" if k is None else f"; word {k + 1} is '{shown(others[k])}' for '{shown(words[k])}'"
    if k is not None and alike(words[k], others[k]):
        first += " (they look alike: one is in Unicode's form NFC, the other in NFD; bring both into one)"
    if length == other_length:
        return (
            f"sentence {s + 1} has other words than the gold at {place}{first} (`ignore_forms` scores it all the same)"
        )
    return f"sentence {s + 1} has {other_length} words where the gold at {place} has {length}{first}"


def shown(value: bytes) -> str:
    """Return a word for a message, cut where it is long."""
    text = value.decode("utf-8", "replace")
    return text if len(text) <= 40 else text[:40] + "..."
