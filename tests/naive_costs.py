"""eflomal's sentence scores, slowly: every count is made anew for every word, without the word's own link."""

import math
from collections import Counter

LEXICAL, JUMP, FERTILITY = 0.001, 0.5, 0.5
JUMPS, FERTILITIES = 100, 8


def digamma(x):
    """Return the derivative of ln gamma at x > 0."""
    result = 0.0
    while x < 20:
        result -= 1 / x
        x += 1
    return result + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)


def jumps_of(links, n_given):
    """Yield the jumps of a sentence's links, a position or None for each observed word."""
    last, any_link = -1, False
    for i in links:
        if i is not None:
            yield i - last
            last, any_link = i, True
    if any_link:
        yield n_given - last


def costs(pairs, n_observed, model=3, lexical=(), fertilities=(), jumps=()):
    """Return the score of each (given, observed, links) triple.

    Parameters
    ----------
    n_observed : int
        Words of the observed side's vocabulary, NULL among them.
    lexical, fertilities, jumps : lists of (given, observed, alpha), (given, links, alpha), (jump, alpha)
    """
    words, totals, steps, numbers = Counter(), Counter(), Counter(), Counter()
    for e, f, alpha in lexical:
        words[e, f] += alpha
        totals[e] += alpha
    for jump, alpha in jumps:
        steps[jump] += alpha
    for e, n, alpha in fertilities:
        numbers[e, min(n, FERTILITIES - 1)] += alpha
    for given, observed, links in pairs:
        for f, i in zip(observed, links, strict=True):
            if i is not None:
                words[given[i], f] += 1
                totals[given[i]] += 1
        steps.update(jumps_of(links, len(given)))
        numbers.update((e, min(links.count(i), FERTILITIES - 1)) for i, e in enumerate(given))
    out = []
    for given, observed, links in pairs:
        if not given or not observed:
            out.append(-0.0)
            continue
        total = 0.0
        for j, f in enumerate(observed):
            before = next((i for i in reversed(links[:j]) if i is not None), -1)
            after = next((i for i in links[j + 1 :] if i is not None), len(given))
            own_jumps = [after - before] if links[j] is None else [links[j] - before, after - links[j]]
            less = Counter(own_jumps)
            all_jumps = sum(steps.values()) + JUMPS * JUMP - len(own_jumps)
            best = 0.0
            for i, e in enumerate(given):
                own = links[j] is not None and given[links[j]] == e
                p = (words[e, f] - own + LEXICAL) / (totals[e] - own + LEXICAL * n_observed)
                if model > 1:
                    for jump in (i - before, after - i):
                        p *= (steps[jump] + JUMP - less[jump]) / all_jumps
                if model > 2:
                    n = sum(1 for k, x in enumerate(links) if x == i and k != j) + 1
                    if n >= FERTILITIES - 1:
                        p *= 1e-10
                    else:
                        p *= math.exp(digamma(numbers[e, n] + FERTILITY) - digamma(numbers[e, n - 1] + FERTILITY))
                best = max(best, p)
            total += math.log(best)
        out.append(-total / len(observed))
    return out
