"""Grammars of constituents: F1 of treebank grammars and of latent annotations; time to train and to parse.

Beside them the Berkeley parser and NLTK's, whose trees are scored by the same command.
"""

import json
import subprocess
import time
from dataclasses import replace
from pathlib import Path

from bench import measuring, report

#: Rows of the table besides those of latent annotations: name, and settings.
PLAIN = (
    ("treebank grammar", {"horizontal": 20, "vertical": 1}),
    ("h2 v2 (the default)", {}),
)
CORPORA = {"wsj": "Wall Street Journal sample", "es": "CESS, Spanish"}
PEER = Path(__file__).with_name("peer_grammars.py")
TRAINER, PARSER = (f"edu.berkeley.nlp.PCFGLA.{name}" for name in ("GrammarTrainer", "BerkeleyParser"))


def run(o):
    rows, short = [], []
    for name in o.languages.split(","):
        texts = _texts(o, name)
        systems = [(label, _ours, settings) for label, settings in _systems(o)]
        systems += [(f"Berkeley parser, {n} rounds", _berkeley, n) for n in _rounds(o) if o.berkeley]
        for label, measure, how in systems:
            rows.append([name, label, *measure(o, texts, how)])
            measuring.note(" ".join(rows[-1]))
        for label, measure in (("h2 v2", _ours), ("NLTK, h2 v2", _nltk)) if o.peer_python else ():
            texts["dev"], texts["test"] = (_up_to(_texts(o, name)[part], o.nltk_words) for part in ("dev", "test"))
            found = measure(o, texts, {})
            short.append([name, label, *found[2:]])
            measuring.note(f"up to {o.nltk_words} words: {' '.join(short[-1])}")
    header = ["text", "grammar", "substates", "rules", "train, s", "F1 dev", "F1", "exact", "no tree", "sentences/s"]
    body = [_about(o), report.table(header, rows)]
    if short:
        body += [
            f"Sentences of up to {o.nltk_words} words of the same parts, with NLTK's `ViterbiParser`, whose grammar has"
            " the same binary rules; words that occur once in training are one word there. Its time limit is lifted."
            " Longer sentences take it minutes.",
            report.table([*header[:2], *header[4:]], short),
        ]
    return "\n\n".join([*body, report.circumstances(o.threads)])


def _about(o):
    longest = f" Sentences of up to {o.longest} words alone, in training and scoring." if o.longest else ""
    peer = (
        " Berkeley parser: release 1.7 with `-SMcycles N`, its other defaults, one thread; its times have Java's start"
        " in them."
    )
    return (
        "Labelled F1 as `eval-brackets` counts it, in percent, of `NAME-test.mrg`, and of the development part"
        " `NAME-dev.mrg`. Words without tags; `train-grammar --seed 1` on `NAME-train.mrg`, `parse` with its defaults;"
        " single runs. Members are those of a product of grammars; their substates are counted together. No tree:"
        " sentences of the test part that the grammar has none for. Texts:"
        f" {', '.join(f'{key} ({text})' for key, text in CORPORA.items())}.{longest}{peer if o.berkeley else ''} How"
        " rare and unknown words are estimated was chosen on the development part of wsj, where the default of"
        " `--pruning` was looked at, too; nothing else was chosen."
    )


def _rounds(o):
    return [int(n) for n in o.rounds.split(",") if n]


def _systems(o):
    products = [tuple(map(int, one.split("x"))) for one in o.products.split(",") if one]
    return [
        *PLAIN,
        *((f"latent {n}", {"latent": n}) for n in _rounds(o)),
        *((f"latent {n}, {m} members", {"latent": n, "members": m}) for n, m in products),
    ]


def _texts(o, name):
    """Return the trees of each part without what is not scored."""
    from aligntools.formats.annotation.brackets import plain, read_trees

    found = {}
    for part in ("train", "dev", "test"):
        trees = map(plain, read_trees(o.treebanks / "constituents" / f"{name}-{part}.mrg")[0])
        found[part] = _up_to([tree for tree in trees if tree.label], o.longest)
    return found


