"""Lattices as the decoder takes them: arcs with words alone, every node on a path from the first to the last."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, TypeAlias

import numpy as np

from aligntools.formats.annotation.tagged_text import Tokens
from aligntools.formats.inputs.sentences import Sentence, Text, stream_lines, tokens_of
from aligntools.formats.text.bitext import IN_MEMORY
from aligntools.formats.text.corpus import Side
from aligntools.formats.translation.plf import EPSILON, WordLattice, parse_cn, parse_plf, stream_lattices
from aligntools.formats.translation.plf import Arc as Arc
from aligntools.ground.errors import DataError
from aligntools.translating.settings import LatticeSettings
from aligntools.words.vocabulary import Vocabulary
from aligntools.words.white_space import is_blank

#: Before the names of the features that arcs have: ``lattice-1`` is the logarithm of their first score.
PREFIX = "lattice-"
#: The least logarithm of a score, as in Moses.
LOWEST = -100.0
#: Arcs that may take the place of those of one lattice that have no words.
MOST = 1_000_000
#: From, to, word and values of an arc.
_Arc: TypeAlias = tuple[int, int, str, Any]


@dataclass(eq=False)
class LatticeLines(Tokens):
    """Lattices one after another, as `Tokens` are sentences: ``words`` are those of arcs.

    begins, ends (int32 [arcs]): The nodes that each arc leads from and to, numbered from 0 in each lattice. The arcs of
        a lattice are in order of their end, then of their beginning.
    values (float32 [arcs, names]): Features of the arcs.
    """

    begins: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    ends: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    values: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    names: tuple[str, ...] = ()

    @cached_property
    def pairs(self) -> tuple[Side, Vocabulary]:
        """Each word alone, and all two that can follow one another: sentences from which rules can be chosen."""
        ids: dict[bytes, int] = {}
        tokens = np.array([ids.setdefault(word, len(ids) + 1) for word in self.words], np.int64)
        found = [tokens[:0].reshape(-1, 2)]
        for a, b in pairwise(self.offsets.tolist()):
            order = np.argsort(self.begins[a:b], kind="stable")
            sizes = np.bincount(self.begins[a:b], minlength=int(self.ends[a:b].max(initial=0)) + 1)
            first = np.cumsum(sizes) - sizes
            counts = sizes[self.ends[a:b]]
            left = np.repeat(np.arange(b - a), counts)
            within = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
            right = order[np.repeat(first[self.ends[a:b]], counts) + within]
            found.append(np.stack([tokens[a + left], tokens[a + right]], 1))
        both = np.unique(np.concatenate(found), axis=0)
        alone = np.arange(1, len(ids) + 1)
        side = Side(
            np.concatenate([alone, both.reshape(-1)]).astype(np.int32),
            np.concatenate([np.arange(len(ids) + 1), len(ids) + 2 * np.arange(1, len(both) + 1)]),
        )
        return side, Vocabulary.from_bytes(list(ids))


def lattice_lines(
    lattices: Iterable[WordLattice], scores: int, named: Sequence[str] = (), name: str = "<lattices>", first: int = 1
) -> LatticeLines:
    """Return lattices as the decoder takes them.

    An arc's features are the logarithms of its scores, at least `LOWEST`, and what it has of ``named``. Arcs without
    words go: those with words get what is on the way behind them (before the first word, what is on the way to it).
    A path without any word goes where there are others.

    scores: Of each arc.
    named: Named features that count, without `PREFIX`.
    """
    place = {one: scores + k for k, one in enumerate(named)}
    rows, sizes = [], [0]
    for number, lattice in enumerate(lattices, first):
        arcs = []
        for begin, end, arc in lattice.arcs():
            values = np.zeros(scores + len(place), np.float64)
            with np.errstate(divide="ignore"):
                values[:scores] = np.maximum(np.log(np.array(arc.scores, np.float64)), LOWEST)
            for key, value in arc.named:
                if key in place:
                    values[place[key]] = value
            arcs.append((begin, end, arc.word, values))
        try:
            own = joined_paths(arcs, len(lattice))
        except OverflowError:
            problem = f"lattice {number} has more than {MOST:,} ways past its arcs without words; give one with fewer"
            raise DataError(name, None, problem) from None
        rows += own
        sizes.append(sizes[-1] + len(own))
    table = np.array([row[3] for row in rows], np.float32).reshape(len(rows), scores + len(place))
    begins, ends = (np.array([row[k] for row in rows], np.int32) for k in range(2))
    words = [row[2].encode("utf-8", "surrogateescape") for row in rows]
    names = tuple(PREFIX + one for one in [*map(str, range(1, scores + 1)), *named])
    offsets = np.array(sizes, np.int64)
    return LatticeLines(words, offsets, name=name, begins=begins, ends=ends, values=table, names=names)


def joined_paths(arcs: list[_Arc], last: int) -> list[_Arc]:
    """Return arcs (begin, end, word, values) without those that have no word, in the decoder's order.

    A path of words in the one is a path in the other, once, with the same sum of values. Only arcs that are on paths
    from 0 to the last node stay, and nodes are numbered anew.
    """
    silent: dict[int, list[tuple[int, str, Any]]] = {}
    real: dict[int, list[tuple[int, str, Any]]] = {}
    for begin, end, word, values in arcs:
        (silent if word == EPSILON else real).setdefault(begin, []).append((end, word, values))
    if silent:
        ways = {}  # from a node by arcs without words to the last node, or to one where an arc with a word begins
        count = 0
        for node in range(last, -1, -1):
            ways[node] = [(node, 0.0)] if node in real or node == last else []
            for end, _, values in silent.get(node, []):
                ways[node] += [(to, values + more) for to, more in ways[end]]
            count += len(ways[node])
            if count > MOST:
                raise OverflowError
        begun = [(1 + begin, arc, 0.0) for begin, own in real.items() for arc in own]  # node 0 is new: before all
        begun += [(0, arc, before) for to, before in ways[0] for arc in real.get(to, [])]
        arcs, last = [], 1 + last
        for begin, (end, word, values), before in begun:
            arcs += [(begin, 1 + to, word, before + values + more) for to, more in ways[end]]
            if len(arcs) > MOST:
                raise OverflowError
    arcs = sorted(arcs, key=lambda arc: arc[1::-1])
    reached, leading = {0}, {last}
    for begin, end, _, _ in arcs:
        if begin in reached:
            reached.add(end)
    for begin, end, _, _ in sorted(arcs, key=lambda arc: -arc[0]):
        if end in leading:
            leading.add(begin)
    used = {node: k for k, node in enumerate(sorted(reached & leading))}
    return [(used[b], used[e], word, values) for b, e, word, values in arcs if b in used and e in used]


def as_lattices(text: Tokens) -> LatticeLines:
    """Return sentences as lattices of one path, without features."""
    if isinstance(text, LatticeLines):
        return text
    begins = (np.arange(len(text.words)) - np.repeat(text.offsets[:-1], np.diff(text.offsets))).astype(np.int32)
    none = np.zeros((len(text.words), 0), np.float32)
    ends = begins + np.int32(1)
    return LatticeLines(text.words, text.offsets, name=text.name, begins=begins, ends=ends, values=none)


def joined(texts: Sequence[Tokens]) -> Tokens:
    """Return texts one after another; as lattices, without features, if there are any among them."""
    if len(texts) < 2:
        return texts[0] if texts else tokens_of([])
    offsets = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(np.diff(text.offsets) for text in texts)]))
    words = [word for text in texts for word in text.words]
    if not any(isinstance(text, LatticeLines) for text in texts):
        return Tokens(words, offsets)
    lattices, none = [as_lattices(text) for text in texts], np.zeros((len(words), 0), np.float32)
    begins, ends = (np.concatenate([getattr(one, name) for one in lattices]) for name in ("begins", "ends"))
    return LatticeLines(words, offsets, name=texts[0].name, begins=begins, ends=ends, values=none)


#: Text, or lattices.
Input: TypeAlias = Text | Iterable[Sentence | WordLattice]


#: How lattices are read, and named features of arcs that count.
LatticeInput: TypeAlias = tuple[LatticeSettings, tuple[str, ...]]


def _lattices(items: Any, settings: LatticeSettings) -> Iterator[WordLattice]:
    scores = settings.arc_scores
    for number, item in enumerate(items, 1):
        if isinstance(item, WordLattice):
            yield parse_plf(str(item), scores, IN_MEMORY, number)  # which checks it
        elif settings.input == "plf":
            yield parse_plf(item, scores, IN_MEMORY, number)
        else:
            yield parse_cn((line for line in item.split("\n") if not is_blank(line)), scores)


def stream_input(text: Input, size: int, how: LatticeInput | None, split: str | None = None) -> Iterator[Tokens]:
    """Yield text, or lattices if it is known how they are read, in parts of ``size`` lines."""
    if how is None:
        yield from stream_lines(text, size, split)  # type: ignore[arg-type]
    elif isinstance(text, LatticeLines):
        yield text
    else:
        settings, named = how
        name, first, found = IN_MEMORY, 1, _lattices(text, settings)
        if isinstance(text, str | os.PathLike):
            name = os.fspath(text)
            found = stream_lattices(name, settings.input, settings.arc_scores)
        while part := list(islice(found, size)):
            yield lattice_lines(part, settings.arc_scores, named, name, first)
            first += len(part)


def lattice_input(settings: LatticeSettings, given: Mapping[str, float]) -> tuple[LatticeInput, dict[str, float]]:
    """Return how lattices are read, and the weight of each feature of their arcs.

    given: Weights of the features of arcs, as far as they are known.
    """
    dense = [f"{PREFIX}{k}" for k in range(1, settings.arc_scores + 1)]
    known = {name: given.get(name, 1.0) for name in dense}
    if settings.arc_weights is not None:
        known = dict(zip(dense, map(float, settings.arc_weights), strict=True))
    named = [name for name in given if not name.removeprefix(PREFIX).isdecimal()]
    how = settings, tuple(name.removeprefix(PREFIX) for name in named)
    return how, known | {name: given[name] for name in named}


def without_arcs(features: Mapping[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """Return weights without those of the features of arcs, and the latter."""
    of_arcs = {name: value for name, value in features.items() if name.startswith(PREFIX)}
    return {name: value for name, value in features.items() if name not in of_arcs}, of_arcs
