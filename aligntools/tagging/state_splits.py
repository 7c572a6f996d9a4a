"""Splitting surface tokens into words: *au* into *à le*, as the ranges of a treebank do.

A tagger trained on surface tokens gives those that stand for several words the tags of all, ``ADP+DET``; so the context
decides whether *des* is to be split. Into what is looked up: by the form and its tags, or, where the form is new, by
its longest ending that was seen with these tags (*-rlo* of *vederlo*: *-r lo*).
"""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from aligntools.formats.annotation.conll import Conll, column_place, read_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.annotation.conll_tokens import surface_of
from aligntools.formats.annotation.tagged_text import Tokens, filled_column
from aligntools.formats.inputs.annotation import predicted_of
from aligntools.formats.text.text_settings import TagReading
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.words.vocabulary import split_words

#: Between the tags of a token that stands for several words.
JOIN = b"+"
#: An ending begins where the form and its first word part, or up to so many letters before.
_BEFORE = 2


@dataclass(frozen=True)
class Splitter:
    """What surface tokens are split into.

    forms: By form, in lower case, and tags, with a space between: the words, with spaces between.
    endings: By ending and tags: the words without what stands before the ending.
    """

    forms: dict[str, str]
    endings: dict[str, str]

    @classmethod
    def learn(cls, tokens: Iterable[tuple[bytes, Sequence[bytes], Sequence[bytes]]]) -> "Splitter":
        """Learn from tokens that stand for several words: the form, the words' forms and their tags.

        Tokens with spaces, or bytes that are not UTF-8, are passed over. Of several ways to split a form with the same
        tags the most frequent is taken.
        """
        forms: dict[str, Counter[str]] = {}
        endings: dict[str, Counter[str]] = {}
        for form, words, tags in tokens:
            try:
                text, *parts = [x.decode().lower() for x in (form, *words)]
                tag = JOIN.join(tags).decode()
            except UnicodeDecodeError:
                continue
            if any(split_words(x) != [x] for x in (text, tag, *parts)):
                continue
            forms.setdefault(f"{text} {tag}", Counter())[" ".join(parts)] += 1
            both = zip(text, parts[0], strict=False)
            same = next((k for k, (a, b) in enumerate(both) if a != b), min(len(text), len(parts[0])))
            for cut in range(max(1, same - _BEFORE), min(same, len(text) - 1) + 1):
                rest = " ".join([parts[0][cut:], *parts[1:]])
                endings.setdefault(f"{text[cut:]} {tag}", Counter())[rest] += 1
        return cls(_likeliest(forms), _likeliest(endings))

    def split(self, form: bytes, tag: bytes) -> list[bytes] | None:
        """Return the words that a token with the tags of several stands for; None if it is not known which."""
        try:
            text, tags = form.decode(), tag.decode()
        except UnicodeDecodeError:
            return None
        lower = text.lower()
        found = self.forms.get(f"{lower} {tags}")
        for cut in range(1, len(lower)) if found is None else ():
            rest = self.endings.get(f"{lower[cut:]} {tags}")
            if rest is not None:
                found = lower[:cut] + rest
                break
        if found is None or found.count(" ") != tags.count(JOIN.decode()):
            return None
        if len(text) > 1 and text.isupper():
            found = found.upper()
        elif text[:1].isupper():
            found = found[:1].upper() + found[1:]
        return [word.encode() for word in found.split(" ")]

    @classmethod
    def of(cls, kept: Any) -> "Splitter":
        """Make it of what the header of a model file keeps; ValueError where that is something else."""
        if not isinstance(kept, dict) or set(kept) != {"forms", "endings"}:
            raise ValueError("splits")
        for name, table in kept.items():
            if not isinstance(table, dict):
                raise ValueError("splits")
            for key, words in table.items():
                parts = words.split(" ") if isinstance(words, str) else []
                " ".join([key, *parts]).encode()  # of a lone surrogate there are no bytes
                whole = parts[name == "endings" :]
                if key.count(" ") != 1 or len(parts) < 2 or not all(whole) or set(words) & set("\t\r\n"):
                    raise ValueError("splits")
        return cls(kept["forms"], kept["endings"])


def _likeliest(found: dict[str, Any]) -> dict[str, str]:
    return {key: min(counts, key=lambda x: (-counts[x], x)) for key, counts in found.items()}


def read_surface(text: object, reading: TagReading) -> tuple[Tokens, Splitter]:
    """Return the surface tokens of a treebank with their tags, and what splits them.

    reading: A token that stands for several words gets the tags of all, with a plus between.
    """
    if reading.format not in ("auto", "conll"):
        raise UsageProblem(f"`tokens=surface` takes CoNLL; `format={reading.format}` has no ranges of words")
    if reading.predicted_columns:
        conll = predicted_of(text)
    elif isinstance(text, (str, os.PathLike)):
        conll = read_conll(os.fspath(text))
    elif isinstance(text, Conll):
        conll = text
    else:
        raise UsageProblem("`tokens=surface` takes CoNLL; other text has no ranges of words")
    surface = surface_of(conll)
    words, tags = conll.words, filled_column(conll, column_place(reading.tags))
    bounds = list(pairwise(surface.edges.tolist()))
    if all(b - a == 1 for a, b in bounds):
        raise DataError(conll.path, None, "has no ranges such as 1-2; `tokens=surface` learns from them")
    for k, tag in enumerate(tags):
        if JOIN in tag:
            problem = f"the tag '{tag.decode('utf-8', 'replace')}' has a plus; `tokens=surface` joins tags by it"
            raise DataError(conll.path, conll.line_of_word(k), f"{problem} (choose another `column`)")
    forms = surface.column(COLUMNS["form"])
    splitter = Splitter.learn(
        (form, words[a:b], tags[a:b]) for form, (a, b) in zip(forms, bounds, strict=True) if b - a > 1
    )
    joined = [JOIN.join(tags[a:b]) for a, b in bounds]
    # a token is partly tagged where one of its words is not
    joined = [b"_" if b"_" in tags[a:b] else tag for tag, (a, b) in zip(joined, bounds, strict=True)]
    return Tokens(forms, surface.offsets.astype(np.int64), joined, conll.sentence_lines(), "conll"), splitter
