"""One member of a model: everything learned from one view of the text, as arrays."""

from dataclasses import dataclass, field

import numpy as np

from aligntools.aligning.models.estimation import Lexicon
from aligntools.aligning.text.cooccurrence import Table


@dataclass
class SamplerCounts:
    """What the sampler of one direction learned, averaged over its later sweeps.

    Attributes
    ----------
    pairs : float32 [n_pairs]
    words : float64 [n_conditioning_words + 2]
        Last two: words linked to NULL, and all jumps.
    types : float32 [n_conditioning_words]
    null : float64 [n_observed_words + 1]
    jumps : float64 [2 * JUMPS + 1]
    fertility : float32 [n_conditioning_words, FERTILITIES]
    """

    pairs: np.ndarray
    words: np.ndarray
    types: np.ndarray
    null: np.ndarray
    jumps: np.ndarray
    fertility: np.ndarray


@dataclass
class Member:
    """A trained HMM or IBM model of one view, with the sampler's counts for a fertility model.

    Attributes
    ----------
    view : int
        Letters that words are cut to; 0 for whole words.
    s_words, t_words : list of str
        The view's words, NULL first.
    s_map, t_map : int32 [n_vocabulary + 1]
        From the vocabulary's ids to the view's; the last place is for unknown words.
    s_keys, t_keys : int32 [3, n_view_words + 1]
        See ``look_alike_keys``; zeros in the last place.
    table, lexicon
        The sparse table and its values.
    counts : list of float32 [n_pairs]
        What the values were estimated from: one array when joint, else forward and reverse.
    tiers : float64 [4]
        Priors of look-alike pairs.
    s_null, t_null : float32 [n_view_words + 1]
        Probability of each word under NULL.
    jumps, p_null, tension : float32 [2, JUMP_SIZE], float32 [2], float64 [2]
        Forward, then reverse.
    sampler : list of SamplerCounts
        Forward and reverse; empty without.
    positions : list of Positions
        IBM 2's tables, forward and reverse; empty with the diagonal.
    """

    view: int
    s_words: list
    t_words: list
    s_map: np.ndarray
    t_map: np.ndarray
    s_keys: np.ndarray
    t_keys: np.ndarray
    table: Table
    lexicon: Lexicon
    counts: list
    tiers: np.ndarray
    s_null: np.ndarray
    t_null: np.ndarray
    jumps: np.ndarray
    p_null: np.ndarray
    tension: np.ndarray
    sampler: list = field(default_factory=list)
    positions: list = field(default_factory=list)
