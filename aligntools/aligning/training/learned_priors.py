"""What a model learned of other text as priors of a new one: a start from its counts, in any view of the words."""

from collections.abc import Sequence

import numpy as np

from aligntools.aligning.models import kernels_link_counts as kc
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.text.views import ViewWords, cut
from aligntools.aligning.training.view_priors import ViewMapping, ViewPriors

#: What a link that the model counted counts for, compared with one of the new text.
SHARE = 0.1
#: Links that the model expects less often are left out.
FEWEST = 0.3


def added(one: ViewPriors, other: ViewPriors) -> ViewPriors:
    """Return the sum of two priors of a view."""
    keys, places = np.unique(np.concatenate([one.keys, other.keys]), return_inverse=True)
    alphas = np.bincount(places, np.concatenate([one.alphas, other.alphas]), len(keys)).astype(np.float32)
    return ViewPriors(
        keys,
        alphas,
        one.s_null + other.s_null,
        one.t_null + other.t_null,
        [a + b for a, b in zip(one.fertilities, other.fertilities, strict=True)],
        one.jumps + other.jumps,
    )


def with_learned(mapped: ViewMapping | None, models: Sequence[LexicalModel]) -> ViewMapping:
    """Return what maps priors into a view, with what models of other text learned; see `learned_priors`."""

    def both(words: ViewWords) -> ViewPriors:
        own = learned_priors(models, words)
        return own if mapped is None else added(mapped(words), own)

    return both


def learned_priors(models: Sequence[LexicalModel], words: ViewWords, weight: float = SHARE) -> ViewPriors:
    """Map what a model of other text learned of links into a view: the mean of both directions' counts.

    models: The model of the view itself is taken, or else that of the longest words.
    weight: What a link counts for. Fertilities and jumps are left out.
    """
    old = min(models, key=lambda m: (m.letters != words.letters, -(m.letters or np.inf)))
    found = old.word_links()
    forward, reverse = (old.counts[0], old.counts[-1]) if found is None else found.pairs
    counts = (forward + reverse) * np.float32(0.5)
    kept = counts >= FEWEST
    rows = np.repeat(np.arange(old.table.n_source), np.diff(old.table.ptr))[kept]
    columns, counts = old.table.ids[kept], counts[kept]
    letters = old.letters, words.letters
    s_starts, s_ids = _same_words(old.words.s_words, words.s_words, *letters)
    t_starts, t_ids = _same_words(old.words.t_words, words.t_words, *letters)
    high, wide = np.diff(s_starts)[rows], np.diff(t_starts)[columns]
    of = np.repeat(np.arange(len(rows)), high * wide)
    place = np.arange(len(of)) - np.repeat(np.cumsum(high * wide) - high * wide, high * wide)
    n_s, n_t = len(words.s_words), len(words.t_words)
    s = s_ids[s_starts[rows[of]] + place // wide[of]].astype(np.int64)
    t = t_ids[t_starts[columns[of]] + place % wide[of]]
    keys, places = np.unique(s * n_t + t, return_inverse=True)
    alphas = np.bincount(places, counts[of] / np.maximum(high, wide)[of] * weight, len(keys)).astype(np.float32)
    return ViewPriors(
        keys,
        alphas,
        np.zeros(n_s + 1),
        np.zeros(n_t + 1),
        [np.zeros((n, kc.FERTILITIES), np.float32) for n in (n_s, n_t)],
        np.zeros((2, 2 * kc.JUMPS + 1)),
    )


def _same_words(old: list[str], new: list[str], old_letters: int, letters: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where each old word's new words begin, and these: of words that are the same after the shorter cut."""
    shorter = min(filter(None, (old_letters, letters)), default=0)
    ids: dict[str, int] = {}
    names = [[ids.setdefault(cut(word, shorter), len(ids)) for word in words[1:]] for words in (old, new)]
    order = np.argsort(np.array(names[1], np.int64), kind="stable")
    sizes = np.bincount(np.array(names[1], np.int64), minlength=len(ids))
    begins = np.cumsum(sizes) - sizes
    of_old = np.array(names[0], np.int64)
    counts = np.concatenate([[0], sizes[of_old]])
    starts = np.concatenate([[0], np.cumsum(counts)])
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], counts)
    return starts, order[np.repeat(np.concatenate([[0], begins[of_old]]), counts) + place] + 1
