"""Slow, obvious versions of the contrastive model's features and searches. Imports nothing that it checks."""

import itertools
import math
from dataclasses import dataclass, field

NAMES = (
    "translation", "link-count", "relative-position", "cross-count", "monotone-neighbours", "swap-neighbours",
    "source-linked-words", "target-linked-words", "source-max-fertility", "target-max-fertility",
    "source-sibling-distance", "target-sibling-distance", "one-to-one", "one-to-many", "many-to-one", "many-to-many",
    "posterior", "agreement", "rivals", "hardest-rival", "others", "best", "diagonal-support", "side-support",
    "wide-support", "coverage", "forward-use", "reverse-use", "similarity", "same-word", "symbols", "mismatch",
    "frequency-gap", "rarity", "touching", "lonely", "trees",
)  # fmt: skip


@dataclass
class Pair:
    """A sentence pair: its lengths, what is known of cells and words, and the cells that may be linked."""

    n_i: int
    n_j: int
    cells: dict = field(default_factory=dict)  # name -> {(i, j): value}
    s_null: list = field(default_factory=list)
    t_null: list = field(default_factory=list)
    s_odds: list = field(default_factory=list)
    t_odds: list = field(default_factory=list)
    candidates: list = field(default_factory=list)
    s_more: list = field(default_factory=list)  # what networks alone know of words: a list of numbers each
    t_more: list = field(default_factory=list)

    def features(self, links):
        """Return every feature of a set of links, by its definition for the whole alignment."""
        links = set(links)
        by_s = [sorted(j for a, j in links if a == i) for i in range(self.n_i)]
        by_t = [sorted(i for i, b in links if b == j) for j in range(self.n_j)]

        def total(name):
            return sum(self.cells[name][link] for link in links)

        def pairs(test):
            return sum(test(a, b) for a, b in itertools.combinations(sorted(links), 2))

        def holes(rows):
            return sum(row[-1] - row[0] + 1 - len(row) for row in rows if row)

        def kinds(s_many, t_many):
            return sum((len(by_s[i]) > 1) == s_many and (len(by_t[j]) > 1) == t_many for i, j in links)

        def around(link):
            return any(other != link and max(abs(link[0] - other[0]), abs(link[1] - other[1])) == 1 for other in links)

        nulls = sum(x for x, row in zip(self.s_null, by_s, strict=True) if not row)
        nulls += sum(x for x, row in zip(self.t_null, by_t, strict=True) if not row)
        odds = sum(x for x, row in zip(self.s_odds, by_s, strict=True) if row)
        odds += sum(x for x, row in zip(self.t_odds, by_t, strict=True) if row)
        product = [(b[0] - a[0]) * (b[1] - a[1]) for a, b in itertools.combinations(sorted(links), 2)]
        return {
            "translation": total("translation") + nulls,
            "link-count": len(links),
            "relative-position": sum(abs((i + 1) / self.n_i - (j + 1) / self.n_j) for i, j in links),
            "cross-count": sum(p < 0 for p in product),
            "monotone-neighbours": sum(p == 1 for p in product),
            "swap-neighbours": sum(p == -1 for p in product),
            "source-linked-words": sum(map(bool, by_s)),
            "target-linked-words": sum(map(bool, by_t)),
            "source-max-fertility": max(map(len, by_s)),
            "target-max-fertility": max(map(len, by_t)),
            "source-sibling-distance": holes(by_s),
            "target-sibling-distance": holes(by_t),
            "one-to-one": kinds(False, False),
            "one-to-many": kinds(True, False),
            "many-to-one": kinds(False, True),
            "many-to-many": kinds(True, True),
            **{name: total(name) for name in self.cells if name != "translation"},
            "coverage": odds,
            "touching": pairs(lambda a, b: abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1),
            "lonely": sum(not around(link) for link in links),
        }

    def score(self, links, weights):
        """Return the weighted sum of features."""
        features = self.features(links)
        return sum(w * features[name] for name, w in weights.items())

    def alignments(self):
        """Yield every set of candidate links."""
        for size in range(len(self.candidates) + 1):
            yield from map(frozenset, itertools.combinations(self.candidates, size))

    def best(self, weights, n, allowed=lambda links: True):
        """Return the ``n`` best alignments, (score, links), from best to worst."""
        scored = [(self.score(links, weights), links) for links in self.alignments() if allowed(links)]
        return sorted(scored, key=lambda x: -x[0])[:n]

    def expectations(self, weights):
        """Return ln Z and the expected features over all alignments."""
        found = [(self.score(links, weights), self.features(links)) for links in self.alignments()]
        most = max(s for s, _ in found)
        z = sum(math.exp(s - most) for s, _ in found)
        expected = {n: sum(math.exp(s - most) / z * f[n] for s, f in found) for n in NAMES}
        return most + math.log(z), expected


def one_to_one(links):
    """Return whether no word has two links."""
    return len({i for i, _ in links}) == len(links) == len({j for _, j in links})


