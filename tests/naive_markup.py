"""Spans scored one by one, as the naive version of `aligntools.projecting.markup.placement`."""


def best_span(features, weights):
    """Return the best score of a span, its first and its last word."""
    edges, within, whole = features.first.shape[1], features.within.shape[1], features.whole.shape[0]
    assert len(weights) == 2 * edges + within + whole
    best = None
    for first in range(len(features.first)):
        for last in range(first, len(features.first)):
            score = sum(features.first[first, k] * weights[k] for k in range(edges))
            score += sum(features.last[last, k] * weights[edges + k] for k in range(edges))
            for word in range(first, last + 1):
                score += sum(features.within[word, k] * weights[2 * edges + k] for k in range(within))
            score += sum(features.whole[k, first, last] * weights[2 * edges + within + k] for k in range(whole))
            if best is None or score > best[0]:
                best = score, first, last
    return best
