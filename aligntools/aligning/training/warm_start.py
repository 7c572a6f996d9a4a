"""An older model's members on a new text: where reconstruction starts when it does not start from its own EM."""

import numpy as np

from aligntools.aligning.models.estimation import Lexicon
from aligntools.aligning.models.member import Member
from aligntools.aligning.models.position_tables import Positions
from aligntools.aligning.text.cooccurrence import build_table
from aligntools.aligning.training.stages import old_values, side_view, unigrams


def adopt(bitext, members, settings, pool):
    """Return members for a text that hold what older members say of its words.

    Parameters
    ----------
    bitext : Bitext
    members : list of Member
        Of any alignment model; what a sampler learned is left behind.
    settings : Settings, resolved
        What is to be trained; its views are the members'.

    Returns
    -------
    list of Member
        Pairs of words that an older member does not have get its value for such pairs, words that it does not
        know all their pairs alike. Only `Lexicon.forward` and `Lexicon.reverse` are probabilities up to a factor
        a word, and ``counts`` are empty: something is to be trained from here.
    """
    return [_adopted(bitext, old, settings, pool) for old in members]


def _adopted(bitext, old, settings, pool):
    source, s_words, s_map, s_keys = side_view(bitext.source, bitext.source_vocabulary, old.view)
    target, t_words, t_map, t_keys = side_view(bitext.target, bitext.target_vocabulary, old.view)
    table, _ = build_table(source, target, len(s_words), len(t_words), pool, settings.keep, settings.p_null)
    lexicon = old.lexicon
    both = [lexicon.forward] if lexicon.reverse is lexicon.forward else [lexicon.forward, lexicon.reverse]
    values = old_values(table, s_words, t_words, old, both, lexicon.default)
    ones = [np.ones(len(words) + 1, np.float32) for words in (s_words, t_words)]
    tension = old.tension if old.tension.any() else np.full(2, settings.tension if settings.favor_diagonal else 0.0)
    positions = []
    if settings.positions == "table":
        lengths = source.lengths(), target.lengths()
        before = old.positions or [None, None]
        positions = [_positions(*lengths[::way], tension[0], p) for way, p in zip((1, -1), before, strict=True)]
    return Member(
        old.view, s_words, t_words, s_map, t_map, s_keys, t_keys, table,
        Lexicon(values[0], values[-1], *ones, lexicon.default, lexicon.floors), [], np.zeros(4),
        _null(source, s_words, old.s_words, old.s_null), _null(target, t_words, old.t_words, old.t_null),
        old.jumps, old.p_null, tension.copy(), positions=positions,
    )  # fmt: skip


def _null(side, words, old_words, old_null):
    """Map the probabilities under NULL to a new vocabulary; a new word's is that of its share of the text, at most."""
    known = {w: i for i, w in enumerate(old_words)}
    out, _ = unigrams(side, len(words))
    for i, word in enumerate(words):
        if word in known:
            out[i] = old_null[known[word]]
    return out


def _positions(given, observed, tension, old):
    """Return a table for the text's lengths, with the older one's blocks where it has them."""
    table = Positions.of_lengths(given, observed, tension)
    if old is None:
        return table
    own = {tuple(shape): s for s, shape in enumerate(old.shapes.tolist())}
    for s, shape in enumerate(table.shapes.tolist()):
        if tuple(shape) in own:
            t = own[tuple(shape)]
            table.values[table.starts[s] : table.starts[s + 1]] = old.values[old.starts[t] : old.starts[t + 1]]
    return table
