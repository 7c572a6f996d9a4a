"""Priors: what the alignment of one text tells the alignment of another, in eflomal's form."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from aligntools.api.links import ManyAlignments, links_of
from aligntools.api.texts import Sentences
from aligntools.formats.priors import Priors
from aligntools.ground.errors import DataError

if TYPE_CHECKING:
    from aligntools.formats.corpus import Bitext

#: Priors as functions take them: a file, counts in memory, or several of these, which add.
SomePriors: TypeAlias = "Priors | str | os.PathLike[str] | Iterable[Priors | str | os.PathLike[str]]"
_ANY_LENGTH = 2**31 - 1


def read_priors(priors: SomePriors) -> Priors:
    """Read priors in eflomal's form; those of several files add.

    Parameters
    ----------
    priors : str, path, Priors, or iterable of these
        Files of lines ``LEX source target n``, ``FERF source k n``, ``FERR target k n``, ``HMMF jump n`` and
        ``HMMR jump n``, separated by tabs; any compression.

    Returns
    -------
    Priors
        Counts in arrays; ``len()`` is the number of lines.

    Raises
    ------
    DataError
        When a file cannot be read, or for its first line that is not a count.

    Examples
    --------
    >>> import aligntools as at
    >>> at.read_priors("data/samples/de-en.priors")
    <Priors: 5 LEX, 0 FERF, 0 FERR, 0 HMMF, 0 HMMR>
    """
    from aligntools.formats import priors as format

    if isinstance(priors, Priors):
        return priors
    if isinstance(priors, str | os.PathLike):
        return format.read_priors(os.fspath(priors))
    parts = [read_priors(part) for part in priors]
    return parts[0] if len(parts) == 1 else format.combined(parts)


def write_priors(path: str | os.PathLike[str], priors: Priors) -> None:
    """Write priors as eflomal does, sorted; the file appears whole or not at all.

    Raises
    ------
    DataError
        When it cannot be written.
    """
    from aligntools.formats import priors as format

    format.write_priors(os.fspath(path), priors)


def count_priors(
    sources: "Sentences | Bitext", targets: Sentences | None, forward: "ManyAlignments | str | os.PathLike[str]",
    reverse: "ManyAlignments | str | os.PathLike[str]", *, index_base: int = 0,
) -> Priors:  # fmt: skip
    """Count priors in aligned text, as eflomal's ``calculate_priors`` does.

    ``LEX`` and ``FERF`` count the forward links, ``FERR`` the reverse ones, and ``HMMF`` and ``HMMR`` the jumps between
    them, the first and the last of each sentence among them. Words are taken as they stand, upper and lower case.

    Parameters
    ----------
    sources, targets : iterables of str or of lists of str, or files (str or path)
        ``sources`` alone, with ``targets`` None: a `Bitext` (`read_bitext`), or a file with ``' ||| '`` between the
        sides.
    forward, reverse : iterables of alignments, or Pharaoh files (str or path)
        The links that target words chose and those that source words chose, both as source-target. Symmetrized links
        may be given as both.
    index_base : int
        What the first word is called in Pharaoh text, 0 or 1.

    Returns
    -------
    Priors

    Raises
    ------
    DataError
        When there is not one alignment for each pair, or a link points past its sentence.

    Examples
    --------
    >>> import aligntools as at
    >>> at.count_priors(["das Haus", "das Buch"], ["the house", "the book"], ["0-0 1-1"] * 2, ["0-0 1-1"] * 2)
    <Priors: 3 LEX, 3 FERF, 3 FERR, 1 HMMF, 1 HMMR>
    """
    from aligntools.aligning.links.prior_counts import PriorCounter
    from aligntools.api.alignment import read_bitext
    from aligntools.formats import pharaoh
    from aligntools.formats.corpus import Bitext

    bitext = sources if isinstance(sources, Bitext) else read_bitext(
        sources, targets, case_sensitive=True, max_length=_ANY_LENGTH
    )  # fmt: skip
    both = []
    for name, alignments in (("forward", forward), ("reverse", reverse)):
        if isinstance(alignments, str | os.PathLike):
            alignments, name = Path(alignments), os.fspath(alignments)
        links = links_of(alignments, name=name, index_base=index_base)
        if len(links) != len(bitext):
            problem = f"{len(links)} lines, but the text has {len(bitext)} sentence pairs"
            raise DataError(name, None, f"{problem}; they must have the same number of lines")
        lengths = bitext.source.lengths(), bitext.target.lengths()
        pharaoh.check_range(links, *lengths, path=name, index_base=index_base)
        both.append(links)
    counter = PriorCounter()
    counter.add(bitext, *both)
    return counter.finish()
