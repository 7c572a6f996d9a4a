"""Two documents whose sentences belong together: the function for Python, and for files what a command writes."""

import functools
import logging
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack
from xml.sax.saxutils import escape

import numpy as np

from aligntools.encoding.settings import EncoderSettings
from aligntools.formats.links.dictionary import read_dictionary
from aligntools.formats.links.ladder import LadderFormat, SentenceGroup, format_ladder
from aligntools.formats.links.priors import read_priors
from aligntools.formats.opening import files
from aligntools.formats.opening.recognition import SUFFIXES as SUFFIX_OF_COMPRESSION
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import Pool, pool_of
from aligntools.ground.ranges import shown
from aligntools.ground.run import Run
from aligntools.pipeline import Part, Sinks, Tally, map_parts
from aligntools.sentences import alignment, vectors
from aligntools.sentences.documents import SentenceDocument, common_places, read_document, with_places
from aligntools.sentences.lexicon import of_dictionary, of_priors
from aligntools.sentences.model import SentenceSettings, kinds_of
from aligntools.sentences.text import Text, text_of, usual_sizes
from aligntools.words.tokenizers import languages_of, sentence_splitter

if TYPE_CHECKING:
    from aligntools.ground.keywords import SentenceSettingsKeywords

_log = logging.getLogger("aligntools")
Documents: TypeAlias = tuple[SentenceDocument, SentenceDocument]
#: Characters that XML cannot hold, and what is written for them.
_NO_XML, _REPLACED = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"), "\ufffd"
#: Documents whose anchors are believed less than this look like no translation, if both have as many sentences.
_DOUBTFUL, _ENOUGH = 0.1, 20
#: Documents of so many sentences that are the same text; a document of _ENOUGH so many times as long as the other.
_SAME, _LONGER = 3, 10
#: Documents of so many words, of whose frequencies more is common seem to be of one language. (Halves of a text have
#: 0.39 to 0.87 in common, mostly over 0.5; translations, of which names are many, 0.12 to 0.33.)
_MANY, _SHARED = 200, 0.5


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
        for group in self.paired:
            yield self.source.text(group.source), self.target.text(group.target)

    @property
    def paired(self) -> list[SentenceGroup]:
        """The groups with both sides."""
        return [group for group in self.groups if group.source and group.target]

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
            f" {len(self.paired)} groups{moved},"
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

    Groups have up to five sentences on either side. They are found by vectors of an encoder, where it is installed, by
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
    given = Keywords("align_sentences", options)
    settings = given.take(SentenceSettings, settings)
    given.end()
    documents = _read(source, target, settings, ("source", "target"))
    return _aligned(documents, settings, Run(threads=threads).checked())


def _read(source: Any, target: Any, settings: SentenceSettings, names: tuple[str, str]) -> Documents:
    splits: list[Callable[[str], list[str]] | None] = [None, None]
    if settings.split_sentences is not None:
        splits = [sentence_splitter(one, "split_sentences") for one in languages_of(settings.split_sentences)]
    first, second = (
        read_document(document, name, settings.anchors, split)
        for document, name, split in zip((source, target), names, splits, strict=True)
    )
    return first, second


#: Loads an encoder, once for many documents.
_encoder = functools.lru_cache(maxsize=1)(vectors.load)


def _aligned(
    documents: Documents, settings: SentenceSettings, run: Run, report: Callable[[str], None] = lambda text: None
) -> SentenceAlignment:
    """Return the groups of two documents."""
    source, target = documents
    places = common_places(source, target, settings.anchors)
    rows = np.empty((0, 2), np.int64) if places is None else places
    read = [with_places(one, rows[:, side].tolist()) for side, one in enumerate(documents)]
    texts = text_of(*read[0][::2]), text_of(*read[1][::2])
    size = settings.group_size
    known = [of_dictionary(*texts, (one[:2] for one in read_dictionary(str(path)))) for path in settings.dictionary]
    known += [of_priors(*texts, read_priors(str(path))) for path in settings.priors]
    with pool_of(run.threads) as pool:
        encoded: list[tuple[np.ndarray, np.ndarray]] | None = None
        if settings.vectors is not None:
            known.append(vectors.of_files(settings.vectors, *texts, pool))
        encoder = EncoderSettings(encoder=settings.encoder).chosen(True)
        if encoder.asked and all(map(len, texts)):
            model = _encoder(encoder.folder)
            report("the encoder reads both documents")
            encoded = [vectors.encode(model, text, pool) for text in texts]
        (rows_of, chances, elsewhere), belief = alignment.align(
            *texts,
            kinds=kinds_of(size, size, size + 2),
            encoded=encoded,
            places=None if places is None else rows + np.arange(len(rows))[:, None],
            known=known,
            moved=settings.moved,
            pool=pool,
            report=report,
        )
    groups, moved = list[SentenceGroup](), list[bool]()
    numbers = [own.tolist() for _, own, _ in read]
    for (a, b, c, d), chance, away in zip(rows_of.tolist(), chances.tolist(), elsewhere.tolist(), strict=True):
        both = tuple(numbers[0][a:b]), tuple(numbers[1][c:d])
        if both == ((-1,), (-1,)):  # a place
            continue
        if all(both) and chance < settings.min_score:
            groups += [SentenceGroup(both[0], (), 1 - chance), SentenceGroup((), both[1], 1 - chance)]
            moved += [False, False]
        else:
            groups.append(SentenceGroup(*both, min(1.0, chance)))
            moved.append(away)
    if doubt := _doubt(documents, texts, belief):
        _log.warning("%s and %s %s", source.name, target.name, doubt)
    return SentenceAlignment(source, target, groups, moved, belief)


