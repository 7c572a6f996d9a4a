"""Grammars of constituents: F1 of treebank grammars and of latent annotations; time to train and to parse."""

import time

from bench import measuring, report

#: Rows of the table besides those of latent annotations: name, and settings.
PLAIN = (
    ("treebank grammar", {"horizontal": 20, "vertical": 1}),
    ("h2 v2 (the default)", {}),
)
CORPORA = {"wsj": "Wall Street Journal sample", "es": "CESS, Spanish"}


def run(o):
    rows = []
    for name in o.languages.split(","):
        for label, settings in _systems(o):
            rows.append([name, label, *_row(o, name, settings)])
            measuring.note(" ".join(rows[-1]))
    header = ["text", "grammar", "substates", "rules", "train, s", "F1 dev", "F1", "exact", "no tree", "sentences/s"]
    body = [
        "Labelled F1 as `eval-brackets` counts it, in percent, of `NAME-test.mrg`, and of the development part"
        " `NAME-dev.mrg`. Words without tags; `train-grammar --seed 1` on `NAME-train.mrg`, `parse` with its defaults;"
        " single runs. No tree: sentences of the test part that the grammar has none for. Texts:"
        f" {', '.join(f'{key} ({text})' for key, text in CORPORA.items())}. The default of `--pruning` was looked at on"
        " the development part of wsj; nothing else was chosen.",
        report.table(header, rows),
    ]
    return "\n\n".join([*body, report.circumstances(o.threads)])


def _systems(o):
    rounds = [int(n) for n in o.rounds.split(",") if n]
    return [*PLAIN, *((f"latent {n}", {"latent": n}) for n in rounds)]


def _row(o, name, settings):
    """Return the figures of a grammar."""
    import aligntools as at
    from aligntools.ground.parallel import Pool

    texts = {part: o.treebanks / "constituents" / f"{name}-{part}.mrg" for part in ("train", "dev", "test")}
    last = {}

    def told(step):
        last.update(step.figures if step.stage == "trained" else {})

    began = time.perf_counter()
    parser = at.train_grammar(texts["train"], threads=o.threads, progress=told, **settings)
    seconds = time.perf_counter() - began
    scores, rates = {}, {}
    for part in ("dev", "test"):
        gold = list(_trees(texts[part]))
        began = time.perf_counter()
        with Pool(o.threads) as pool:
            found = parser.model.parse([tree.words() for tree in gold], pool=pool)
        rates[part] = len(gold) / (time.perf_counter() - began)
        scores[part] = at.score_brackets(gold, found.trees)
    return [
        f"{last['substates']:,}",
        f"{last['rules']:,}",
        f"{seconds:.0f}",
        f"{100 * scores['dev'].f1:.1f}",
        f"{100 * scores['test'].f1:.1f}",
        f"{100 * scores['test'].exact:.1f}",
        str(int(found.uncovered.sum())),
        f"{rates['test']:.1f}",
    ]


def _trees(path):
    """Yield the trees of a file without what is not scored."""
    from aligntools.formats.annotation.brackets import plain, read_trees

    for tree in read_trees(path)[0]:
        yield plain(tree)
