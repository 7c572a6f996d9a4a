"""Why plain text adds little to transferred parsers: ways to use it, and what they change, on dev parts."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench import code, measuring, report, transfer, transfer_texts

#: The dev part that is scored, with gold tags, and the text without trees that plays the plain text.
PARTS = {"de": ("de-dev", "auto"), "es": ("es-dev", "auto"), "sv": ("sv-dev", "plain")}
#: Steps of L-BFGS from zero, and of each training that goes on; L2 as `transfer-parse` has it.
FIRST, FURTHER, L2, TOLERANCE = 60, 40, 100.0, 2e-4


def arguments(parser):
    parser.add_argument("--treebanks", required=True, type=Path, metavar="DIR", help="folder of google/ and ud/")
    parser.add_argument("--languages", default=",".join(PARTS), metavar="A,B", help="[%(default)s]")
    parser.add_argument("--pairs", type=int, default=2000, metavar="N", help="[%(default)s]")


def run(o):
    from aligntools.ground.parallel import Pool

    kept = o.work / f"transfer_study-{code.of(_Study, transfer._Bench, 'bench.transfer_study.VARIANTS')}.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    base, languages = transfer._Bench(o), o.languages.split(",")
    with Pool(o.threads) as pool:
        for language in languages:
            if all(f"{language} {o.pairs} {name}" in found for name in VARIANTS):
                continue
            study = _Study(o, base, language, pool)
            for name, work in VARIANTS.items():
                key = f"{language} {o.pairs} {name}"
                if key not in found:
                    found[key] = study.changes(work(study))
                    kept.write_text(json.dumps(found, indent=1))
                    measuring.note(f"{key}: {found[key]}")
    rows = []
    for name in VARIANTS:
        own = [found[f"{language} {o.pairs} {name}"] for language in languages]
        cells = [f"{100 * x['uas']:.1f} ({100 * x['better']:.1f}, {100 * x['worse']:.1f})" for x in own]
        rows.append([name, *cells, f"{100 * np.mean([x['uas'] for x in own]):.1f}"])
    return "Plain text in transfer", "\n\n".join(
        [
            f"UAS in percent on the dev parts with gold tags, punctuation counted, through {o.pairs:,} pairs; in"
            " brackets how many percent of all words got a right head, and a wrong one, in place of -U's. Plain text:"
            f" up to {transfer_texts.PLAIN:,} sentences of the treebank's other part, without trees."
            " Settings are chosen on these texts.",
            report.table(["way", *languages, "mean"], rows),
            "Entropy: equation 11 with gamma and the order. Annealed: gamma 0.01, 0.03, 0.1, 0.3, one after the other."
            " Own beliefs: cross-entropy with -U's own edges on the plain text, the power of its probabilities given"
            " (1 is what the paper's K_U differentiates, held fixed). Unaligned words: the transferred distribution"
            " again, its unaligned edges weighed by -U instead of by the English parser without words, in two rounds."
            " Rounds of agreement: cross-entropy with -U's edges on the pairs, 1 added to the scores of edges that the"
            " English tree has. Shared: `--direct-share`. Mixed when parsing: no training; probabilities of -U and,"
            " with 0.2, of the parser without words.",
            report.circumstances(o.threads),
        ]
    )


@dataclass
class _Text:
    words: list
    tags: list
    offsets: np.ndarray


class _Study:
    """One language: its pairs, its plain text and what -U learns."""

    def __init__(self, o, base, language, pool):
        from aligntools.formats.annotation.conll import read_conll
        from aligntools.formats.annotation.tagged import read_tags
        from aligntools.formats.links.pharaoh import read_pharaoh
        from aligntools.parsing.features.space import FeatureSpace, templates_of
        from aligntools.parsing.features.vocabularies import Vocabularies
        from aligntools.parsing.learning import training
        from aligntools.parsing.parser import ParserModel
        from aligntools.parsing.settings import TreeConstraints
        from aligntools.parsing.text import TaggedText
        from aligntools.parsing.transfer import learning, projection
        from aligntools.parsing.trees import inference

        def tagged(path):
            text = read_tags(str(path))
            return TaggedText(text.words, text.tags, text.offsets)

        self.training, self.projection, self.inference = training, projection, inference
        self.pool, self.trees = pool, TreeConstraints()
        part, plain = PARTS[language]
        files, folder = base.text(language), base.folder
        self.parser = ParserModel.load(str(base.english()[1]))
        side = learning.Side(self.parser, tagged(files.source), tagged(files.target), read_pharaoh(str(files.links)))
        self.whole, self.pairs = side, o.pairs
        self.side = self._first(0.8)
        self.plain = tagged(files.auto if plain == "auto" else files.plain)
        lengths = np.diff(self.plain.offsets)
        self.plain = self.plain.chosen((lengths >= 3) & (np.arange(len(lengths)) < transfer_texts.PLAIN))
        dev = folder / f"{part}.conll"
        transfer_texts.treebank(o.treebanks, part, dev)
        gold = read_conll(str(dev))
        self.heads = gold.heads()
        texts = [self.side.target, self.plain]
        self.vocabularies = Vocabularies.of([w for t in texts for w in t.words], [g for t in texts for g in t.tags], 2)
        self.x, self.u = (self.seen(text) for text in texts)
        self.dev_text = _Text(gold.words, gold.column(3), gold.offsets)
        self.dev = self.seen(self.dev_text)
        self.space = FeatureSpace.fitted(templates_of("full"), self.x, 19, pool=pool)
        self.direct = projection.direct(self.parser, labels=False)
        self.loss = training.ExpectedLoss(self.x, self.expected(self.side), self.trees)
        self.weights = self.fit([self.loss], None, FIRST)
        self.before = self.parsed(self.weights) == self.heads

    def seen(self, text, of=None):
        return (of or self.vocabularies).sentences(text.words, text.tags, text.offsets)

    def _first(self, aligned):
        """Return the first pairs with at least that share of aligned words."""
        target = self.whole.target
        linked = np.concatenate([[0], np.cumsum(self.whole.aligned() >= 0)])[target.offsets]
        keep = np.diff(linked) >= aligned * np.diff(target.offsets)
        keep[np.flatnonzero(keep)[self.pairs :]] = False
        return self.whole.chosen(keep)

    def expected(self, side):
        x, y = (self.seen(text, self.parser) for text in (side.source, side.target))
        aligned = side.aligned()
        return self.projection.expected_edges(self.parser, x, y, aligned, self.trees, self.pool, "posterior")

    def fit(self, losses, start=None, steps=FURTHER):
        training = self.training
        objective = training.Objective(self.space, losses, L2, self.pool)
        return training.minimize(objective, start, steps, TOLERANCE).weights

    def scores(self, weights, sentences):
        return self.space.scores(weights, sentences, self.pool)

    def marginals(self, scores, sentences):
        return self.inference.sums(scores, sentences.offsets, self.trees, self.pool).marginals

    def parsed(self, weights):
        return self.best(self.scores(weights, self.dev))

    def best(self, scores):
        return self.inference.best_trees(scores, self.dev.offsets, self.trees, self.pool)[0]

    def changes(self, heads):
        """Return UAS, and how many words got right and got wrong."""
        right = heads == self.heads
        better, worse = np.mean(right & ~self.before), np.mean(~right & self.before)
        return {"uas": float(right.mean()), "better": float(better), "worse": float(worse)}


def _entropy(gammas, alpha=1.0):
    def work(study):
        weights = study.weights
        for gamma in gammas:
            loss = study.training.EntropyLoss(study.u, study.trees, gamma, alpha)
            weights = study.fit([study.loss, loss], weights)
        return study.parsed(weights)

    return work


def _own(power):
    def work(study):
        found = study.marginals(power * study.scores(study.weights, study.u), study.u)
        loss = study.training.ExpectedLoss(study.u, found, study.trees)
        return study.parsed(study.fit([study.loss, loss], study.weights))

    return work


def _shared(share):
    def work(study):
        others = [study.direct.scores(study.seen(study.plain, study.direct), study.pool)]
        scores = study.scores(study.weights, study.u)
        found = study.projection.shared_edges(scores, others, share, study.u.offsets, study.trees, study.pool)
        loss = study.training.ExpectedLoss(study.u, found, study.trees)
        return study.parsed(study.fit([study.loss, loss], study.weights))

    return work


def _mixed(study):
    other = study.marginals(study.direct.scores(study.seen(study.dev_text, study.direct), study.pool), study.dev)
    own = study.marginals(study.scores(study.weights, study.dev), study.dev)
    return study.best(np.log(np.clip(0.8 * own + 0.2 * other, 1e-6, 1.0)))


def _unaligned(study):
    """Weigh unaligned edges by the learned parser, twice."""
    side, projection, weights = study.side, study.projection, study.weights
    aligned, source = side.aligned(), study.seen(side.source, study.parser)
    theirs = np.log(np.clip(study.marginals(study.parser.scores(source, study.pool), source), projection.LEAST, 1))
    words = study.x.offsets - study.x.offsets[0]
    for _ in range(2):
        own = np.log(np.clip(study.marginals(study.scores(weights, study.x), study.x), projection.LEAST, 1))
        x = (study.x.lengths, study.x.edges, 0, len(study.x))
        projection.kernels.transfer_edges(aligned, words, *x, theirs, source.lengths, source.edges, own)
        loss = study.training.ExpectedLoss(study.x, study.marginals(own, study.x), study.trees)
        weights = study.fit([loss], weights)
    return study.parsed(weights)


def _agreement(study):
    side, projection, weights = study.side, study.projection, study.weights
    source = study.seen(side.source, study.parser)
    trees = study.parser.parse(source, study.pool).heads
    agreement = projection.agreement(trees, source, study.x, side.aligned(), study.pool)
    for _ in range(3):
        found = study.marginals(study.scores(weights, study.x) + agreement, study.x)
        weights = study.fit([study.training.ExpectedLoss(study.x, found, study.trees)], weights)
    return study.parsed(weights)


def _pairs(aligned):
    def work(study):
        side = study._first(aligned)
        x = study.seen(side.target)
        return study.parsed(study.fit([study.training.ExpectedLoss(x, study.expected(side), study.trees)], None, FIRST))

    return work


VARIANTS = {
    "-U": lambda study: study.parsed(study.weights),
    "entropy, 0.03": _entropy((0.03,)),
    "entropy, 0.1": _entropy((0.1,)),
    "entropy, 0.3": _entropy((0.3,)),
    "entropy, annealed": _entropy((0.01, 0.03, 0.1, 0.3)),
    "Rényi's entropy (2), 0.03": _entropy((0.03,), 2.0),
    "Rényi's entropy (2), 0.3": _entropy((0.3,), 2.0),
    "own beliefs, power 1": _own(1.0),
    "own beliefs, power 2": _own(2.0),
    "unaligned words": _unaligned,
    "rounds of agreement": _agreement,
    "pairs from 60 %": _pairs(0.6),
    "all pairs": _pairs(0.0),
    "shared, 0.15": _shared(0.15),
    "shared, 0.3": _shared(0.3),
    "mixed when parsing": _mixed,
}
