"""Features of edges: templates after McDonald, Crammer & Pereira (2005), and the weights that they have.

A template is text: what it looks at on the head's side, ``|``, what on the modifier's. ``w`` is the word, ``p`` the
tag, ``x`` the word's first letters; ``p+1`` the next word's tag. Where a parser has word classes, ``c`` is the word's
class, ``f`` the first 4 bits of its path. A template with ``[p]`` in the place of ``|`` stands once for each tag that
occurs between the two. Every feature comes with the direction of the edge, and with the direction and the distance in
bins. No feature is ever text: see `kernels_features`.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from aligntools.formats.annotation.class_lists import SHORT, WordLookup
from aligntools.ground.parallel import Pool, balanced_blocks, over
from aligntools.parsing import kernels_features as kernels
from aligntools.parsing.trees.inference import BLOCKS, edge_offsets, runs_of_edges
from aligntools.words.vocabulary import Vocabulary

#: Layers that templates can name, in the order of the arrays; the first ones are always there.
LAYERS = "wpxcf"
FIRST_LAYERS = 3
#: Special values of every layer, below the ids of words, tags and prefixes: a word that is not in the vocabulary,
#: and the root. Vocabularies count from 1, so ids are stored with `SHIFT` added.
UNKNOWN, ROOT, SHIFT = 0, 1, 1

#: Templates without words: what a delexicalized parser has.
TAGS = (
    "p |",
    "| p",
    "p | p",
    "p p+1 | p-1 p",
    "p-1 p | p-1 p",
    "p p+1 | p p+1",
    "p-1 p | p p+1",
    "p p+1 | p",
    "p-1 p | p",
    "p | p-1 p",
    "p | p p+1",
    "p [p] p",
)
WORDS = ("w p |", "w |", "| w p", "| w", "w p | w p", "p | w p", "w | w p", "w p | p", "w p | w", "w | w")
PREFIXES = ("x p |", "| x p", "x p | x p", "p | x p", "x p | p", "x | x")
#: With word classes, and where these are paths in a tree (after Koo, Carreras & Collins 2008).
CLASSES = ("c p | p", "p | c p", "c p | c p")
PATHS = ("f p | p", "p | f p", "f p | f p")
SETS = {"full": TAGS + WORDS, "delexicalized": TAGS, "prefixes": TAGS + WORDS + PREFIXES}

#: Least distance of each bin.
BINS = (1, 2, 3, 4, 5, 8, 13)

#: Edges of a block that are scored or counted together.
EDGES = 200_000

_ATOM = re.compile(rf"([{LAYERS}])([+-][12])?")
_ATOMS = 4


def _side(text: str) -> list[int] | None:
    atoms = []
    for part in text.split():
        match = _ATOM.fullmatch(part)
        if not match:
            raise ValueError(f"'{part}' is not an atom: one of {', '.join(LAYERS)}, perhaps with +1, -1, +2 or -2")
        atoms.append(kernels.ATOM * LAYERS.index(match[1]) + int(match[2] or 0) + kernels.ORIGIN)
    if len(atoms) > _ATOMS:
        raise ValueError(f"'{text}' has more than {_ATOMS} atoms")
    return atoms + [-1] * (_ATOMS - len(atoms))


def compile_templates(templates: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return templates as arrays.

    Returns seeds (uint64 [templates, 3]): From the templates' texts: a feature has the same number whatever else a
        model has.
    Raises ValueError when one does not read as a template.
    """
    sides, between, seeds = [], [], []
    for template in templates:
        match = re.fullmatch(rf"([^|[\]]*)(?:\||\[([{LAYERS}])\])([^|[\]]*)", template)
        if not match:
            raise ValueError(f"'{template}' is not a template: head's side, then | or [p], then modifier's side")
        sides.append((_side(match[1]), _side(match[3])))
        between.append(LAYERS.index(match[2]) if match[2] else -1)
        digest = hashlib.blake2b(" ".join(template.split()).encode(), digest_size=24).digest()
        seeds.append(np.frombuffer(digest, "<u8"))
    return (
        np.array(sides, np.int32).reshape(-1, 2, _ATOMS),
        np.array(between, np.int32),
        np.array(seeds, np.uint64).reshape(-1, 3),
    )


