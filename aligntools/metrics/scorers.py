"""A gold standard, read once, and systems scored against it, for functions and commands.

A scorer's fields are the options of its command, and their defaults those of the command and of the function.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from aligntools.formats.annotation import conll, tagged_text, text_kinds
from aligntools.formats.annotation.brackets import Tree, are_named, plain_trees, trees_given
from aligntools.formats.annotation.conll import Conll, column_place
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.annotation.tagged_text import Tokens, refuse_file, without_spaces
from aligntools.formats.inputs.annotation import predicted_of, tell_unused
from aligntools.formats.inputs.sentences import Split
from aligntools.formats.links import goldlinks, pharaoh
from aligntools.formats.links.goldlinks import Gold
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.opening import files
from aligntools.formats.text.bitext import TextLines, name_of, sentences_given, words_given
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.links.alignments import links_of
from aligntools.metrics.aer import AerScore
from aligntools.metrics.attachment import DependencyTrees, TreeScore
from aligntools.metrics.bleu import BleuScore, Segments
from aligntools.metrics.brackets import BracketScore
from aligntools.metrics.conll18 import align_words
from aligntools.metrics.settings import AlignmentScoring, BracketScoring, TagScoring, TranslationScoring, TreeScoring
from aligntools.metrics.tags import TagScore
from aligntools.words.vocabulary import split_words
from aligntools.words.white_space import WhiteSpace, alike, as_spaces, explained_by, has_others

# The lengths of the sentences of a text that links are checked against


def lengths_of(
    text: Any, name: str, side: str, n: int, the_gold: str, split: Split, white: WhiteSpace
) -> np.ndarray | None:
    """Return the number of words of the first ``n`` sentences of a text, if there is one."""
    if text is None:
        return None
    if isinstance(text, str | Path):
        if files.is_regular(name):
            refuse_file(name)
        with closing(pharaoh.LineReader(name)) as reader:
            data = reader.read(n)
    else:
        data = b"".join(islice(TextLines(text, side, split), n))
    if split == "unicode":
        data = as_spaces(data)
    elif isinstance(text, str | Path) and has_others(data):
        white.count(data)
    lengths = pharaoh.count_words(data)
    if len(lengths) < n:
        raise DataError(name, None, f"{len(lengths)} lines, but {the_gold} has {n} sentence pairs")
    return lengths


_log = logging.getLogger("aligntools")


def _the(what: str, given: Any) -> str:
    """Return what messages call the gold standard: "the gold", with its path where it has one."""
    return f"the {what} {given}" if isinstance(given, str | Path) else f"the {what}"


# Alignments


@dataclass(eq=False)
class AlignmentScorer:
    """Scores alignments; see `aligntools.aer`."""

    gold: Any
    settings: AlignmentScoring = field(default_factory=AlignmentScoring)
    source: Any = None
    target: Any = None

    def __post_init__(self) -> None:
        self._read: Gold | None = None
        self._lengths: list[np.ndarray | None] = []
        self._white: list[WhiteSpace] = []

    def score(self, system: Any) -> AerScore:
        """Score alignments: a Pharaoh file's path, or one alignment for each sentence pair."""
        name = name_of(system, "hypotheses")
        links = None if self.settings.head else self._links(system, name, None)
        gold = self._gold_for(None if links is None else len(links))
        if links is None:
            links = self._links(system, name, gold.reach)
        if gold.numbers is not None and len(links) < gold.reach:
            problem = f"{len(links)} lines, but {_the('gold', self.gold)} has links of line {gold.reach}"
            raise DataError(name, None, problem)
        if gold.numbers is None and len(links) != len(gold):
            hint = "" if len(links) < len(gold) else " (if they are the first ones, score those with `head`)"
            problem = f"{len(links)} lines, but {_the('gold', self.gold)} has {len(gold)} sentence pairs"
            raise DataError(name, None, problem + hint)
        # Checked as they are in the file, so that the message shows what is there.
        sides = self._lengths[::-1] if self.settings.reverse else self._lengths
        with explained_by(self._white):
            pharaoh.check_range(links[: gold.reach], *sides, path=name, index_base=self.settings.index_base)
        _suspect_base(name, links, self.settings.index_base, "index_base")
        return AerScore.of(gold, links if gold.numbers is None else links[gold.rows], self.settings)

    def _links(self, system: Any, name: str, head: int | None) -> Links:
        if isinstance(system, str | Path):
            return pharaoh.read_pharaoh(str(system), index_base=self.settings.index_base, head=head, compiled=False)
        return links_of(system, name=name, index_base=self.settings.index_base, head=head)

    def _gold_for(self, sentences: int | None) -> Gold:
        """Return the gold, read and checked when it is first asked for."""
        if self._read is None:
            name = name_of(self.gold, "gold")
            gold = gold_of(self.gold, self.settings.of_gold(sentences))
            texts = (self.source, "source"), (self.target, "target")
            self._white = [WhiteSpace(name_of(text, side)) for text, side in texts]
            split = self.settings.split or "spaces"
            self._lengths = [
                lengths_of(text, name_of(text, side), side, gold.reach, _the("gold", self.gold), split, white)
                for (text, side), white in zip(texts, self._white, strict=True)
            ]
            own = [None if lengths is None else lengths[gold.rows] for lengths in self._lengths]
            with explained_by(self._white):
                pharaoh.check_range(gold.possible, *own, path=name, index_base=gold.index_base)
            for white in self._white:
                white.tell()
            _suspect_base(name, gold.possible, gold.index_base, "gold_base")
            if not len((gold.possible if self.settings.all_sure else gold.sure).pairs):
                _log.warning("%s: no sure links; recall and F1 are undefined, and AER is 1 - precision", name)
            if gold.null_links:
                _log.info("%s: %d links to NULL left out", name, gold.null_links)
            self._read = gold
        return self._read


