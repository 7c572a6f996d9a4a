"""Alignments of two directions made one, alignment files combined, and translation tables of aligned text."""

import logging
import os
from collections.abc import Iterable, Sequence
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from aligntools.formats.inputs.sentences import InputFormat, Sentences, paths_of
from aligntools.formats.text.bitext import read_bitext, read_side
from aligntools.formats.text.corpus import Bitext, Skipped
from aligntools.ground.errors import DataError
from aligntools.links.settings import Flavor, Heuristic

if TYPE_CHECKING:
    from aligntools.formats.links.pharaoh import Links


class HasPairs(Protocol):
    """An alignment whose links are an array, as `Alignment` is."""

    @property
    def pairs(self) -> npt.NDArray[np.int32]:
        """Source and target position of each link [shape=(links, 2)]."""


class HasLinks(Protocol):
    """An alignment that lists its links."""

    @property
    def links(self) -> Sequence[tuple[int, int]]:
        """Source and target position of each link."""


#: The alignment of one sentence pair: links ``(i, j)`` from 0 on, in any order, an `Alignment`, or Pharaoh text.
OneAlignment: TypeAlias = str | HasPairs | HasLinks | Sequence[tuple[int, int]] | set[tuple[int, int]]
#: The alignments of many: one of these for each, or what the readers of `formats.links.pharaoh` return.
ManyAlignments: TypeAlias = "Iterable[OneAlignment] | Links"

_ANY_LENGTH = 2**31 - 1
_log = logging.getLogger("aligntools")


@overload
def symmetrize(  # type: ignore[overload-overlap]
    forward: OneAlignment, reverse: OneAlignment, method: Heuristic = ..., *, flavor: Flavor = ...
) -> list[tuple[int, int]]: ...
@overload
def symmetrize(
    forward: ManyAlignments, reverse: ManyAlignments, method: Heuristic = ..., *, flavor: Flavor = ...
) -> list[list[tuple[int, int]]]: ...
def symmetrize(
    forward: Any, reverse: Any, method: Heuristic = "grow-diag-final-and", *, flavor: Flavor = "atools"
) -> list[tuple[int, int]] | list[list[tuple[int, int]]]:
    """Combine the alignments of two directions, of one sentence pair or of many.

    The growing methods start from the intersection and add links of the union that have a neighbour inside and a word
    that is still free; ``final`` then adds links with a free word, ``final-and`` those with two. The two widespread
    programs look at the links in a different order and so do not always agree.

    Parameters
    ----------
    forward, reverse : alignment, or iterable of alignments
        Links ``(source position, target position)`` in both. An alignment is a list or set of links, an array
        [shape=(links, 2)], an `Alignment` or a line of Pharaoh text (``"0-0 1-2"``).
    method : str
        ``intersect``, ``union``, ``grow``, ``grow-diag``, ``grow-diag-final`` or ``grow-diag-final-and``.
    flavor : str
        ``atools`` (fast_align) or ``symal`` (Moses): whose order the growing methods follow.

    Returns
    -------
    list of (int, int), or list of such lists
        Sorted links; one list for each sentence pair where there are many.

    Raises
    ------
    UsageProblem
        When there is no such method or flavor.
    DataError
        When something is not an alignment, or the two do not have equally many.

    Notes
    -----
    Och & Ney (2003), "A systematic comparison of various statistical alignment models"; Koehn, Och & Marcu (2003),
    "Statistical phrase-based translation". The result is that of ``atools.cc`` and ``symal.cpp``.

    Examples
    --------
    >>> import aligntools as at
    >>> at.symmetrize("0-0 1-1 2-2", "0-0 1-1 1-2 2-2")
    [(0, 0), (1, 1), (2, 2)]
    >>> at.symmetrize([[(0, 0)], [(0, 0), (1, 0)]], [[(0, 0), (1, 1)], [(1, 0)]], "union")
    [[(0, 0), (1, 1)], [(0, 0), (1, 0)]]
    """
    from aligntools.links import symmetrize as task

    (forward, one_forward), (reverse, one_reverse) = _told_apart(forward), _told_apart(reverse)
    one = bool(one_forward or one_reverse)
    if one and False in (one_forward, one_reverse):
        raise DataError("reverse", None, "one direction is an alignment, the other one a list of alignments")
    first, second = (
        links_of([side] if one else side, name=name) for side, name in ((forward, "forward"), (reverse, "reverse"))
    )
    if len(first) != len(second):
        raise DataError("reverse", None, f"{len(second)} alignments, but forward has {len(first)}")
    result = task.symmetrize(first, second, method, flavor).tolists()
    return result[0] if one else result


def _told_apart(given: Any) -> tuple[Any, bool | None]:
    """Return the argument and whether it is one alignment; None if it is empty, so that it could be either."""
    from aligntools.formats.links.pharaoh import Links

    if isinstance(given, Links) or hasattr(given, "table"):
        return given, False
    if isinstance(given, str) or hasattr(given, "pairs") or hasattr(given, "links"):
        return given, True
    if isinstance(given, np.ndarray) and given.ndim == 2:
        return given, True
    items = list(given)
    if not items:
        return items, None
    first = items[0]
    if isinstance(first, str | set | frozenset) or not hasattr(first, "__len__") or len(first) != 2:
        return items, False
    return items, all(isinstance(number, Integral) for number in first)


