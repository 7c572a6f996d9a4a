"""How well lists of the best alignments stand for all of them (Liu & Sun 2015, section 4.1): Figures 2 to 4, Table 1.

The error is their equation 19: the mean over pairs and features of the absolute difference between the exact and the
approximate ``E[observed] - E[noisy]``, and its mean over random weight vectors (equation 21).
"""

from dataclasses import dataclass, replace

import numpy as np

from bench import report

#: TrainingLists up to this length are looked at in the figures.
LONGEST_LIST = 15
#: List lengths, and numbers of samples, of Table 1.
SAMPLES = (1, 5, 10, 50, 100, 500)
#: What the paper's Table 1 has.
PAPER = {
    "Gibbs": (1.5411, 0.7410, 0.6550, 0.5498, 0.5396, 0.5180),
    "top-n": (0.1653, 0.1477, 0.1396, 0.1108, 0.1086, 0.0932),
}
#: Words of a short and of a long sentence.
SHORT, LONG = (1, 4), (10, 100)
#: Ranges that weights are also drawn from, to see what Figure 2 owes to their size.
RANGES = (0.25, 0.5, 1.0, 2.0, 4.0)
#: Keeps a target word from being linked twice in sampling, as a weight of links that share one.
FORBIDDEN = -1e6
#: Cells of a table of scores worked at a time.
CELLS = 1 << 18
#: Cells of a block in the search for the largest.
BLOCK = 64


@dataclass
class Pairs:
    """Sentence pairs and a noisy copy of each; every cell of the link matrix is a candidate.

    Attributes
    ----------
    both : CandidateLinks
        The observed pairs, then their copies.
    words : float
        Mean length of an observed side.
    """

    both: object
    words: float

    @property
    def count(self):
        """Return the number of observed pairs."""
        return len(self.both) // 2

    def first(self, n):
        """Return the first ``n`` pairs alone."""
        from aligntools.aligning.contrastive.candidates import concatenate

        n, m = min(n, self.count), self.count
        return replace(self, both=concatenate([self.both.part(0, n), self.both.part(m, m + n)]))

    def parts(self):
        """Return the candidates of each pair, the observed ones first."""
        return [self.both.part(k, k + 1) for k in range(len(self.both))]

    def error(self, exact, approximate):
        """Return equation 19 from expected features, float64 [2 * pairs, ..., features]."""
        m = self.count
        difference = exact - approximate
        return np.abs(difference[:m] - difference[m:]).mean(axis=(0, -1))


def draw(model, pool, bitext, lengths, count, seed):
    """Draw pairs and corrupt them, each way a quarter of them, so that the copies are within ``lengths`` too."""
    from aligntools.aligning.contrastive.candidates import CandidateFinder, concatenate
    from aligntools.aligning.contrastive.noise import has_changed, noisy, pick
    from aligntools.aligning.contrastive.settings import NOISE

    least, most = lengths
    sides = np.stack([bitext.source.lengths(), bitext.target.lengths()])
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.flatnonzero((sides.min(0) >= least) & (sides.max(0) <= most)))
    finder = CandidateFinder(model, pool, candidates="all")
    observed, corrupted, used = [], [], np.zeros(0, np.int64)
    for number, kind in enumerate(NOISE):
        fit = np.setdiff1d(order, used, assume_unique=True)
        fit = fit[sides[:, fit].max(0) < most] if kind == "insert" else fit
        fit = fit[sides[:, fit].min(0) > least] if kind == "delete" and least > 1 else fit
        wanted = count // len(NOISE) + (number < count % len(NOISE))
        part = pick(bitext, fit[: 2 * wanted])  # twice as many: a copy may be what it is a copy of
        copy = noisy(part, kind, seed + number)
        changed = np.flatnonzero(has_changed(part, copy))[:wanted]
        used = np.concatenate([used, fit[changed]])
        if len(changed):
            observed.append(finder.find_all(pick(part, changed)))
            corrupted.append(finder.find_all(pick(copy, changed)))
    if not observed:
        raise SystemExit(f"no sentence pair has from {least} to {most} words on each side")
    mixed = rng.permutation(len(used))  # so that the first few are of all kinds
    parts = [e.part(k, k + 1) for e in map(concatenate, (observed, corrupted)) for k in mixed.tolist()]
    return Pairs(concatenate(parts), float(sides[:, used].mean()))


