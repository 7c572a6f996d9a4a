"""Parsers for languages without treebanks, learned through parallel text (Ma & Xia 2014) and plain text.

A source parser and one-to-one word alignments give a distribution over the trees of each target sentence; the target
parser is trained to have the least cross-entropy with it, and little entropy of its own on plain sentences.
"""

import numpy as np

from aligntools.formats.vocabulary import Vocabulary
from aligntools.ground.parallel import Pool, balanced_blocks
from aligntools.parsing import inference
from aligntools.parsing import kernels_transfer as kernels
from aligntools.parsing.features import TAGS, FeatureSpace, Sentences
from aligntools.parsing.inference import BLOCKS, Trees
from aligntools.parsing.parser import Lexicon, Parser

#: What is transferred of an edge, and the least probability of one.
WEIGHTS = ("posterior", "score")
LEAST = 1e-6


def one_to_one(pairs, link_offsets, offsets) -> np.ndarray:
    """Find each target word's only partner.

    Parameters
    ----------
    pairs : int32 [links, 2]
        Source and target positions, from 0.
    link_offsets : int64 [sentences + 1]
    offsets : int64 [sentences + 1]
        Over target words.

    Returns
    -------
    int32 [target words]
        The source word's position, from 0; -1 for words with no link or several, or whose partner has several.
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


def _in_blocks(pool, sentences, work):
    blocks = balanced_blocks((sentences.lengths + 1.0) ** 2, BLOCKS)
    if pool is None:
        for block in blocks:
            work(block)
    else:
        pool.map(work, blocks)


def transferring_scores(
    parser: Parser, source: Sentences, target: Sentences, aligned, pool: Pool | None = None, weights="score"
) -> np.ndarray:
    """Compute the logarithms of the transferring weights (Ma & Xia 2014, equation 8).

    Parameters
    ----------
    parser : Parser
        Of the source language.
    source, target : Sentences
        Both as the source parser sees them; of the target side only the tags matter.
    aligned : int32 [target words]
        See `one_to_one`.
    pool : Pool, optional
    weights : str
        Of `WEIGHTS`: ``score`` is equation 8 as it stands. The scores of two sentences have no common scale, though:
        a constant for each word makes no difference within one, but does where a word's heads come from both.
        ``posterior`` takes the logarithm of each edge's probability in its own sentence instead, at least `LEAST`.

    Returns
    -------
    float64 [target edges]
        The source parser's score of the aligned source edge where both ends are aligned (the root is, with the
        root), else its score of the edge with delexicalized features alone.
    """
    scores = parser.scores(target, pool, only=TAGS)
    theirs = parser.scores(source, pool)
    if weights == "posterior":
        scores, theirs = (_posteriors(s, x, parser.trees, pool) for s, x in ((scores, target), (theirs, source)))
    words = target.offsets - target.offsets[0]

    def work(block):
        kernels.transfer_edges(
            aligned, words, target.lengths, target.edges, *block, theirs, source.lengths, source.edges, scores
        )

    _in_blocks(pool, target, work)
    return scores


def _posteriors(scores, sentences, trees, pool):
    found = inference.sums(scores, sentences.offsets, trees, pool).marginals
    return np.log(np.clip(found, LEAST, 1.0))


def expected_edges(
    parser: Parser, source: Sentences, target: Sentences, aligned, trees: Trees, pool=None, weights="score"
) -> np.ndarray:
    """Return the edge marginals of the transferring distribution (equation 9) [shape=(target edges,)]."""
    scores = transferring_scores(parser, source, target, aligned, pool, weights)
    return inference.sums(scores, target.offsets, trees, pool).marginals


def agreement(source_heads, source: Sentences, target: Sentences, aligned, pool: Pool | None = None) -> np.ndarray:
    """Say which target edges a source tree speaks for (1) and against (-1).

    Parameters
    ----------
    source_heads : int32 [source words]
    source, target : Sentences
    aligned : int32 [target words]
        See `one_to_one`.

    Returns
    -------
    float64 [target edges]
        See `kernels_transfer.agreement`.
    """
    values = np.zeros(int(target.edges[-1]))
    words, theirs = target.offsets - target.offsets[0], source.offsets - source.offsets[0]

    def work(block):
        kernels.agreement(aligned, words, target.lengths, target.edges, *block, source_heads, theirs, values)

    _in_blocks(pool, target, work)
    return values


def direct(parser: Parser) -> Parser:
    """Return the parser without its words: what McDonald, Petrov & Hall (2011) transfer directly.

    Parameters
    ----------
    parser : Parser
        Of the source language; without templates beyond `TAGS` it is returned as it is.
    """
    use = [t for t, name in enumerate(parser.space.templates) if name in TAGS]
    if len(use) == len(parser.space.templates):
        return parser
    space = FeatureSpace(
        [parser.space.templates[t] for t in use], [parser.space.bits[t] for t in use], parser.space.bins
    )
    weights = np.concatenate([parser.weights[slice(*parser.space.regions[t])] for t in use])
    none = Vocabulary.from_bytes([])
    return Parser(Lexicon(none, parser.lexicon.tags, none), space, weights, parser.trees, parser.settings, None)
