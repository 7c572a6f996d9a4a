"""Texts in files parsed with a grammar of constituents: read in parts or line by line, a tree written for each."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from aligntools.api.given.annotated import Parsed, predicted_of
from aligntools.api.parse.constituents import ConstituentParser
from aligntools.api.parse.parsed_files import SHOWN, ParsedFiles
from aligntools.api.parse.tree_lists import PART, check_lists
from aligntools.api.running.annotating_blocks import Annotate, turned_note
from aligntools.constituents.settings import GrammarDecisions, TreeLists
from aligntools.formats.annotation.brackets import format_tree_list, format_trees
from aligntools.formats.annotation.conll import column_place
from aligntools.formats.annotation.tagged import stream_tags
from aligntools.formats.text.reading import TagReading
from aligntools.formats.text.requests import Request, stream_requests
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    from aligntools.ground.parallel import Pool

#: Why sentences have other trees than the grammar's.
_FLAT = {
    "flat": "sentences over `max_length` have flat trees",
    "uncovered": "sentences are not covered by the grammar; their trees are of its labels without annotation, or flat",
}


def writes_trees(model: str) -> bool:
    """Tell whether a model file has a grammar of constituents, whose trees are written in brackets.

    Raises
    ------
    ModelError
        When it is not a model file.
    """
    from aligntools.formats.models.modelfile import model_kind

    return model_kind(model) in ("pcfg", "induced-pcfg", "neural-pcfg")


def constituent_parser(path: str, verify: bool = True) -> ConstituentParser:
    """Load a grammar of constituents, of whichever kind it is."""
    from aligntools.api.parse.grammar_induction import InducedConstituentParser
    from aligntools.formats.models.modelfile import model_kind

    kind = ConstituentParser if model_kind(path) == "pcfg" else InducedConstituentParser
    return kind.load(path, verify=verify)


@dataclass(frozen=True)
class Found:
    """The trees of a part of a text, as written.

    Attributes
    ----------
    written : bytes
    words : int
    counts : dict of str to (int, int)
        For each reason of flat trees how many there are, and the first sentence of the part that has one, from 0.
    unknown : dict of bytes to int
        How many words have each tag that the grammar does not know.
    sentences : int
    turned : int
        Words in another normal form than the grammar's.
    lists : list of list of str, or None
        The rows of each sentence; then nothing else is written.
    """

    written: bytes
    words: int
    counts: dict[str, tuple[int, int]]
    unknown: dict[bytes, int]
    sentences: int
    turned: int
    lists: list[list[str]] | None = None


@dataclass(frozen=True)
class _Wanted:
    """What is wanted of each sentence.

    Attributes
    ----------
    decisions : GrammarDecisions
    lists : TreeLists
    reading : TagReading
    """

    decisions: GrammarDecisions
    lists: TreeLists
    reading: TagReading

    @property
    def listed(self) -> bool:
        """Whether lists are written in the place of trees."""
        return self.lists.n_best is not None or self.lists.samples is not None


def _parse(wanted: _Wanted, parser: ConstituentParser, text: Parsed, pool: "Pool", first: int = 0) -> Found:
    """Parse a part of a text whose first sentence has this number; what is drawn depends on it."""
    decisions, reading = wanted.decisions, wanted.reading
    if reading.predicted_columns:
        text = predicted_of(text)
    written, lists = b"", None
    if wanted.listed:
        found_lists = parser.lists_of(text, wanted.lists, decisions, reading.column, pool, first)
        none = np.array([own[0].log_probability == -np.inf for own in found_lists], np.bool_)
        lists = [format_tree_list(own, wanted.lists.n_best is not None) for own in found_lists]
        long = np.diff(text.offsets) > decisions.max_length
        counts = {"flat": np.flatnonzero(none & long), "uncovered": np.flatnonzero(none & ~long)}
    else:
        found = parser.parse_read(text, decisions, reading.column, pool)
        counts = {name: np.flatnonzero(getattr(found, name)) for name in _FLAT}
        written = format_trees(found.trees).encode("utf-8", "surrogateescape")
    tags = (parser.tags_of(text, reading.column, decisions)) or []
    strange = parser.unknown_tags(tags)
    unknown = Counter(tag for tag in tags if tag in strange) if strange else {}
    firsts = {name: (len(n), int(n[0])) for name, n in counts.items() if len(n)}
    return Found(written, len(text.words), firsts, unknown, len(text), parser.turned(text), lists)


@dataclass
class TreeParsing(ParsedFiles[ConstituentParser, Found]):
    """Texts in files, and what is to be done with them.

    Attributes
    ----------
    lists : TreeLists
        Several trees of each sentence in the place of one.
    """

    decisions: GrammarDecisions
    reading: TagReading
    lists: TreeLists = TreeLists()  # noqa: RUF009

    def __post_init__(self) -> None:
        super().__post_init__()
        self._wanted = _Wanted(self.decisions, self.lists, self.reading)
        self._sentences = self._turned = 0
        self._counts: dict[str, int] = {}
        self._first: dict[str, str] = {}
        self._unknown, self._tags = 0, dict[bytes, None]()

    def _load(self) -> ConstituentParser:
        if self.unbuffered and self._wanted.listed:
            raise UsageProblem("`unbuffered` answers a line with a line; leave out `n_best` and `samples`")
        if self.lists.samples is not None and self.run.asked:
            raise UsageProblem("`samples` are drawn by the number of the sentence; leave out `workers` and `cluster`")
        parser = constituent_parser(self.files.model, self.verify)
        check_lists(self.lists, self.decisions, parser.has_lists)
        column_place(parser.column if self.reading.column is None else self.reading.column)
        return parser

    def _work(self) -> Annotate:
        if self.lists.samples is None:
            return partial(_parse, self._wanted)
        return lambda parser, text, pool: _parse(self._wanted, parser, text, pool, self._sentences)

    def _requests(self, path: str, parser: ConstituentParser) -> Iterator[Request]:
        how = self.reading
        return stream_requests(path, how.format, how.mark, tags=how.format == "tagged" or parser.needs_tags)

    def _parts(self, path: str, parser: ConstituentParser) -> Iterable[Parsed]:
        how = self.reading
        return stream_tags(path, how.format, how.mark, PART, plain=not parser.needs_tags, column=how.column)

    def _take(self, path: str, before: int, found: Found) -> bytes:
        written = super()._take(path, before, found)
        if found.lists is not None:
            rows = [f"{k} ||| {row}\n" for k, own in enumerate(found.lists, self._sentences) for row in own]
            written = "".join(rows).encode("utf-8", "surrogateescape")
        self._sentences += found.sentences
        return written

    def _note(self, path: str, before: int, found: Found) -> None:
        for name, (n, first) in found.counts.items():
            self._counts[name] = self._counts.get(name, 0) + n
            self._first.setdefault(name, f"{path}, sentence {before + first + 1}")
        self._turned += found.turned
        self._unknown += sum(found.unknown.values())
        if len(self._tags) < SHOWN:
            self._tags |= dict.fromkeys(found.unknown)

    def _lines(self) -> list[str]:
        found = [note] if (note := turned_note(self._turned, "grammar")) else []
        found += [f"warning: {n} {_FLAT[name]} (the first: {self._first[name]})" for name, n in self._counts.items()]
        if self._unknown:
            shown = " ".join(tag.decode("utf-8", "replace") for tag in list(self._tags)[:SHOWN])
            found.append(
                f"warning: {self._unknown} words have tags that the grammar has never seen ({shown}); see `column` and"
                " `keep_tags`"
            )
        return found