def _untouched(gold: Any, system: Any, name: str, what: str) -> None:
    """Warn where a column is the gold's in every word, as when nothing has predicted it; not of the gold itself."""
    if not isinstance(system, str | Path) or str(system) != str(gold):
        _log.warning("%s: every word has the gold's %s; is it predicted, or left over from the gold?", name, what)


def _something(words: int, gold: Any, options: str = "", name: str = "gold") -> None:
    """Refuse a gold standard of which no word counts."""
    if not words:
        why = f"no word of it counts (see {options})" if options else "has no words"
        raise DataError(name_of(gold, name), None, f"{why}; there is nothing to score")


def gold_of(gold: Any, how: dict[str, Any]) -> Gold:
    """Return gold links from a file, from Pharaoh lines, or from sure and possible links of each sentence pair."""
    if isinstance(gold, Gold):
        return gold
    if isinstance(gold, str | Path):
        return goldlinks.read_gold(str(gold), **how)
    items = list(gold)
    if items and all(isinstance(item, str) for item in items):
        data = "".join(item.removesuffix("\n") + "\n" for item in items).encode()
        return goldlinks.parse_gold(data, path="gold", **how)

    def is_pair(item: Any) -> bool:  # of two lists of links, not a list of two links
        found = isinstance(item, tuple | list) and len(item) == 2
        return found and all(not isinstance(part, str) and all(np.ndim(link) == 1 for link in part) for part in item)

    split = [item if is_pair(item) else (item, ()) for item in items]
    sure = links_of([sure for sure, _ in split], name="gold")
    possible = links_of([possible for _, possible in split], name="gold")
    both = [set(s) | set(p) for s, p in zip(sure.tolists(), possible.tolists(), strict=True)]
    return Gold(sure, Links.from_lists(both), "links", 0)


