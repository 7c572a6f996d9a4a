"""Words that a model has not seen: each is taken for the mean of the words that the model has seen once.

The value of a pair of words is the expected number of their links, so that of a word ``s`` and an unseen one is what
``s`` has with a word seen once, on average. Rare words have few such links, so the mean of equally frequent words
counts as five of their occurrences. NULL has the mean of the words seen once, too.
"""

from dataclasses import replace

import numpy as np

from aligntools.aligning.models.base import LexicalModel

#: Occurrences that the mean of equally frequent words counts for.
PRIOR = 5.0
#: A word seen once is linked so often at most, with NULL; expected counts are not whole numbers.
ONCE = 0.3, 1.5
#: Passes over a sentence pair in which likely links of unseen words make them likelier, and by what share.
ROUNDS, GAIN = 5, 0.1
#: Values from which on two words look alike: such words are left out of these passes.
ALIKE = np.float32(0.5)


def unseen_words(model: LexicalModel) -> tuple[LexicalModel, tuple[np.ndarray, np.ndarray]]:
    """Return a model with the probability of an unseen word under NULL, and the values of unseen words.

    They are float32 [n_words + 1] for both sides: of each word with an unseen one of the other side, last of two.
    """
    table, links = model.table, model.word_links()
    counts = (model.counts[0].astype(np.float64) + model.counts[-1]) / 2
    often = [table.row_sums(counts), table.column_sums(counts)]
    if links is not None:
        often = [x + null for x, null in zip(links.observed(table), links.null[::-1], strict=True)]
    sizes = len(model.words.s_words), len(model.words.t_words)
    often = [x[:n] for x, n in zip(often, sizes, strict=True)]
    once = [(ONCE[0] < x) & (x < ONCE[1]) for x in often]
    rows = np.repeat(np.arange(table.n_source), np.diff(table.ptr))
    source, target = (
        _values(often[own], np.where(once[1 - own][beside], counts, 0.0), words, int(np.count_nonzero(once[1 - own])))
        for own, (words, beside) in enumerate(((rows, table.ids), (table.ids, rows)))
    )
    nulls = [model.s_null.copy(), model.t_null.copy()]
    for null, those in zip(nulls, once, strict=True):
        if those.any():
            null[-1] = null[:-1][those].mean()
    return replace(model, s_null=nulls[0], t_null=nulls[1]), (source, target)


def _values(often: np.ndarray, links: np.ndarray, of: np.ndarray, once: int) -> np.ndarray:
    """Return the values of a side.

    often (float64 [n_words]): Occurrences.
    links (float64 [n_pairs]): Those of the words ``of`` with words seen once, of which there are ``once``.
    """
    found = np.bincount(of, links, len(often))[: len(often)]
    tiers = np.log2(np.maximum(often, 1.0)).astype(np.int64)
    shares = np.bincount(tiers, found) / np.maximum(np.bincount(tiers, often), 1e-9)
    values = often * (found + PRIOR * shares[tiers]) / (often + PRIOR) / max(once, 1)
    values[:1] = 0.0  # of NULL
    return np.append(values, (shares[0] if len(shares) else 0.0) / max(once, 1)).astype(np.float32)
