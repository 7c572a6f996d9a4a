"""Hypergraphs the slow way: every derivation listed. Imports nothing that it checks.

A hypergraph of one sentence is a list of nodes, each a list of edges (tails, target side, features, score), tails
being numbers of earlier nodes; in a target side -1 and -2 stand for the first and the second tail.
"""

import itertools
import math
from collections import Counter, namedtuple

Edge = namedtuple("Edge", "tails target features score number")
Derivation = namedtuple("Derivation", "edges words")


def derivations(nodes, root):
    """List the derivations of a node: their edges, top first, and their words."""
    found = []
    for edge in nodes[root]:
        for below in itertools.product(*(derivations(nodes, t) for t in edge.tails)):
            words = []
            for word in edge.target:
                words += [word] if word > 0 else below[-1 - word].words
            found.append(Derivation([edge, *(e for d in below for e in d.edges)], words))
    return found


def score(derivation):
    return math.fsum(edge.score for edge in derivation.edges)


def log_z(found):
    high = max(map(score, found))
    return high + math.log(math.fsum(math.exp(score(d) - high) for d in found))


def probabilities(found):
    z = log_z(found)
    return [math.exp(score(d) - z) for d in found]


def expected(found, reward):
    """Expect a function of derivations."""
    return math.fsum(p * reward(d) for p, d in zip(probabilities(found), found, strict=True))


def entropy(found):
    return -math.fsum(p * math.log(p) for p in probabilities(found))


def posteriors(found, edges):
    """Expected uses of each edge, by its number."""
    total = [0.0] * edges
    for p, d in zip(probabilities(found), found, strict=True):
        for edge in d.edges:
            total[edge.number] += p
    return total


def features(derivation):
    total = Counter()
    for edge in derivation.edges:
        for name, value in edge.features.items():
            total[name] += value
    return total


def covariance(found, reward, name):
    """Covariance of a reward and a feature: the derivative of the expected reward by the feature's weight."""
    p = probabilities(found)
    r, f = [reward(d) for d in found], [features(d)[name] for d in found]
    both = math.fsum(a * b * c for a, b, c in zip(p, r, f, strict=True))
    return both - math.fsum(a * b for a, b in zip(p, r, strict=True)) * math.fsum(
        a * c for a, c in zip(p, f, strict=True)
    )


def ngrams(words, n):
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def matches(words, references, clip):
    """Count n-grams of 1 to 4 words that a reference has, and all of them."""
    hits, totals = [], []
    for n in range(1, 5):
        most = Counter()
        for reference in references:
            most |= Counter(ngrams(reference, n))
        counts = Counter(ngrams(words, n))
        hits.append(sum(min(c, most[g]) if clip else c * (most[g] > 0) for g, c in counts.items()))
        totals.append(sum(counts.values()))
    return hits + totals
