"""Results to look at, from Python: pages, pictures, text for the terminal."""

import logging
import os
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt

from aligntools.formats.annotation.brackets import Tree
from aligntools.formats.annotation.conll import Conll
from aligntools.formats.inputs.annotation import word_tags
from aligntools.formats.inputs.sentences import InputFormat, Sentences, Split, paths_of
from aligntools.formats.links import pharaoh
from aligntools.formats.links.findings import Finding, read_findings
from aligntools.formats.links.goldlinks import Gold
from aligntools.formats.links.pharaoh import read_with_probabilities
from aligntools.formats.text.bitext import name_of
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.formats.text.exchange import paired
from aligntools.formats.text.raw_pairs import Sides
from aligntools.formats.translation.derivations import DerivedSentence
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import DataError, UsageProblem, visible
from aligntools.ground.progress import Step
from aligntools.links.alignments import links_of
from aligntools.metrics.scorers import gold_of
from aligntools.metrics.settings import GoldReading
from aligntools.viewing.alignments import AlignmentsView
from aligntools.viewing.annotation import view_constituents, view_derivations, view_training, view_trees
from aligntools.viewing.base import View as View
from aligntools.viewing.models import Shown
from aligntools.viewing.pictures import ShownSystem
from aligntools.words.vocabulary import ExtendedVocabulary, Vocabulary, split_words
from aligntools.words.white_space import WhiteSpace, split_as

if TYPE_CHECKING:
    from aligntools.ground.keywords import GoldReadingKeywords


#: Parallel text to look at: what `read_bitext` returns, a file with both sides, or two texts of any kind.
SomePairs: TypeAlias = "Bitext | str | os.PathLike[str] | tuple[Sentences, Sentences]"
_Words: TypeAlias = list[list[str]]

_ALL = 1 << 40  # lines; more than any text has
_log = logging.getLogger("aligntools")


@taking(GoldReading)
def view(
    text: SomePairs,
    *alignments: Any,
    names: Sequence[str] | None = None,
    gold: Any = None,
    title: str | None = None,
    source_tags: str | os.PathLike[str] | None = None,
    target_tags: str | os.PathLike[str] | None = None,
    checked: "str | os.PathLike[str] | Iterable[Any] | None" = None,
    input_format: InputFormat = "auto",
    languages: str | None = None,
    **options: "Unpack[GoldReadingKeywords]",
) -> View:
    """Look at results: in a notebook, as a page, as a picture, in the terminal.

    A text is shown with its alignments. What a parser or a tagger returns, a model, a list of derivations and a list of
    steps of training are shown as `view_trees`, `view_tags`, `view_model`, `view_derivations` and `view_training` do;
    a `Tree`, or a list of them, as `view_constituents` does.

    Parameters
    ----------
    text : Bitext, str, path, (source, target), or list of tuples of two sentences; or one of the above
        What `read_bitext` returns; a file with both sides; two texts, each a file or sentences; or pairs. Text that is
        not a `Bitext` is shown in its own case.
    *alignments : str, path, `Alignments`, or iterable of alignments
        Links of each system: a Pharaoh file, with probabilities where it has them, or an alignment for each pair.
    names : sequence of str, optional
        What the systems are called; files' names or numbers by default.
    gold : str, path, or list, optional
        Gold links, as `aer` takes them: of the first pairs, or of those whose numbers the file has; gold trees or tags,
        references of derivations.
    title : str
        Of the page.
    source_tags, target_tags : str or path, optional
        Files with a tag for each word, as `score_tags` takes them: errors are counted by tag.
    checked : str, path or `Checked`, optional
        What `check` found, or a file that it wrote: words of these pairs are marked.
    input_format, languages : str, optional
        Of one file with both sides, see `read_bitext`.
    **options

    Returns
    -------
    View
        ``html()``, ``svg(number)``, ``text()`` and ``save(path)``; notebooks show it, ``str()`` is for terminals.

    Raises
    ------
    DataError
        When a file cannot be read, or files do not belong together: other numbers of pairs, links past a sentence.

    Examples
    --------
    >>> import aligntools as at
    >>> shown = at.view((["das haus"], ["the house"]), ["0-0 1-1"])
    >>> shown.save("/tmp/page.html")  # doctest: +SKIP
    """
    asked = Keywords("view", options)
    how = asked.take(GoldReading)
    asked.end()
    if not alignments and (other := _view_of(text, gold, title)) is not None:
        return other
    source, target, name = _sides(text, input_format, languages, how.split or "spaces")
    lengths = [np.array([len(words) for words in side], np.int64) for side in (source, target)]
    if names is not None and len(names) != len(alignments):
        raise UsageProblem(f"{len(names)} names for {len(alignments)} alignments")
    systems = []
    for number, given in enumerate(alignments, 1):
        file = isinstance(given, str | os.PathLike)
        called = names[number - 1] if names is not None else Path(given).name if file else str(number)
        systems.append(_system(visible(called), given, lengths, how.index_base, name))
    read = None if gold is None else _gold(gold, lengths, how.of_gold(len(source)), name)
    tags = [
        None if path is None else [[visible(tag) for tag in row] for row in word_tags(path, list(map(len, words)))]
        for path, words in ((source_tags, source), (target_tags, target))
    ]
    found = None if checked is None else _findings(checked, len(source), name)
    return AlignmentsView(source, target, systems, read, visible(title or "Alignments"), tags[0], tags[1], found)


