"""Runs every kernel once on a few words."""

import numpy as np

from aligntools.ground.parallel import Pool
from aligntools.tagging.chains.chain import Chain, ChainText, posterior_decode, viterbi
from aligntools.tagging.chains.induction import induce
from aligntools.tagging.chains.reconstruction import reconstruct
from aligntools.tagging.induced import from_chain
from aligntools.tagging.sequences import Sequences
from aligntools.tagging.settings import DECODERS, InductionSettings, TaggerSettings
from aligntools.tagging.supervised.training import train_supervised


def warm(pool: Pool) -> None:
    """Compile what training a tagger, inducing one and tagging use."""
    words, tags = b"a dog barks . the dogs bark .".split(), b"D N V P D N V P".split()
    offsets = np.array([0, 4, 8], np.int64)
    tokens = np.array([0, 1, 2, 3, 0, 1, 2, 3], np.int32)
    text = ChainText(tokens, offsets, 4)
    chain = induce(tokens, offsets, 4, pool, InductionSettings(2, iterations=1)).chain
    chain, _ = reconstruct(chain, text, pool, 1)
    posterior_decode(chain, text, pool)
    viterbi(chain, text, pool)
    even = Chain(np.full(2, 0.5), np.full((2, 2), 0.4), np.full(2, 0.2), np.full((2, 2), 0.5))
    for tagger in (
        train_supervised(words, offsets, tags, pool, TaggerSettings(latent=2, members=2, iterations=1)),
        from_chain(even, words[:2], np.ones((2, 2))),
    ):
        for decoder in DECODERS:
            tagger.tag(words, offsets, pool, decoder)
        own = Sequences(tagger, words, offsets, pool)
        own.log_probabilities()
        own.best(2)
        own.samples(1, 1)
