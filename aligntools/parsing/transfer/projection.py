"""Parsers for languages without treebanks, learned through parallel text (Ma & Xia 2014) and unlabeled text.

A source parser and one-to-one word alignments give a distribution over the trees of each target sentence; the target
parser is trained to have the least cross-entropy with it, and little entropy of its own on unlabeled sentences.
"""

import numpy as np

from aligntools.ground.parallel import Pool, balanced_blocks, over
from aligntools.parsing.feature_space import TAGS, EncodedSentences, FeatureSpace, Vocabularies
from aligntools.parsing.parser import ParserModel
from aligntools.parsing.settings import TreeConstraints
from aligntools.parsing.transfer import kernels_transfer as kernels
from aligntools.parsing.trees import inference
from aligntools.parsing.trees.inference import BLOCKS
from aligntools.words.vocabulary import Vocabulary

#: Least probability of an edge that is transferred.
LEAST = 1e-6
#: Power of the probabilities that two parsers of unlabeled text give together.
SHARPER = 2.0


def one_to_one(pairs: np.ndarray, link_offsets: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the only partner of each target word, int32 [target words]; -1 where one of the two has other links too.

    pairs (int32 [links, 2]): Source and target positions, from 0. offsets (int64 [sentences + 1]): Over target words.
    """
    offsets, sentence = np.asarray(offsets), np.repeat(np.arange(len(offsets) - 1), np.diff(link_offsets))
    aligned = np.full(int(offsets[-1] - offsets[0]), -1, np.int32)
    if not len(pairs):
        return aligned
    width = int(pairs.max()) + 1
    source = sentence * width + pairs[:, 0]
    target = (offsets[:-1] - offsets[0])[sentence] + pairs[:, 1]
    _, inverse, counts = np.unique(source, return_inverse=True, return_counts=True)
    only = (counts[inverse] == 1) & (np.bincount(target, minlength=len(aligned))[target] == 1)
    aligned[target[only]] = pairs[only, 0]
    return aligned


def _blocks(sentences: EncodedSentences) -> list[tuple[int, int]]:
    return balanced_blocks((sentences.lengths + 1.0) ** 2, BLOCKS)


def transferring_scores(
    parser: ParserModel,
    source: EncodedSentences,
    target: EncodedSentences,
    aligned: np.ndarray,
    pool: Pool | None = None,
    transferred: str = "score",
    direct_scores: np.ndarray | None = None,
) -> np.ndarray:
    """Return the logarithms of the transferring weights (Ma & Xia 2014, equation 8), float64 [target edges].

    They are the source parser's scores of aligned source edges, and of other edges those of tags alone, or
    ``direct_scores``. ``score`` is equation 8 as it stands; since a constant for all heads of a word matters where
    they come from two sentences, ``posterior`` takes each edge's log-probability in its own sentence, at least `LEAST`.
    """
    scores = parser.scores(target, pool, only=TAGS) if direct_scores is None else direct_scores.copy()
    theirs = parser.scores(source, pool)
    if transferred == "posterior":
        scores, theirs = (_posteriors(s, x, parser.constraints, pool) for s, x in ((scores, target), (theirs, source)))
    own = aligned, target.offsets - target.offsets[0], target.lengths, target.edges
    given = theirs, source.lengths, source.edges, scores
    over(pool, lambda block: kernels.transfer_edges(*own, *block, *given), _blocks(target))
    return scores


def _posteriors(
    scores: np.ndarray, sentences: EncodedSentences, constraints: TreeConstraints, pool: Pool | None
) -> np.ndarray:
    found = inference.sums(scores, sentences.offsets, constraints, pool)[1]
    return np.asarray(np.log(np.clip(found, LEAST, 1.0)))


def agreement(
    source_heads: np.ndarray,
    source: EncodedSentences,
    target: EncodedSentences,
    aligned: np.ndarray,
    pool: Pool | None = None,
) -> np.ndarray:
    """Return which target edges a source tree supports (1) and which it contradicts (-1), float64 [target edges].

    source_heads (int32 [source words]), aligned (int32 [target words]): See `one_to_one`.
    """
    values = np.zeros(int(target.edges[-1]))
    own = aligned, target.offsets - target.offsets[0], target.lengths, target.edges
    given = source_heads, source.offsets - source.offsets[0], values
    over(pool, lambda block: kernels.agreement(*own, *block, *given), _blocks(target))
    return values


def shared_edges(
    own: np.ndarray,
    others: list[np.ndarray],
    share: float,
    offsets: np.ndarray,
    constraints: TreeConstraints,
    pool: Pool | None = None,
) -> np.ndarray:
    """Return the edge probabilities that a parser and others give together, more certain than those of either.

    They are the marginals of trees whose edges have the squares of the mean probabilities for factors.
    own, others (float64 [edges]): Scores.
    """
    mine, *theirs = (inference.sums(scores, offsets, constraints, pool)[1] for scores in (own, *others))
    mixed = (1 - share) * mine + share * np.mean(theirs, axis=0)
    return inference.sums(SHARPER * np.log(np.clip(mixed, LEAST, 1.0)), offsets, constraints, pool)[1]


def direct(parser: ParserModel, labels: bool = True) -> ParserModel:
    """Return the parser without its words: what McDonald, Petrov & Hall (2011) transfer directly.

    labels: Whether to keep its labels, where it has any: found from tags alone, too.
    """
    use = [t for t, name in enumerate(parser.space.templates) if name in TAGS]
    labeler = parser.labeler.without_words() if labels and parser.labeler is not None else None
    if len(use) == len(parser.space.templates) and labeler is parser.labeler is None:
        return parser
    space = FeatureSpace(
        [parser.space.templates[t] for t in use], [parser.space.bits[t] for t in use], parser.space.bins
    )
    weights = np.concatenate([parser.weights[slice(*parser.space.regions[t])] for t in use])
    none = Vocabulary.from_bytes([])
    return ParserModel(
        Vocabularies(none, parser.vocabularies.tags, none), space, weights, parser.constraints, parser.settings, labeler
    )
