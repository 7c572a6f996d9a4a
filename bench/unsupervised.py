"""Parsers learned from tags alone on short sentences, beside branching baselines and transferred parsers."""

import json
from itertools import pairwise

import numpy as np

from bench import code, measuring, report, transfer, transfer_texts

#: Languages of google/, the text that a column was chosen on first. Those of transfer also have its columns.
#: How the dependency model with valence is learned: as in its paper, and what is best on "en" (see `TRIED`).
PAPER = {}
CHOSEN = {"estimator": "vb", "prior": 0.5, "decay": 2.0}
#: What was tried for that.
TRIED = {
    "estimator": ("em", "vb"),
    "prior": (0.1, 0.5),
    "decay": (1.0, 1.5, 2.0, 3.0),
}
#: Words of a sentence that counts, without punctuation.
LONGEST = 10
TRANSFERRED = ("DTP", "PTP", "-U", "+U")


def run(o):
    from aligntools.ground.parallel import Pool

    rows, tried = [], []
    names = o.languages.split(",")
    with Pool(o.threads) as pool:
        for name in names:
            rows.append(_row(o, name, pool))
            measuring.note(" ".join(rows[-1]))
        tried = _tried(o, pool)
    others = [row for row in rows if not row[0].startswith("en")]
    if others:
        rows.append(["mean without en", *(_mean([row[k] for row in others]) for k in range(1, len(rows[0])))])
    header = ["language", "sentences", "next", "previous", "DMV, EM", "DMV, VB", *TRANSFERRED]
    chosen = ", ".join(f"--{name} {value:g}" if name != "estimator" else f"--{name} {value}"
                       for name, value in CHOSEN.items())  # fmt: skip
    body = [
        f"UAS in percent on the sentences of Google's treebanks that have at most {LONGEST} words without punctuation,"
        " punctuation not counted, gold tags, as tables 6 and 7 of Ma & Xia 2014 have it (`eval-uas --punct ud"
        f" --max-length {LONGEST}`). Next, previous: every word's head is the next word, the previous one. DMV:"
        " `train-parser --unsupervised`, from the tags of all such sentences of all parts of the language's treebank,"
        " trees aside; it is scored on the test part, or the dev part where there is no other, and on all of en. EM is"
        f" the default, which is as in Klein & Manning (2004), from the harmonic start; VB is {chosen}, the best on en"
        " with twelve tags of what the second table has; figures of the other languages had been seen by then. en"
        " Penn: the same text with"
        " the Penn Treebank's tags. Klein & Manning have 43.2 for 7,422 sentences of the Wall Street Journal, Penn"
        " tags, and other heads.",
        report.table(header, rows),
        f'The other columns are the parsers of section "Parsers for languages without treebanks", {o.pairs:,} pairs,'
        " on the same sentences and gold tags; `-` where that section has none.",
        "UAS on en by what can be chosen:",
        report.table(["tags, estimator, prior", *(f"decay {x:g}" for x in TRIED["decay"])], tried),
    ]
    return "\n\n".join([*body, report.circumstances(o.threads)])


def _row(o, name, pool):
    train, gold, column = _texts(o, name)
    row = [name, f"{_sentences(gold):,}", *(_uas(gold, _branching(o, gold, step)) for step in (1, -1))]
    for how in (PAPER, CHOSEN):
        row.append(_induced(o, train, gold, column, how, pool))
    return [*row, *(_transferred(o, name, system, pool) for system in TRANSFERRED)]


def _folder(o):
    return code.place(o.work, "unsupervised", _texts)


def _texts(o, name):
    """Return the text to learn from and the one to score on, with their columns of tags; written if need be."""
    language, column = name.split()[0], "xpos" if name.endswith("Penn") else "upos"
    folder = _folder(o)
    parts = [p for p in ("train", "dev", "test") if (o.treebanks / "google" / f"{language}-{p}.conll.gz").exists()]
    paths = [folder / f"{language}-{part}.conll" for part in parts]
    for path in paths:
        transfer_texts.treebank(o.treebanks, path.stem, path)
    train = folder / f"{language}.conll"
    train.write_bytes(b"".join(path.read_bytes().rstrip(b"\n") + b"\n\n" for path in paths))
    if language == "en":
        return train, train, column
    return train, folder / f"{language}-{'test' if 'test' in parts else 'dev'}.conll", column