def random_weights(count, active, reach, seed):
    """Return weight vectors, each active weight uniform in [-reach, reach], float64 [count, FEATURES]."""
    drawn = np.random.default_rng(seed).uniform(-reach, reach, (count, len(active)))
    return np.where(active, drawn, 0.0)


def list_expectations(candidates, weights, active, settings):
    """Return expected features over the 1, 2, ... ``n_best`` best of each list, float64 [sentences, n_best, active].

    A list of ``n`` is the beginning of a longer one: the search goes by its beam alone.
    """
    from aligntools.aligning.contrastive.search import search

    best = search(candidates, weights, active, settings)
    p = np.exp(best.scores - best.scores[:, :1])
    sums = np.cumsum(p[:, :, None] * best.features(active)[:, :, active], axis=1)
    return sums / np.cumsum(p, axis=1)[:, :, None]


def _largest(x, n):
    """Return where the ``n`` largest of each row are, in any order, int64 [rows, n].

    They are in the ``n`` blocks whose own largest is largest, so that most of a long row is looked at only once.
    """
    rows, total = x.shape
    if total >= 64 * BLOCK and total % BLOCK == 0:
        highest = x.reshape(rows, -1, BLOCK).max(axis=2)
        blocks = np.argpartition(highest, highest.shape[1] - n, axis=1)[:, highest.shape[1] - n :]
        places = (blocks[:, :, None] * BLOCK + np.arange(BLOCK)).reshape(rows, -1)
        return np.take_along_axis(places, _largest(np.take_along_axis(x, places, axis=1), n), axis=1)
    return np.argpartition(x, total - n, axis=1)[:, total - n :]


