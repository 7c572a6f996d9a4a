"""The slow, obvious versions of the tag metrics, by the definitions and by trying all mappings."""

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations, product


def best_mapping(gold, predicted, injective):
    """Return the largest number of words that agree under any mapping of labels to tags."""
    tags, labels = sorted(set(gold)), sorted(set(predicted))
    best = 0
    if injective:  # pad with tags that nothing is, so that every label has one to be mapped to
        mappings = permutations([*tags, *[None] * len(labels)], len(labels))
    else:
        mappings = product(tags, repeat=len(labels))
    for mapping in mappings:
        table = dict(zip(labels, mapping, strict=True))
        best = max(best, sum(table[p] == g for g, p in zip(gold, predicted, strict=True)))
    return best


def entropy(values):
    """Return the entropy of a list of values, in bits."""
    return -sum(n / len(values) * math.log2(Fraction(n, len(values))) for n in Counter(values).values())


def conditional_entropy(values, given):
    """Return H(values | given) as the mean entropy within the groups that ``given`` makes."""
    total = 0.0
    for name in set(given):
        group = [v for v, g in zip(values, given, strict=True) if g == name]
        total += len(group) / len(values) * entropy(group)
    return total
