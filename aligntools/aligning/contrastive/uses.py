"""How the words of a base model are used in the text that it was trained on: how often they occur and are linked."""

from weakref import WeakKeyDictionary

import numpy as np

from aligntools.aligning.contrastive.kernels_local_features import Uses
from aligntools.aligning.models.base import LexicalModel, WordLinks
from aligntools.aligning.text.cooccurrence import Table

#: Least and greatest LINKS_EACH of a word, in logarithms.
FEWEST, MOST = -4.0, 2.0
#: If no word has more links than this, they are sums of a table's probabilities, not counts.
A_TABLE = 1.01

#: Sums over a model's table, kept because a service aligns pair by pair.
_found: WeakKeyDictionary[LexicalModel, Uses] = WeakKeyDictionary()


def uses_of(model: LexicalModel) -> Uses:
    """Return the expected links of one view's pairs and words, its own if it counted any, and its words' uses.

    A word occurs as often as the opposite direction links it, to words or to NULL. Without such counts it occurs as
    often as it is linked. In tables that other aligners wrote it occurs in proportion to its probability under NULL,
    once for the rarest word. In both cases it has one link each time.
    """
    found = _found.get(model)
    if found is None:
        links = model.word_links()
        found = _found[model] = _expected(model) if links is None else _counted(model.table, links)
    return found


def _counted(table: Table, links: WordLinks) -> Uses:
    (forward, reverse), (s_words, t_words), (t_null, s_null) = links.pairs, links.words, links.null
    s_linked, t_linked = links.linked or (table.row_sums(reverse), table.column_sums(forward))
    s_linked, t_linked = s_linked[: len(s_words)], t_linked[: len(t_words)]
    of_texts = text_columns(s_words, s_linked + s_null), text_columns(t_words, t_linked + t_null)
    return Uses(forward, s_words, reverse, t_words, *of_texts)


def _expected(model: LexicalModel) -> Uses:
    lexicon = model.lexicon
    s_words, t_words = (1.0 / x[:-1].astype(np.float64) for x in (lexicon.s_inverse, lexicon.t_inverse))
    often = [_occurrences(s_words, model.s_null), _occurrences(t_words, model.t_null)]
    return Uses(lexicon.forward, s_words, lexicon.reverse, t_words, *(text_columns(x, x) for x in often))


def _occurrences(words: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Estimate how often a side's words occur, from their links or from their probabilities under NULL."""
    if words.max(initial=0.0) > A_TABLE:
        return words
    of_null = null[: len(words)].astype(np.float64)
    times: np.ndarray = of_null / max(of_null[1:].min(initial=1.0), 1e-9)
    return times


def text_columns(links: np.ndarray, occurrences: np.ndarray) -> np.ndarray:
    """Return the OCCURRENCES and LINKS_EACH of a side's words, float32 [n_words + 1, 2]; unknown words are last.

    links, occurrences (float64 [n_words]): Expected links of each word, and how often it is in the text.
    """
    links, occurrences = np.append(links, 0.0), np.append(occurrences, 0.0)
    each = np.clip(np.log((links + 0.5) / (occurrences + 1.0)), FEWEST, MOST)
    return np.stack([np.log(occurrences + 1.0), each], axis=1).astype(np.float32)
