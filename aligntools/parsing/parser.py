"""A parser as a whole: vocabularies, feature space, weights and labels, on disk and at work."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from aligntools.formats.modelfile import fitting, read_model, write_model
from aligntools.formats.vocabulary import Vocabulary
from aligntools.ground.parallel import Pool
from aligntools.parsing import inference
from aligntools.parsing.features import SETS, FeatureSpace, Sentences
from aligntools.parsing.inference import Trees
from aligntools.parsing.labels import Labeler

KIND = "parser"
#: Edges that are scored at a time.
CHUNK = 1_000_000
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


def vocabulary(words: Sequence[bytes], least=1) -> Vocabulary:
    """Number what occurs at least so many times, in order of first occurrence."""
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return Vocabulary.from_bytes([word for word, n in counts.items() if n >= least and word])


@dataclass(frozen=True)
class Lexicon:
    """What turns words and tags into layers of ids.

    Attributes
    ----------
    words, tags, prefixes : Vocabulary
        Of normalized words, of tags, of normalized words' prefixes.
    """

    words: Vocabulary
    tags: Vocabulary
    prefixes: Vocabulary

    @classmethod
    def of(cls, words: Sequence[bytes], tags: Sequence[bytes], least=2):
        """Number words and prefixes that occur at least ``least`` times, and all tags.

        What is rarer is unknown in training too, so that there are weights for what is unknown later.
        """
        words = normalized(words)
        return cls(vocabulary(words, least), vocabulary(tags), vocabulary(prefixes(words), least))

    def sentences(self, words: Sequence[bytes], tags: Sequence[bytes], offsets) -> Sentences:
        """Return sentences as features see them."""
        if not len(words) == len(tags) == offsets[-1] - offsets[0]:
            raise ValueError(f"{len(words)} words, {len(tags)} tags and offsets up to {offsets[-1] - offsets[0]}")
        words = normalized(words)
        ids = self.words.ids(words), self.tags.ids(tags), self.prefixes.ids(prefixes(words))
        return Sentences.from_ids(offsets, *ids)


@dataclass
class Parsed:
    """Trees of sentences.

    Attributes
    ----------
    heads : int32 [words]
        0 for the root, 1 to n.
    scores : float64 [sentences]
        The trees' scores; -inf for a flat tree where none could be found.
    flat : bool [sentences]
        Sentences over the limit: they were not parsed and have a flat tree.
    """

    heads: np.ndarray
    scores: np.ndarray
    flat: np.ndarray


@dataclass
class Parser:
    """An edge-factored log-linear model over trees.

    Attributes
    ----------
    lexicon : Lexicon
    space : FeatureSpace
    weights : float64 [space.size]
        With no more digits than a float32 has, so that a saved model is the same model.
    trees : Trees
        Which trees it was trained over, and finds unless told otherwise.
    settings : dict
        What it was trained with, for information; JSON.
    labeler : Labeler or None
    """

    lexicon: Lexicon
    space: FeatureSpace
    weights: np.ndarray
    trees: Trees
    settings: dict
    labeler: Labeler | None = None

    def __post_init__(self):
        self.weights = np.asarray(self.weights, np.float32).astype(np.float64)
        if self.weights.shape != (self.space.size,):
            raise ValueError(f"{self.weights.shape} weights for {self.space.size} features")

    def sentences(self, words: Sequence[bytes], tags: Sequence[bytes], offsets) -> Sentences:
        """Return text as this parser sees it."""
        return self.lexicon.sentences(words, tags, offsets)

    def scores(self, sentences: Sentences, pool: Pool | None = None, only=None) -> np.ndarray:
        """Score every edge [shape=(edges,)]; ``only`` as in `FeatureSpace.scores`."""
        return self.space.scores(self.weights, sentences, pool, only)

    def parse(self, sentences: Sentences, pool: Pool | None = None, trees: Trees | None = None, longest=1000) -> Parsed:
        """Find the best trees.

        Parameters
        ----------
        sentences : Sentences
        pool : Pool, optional
            Does not change the results.
        trees : Trees, optional
            Other ones than the model's own.
        longest : int
            Sentences with more words get a flat tree: the first word under the root, the others under it.
        """
        offsets = sentences.offsets - sentences.offsets[0]
        flat = sentences.lengths > longest
        heads, best = np.ones(int(offsets[-1]), np.int32), np.full(len(sentences), -np.inf)
        heads[offsets[:-1][sentences.lengths > 0]] = 0
        for begin, end in _runs(sentences, flat):
            part = sentences if end - begin == len(sentences) else sentences.part(begin, end)
            found, scores = inference.best_trees(self.scores(part, pool), part.offsets, trees or self.trees, pool)
            heads[offsets[begin] : offsets[end]], best[begin:end] = found, scores
        return Parsed(heads, best, flat)

    def save(self, path):
        """Write the model file: the weights that are not 0, as float32."""
        header = {
            "trees": asdict(self.trees),
            "settings": self.settings,
            "templates": list(self.space.templates),
            "bits": list(self.space.bits),
            "bins": list(self.space.bins),
            "labels": self.labeler is not None,
        }
        places = np.flatnonzero(self.weights).astype(np.int32)
        arrays = {"places": places, "weights": self.weights[places].astype(np.float32)}
        for name in ("words", "tags", "prefixes"):
            part = getattr(self.lexicon, name)
            arrays[f"{name}.blob"], arrays[f"{name}.starts"] = part.blob, part.starts
        if self.labeler is not None:
            arrays |= {f"labeler.{name}": a for name, a in self.labeler.arrays().items()}
        write_model(path, KIND, header, arrays)

    @classmethod
    def load(cls, path):
        """Read a model file.

        Raises
        ------
        ModelError
            When it is not one, or its parts do not fit together.
        """
        header, arrays = read_model(path, KIND)
        with fitting(path):
            space = FeatureSpace(header["templates"], header["bits"], header["bins"])
            lexicon = Lexicon(
                *(Vocabulary.from_arrays(arrays[f"{n}.blob"], arrays[f"{n}.starts"])
                  for n in ("words", "tags", "prefixes"))
            )  # fmt: skip
            places, values = arrays["places"], arrays["weights"]
            if (
                (places.dtype, values.dtype) != (np.int32, np.float32)
                or places.shape != values.shape
                or places.ndim != 1
            ):
                raise ValueError(f"weights are {values.dtype} {values.shape} at {places.dtype} {places.shape}")
            if len(places) and (places[0] < 0 or places[-1] >= space.size or np.any(np.diff(places) <= 0)):
                raise ValueError("weights out of range")
            if not np.all(np.isfinite(values)):
                raise ValueError("weights that are no numbers")
            weights = np.zeros(space.size)
            weights[places] = values
            labeler = None
            if header["labels"]:
                own = {k.removeprefix("labeler."): a for k, a in arrays.items() if k.startswith("labeler.")}
                labeler = Labeler.from_arrays(own)
            return cls(lexicon, space, weights, Trees(**header["trees"]), header["settings"], labeler)


def _runs(sentences, skip):
    """Yield runs of sentences that are not to be skipped, of at most CHUNK edges or one sentence."""
    begin = 0
    while begin < len(sentences):
        if skip[begin]:
            begin += 1
            continue
        end = begin + 1
        while end < len(sentences) and not skip[end] and sentences.edges[end + 1] - sentences.edges[begin] <= CHUNK:
            end += 1
        yield begin, end
        begin = end


def templates_of(name) -> tuple[str, ...]:
    """Return the templates of a set by its name; ValueError if there is none."""
    if name not in SETS:
        raise ValueError(f"no set of features is called '{name}'; there are {', '.join(SETS)}")
    return SETS[name]