def _view_of(thing: Any, gold: Any, title: str | None) -> View | None:
    """Return a view of a result that shows itself, of trees, derivations or steps of training; None of a text."""
    if isinstance(thing, Shown):
        return thing.shown(gold, title)
    if isinstance(thing, Conll):
        return view_trees(thing, gold, title=title)
    if isinstance(thing, Tree) or (isinstance(thing, list) and thing and all(isinstance(one, Tree) for one in thing)):
        return view_constituents(thing, gold, title=title)
    if isinstance(thing, list) and thing and all(isinstance(one, DerivedSentence) for one in thing):
        return view_derivations(thing, gold, title=title)
    if isinstance(thing, list) and thing and all(isinstance(one, Step) for one in thing):
        return view_training(thing, title=title or "Training")
    return None


def _sides(text: Any, input_format: str, languages: str | None, split: Split) -> tuple[_Words, _Words, str]:
    """Return the words of both sides, and what messages call the text."""
    if isinstance(text, Bitext):
        source, target = (_words(side, vocabulary) for side, vocabulary in text.sides)
        return source, target, "the text"
    if isinstance(text, str | os.PathLike):
        path = os.fspath(split_as(text, split))
        lines = _lines(path, input_format, languages)
        filled = next((n for n, line in enumerate(lines[0], 1) if line), None)
        if filled and not any(lines[1]):
            raise DataError(path, filled, "no ' ||| ' or tab between two sides (give two files as source and target)")
        return *(_split(side, path) for side in lines), path
    pairs = isinstance(text, list) and all(isinstance(one, tuple) for one in text)
    if not pairs and len(text) != 2:
        problem = f"{len(text)} texts; give (source, target), or a list of tuples of two sentences"
        raise DataError("<text>", None, problem)
    paths = paths_of(text, None, split) if pairs else paths_of(text[0], text[1], split)
    source, target = (_split(_lines(paths[side], None)[0], paths[side]) for side in ("source", "target"))
    first, second = map(str, paths.values())
    if len(source) != len(target):
        problem = f"{len(target)} lines, but {first} has {len(source)}; both must have the same number of lines"
        raise DataError(second, None, problem)
    return source, target, first


def _lines(path: Any, format: str | None, languages: str | None = None) -> list[list[bytes]]:
    sides: Any = Sides
    with closing(sides(paired(path, languages, format), None, format)) as text:
        return list(text.read(_ALL))


def _split(lines: list[bytes], text: Any) -> _Words:
    white = WhiteSpace(text)
    lines = white.of_lines(lines)
    white.tell()
    return [[visible(w.decode("utf-8", "surrogateescape")) for w in split_words(line)] for line in lines]


def _words(side: Side, vocabulary: Vocabulary | ExtendedVocabulary) -> _Words:
    table = [visible(word) for word in vocabulary.words()]
    flat = [table[k] for k in side.tokens.tolist()]
    ends = side.offsets.tolist()
    return [flat[a:b] for a, b in pairwise(ends)]


def _system(name: str, given: Any, lengths: Sequence[np.ndarray], base: int, text: str) -> ShownSystem:
    probabilities: npt.NDArray[np.float64] | None
    if isinstance(given, str | os.PathLike):
        path = os.fspath(given)
        links, probabilities = read_with_probabilities(path, index_base=base)
    else:
        path, links = name, links_of(given, name=name, index_base=base, compiled=False)
        probabilities = getattr(given, "probabilities", None)
    if len(links) != len(lengths[0]):
        raise DataError(path, None, f"{len(links)} lines, but {text} has {len(lengths[0])} sentence pairs")
    pharaoh.check_range(links, *lengths, path=path, index_base=base)
    return name, links, probabilities


def _findings(given: Any, pairs: int, text: str) -> dict[int, Finding]:
    if isinstance(given, str | os.PathLike):
        path, found = os.fspath(given), read_findings(given)
    else:
        path, found = "checked", [one.finding for one in given]
    last = max((one.line for one in found), default=0)
    if last > pairs:
        raise DataError(path, None, f"is about pair {last}, but {text} has {pairs} sentence pairs")
    return {one.line: one for one in found}


def _gold(given: Any, lengths: Sequence[np.ndarray], how: dict[str, Any], text: str) -> Gold:
    path = name_of(given, "gold")
    gold = gold_of(given, how)
    if gold.reach > len(lengths[0]):
        problem = f"{len(gold)} sentence pairs" if gold.numbers is None else f"links of line {gold.reach}"
        raise DataError(path, None, f"{problem}, but {text} has {len(lengths[0])}")
    own = [side[gold.rows] for side in lengths]
    pharaoh.check_range(gold.possible, *own, path=path, index_base=gold.index_base)
    if gold.null_links:
        _log.info("%s: %d links to NULL left out", path, gold.null_links)
    return gold
