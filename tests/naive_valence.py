"""The slow, obvious version of the dependency model with valence. Imports nothing that it checks."""

import math

from tests.naive_parsing import log_sum, trees


def events(heads, tags):
    """Yield what a tree is made of: ("root", tag), ("choose", head, side, tag), ("decide", head, side, valence, go)."""
    for word in range(1, len(tags) + 1):
        if heads[word - 1] == 0:
            yield "root", tags[word - 1]
        for side in (0, 1):
            own = [m for m, h in enumerate(heads, 1) if h == word and (m > word) == bool(side)]
            for k, m in enumerate(own):
                yield "decide", tags[word - 1], side, min(k, 1), 1
                yield "choose", tags[word - 1], side, tags[m - 1]
            yield "decide", tags[word - 1], side, min(len(own), 1), 0


def log_probability(heads, tags, choose, decide, root):
    """Return the log-probability of a tree."""
    arrays, total = {"root": root, "choose": choose, "decide": decide}, 0.0
    for name, *place in events(heads, tags):
        p = arrays[name][tuple(place)]
        total += math.log(p) if p > 0 else -math.inf
    return total


def enumerated(tags, choose, decide, root):
    """Return the log-likelihood of a sentence, expected events, and the best tree with its log-probability."""
    scored = [(log_probability(t, tags, choose, decide, root), t) for t in trees(len(tags), True, True)]
    log_z, expected = log_sum([score for score, _ in scored]), {}
    for score, tree in scored:
        for event in events(tree, tags):
            expected[event] = expected.get(event, 0.0) + (math.exp(score - log_z) if score > -math.inf else 0.0)
    return log_z, expected, max(scored)
