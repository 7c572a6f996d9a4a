"""Term pairs found the slow, obvious way: every pair of stretches of every sentence pair is looked at."""

import math


def stretches(words, longest):
    """All stretches of a sentence: where they begin and end."""
    return [(a, b) for a in range(len(words)) for b in range(a + 1, min(a + longest, len(words)) + 1)]


def phrase_pairs(source, target, links, longest, source_may, target_may):
    """Stretches whose links do not leave them, with linked first and last words; the functions say what words may.

    ``source_may(word)`` is 0 where a word may stand anywhere, 1 within, 2 nowhere.
    """
    found = []
    for a, b in stretches(source, longest):
        for c, d in stretches(target, longest):
            inside = [(i, j) for i, j in links if a <= i < b and c <= j < d]
            leaving = [(i, j) for i, j in links if (a <= i < b) != (c <= j < d)]
            ends = {a, b - 1} <= {i for i, _ in inside} and {c, d - 1} <= {j for _, j in inside}
            kinds = [source_may(w) for w in source[a:b]], [target_may(w) for w in target[c:d]]
            good = all(side[0] == side[-1] == 0 and 2 not in side for side in kinds)
            if inside and not leaving and ends and good:
                found.append((a, b, c, d))
    return found


def count(words, term):
    """How often a term stands in a sentence."""
    return sum(words[k : k + len(term)] == term for k in range(len(words) - len(term) + 1))


def log_likelihood(both, one, other, total):
    """Twice the log of the likelihood ratio of two words that depend on each other and two that do not."""
    table = [[both, one - both], [other - both, max(total - one - other + both, 0)]]
    whole = sum(map(sum, table))
    sums = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    ratio = sum(
        k * math.log(k * whole / sums[0][i] / sums[1][j]) for i, row in enumerate(table) for j, k in enumerate(row) if k
    )
    return 2 * ratio if both * total > one * other else 0.0


def terms(pairs, longest, least, least_probability, may):
    """Term pairs with counts and scores, one of each source term, the best first.

    ``pairs`` are (source words, target words, links), ``may`` as for `phrase_pairs`.
    """
    counts = {}
    for source, target, links in pairs:
        for a, b, c, d in phrase_pairs(source, target, links, longest, may, may):
            pair = tuple(source[a:b]), tuple(target[c:d])
            counts[pair] = counts.get(pair, 0) + 1
    counts = {pair: n for pair, n in counts.items() if n >= least}
    total = max(sum(len(source) for source, _, _ in pairs), sum(len(target) for _, target, _ in pairs))
    best = {}
    for (s, t), n in counts.items():
        source_count = sum(count(source, list(s)) for source, _, _ in pairs)
        target_count = sum(count(target, list(t)) for _, target, _ in pairs)
        # each place of the shorter pair within a longer one counts once
        longer = [
            m
            for (x, y), m in counts.items()
            if (x, y) != (s, t)
            for _ in range(count(list(x), list(s)) * count(list(y), list(t)))
        ]
        alone = n - sum(longer) / len(longer) if longer else n
        length = math.log2(1 + (len(s) + len(t)) / 2)
        score = log_likelihood(n, source_count, target_count, total) * max(alone, 0) / n * length
        if min(n / source_count, n / target_count) >= least_probability and score > 0:
            best.setdefault(s, []).append((score, t, n, source_count, target_count))
    return {s: max(found, key=lambda one: one[0]) for s, found in best.items()}
