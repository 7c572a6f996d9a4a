"""The small texts that every line starts from."""

import re
from pathlib import Path

from aligntools.adapters.eflomal import read_text, write_text
from bench.report import ROOT

SAMPLES = ROOT / "data" / "samples"
#: Sentences of a text, of a treebank, and of what is translated.
PAIRS, TREES, FEW = 24, 16, 4
#: A sentence with a range of words.
DONT = "\n".join(
    "\t".join([number, form, "_", tag, *"_" * 6])
    for number, form, tag in (("1-2", "Don't", "_"), ("1", "Do", "AUX"), ("2", "n't", "PART"), ("3", "go", "VERB"))
)


def _write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _head(name, n):
    return (SAMPLES / name).read_text(encoding="utf-8").split("\n")[:n]


def make(folder: Path) -> None:
    """Write the texts; the lines make the rest, in their order."""
    folder.mkdir(parents=True, exist_ok=True)
    de, en = _head("de-en.de", PAIRS), _head("de-en.en", PAIRS)
    _write(folder / "de", de)
    _write(folder / "en", en)
    _write(folder / "de-en", [f"{a} ||| {b}" for a, b in zip(de, en, strict=True)])
    _write(folder / "fr", _head("fr-en.fr", PAIRS))
    _write(folder / "fr.en", _head("fr-en.en", PAIRS))
    for side, text in (("de", de), ("en", en)):
        _write(folder / f"few.{side}", text[:FEW])
    _write(folder / "mono.en", en[FEW : 2 * FEW])
    _write(folder / "few.plf", _head("de.plf", -1))
    _write(folder / "few.cn", ["Der 0.7 Ein 0.3", "Zug 0.9 *EPS* 0.1", "", "Ich 1", "habe 0.5 hatte 0.5", ""])
    for side, text in (("de", de), ("en", en)):
        sentences, index = read_text(text, True, 0, 0)
        with open(folder / f"{side}.ids", "wb") as file:
            write_text(file, tuple(sentences), len(index))
    _write(folder / "hand.priors", _head("de-en.priors", -1))
    for side, text in (("de", de), ("en", en)):
        _write(folder / f"{side}.vec", _vectors(text))
    _write(
        folder / "de-en.tsv", ["# words", *(f"{a.split()[0]}\t{b.split()[0]};{b}" for a, b in zip(de, en, strict=True))]
    )
    sides = (f"<e><p><l>{a.split()[0]}<b/>und</l><r>{b.split()[0]}</r></p></e>" for a, b in zip(de, en, strict=True))
    _write(folder / "de-en.dix", ["<dictionary><section>", *sides, "</section></dictionary>"])
    for side in ("de", "en"):
        _write(folder / f"tagged.{side}", _head(f"tagged.{side}", -1))
    _write(folder / "known.tsv", [f"{a.split()[0]}\t{b.split()[0]}" for a, b in zip(de, en, strict=True)])
    for name in ("tagged.xlf", "page.de.html", "page.en.txt"):
        _write(folder / name, _head(name, -1))
    _write(folder / "manual.tmx", _head("manual.tmx", -1))
    links = _head("de-en.wa", PAIRS)
    _write(folder / "wa", links)
    _write(folder / "wa.naacl", _numbered(links))
    _write(folder / "en-de.links", [_turned(line) for line in links])
    trees = (SAMPLES / "en.conllu").read_text(encoding="utf-8").split("\n\n")[:TREES]
    (folder / "en.conllu").write_text("\n\n".join(trees) + "\n\n", encoding="utf-8")
    (folder / "ranges.conllu").write_text("\n\n".join([*trees[:8], DONT]) + "\n\n", encoding="utf-8")
    _write(folder / "en.conll09", [_of_2009(row) for tree in trees for row in [*tree.split("\n"), ""]])
    _write(folder / "en.mrg", _head("en.mrg", TREES))
    tagged = _head("en.tagged", TREES)
    _write(folder / "en.tagged", tagged)
    _write(folder / "some.tagged", [line.replace("_NOUN", "__").replace("_VERB", "_DET|PRON") for line in tagged])
    columns = "\n\n".join(line.replace("_", "\t").replace(" ", "\n") for line in tagged)
    (folder / "en.columns").write_text(columns + "\n\n", encoding="utf-8")
    _tables(folder, de, en)
    _write(folder / "de-en.A3", _a3(de, en, links))
    _write(folder / "de-en.bal", _bal(de, en, links))
    _write(folder / "f.log", ["expected target length = source length * 1.1", "     final tension: 4.5"])


