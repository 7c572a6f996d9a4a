"""Two documents whose sentences belong together: the function for Python, and for files what a command writes."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from aligntools.encoding.settings import EncoderSettings
from aligntools.formats.links.ladder import LadderFormat, SentenceGroup, format_ladder
from aligntools.ground.declaring import Given, taking
from aligntools.ground.errors import DataError
from aligntools.ground.parallel import pool_of
from aligntools.ground.running import Run
from aligntools.pipeline import Sinks
from aligntools.sentences.documents import SentenceDocument, common_places, read_document
from aligntools.sentences.settings import SentenceSettings

if TYPE_CHECKING:
    from aligntools.ground.keywords import SentenceSettingsKeywords
    from aligntools.sentences.vectors import Vectors

_log = logging.getLogger("aligntools")
#: Documents whose anchors are believed less than this look like no translation, if both have as many sentences.
_DOUBTFUL, _ENOUGH = 0.1, 20


@dataclass(frozen=True, eq=False)
class SentenceAlignment(Sequence[SentenceGroup]):
    """The groups of two documents: which sentences belong together. Each sentence is in one group.

    Attributes
    ----------
    groups : list of SentenceGroup
        Sentences of both sides by their numbers from 0, and the probability of the group. One side is empty for
        sentences without a partner. Blank lines and marks are no sentences.
    moved : list of bool
        Whether a group is of a section that stands elsewhere in the other document.
    belief : float
        How far the documents look like translations of each other, 0 to 1.
    """

    source: SentenceDocument
    target: SentenceDocument
    groups: list[SentenceGroup]
    moved: list[bool]
    belief: float

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self.groups[index]

    @property
    def pairs(self) -> Iterator[tuple[str, str]]:
        """The text of the groups with both sides, in order of the source."""
        for group in self.groups:
            if group.source and group.target:
                yield self.source.text(group.source), self.target.text(group.target)

    @property
    def of_lines(self) -> list[SentenceGroup]:
        """The groups, by the numbers of the lines in the files, from 0."""
        both = self.source.numbers, self.target.numbers
        return [
            SentenceGroup(tuple(both[0][k] for k in g.source), tuple(both[1][k] for k in g.target), g.score)
            for g in self.groups
        ]

    @property
    def alone(self) -> tuple[list[int], list[int]]:
        """The sentences of each side that have no partner."""
        return (
            sorted(k for group in self.groups if not group.target for k in group.source),
            sorted(k for group in self.groups if not group.source for k in group.target),
        )

    def summary(self) -> str:
        """Return a one-line summary."""
        source, target = self.alone
        moved = f", {sum(self.moved)} of them moved" if any(self.moved) else ""
        return (
            f"{len(self.source.lines)} and {len(self.target.lines)} sentences:"
            f" {sum(1 for g in self.groups if g.source and g.target)} groups{moved},"
            f" {len(source)} and {len(target)} sentences without a partner"
        )


@taking(SentenceSettings)
def align_sentences(
    source: str | Path | Iterable[str],
    target: str | Path | Iterable[str],
    settings: SentenceSettings | None = None,
    *,
    threads: int | None = None,
    **options: "Unpack[SentenceSettingsKeywords]",
) -> SentenceAlignment:
    """Find the sentences of a document and its translation that belong together.

    Groups have up to four sentences on either side. They are found by vectors of an encoder, where it is installed, by
    a lexicon that grows from the text, by words that look alike, and by lengths.

    Parameters
    ----------
    source, target : str, Path, or iterable of str
        A file, or the lines of a document: a sentence each, with blank lines between paragraphs.
    settings : SentenceSettings or None
        The options below, whole.
    threads : int or None
        Threads to use; all cores by default. The result does not depend on it.
    **options

    Returns
    -------
    SentenceAlignment
        A sequence of groups ``(source, target, score)``; `SentenceAlignment.pairs` has their text.

    Raises
    ------
    DataError
        When a file cannot be read, or the documents have not the same marks.
    UsageProblem
        When an encoder is asked for that is not installed.

    Notes
    -----
    Gale & Church (1993), "A program for aligning sentences in bilingual corpora", for lengths; Moore (2002), "Fast and
    accurate sentence alignment of bilingual corpora", for the lexicon; Thompson & Koehn (2019), "Vecalign", and Liu &
    Zhu (2022), "Bertalign", for vectors.

    Examples
    --------
    >>> import aligntools as at
    >>> source = ["Anna 1956 .", "Berlin , Hotel .", "12 Euro ."]
    >>> found = at.align_sentences(source, ["Anna 1956 , Berlin , Hotel .", "12 euros ."], encoder=False)
    >>> [(group.source, group.target) for group in found]
    [((0, 1), (0,)), ((2,), (1,))]
    """
    given = Given("align_sentences", options)
    settings = given.take(SentenceSettings, settings)
    given.end()
    documents = read_document(source, "source", settings.anchors), read_document(target, "target", settings.anchors)
    return _aligned(documents, settings, Run(threads=threads).checked())


def _aligned(
    documents: tuple[SentenceDocument, SentenceDocument],
    settings: SentenceSettings,
    run: Run,
    report: Callable[[str], None] = lambda text: None,
) -> SentenceAlignment:
    """Return the groups of two documents."""
    from aligntools.sentences import alignment
    from aligntools.sentences.model import kinds_of
    from aligntools.sentences.text import text_of

    source, target = documents
    places = None if settings.anchors is None else common_places(source, target, settings.anchors)
    texts = [text_of(one.lines, one.costs) for one in documents]
    size = settings.group_size
    with pool_of(run.threads) as pool:
        encoded: list[Vectors] | None = None
        encoder = EncoderSettings(encoder=settings.encoder).chosen(True)
        if encoder.asked and all(map(len, texts)):
            from aligntools.sentences import vectors

            model = vectors.load(encoder.folder)
            report("the encoder reads both documents")
            encoded = [vectors.encode(model, text, pool) for text in texts]
        found = alignment.align(
            texts[0],
            texts[1],
            kinds=kinds_of(size, size, size + 2),
            encoded=encoded,
            places=places,
            moved=settings.moved,
            pool=pool,
            report=report,
        )
    groups, moved = list[SentenceGroup](), list[bool]()
    for (a, b, c, d), chance, elsewhere in zip(found.groups.tolist(), found.chances.tolist(), found.moved, strict=True):
        both = tuple(range(a, b)), tuple(range(c, d))
        if all(both) and chance < settings.min_score:
            groups += [SentenceGroup(both[0], (), 1 - chance), SentenceGroup((), both[1], 1 - chance)]
            moved += [False, False]
        else:
            groups.append(SentenceGroup(*both, min(1.0, chance)))
            moved.append(bool(elsewhere))
    if found.belief < _DOUBTFUL and min(map(len, texts)) >= _ENOUGH:
        _log.warning("%s and %s do not look like translations of each other", source.name, target.name)
    return SentenceAlignment(source, target, groups, moved, found.belief)


def align_sentence_files(
    source: str,
    target: str,
    settings: SentenceSettings,
    run: Run,
    report: Callable[[str], None],
    *,
    output: str | None = None,
    source_output: str | None = None,
    target_output: str | None = None,
    ladder: str | None = None,
    ladder_format: LadderFormat = "vecalign",
    source_alone: str | None = None,
    target_alone: str | None = None,
) -> SentenceAlignment:
    """Find the groups of two documents in files and write them.

    report: Takes lines of progress.
    output: The pairs, ``source ||| target``.
    source_output, target_output: The sides of the pairs.
    ladder: The groups, by numbers of lines from 0, and their scores.
    source_alone, target_alone: Sentences without a partner.
    Raises DataError when a file cannot be read or written, or a sentence cannot stand in a pair.
    """
    documents = read_document(source, source, settings.anchors), read_document(target, target, settings.anchors)
    if output is not None:
        for document in documents:
            for line, number in zip(document.lines, document.numbers, strict=True):
                if " ||| " in f" {line} ":
                    problem = "the sentence has ' ||| ' in it; write the sides with `source_output` and `target_output`"
                    raise DataError(document.name, number + 1, problem)
    found = _aligned(documents, settings, run, report)
    pairs, alone = list(found.pairs), found.alone
    written = {
        "output": "".join(f"{one} ||| {other}\n" for one, other in pairs),
        "source": "".join(one + "\n" for one, _ in pairs),
        "target": "".join(other + "\n" for _, other in pairs),
        "ladder": format_ladder(found.of_lines, ladder_format),
        "source_alone": "".join(found.source.text([k]) + "\n" for k in alone[0]),
        "target_alone": "".join(found.target.text([k]) + "\n" for k in alone[1]),
    }
    sinks = Sinks(
        output=output,
        source=source_output,
        target=target_output,
        ladder=ladder,
        source_alone=source_alone,
        target_alone=target_alone,
    )
    with sinks:
        sinks.write({name: text.encode("utf-8", "surrogateescape") for name, text in written.items()})
    return found
