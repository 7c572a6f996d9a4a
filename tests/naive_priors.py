"""Priors, the slow way: counts of links in other text, and IBM 1 that starts from them."""

import collections
import itertools


def count_priors(sentences):
    """Count links, fertilities and jumps in ``(source words, target words, forward links, reverse links)``.

    Returns what the lines of a file have, as ``{(kind, *key): number}``.
    """
    counts = collections.Counter()
    for source, target, forward, reverse in sentences:
        for i, j in forward:
            counts["LEX", source[i], target[j]] += 1
        for kind, words, positions in (
            ("FERF", source, [i for i, _ in forward]),
            ("FERR", target, [j for _, j in reverse]),
        ):
            for position, number in collections.Counter(positions).items():
                counts[kind, words[position], number] += 1
        for kind, length, pairs in (
            ("HMMF", len(source), sorted((j, i) for i, j in forward)),
            ("HMMR", len(target), sorted(reverse)),
        ):
            before = -1
            for _, group in itertools.groupby(pairs, key=lambda pair: pair[0]):
                positions = [position for _, position in group]
                counts[kind, positions[0] - before] += 1
                before = positions[-1]
            counts[kind, length - before] += 1
    return dict(counts)


def ibm1_with_priors(corpus, priors, iterations):
    """Train IBM 1 of one direction without NULL by EM; ``priors`` are ``{(given, observed): number}``.

    ``corpus`` has pairs of lists of words. The first iteration counts which words occur together; each M-step divides
    what was counted, plus the pseudo-counts of the words that occur together.
    """
    table = None
    for _ in range(iterations):
        counts = collections.Counter()
        for source, target in corpus:
            for s, t in itertools.product(source, target):
                if table is None:
                    counts[s, t] += (1 / len(source) + 1 / len(target)) / 2
                else:
                    counts[s, t] += table[s, t] / sum(table[other, t] for other in source)
        for pair in counts:
            counts[pair] += priors.get(pair, 0.0)
        sums = collections.Counter()
        for (s, _), n in counts.items():
            sums[s] += n
        table = {(s, t): n / sums[s] for (s, t), n in counts.items()}
    return table