def _read(path):
    """Return a file, its words that count, and where its sentences begin and end."""
    from aligntools.formats.annotation.conll import read_conll
    from aligntools.formats.annotation.conll_layouts import COLUMNS

    conll = read_conll(str(path))
    counted = np.array([tag != b"." for tag in conll.column(COLUMNS["upos"])])
    return conll, counted, list(zip(conll.offsets[:-1].tolist(), conll.offsets[1:].tolist(), strict=True))


def _sentences(path):
    _, counted, sentences = _read(path)
    return sum(0 < counted[a:b].sum() <= LONGEST for a, b in sentences)


def _branching(o, path, step):
    """Write trees in which each word that counts has the next one as its head (step 1) or the previous one (-1)."""
    from aligntools.formats.annotation.conll_layouts import COLUMNS

    conll, counted, sentences = _read(path)
    heads = np.zeros(len(counted), np.int64)
    for a, b in sentences:
        words = (np.flatnonzero(counted[a:b]) + 1).tolist()[::-step]  # the root's first
        root = words[0] if words else 1
        heads[a:b] = root
        heads[a + root - 1] = 0
        for above, word in pairwise(words):
            heads[a + word - 1] = above
    out = _folder(o) / "parsed.conll"
    out.write_bytes(conll.format({COLUMNS["head"]: [b"%d" % h for h in heads]}))
    return out


def _induced(o, train, gold, column, how, pool):
    """Return the score of a parser without trees; what was measured before is kept."""
    import aligntools

    path = o.work / f"unsupervised-{code.of(_induced, _texts)}.json"
    key = f"{train.stem} {column} {json.dumps(how, sort_keys=True)}"
    found = json.loads(path.read_text()) if path.exists() else {}
    if key not in found:
        parser = aligntools.induce_parser(train, column=column, max_length=LONGEST, threads=pool, **how)
        found[key] = _uas(gold, _parsed(o, parser, gold, pool))
        path.write_text(json.dumps(found, indent=1))
    return found[key]


def _parsed(o, parser, gold, pool):
    out = _folder(o) / "parsed.conll"
    out.write_bytes(parser.parse_text(_read(gold)[0], threads=pool).format())
    return out


def _uas(gold, parsed):
    import aligntools

    return f"{100 * aligntools.score_trees(gold, parsed, punct='ud', max_length=LONGEST).uas:.1f}"


def _transferred(o, name, system, pool):
    """Return the score of a parser that `transfer` made, or - where there is none."""
    import aligntools

    folder = transfer.folder(o) / name
    pairs = 0 if system == "DTP" else o.pairs
    models = sorted(folder.glob(f"{system}.{pairs}.parser"))
    if name not in transfer_texts.LANGUAGES or system not in transfer.SYSTEMS or not models:
        return "-"
    parser = aligntools.Parser.load(models[-1])
    return _uas(folder / "gold.conll", _parsed(o, parser, folder / "gold.conll", pool))


def _tried(o, pool):
    rows = []
    for name in ("en", "en Penn"):
        train, gold, column = _texts(o, name)
        for estimator in TRIED["estimator"]:
            for prior in TRIED["prior"]:
                how = [{"estimator": estimator, "prior": prior, "decay": decay} for decay in TRIED["decay"]]
                found = [_induced(o, train, gold, column, one, pool) for one in how]
                rows.append([f"{'12 tags' if name == 'en' else 'Penn tags'}, {estimator}, {prior:g}", *found])
    return rows


def _mean(values):
    """Return the mean of figures, or - where one is none."""
    return f"{np.mean([float(x) for x in values]):.1f}" if all("." in x for x in values) else "-"
