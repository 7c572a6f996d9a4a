"""The slow, obvious version of what the package computes fast. Imports nothing that it checks."""

import collections
import itertools
import math

import numpy as np

# Symmetrization: one sentence, sets of (source, target); a matrix of 0 and 1 is scanned as the programs do


def symmetrize(forward, reverse, method, flavor="atools"):
    """Return the sorted list of links of one sentence."""
    forward, reverse = set(forward), set(reverse)
    if method == "union":
        return sorted(forward | reverse)
    if method == "intersect":
        return sorted(forward & reverse)
    diagonal, last = {
        "grow": (False, None),
        "grow-diag": (True, None),
        "grow-diag-final": (True, "either"),
        "grow-diag-final-and": (True, "both"),
    }[method]
    grown = {"atools": _grow_atools, "symal": _grow_symal}[flavor](forward, reverse, diagonal)
    for direction in (forward, reverse):
        by_target = flavor == "symal"
        for i, j in sorted(direction, key=lambda p: (p[1], p[0]) if by_target else p):
            free_i, free_j = _free(grown, i, j)
            if (last == "either" and (free_i or free_j)) or (last == "both" and free_i and free_j):
                grown.add((i, j))
    return sorted(grown)


def _free(links, i, j):
    return all(a != i for a, _ in links), all(b != j for _, b in links)


def _grow_atools(forward, reverse, diagonal):
    size = 1 + max([x for link in forward | reverse for x in link], default=0)
    result = forward & reverse
    while True:
        added = False
        for i in range(size):
            for j in range(size):
                if (i, j) in result or (i, j) not in forward | reverse:
                    continue
                touches = any(
                    max(abs(a - i), abs(b - j)) == 1 if diagonal else abs(a - i) + abs(b - j) == 1 for a, b in result
                )
                if touches and any(_free(result, i, j)):
                    result.add((i, j))
                    added = True
        if not added:
            return result