def layers_of(templates: Sequence[str]) -> int:
    """Return how many layers sentences need to have for templates; ValueError when one does not read as a template."""
    sides, between, _ = compile_templates(templates)
    return 1 + max(int(sides.max(initial=0)) // kernels.ATOM, int(between.max(initial=0)))


@dataclass(frozen=True)
class EncodedSentences:
    """Sentences as features see them.

    offsets (int64 [sentences + 1]): Over words.
    layers (int32 [FIRST_LAYERS or len(LAYERS), words + sentences]): Each sentence's root, then its words; see
        `positions`.
    """

    offsets: np.ndarray
    layers: np.ndarray
    lengths: np.ndarray = field(init=False, repr=False)
    starts: np.ndarray = field(init=False, repr=False)
    edges: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "lengths", np.diff(self.offsets))
        set_(self, "starts", self.offsets[:-1] - self.offsets[0] + np.arange(len(self.offsets) - 1))
        set_(self, "edges", edge_offsets(self.offsets))
        positions = int(self.offsets[-1] - self.offsets[0]) + len(self)
        if self.layers.shape not in ((FIRST_LAYERS, positions), (len(LAYERS), positions)):
            raise ValueError(
                f"layers of shape {self.layers.shape} for {self.offsets[-1]} words in {len(self)} sentences"
            )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What kernels take of them, in this order."""
        return self.layers, self.starts, self.lengths, self.edges

    @classmethod
    def from_ids(cls, offsets: np.ndarray, *ids: np.ndarray) -> "EncodedSentences":
        """Take ids of words, tags and prefixes, and of classes (int32 [words], -1 or 0 unknown, as vocabularies do)."""
        offsets = np.ascontiguousarray(offsets, np.int64)
        lengths = np.diff(offsets)
        layers = np.full((len(ids), int(offsets[-1] - offsets[0]) + len(lengths)), ROOT, np.int32)
        words = np.arange(lengths.sum()) + np.repeat(np.arange(1, len(lengths) + 1), lengths)
        for layer, values in zip(layers, ids, strict=True):
            layer[words] = np.where(values > 0, values + SHIFT, UNKNOWN)
        return cls(offsets, layers)

    @classmethod
    def joined(cls, texts: "Sequence[EncodedSentences]") -> "EncodedSentences":
        """Return texts one after the other as one."""
        if len(texts) == 1:
            return texts[0]
        lengths = np.concatenate([text.lengths for text in texts])
        return cls(np.concatenate([[0], np.cumsum(lengths)]), np.concatenate([text.layers for text in texts], axis=1))

    def part(self, begin: int, end: int) -> "EncodedSentences":
        """Return the sentences ``begin:end``."""
        starts = np.append(self.starts, self.layers.shape[1])
        layers = np.ascontiguousarray(self.layers[:, starts[begin] : starts[end]])
        return EncodedSentences(self.offsets[begin : end + 1] - self.offsets[begin], layers)


def templates_of(name: str, classes: WordLookup | None = None) -> tuple[str, ...]:
    """Return the templates of a set by its name, and those of classes; ValueError if there is no such set."""
    if name not in SETS:
        raise ValueError(f"there is no set of features '{name}'; choose one of {', '.join(SETS)}")
    own = () if classes is None else CLASSES + (PATHS if classes.paths else ())
    return SETS[name] + tuple(t for t in own if name != "delexicalized" or "w" not in t)


class FeatureSpace:
    """Templates and where each one's weights lie.

    bits: Binary logarithm of the number of weights of each template, 4 to 30.
    bins: Least distance of each of at most 7 bins.
    """

    def __init__(self, templates: Sequence[str], bits: Sequence[int], bins: Sequence[int] = BINS) -> None:
        self.templates, self.bits, self.bins = tuple(templates), tuple(int(b) for b in bits), tuple(bins)
        self.sides, self.between, self.seeds = compile_templates(self.templates)
        if len(self.bits) != len(self.templates) or any(not 4 <= b <= 30 for b in self.bits):
            raise ValueError(f"{self.bits} are not bits of {len(self.templates)} templates, 4 to 30 each")
        if not 1 <= len(self.bins) < kernels.LINE or self.bins[0] != 1 or sorted(set(self.bins)) != list(self.bins):
            raise ValueError(f"{self.bins} are not bins of distances: 1, then up to 6 larger ones")
        ends = np.cumsum([1 << b for b in self.bits], dtype=np.int64)
        self.regions = np.stack([ends - [1 << b for b in self.bits], ends], axis=1)
        if self.size >= 1 << 31:
            raise ValueError(f"{self.size} weights; {len(self.bits)} templates can have 2^31 together")
        self.shifts = np.array([64 - (b - 3) for b in self.bits], np.uint64)

    @property
    def size(self) -> int:
        """Number of weights."""
        return int(self.regions[-1, 1]) if len(self.regions) else 0

    @classmethod
    def fitted(
        cls,
        templates: Sequence[str],
        sentences: EncodedSentences,
        most: int = 19,
        pool: Pool | None = None,
    ) -> "FeatureSpace":
        """Give each template twice the weights that its features in the sentences would fill, at most ``2**most``.

        The number of features is estimated from how much of a table they fill (Whang et al. 1990).
        """
        trial, size = cls(templates, [most] * len(templates)), 1 << most
        parts = [sentences.part(*cut) for cut in runs_of_edges(sentences.edges, EDGES)]
        ones = np.ones(max((int(part.edges[-1]) for part in parts), default=0))

        def bits_of(t: int) -> int:
            filled = np.zeros(size)
            for part in parts:
                trial.add_template(t, part, ones[: part.edges[-1]], filled)
            features = -size * np.log(max(1, size - int(np.count_nonzero(filled))) / size)
            return int(np.clip(np.ceil(np.log2(max(2 * features, 1))), 4, most))

        return cls(templates, over(pool, bits_of, range(len(trial.templates))))

    def _scratch(self, sentences: "EncodedSentences") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        longest = int(sentences.lengths.max(initial=0))
        codes = np.searchsorted(self.bins, np.arange(longest + 1), side="right").astype(np.uint64)
        values = int(sentences.layers.max(initial=0)) + 1
        return codes, np.empty((4, longest + 1), np.uint64), np.full(values, -1, np.int64)

    def scores(
        self,
        weights: np.ndarray,
        sentences: EncodedSentences,
        pool: Pool | None = None,
        only: Sequence[str] | None = None,
    ) -> np.ndarray:
        """Score every edge.

        weights (float64 [size]).
        only: The templates to use, of those that the space has; for instance `TAGS`, for the weight of an edge's
            delexicalized form.
        Returns float64 [edges]: laid out as `inference` says.
        """
        result = np.zeros(int(sentences.edges[-1]))
        use = [t for t, name in enumerate(self.templates) if only is None or name in only]
        every = self.sides, self.between, self.seeds, self.regions, self.shifts
        tables = tuple(np.ascontiguousarray(array[use]) for array in every)

        def work(block: tuple[int, int]) -> None:
            bins, keys, stamps = self._scratch(sentences)
            kernels.add_scores(sentences.arrays, *block, tables, bins, weights, keys, stamps, result)

        # Large blocks: within one, a template is done for all sentences, and its weights stay in the cache.
        costs = (sentences.lengths + 2.0) ** 2
        blocks = balanced_blocks(costs, int(np.clip(costs.sum() / EDGES, min(16, costs.sum() / 2000), BLOCKS)) + 1)
        over(pool, work, blocks)
        return result

    def add_template(self, t: int, sentences: EncodedSentences, values: np.ndarray, gradient: np.ndarray) -> None:
        """Add the edges' values [edges] to the gradient of a template's features."""
        bins, keys, stamps = self._scratch(sentences)
        template = self.sides[t], self.between[t], self.seeds[t], self.shifts[t]
        kernels.add_gradient(sentences.arrays, 0, len(sentences), template, bins, values, keys, stamps, gradient)


#: Letters of a word that the layer of prefixes has.
PREFIX = 5
_DIGITS = bytes.maketrans(b"123456789", b"000000000")


def normalized(words: Sequence[bytes]) -> list[bytes]:
    """Return words in lower case, every digit a zero."""
    forms = {word: word.decode("utf-8", "replace").lower().encode().translate(_DIGITS) for word in set(words)}
    return [forms[word] for word in words]


def prefixes(words: Sequence[bytes]) -> list[bytes]:
    """Return the first letters of words."""
    forms = {word: word.decode("utf-8", "replace")[:PREFIX].encode() for word in set(words)}
    return [forms[word] for word in words]


def vocabulary(words: Sequence[bytes], least: int = 1) -> Vocabulary:
    """Number the words that occur at least ``least`` times, in order of first occurrence."""
    return Vocabulary.from_bytes([word for word, n in Counter(words).items() if n >= least and word])


@dataclass(frozen=True)
class Vocabularies:
    """What turns words and tags into layers of ids.

    words, tags, prefixes: Of normalized words, of tags, of normalized words' prefixes.
    classes: Of words as they are.
    """

    words: Vocabulary
    tags: Vocabulary
    prefixes: Vocabulary
    classes: WordLookup | None = None

    @classmethod
    def of(
        cls, words: Sequence[bytes], tags: Sequence[bytes], least: int = 2, classes: WordLookup | None = None
    ) -> "Vocabularies":
        """Number words and prefixes that occur at least ``least`` times, and all tags.

        What is rarer is unknown in training too, so that there are weights for what is unknown later.
        """
        words = normalized(words)
        return cls(vocabulary(words, least), vocabulary(tags), vocabulary(prefixes(words), least), classes)

    def sentences(self, words: Sequence[bytes], tags: Sequence[bytes], offsets: np.ndarray) -> EncodedSentences:
        """Return sentences as features see them."""
        if not len(words) == len(tags) == offsets[-1] - offsets[0]:
            raise ValueError(f"{len(words)} words, {len(tags)} tags and offsets up to {offsets[-1] - offsets[0]}")
        forms = normalized(words)
        ids = [self.words.ids(forms), self.tags.ids(tags), self.prefixes.ids(prefixes(forms))]
        if self.classes is not None:
            own = self.classes.find(words)
            ids += [own, self.classes.shortened(SHORT)[own]]
        return EncodedSentences.from_ids(offsets, *ids)