def _suspect_base(name: str, links: Links, base: int, option: str) -> None:
    """Warn where it looks as if another index base was meant."""
    if base == 0 and len(links) > 4 and len(links.pairs) and links.pairs.min() > 0:
        problem = "no link has an index 0 in %d lines; if it counts words from 1, use `%s=1`"
        _log.warning(f"%s: {problem}", name, len(links), option)


# Tags


@dataclass(eq=False)
class TagScorer:
    """Scores tags; see `aligntools.score_tags`."""

    gold: Any
    settings: TagScoring = field(default_factory=TagScoring)
    train: Any = None

    def score(self, system: Any) -> TagScore:
        """Score tags: a file's path, or one tagged sentence after the other."""
        gold, words_known = self._reference
        name, gold_name = name_of(system, "predicted"), name_of(self.gold, "gold")
        column = self.settings.column if self.settings.hyp_column is None else self.settings.hyp_column
        tagging = predicted_of(system) if self.settings.predicted_columns else system
        tags, words = self._read(tagging, "predicted", column, self.settings.hyp_format or self.settings.format)
        if self.settings.head and len(tags) > len(gold):
            end, edges = int(tags.offsets[len(gold)]), tags.offsets[: len(gold) + 1]
            own = (tags.tags or [])[:end]
            tags = replace(tags, words=tags.words[:end], tags=own, offsets=edges, lines=tags.lines[: len(gold)])
        forms = self.settings.ignore_forms
        sides = [
            text if known else SimpleNamespace(words=None, offsets=text.offsets, lines=text.lines)
            for text, known in ((gold, words_known), (tags, words))
        ]
        check_words(sides[0], sides[1], gold_name, name, ignore_forms=forms, head=True, what="sentences with words")
        score = TagScore.of(gold, tags, self.settings, self._training)
        table = score.table
        _something(table.words, self.gold)
        if gold.tags == tags.tags:
            _untouched(self.gold, system, name, "tag")
        if table.foreign:
            names = [table.predicted[k] for k in np.flatnonzero(table.same < 0)]
            some = " ".join(map(shown, names[:5])) + (" ..." if len(names) > 5 else "")
            more = "" if score.accuracy is not None else "; accuracy does not apply"
            problem = "%s: %d of %d words have labels that the gold does not have (%s)%s"
            _log.info(problem, name, table.foreign, table.words, some, more)
        return score

    @cached_property
    def _reference(self) -> tuple[Tokens, bool]:
        return self._read(self.gold, "gold", self.settings.column, self.settings.format)

    @cached_property
    def _training(self) -> frozenset[bytes] | None:
        if self.train is None:
            return None
        if not self._reference[1]:
            raise UsageProblem("known and unknown words are told apart by the gold's words, and it has none")
        if isinstance(self.train, str | Path):
            words: Iterable[bytes] = tagged_text.read_words(str(self.train), "auto", self._separator).words
        else:
            words = chain.from_iterable(split_words(line.rstrip(b"\n")) for line in TextLines(self.train, "train"))
        return frozenset(map(tagged_text.without_spaces, words))

    @property
    def _separator(self) -> bytes | None:
        return mark.encode("utf-8", "surrogateescape") if isinstance(mark := self.settings.separator, str) else mark

    def _read(self, given: Any, what: str, column: str | int, format: str) -> tuple[Tokens, bool]:
        """Return tagged text without its empty sentences, and whether it has words."""
        words = True
        if isinstance(given, str | Path):
            tokens = tagged_text.read_tags(str(given), column, format, self._separator)
            tell_unused(tokens.format, str(given), column, None)
        elif isinstance(given, Conll):
            tokens = tagged_text.tokens_of_conll(given, column)
        elif isinstance(given, Tokens):
            tokens = given
        else:
            tokens, words = _tokens_of(list(given), what, self._separator)
        some = np.diff(tokens.offsets) > 0  # not all formats can have empty sentences, and nothing is scored there
        if not some.all():
            offsets = np.append(tokens.offsets[:-1][some], len(tokens.words))
            tokens = replace(tokens, offsets=offsets, lines=tokens.lines[some])
        return tokens, words


