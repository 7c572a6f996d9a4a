"""Hiero rules by their definition (Chiang 2007): every phrase pair, every way to take one or two out of it."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import combinations, pairwise


def phrase_pairs(source, target, links, max_span, tight):
    """Return ``(i1, i2, j1, j2)``, ends past the last word, of all initial phrase pairs of a sentence."""
    found = []
    for i1 in range(len(source)):
        for i2 in range(i1 + 1, len(source) + 1):
            for j1 in range(len(target)):
                for j2 in range(j1 + 1, len(target) + 1):
                    if i2 - i1 > max_span or j2 - j1 > max_span:
                        continue
                    inside = [(i, j) for i, j in links if i1 <= i < i2 and j1 <= j < j2]
                    crossing = [(i, j) for i, j in links if (i1 <= i < i2) != (j1 <= j < j2)]
                    if not inside or crossing:
                        continue
                    rows, columns = {i for i, _ in inside}, {j for _, j in inside}
                    if tight and not ({i1, i2 - 1} <= rows and {j1, j2 - 1} <= columns):
                        continue
                    found.append((i1, i2, j1, j2))
    return found


def side(words, begin, end, holes):
    """Return the symbols of a side and the place of each word that stays."""
    symbols, places, at = [], {}, begin
    while at < end:
        hole = next((k for k, (a, _) in enumerate(holes, 1) if a == at), None)
        if hole is not None:
            symbols.append(-hole)
            at = holes[hole - 1][1]
        else:
            places[at] = len(symbols)
            symbols.append(words[at])
            at += 1
    return tuple(symbols), places


def rules_of_pair(source, target, links, phrase, inside, max_symbols, nonterminals, min_hole):
    """Return the rules of one initial phrase pair, ``(source side, target side, links)``, with repetitions."""
    i1, i2, j1, j2 = phrase
    inner = [
        p for p in inside
        if i1 <= p[0] and p[1] <= i2 and j1 <= p[2] and p[3] <= j2 and p != phrase and p[1] - p[0] >= min_hole
    ]  # fmt: skip
    found = []
    for size in range(nonterminals + 1):
        for holes in combinations(sorted(inner), size):
            if size == 2:
                a, b = holes
                if not a[1] < b[0] or not (a[3] <= b[2] or b[3] <= a[2]):
                    continue  # they overlap, or are neighbours on the source side
            left, rows = side(source, i1, i2, [(h[0], h[1]) for h in holes])
            right, columns = side(target, j1, j2, [(h[2], h[3]) for h in holes])
            kept = tuple(sorted((rows[i], columns[j]) for i, j in links if i in rows and j in columns))
            if kept and len(left) <= max_symbols:
                found.append((left, right, kept))
    return found


def count_rules(corpus, max_span=10, max_symbols=5, nonterminals=2, phrases="tight", min_hole=1):
    """Return fractional counts and numbers of occurrences by ``(source side, target side, links)``."""
    counts, occurrences = defaultdict(Fraction), defaultdict(int)
    for source, target, links in corpus:
        inside = phrase_pairs(source, target, links, max_span, phrases != "loose")
        for phrase in phrase_pairs(source, target, links, max_span, phrases == "tight"):
            rules = rules_of_pair(source, target, links, phrase, inside, max_symbols, nonterminals, min_hole)
            for rule in rules:
                counts[rule] += Fraction(1, len(rules))
                occurrences[rule] += 1
    return dict(counts), dict(occurrences)


def word_probabilities(corpus):
    """Return ``p(e | f)`` and ``p(f | e)`` by ``(f, e)``, None being NULL."""
    joint = defaultdict(int)
    for source, target, links in corpus:
        for i, j in links:
            joint[source[i], target[j]] += 1
        for i, word in enumerate(source):
            if i not in {i for i, _ in links}:
                joint[word, None] += 1
        for j, word in enumerate(target):
            if j not in {j for _, j in links}:
                joint[None, word] += 1
    f_total, e_total = defaultdict(int), defaultdict(int)
    for (f, e), count in joint.items():
        f_total[f] += count
        e_total[e] += count
    return (
        {(f, e): count / f_total[f] for (f, e), count in joint.items()},
        {(f, e): count / e_total[e] for (f, e), count in joint.items()},
    )


def lexical_weight(left, right, links, given):
    """Return ``log p(right | left, links)`` with ``given[f, e] = p(e | f)``; nonterminals are negative numbers."""
    total = 0.0
    for j, e in enumerate(right):
        if isinstance(e, int):
            continue
        linked = [left[i] for i, k in links if k == j] or [None]
        total += math.log(sum(given[f, e] for f in linked) / len(linked))
    return total


def scored(corpus, **settings):
    """Return the standard features by ``(source side, target side)``, and their counts c(e), c(f), c(f, e)."""
    counts, _ = count_rules(corpus, **settings)
    joint, f_total, e_total = defaultdict(Fraction), defaultdict(Fraction), defaultdict(Fraction)
    links_of = defaultdict(list)

    def unordered(right):
        return tuple(-1 if isinstance(s, int) else s for s in right)

    for (left, right, links), count in counts.items():
        joint[left, right] += count
        f_total[left] += count
        e_total[unordered(right)] += count
        links_of[left, right].append(links)
    given_f, given_e = word_probabilities(corpus)
    exchanged = {(e, f): p for (f, e), p in given_e.items()}
    result = {}
    for (left, right), count in joint.items():
        totals = e_total[unordered(right)], f_total[left], count
        forward = max(lexical_weight(left, right, links, given_f) for links in links_of[left, right])
        backward = max(
            lexical_weight(right, left, [(j, i) for i, j in links], exchanged) for links in links_of[left, right]
        )
        features = math.log(count / totals[1]), math.log(count / totals[0]), forward, backward
        result[left, right] = features, tuple(map(float, totals))
    return result


def matches(pattern, words, span):
    """Tell whether a source side matches within ``span`` words, nonterminals standing for one word or more."""

    def ends(symbols, begin):
        if not symbols:
            return {begin}
        if isinstance(symbols[0], int):
            starts = range(begin + 1, len(words) + 1)
        else:
            starts = [begin + 1] if begin < len(words) and words[begin] == symbols[0] else []
        return set().union(*(ends(symbols[1:], at) for at in starts))

    return any(end - begin <= span for begin in range(len(words)) for end in ends(pattern, begin))


def bigrams(right, tags):
    """Return how often each bigram of labels occurs in a target side."""
    labels = ["X" if isinstance(s, int) else tags.get(s, s) for s in right]
    found = defaultdict(int)
    for a, b in pairwise(labels):
        found[f"{a}_{b}"] += 1
    return dict(found)
