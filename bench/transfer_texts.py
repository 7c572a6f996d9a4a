"""Texts to transfer parsers through: parallel sentences, tagged and aligned, and treebanks to score on."""

import gzip
import html
import random
from dataclasses import dataclass
from pathlib import Path

from bench import measuring

#: By language: parallel texts (the first one as a whole goes before the next), the treebank file to score on, the
#: files that the tagger learns from, and plain text for +U (None: further sentences of the parallel text). PUD is the
#: parallel text of its treebanks, in surface tokens; ko and id have none.
LANGUAGES = {
    "de": (("en-de/train",), "de-test", ("de-dev",), "de-dev"),
    "es": (("en-es/europarl", "en-es/train"), "es-test", ("es-dev",), "es-dev"),
    "fr": (("en-fr/general",), "fr-dev", ("fr-dev",), None),
    "it": (("en-it/train",), "it-dev", ("it-dev",), None),
    "sv": (("en-sv/train",), "sv-test", ("sv-train",), "sv-train"),
    "ja": (("en-ja/train",), "ja-test", ("ja-train",), "ja-train"),
    "pt": (("pud",), "pt-br-dev", ("pt-br-dev",), None),
    "ko": ((), "ko-dev", ("ko-train",), None),
    "id": ((), "id-test", ("id-train",), None),
}
#: Words of a sentence that is used, most pairs that are used, pairs that are aligned, parts that a text which is
#: both learned from and scored on is tagged in, most sentences of plain text.
SHORTEST, LONGEST, PAIRS, ALIGNED, FOLDS, PLAIN = 10, 40, 20_000, 60_000, 4, 2_000
_ENDS = (".", "!", "?", '"', "”", "»", "。", "？", "！", "」")
TAGGER, ALIGNER = ("--members", 2), ("--symmetrize", "intersect")


def source_tags(tagger, text, out, o):
    """Tag a text, a sentence a line."""
    measuring.run(measuring.aligntools("tag", "-m", tagger, text, "-o", out, "--threads", o.threads))


def lines_of(path):
    """Yield lines of a plain or compressed text, without HTML's entities."""
    packed = path.with_name(path.name + ".gz")
    with gzip.open(packed, "rt", encoding="utf-8") if packed.exists() else open(path, encoding="utf-8") as file:
        for line in file:
            yield html.unescape(line.rstrip("\n")) if "&" in line else line.rstrip("\n")


def treebank(folder, name, out):
    """Write a file of google/ as it is but for ids that are damaged, and its words as text; return the sentences."""
    lines, sentences, number = [], [], 0
    for line in lines_of(folder / "google" / f"{name}.conll"):
        number = number + 1 if line.strip() else 0
        if number:
            fields = line.split("\t")
            fields[0] = str(number)
            if number == 1:
                sentences.append([])
            sentences[-1].append((fields[1].replace(" ", "\u00a0"), fields[3]))
            line = "\t".join(fields)
        lines.append(line + "\n")
    out.write_text("".join(lines), encoding="utf-8")
    return sentences


def tagged(path, sentences):
    """Write sentences of (word, tag) as word_TAG lines."""
    path.write_text("".join(" ".join(f"{w}_{t}" for w, t in s) + "\n" for s in sentences), encoding="utf-8")


@dataclass(frozen=True)
class Prepared:
    """Files of a language: ``pairs`` say how many parallel sentences there are."""

    gold: Path
    auto: Path
    source: Path
    target: Path
    links: Path
    plain: Path
    pairs: int


def _usable(a, b):
    n, m = len(a.split()), len(b.split())
    return (
        SHORTEST <= n <= LONGEST and SHORTEST <= m <= LONGEST and max(n, m) <= 2 * min(n, m)
        and a.endswith(_ENDS) and b.endswith(_ENDS)
    )  # fmt: skip


def parallel(o, language):
    """Return sentence pairs of a language and how many of them are to be used; these come first."""
    chosen, others, seen = [], [], set()
    for name in LANGUAGES[language][0]:
        used, rest = [], []
        if name == "pud":
            sides = (_surface(o.treebanks / "ud" / f"{side}_pud.conllu") for side in ("en", language))
        else:
            sides = (lines_of(o.data / f"{name}.{side}") for side in ("en", language))
        for a, b in zip(*sides, strict=True):
            if not a.strip() or not b.strip() or len(a.split()) > 60 or len(b.split()) > 60 or (a, b) in seen:
                continue
            seen.add((a, b))
            (used if _usable(a, b) else rest).append((a, b))
        for part in (used, rest):
            random.Random(1).shuffle(part)
        chosen += used
        others += rest
    return chosen + others, len(chosen)


