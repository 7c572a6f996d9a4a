"""Tags to look at, from Python."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from aligntools.formats.annotation.tagged import Tokens, tokens_of_conll
from aligntools.formats.inputs.annotation import encoded, read_annotated
from aligntools.formats.text.memory_text import name_of
from aligntools.formats.text.reading import TagReading
from aligntools.ground.errors import visible
from aligntools.metrics.text_match import check_words
from aligntools.viewing.tags import TagsView


def view_tags(tagged: Any, gold: Any = None, *, column: str | int = "upos", title: str | None = None) -> TagsView:
    """Look at tags, alone or beside gold tags of the same words: which are taken for which, and where.

    Parameters
    ----------
    tagged : str, path, sentences, or what a tagger returned
        A file of any form that `score_tags` reads, or tagged sentences. Empty sentences are left out.
    gold : the same, optional
    column : str or int
        Column of CoNLL with the tags.
    title : str, optional
        Of the page.

    Returns
    -------
    View
        ``html()``, ``svg()`` for the confusion table, ``svg(number)`` for a sentence, ``text()`` and ``save(path)``.

    Raises
    ------
    DataError
        When a file cannot be read, or the two do not have the same words.

    Examples
    --------
    >>> import aligntools as at
    >>> print(at.view_tags(["the_DET dog_VERB"], ["the_DET dog_NOUN"]).text(number=1), end="")
    1  the_DET  dog_VERB ✗NOUN
    """
    tokens = _tokens(tagged, column)
    found = None if gold is None else _tokens(gold, column)
    if found is not None:
        check_words(found, tokens, name_of(gold, "gold"), name_of(tagged, "tagged"), what="sentences with words")
    names = [Path(str(each)).name if _is_file(each) else word for each, word in ((tagged, "Tags"), (gold, "gold"))]
    shown = title or (names[0] if gold is None else f"{names[0]} beside {names[1]}")
    return TagsView(tokens, found, visible(shown))


def _is_file(given: Any) -> bool:
    return isinstance(given, str | os.PathLike)


def _tokens(given: Any, column: str | int) -> Tokens:
    """Return tagged text without its empty sentences."""
    if hasattr(given, "tagset"):  # TaggedSentences
        source = given.source if isinstance(given.source, Tokens) else tokens_of_conll(given.source, None)
        tokens = replace(source, tags=given.tags)
    elif hasattr(given, "tokens") and hasattr(given, "tags"):  # TaggedSentence
        words, tags = (list(map(encoded, values)) for values in (given.tokens, given.tags))
        tokens = Tokens(words, np.array([0, len(words)]), tags, np.ones(1, np.int64), "tagged")
    else:
        tokens = read_annotated(given, TagReading(column=column))
    some = np.diff(tokens.offsets) > 0
    if some.all():
        return tokens
    return replace(tokens, offsets=np.append(tokens.offsets[:-1][some], len(tokens.words)), lines=tokens.lines[some])
