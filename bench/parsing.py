"""Parsers trained on treebanks: what the features are worth, and what learning, inference and memory cost."""

import json
import resource
import time
from pathlib import Path

import numpy as np

from bench import code, measuring, report

#: Sets of templates, the full one first.
ABLATIONS = ("full", "prefixes", "delexicalized")
#: What is left out of the full set, one group at a time.
GROUPS = {
    "single words": ("w p |", "w |", "| w p", "| w"),
    "words of both ends": ("w p | w p", "p | w p", "w | w p", "w p | p", "w p | w", "w | w"),
    "single tags": ("p |", "| p"),
    "both ends' tags alone": ("p | p",),
    "tags around": ("p p+1 | p-1 p", "p-1 p | p-1 p", "p p+1 | p p+1", "p-1 p | p p+1", "p p+1 | p", "p-1 p | p",
                    "p | p-1 p", "p | p p+1"),
    "tags between": ("p [p] p",),
}  # fmt: skip
#: What was tried for faster marginals over all trees; single runs on another, busy machine.
TRIED = (
    "Ten times `MatrixTree` is not reached for non-projective marginals (2.7 times). Prototypes that are not kept here"
    " had LAPACK's determinant and inverse of a batch slower than the kernel, and they cancel; 8 to 32 sentences side"
    " by side in vectors, with exponentials by a polynomial, were faster by a third to a half, for a second kernel with"
    " other rounding."
)
LENGTHS = (10, 20, 40, 80, 160)
#: Weights of L2 that are tried; sentences, and L2, of an ablation; the English of both schemes.
L2, SHARE, SHARE_L2 = (0.3, 1.0, 3.0, 5.0, 10.0, 30.0), 4000, 10.0
BANKS = {"EWT": "ud/en_ewt-{}.conllu.gz", "Google": "google/en-{}.conll.gz"}


def run(o):
    from aligntools.cli import precompile
    from aligntools.ground.parallel import Pool
    from aligntools.parsing.settings import ParserSettings

    train, test = (_read(o.treebanks / "ud" / f"en_ewt-{part}.conllu.gz") for part in ("train", "test"))
    train = _first(train, o.sentences)
    with Pool(o.threads) as pool:
        precompile.parsing(Path(), pool)
        quality, parser, most = _quality(o, train, test, pool)
        learning = _learning(o, parser, train, pool, most)
        l2, groups = _l2(o, pool), _groups(o, pool)
    with Pool(1) as one:
        body = [
            f"English EWT, UPOS, first {len(train[2]) - 1:,} sentences ({len(train[0]):,} words) of the training part,"
            f" {o.iterations} iterations; UAS on the test part in percent, gold tags, punctuation counted.",
            report.table(["features", "weights in use", "UAS"], quality),
            f"The same full set learned from the first {min(SHARE, o.sentences):,} sentences with L2 {SHARE_L2:g},"
            " with one group of templates left out at a time, and with all distances in one bin:",
            report.table(["left out", "UAS dev", "UAS test"], groups),
            f"UAS by the weight of L2, {o.iterations} iterations, whole training parts of EWT (UPOS) and of Google's"
            f" English (3,300 sentences), on dev and test. `train-parser` default is {ParserSettings.l2:g},"
            " chosen on the dev parts.",
            report.table(["L2", *(f"{name} {part}" for name in BANKS for part in ("dev", "test"))], l2),
            *_peers(o),
            TRIED,
            *learning,
            "Sums over trees (partition function and marginals), random scores, one thread: microseconds per"
            " sentence, in brackets nanoseconds divided by the cube of its number of words:",
            report.table(["words", *map(str, LENGTHS)], _inference(o, one)),
            _parsing(o, parser, test, one),
        ]
    return "\n\n".join([*body, report.circumstances(o.threads)])


def _read(path):
    from aligntools.formats.annotation.conll import read_conll
    from aligntools.formats.annotation.conll_layouts import COLUMNS

    conll = read_conll(str(path))
    return conll.words, conll.column(COLUMNS["upos"]), conll.offsets, conll.heads()


def _first(text, n):
    words, tags, offsets, heads = text
    offsets = offsets[: n + 1]
    return words[: offsets[-1]], tags[: offsets[-1]], offsets, heads[: offsets[-1]]


def _quality(o, train, test, pool):
    """Return what each set of features reaches, the full one's parser and the most memory that it took to learn."""
    from aligntools.parsing.learning import treebank
    from aligntools.parsing.parser import ParserModel
    from aligntools.parsing.settings import ParserSettings

    def learned(name):
        settings = ParserSettings(features=name, iterations=o.iterations, crossing="lift", roots="join", labels=False)
        parser, _ = treebank.train(*train, None, settings, pool)
        parser.save(o.work / f"{stem}.{name}.parser")
        return [f"{np.count_nonzero(parser.weights):,}", _uas(parser, test, pool), f"{_peak():,.0f}"]

    stem = f"parsing.{code.of(_quality)}.{o.sentences}.{o.iterations}.{ParserSettings.l2:g}"
    rows = [[name, *_kept(o, f"{stem} {name}", lambda name=name: learned(name))] for name in ABLATIONS]
    return [row[:3] for row in rows], ParserModel.load(o.work / f"{stem}.full.parser"), rows[0][3]