def _up_to(trees, most):
    return [tree for tree in trees if len(tree.words()) <= (most or 1 << 60)]


def _cells(sizes, seconds, found, texts, took, without=None):
    """Return the figures of a grammar: of what it found in each part, the seconds for the test part, what has no tree.

    Others write ``(())`` where there is no tree.
    """
    import aligntools as at

    scores = {part: at.score_brackets(texts[part], found[part]) for part in ("dev", "test")}
    return [
        *sizes,
        f"{seconds:.0f}",
        f"{100 * scores['dev'].f1:.1f}",
        f"{100 * scores['test'].f1:.1f}",
        f"{100 * scores['test'].exact:.1f}",
        str(scores["test"].failed if without is None else without),
        f"{len(texts['test']) / took:.3g}",
    ]


def _ours(o, texts, settings):
    """Return the figures of a grammar."""
    import aligntools as at
    from aligntools.ground.parallel import Pool

    last = {}

    def told(step):
        last.update(step.figures if step.stage == "trained" else {})

    began = time.perf_counter()
    parser = at.train_grammar(texts["train"], threads=o.threads, progress=told, **settings)
    seconds, took, trees = time.perf_counter() - began, 0, {}
    for part in ("dev", "test"):
        began = time.perf_counter()
        with Pool(o.threads) as pool:
            found = parser.model.parse([tree.words() for tree in texts[part]], pool=pool)
        took = time.perf_counter() - began
        trees[part] = found.trees
    sizes = [f"{last['substates']:,}", f"{last['rules']:,}"]
    return _cells(sizes, seconds, trees, texts, took, int(found.uncovered.sum()))


def _berkeley(o, texts, rounds):
    """Return the figures of the Berkeley parser."""
    grammar = o.work / "berkeley.gr"
    java = ["java", "-Xmx4g", "-cp", o.berkeley]
    how = ["-treebank", "SINGLEFILE", "-SMcycles", rounds, "-filter", "1.0e-9"]
    usage = measuring.run([*java, TRAINER, "-path", _written(o, texts["train"]), "-out", grammar, *how])
    found = {}
    for part in ("dev", "test"):
        out = o.work / "berkeley.mrg"
        parsing = measuring.run([*java, PARSER, "-gr", grammar], out, stdin=_plain(o, texts[part]))
        found[part] = _read(out)
    return _cells(["", ""], usage.seconds, found, texts, parsing.seconds)


def _nltk(o, texts, _):
    """Return the figures of NLTK's treebank grammar."""
    found, seconds = {}, {}
    for part in ("dev", "test"):
        out = o.work / "nltk.mrg"
        files = _written(o, texts["train"]), _plain(o, texts[part]), out
        done = subprocess.run([o.peer_python, PEER, *files], check=True, stdout=subprocess.PIPE)
        seconds = json.loads(done.stdout)
        found[part] = _read(out)
    return _cells(["", ""], seconds["train"], found, texts, seconds["parse"])


def _written(o, trees):
    """Return a file with trees, one a line, without the lemmas that CESS has."""
    path = o.work / "constituents.mrg"
    path.write_text("".join(f"( {_bare(tree)} )\n" for tree in trees), encoding="utf-8")
    return path


def _bare(tree):
    return replace(tree, children=[_bare(child) for child in tree.children], lemma=None)


def _plain(o, trees):
    """Return a file with the words of trees, brackets written as in trees."""
    path = o.work / "constituents.txt"
    marks = str.maketrans({"(": "-LRB-", ")": "-RRB-"})
    lines = (" ".join(word.translate(marks) for word in tree.words()) for tree in trees)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def _read(path):
    """Return the trees of another program."""
    from aligntools.formats.annotation.brackets import plain, read_trees

    return [plain(tree) for tree in read_trees(path)[0]]
