"""IBM 3 and IBM 4 (Brown et al. 1993) as the paper writes them, over all alignments of short sentences.

An alignment is a list with the given position of each observed word, from 1, or 0 for NULL.
"""

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any


@dataclass
class Sentence:
    """A pair of sentences and the parameters that concern it.

    Attributes
    ----------
    translation : [m, l + 1]
        ``t(f_j | e_i)``, NULL first.
    fertility : [l, fertilities]
    p1 : float
    position : [l, m] or None
        ``d(j | i, l, m)``: the sentence is IBM 3's.
    head : function of (class of a given word, class of an observed one, distance) or None
    other : function of (class of an observed word, distance) or None
    given_classes : [l]
    observed_classes : [m]
    """

    translation: Any
    fertility: Any
    p1: float
    position: Any = None
    head: Any = None
    other: Any = None
    given_classes: Any = ()
    observed_classes: Any = ()

    @property
    def l(self):  # noqa: E743 - the paper's name
        return len(self.fertility)

    @property
    def m(self):
        return len(self.translation)

    def cepts(self, links):
        """Return the positions of each cept's words, from 1; NULL's first."""
        return [[j + 1 for j, i in enumerate(links) if i == g] for g in range(self.l + 1)]

    def distances(self, links):
        """Yield (class of the cept's word before or None, class of the word, distance) for each word of a cept."""
        centre, before = 0, 0
        for g, words in enumerate(self.cepts(links)):
            if g == 0 or not words:
                continue
            yield before, self.observed_classes[words[0] - 1], words[0] - centre
            for last, j in itertools.pairwise(words):
                yield None, self.observed_classes[j - 1], j - last
            centre, before = math.ceil(sum(words) / len(words)), self.given_classes[g - 1]

    def probability(self, links):
        """Return the alignment's probability, with the observed words."""
        cepts, m = self.cepts(links), self.m
        n = len(cepts[0])
        if 2 * n > m or max(map(len, cepts[1:])) >= len(self.fertility[0]):
            return 0.0
        p = math.comb(m - n, n) * (1 - self.p1) ** (m - 2 * n) * self.p1**n
        p *= math.prod(float(self.translation[j][i]) for j, i in enumerate(links))
        for g, words in enumerate(cepts[1:]):
            p *= float(self.fertility[g][len(words)])
            if self.position is not None:
                p *= math.factorial(len(words)) * math.prod(float(self.position[g][j - 1]) for j in words)
        if self.position is None:
            for before, observed, distance in self.distances(links):
                p *= self.other(observed, distance) if before is None else self.head(before, observed, distance)
        return p

    def all(self):
        """Yield all alignments."""
        return map(list, itertools.product(range(self.l + 1), repeat=self.m))

    def neighbours(self, links):
        """Return the alignment and those that differ from it by a move or a swap, each once."""
        found = {tuple(links)}
        for j in range(self.m):
            for i in range(self.l + 1):
                found.add((*links[:j], i, *links[j + 1 :]))
        for j, k in itertools.combinations(range(self.m), 2):
            swapped = list(links)
            swapped[j], swapped[k] = links[k], links[j]
            found.add(tuple(swapped))
        return [list(one) for one in sorted(found)]

    def expectations(self, links):
        """Return the neighbourhood's probability, and expected links, fertilities, words from NULL and distances.

        Links are by (observed, given) place, fertilities by (given place, fertility), distances as `distances` has
        them.
        """
        around = [(one, self.probability(one)) for one in self.neighbours(links)]
        total = sum(p for _, p in around)
        pairs, fertilities, distances, nulls = Counter(), Counter(), Counter(), 0.0
        for one, p in around:
            cepts = self.cepts(one)
            nulls += len(cepts[0]) * p / total
            for j, i in enumerate(one):
                pairs[j, i] += p / total
            for g, words in enumerate(cepts[1:]):
                fertilities[g, len(words)] += p / total
            for key in self.distances(one) if self.position is None else ():
                distances[key] += p / total
        return total, pairs, fertilities, nulls, distances