def links_of(
    alignments: "ManyAlignments | Path",
    *,
    name: str = "alignments",
    index_base: int = 0,
    head: int | None = None,
    compiled: bool | None = None,
) -> "Links":
    """Return the links of many sentence pairs as arrays; a `Path` is a Pharaoh file, its first word ``index_base``.

    ``compiled`` uses compiled code to read a file; None decides by size. DataError for what is not an alignment.
    """
    from aligntools.formats.links import pharaoh
    from aligntools.formats.links.pharaoh import Links

    alignments = getattr(alignments, "table", alignments)
    if isinstance(alignments, Links):
        return alignments if head is None else alignments[:head]
    if isinstance(alignments, Path):
        return pharaoh.read_pharaoh(alignments, index_base=index_base, head=head, compiled=compiled)
    rows = []
    for number, one in enumerate(alignments, 1):
        if head is not None and number > head:
            break
        if isinstance(one, str):
            line = one.removesuffix("\n").encode() + b"\n"
            if b"\n" in line[:-1]:
                raise DataError(name, number, "more than one line; give a string for each sentence pair")
            rows.append(pharaoh.parse_pharaoh(line, path=name, line=number, index_base=index_base).pairs)
        else:
            rows.append(_pairs(one, name, number))
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    pairs = np.concatenate([np.empty((0, 2), np.int32), *rows])
    return Links(pairs, offsets).sorted(False)


def links_of_text(
    alignments: "ManyAlignments | str | os.PathLike[str]",
    bitext: "Bitext",
    name: str,
    index_base: int,
    within: bool = True,
) -> "tuple[Links, str]":
    """Return the links of a text's pairs, and what messages call them: ``name``, or the file that they are in.

    Raises DataError where there is not one alignment for each pair, or, ``within`` sentences, a link points past one.
    """
    from aligntools.formats.links import pharaoh

    if isinstance(alignments, str | os.PathLike):
        alignments, name = Path(alignments), os.fspath(alignments)
    links = links_of(alignments, name=name, index_base=index_base)
    if len(links) != len(bitext):
        problem = f"{len(links)} lines, but the text has {len(bitext)} sentence pairs"
        raise DataError(name, None, f"{problem}; they must have the same number of lines")
    if within:
        lengths = bitext.source.lengths(), bitext.target.lengths()
        pharaoh.check_range(links, *lengths, path=name, index_base=index_base)
    return links, name


def _pairs(one: Any, name: str, number: int) -> npt.NDArray[np.int32]:
    """Return the links of an alignment [shape=(links, 2)]."""
    links = one.pairs if hasattr(one, "pairs") else one.links if hasattr(one, "links") else one
    try:
        found = links if isinstance(links, np.ndarray) else [(i, j) for i, j in links]
        pairs = np.asarray(found, np.int64 if not len(found) else None).reshape(-1, 2)
    except (TypeError, ValueError):
        pairs = np.zeros((1, 2))
    if not np.issubdtype(pairs.dtype, np.integer) or (pairs < 0).any() or (pairs >= 10**9).any():
        shown = repr(one) if len(repr(one)) <= 60 else repr(one)[:60] + "..."
        raise DataError(name, number, f"{shown} is not an alignment; give links (i, j) or text such as '0-0 1-2'")
    return pairs.astype(np.int32)


def as_written(
    sources: Sentences,
    targets: Sentences | None,
    split: str | None,
    input_format: InputFormat = "auto",
    languages: str | None = None,
) -> "Bitext":
    """Read a text in the case that it has, its sentences of any length."""
    paths = paths_of(sources, targets, split)
    how: Any = {"input_format": input_format, "languages": languages}
    return read_bitext(**paths, lowercase=False, max_length=_ANY_LENGTH, **how)


def with_blanks(source: str, target: str) -> "Bitext":
    """Read a text whose pairs with a blank side count, as for extract_lex: all their words are NULL's."""
    (sources, source_words), (targets, target_words) = (read_side(p, lowercase=False) for p in (source, target))
    if len(sources) != len(targets):
        problem = f"{len(sources)} lines, but {target} has {len(targets)}; they must have the same number of lines"
        raise DataError(source, None, problem)
    return Bitext(sources, targets, source_words, target_words, Skipped())


def check_fit(
    links: "Links",
    source_lengths: npt.NDArray[np.int64],
    target_lengths: npt.NDArray[np.int64],
    name: object,
    index_base: int,
) -> None:
    """Raise DataError where a link points past its sentence, and say so where the links are of the other direction."""
    from aligntools.formats.links.pharaoh import check_range

    lengths = source_lengths, target_lengths
    try:
        check_range(links, *lengths, path=name, index_base=index_base)
    except DataError as error:
        try:
            check_range(links.inverted(), *lengths, path=name, index_base=index_base)
        except DataError:
            raise error from None
        problem = error.problem.partition(" (")[0]
        raise DataError(name, error.line, f"{problem}; with the sides exchanged all links fit: see `reverse`") from None