def _tokens_of(items: list[Any], what: str, separator: bytes | None) -> tuple[Tokens, bool]:
    """Return tagged sentences from memory, and whether they have words."""
    if separator is None:
        lines = [item.encode() for item in items if isinstance(item, str)]
        separator = text_kinds.sniff(lines, ("tagged",))[1] if lines else b"_"
    words, tags = list[Any](), list[Any]()
    for number, item in enumerate(items, 1):
        if isinstance(item, str):
            pairs = [token.rpartition(separator.decode())[::2] for token in re.split("[ \t\n]+", item) if token]
        elif hasattr(item, "tags"):
            pairs = list(zip(_words_of(item) or [None] * len(item.tags), item.tags, strict=True))
        else:
            pairs = [(None, one) if isinstance(one, str) else tuple(one) for one in item]
        if any(len(pair) != 2 or not pair[1] or pair[0] == "" for pair in pairs):
            mark = separator.decode()
            raise DataError(what, number, f"not tagged; give 'word{mark}TAG' text, (word, tag) pairs or tags")
        words.append([None if word is None else word.encode() for word, _ in pairs])
        tags.append([tag.encode() for _, tag in pairs])
    flat = list(chain.from_iterable(words))
    with_words = None not in flat
    forms = flat if with_words else [b""] * len(flat)
    flat_tags, numbers = list(chain.from_iterable(tags)), np.arange(1, len(items) + 1)
    return Tokens(forms, _offsets(words), flat_tags, numbers, "lists"), with_words


def _words_of(item: Any) -> Any:
    return getattr(item, "tokens", getattr(item, "words", None))


def _offsets(rows: Iterable[Sequence[Any]]) -> np.ndarray:
    return np.cumsum([0, *map(len, rows)], dtype=np.int64)


# Trees


@dataclass(eq=False)
class TreeScorer:
    """Scores dependency trees; see `aligntools.score_trees`."""

    gold: Any
    settings: TreeScoring = field(default_factory=TreeScoring)

    def score(self, system: Any) -> TreeScore:
        """Score trees: a CoNLL file's path, or one tree after the other."""
        how = self.settings
        gold, name = self._reference, name_of(system, "predicted")
        trees = self._read(predicted_of(system) if how.predicted_columns else system, "predicted")
        names = name_of(self.gold, "gold"), name
        try:
            check_words(gold, trees, *names, ignore_forms=how.ignore_forms)
        except DataError:
            if not how.conll18 or how.ignore_forms or gold.source is None or trees.source is None:
                raise
            alignment = align_words(gold.source, trees.source, *names)
            same, words = len(alignment.gold), len(gold.heads)
            _log.info("%s: other words than the gold's; %d of its %d words are the same", name, same, words)
            trees = trees.in_words_of(gold, alignment)
        headless = int(np.count_nonzero(trees.heads < 0))
        if headless and not trees.alignment:
            _log.info("%s: %d words have no head; they count as wrong", name, headless)
        if np.array_equal(gold.heads, trees.heads):
            _untouched(self.gold, system, name, "head")
        elif gold.named and trees.named and gold.labels == trees.labels:
            _untouched(self.gold, system, name, "label")
        score = TreeScore.of(gold, trees, how)
        _something(score.words, self.gold, "`punct`, `max_length`" if len(gold.heads) else "")
        return score

    @cached_property
    def _reference(self) -> DependencyTrees:
        gold = self._read(self.gold, "gold")
        for flaw, sentences in gold.flaws().items():
            if sentences.any():
                first = int(np.argmax(sentences))
                where = f"{name_of(self.gold, 'gold')}:{_line(gold, first)}"
                problem = "%s: %s in the gold tree; so it is in %d sentences of %d"
                _log.warning(problem, where, flaw, np.count_nonzero(sentences), len(gold))
        return gold

    def _read(self, given: Any, what: str) -> DependencyTrees:
        if isinstance(given, DependencyTrees):
            return given
        if isinstance(given, str | Path):
            given = conll.read_conll(str(given))
        if isinstance(given, Conll):
            labels, tags = given.column(COLUMNS["deprel"]), given.column(column_place(self.settings.column))
            about = given.words, tags, given.sentence_lines(), given
            trees = DependencyTrees(given.heads(), given.offsets, labels, *about)
        else:
            trees = _trees_of(list(given), what)
        bare = np.flatnonzero(trees.heads < 0)
        if len(bare) and (what == "gold" or len(bare) == len(trees.heads)):
            some = isinstance(given, Conll) and len(bare) < len(trees.heads)
            advice = "the gold needs one for every word" if what == "gold" else "was the file parsed?"
            line = given.line_of_word(int(bare[0])) if some else None
            raise DataError(getattr(given, "path", what), line, f"no head in column 7 (_); {advice}")
        return trees


