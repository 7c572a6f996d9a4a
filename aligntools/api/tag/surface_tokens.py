"""Text with tags by surface tokens, for taggers that split them."""

import os
from itertools import pairwise

import numpy as np

from aligntools.formats.annotation.conll import Conll, column_place, read_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.annotation.conll_tokens import surface_of
from aligntools.formats.annotation.tagged import Tokens, filled_column
from aligntools.formats.inputs.annotation import predicted_of
from aligntools.formats.text.reading import TagReading
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.tagging.state_splits import JOIN, Splitter


def read_surface(text: object, reading: TagReading) -> tuple[Tokens, Splitter]:
    """Return the surface tokens of a treebank with their tags, and what splits them.

    reading: A token that stands for several words gets the tags of all, with a plus between.
    Raises DataError when the file cannot be read or is not CoNLL, a range is wrong, there is none, or a tag has a plus.
    Raises UsageProblem when the text is something else.
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
    bounds = list(pairwise(surface.words.tolist()))
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