def _top(features, weights, n):
    """Return of one pair whose alignments are all given, for each weight vector, what the best ``n`` hold.

    Parameters
    ----------
    features : float64 [alignments, K]; weights : float64 [V, K]

    Returns
    -------
    float64 [V, n], [V, n, K], [V, K]
        Share of the mass in the best 1..n; features expected over these; over all.
    """
    total, size = len(features), min(n, len(features))
    mass, partial, exact = np.ones((len(weights), n)), np.empty((len(weights), n, features.shape[1])), []
    step = max(1, CELLS // total)
    for a in range(0, len(weights), step):
        scores = weights[a : a + step] @ features.T
        scores -= scores.max(axis=1, keepdims=True)
        best = _largest(scores, size)
        p = np.exp(scores, out=scores)
        z = p.sum(axis=1, keepdims=True)
        exact.append(p @ features / z)
        chosen = np.take_along_axis(p, best, axis=1)
        order = np.argsort(-chosen, axis=1, kind="stable")
        best, chosen = np.take_along_axis(best, order, axis=1), np.take_along_axis(chosen, order, axis=1)
        sums = np.cumsum(chosen, axis=1)
        mass[a : a + step, :size] = sums / z
        partial[a : a + step, :size] = np.cumsum(chosen[:, :, None] * features[best], axis=1) / sums[:, :, None]
        partial[a : a + step, size:] = exact[-1][:, None]
    return mass, partial, np.concatenate(exact)


def _enumerated(pairs, weights, active, pool):
    """Enumerate every pair and its copy.

    Returns
    -------
    float64 [2 * pairs, V, K], [pairs, V, LONGEST_LIST], [pairs, V, LONGEST_LIST]
        Exact expected features; share of the mass in the best alignments of the observed pairs; error of expectations
        over the best, each pair's part of equation 19.
    """
    from bench.contrastive_exact import enumerate_features

    def top(candidates):
        features = np.ascontiguousarray(enumerate_features(candidates, active)[:, active])
        return _top(features, weights[:, active], LONGEST_LIST)

    def task(k):
        (mass, some, exact), (_, some_copy, exact_copy) = (top(parts[n]) for n in (k, k + pairs.count))
        error = np.abs((exact - exact_copy)[:, None] - (some - some_copy)).mean(axis=-1)
        return exact, exact_copy, mass, error

    parts = pairs.parts()
    exact, exact_copy, mass, error = map(np.stack, zip(*pool.map(task, range(pairs.count)), strict=True))
    return np.concatenate([exact, exact_copy]), mass, error


def short(pairs, o, pool):
    """Figures 2 and 3: the paper's sixteen features on short pairs, all alignments enumerated."""
    from aligntools.aligning.contrastive.features import select
    from aligntools.aligning.contrastive.search import SearchSettings

    active = select("paper")
    weights = random_weights(o.vectors, active, o.reach, o.seed)
    exact, mass, best = _enumerated(pairs, weights, active, pool)
    settings = SearchSettings(beam=o.beam, n_best=LONGEST_LIST, source_limit=SHORT[1], target_limit=SHORT[1])

    def task(v):
        lists = list_expectations(pairs.both, weights[v], active, settings)
        return pairs.error(exact[:, v, None], lists)

    searched = np.stack(pool.map(task, range(len(weights))))
    by_vector = mass.mean(axis=0)
    few, ranges = pairs.first(20), {}
    for reach in RANGES:
        _, m, _ = _enumerated(few, weights[:100] * (reach / o.reach), active, pool)
        m = m[..., 4]
        ranges[str(reach)] = [float(x) for x in (m.mean(), (m.mean(0) > 0.99).mean(), (m > 0.99).mean())]
    return {
        "pairs": pairs.count, "words": pairs.words, "vectors": len(weights),
        "mass": by_vector.mean(0).tolist(), "low": np.quantile(by_vector, 0.05, axis=0).tolist(),
        "middle": np.median(by_vector, axis=0).tolist(), "vectors99": (by_vector > 0.99).mean(0).tolist(),
        "cases99": (mass > 0.99).mean((0, 1)).tolist(),
        "searched": searched.mean(0).tolist(), "best": best.mean((0, 1)).tolist(), "ranges": ranges,
    }  # fmt: skip


def _chain(pairs):
    """Return the pairs with source words that cost nothing without a link, as the chain needs it."""
    return replace(pairs, both=replace(pairs.both, s_words=np.zeros_like(pairs.both.s_words)))


def long(pairs, o, pool):
    """Figure 4: the five local features on long pairs, each target word linked at most once, by dynamic programming."""
    from aligntools.aligning.contrastive.features import select
    from aligntools.aligning.contrastive.search import SearchSettings
    from bench.contrastive_exact import chain_expectations

    active = select("local")
    pairs = _chain(pairs)
    weights = random_weights(o.long_vectors, active, o.reach, o.seed)
    settings = SearchSettings(beam=o.beam, n_best=LONGEST_LIST, source_limit=LONG[1], target_limit=1)

    def task(v):
        exact = np.stack([chain_expectations(e, weights[v])[1] for e in parts])[:, None, active]
        return pairs.error(exact, list_expectations(pairs.both, weights[v], active, settings))

    parts = pairs.parts()
    errors = pool.map(task, range(len(weights)))
    return {
        "pairs": pairs.count, "words": pairs.words, "vectors": len(weights),
        "searched": np.mean(errors, axis=0).tolist(),
    }  # fmt: skip


def gibbs(long_pairs, short_pairs, o, pool):
    """Table 1: lists against Gibbs samples; on long pairs as in Figure 4, and on short ones as in Figure 3.

    On long pairs the sampler too links a target word at most once: links that share one are given a weight that
    forbids them. It samples every link in turn given all others, from random alignments on.
    """
    from aligntools.aligning.contrastive import kernels_features as kf
    from aligntools.aligning.contrastive.features import select
    from aligntools.aligning.contrastive.search import SearchSettings
    from bench.contrastive_exact import (
        chain_expectations,
        enumerate_features,
        expectations,
        gibbs_features,
    )

    def compare(pairs, active, exact_of, forbid, limits):
        settings = SearchSettings(beam=o.beam, n_best=SAMPLES[-1], **limits)
        weights = random_weights(o.gibbs_vectors, active, o.reach, o.seed)
        parts, number, sampled_active = pairs.parts(), np.array(SAMPLES), active.copy()
        sampled_active[forbid] = True

        def task(v):
            exact, given = exact_of(weights[v], parts), weights[v].copy()
            given[forbid] = FORBIDDEN
            means = []
            for k, e in enumerate(parts):
                drawn = gibbs_features(e, given, sampled_active, SAMPLES[-1], seed=1 + o.seed + len(parts) * v + k)
                means.append(np.cumsum(drawn[:, active], axis=0)[number - 1] / number[:, None])
            lists = list_expectations(pairs.both, weights[v], active, settings)[:, number - 1]
            return pairs.error(exact[:, None], np.stack(means)), pairs.error(exact[:, None], lists)

        errors = pool.map(task, range(len(weights)))
        return np.mean(errors, axis=0).tolist()

    local, paper = select("local"), select("paper")
    far, near = _chain(long_pairs.first(o.gibbs_pairs)), short_pairs.first(o.gibbs_pairs)
    tables = pool.map(lambda e: enumerate_features(e, paper)[:, paper], near.parts())

    def by_enumeration(weights, parts):
        return np.stack([expectations(table, weights[paper])[1] for table in tables])

    def by_chain(weights, parts):
        return np.stack([chain_expectations(e, weights)[1] for e in parts])[:, local]

    sharing = [kf.MANY_ONE, kf.MANY_MANY]
    once = {"source_limit": LONG[1], "target_limit": 1}
    any_number = {"source_limit": SHORT[1], "target_limit": SHORT[1]}
    return {
        "long": compare(far, local, by_chain, sharing, once),
        "short": compare(near, paper, by_enumeration, [], any_number),
        "pairs": [far.count, near.count], "vectors": o.gibbs_vectors,
    }  # fmt: skip


def plot(folder, measured):
    """Draw the three figures where matplotlib is there; return their paths, none without it.

    Parameters
    ----------
    measured : dict
        Set -> {"short": .., "long": ..}, either of which may be missing.
    """
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("Agg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    n = range(1, LONGEST_LIST + 1)
    drawn = []
    plans = (
        ("figure2", "short", "share of the probability mass", (("middle", "-", "median vector"), ("low", ":", "5 %"))),
        ("figure3", "short", "average approximation error", (("searched", "-", "search"), ("best", ":", "true best"))),
        ("figure4", "long", "average approximation error", (("searched", "-", "search"),)),
    )
    for name, part, label, curves in plans:
        if not any(part in found for found in measured.values()):
            continue
        figure, axes = pyplot.subplots(figsize=(5.5, 3.6), layout="constrained")
        for number, (which, found) in enumerate(measured.items()):
            for key, style, text in curves if part in found else ():
                axes.plot(n, found[part][key], style, color=f"C{number}", marker=".", label=f"{which}, {text}")
        axes.set(xlabel="n", ylabel=label, xticks=list(n))
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
        path = folder / f"contrastive-{name}.png"
        figure.savefig(path, dpi=100, metadata={"Software": None})
        pyplot.close(figure)
        drawn.append(path)
    return drawn


def _rounded(x):
    return f"{x:.3f}" if abs(x) >= 0.0995 else f"{x:.4f}"


def figure2(found):
    """Return the text of Figure 2; found: set -> what was measured."""
    shown = (1, 2, 3, 5, 10, 15)
    header = ["n", *(f"{name}: {what}" for name in found for what in ("mean", "median", "5 %", "vectors", "cases"))]
    keys = ("mass", "middle", "low", "vectors99", "cases99")
    rows = [[n, *(f"{100 * f[key][n - 1]:.1f}" for f in found.values() for key in keys)] for n in shown]
    ranges = [
        [f"[-{r}, {r}]", *(f"{100 * x:.1f}" for f in found.values() for x in f["ranges"][r])] for r in map(str, RANGES)
    ]
    return [
        "### Figure 2: share of the mass in the best n alignments\n\nPercent, all alignments of pairs of 1 to 4 words"
        " enumerated, the paper's 16 features. For each weight vector the mean over pairs is taken; shown are its mean,"
        " its median and its 5 % quantile over vectors, the share of vectors for which it is over 99 %, and the share"
        " of single cases, a pair and a vector. " + _counts(found),
        report.table(header, rows),
        "The same for n = 5 when the weights are drawn from other ranges (100 vectors, 20 pairs at most): concentration"
        " comes with the size of the weights.",
        report.table(["weights in", *(f"{n}: {x}" for n in found for x in ("mean", "vectors", "cases"))], ranges),
    ]


def _counts(found):
    return " ".join(
        f"{name}: {f['pairs']} pairs of {f['words']:.1f} words per side, {f['vectors']:,} vectors."
        for name, f in found.items()
    )


def _falls(found, key):
    """Say whether an error falls with n on every set."""
    rises = [n for n, f in found.items() if any(b > a + 1e-9 for a, b in zip(f[key][:-1], f[key][1:], strict=True))]
    return f"It rises somewhere on {', '.join(rises)}." if rises else "It falls with every n on every set."


def figure3(found):
    """Return the text of Figure 3; found: set -> what was measured."""
    rows = [
        [n + 1, *(_rounded(f[key][n]) for f in found.values() for key in ("searched", "best"))]
        for n in range(LONGEST_LIST)
    ]
    return [
        "### Figure 3: error of lists on short pairs\n\nEquation 19, 16 features, compared with enumeration: the list"
        " that the search finds, and the true n best. " + _falls(found, "searched"),
        report.table(["n", *(f"{name}, {x}" for name in found for x in ("search", "true best"))], rows),
    ]


def figure4(found):
    """Return the text of Figure 4; found: set -> what was measured."""
    rows = [[n + 1, *(_rounded(f["searched"][n]) for f in found.values())] for n in range(LONGEST_LIST)]
    return [
        "### Figure 4: error of lists on long pairs\n\nEquation 19, the five local features, pairs of 10 to 100 words"
        " per side, each target word linked at most once, compared with dynamic programming; source words have no"
        f" NULL cost here. {_counts(found)} {_falls(found, 'searched')} The paper's is below 0.17.",
        report.table(["n", *found], rows),
    ]


def table1(found):
    """Return the text of Table 1; found: set -> what was measured."""
    rows = []
    for k, n in enumerate(SAMPLES):
        cells = [_rounded(f[where][way][k]) for f in found.values() for where in ("long", "short") for way in (0, 1)]
        rows.append([n, f"{PAPER['Gibbs'][k]:.4f}", f"{PAPER['top-n'][k]:.4f}", *cells])
    header = ["samples, n", "paper: Gibbs", "paper: top-n"]
    header += [f"{name} {where}: {way}" for name in found for where in ("long", "short") for way in ("Gibbs", "top-n")]
    better = [
        f"{name} {where}"
        for name, f in found.items()
        for where in ("long", "short")
        if f[where][1][0] < f[where][0][-1]
    ]
    sizes = "; ".join(f"{n}: {f['pairs'][0]} long and {f['pairs'][1]} short pairs" for n, f in found.items())
    vectors = next(iter(found.values()))["vectors"]
    return [
        "### Table 1: lists against Gibbs samples\n\nEquation 19. *long* as in Figure 4, the sampler too linking each"
        " target word at most once; *short* as in Figure 3. A sample is a sweep over all cells; sampling starts from"
        f" a random alignment. {vectors} vectors; {sizes}. The best alignment alone is nearer than 500 samples on:"
        f" {', '.join(better) or 'none'}; of {2 * len(found)}.",
        report.table(header, rows),
    ]
