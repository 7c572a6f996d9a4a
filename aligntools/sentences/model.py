"""What groups of sentences score: evidence of words, lengths and vectors, each in log-odds, and its weights.

The score of a group (`kernels_groups.group_score`) is the logarithm of how much more probable its two sides are as
translations than by themselves, plus the logarithm of how frequent groups of its kind are. The score of a path is the
sum of its groups'; sentences without a partner have the frequency alone.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import amounts, counts
from aligntools.sentences import kernels_groups as kernels
from aligntools.sentences import vectors
from aligntools.sentences.band import Band
from aligntools.sentences.kernels_groups import GroupEvidence
from aligntools.sentences.lexicon import GroupLexicon
from aligntools.sentences.text import Text, usual_sizes
from aligntools.words.tokenizers import languages_of


@dataclass(frozen=True)
class Constants:
    """What evidence is worth, and how frequent kinds of groups are (natural logarithms, 1-1 is 0).

    alone, uneven, even: Of a sentence without partner; of a group of 1 and 2; of one of 2 and 2; *_more: each
        sentence more.
    `bench/sentences.py` says which documents they were chosen on: first by the likelihood of gold groups, then by F1.
    """

    lexicon: float
    length: float
    vectors: float
    alone: float
    uneven: float
    uneven_more: float
    even: float
    even_more: float


#: With vectors of sentences, and without.
WITH_VECTORS = Constants(0.35, 1.7, 10.8, -3.5, -2.7, -0.8, -4.8, -1.2)
WITHOUT = Constants(0.65, 1.4, 0.0, -4.5, -2.4, -1.4, -4.3, -0.5)
#: What a group gains less than its chance: a path of fewer groups is taken in doubt.
TOLL = 0.45


#: Of both sides: vectors of sentences, as long as the sentence counts, so that sums of them are means of their words;
#: the mean cosine of each one's nearest; what each one counts, the root of the number of its words, 1 on average.
SentenceSides: TypeAlias = tuple[Sequence[np.ndarray], Sequence[np.ndarray], Sequence[np.ndarray]]


@dataclass(frozen=True, eq=False)
class Model:
    """What scores groups of two documents; ``trust``: how far vectors are believed, 0 to 1.

    kinds (int64 [kinds, 2]): How many source and target sentences a group may have.
    """

    source: Text
    target: Text
    kinds: np.ndarray
    constants: Constants
    lexicon: GroupLexicon | None = None
    sides: SentenceSides | None = None
    trust: float = 1.0

    @property
    def priors(self) -> np.ndarray:
        """How frequent the kinds are (float64 [kinds])."""
        a, b = self.kinds.T
        c = self.constants
        uneven = c.uneven + c.uneven_more * (np.maximum(a, b) - 2)
        even = c.even + c.even_more * (a + b - 4)
        priors = np.where(np.minimum(a, b) == 1, np.where(a == b, 0.0, uneven), even)
        return np.where(np.minimum(a, b) == 0, c.alone, priors)

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """How evidence is weighed; see `kernels_groups.group_score`."""
        c, sizes = self.constants, np.concatenate([self.source.sizes, self.target.sizes])
        background = max(2.0 * float(np.log(sizes + 1.0).var()) if len(sizes) else 1.0, 0.5)
        return c.lexicon, c.length, background, c.vectors * self.trust

    def evidence(self, band: Band) -> GroupEvidence:
        """Return the evidence for the nodes of a band."""
        most = [int(side.max()) for side in self.kinds.T]
        nodes, texts = band.nodes, (self.source, self.target)
        words = [np.zeros((1, 0), np.float32)] * 2
        if self.lexicon is not None:
            words = [np.zeros((count, nodes), np.float32) for count in most]
            for d, turned, out in zip(self.lexicon, (False, True), words, strict=True):
                given, other = texts[::-1] if turned else texts
                own = given.side.tokens, given.side.offsets, other.side.tokens, other.side.offsets
                known = d.ptr, d.ids, d.ratios, d.unknown, np.log(d.unknown), np.zeros(len(other.words), np.float32)
                kernels.lexical_rows(*own, *known, band.begin, band.end, band.at, turned, out)
        products, norms, usual, worth = np.zeros(0, np.float32), *([np.zeros((1, 1))] * 2 for _ in range(3))
        if self.sides is not None:
            states, means, worths = self.sides
            products = np.zeros(nodes, np.float32)
            kernels.products(*states, band.begin, band.end, band.at, products)
            sums = [vectors.group_sums(own, count) for own, count in zip(states, most, strict=True)]
            lengths = [np.stack([np.linalg.norm(total, axis=1) for total in own]) for own in sums]
            norms = [np.asarray(1.0 / np.maximum(own, 1e-9), np.float64) for own in lengths]
            usual = list(map(vectors.group_means, means, most))
            worth = [0.5 * _sums(own, count) for own, count in zip(worths, most, strict=True)]
        ratio = max(1.0, usual_sizes(self.target.sizes).sum()) / max(1.0, usual_sizes(self.source.sizes).sum())
        sizes = [_sums(text.sizes, count) + 1.0 for text, count in zip(texts, most, strict=True)]
        arrays: list[Any] = [band.begin, band.end, band.at, *words, products, *norms, *usual, *worth]
        arrays += [np.log(ratio * (sizes[0] - 1.0) + 1.0), np.log(sizes[1]), 1.0 / sizes[0], 1.0 / sizes[1]]
        arrays += [np.cumsum(self.source.costs), np.cumsum(self.target.costs)]
        return GroupEvidence(*arrays)

    def part(self, rows: slice, columns: slice) -> "Model":
        """Return the model of some sentences of both sides."""
        own: Any = None if self.sides is None else tuple([one[rows], other[columns]] for one, other in self.sides)
        return replace(self, source=self.source.part(rows), target=self.target.part(columns), sides=own)


def _sums(values: np.ndarray, most: int) -> np.ndarray:
    """Return the sums of values of 1 to ``most`` sentences from each one on (float64 [most, sentences])."""
    return np.asarray(np.arange(1, most + 1)[:, None] * vectors.group_means(values, most))


def kinds_of(most_source: int, most_target: int, most: int) -> np.ndarray:
    """Return the kinds of groups (a, b): 1-0, 0-1, and all with a, b and a + b within the limits (int64 [kinds, 2])."""
    both = [(a, b) for a in range(1, most_source + 1) for b in range(1, most_target + 1) if a + b <= max(2, most)]
    return np.array([(1, 0), (0, 1), *both], np.int64)


def best_path(model: Model, band: Band) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the path of most expected right groups in a band: groups (int64 [groups, 4]) and their chances (float64).

    The last is the logarithm of the summed scores of all paths, less the score of the one that leaves all alone.
    """
    evidence, weights, priors = model.evidence(band), model.weights, model.priors
    nodes = band.nodes
    scores = np.empty((int((band.end - band.begin).max()), len(priors)))
    alpha, beta, gain = np.empty(nodes), np.empty(nodes), np.empty(nodes)
    choice, chance = np.empty(nodes, np.int8), np.empty(nodes, np.float32)
    total = kernels.forward(model.kinds, priors, evidence, weights, scores, alpha)
    kernels.backward(model.kinds, priors, evidence, weights, scores, alpha, TOLL, beta, gain, choice, chance)
    n, m = len(model.source), len(model.target)
    groups, chances = list[tuple[int, int, int, int]](), list[float]()
    i = j = 0
    while (i, j) != (n, m):
        node = int(band.at[i] + j - band.begin[i])
        a, b = model.kinds[choice[node]].tolist() if choice[node] >= 0 else (0, 0)
        if not (a or b):
            raise ValueError(f"no path from ({i}, {j})")
        groups.append((i, i + a, j, j + b))
        chances.append(float(chance[node]))
        i, j = i + a, j + b
    alone = float(priors[0] * n + priors[1] * m)
    return np.array(groups, np.int64).reshape(-1, 4), np.array(chances), float(total) - alone