def _doubt(documents: Documents, texts: Sequence[Text], belief: float) -> str:
    """Return why two documents do not look like a translation; nothing if they do."""
    sizes, no = [len(one.lines) for one in documents], "do not look like translations of each other"
    if not all(sizes):
        return "have no sentence in one of them, so that there are no pairs"
    if documents[0].lines == documents[1].lines and sizes[0] >= _SAME:
        return "are the same text"
    lengths = [float(usual_sizes(text.sizes).sum()) for text in texts]
    if max(sizes) >= _ENOUGH and max(lengths) > _LONGER * min(lengths):
        return f"{no}: one is {max(lengths) / max(1.0, min(lengths)):.0f} times as long as the other"
    if max(sizes) >= _ENOUGH and max(sizes) > _LONGER * min(sizes):
        return f"{no}: one has {max(sizes)} sentences, the other {min(sizes)}"
    if min(sizes) < _ENOUGH:
        return ""
    words = [
        {word: count for word, count in zip(text.words, text.counts.tolist(), strict=True) if word.isalpha()}
        for text in texts
    ]
    first, second = (sum(own.values()) for own in words)
    if min(first, second) >= _MANY:
        shared = sum(min(count / first, words[1].get(word, 0) / second) for word, count in words[0].items())
        if shared > _SHARED:
            return f"seem to be of one language: {100 * shared:.0f} % of the words are in both as often"
    return no if belief < _DOUBTFUL else ""


#: How pairs are written: with ' ||| ' between, with tabs and a score, or as a translation memory.
PairFormat: TypeAlias = Literal["text", "tsv", "tmx"]
#: What a file of each form is called.
SUFFIXES: dict[PairFormat, str] = {"text": ".txt", "tsv": ".tsv", "tmx": ".tmx"}


def align_sentence_files(
    source: str,
    target: str,
    settings: SentenceSettings,
    run: Run,
    report: Callable[[str], None],
    *,
    output: str | None = None,
    output_format: PairFormat = "text",
    languages: str | None = None,
    source_output: str | None = None,
    target_output: str | None = None,
    ladder: str | None = None,
    ladder_format: LadderFormat = "vecalign",
    source_alone: str | None = None,
    target_alone: str | None = None,
    source_sentences: str | None = None,
    target_sentences: str | None = None,
) -> SentenceAlignment:
    """Find the groups of two documents in files and write them.

    languages: Of both sides, for TMX, such as ``de-en``.
    ladder: The groups, by numbers of lines from 0, and their scores.
    """
    codes = _codes(output_format, languages or settings.split_sentences)
    documents = _read(source, target, settings, (source, target))
    for document in documents if output is not None and output_format == "text" else ():
        for line, number in zip(document.lines, document.numbers, strict=True):
            if " ||| " in f" {line} ":
                problem = "the sentence has ' ||| ' in it; write the sides with `source_output` and `target_output`"
                raise DataError(document.name, number + 1, problem)
    found = _aligned(documents, settings, run, report)
    pairs, alone = list(found.pairs), found.alone
    sides = zip(documents, alone, strict=True)
    source_texts, target_texts = (
        {"alone": one.sentences(own), "sentences": one.sentences(range(len(one.lines)))} for one, own in sides
    )
    more: Any = {"source_alone": source_alone, "target_alone": target_alone}
    more |= {"source_sentences": source_sentences, "target_sentences": target_sentences}
    sinks = Sinks(output=output, source=source_output, target=target_output, ladder=ladder, **more)
    written = {
        "output": _format_pairs(found, output_format, codes),
        "source": "".join(one + "\n" for one, _ in pairs),
        "target": "".join(other + "\n" for _, other in pairs),
        "ladder": format_ladder(found.of_lines, ladder_format),
        **{f"source_{name}": text for name, text in source_texts.items()},
        **{f"target_{name}": text for name, text in target_texts.items()},
    }
    with sinks:
        sinks.write({name: text.encode("utf-8", "surrogateescape") for name, text in written.items()})
    return found


def _codes(output_format: PairFormat, languages: str | None) -> tuple[str, str]:
    if output_format != "tmx":
        return "", ""
    if languages is None:
        raise UsageProblem("`output_format=tmx` needs `languages`, such as de-en")
    return languages_of(languages, "`languages` takes")


