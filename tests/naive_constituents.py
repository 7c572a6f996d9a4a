"""The slow, obvious version of sums and maxima over trees of a grammar with substates. Imports nothing it checks.

A state is a pair of a symbol and a substate. Rules are dicts: ``binary[parent, left, right]``, ``unary[parent, child]``
and ``roots[state]`` of states; ``words[k][state]`` is p(word k | state).
"""

import itertools
import math
from collections import defaultdict


def derivations(i, j, binary, unary, words):
    """Return all derivations of a span by layer: pairs of weight and derivation.

    A derivation is (state, i, j, ...): of a tag nothing more; of a binary rule its two parts; of a unary rule its part.
    """
    lower = []
    if j - i == 1:
        lower += [(weight, (state, i, j)) for state, weight in words[i].items() if weight > 0]
    for k in range(i + 1, j):
        lefts, rights = derivations(i, k, binary, unary, words)[1], derivations(k, j, binary, unary, words)[1]
        for (w, left), (v, right) in itertools.product(lefts, rights):
            for (parent, a, b), weight in binary.items():
                if a == left[0] and b == right[0]:
                    lower.append((weight * w * v, (parent, i, j, left, right)))
    upper = list(lower)
    for w, below in lower:
        for (parent, child), weight in unary.items():
            if child == below[0]:
                upper.append((weight * w, (parent, i, j, below)))
    return lower, upper


def sentence(binary, unary, roots, words):
    """Return all derivations of a sentence with their joint probabilities."""
    found = derivations(0, len(words), binary, unary, words)[1]
    return [(w * roots.get(d[0], 0.0), d) for w, d in found if roots.get(d[0], 0.0) > 0]


def nodes(derivation):
    """Yield the nodes of a derivation."""
    yield derivation
    for part in derivation[3:]:
        yield from nodes(part)


def layers(derivation, upper=True):
    """Yield (layer, i, j, state) of all that a derivation has in the two layers of its spans."""
    state, i, j, *parts = derivation
    if upper:
        yield "upper", i, j, state
    if len(parts) == 1:
        yield from layers(parts[0], upper=False)
        return
    yield "lower", i, j, state
    for part in parts:
        yield from layers(part)


def posteriors(found):
    """Return the probability of each item of `layers`, given the sentence."""
    total, items = math.fsum(w for w, _ in found), defaultdict(float)
    for w, d in found:
        for item in layers(d):
            items[item] += w / total
    return items


def bare(derivation):
    """Return a derivation without substates."""
    (symbol, _), i, j, *parts = derivation
    return (symbol, i, j, *map(bare, parts))


def rule_of(node):
    """Return the rule above a node of a derivation without substates, with its spans."""
    symbol, i, j, *parts = node
    return (symbol, i, j, *(part[:3] for part in parts))


def rules_of_tree(tree):
    """Return the rules of a derivation without substates."""
    return [rule_of(node) for node in nodes(tree)]


def max_rule(found, binary, unary, words, roots):
    """Return each tree without substates and the product of its rules' posteriors, the top symbol's with it."""
    total, rules, tops = math.fsum(w for w, _ in found), defaultdict(float), defaultdict(float)
    for w, d in found:
        tops[d[0][0]] += w / total
        for rule in rules_of_tree(bare(d)):
            rules[rule] += w / total
    trees = {bare(d) for _, d in found}
    return {tree: tops[tree[0]] * math.prod(rules[rule] for rule in rules_of_tree(tree)) for tree in trees}


def annotations(tree, sizes):
    """Return all ways to give the nodes of a tree substates; a tree is (symbol, children ...) or (symbol, word)."""
    if isinstance(tree[1], str):
        return [((tree[0], x), tree[1]) for x in range(sizes[tree[0]])]
    below = itertools.product(*(annotations(child, sizes) for child in tree[1:]))
    return [((tree[0], x), *parts) for parts in below for x in range(sizes[tree[0]])]


def weight_of(tree, binary, unary, words):
    """Return the weight of a tree of states, without that of its root."""
    if isinstance(tree[1], str):
        return words[tree[0], tree[1]]
    below = math.prod(weight_of(child, binary, unary, words) for child in tree[1:])
    children = [child[0] for child in tree[1:]]
    return below * (binary if len(children) == 2 else unary)[(tree[0], *children)]


def uses(tree):
    """Yield the rules of a tree of states, and its pairs of a state and a word."""
    if isinstance(tree[1], str):
        yield tree[0], tree[1]
        return
    yield (tree[0], *(child[0] for child in tree[1:]))
    for child in tree[1:]:
        yield from uses(child)


def expectations(trees, sizes, binary, unary, roots, words):
    """Return the log-likelihood of trees of symbols, the expected number of uses of rules, and of states at the top."""
    value, expected, tops = 0.0, defaultdict(float), defaultdict(float)
    for tree in trees:
        every = [(roots[t[0]] * weight_of(t, binary, unary, words), t) for t in annotations(tree, sizes)]
        total = math.fsum(w for w, _ in every)
        value += math.log(total)
        for w, t in every:
            tops[t[0]] += w / total
            for rule in uses(t):
                expected[rule] += w / total
    return value, expected, tops


def places(tree, at=()):
    """Yield where the nodes of a tree are."""
    yield at
    if not isinstance(tree[1], str):
        for k, child in enumerate(tree[1:], 1):
            yield from places(child, (*at, k))


def node_at(tree, place):
    """Return the node at a place."""
    for k in place:
        tree = tree[k]
    return tree


def loss(tree, place, pair, shares, sizes, binary, unary, roots, words):
    """Return what the log-probability of a tree loses when the substates of a pair become one at a place (Petrov 2006).

    The inside of the one is the mean of theirs by ``shares``; the outside is the sum.
    """
    symbol = node_at(tree, place)[0]
    inside = [0.0] * sizes[symbol]
    joint = [0.0] * sizes[symbol]
    for t in annotations(node_at(tree, place), sizes):
        inside[t[0][1]] += weight_of(t, binary, unary, words)
    for t in annotations(tree, sizes):
        joint[node_at(t, place)[0][1]] += roots[t[0]] * weight_of(t, binary, unary, words)
    a, b = pair
    outside = [joint[x] / inside[x] for x in pair]
    merged = (shares[0] * inside[a] + shares[1] * inside[b]) * sum(outside)
    total = math.fsum(joint)
    return math.log(total) - math.log(total - joint[a] - joint[b] + merged)
