"""Derivations of translations to look at, from Python."""

import os
from collections.abc import Iterable
from pathlib import Path

from aligntools.formats.inputs.sentences import Sentence
from aligntools.formats.opening import files
from aligntools.formats.text.memory_text import name_of
from aligntools.formats.translation.derivations import DerivedSentence, read_derivations
from aligntools.ground.errors import DataError, visible
from aligntools.viewing.derivations import DerivationsView
from aligntools.words.vocabulary import split_words


def view_derivations(
    derivations: str | os.PathLike[str] | Iterable[DerivedSentence],
    references: str | os.PathLike[str] | Iterable[Sentence] | None = None,
    *,
    title: str | None = None,
) -> DerivationsView:
    """Look at how translations came about: rules over the source, hypotheses beside the reference.

    Parameters
    ----------
    derivations : path, or iterable of DerivedSentence
        What ``translate --derivations`` wrote, or what `Translator.derivations` yields.
    references : path, or iterable of sentences, optional
        A translation of each sentence.
    title : str, optional
        Of the page.

    Returns
    -------
    View
        ``html()``, ``svg(number)``, ``text()`` and ``save(path)``; notebooks show it.

    Raises
    ------
    DataError
        When a file cannot be read, or there is not one reference for each sentence.

    Examples
    --------
    >>> import aligntools as at
    >>> grammar = at.extract_grammar(["das Haus", "ein Hund"], ["the house", "a dog"], ["0-0 1-1", "0-0 1-1"])
    >>> translator = at.Translator(grammar, at.train_lm(["the house", "a dog", "the dog"], order=2))
    >>> shown = at.view_derivations(translator.derivations(["das Hund"]), ["the dog"])
    >>> shown.text(number=1).splitlines()[:2]
    ['sentence 1  das Hund', ' reference  the dog']
    """
    name = title
    if isinstance(derivations, str | os.PathLike):
        name = name or Path(derivations).name
        sentences = read_derivations(derivations)
    else:
        sentences = list(derivations)
    found = None
    if references is not None:
        found = _references(references)
        if len(found) != len(sentences):
            problem = f"{len(found)} lines, but there are {len(sentences)} sentences with derivations"
            raise DataError(name_of(references, "references"), None, f"{problem}; a reference for each is needed")
    return DerivationsView(sentences, found, visible(name or "Derivations"))


def _references(given: str | os.PathLike[str] | Iterable[Sentence]) -> list[tuple[str, ...]]:
    if isinstance(given, str | os.PathLike):
        lines = enumerate(files.lines(os.fspath(given)))
        return [_words(line.decode("utf-8" if number else "utf-8-sig", "replace")) for number, line in lines]
    return [_words(sentence) for sentence in given]


def _words(sentence: Sentence) -> tuple[str, ...]:
    if not isinstance(sentence, str):
        return tuple(sentence)
    return tuple(
        word.decode("utf-8", "replace") for word in split_words(sentence.encode("utf-8", "replace").rstrip(b"\n"))
    )
