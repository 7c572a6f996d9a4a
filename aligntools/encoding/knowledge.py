"""What an encoder knows of a text's words: probable links, and counts of them as priors of the base models.

States of words in their sentences are mapped (`mapping`) and compared (`similarities`); each pair of words above LEAST
is a link with a probability. Those of the same two words add to a pseudo-count, which training starts from, as it does
from those of a dictionary. So a model that was trained knows what the encoder knew, and aligns new text without it.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, pairwise

import numpy as np

from aligntools.encoding.encoder import LAYER, Encoder, load
from aligntools.encoding.lexicon import belief, plain
from aligntools.encoding.similarities import LEAST, Similarities, compare, unit
from aligntools.encoding.word_map import WordMap
from aligntools.formats.links.given_links import GivenLinks, concatenate_given
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.links.priors import Counted, Priors
from aligntools.formats.models.modelfile import read_model
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.ground.parallel import Pool

#: The map of the brought encoder's states, and its kind of file.
MAP, KIND = os.path.join(os.path.dirname(__file__), "wordmap.safetensors"), "wordmap"
#: Letters of a word that are looked at: data in the text is as long as files are.
_LETTERS = 200
#: Sentence pairs that are compared at a time.
_ROWS = 256
#: How far beyond chance words choose each other, below which nothing is believed, and from which on all is. Languages
#: that the brought encoder has read have 0.23 and more, Ancient Greek 0.15, text with one side in cipher at most 0.1.
DOUBTED, BELIEVED = 0.12, 0.2
#: What the encoder adds to a network's log-odds of a link, by the link's probability: below
#: 0.1, and from each of LEVELS on. Learned by logistic regression from the gold links of all sets of `bench.encoder`.
LEVELS = (0.1, 0.5, 0.75, 0.9, 0.97)
ODDS = np.array([-1.2, -0.1, 0.7, 0.8, 1.0, 1.6])
#: Of the pairs that are read of a large text one in so many is evenly spread over it.
SPREAD = 4
_GOLDEN = (5**0.5 - 1) / 2
#: Weights of a second look at cells (`contrastive.second_look.INPUTS`, and what is added to all), of the brought
#: encoder with its map: the mean of what the first look does, and of what logistic regression learned from the gold
#: links of all sets of `bench.encoder` but Ancient Greek's, over base models of these pairs alone and of 300 to 150,000
#: further ones, made as much surer as the network is (`contrastive.search.SCALE`). 0.2 is added to the last, so that a
#: text has as many links as by the first look (`bench/SETTINGS.md`).
LOOK = np.array(
    [
        *(0.749, 0.120, -1.004, -0.159, 0.371, 0.552, 0.804, 1.427, 1.331, 0.073),
        *(-0.614, -0.459, 0.157, -0.460, -0.122, 0.587, 0.171, 0.145),
    ]
)
#: The same over a base model that learned without the encoder: LOOK, and a quarter of the way to the best weights over
#: such models of the same sets, alone and with 5,000 further pairs.
LOOK_UNREAD = np.array(
    [
        *(0.665, 0.130, -1.214, -0.151, 0.358, 0.603, 0.867, 1.522, 1.630, 0.099),
        *(-0.686, -0.573, 0.207, -0.539, -0.103, 0.720, 0.221, 0.112),
    ]
)
#: Shares count as no less.
_NONE = np.float32(1e-4)
#: Words of a side that are encoded by themselves where not all sentences are read, at most.
ALONE = 20_000
#: What share of words choose each other by chance, where there is one pair alone.
_CHANCE = 0.5


def odds(belief: float) -> np.ndarray:
    """Return what the log-odds of a link gain by its probability, where the encoder is believed so far; float64.

    See ODDS. Where priors are believed to a half, places are not at all: training finds out which priors hold.
    """
    return ODDS * max(0.0, 2.0 * belief - 1.0)


def look(belief: float, read: bool) -> np.ndarray:
    """Return the weights of a second look at cells, float64; ``read``: the encoder had a part in the base model."""
    found = max(0.0, 2.0 * belief - 1.0) * (LOOK if read else LOOK_UNREAD)
    found[0] += 1.0 - max(0.0, 2.0 * belief - 1.0)
    return found


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What an encoder says of a text: the links of each sentence pair, and how far words agree.

    mutual, chance: The share of words whose most similar word of the other side has them for its own, in pairs and
        where each sentence is compared with that of another pair.
    """

    given: GivenLinks
    mutual: float
    chance: float

    @property
    def agreement(self) -> float:
        """How far words choose each other beyond chance (as Cohen's kappa is); 1 when all do."""
        return (self.mutual - self.chance) / max(1.0 - self.chance, 1e-9)

    @property
    def belief(self) -> float:
        """How far the links are believed, from 0 to 1."""
        return belief(self.agreement, DOUBTED, BELIEVED)

    @property
    def odds(self) -> np.ndarray:
        """The gain in log-odds by a link's probability; see `odds`."""
        return odds(self.belief)