_GROUPS, _KNOWN, _READING = "Groups", "What is known beforehand", "Documents"


@documented
@dataclass(frozen=True)
class SentenceSettings(Settings):
    """How the sentences of two documents are aligned."""

    group_size: int = option(
        5,
        "Most sentences of a group on either side; both sides together have two more at most.",
        allowed=counts(1, 20),
        group=_GROUPS,
    )
    moved: bool = option(True, "Find sections that stand elsewhere in the other document.", group=_GROUPS)
    min_score: float = option(
        0.0,
        "Leave out groups that are less probable than this; their sentences count as without a partner.",
        allowed=amounts(0, 1),
        group=_GROUPS,
    )
    encoder: str | bool | os.PathLike[str] | None = option(
        None,
        "Compare sentences by their vectors: those of the extra aligntools[encoder] or, with DIR, of an encoder in a"
        " folder with config.json, tokenizer.json and model.safetensors or model.onnx.",
        otherwise="the extra's, where it is installed",
        group=_KNOWN,
        metavar="[DIR]",
    )
    dictionary: tuple[str | os.PathLike[str], ...] = option(
        (),
        "Start from the words of a dictionary, in any of its known forms. May be given several times.",
        group=_KNOWN,
        metavar="FILE",
    )
    priors: tuple[str | os.PathLike[str], ...] = option(
        (),
        "Start from counts of linked words in other text, in eflomal's form. May be given several times.",
        group=_KNOWN,
        metavar="FILE",
    )
    vectors: tuple[str, str] | None = option(
        None,
        "Start from vectors of source and target words in one space: text files as fastText, word2vec (.vec) and GloVe"
        " write them.",
        group=_KNOWN,
        metavar="FILE FILE",
    )
    anchors: str | None = option(
        None,
        "Lines that are this alone, such as <p> or .EOA, are no sentences; they stand at the same places of both"
        " documents. A number is the column of ids in lines 'id TAB sentence': where both have an id, places are the"
        " same.",
        group=_READING,
        metavar="TEXT|COLUMN",
    )

    split_sentences: str | None = option(
        None,
        "The documents are raw paragraphs in these languages: cut them into sentences. Lines without a blank line"
        " between are one paragraph; in text without blank lines each line is one.",
        group=_READING,
        metavar="SRC-TGT",
    )

    def rules(self) -> None:
        """Refuse empty names, and what names no languages."""
        if self.anchors is not None and not self.anchors.strip(" \t"):
            raise UsageProblem("`anchors`: a line that has nothing on it marks nothing; blank lines are paragraphs")
        if self.split_sentences is not None:
            languages_of(self.split_sentences, "`split_sentences` takes")
        if self.vectors is not None and (isinstance(self.vectors, str) or len(self.vectors) != 2):
            raise UsageProblem("`vectors` takes two files: vectors of source words and of target words")
        if self.encoder == "":
            raise UsageProblem("`encoder`: the name is empty")