def _parallel(o, language, folder):
    """Write pairs, those to use first; return how many these are."""
    pairs, chosen = parallel(o, language)
    for k, side in enumerate(("en", language)):
        (folder / f"text.{side}").write_text("".join(p[k] + "\n" for p in pairs[:ALIGNED]), encoding="utf-8")
    return min(PAIRS + PLAIN, chosen)


def _surface(path):
    """Yield the surface tokens of sentences of CoNLL-U, between spaces."""
    words, inside = [], 0
    for line in [*lines_of(path), ""]:
        fields = line.split("\t")
        if len(fields) == 10 and fields[0].replace("-", "").isdigit():
            first, _, last = fields[0].partition("-")
            if int(first) > inside:
                words.append(fields[1].replace(" ", "\u00a0"))
            inside = max(inside, int(last or 0))
        elif not line.strip() and words:
            yield " ".join(words)
            words, inside = [], 0


def _head(source, out, begin, end):
    with open(source, "rb") as file, open(out, "wb") as to:
        for k, line in enumerate(file):
            if begin <= k < end:
                to.write(line)


def prepare(o, folder, language, tagger) -> Prepared:
    """Make the files of a language in a folder, unless they are there; ``tagger`` is the source language's."""
    folder.mkdir(parents=True, exist_ok=True)
    _, test, training, plain = LANGUAGES[language]
    result = [
        folder / name for name in ("gold.conll", "auto.conll", "source.tagged", "target.tagged", "links", "plain")
    ]
    done = folder / "done"
    if done.exists():
        return Prepared(*result, int(done.read_text()))
    own = folder / "tagger"
    gold = treebank(o.treebanks, test, result[0])
    texts = [s for name in training for s in treebank(o.treebanks, name, folder / "train.conll")]
    tagged(folder / "train.tagged", texts)
    train = measuring.aligntools("train-hmm", "-q", "--threads", o.threads, *TAGGER, "--tagged")
    measuring.run([*train, folder / "train.tagged", "-m", own])
    if test in training:
        _tag_in_folds(o, folder, gold, train)
    else:
        measuring.run(measuring.aligntools("tag", "-m", own, result[0], "--column", 4, "-o", result[1]))
    measuring.note(f"{language}: tagger")
    if not LANGUAGES[language][0]:
        done.write_text("0")
        return Prepared(*result, 0)
    n = _parallel(o, language, folder)
    align = measuring.aligntools("align", "-q", "--threads", o.threads, *ALIGNER, "-s", folder / "text.en")
    measuring.run([*align, "-t", folder / f"text.{language}", "-o", folder / "all.links"])
    measuring.note(f"{language}: aligned")
    pairs = n - min(PLAIN, n // 5)
    for side, model, out in (("en", tagger, result[2]), (language, own, result[3])):
        _head(folder / f"text.{side}", folder / f"head.{side}", 0, pairs)
        source_tags(model, folder / f"head.{side}", out, o)
    _head(folder / "all.links", result[4], 0, pairs)
    if plain is None:
        _head(folder / f"text.{language}", folder / "plain.txt", pairs, n)
    else:
        sentences = treebank(o.treebanks, plain, folder / "plain.conll")
        random.Random(1).shuffle(sentences)
        text = "".join(" ".join(w for w, _ in s) + "\n" for s in sentences[:PLAIN])
        (folder / "plain.txt").write_text(text, encoding="utf-8")
    source_tags(own, folder / "plain.txt", result[5], o)
    done.write_text(str(pairs))
    return Prepared(*result, pairs)


def _tag_in_folds(o, folder, gold, train):
    """Tag a text by taggers that did not see the sentences that they tag."""
    found = [None] * len(gold)
    for fold in range(FOLDS):
        tagged(folder / "fold.tagged", [s for k, s in enumerate(gold) if k % FOLDS != fold])
        measuring.run([*train, folder / "fold.tagged", "-m", folder / "fold.tagger"])
        own = [k for k in range(len(gold)) if k % FOLDS == fold]
        text = "".join(" ".join(w for w, _ in gold[k]) + "\n" for k in own)
        (folder / "fold.txt").write_text(text, encoding="utf-8")
        source_tags(folder / "fold.tagger", folder / "fold.txt", folder / "fold.out", o)
        for k, line in zip(own, lines_of(folder / "fold.out"), strict=True):
            found[k] = [token.rpartition("_")[2] for token in line.split(" ")]
    tags = iter([tag for sentence in found for tag in sentence])
    lines = []
    for line in lines_of(folder / "gold.conll"):
        fields = line.split("\t")
        if len(fields) > 3:
            fields[3] = next(tags)
        lines.append("\t".join(fields) + "\n")
    (folder / "auto.conll").write_text("".join(lines), encoding="utf-8")
