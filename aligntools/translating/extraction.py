"""What grammars are extracted from, as functions take it, and what extracts them."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np

from aligntools.formats.inputs.sentences import Lines, PathLike, Text, numbered, read_lines, side_of
from aligntools.formats.text.text_settings import PairReading, Split
from aligntools.ground import memory
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import pool_of, threads_in
from aligntools.ground.run import Run
from aligntools.store.job_engines import mapping
from aligntools.translating.settings import TABLES, ExtractionSettings

if TYPE_CHECKING:
    from aligntools.formats.links.pharaoh import Links
    from aligntools.formats.text.corpus import Bitext
    from aligntools.formats.translation.grammar import GrammarRules
    from aligntools.translating.grammar.extraction import Extraction

#: Word alignments: a Pharaoh file, what its reader returned, or for each pair a line such as ``0-0 1-2``, positions, or
#: an `Alignment`.
AlignmentsInput: TypeAlias = Union[PathLike, "Links", Iterable[Any]]

_ANY_LENGTH = 2**31 - 1


def extraction_of(
    source: "Text | Bitext",
    target: Text | None,
    alignments: AlignmentsInput | None,
    settings: ExtractionSettings,
    text: Text | None,
    index_base: int,
    reading: PairReading,
    run: Run,
) -> "Extraction":
    """Read what is given and prepare the extraction."""
    if alignments is None:
        raise UsageProblem("a grammar needs alignments: one for each sentence pair")
    from aligntools.formats.links import pharaoh
    from aligntools.translating.grammar.extraction import Extraction

    split = reading.split
    bitext = _bitext(_split_as(source, split), _split_as(target, split), reading)
    links, name = _links(alignments, index_base)
    if len(links) != len(bitext):
        found = f"{len(links)} lines, but the text has {len(bitext)} sentence pairs; they must have the same number"
        raise DataError(name, None, found)
    lengths = bitext.source.lengths(), bitext.target.lengths()
    pharaoh.check_range(links, *lengths, path=name, index_base=index_base)
    return Extraction(
        bitext,
        links,
        settings,
        text=None if text is None else side_of(_split_as(text, split)),
        threads=threads_in(run.threads),
        max_memory=memory.for_tables(run.memory, TABLES),
        folder=None if run.tmpdir is None else os.fspath(run.tmpdir),
    )


def _bitext(source: "Text | Bitext", target: Text | None, reading: PairReading) -> "Bitext":
    """Return both texts as a bitext, in the case that they have."""
    from aligntools.formats.text.bitext import read_bitext
    from aligntools.formats.text.corpus import Bitext, Skipped

    if isinstance(source, Bitext):
        return source
    paths = [os.fspath(one) if isinstance(one, str | os.PathLike) else None for one in (source, target)]
    how: dict[str, Any] = {"lowercase": False, "max_length": _ANY_LENGTH, "input_format": reading.input_format}
    how["languages"] = reading.languages
    if target is None:
        if paths[0] is None:
            raise UsageProblem("a grammar needs two texts: source and target, one file of both, or a Bitext")
        return read_bitext(joint=paths[0], **how)
    if None not in paths:
        return read_bitext(*paths, **how)
    sides = read_lines(source), read_lines(target)
    if len(sides[0]) != len(sides[1]):
        found = f"{len(sides[1])} sentences, but the source text has {len(sides[0])}; they must have the same number"
        raise DataError(sides[1].name, None, found)
    lengths = [np.diff(side.offsets) for side in sides]
    blank = (lengths[0] == 0) | (lengths[1] == 0)
    (first, words), (second, others) = (numbered([_without(side, blank)]) for side in sides)
    skipped = Skipped()
    skipped.counts["blank"] = int(blank.sum())
    if blank.any():
        skipped.first["blank"] = int(np.argmax(blank)) + 1
    return Bitext(first, second, words, others, skipped)


def _split_as(text: Any, split: Split | None) -> Any:
    """Return a text, a `Bitext` or None with the text's lines split so."""
    from aligntools.words.white_space import split_as

    text = split_as(text, split)
    as_it_is = split in (None, "spaces") or text is None or isinstance(text, str | os.PathLike)
    return text if as_it_is or hasattr(text, "source_vocabulary") else read_lines(text, split)


def _without(side: Lines, blank: np.ndarray) -> Lines:
    """Return a text with some sentences emptied."""
    if not blank.any():
        return side
    ends = side.offsets.tolist()
    rows = [[] if gone else side.words[a:b] for a, b, gone in zip(ends, ends[1:], blank.tolist(), strict=False)]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Lines([word for row in rows for word in row], offsets, side.name)


def _links(alignments: AlignmentsInput, index_base: int) -> "tuple[Links, str]":
    """Return links, and what messages call them."""
    from aligntools.formats.links.pharaoh import Links, parse_pharaoh, read_pharaoh

    if isinstance(alignments, Links):
        return alignments, "<alignments>"
    if isinstance(alignments, str | os.PathLike):
        return read_pharaoh(os.fspath(alignments), index_base=index_base), os.fspath(alignments)
    rows: list[str] = []
    for given in alignments:
        if isinstance(given, str):
            rows.append(given.strip())
            continue
        links: Any = getattr(given, "links", given)
        pairs: Sequence[tuple[int, int]] = sorted({(int(i), int(j)) for i, j in links})
        base = 0 if hasattr(given, "links") else index_base
        rows.append(" ".join(f"{i - base + index_base}-{j - base + index_base}" for i, j in pairs))
    data = "".join(row + "\n" for row in rows).encode()
    return parse_pharaoh(data, path="<alignments>", index_base=index_base), "<alignments>"


def whole_of(extraction: "Extraction", run: Run) -> "GrammarRules":
    """Return the grammar whole."""
    if not run.asked:
        return extraction.grammar()
    from aligntools.translating.grammar.extraction import whole

    return whole(parts_of(extraction, run, None))


def parts_of(extraction: "Extraction", run: Run, style: str | None) -> Iterator[Any]:
    """Yield the grammar in parts that workers make, in text of a style if there is one."""
    from aligntools.translating.grammar.extraction_jobs import parts_by_jobs

    with pool_of(run.threads) as pool, mapping(run, pool) as blocks:
        yield from parts_by_jobs(extraction, blocks, run.workers or 1, style)
