"""Grammars of binary rules between all symbols, by enumerating trees."""

from collections import Counter


def trees(rules, tags, i, j, symbols):
    """Yield (weight, symbol, spans, uses) of all trees over tags i to j; a use is (symbol, left, right)."""
    if j - i == 1:
        yield 1.0, symbols + tags[i], frozenset(), Counter()
        return
    for k in range(i + 1, j):
        for p, left, spans, uses in trees(rules, tags, i, k, symbols):
            for q, right, more, others in trees(rules, tags, k, j, symbols):
                for a in range(symbols):
                    weight = p * q * rules[a][left][right]
                    yield weight, a, spans | more | {(i, j)}, uses + others + Counter([(a, left, right)])


def expectations(roots, rules, tags, brackets=()):
    """Return a sentence's probability, expected uses of roots and of rules, and probabilities of spans.

    brackets: Trees with a span that crosses one of these are left out.
    """
    total, by_root, uses, spans = 0.0, Counter(), Counter(), Counter()
    for weight, top, inside, used in trees(rules, tags, 0, len(tags), len(roots)):
        if any(i < begin < j < end or begin < i < end < j for i, j in inside for begin, end in brackets):
            continue
        weight *= roots[top]
        total += weight
        by_root[top] += weight
        for rule, n in used.items():
            uses[rule] += n * weight
        for span in inside:
            spans[span] += weight
    return total, *({key: value / total for key, value in found.items()} for found in (by_root, uses, spans))


def best_value(tags, spans):
    """Return the largest sum of probabilities of spans that any tree has."""

    def best(i, j):
        if j - i == 1:
            return 0.0
        return spans.get((i, j), 0.0) + max(best(i, k) + best(k, j) for k in range(i + 1, j))

    return best(0, len(tags))