def _trees_of(items: list[Any], what: str) -> DependencyTrees:
    """Return trees from memory: lists of heads, lists of heads and labels, or objects that have these."""
    heads: list[list[int]] = []
    found: dict[str, list[Any]] = {"labels": [], "words": [], "tags": []}
    for number, item in enumerate(items, 1):
        rows = item.heads if hasattr(item, "heads") else item
        try:
            pairs = [(int(row), None) if np.ndim(row) == 0 else (int(row[0]), row[1]) for row in rows]
        except (TypeError, ValueError, IndexError):
            raise DataError(what, number, "not a tree; give a list of heads or of (head, label) pairs") from None
        if any(not -1 <= head <= len(pairs) for head, _ in pairs):
            raise DataError(what, number, f"a head is not in the sentence, which has {len(pairs)} words")
        heads.append([head for head, _ in pairs])
        given = {"labels": getattr(item, "labels", None), "words": _words_of(item), "tags": getattr(item, "tags", None)}
        if pairs and pairs[0][1] is not None:
            given["labels"] = [label for _, label in pairs]
        for name, values in given.items():
            if pairs:
                found[name].append(values)
    columns = (
        None
        if None in rows
        else [value if isinstance(value, bytes) else str(value).encode() for value in chain.from_iterable(rows)]
        for rows in found.values()
    )
    flat = np.fromiter(chain.from_iterable(heads), np.int32)
    labels, words, tags = columns
    return DependencyTrees(flat, _offsets(heads), labels, words, tags, np.arange(1, len(items) + 1))


# Translations


@dataclass(eq=False)
class TranslationScorer:
    """Scores translations; see `aligntools.bleu`."""

    references: Any
    more_references: Sequence[Any] = ()
    settings: TranslationScoring = field(default_factory=TranslationScoring)

    def __post_init__(self) -> None:
        self._ids: dict[str, int] = {}

    def score(self, system: Any) -> BleuScore:
        """Score translations: a file's path, or one sentence after the other."""
        gold = self._gold
        return BleuScore.of(gold, self._fitting(system, "translations", len(gold[0].offsets)), self.settings)

    @cached_property
    def _gold(self) -> list[Segments]:
        sets = [self._read(self.references, "references")]
        sets += [self._fitting(more, "more_references", len(sets[0].offsets)) for more in self.more_references]
        for found, given in zip(sets, [self.references, *self.more_references], strict=True):
            _something(len(found.words), given, name="references")
        return sets

    def _fitting(self, given: Any, what: str, n: int) -> Segments:
        """Return a text, which must have as many lines as the first set of references."""
        segments = self._read(given, what)
        if len(segments.offsets) != n:
            problem = f"{len(segments.offsets) - 1} lines, but {_the('reference', self.references)} has {n - 1}"
            raise DataError(name_of(given, what), None, f"{problem}; they must have the same number of lines")
        return segments

    def _read(self, given: Any, what: str) -> Segments:
        """Return a text's words by number; any white space separates words, as in sacrebleu."""
        words: list[int] = []
        ends, ids, lower = [0], self._ids, self.settings.lowercase
        sentences = _text_lines(given) if isinstance(given, str | Path) else sentences_given(given, what)
        for number, sentence in enumerate(sentences, 1):
            if isinstance(sentence, str):
                found = (sentence.lower() if lower else sentence).split()
            else:
                given_words = words_given(sentence, what, number)
                found = [word.lower() if lower else word for word in given_words]
            words += [ids.setdefault(word, len(ids)) for word in found]
            ends.append(len(words))
        if len(ends) == 1:
            raise DataError(name_of(given, what), None, "is empty; give text, one sentence per line")
        return Segments(np.array(words, np.int32), np.array(ends, np.int64))