def _grow_symal(forward, reverse, diagonal):
    # In symal's own terms: e is the target, f the source, and a set of (e, f) is walked while it grows.
    steps = [(-1, 0), (0, -1), (1, 0), (0, 1)]
    if diagonal:
        steps += [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    result = forward & reverse
    added = True
    while added:
        added = False
        at = (-1, -1)
        while later := [(j, i) for i, j in result if (j, i) > at]:
            at = min(later)
            for de, df in steps:
                e, f = at[0] + de, at[1] + df
                if (f, e) in forward | reverse and any(_free(result, f, e)):
                    result.add((f, e))
                    added = True
    return result


# Alignment models. One direction: ``emissions[j][i]`` is p(observed word j | given word i), ``null[j]`` that of
# the observed word under NULL. A path is one state for each observed word: (position, whether it is real).


class Jumps:
    """Weights of jumps: one for each distance up to a window, one for all beyond; likewise first positions."""

    def __init__(self, near, far, first, first_far):
        self.window = len(near) // 2
        self.near, self.far, self.first, self.first_far = near, far, first, first_far

    def key(self, d):
        return d if abs(d) <= self.window else "far"

    def first_key(self, i):
        return ("first", i) if i <= self.window else ("first", "far")

    def weight(self, d):
        return self.near[d + self.window] if abs(d) <= self.window else self.far

    def first_weight(self, i):
        return self.first[i] if i <= self.window else self.first_far

    def total(self, before, length):
        return sum(self.weight(i - before) for i in range(length))

    def first_total(self, length):
        return sum(self.first_weight(i) for i in range(length))


def hmm_path_probability(path, emissions, null, jumps, p_null):
    """Return p(observed words, path): Och & Ney (2003), section 2.1.1 and their null twins."""
    length = len(emissions[0])
    probability = 1.0
    for j, (i, real) in enumerate(path):
        if j == 0:
            probability *= jumps.first_weight(i) / jumps.first_total(length)
        elif real:
            before = path[j - 1][0]
            probability *= jumps.weight(i - before) / jumps.total(before, length)
        elif i != path[j - 1][0]:
            return 0.0  # a null twin stays where it is
        probability *= (1 - p_null) * emissions[j][i] if real else p_null * null[j]
    return probability


def hmm_chain(emissions, null, jumps, p_null):
    """Return the same HMM as a chain: start [2 I], transitions [2 I, 2 I], emissions [J, 2 I]; real states first."""
    length = len(emissions[0])
    start = np.array([jumps.first_weight(i) for i in range(length)]) / jumps.first_total(length)
    start = np.concatenate([(1 - p_null) * start, p_null * start])
    step = np.array([[jumps.weight(i - before) for i in range(length)] for before in range(length)])
    step = step / step.sum(1, keepdims=True)
    row = np.concatenate([(1 - p_null) * step, p_null * np.eye(length)], axis=1)
    emitted = np.concatenate([emissions, np.repeat(np.asarray(null)[:, None], length, 1)], axis=1)
    return start, np.concatenate([row, row]), emitted


def hmm_forward_backward(emissions, null, jumps, p_null):
    """Return log-likelihood, link posteriors [observed, given], expected jumps and their exposures.

    A jump is a step to a real word; the first word starts somewhere, real or not. The exposure of a jump is the sum
    over all steps of the number of such jumps that were possible, divided by the total of all possible ones' weights.
    """
    start, step, emitted = hmm_chain(emissions, null, jumps, p_null)
    observed, length = len(emitted), len(start) // 2
    alpha, beta, scale = np.zeros(emitted.shape), np.ones(emitted.shape), np.zeros(observed)
    for j in range(observed):
        alpha[j] = (start if j == 0 else alpha[j - 1] @ step) * emitted[j]
        scale[j] = alpha[j].sum()
        alpha[j] /= scale[j]
    for j in range(observed - 2, -1, -1):
        beta[j] = step @ (emitted[j + 1] * beta[j + 1]) / scale[j + 1]
    posteriors = alpha * beta
    counts, exposures = collections.Counter(), collections.Counter()
    for i in range(length):
        counts[jumps.first_key(i)] += posteriors[0, i] + posteriors[0, length + i]
        exposures[jumps.first_key(i)] += 1 / jumps.first_total(length)
    steps = np.zeros((length, length))
    for j in range(1, observed):
        pairs = alpha[j - 1][:, None] * step * (emitted[j] * beta[j] / scale[j])
        steps += pairs[:length, :length] + pairs[length:, :length]  # from either twin to a real state
    for before in range(length):
        for i in range(length):
            counts[jumps.key(i - before)] += steps[before, i]
            exposures[jumps.key(i - before)] += steps[before].sum() / jumps.total(before, length)
    return np.log(scale).sum(), posteriors[:, :length], dict(counts), dict(exposures)


def hmm_best_log_probability(emissions, null, jumps, p_null):
    """Return the logarithm of the most probable path's probability, for sentences of any length."""
    with np.errstate(divide="ignore"):
        start, step, emitted = (np.log(x) for x in hmm_chain(emissions, null, jumps, p_null))
    score = start + emitted[0]
    for row in emitted[1:]:
        score = (score[:, None] + step).max(0) + row
    return score.max()


def ibm_prior(i, j, n_given, n_observed, p_null, tension):
    """Return p(a_j = i) of IBM 1 (tension 0) or of Dyer et al. (2013), section 2; positions from 0."""
    weights = [math.exp(-tension * abs((k + 1) / n_given - (j + 1) / n_observed)) for k in range(n_given)]
    return (1 - p_null) * weights[i] / sum(weights)


def ibm(emissions, null, p_null, tension=0.0):
    """Return likelihood and link posteriors [observed, given], by enumeration; -1 is NULL."""
    n_observed, n_given = len(emissions), len(emissions[0])
    likelihood, posteriors = 0.0, np.zeros((n_observed, n_given))
    for alignment in itertools.product(range(-1, n_given), repeat=n_observed):
        p = 1.0
        for j, i in enumerate(alignment):
            if i < 0:
                p *= p_null * null[j]
            else:
                p *= ibm_prior(i, j, n_given, n_observed, p_null, tension) * emissions[j][i]
        likelihood += p
        for j, i in enumerate(alignment):
            if i >= 0:
                posteriors[j, i] += p
    return likelihood, posteriors / likelihood


def diagonal_distance(posteriors, first=0):
    """Return the expectation of -|i/I - j/J| over real links, summed, and the expected number of these.

    The observed position ``j`` counts from ``first``, in fast_align from 0.
    """
    n_observed, n_given = posteriors.shape
    total = 0.0
    for j in range(n_observed):
        for i in range(n_given):
            total -= posteriors[j, i] * abs((i + 1) / n_given - (j + first) / n_observed)
    return total, posteriors.sum()


# The table of pairs: a corpus is a list of (source words, target words)


def cooccurrence(corpus, weights=None):
    """Return how often each pair of words occurs together, in total weight of the sentences."""
    counts = collections.Counter()
    for k, (source, target) in enumerate(corpus):
        for s in source:
            for t in target:
                counts[s, t] += 1 if weights is None else weights[k]
    return counts


def lexical_counts(corpus, links):
    """Return expected counts of pairs of words; ``links[k]`` is a matrix [source, target] of posteriors."""
    counts = collections.Counter()
    for (source, target), matrix in zip(corpus, links, strict=True):
        for i, s in enumerate(source):
            for j, t in enumerate(target):
                counts[s, t] += matrix[i][j]
    return counts


def agreement(forward, reverse):
    """Return the product of both directions' posteriors (Liang, Taskar & Klein 2006, section 3.2)."""
    return np.asarray(forward) * np.asarray(reverse)


# Deciding on links: matrices [source, target] of posteriors


def above(matrix, threshold):
    """Return the links whose posterior exceeds a threshold, by (i, j)."""
    rows, columns = matrix.shape
    return [(i, j) for i in range(rows) for j in range(columns) if matrix[i, j] > threshold]


def jointly(matrix, threshold):
    """Return the links of mean posteriors where a word's second link needs less beside the first, more elsewhere."""
    rows, columns = matrix.shape
    odds = threshold / (1 - threshold)
    beside, apart = (odds * x / (1 + odds * x) for x in (0.75, 1.5))
    links = []
    for i, j in itertools.product(range(rows), range(columns)):
        p = matrix[i, j]
        better = [
            (x, y) for x, y in itertools.product(range(rows), range(columns))
            if (x == i) != (y == j) and matrix[x, y] > max(p, threshold)
        ]  # fmt: skip
        of_source, of_target = any(x == i for x, _ in better), any(y == j for _, y in better)
        near = of_source != of_target and any(abs(x - i) + abs(y - j) == 1 for x, y in better)
        if p > (beside if near else apart if better else threshold):
            links.append((i, j))
    return links


def best_links(matrix, forward):
    """Return each observed word's most probable link, the first of equals; none where NULL is more probable."""
    links = []
    rows = matrix.T if forward else matrix
    for o, row in enumerate(rows):
        c = int(np.argmax(row)) if len(row) else 0
        if len(row) and row[c] > 0 and row[c] >= 1 - row.sum():
            links.append((c, o) if forward else (o, c))
    return sorted(links)


# Fertility sampler (Östling & Tiedemann 2016). A corpus is a list of (given words, observed words); the state
# is a list of lists: the position that each observed word is linked to, -1 for NULL.


class SplitMix:
    """The generator of Steele, Lea & Flood (2014)."""

    def __init__(self, seed):
        self.state = seed

    def unit(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        z ^= z >> 31
        return (z >> 11) / 2**53


def clip(x, limit):
    return max(-limit, min(x, limit))


def jumps_of(state, n_given):
    """Return the jumps of a sentence, and where from: from before its beginning over its links to past its end."""
    stops = [-1, *(i for i in state if i >= 0), n_given]
    return [(a, b - a) for a, b in itertools.pairwise(stops)]


def jump_row(position, given, jump_rows):
    """Return whose jumps one from a position is among: its word's row, or the beginning's."""
    return "start" if position < 0 else jump_rows[given[position]]


class Counts:
    """Everything that a state of the whole corpus counts; ``left_out`` = (k, o) is treated as not there.

    ``jump_rows`` has a row for each given word; jumps are counted by row and length.
    """

    def __init__(self, corpus, state, most_jump, most_fertility, jump_rows, left_out=None):
        self.pairs, self.words, self.null = (collections.Counter() for _ in range(3))
        self.jumps, self.fertility = collections.Counter(), collections.Counter()
        for k, (given, observed) in enumerate(corpus):
            if not given or not observed:
                continue
            links = [(o, c) for o, c in enumerate(state[k]) if (k, o) != left_out]
            for o, c in links:
                if c < 0:
                    self.null[observed[o]] += 1
                else:
                    self.pairs[given[c], observed[o]] += 1
                    self.words[given[c]] += 1
            jumps = jumps_of([c for _, c in links], len(given))
            self.jumps.update((jump_row(a, given, jump_rows), clip(d, most_jump)) for a, d in jumps)
            for c, word in enumerate(given):
                self.fertility[word, min(sum(x == c for _, x in links), most_fertility)] += 1


def sampling_weights(corpus, state, k, o, candidates, prior):
    """Return the weight of each candidate position of one word, and NULL's, given all other links.

    ``prior`` has alpha, jump, row, fertility (concentrations), most_jump, most_fertility, p_null, types (how many
    observed words a given word can have), null_types and jump_rows. The position itself is not counted among the
    fertilities of its word; fertilities from the highest on share a count.
    """
    given, observed = corpus[k]
    n = Counts(corpus, state, prior["most_jump"], prior["most_fertility"], prior["jump_rows"], (k, o))
    before = next((c for c in reversed(state[k][:o]) if c >= 0), -1)
    after = next((c for c in state[k][o + 1 :] if c >= 0), len(given))
    # there is one from before to after if the word is NULL's, else two others
    n.jumps[jump_row(before, given, prior["jump_rows"]), clip(after - before, prior["most_jump"])] -= 1

    def jump(position, d):
        row, d = jump_row(position, given, prior["jump_rows"]), clip(d, prior["most_jump"])
        everywhere = sum(c for (_, x), c in n.jumps.items() if x == d) + prior["jump"]
        expected = everywhere / (sum(n.jumps.values()) + prior["jump"] * (2 * prior["most_jump"] + 1))
        own = sum(c for (x, _), c in n.jumps.items() if x == row)
        return (n.jumps[row, d] + prior["row"] * expected) / (own + prior["row"])

    def fertility(word, f, now):
        f, now = (min(x, prior["most_fertility"]) for x in (f, now))
        return n.fertility[word, f] - (f == now) + prior["fertility"]

    weights = []
    for c in candidates:
        e, f = given[c], observed[o]
        phi = sum(x == c for other, x in enumerate(state[k]) if other != o)
        weight = (n.pairs[e, f] + prior["alpha"]) / (n.words[e] + prior["alpha"] * prior["types"][e])
        weight *= jump(before, c - before) * jump(c, after - c)
        weight *= fertility(e, phi + 1, phi) / fertility(e, phi, phi)
        weights.append(weight * (1 - prior["p_null"]))
    null = (n.null[observed[o]] + prior["alpha"]) / (sum(n.null.values()) + prior["alpha"] * prior["null_types"])
    return weights, prior["p_null"] * null * jump(before, after - before)


def sample_sweep(corpus, state, candidates, prior, random):
    """Resample every word in order, in place; return the distributions that were sampled from, NULL's left out."""
    shares = []
    for k, (_, observed) in enumerate(corpus):
        shares.append([])
        for o in range(len(observed)):
            places = candidates[k][o]
            if not places:
                shares[-1].append([])
                continue
            weights, null = sampling_weights(corpus, state, k, o, places, prior)
            total = sum(weights) + null
            shares[-1].append([w / total for w in weights])
            u = random.unit() * total
            state[k][o] = -1
            for c, weight in zip(places, weights, strict=True):
                u -= weight
                if u < 0:
                    state[k][o] = c
                    break
    return shares


def believed(cells, inverses, links):
    """Return a sentence pair's lexicon values as they are with links of the pair counted too, of both directions.

    cells (of both directions, dict of (i, j)), inverses (of both directions, by position), links (dict of (i, j)): With
        probabilities.
    """
    found = []
    for d in (0, 1):
        totals = {}
        for cell, p in links.items():
            totals[cell[d]] = totals.get(cell[d], 0.0) + p
        whole = {k: 1.0 / inverses[d][k] + total for k, total in totals.items()}
        found.append(
            {
                cell: (value + links.get(cell, 0.0)) / (inverses[d][cell[d]] * whole[cell[d]])
                if cell[d] in whole
                else value
                for cell, value in cells[d].items()
            }
        )
    return found
