"""Grammars of constituents learned without trees: EM, variational Bayes, neural and compound PCFGs, and branching."""

import json
import statistics
import time

from bench import code, measuring, report

#: Settings of `train-grammar --text`; the rest are its defaults.
SYSTEMS = {
    "EM, tags": {"estimator": "em"},
    "VB, tags": {"estimator": "vb"},
    "EM, tags, in brackets": {"estimator": "em", "brackets": 1},
    "EM, tags, in a quarter of the brackets": {"estimator": "em", "brackets": 4},
    "neural, tags": {"estimator": "neural", "symbols": 30},
    "compound, tags": {"estimator": "compound", "symbols": 30},
    "neural, words": {"estimator": "neural", "symbols": 30, "terminals": "words"},
    "compound, words": {"estimator": "compound", "symbols": 30, "terminals": "words"},
}
#: Where branching trees are cut: every word for itself, from the left or from the right.
BRANCHING = {"left-branching": -1, "right-branching": 1}
#: Words of a sentence that is scored, punctuation counted.
LONGEST = 40


def run(o):
    rows = []
    for name in o.languages.split(","):
        texts = {part: _trees(o, name, part) for part in ("train", "dev", "test")}
        for system, side in BRANCHING.items():
            found = [_f1(texts[part], [_branching(tree, side) for tree in texts[part]]) for part in ("dev", "test")]
            rows.append([name, system, "", "", *(f"{100 * f1:.1f}" for f1 in found)])
        for system in o.systems.split(";"):
            figures = [_kept(o, name, texts, system, seed) for seed in map(int, o.seeds.split(","))]
            columns = zip(((1, 0), (1, 2), (100, 1), (100, 1)), zip(*figures, strict=True), strict=True)
            rows.append([name, system, *(_cell(values, *how) for how, values in columns)])
            measuring.note(" ".join(rows[-1]))
    header = ["text", "grammar", "train, CPU s", "objective a word", "F1 dev", "F1"]
    body = [
        "Unlabelled F1 in percent, as `eval-brackets --unlabelled --no-whole --max-length 40` counts it: without"
        " punctuation and without brackets around whole sentences and single words, on sentences of up to"
        f" {LONGEST} words of `NAME-dev.mrg` and `NAME-test.mrg`. Learned from the words and tags of `NAME-train.mrg`"
        f" (`train-grammar --text --max-length {o.longest}`, so from sentences of up to {o.longest} words without"
        " punctuation), `parse` from words with tags. In brackets: trees of `NAME-train.mrg` with"
        " `--brackets`, whole or with each fourth of their constituents. EM and VB: 15 symbols above tags, 100"
        " iterations. Neural and compound: 30 symbols, 60 preterminals, width 256, 10 passes, as the paper has them but for the encoder"
        " (256 for 512) and the length of sentences. Settings are defaults or"
        " the paper's; F1 of the development part had been seen, and nothing was chosen by it."
        f" Seeds: {o.seeds}; of several, mean and standard deviation. The objective is the log-likelihood, or its bound"
        " (VB, compound), and not comparable between rows. Kim, Dyer & Rush (2019) have 50.8 for neural and 55.2 for"
        " compound PCFGs, words, means of four runs on the whole treebank, sentences of all lengths, by sentence; their"
        " code was not run on this text.",
        report.table(header, rows),
    ]
    return "\n\n".join([*body, report.circumstances(o.threads)])


def _cell(values, times, digits):
    values = [times * value for value in values]
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{spread}"


def _trees(o, name, part):
    """Return trees without what is not scored."""
    from aligntools.formats.annotation.brackets import plain, read_trees

    found = map(plain, read_trees(o.treebanks / "constituents" / f"{name}-{part}.mrg")[0])
    return [tree for tree in found if tree.label]


def _f1(gold, found):
    import aligntools as at

    return at.score_brackets(gold, found, unlabelled=True, whole=False, max_length=LONGEST).f1


def _branching(tree, side):
    """Return a tree over the same words, all of whose constituents branch to one side; punctuation as in `parse`."""
    from aligntools.constituents.inducing.model import is_punctuation, put_together

    words, tags = tree.words(), tree.tags()
    kept = [k for k, tag in enumerate(tags) if not is_punctuation(tag)]
    n = len(kept)
    if side > 0:
        nodes = [node for k in range(n - 1) for node in ([k, n, 0], [k, k + 1, -1])] + [[n - 1, n, -1]] * (n > 0)
    else:
        nodes = [[0, end, 0] for end in range(n, 1, -1)] + [[k, k + 1, -1] for k in range(n)]
    return put_together(nodes, kept, words, tags)


def _kept(o, name, texts, system, seed):
    """Return the figures of a grammar, from the work folder where they are there."""
    path = code.place(o.work, "without-trees", _figures) / f"{name}-{system}-{seed}-{o.longest}.json"
    if not path.exists():
        path.write_text(json.dumps(_figures(o, texts, SYSTEMS[system], seed)))
        measuring.note(f"{name}, {system}, seed {seed}: {path.read_text()}")
    return json.loads(path.read_text())


def _thinned(trees, every):
    """Return trees with one in so many of their constituents."""
    from aligntools.formats.annotation.brackets import Tree

    count = 0

    def below(tree):
        nonlocal count
        if tree.word is not None:
            return [tree]
        count += 1
        own, kept = count, [one for child in tree.children for one in below(child)]
        return kept if own % every else [Tree(tree.label, kept)]

    return [Tree("TOP", below(tree)) for tree in trees]


def _figures(o, texts, settings, seed):
    """Return CPU seconds, the objective for each word, and F1 of both parts."""
    import aligntools as at
    from aligntools.ground.parallel import Pool

    last = {}

    def told(step):
        last.update(step.figures)
        if "step" in step.figures and settings["estimator"] in ("neural", "compound"):
            measuring.note(f"{settings}: {dict(step.figures)}")

    text = [list(zip(tree.words(), tree.tags(), strict=True)) for tree in texts["train"]]
    if every := settings.get("brackets"):
        text, settings = _thinned(texts["train"], every), settings | {"brackets": True}
    began = time.process_time()
    how = {"max_length": o.longest, "seed": seed, "threads": o.threads}
    parser = at.induce_grammar(text, progress=told, **how, **settings)
    seconds, scores = time.process_time() - began, []
    for part in ("dev", "test"):
        gold = texts[part]
        with Pool(o.threads) as pool:
            words, tags = [tree.words() for tree in gold], [tree.tags() for tree in gold]
            scores.append(_f1(gold, parser.model.parse(words, tags, pool=pool).trees))
    return [seconds, last["objective"] / last["words"], *scores]