def _text_lines(path: str | Path) -> Iterator[str]:
    """Yield a file's lines; of text of other kinds, the words of each sentence between spaces."""
    with files.reading(str(path)) as file:
        seen, lines = text_kinds.first_lines(file)
        kind, separator = text_kinds.sniff(seen, path=path)
        if kind == "text":
            for number, line in enumerate(lines, 1):
                text = line.rstrip(b"\n").removesuffix(b"\r")
                yield _decoded(path, number, text, "utf-8-sig" if number == 1 else "utf-8")
            return
        tagged_text.tell_kind(path, kind)
        for part in tagged_text.parts_of_kind(path, lines, kind, separator, 10_000):
            numbers = part.sentence_lines() if isinstance(part, Conll) else part.lines
            words = part.words
            for (begin, end), number in zip(pairwise(part.offsets.tolist()), numbers.tolist(), strict=True):
                yield _decoded(path, number, b" ".join(words[begin:end]))


def _decoded(path: str | Path, number: int, text: bytes, encoding: str = "utf-8") -> str:
    try:
        return text.decode(encoding)
    except UnicodeDecodeError:
        problem = "bytes that are not UTF-8 (convert the file, for instance with iconv)"
        raise DataError(path, number, problem) from None


class BracketTreebank(NamedTuple):
    """Trees of a file, without what is not scored, and the words of each."""

    trees: list[Tree]
    words: list[bytes]
    offsets: np.ndarray
    lines: np.ndarray | None

    def with_words(self) -> "BracketTreebank":
        """Return the trees that have words."""
        kept = np.diff(self.offsets) > 0
        trees = [self.trees[k] for k in np.flatnonzero(kept)]
        lines = None if self.lines is None else self.lines[kept]
        return BracketTreebank(trees, self.words, self.offsets[np.append(kept, True)], lines)