def _format_pairs(found: SentenceAlignment, form: PairFormat, codes: tuple[str, str]) -> str:
    """Return the pairs as text; of TSV with scores and, before them, nothing but both sides."""
    if form == "text":
        return "".join(f"{one} ||| {other}\n" for one, other in found.pairs)
    scored = [(*pair, group.score) for pair, group in zip(found.pairs, found.paired, strict=True)]
    if form == "tsv":
        flat = ((one.replace("\t", " "), other.replace("\t", " "), score) for one, other, score in scored)
        return "".join(f"{one}\t{other}\t{score:.4f}\n" for one, other, score in flat)
    units = "".join(
        f'    <tu><prop type="score">{score:.4f}</prop>'
        + "".join(
            f'<tuv xml:lang="{code}"><seg>{escape(_NO_XML.sub(_REPLACED, side))}</seg></tuv>'
            for code, side in zip(codes, (one, other), strict=True)
        )
        + "</tu>\n"
        for one, other, score in scored
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
        '  <header creationtool="aligntools" segtype="sentence" o-tmf="text" adminlang="en" datatype="plaintext"'
        f' creationtoolversion="1" srclang="{codes[0]}"/>\n  <body>\n{units}  </body>\n</tmx>\n'
    )


def read_list(path: str) -> list[tuple[str, str, str]]:
    """Read a list of documents: ``source TAB target``, and what a pair is called, else as its source is.

    Names are relative to the list's folder. Blank lines, and lines that begin with ``#``, are passed over.
    Raises DataError when a line has another number of columns, or two pairs have one name.
    """
    rows, known = list[tuple[str, str, str]](), dict[str, int]()
    folder = os.path.dirname(path) if path != "-" else ""
    for number, line in enumerate(files.text_lines(path), 1):
        columns = line.rstrip("\r").split("\t")
        if not line.strip(" \t\r") or line.startswith("#"):
            continue
        if len(columns) not in (2, 3) or not all(columns):
            problem = f"{len(columns)} columns; give source TAB target, and TAB name if there is one"
            raise DataError(path, number, problem)
        name = os.path.basename(columns[0])
        for suffix in SUFFIX_OF_COMPRESSION:
            name = name.removesuffix(suffix)
        name = columns[2] if len(columns) == 3 else name
        if os.path.basename(name) != name or name in (".", ".."):
            raise DataError(path, number, f"the name '{shown(name)}' names a folder; give a name without one")
        if name in known:
            problem = f"'{shown(name)}' is the name of line {known[name]}, too; give names in a third column"
            raise DataError(path, number, problem)
        known[name] = number
        rows.append((os.path.join(folder, columns[0]), os.path.join(folder, columns[1]), name))
    return rows


def align_sentence_lists(
    documents: str,
    settings: SentenceSettings,
    run: Run,
    report: Callable[[str], None],
    *,
    output: str,
    output_format: PairFormat = "text",
    languages: str | None = None,
    links: bool = False,
    ladder_format: LadderFormat = "vecalign",
) -> Counter[str]:
    """Align many pairs of documents, as `read_list` reads them, and write each into a folder: ``book.txt`` of ``book``.

    links: Write ``book.ladder``, too: the groups by numbers of lines, and their scores.
    What is newer than both documents is not made again. Returns how many were ``aligned``, and ``there`` before.
    """
    _codes(output_format, languages or settings.split_sentences)
    rows, found = read_list(documents), Counter[str]()
    files.make_folder(output)
    jobs = list[tuple[str, str, str, str | None]]()
    for source, target, name in rows:
        base = os.path.join(output, name)
        pairs, ladder = base + SUFFIXES[output_format], f"{base}.ladder" if links else None
        if files.are_newer([one for one in (pairs, ladder) if one is not None], (source, target)):
            found["there"] += 1
        else:
            found["aligned"] += 1
            jobs.append((source, target, pairs, ladder))
    how = {"output_format": output_format, "languages": languages, "ladder_format": ladder_format}
    failed = 0
    with pool_of(run.threads) as pool:
        parts = (Part(one[0], k, k, one) for k, one in enumerate(jobs))
        model = settings, replace(run, threads=pool.threads if not run.asked else 1, workers=None, cluster=None), how
        for told, problem in map_parts(_one_of_many, model, parts, run, pool, Tally()):
            if problem:
                failed += 1
                _log.error("%s", problem)
            else:
                report(told)
    if failed:
        raise DataError(documents, None, f"{failed} of {len(rows)} pairs of documents failed; the others are written")
    return found


def _one_of_many(model: Any, part: Part, pool: Pool) -> tuple[str, str]:
    """Align a pair of documents; return what there is to say, or what is wrong."""
    (settings, run, how), (source, target, output, ladder) = model, part.text
    how = {"output": output, "ladder": ladder, **how}
    try:
        found = align_sentence_files(source, target, settings, run, lambda text: None, **how)
    except (DataError, MemoryError) as error:
        return "", str(error) or "out of memory"
    return f"{os.path.basename(output)}: {found.summary()}", ""
