"""The slow, obvious version of sums and maxima over trees, and of what is made of heads. Imports nothing it checks."""

import itertools
import math

import numpy as np


def is_tree(heads):
    """Whether heads (0 the root, else 1 to n) lead to the root from everywhere."""
    for word in range(1, len(heads) + 1):
        seen = set()
        while word != 0:
            if word in seen:
                return False
            seen.add(word)
            word = heads[word - 1]
    return True


def dominates(heads, above, word):
    """Whether ``above`` is the word or among its ancestors."""
    while word != above and word != 0:
        word = heads[word - 1]
    return word == above


def is_projective(heads):
    """Whether each word between a head and its modifier is below the head."""
    return all(
        dominates(heads, head, between)
        for modifier, head in enumerate(heads, 1)
        for between in range(min(head, modifier) + 1, max(head, modifier))
    )


def trees(n, projective, single):
    """Return all trees over n words, as tuples of heads."""
    found = []
    for heads in itertools.product(range(n + 1), repeat=n):
        if not is_tree(heads) or (projective and not is_projective(heads)):
            continue
        if single and n and heads.count(0) != 1:
            continue
        found.append(heads)
    return found


def total(values, heads):
    """Return an edge function's sum over a tree; ``values[modifier - 1, head]``."""
    return math.fsum(values[m, h] for m, h in enumerate(heads))


def log_sum(values):
    top = max(values, default=-math.inf)
    if top == -math.inf:
        return -math.inf
    return top + math.log(math.fsum(math.exp(v - top) for v in values))


def distribution(scores, all_trees):
    """Return ln Z and the probability of each tree."""
    totals = [total(scores, heads) for heads in all_trees]
    log_z = log_sum(totals)
    return log_z, [math.exp(t - log_z) if log_z > -math.inf else 0.0 for t in totals]


def marginals(scores, all_trees):
    """Return ln Z and the probability of each edge."""
    log_z, probabilities = distribution(scores, all_trees)
    result = np.zeros(scores.shape)
    for heads, p in zip(all_trees, probabilities, strict=True):
        for m, h in enumerate(heads):
            result[m, h] += p
    return log_z, result


def expected(scores, function, all_trees):
    """Return an edge function's expected value and its covariance with each edge."""
    _, probabilities = distribution(scores, all_trees)
    totals = [total(function, heads) for heads in all_trees]
    mean = math.fsum(p * t for p, t in zip(probabilities, totals, strict=True))
    covariances = np.zeros(scores.shape)
    for heads, p, t in zip(all_trees, probabilities, totals, strict=True):
        for m, h in enumerate(heads):
            covariances[m, h] += p * (t - mean)
    return mean, covariances


def entropy(scores, all_trees, alpha=1.0):
    """Return Shannon's entropy, or Rényi's of another order."""
    _, probabilities = distribution(scores, all_trees)
    if alpha == 1:
        return -math.fsum(p * math.log(p) for p in probabilities if p > 0)
    return math.log(math.fsum(p**alpha for p in probabilities if p > 0)) / (1 - alpha)


def best(scores, all_trees):
    """Return the highest score of a tree and every tree that has it."""
    totals = [total(scores, heads) for heads in all_trees]
    top = max(totals)
    return top, [heads for heads, t in zip(all_trees, totals, strict=True) if t == top]


# ---------------------------------------------------------------------------------------------------------
# Features, as text
# ---------------------------------------------------------------------------------------------------------


def atom(layers, text, position):
    """Return what an atom such as ``p+1`` says about a position; ``layers[letter]`` begin with the root."""
    position += int(text[1:] or 0)
    values = layers[text[0]]
    return (text[0], values[position]) if 0 <= position < len(values) else (text[0], "past the end")


def edge_features(layers, templates, bins, head, modifier):
    """Return the set of an edge's features; 0 is the root."""
    found = set()
    direction = "right" if head < modifier else "left"
    distance = sum(abs(head - modifier) >= least for least in bins)
    for template in templates:
        middles = [None]
        sides = template.split("|")
        if "[" in template:
            sides = [template[: template.index("[")], template[template.index("]") + 1 :]]
            layer = template[template.index("[") + 1]
            middles = set(layers[layer][min(head, modifier) + 1 : max(head, modifier)])
        for middle in middles:
            name = (
                template,
                tuple(atom(layers, a, head) for a in sides[0].split()),
                tuple(atom(layers, a, modifier) for a in sides[1].split()),
                middle,
                direction,
            )
            found |= {(name, None), (name, distance)}
    return found
