"""How often words have no link, and how surprising it is that a word has none.

Function words often have none, names and numbers nearly always have one. What is usual for a word is the mean of what
its other places in the text show, and of what a model learned: how much of the word it ascribes to NULL. How surprising
a place is are log-odds of two distributions of the probability that a word has no link, in nine classes: that of words
whose counterpart was taken out of a translation, and that of other words that are as seldom linked as this one.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aligntools.aligning.model import AlignmentModel

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

#: Bounds of the classes of the probability that a word has no link: 1 less that of its best link.
UNLINKED = (0.02, 0.1, 0.25, 0.45, 0.65, 0.8, 0.92, 0.98)
#: Bounds of the classes of how often a word usually has none.
RATES = (0.05, 0.1, 0.2, 0.35, 0.55, 0.75)
#: Bounds of the classes of how much of a word a model ascribes to NULL; class 0 is of words that it does not know.
NULLS = (0.01, 0.03, 0.1, 0.3)

# The three tables were counted in 4,000 pairs of en-de and en-cs text, with models of 100,000 others.
#: How words are linked whose counterpart is not there: next to the same for all of them.
OMITTED = np.array([0.001, 0.003, 0.01, 0.022, 0.08, 0.16, 0.34, 0.2, 0.184])
#: The same of words in translations as they are, a row for each class of `RATES`.
USUAL = np.array(
    [
        [0.859, 0.066, 0.027, 0.015, 0.011, 0.009, 0.008, 0.003, 0.002],
        [0.720, 0.138, 0.062, 0.026, 0.020, 0.013, 0.011, 0.005, 0.005],
        [0.647, 0.129, 0.078, 0.045, 0.036, 0.021, 0.021, 0.012, 0.011],
        [0.483, 0.122, 0.093, 0.083, 0.071, 0.044, 0.050, 0.029, 0.025],
        [0.278, 0.110, 0.094, 0.109, 0.105, 0.085, 0.102, 0.065, 0.052],
        [0.127, 0.067, 0.076, 0.084, 0.141, 0.149, 0.163, 0.117, 0.076],
        [0.010, 0.029, 0.030, 0.054, 0.132, 0.165, 0.184, 0.207, 0.189],
    ]
)
#: How often words have no link, by shape (letters, digits, neither) and class of `NULLS`.
RATE_OF_CLASS = np.array(
    [
        [0.136, 0.03, 0.03, 0.105, 0.33, 0.762],
        [0.027, 0.02, 0.02, 0.03, 0.188, 0.5],
        [0.113, 0.03, 0.03, 0.059, 0.374, 0.788],
    ]
)
#: Places of a class that its row above counts as, and places that its rate counts as for a word.
CLASS_WEIGHT, WORD_WEIGHT = 50.0, 2.0
#: Log-odds of one word are held between plus and minus this.
MOST = 4.0
#: Part of the places of a text's words that NULL accounts for, in how `null_shares` weighs it.
_NULL_PLACES = 0.1


def shape_of(word: str) -> int:
    """Return the shape of a word: 0 with letters alone, 1 with a digit, 2 with neither."""
    if any(c.isdigit() for c in word):
        return 1
    return 0 if any(c.isalpha() for c in word) else 2


def null_shares(model: AlignmentModel) -> tuple[Floats, Floats] | None:
    """Return the shares of both vocabularies' words that are NULL's, float64 [words + 1]; None without whole words."""
    view = model.views[0]
    if view.letters:
        return None
    values = view.counts[0].astype(np.float64)
    rows = np.repeat(np.arange(len(view.table.ptr) - 1), np.diff(view.table.ptr))
    sizes = len(view.words.s_words), len(view.words.t_words)
    both = (np.bincount(rows, values, sizes[0]), np.bincount(view.table.ids, values, sizes[1]))
    found = []
    for linked, null, size in zip(both, (view.s_null, view.t_null), sizes, strict=True):
        alone = _NULL_PLACES * linked.sum() * null[:size]
        found.append(alone / (alone + linked[:size] + 0.5))
    return found[0], found[1]


class WordTypes:
    """The words of one side of a text: a number for each, and its class; ``shares``: see `null_shares`."""

    def __init__(self, model: AlignmentModel, side: int, shares: tuple[Floats, Floats] | None) -> None:
        self._shares = None if shares is None else shares[side]
        self._vocabulary = (model.source_vocabulary, model.target_vocabulary)[side]
        self._lowercase = model.lowercase
        self._ids: dict[str, int] = {}
        self._classes: list[int] = []

    def numbers(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of words; new words get the next ones."""
        words = [word.lower() for word in words] if self._lowercase else words
        new = list(dict.fromkeys(word for word in words if word not in self._ids))
        if new:
            known = self._vocabulary.ids([word.encode("utf-8", "replace") for word in new]).tolist()
            for word, id in zip(new, known, strict=True):
                self._ids[word] = len(self._ids)
                null = 0
                if id > 0 and self._shares is not None:
                    null = 1 + int(np.digitize(self._shares[id], NULLS))
                self._classes.append(shape_of(word) * (len(NULLS) + 2) + null)
        return [self._ids[word] for word in words]

    @property
    def classes(self) -> Ids:
        """The class of each word, a row and column of `RATE_OF_CLASS` as one number: int64 [numbers]."""
        return np.array(self._classes, np.int64)


def usual_rates(types: Ids, apart: Floats, classes: Ids) -> Floats:
    """Return how often the word of each place has no link elsewhere, smoothed by the rate of its class.

    types (int64 [places]): The word; apart (float64 [places]): its probability of no link; classes (int64 [words]).
    """
    count, total = np.bincount(types, minlength=len(classes)), np.bincount(types, apart, len(classes))
    fixed = RATE_OF_CLASS.ravel()
    of_class = CLASS_WEIGHT * fixed + np.bincount(classes, total, len(fixed))
    of_class /= CLASS_WEIGHT + np.bincount(classes, count, len(fixed))
    rate: Floats = total[types] - apart + WORD_WEIGHT * of_class[classes[types]]
    return rate / (count[types] - 1 + WORD_WEIGHT)


def log_odds(apart: Floats, rates: Floats) -> Floats:
    """Return log-odds of each place's word having no counterpart, by its ``apart`` and its rate; see `usual_rates`."""
    link, rate = np.digitize(apart, UNLINKED), np.digitize(rates, RATES)
    return np.asarray(np.clip(np.log(OMITTED[link] / USUAL[rate, link]), -MOST, MOST))
