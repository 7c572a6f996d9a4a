"""The slow, obvious version of spans that stand out in a sentence."""


def maximal_spans(scores):
    """Return the maximal scoring spans as Ruzzo and Tompa define them: the best span, then those on its two sides.

    Of spans with the highest sum the shortest counts, and of these the first.
    """

    def within(begin, end):
        spans = [(a, b) for a in range(begin, end) for b in range(a + 1, end + 1)]
        best = max(spans, key=lambda span: (sum(scores[slice(*span)]), span[0] - span[1], -span[0]), default=None)
        if best is None or sum(scores[slice(*best)]) <= 0:
            return []
        return [*within(begin, best[0]), best, *within(best[1], end)]

    return within(0, len(scores))
