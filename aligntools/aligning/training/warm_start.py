"""Older models on a new text: the start of reconstruction if it does not start from its own EM."""

import numpy as np

from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.lexical import LexicalFields, Lexicon
from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.settings import ResolvedSettings
from aligntools.aligning.text.cooccurrence import build_table, unigrams
from aligntools.aligning.text.kernels_look_alikes import TIERS
from aligntools.aligning.text.views import view_text
from aligntools.aligning.training.stages import old_values
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.ground.parallel import Pool


def warm_start(
    bitext: Bitext, models: list[LexicalModel], settings: ResolvedSettings, pool: Pool
) -> list[LexicalModel]:
    """Return models for a text that hold what older models know of its words.

    models: Of any kind; the counts of a sampler are not used.
    settings: What is to be trained; its views are the models'.
    Returns pairs of words that an older model does not have get its value for such pairs. `Lexicon.forward` and
    `Lexicon.reverse` are probabilities up to a factor for each word. ``counts`` are empty: the models are a start for
    training, and are not applied.
    """
    return [_started(bitext, old, settings, pool) for old in models]


def _started(bitext: Bitext, old: LexicalModel, settings: ResolvedSettings, pool: Pool) -> LexicalModel:
    text = view_text(bitext, old.letters)
    words = text.words
    sizes = len(words.s_words), len(words.t_words)
    table, _ = build_table(text.source, text.target, *sizes, pool, settings.keep, settings.p_null)
    lexicon = old.lexicon
    both = [lexicon.forward] if lexicon.reverse is lexicon.forward else [lexicon.forward, lexicon.reverse]
    values = old_values(table, words, old, both, lexicon.default)
    fields: LexicalFields = {
        "words": words,
        "table": table,
        "counts": [],
        "tiers": np.zeros(TIERS),
        "p_null": old.p_null,
        "lexicon": Lexicon(
            values[0],
            values[-1],
            np.ones(sizes[0] + 1, np.float32),
            np.ones(sizes[1] + 1, np.float32),
            lexicon.default,
            lexicon.floors,
        ),
        "s_null": _null(text.source, words.s_words, old.words.s_ids, old.s_null),
        "t_null": _null(text.target, words.t_words, old.words.t_ids, old.t_null),
    }
    of: type[LexicalModel] = kind_of(settings.model_type).load()
    return of.on_text(fields, old, text, settings)


def _null(side: Side, words: list[str], known: dict[str, int], old_null: np.ndarray) -> np.ndarray:
    """Map the probabilities under NULL to a new vocabulary; new words get their share of the text."""
    out, _ = unigrams(side, len(words))
    for i, word in enumerate(words):
        if word in known:
            out[i] = old_null[known[word]]
    return out
