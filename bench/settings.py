"""AER with one setting changed at a time, on several language pairs: why the defaults are what they are."""

import dataclasses
import statistics

from bench import code, measuring, report, texts
from bench.quality import Figures

#: Settings that need a training of their own.
TRAINED = {
    "alpha 0.05": {"alpha": 0.05},
    "alpha 0.1": {"alpha": 0.1},
    "alpha 0.4": {"alpha": 0.4},
    "no look-alikes": {"look_alike": False},
    "no agreement": {"agreement": False},
    "1 iteration of IBM 1": {"ibm_iterations": 1},
    "3 iterations of IBM 1": {"ibm_iterations": 3},
    "5 iterations of IBM 1": {"ibm_iterations": 5},
    "7 iterations of IBM 1": {"ibm_iterations": 7},
    "1 iteration of the HMM": {"model_iterations": 1},
    "2 iterations of the HMM": {"model_iterations": 2},
    "4 iterations of the HMM": {"model_iterations": 4},
    "6 iterations of the HMM": {"model_iterations": 6},
    "p(NULL) 0.04": {"p_null": 0.04},
    "p(NULL) 0.16": {"p_null": 0.16},
    "sampler's p(NULL) 0.05": {"sampler_p_null": 0.05},
    "sampler's p(NULL) 0.2": {"sampler_p_null": 0.2},
    "10 sweeps": {"sweeps": 10},
    "60 sweeps": {"sweeps": 60},
}
#: Members of the model that decoding looks at.
VIEWS = ((0,), (5,), (0, 5), (0, 5, 4), (0, 5, 4, 3))
#: Weights of the HMM beside the sampler: at 0 the sampler alone, at 1 the HMM alone.
WEIGHTS = (0.0, 0.25, 0.5, 1.0)
THRESHOLDS = (0.3, 0.4, 0.5)
#: What ``align`` uses where ``--threshold`` is not given.
THRESHOLD = 0.4


def run(o):
    if not o.data:
        raise SystemExit("settings need gold links: --data DIR")
    kept, own = Figures(o.work / "settings.tsv"), f"aligntools {code.of(_measure, texts.text)}"
    columns, names = {}, o.sets.split(",")
    for name in names:
        rows = kept.rows.get((name, own), {})
        missing = [row for row in _rows() if row not in rows]
        if missing:
            kept.add(name, own, _measure(o, texts.text(o.data, name, o.work), missing))
        columns[name] = {row: figures[0] for row, figures in kept.rows[name, own].items()}
    order = list(_rows())
    means = {row: statistics.mean(columns[name][row] for name in names) for row in order}
    lines = []
    for row in order:
        cells = [f"{columns[name][row]:.1f}" for name in names]
        change = "" if row == "default" else f"{means[row] - means['default']:+.2f}"
        lines.append([row, *cells, f"{means[row]:.2f}", change])
    body = [
        f"AER in percent of the joint decision; the default settings are {_defaults()}, threshold {THRESHOLD}."
        " Each row changes one of them. The gold links were used only for this table.",
        report.table(["setting", *names, "mean", "change"], lines),
        report.circumstances(o.threads),
    ]
    return "\n\n".join(body)


def _defaults():
    from aligntools.aligning.settings import AlignerSettings

    settings = dataclasses.asdict(AlignerSettings(subwords=0).resolved(100_000))
    leave = ("model", "direction", "tension", "optimize_tension", "favor_diagonal", "seed")
    return ", ".join(f"{name} {value}" for name, value in settings.items() if name not in leave)


def _decoded():
    """Return how each row that needs no training differs: views, weight, threshold; None is the default."""
    rows = {"default": (None, None, None)}
    rows |= {f"views {', '.join(str(v or 'whole') for v in views)}": (views, None, None) for views in VIEWS}
    rows |= {f"weight of the HMM {weight:g}{_alone(weight)}": (None, weight, None) for weight in WEIGHTS}
    return rows | {f"threshold {threshold}": (None, None, threshold) for threshold in THRESHOLDS}


def _alone(weight):
    return {0.0: " (sampler alone)", 1.0: " (no sampler)"}.get(weight, "")


def _rows():
    return [*_decoded(), *TRAINED]


def _measure(o, text, missing):
    """Yield ``row, AER, precision, recall`` for each row that is missing."""
    from aligntools.aligning.settings import AlignerSettings
    from aligntools.ground.parallel import Pool

    with Pool(o.threads) as pool:
        bench = _Bench(text, pool)
        default = AlignerSettings(subwords=0).resolved(len(bench.bitext.source.tokens))
        decoded = {row: how for row, how in _decoded().items() if row in missing}
        if decoded:
            measuring.note(f"{text.name}: default, {text.n_pairs} pairs")
            every = tuple(dict.fromkeys([*default.views, *(v for views in VIEWS for v in views)]))
            members = dict(zip(every, bench.train(dataclasses.replace(default, views=every)), strict=True))
            for row, (views, weight, threshold) in decoded.items():
                settings = default if weight is None else dataclasses.replace(default, hmm_weight=weight)
                chosen = [members[view] for view in views or default.views]
                yield row, *bench.score(chosen, settings, THRESHOLD if threshold is None else threshold)
        for row, changes in TRAINED.items():
            if row in missing:
                measuring.note(f"{text.name}: {row}")
                settings = dataclasses.replace(default, **changes)
                yield row, *bench.score(bench.train(settings), settings, THRESHOLD)


class _Bench:
    """A text in memory, and its gold sentences as a text of their own."""

    def __init__(self, text, pool):
        from aligntools.formats.links.goldlinks import read_gold
        from aligntools.formats.text.bitext import read_bitext
        from aligntools.formats.text.corpus import Bitext, Side

        self.pool = pool
        whole = self.bitext = read_bitext(str(text.source), str(text.target))
        self.gold = read_gold(str(text.gold), format="pharaoh")
        n = text.n_gold
        sides = [Side(s.tokens[: s.offsets[n]], s.offsets[: n + 1]) for s in (whole.source, whole.target)]
        self.head = Bitext(*sides, whole.source_vocabulary, whole.target_vocabulary, whole.skipped)

    def train(self, settings):
        """Return the members of a model."""
        from aligntools.aligning.training.stages import train

        return train(self.bitext, settings, self.pool, 24_000_000)

    def score(self, members, settings, threshold):
        """Return AER, precision and recall in percent."""
        from aligntools.aligning.applying.applier import Applier, decide
        from aligntools.aligning.applying.kernels_decoding import JOINT
        from aligntools.formats.links.pharaoh import Links, concatenate
        from aligntools.metrics.aer import Aer

        sizes = len(self.bitext.source_vocabulary), len(self.bitext.target_vocabulary)
        links = []
        for posteriors in Applier(members, settings, sizes).posteriors(self.head, self.pool):
            pairs, offsets, _ = decide(posteriors, JOINT, threshold, self.pool)
            links.append(Links(pairs, offsets))
        score = Aer().score(self.gold, concatenate(links))
        return 100 * score.aer, 100 * score.precision, 100 * score.recall