@dataclass(frozen=True, eq=False)
class ReadPairs:
    """Sentence pairs that an encoder has read.

    counts (int32 [pairs, 4]): How many words choose a word that chooses them, and words; then the same where the source
        sentence is compared with the target sentence of another pair.
    """

    given: GivenLinks
    counts: np.ndarray

    @property
    def knowledge(self) -> Knowledge:
        """The links of these pairs, and how far they are believed."""
        agreed, words, by_chance, others = self.counts.sum(0, dtype=np.int64).tolist()
        return Knowledge(self.given, *(a / b if b else _CHANCE for a, b in ((agreed, words), (by_chance, others))))


def joined(parts: Sequence[ReadPairs]) -> ReadPairs:
    """Join blocks of pairs."""
    parts = [part for part in parts if len(part.counts)]  # none says how alike words are where there are no pairs
    counts = np.concatenate([np.zeros((0, 4), np.int32), *(part.counts for part in parts)])
    return ReadPairs(concatenate_given([part.given for part in parts]), counts)


@dataclass(frozen=True, eq=False)
class Member:
    """An encoder with the layers that words are compared by, and a map of their states."""

    encoder: Encoder
    layers: tuple[int, ...]
    map: WordMap | None

    @property
    def about(self) -> dict[str, object]:
        """What a model's header says about it."""
        return {"name": self.encoder.name, "checksum": self.encoder.checksum, "layers": list(self.layers)}

    def read(self, bitext: Bitext, pool: Pool, tell: Callable[[int], None] = lambda _: None) -> ReadPairs:
        """Compare the words of each pair, as they are written; ``tell`` gets how many more were read."""
        parts = []
        for source, target in self._blocks(bitext, pool):
            similar = compare(source, target)
            others = compare(source, target[1:] + target[:1]) if len(source) > 1 else []
            counts = np.zeros((len(source), 4), np.int32)
            counts[:, :2], counts[: len(others), 2:] = _mutual(similar), _mutual(others)
            parts.append(ReadPairs(_links(similar), counts))
            tell(len(source))
        return joined(parts)

    def given(self, bitext: Bitext, pool: Pool) -> GivenLinks:
        """Return the links alone that `knowledge` has of a text."""
        return concatenate_given([_links(compare(*states)) for states in self._blocks(bitext, pool)])

    def vectors(self, words: Sequence[str], pool: Pool) -> np.ndarray:
        """Return the states of words by themselves, those of all layers in a row, float32 [words, layers * width].

        Each layer's are of length 1; zeros for words without a piece, and beyond the first ALONE.
        """
        out = np.zeros((len(words), len(self.layers), self.encoder.width), np.float32)
        asked = ([word[:_LETTERS]] for word in words[:ALONE])
        for n, states in enumerate(self._mapped(asked, pool)):
            out[n] = unit(states[:, 0])
        return out.reshape(len(words), -1)

    def _blocks(self, bitext: Bitext, pool: Pool) -> Iterator[tuple[list[np.ndarray], list[np.ndarray]]]:
        """Yield the states of runs of sentence pairs, of the source and of the target.

        Both sides of a pair are read together, so that a pair by itself needs one block of the encoder's, not two.
        """
        sides = (_sentences(side, vocabulary.words()) for side, vocabulary in bitext.sides)
        states = self._mapped(chain.from_iterable(zip(*sides, strict=True)), pool)
        for begin in range(0, len(bitext), _ROWS):
            both = [next(states) for _ in range(2 * min(_ROWS, len(bitext) - begin))]
            yield both[0::2], both[1::2]

    def _mapped(self, sentences: Iterable[Sequence[str]], pool: Pool) -> Iterator[np.ndarray]:
        found = self.encoder.stream(sentences, self.layers, pool)
        return map(self.map, found) if self.map is not None else found


def _sentences(side: Side, words: list[str]) -> Iterator[list[str]]:
    """Yield the words of each sentence, as far as they are read."""
    words = [word[:_LETTERS] for word in words]
    for a, b in pairwise(side.offsets.tolist()):
        yield [words[id] for id in side.tokens[a:b].tolist()]


def _links(similar: list[Similarities]) -> GivenLinks:
    """Return links of pairs with their probabilities, and how alike words are: cosines, logarithms of both shares."""
    pairs, strengths, ends = [np.empty((0, 2), np.int32)], [np.empty(0)], [0]
    likeness = [np.empty((0, 2), np.float32)]
    for cosines, forward, reverse in similar:
        p = (forward + reverse) * np.float32(0.5)
        i, j = np.nonzero(p > LEAST)
        pairs.append(np.stack([i, j], 1).astype(np.int32))
        strengths.append(p[i, j].astype(np.float64))
        shares = np.log(np.maximum(forward[i, j], _NONE)) + np.log(np.maximum(reverse[i, j], _NONE))
        likeness.append(np.stack([cosines[i, j], shares], 1))
        ends.append(ends[-1] + len(i))
    table = Links(np.concatenate(pairs), np.array(ends))
    return GivenLinks(table, np.concatenate(strengths), np.concatenate(likeness))


