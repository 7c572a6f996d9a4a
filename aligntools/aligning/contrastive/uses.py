"""How the words of a base model are used in the text that it was trained on: how often they occur and are linked."""

from weakref import WeakKeyDictionary

import numpy as np

from aligntools.aligning.contrastive.kernels_local_features import Uses
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.fertility import Fertility

#: What LINKS_EACH of a word is cut to, in logarithms.
FEWEST, MOST = -4.0, 2.0

#: Sums over a model's table, which a service that aligns pair by pair would else take for each of them.
_found: WeakKeyDictionary[LexicalModel, Uses] = WeakKeyDictionary()


def uses_of(model: LexicalModel) -> Uses:
    """Return one view's expected links of pairs and of words, the sampler's if it has them, and of its text's words.

    How often words occur is what the opposite direction explains of them: by links, and by NULL. A model without the
    sampler does not know that; its words have one link each time.
    """
    found = _found.get(model)
    if found is None:
        found = _found[model] = _sampled(model) if isinstance(model, Fertility) else _expected(model)
    return found


def _sampled(model):
    (forward, reverse), table = model.sampler, model.table
    s_words, t_words = forward.words[:-1], reverse.words[:-1]
    s_linked, t_linked = table.row_sums(reverse.pairs)[: len(s_words)], table.column_sums(forward.pairs)[: len(t_words)]
    of_texts = text_columns(s_words, s_linked + reverse.null[:-1]), text_columns(t_words, t_linked + forward.null[:-1])
    return Uses(forward.pairs, s_words, reverse.pairs, t_words, *of_texts)


def _expected(model):
    lexicon = model.lexicon
    s_words, t_words = (1.0 / x[:-1].astype(np.float64) for x in (lexicon.s_inverse, lexicon.t_inverse))
    of_texts = text_columns(s_words, s_words), text_columns(t_words, t_words)
    return Uses(lexicon.forward, s_words, lexicon.reverse, t_words, *of_texts)


def text_columns(links, occurrences):
    """Return the OCCURRENCES and LINKS_EACH of a side's words, float32 [n_words + 1, 2]; unknown words are last.

    Parameters
    ----------
    links, occurrences : float64 [n_words]
        Expected links of each word, and how often it is in the text.
    """
    links, occurrences = np.append(links, 0.0), np.append(occurrences, 0.0)
    each = np.clip(np.log((links + 0.5) / (occurrences + 1.0)), FEWEST, MOST)
    return np.stack([np.log(occurrences + 1.0), each], axis=1).astype(np.float32)