def nests(links):
    """Return whether blocks of links can be built by joining two neighbours, straight or inverted."""
    rows = {i: r for r, i in enumerate(sorted({i for i, _ in links}))}
    columns = {j: r for r, j in enumerate(sorted({j for _, j in links}))}
    return _builds(frozenset((rows[i], columns[j]) for i, j in links))


def _builds(links):
    if len(links) < 2 or _joined(links):
        return _solid(links)
    for cut in sorted({i for i, _ in links})[1:]:
        first = frozenset(x for x in links if x[0] < cut)
        second = links - first
        for low, high in ((first, second), (second, first)):
            if max(j for _, j in low) < min(j for _, j in high) and _builds(first) and _builds(second):
                return True
    return False


def _joined(links):
    """Return whether the links hang together through words that they share."""
    rest = set(links)
    reached = [rest.pop()]
    while reached:
        i, j = reached.pop()
        near = {x for x in rest if x[0] == i or x[1] == j}
        rest -= near
        reached.extend(near)
    return not rest


def _solid(links):
    """Return whether the words of a block follow each other without holes."""
    for side in (0, 1):
        words = {x[side] for x in links}
        if words and max(words) - min(words) + 1 != len(words):
            return False
    return True


def changed(name):
    """Return what a feature is called when source and target change places."""
    if name.startswith(("forward-", "reverse-")):
        return {"forward": "reverse", "reverse": "forward"}[name[:7]] + name[7:]
    return name


def network_odds(pair, names, network, exchanged=True):
    """Return the log-odds of a pair's candidates under a network, by its definition cell by cell.

    Each network judges the pair and, if ``exchanged``, the pair with its sides exchanged; else one of both, in turns.

    ``network`` maps names of arrays to nested lists; see `aligntools.aligning.contrastive.kernels_linknetwork`.
    """
    around = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]

    def times(values, matrix):
        return [sum(v * row[b] for v, row in zip(values, matrix, strict=True)) for b in range(len(matrix[0]))]

    def plus(*lists):
        return [sum(values) for values in zip(*lists, strict=True)]

    def cut(x):
        return min(max(x, -12.0), 14.0)

    def once(turned, m):
        def place(cell):
            return cell[::-1] if turned else cell

        s_words = [[null, odds, *more] for null, odds, more in zip(pair.s_null, pair.s_odds, pair.s_more, strict=True)]
        t_words = [[null, odds, *more] for null, odds, more in zip(pair.t_null, pair.t_odds, pair.t_more, strict=True)]
        asked = [changed(name) if turned else name for name in names]
        h = {}
        for cell in pair.candidates:
            both = s_words[cell[0]], t_words[cell[1]]
            own = [cut(x) for word in (both[::-1] if turned else both) for x in word]
            x = [pair.cells[name][cell] for name in asked] + own
            z = plus(network["first_bias"][m], times(x, network["first"][m]))
            h[place(cell)] = [max(v, 0.0) for v in z]
        for matrices, bias in zip(network["layers"][m], network["biases"][m], strict=True):
            new = {}
            for (i, j), values in h.items():
                z = plus(bias, times(values, matrices[0]))
                for d, (a, b) in enumerate(around):
                    if (i + a, j + b) in h:
                        z = plus(z, times(h[i + a, j + b], matrices[1 + d]))
                for axis, matrix in ((0, matrices[9]), (1, matrices[10])):
                    line = [v for c, v in h.items() if c[axis] == (i, j)[axis]]
                    z = plus(z, times([max(column) for column in zip(*line, strict=True)], matrix))
                new[i, j] = plus(values, [max(v, 0.0) for v in z])
            h = new
        found = {}
        for cell in pair.candidates:
            last = sum(v * w for v, w in zip(h[place(cell)], network["last"][m], strict=True))
            found[cell] = last + network["last_bias"][m] + network["trust"][m] * pair.cells["posterior"][cell]
        return found

    each = range(len(network["trust"]))
    runs = [once(turned, m) for turned in (False, True) for m in each if exchanged or m % 2 == turned]
    return [sum(run[cell] for run in runs) / len(runs) for cell in pair.candidates]


def phrases(linked, odds, bonus, longest):
    """Return a pair's links with those of phrases, by trying all blocks of candidates.

    ``odds`` maps all candidates, pairs ``(i, j)``, to their log-odds; ``linked`` is a set of some of them.
    """
    found, used = set(linked), (set(), set())
    sizes = [max((cell[d] for cell in odds), default=-1) + 1 for d in (0, 1)]
    spans = [[range(a, b) for a in range(n) for b in range(a + 1, min(n, a + longest) + 1)] for n in sizes]
    worth = []
    for rows in spans[0]:
        for columns in spans[1]:
            block = {(i, j) for i in rows for j in columns}
            touching = {(i, j) for i, j in linked if i in rows or j in columns}
            gain = sum(odds.get(cell, 0.0) + bonus for cell in block - set(linked))
            if block <= set(odds) and touching and touching <= block and gain > 0:
                worth.append((gain, rows, columns, block))
    for _, rows, columns, block in sorted(worth, key=lambda x: -x[0]):
        if not used[0] & set(rows) and not used[1] & set(columns):
            found |= block
            used[0].update(rows)
            used[1].update(columns)
    return found