def _mutual(similar: list[Similarities]) -> np.ndarray:
    """Return how many words of each pair choose a word that chooses them, and its words, int64 [pairs, 2]."""
    found = np.zeros((len(similar), 2), np.int64)
    for k, (cosines, forward, reverse) in enumerate(similar):
        if cosines.size:
            to, back = forward.argmax(1), reverse.argmax(0)
            found[k] = 2 * np.count_nonzero(back[to] == np.arange(len(to))), sum(cosines.shape)
    return found


@cache
def shipped_map() -> WordMap:
    """Return the map that comes with the program, of the brought encoder's states."""
    header, arrays = read_model(MAP, KIND)
    return WordMap.from_parts(header, arrays)


def member(folder: str | None = None, layer: int | None = None) -> Member:
    """Return the encoder that the package brings, with its map, or that of a folder; see `encoder.load`.

    layer: Compare words by the states of this layer. By default those of the map, of the brought encoder, and of
        `encoder.LAYER` in folders.
    """
    if folder is None:
        chosen = shipped_map()
        layers = chosen.layers if layer is None else (layer,)
        if not set(layers) <= set(chosen.layers):
            return Member(load(None, max(layers)), layers, None)
        kept = [chosen.layers.index(n) for n in layers]
        return Member(load(None, max(layers)), layers, WordMap(layers, chosen.matrices[kept]))
    found = load(folder, LAYER if layer is None else layer)
    return Member(found, (found.depth,), None)


def priors(bitext: Bitext, found: Knowledge) -> Priors:
    """Count links by their words, each with its probability, times how far all are believed."""
    links = found.given.links
    sentences = links.sentences()
    places = ((side, side.offsets[:-1][sentences]) for side in (bitext.source, bitext.target))
    columns = [side.tokens[begins + own] for (side, begins), own in zip(places, links.pairs.T, strict=True)]
    counted = Counted.of(columns, found.given.strengths * found.belief)
    names = plain(bitext.source_vocabulary), plain(bitext.target_vocabulary)
    return Priors(*names, counted if found.belief else Counted.none(2))


def most_needed(bitext: Bitext, pairs: int, first: Sequence[int] = ()) -> np.ndarray:
    """Return the numbers of the pairs that an encoder reads, int64, the most important first.

    A quarter, also of those that are read first, are evenly spread, so that the text is judged by what is usual in it.
    The others are those whose words are rarest (the mean of one over the root of a word's frequency).
    pairs: How many are read; those of ``first`` come before all others.
    """
    pairs = min(max(pairs, len(first)), len(bitext))
    spread = np.unique(np.linspace(0, len(bitext) - 1, (pairs + SPREAD - 1) // SPREAD).astype(np.int64))
    sums, words = np.zeros(len(bitext)), np.zeros(len(bitext))
    for side in (bitext.source, bitext.target):
        rarity = np.bincount(side.tokens)[side.tokens] ** -0.5
        upto = np.concatenate([[0.0], np.cumsum(rarity)])
        sums += upto[side.offsets[1:]] - upto[side.offsets[:-1]]
        words += side.lengths()
    needed = np.round(sums / np.maximum(words, 1.0), 9)  # so that pairs of the same words are taken in order
    named = np.asarray(first, np.int64)
    needed[np.concatenate([spread, named])] = -1.0
    rarest = np.argsort(-needed, kind="stable")[: np.count_nonzero(needed >= 0)]
    spread = np.setdiff1d(spread, named)
    spread = spread[np.argsort(np.arange(len(spread)) * _GOLDEN % 1.0)]  # so are the first ones of these, of any number
    rarest = rarest[: max(pairs - len(named) - len(spread), 0)]
    places = [(np.arange(len(rows)) + 0.5) / max(len(rows), 1) for rows in (spread, rarest)]
    others = np.concatenate([spread, rarest])[np.argsort(np.concatenate(places), kind="stable")]
    return np.concatenate([named, others])[:pairs]


def spread_over(given: GivenLinks, rows: np.ndarray, pairs: int) -> GivenLinks:
    """Return the links of some pairs of a text (``rows``, int64, in order) as those of all; others have none."""
    counts = np.zeros(pairs + 1, np.int64)
    counts[rows + 1] = np.diff(given.links.offsets)
    return replace(given, links=Links(given.links.pairs, np.cumsum(counts)))
