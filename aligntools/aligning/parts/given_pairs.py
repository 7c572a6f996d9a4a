"""Priors of a text in parts: pseudo-counts of pairs of words for each view and shard.

Priors are kept once, by words, before training. Each view keeps the pairs of its own words. In every M-step a shard
adds the pseudo-counts of its rows to the counts, as training in memory does.
"""

from typing import Any

import numpy as np

from aligntools.aligning.parts.words import SIDES
from aligntools.aligning.parts.work import ViewWork, words_named
from aligntools.aligning.settings import PriorWeights
from aligntools.aligning.text.cooccurrence import Table
from aligntools.aligning.training.view_priors import found_in, ids_in, tell_foreign
from aligntools.formats.links.priors import Counted, Priors
from aligntools.ground.errors import UsageProblem
from aligntools.store.stores import Store
from aligntools.words.vocabulary import Vocabulary

#: The name that they are kept under.
GIVEN = "given"


def in_parts(priors: Priors, weights: PriorWeights, lowercase: bool) -> Priors:
    """Return priors of other text as text in parts takes them: pairs of words, weighed, in the case of the text.

    Raises UsageProblem when they have what is given to text in memory alone.
    """
    for name in ("prior_fertility", "prior_jumps"):
        if getattr(weights, name):
            raise UsageProblem(f"`{name}` is for text in memory; in parts `priors` give links of words alone")
    if not priors.lexical.keys.all():
        raise UsageProblem("`priors` have links to <NULL>, which are for text in memory; leave them out")
    lexical = Counted(priors.lexical.keys, priors.lexical.alphas * weights.prior_lexical)
    found = Priors(priors.source_vocabulary, priors.target_vocabulary, lexical)
    return in_lower_case(found) if lowercase else found


def in_lower_case(priors: Priors) -> Priors:
    """Return priors of words in lower case, as training in memory puts them; those of words that become one add."""
    (source, s_ids), (target, t_ids) = priors.source_vocabulary.folded(), priors.target_vocabulary.folded()
    s, t = priors.lexical.keys.T
    return Priors(source, target, Counted.of((s_ids[s], t_ids[t]), priors.lexical.alphas))


def keep_priors(store: Store, name: str, priors: Priors, about: dict[str, Any] | None = None) -> None:
    """Keep the pairs of words of priors, which count in full."""
    words = zip(SIDES, (priors.source_vocabulary, priors.target_vocabulary), strict=True)
    arrays = {key: array for side, one in words for key, array in words_named(side, one).items()}
    store.write(name, about, keys=priors.lexical.keys, alphas=priors.lexical.alphas, **arrays)


def kept_priors(store: Store, name: str) -> Priors:
    """Return priors that were kept."""
    a = store.read_all(name)
    source, target = (Vocabulary(a[f"{side}.blob"], a[f"{side}.starts"]) for side in SIDES)
    return Priors(source, target, Counted(a["keys"], a["alphas"]))


def number_given(view_work: ViewWork) -> None:
    """Keep the pairs of priors in the ids of a view's words, if there are any."""
    store, name = view_work.store, view_work.name(GIVEN)
    if not store.has(GIVEN) or store.has(name):
        return
    given = kept_priors(store, GIVEN)
    columns = []
    for k, (side, words) in enumerate(zip(SIDES, (given.source_vocabulary, given.target_vocabulary), strict=True)):
        names = Vocabulary(*store.read(view_work.name("vocabulary"), f"{side}.blob", f"{side}.starts"))
        known = {word: i for i, word in enumerate(names.words())}
        columns.append(ids_in(words, known, view_work.letters)[given.lexical.keys[:, k]])
    kept = (columns[0] > 0) & (columns[1] > 0)
    if len(kept) and not kept.any() and not view_work.number:
        tell_foreign(len(kept))
    keys, places = np.unique((columns[0][kept] << 32) | columns[1][kept], return_inverse=True)
    store.write(name, keys=keys, alphas=np.bincount(places, given.lexical.alphas[kept], len(keys)).astype(np.float32))


def of_shard(view_work: ViewWork, table: Table, first: int) -> np.ndarray | None:
    """Return the pseudo-counts of a shard, whose rows begin with source word ``first``; None without priors.

    Returns float32 [pairs of the table] or None.
    """
    name = view_work.name(GIVEN)
    if not view_work.store.has(name):
        return None
    keys, alphas = view_work.store.read(name, "keys", "alphas")
    rows = np.repeat(np.arange(table.n_source, dtype=np.int64) + first, np.diff(table.ptr))
    return found_in((rows << 32) | table.ids, keys, alphas)