def _peak():
    """Return the largest resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _learn(text, templates, l2, iterations, pool, bins=None):
    """Return a parser with other templates than the package's sets, or other bins of distances."""
    from aligntools.parsing.feature_space import FeatureSpace, Vocabularies
    from aligntools.parsing.learning import training
    from aligntools.parsing.learning.treebank import usable
    from aligntools.parsing.parser import ParserModel
    from aligntools.parsing.settings import TreeConstraints

    words, tags, offsets, heads = text
    vocabularies, trees = Vocabularies.of(words, tags), TreeConstraints()
    sentences = vocabularies.sentences(words, tags, offsets)
    loss = training.TreeLoss(sentences, usable(heads, offsets, trees, "lift", "join")[0], trees)
    fitted = FeatureSpace.fitted(templates, sentences, pool=pool)
    fitted = fitted if bins is None else FeatureSpace(templates, fitted.bits, bins)
    fit = training.minimize(training.ParserObjective(fitted, [loss], l2, pool), None, iterations, 1e-4)
    return ParserModel(vocabularies, fitted, fit[0], trees, {})


def _uas(parser, text, pool):
    heads = parser.parse(parser.sentences(*text[:3]), pool)[0]
    return f"{100 * float(np.mean(heads == text[3])):.2f}"


def _l2(o, pool):
    from aligntools.parsing.feature_space import SETS

    rows = []
    for l2 in L2:
        row = [f"{l2:g}"]
        for name, file in BANKS.items():
            key = f"l2 {l2:g}, {name}, {o.sentences} sentences, {o.iterations} iterations"
            row += _kept(o, key, lambda l2=l2, file=file: _learned(o, file, o.sentences, SETS["full"], l2, pool))
        rows.append(row)
    return rows


def _groups(o, pool):
    from aligntools.parsing.feature_space import SETS

    n, rows = min(SHARE, o.sentences), []
    for name in ("nothing", *GROUPS, "distance"):
        templates = [t for t in SETS["full"] if t not in GROUPS.get(name, ())]
        bins = (1,) if name == "distance" else None
        key = f"without {name}, {n} sentences, {o.iterations} iterations, l2 {SHARE_L2:g}"
        rows.append([name, *_kept(o, key, lambda t=templates, b=bins: _learned(
            o, BANKS["EWT"], n, t, SHARE_L2, pool, b))])  # fmt: skip
    return rows


def _learned(o, file, sentences, templates, l2, pool, bins=None):
    """Return UAS on dev and test of a parser that learned from the first sentences of a treebank."""
    train, *parts = (_read(o.treebanks / file.format(part)) for part in ("train", "dev", "test"))
    parser = _learn(_first(train, sentences), templates, l2, o.iterations, pool, bins)
    return [_uas(parser, part, pool) for part in parts]


def _kept(o, key, work):
    """Return what was measured before, or measure and keep it."""
    path = o.work / f"parsing-{code.of(_quality, _learned, _read)}.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    if key not in found:
        found[key] = work()
        path.write_text(json.dumps(found, indent=1))
        measuring.note(f"{key}: {', '.join(found[key])}")
    return found[key]


def _peers(o):
    """Return a table from a file, under its first line, which tells how it was measured."""
    if o.peers is None:
        return []
    title, *lines = o.peers.read_text().splitlines()
    header, *rows = [line.split("\t") for line in lines if line]
    return [title, report.table(header, rows)]


def _median(o, work):
    seconds = []
    for _ in range(o.runs):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds))


def _learning(o, parser, train, pool, most):
    from aligntools.parsing.learning import training
    from aligntools.parsing.learning.treebank import usable

    words, tags, offsets, heads = train
    heads = usable(heads, offsets, parser.constraints, "lift", "join")[0]
    sentences = parser.sentences(words, tags, offsets)
    objective = training.ParserObjective(
        parser.space, [training.TreeLoss(sentences, heads, parser.constraints)], 1.0, pool
    )
    seconds = _median(o, lambda: objective(parser.weights))
    bytes_text = sentences.layers.nbytes + sentences.offsets.nbytes
    return [
        f"One evaluation of the objective and its gradient over these sentences, features included: {seconds:.2f} s on"
        f" {o.threads} threads (median of {o.runs}). A million weights take 8 MB, and 160 MB of history in L-BFGS;"
        f" a thousand sentences take {bytes_text / len(sentences) / 1000:.2f} MB of text and"
        f" {16e-3 * sentences.edges[-1] / len(sentences):.1f} MB of edges while they are processed, at"
        f" most {32 * training.CHUNK / 1e6:.0f} MB at a time, and 8 bytes of each edge until the gradient is summed."
        f" Learning the full set took {most} MB of resident memory at most."
    ]


def _inference(o, pool):
    from aligntools.parsing.settings import TreeConstraints
    from aligntools.parsing.trees import inference

    rows = []
    for name, trees in (
        ("projective", TreeConstraints()),
        ("non-projective", TreeConstraints(False)),
    ):
        row = [name]
        for n in LENGTHS:
            count = max(8, 400_000 // n**2)
            offsets = np.arange(count + 1) * n
            scores = np.random.default_rng(1).normal(0, 1, int(inference.edge_offsets(offsets)[-1]))
            seconds = _median(o, lambda s=scores, x=offsets, t=trees: inference.sums(s, x, t, pool)) / count
            row.append(f"{1e6 * seconds:,.0f} ({1e9 * seconds / n**3:.1f})")
        rows.append(row)
    return rows


def _parsing(o, parser, test, pool):
    lengths = np.diff(test[2])
    near = np.flatnonzero((lengths >= 20) & (lengths <= 30))
    words = [w for s in near for w in test[0][test[2][s] : test[2][s + 1]]]
    tags = [t for s in near for t in test[1][test[2][s] : test[2][s + 1]]]
    offsets = np.concatenate([[0], np.cumsum(lengths[near])])
    seconds = _median(o, lambda: parser.parse(parser.sentences(words, tags, offsets), pool))
    return (
        f"Parsing {len(near)} sentences of 20 to 30 words (mean {np.mean(lengths[near]):.1f}), from words and tags in"
        f" memory to trees, one thread: {60 * len(near) / seconds:,.0f} sentences a minute."
    )