def _vectors(text):
    """Numbers for each word: how often each of the first letters comes in it."""
    words = sorted({word for line in text for word in line.split()})
    return [f"{len(words)} 9", *(f"{word} " + " ".join(str(word.count(c)) for c in "enisratdh") for word in words)]


def _of_2009(row):
    """The line of CoNLL-2009 that a line of CoNLL-U is, everything predicted as it is."""
    if row.startswith("#") or not row:
        return row
    number, form, lemma, tag, _, feats, head, label, *_ = row.split("\t")
    return "\t".join([number, form, *[lemma] * 2, *[tag] * 2, *[feats] * 2, *[head] * 2, *[label] * 2, "_", "_"])


def _pairs(line):
    return [tuple(map(int, re.split("[-?]", link))) for link in line.split()]


def _turned(line):
    return " ".join(f"{j}-{i}" for i, j in sorted(_pairs(line)))


def _numbered(links):
    """Gold as the workshop of 2003 had it."""
    for n, line in enumerate(links, 1):
        for link in line.split():
            i, kind, j = re.match(r"(\d+)([-?])(\d+)", link).groups()
            yield f"{n} {int(i) + 1} {int(j) + 1} {'S' if kind == '-' else 'P'}"


def _tables(folder, de, en):
    """Tables of word probabilities as fast_align and GIZA++ write them, with GIZA++'s vocabularies."""
    numbers = {}
    for side, text in (("de", de), ("en", en)):
        words = sorted({w for line in text for w in line.split()})
        numbers[side] = {w: k for k, w in enumerate(words, 2)}
        _write(folder / f"{side}.vcb", [f"{k} {w} 3" for w, k in numbers[side].items()])
    given = [(numbers["de"], x.split(), numbers["en"], y.split()) for x, y in zip(de, en, strict=True)]
    sides = [
        [" ".join(str(of[w]) for w in some) for of, some in (row[:2], row[2:])] for row in given if row[1] and row[3]
    ]
    _write(folder / "de-en.snt", [line for pair in sides for line in ("1", *pair)])
    seen = sorted({(a, b) for x, y in zip(de, en, strict=True) for a in x.split() for b in y.split()})
    for name, (given, other) in {"f": ("de", "en"), "r": ("en", "de")}.items():
        pairs = seen if name == "f" else [(b, a) for a, b in seen]
        _write(folder / f"{name}.p", [f"{a}\t{b}\t-2.5" for a, b in pairs])
        _write(folder / f"{name}.n", [f"{numbers[given][a]} {numbers[other][b]} 0.1" for a, b in pairs])
    _write(folder / "n3", [f"{k} 0.1 0.8 0.1" for k in numbers["de"].values()])
    _write(
        folder / "d3",
        [f"{j} {i} 100 {m} {1 / m:.3f}" for m in range(1, 9) for i in range(1, 9) for j in range(1, m + 1)],
    )


def _bal(de, en, links):
    """Both directions as giza2bal.pl writes them: each word's first link."""
    for x, y, line in zip(de, en, links, strict=True):
        pairs = _pairs(line)
        there, back = {j: i for i, j in reversed(pairs)}, dict(reversed(pairs))
        yield "1"
        for side, first in ((y, there), (x, back)):
            words = side.split()
            yield f"{len(words)} {side} # {' '.join(str(first.get(k, -1) + 1) for k in range(len(words)))}"


def _a3(de, en, links):
    """Viterbi alignments as GIZA++ writes them: English words, each with the positions of its German ones."""
    for n, (x, y, line) in enumerate(zip(de, en, links, strict=True), 1):
        pairs = _pairs(line)
        first = {}
        for i, j in pairs:  # one source word each
            first.setdefault(j, i)
        words = ["NULL", *x.split()]
        held = [[j + 1 for j, i in first.items() if i == k - 1] for k in range(len(words))]
        lengths = f"source length {len(words) - 1} target length {len(y.split())}"
        yield f"# Sentence pair ({n}) {lengths} alignment score : 1e-9"
        yield y
        yield " ".join(
            f"{w} ({{ {' '.join(map(str, h))} }})".replace("{  }", "{ }") for w, h in zip(words, held, strict=True)
        )