@dataclass(eq=False)
class BracketScorer:
    """Scores trees of constituents; see `aligntools.score_brackets`."""

    gold: Any
    settings: BracketScoring = field(default_factory=BracketScoring)

    def score(self, system: Any) -> BracketScore:
        """Score trees: a file's path, or one tree after the other."""
        how, name = self.settings, name_of(system, "parsed")
        gold, other = self._reference, self._read(system, "parsed")
        gold_name, note = name_of(self.gold, "gold"), ""
        if len(gold.trees) != len(other.trees):
            problem = f"{len(other.trees)} trees, but the gold {gold_name} has {len(gold.trees)}"
            gold, other = gold.with_words(), other.with_words()
            if len(gold.trees) != len(other.trees):
                raise DataError(name, None, f"{problem}; there must be one for each, in the same order")
            note = f"{name}: {problem}; those without words are left out"
        elif empty := int(np.sum(np.diff(gold.offsets) == 0)):
            note = f"{gold_name}: trees without words, which do not count: {empty}"
        empty_trees = np.diff(other.offsets) == 0
        if empty_trees.any():  # the gold's words where there is no tree, so that the others can be compared
            words = list[bytes]()
            for k, nothing in enumerate(empty_trees.tolist()):
                side = gold if nothing else other
                words += side.words[side.offsets[k] : side.offsets[k + 1]]
            lengths = np.where(empty_trees, np.diff(gold.offsets), np.diff(other.offsets))
            other = other._replace(words=words, offsets=np.append(0, np.cumsum(lengths)))
        check_words(gold, other, gold_name, name, ignore_forms=how.ignore_forms, what="trees")
        if note:
            _log.info("%s", note)
        score = BracketScore.of(gold.trees, other.trees, how)
        if not score.totals["gold"]:
            raise DataError(gold_name, None, "no bracket of it counts; there is nothing to score")
        if score.failed:
            _log.info("%s: sentences without a tree: %d; all their brackets are missing", name, score.failed)
        return score

    @cached_property
    def _reference(self) -> BracketTreebank:
        return self._read(self.gold, "gold")

    @cached_property
    def _gold(self) -> tuple[list[Tree], list[int] | None]:
        return trees_given(self.gold, "gold")

    def _read(self, given: Any, what: str) -> BracketTreebank:
        trees, numbers = self._gold if what == "gold" else trees_given(given, what)
        lines = None if numbers is None else np.array(numbers, np.int64)
        trees, notes = plain_trees(trees, self.settings.functions, are_named(self._gold[0]))
        for note in notes:
            _log.info("%s: %s", name_of(given, what), note)
        words = [tree.words() for tree in trees]
        joined = [word.encode("utf-8", "surrogateescape") for own in words for word in own]
        return BracketTreebank(trees, joined, _offsets(words), lines)


def check_words(
    gold: Any,
    other: Any,
    gold_name: str,
    name: str,
    *,
    ignore_forms: bool = False,
    head: bool = False,
    what: str = "sentences",
) -> None:
    """Check that two texts have the same sentences.

    gold, other: Have ``words`` (None where only their lengths are known), ``offsets``, and ``lines``, where sentences
        begin in their file (None where there is none). Words are compared where both have them.
    head: Whether the message may recommend ``--head``.
    """
    forms = not ignore_forms and gold.words is not None and other.words is not None
    lengths, theirs = np.diff(gold.offsets), np.diff(other.offsets)
    if np.array_equal(lengths, theirs) and (not forms or gold.words == other.words):
        return
    for s, (length, other_length) in enumerate(zip(lengths, theirs, strict=False)):
        if length == other_length and not forms:
            continue
        words, others = (
            [without_spaces(word) for word in (text.words or [])[text.offsets[s] : text.offsets[s + 1]]]
            for text in (gold, other)
        )
        if length == other_length and words == others:
            continue
        place, first = f"{gold_name}:{_line(gold, s)}", ""
        for k, (word, found) in enumerate(zip(words, others, strict=False), 1):
            if word != found:
                first = f"; word {k} is '{shown(found)}' for '{shown(word)}'"
                if alike(word, found):
                    first += " (they look alike: one is in Unicode's form NFC, the other in NFD; bring both into one)"
                break
        problem = f"has {other_length} words where the gold at {place} has {length}{first}"
        if length == other_length:
            problem = f"has other words than the gold at {place}{first}"
            problem += " (scoring passes over this with `ignore_forms=True`)"
        raise DataError(name, _line(other, s), f"sentence {s + 1} {problem}")
    if len(lengths) != len(theirs):
        named = "" if gold_name == "gold" else f" {gold_name}"
        problem = f"{len(theirs)} {what}, but the gold{named} has {len(lengths)}"
        more = " (if they are the first ones, score those with `head`)" if head and len(theirs) > len(lengths) else ""
        raise DataError(name, None, problem + more)


def _line(text: Any, s: int) -> int:
    return s + 1 if text.lines is None else int(text.lines[s])


def shown(value: bytes) -> str:
    """Return a word for a message, cut where it is long."""
    text = value.decode("utf-8", "replace")
    return text if len(text) <= 40 else text[:40] + "..."
