"""Runs every kernel of parsing once on a few words."""

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.ground.parallel import Pool
from aligntools.parsing.learning import treebank
from aligntools.parsing.settings import ParserSettings, TransferSettings, TreeConstraints
from aligntools.parsing.text import TaggedText
from aligntools.parsing.transfer import learning
from aligntools.parsing.trees import inference
from aligntools.parsing.unsupervised import training as unsupervised
from aligntools.parsing.unsupervised.valence import expected_counts


def warm(pool: Pool) -> None:
    """Compile what training parsers, transferring them and parsing use."""
    words, tags = b"a dog barks . the dogs bark .".split(), b"D N V P D N V P".split()
    offsets = np.array([0, 4, 8], np.int64)
    heads = np.array([2, 3, 0, 3, 2, 3, 0, 3], np.int32)
    odd = np.array([0, 0, 1, 2, 3, 4, 0, 3], np.int32)  # two roots; crossing edges
    text, links = TaggedText(words, tags, offsets), Links.from_lists([[(k, k) for k in range(4)]] * 2)
    induced, _ = unsupervised.train(tags, offsets, pool=pool)
    induced.parse(induced.sentences(words, [*tags[:-1], b"."], offsets), pool)  # punctuation is attached apart
    ids = np.zeros(300, np.int32)
    expected_counts(induced.parameters, ids, np.array([0, 300], np.int64), pool)  # the sums in log space
    for projective in (True, False):
        settings = ParserSettings(bits=8, min_count=1, projective=projective, iterations=2)
        treebank.train(words, tags, offsets, odd, [b"x"] * 8, settings, pool)
        parser, _ = treebank.train(words, tags, offsets, heads, [b"x"] * 8, settings, pool)
        sentences = parser.sentences(words, tags, offsets)
        found = parser.parse(sentences, pool)
        assert parser.labeler is not None
        parser.labeler.label(sentences, found.heads)
        for method in ("full", "projected"):
            chosen = TransferSettings(
                bits=8, min_count=1, projective=projective, method=method, iterations=2, rounds=1, l2=1.0
            )
            learning.train([learning.Side(parser, text, text, links)], text, chosen, pool)
        scores = np.linspace(-1e4, 1e4, int(sentences.edges[-1]))  # far apart: the sums in log space
        scores[:20], scores[[2, 6]] = -1e3, 0.0  # two words that want each other as head
        trees = TreeConstraints(projective)
        inference.sums(scores, offsets, trees, pool)
        inference.entropy(scores, offsets, trees, pool)
