"""Word classes of plain text as features of taggers and parsers that learn from few sentences."""

import gzip
import itertools
import json
import random
import statistics

from bench import code, measuring, report

#: Treebank to draw from, treebank to score on, plain text.
SETS = {
    "en": ("ud/en_ewt-train.conllu.gz", "ud/en_ewt-test.conllu.gz", "en-fr/general.en.gz"),
    "sv": ("google/sv-train.conll.gz", "google/sv-test.conll.gz", "en-sv/train.sv.gz"),
}
#: Sentences of plain text that are taken have so many words.
LENGTHS = range(8, 41)


def run(o):
    sizes = list(zip(*(map(int, x.split(",")) for x in (o.sizes, o.draws)), strict=True))
    rows = []
    for chosen in o.sets.split(","):
        classes, plain = _classes(o, chosen)
        for size, draws in sizes:
            found = [_measured(o, chosen, size, draw, classes) for draw in range(draws)]
            row = [f"{chosen}, {size:,}", draws, f"{plain:,}"]
            for name in ("unknown", "upos", "uas", "las", "uas_tagged"):
                without, with_ = ([f[k][name] for f in found] for k in ("without", "with"))
                gains = [b - a for a, b in zip(without, with_, strict=True)]
                row.append(f"{statistics.mean(without):.2f} ({statistics.mean(gains):+.2f})")
            rows.append(row)
    body = [
        f"Taggers (`train-hmm --tagged --latent 1`) and parsers (`train-parser`) of few sentences, drawn at random, and"
        f" in brackets what `--classes` adds: the paths of {o.states} classes (`train-hmm --text --states {o.states}"
        " --save-paths`) of plain text of other kinds, sentences of 8 to 40 words. In percent on the whole test parts,"
        " means over the draws: accuracy of the tags of words that training has not seen, and of all words; UAS and LAS"
        " with gold tags; UAS with the tags of the tagger of the same sentences, each with or each without classes."
        " The templates of classes were chosen on EWT's dev part, at 100 and 500 sentences.",
        report.table(
            ["sentences", "draws", "plain text", "unknown words", "UPOS", "UAS", "LAS", "UAS, own tags"], rows
        ),
        report.circumstances(o.threads),
    ]
    return "\n\n".join(body)


def _classes(o, chosen):
    """Return the file of a text's classes, and how many sentences it has."""
    import aligntools as at

    with gzip.open(o.data / SETS[chosen][2], "rt", encoding="utf-8") as file:
        some = (line.rstrip("\n") for line in file if len(line.split()) in LENGTHS)
        text = list(itertools.islice(some, 0, 3 * o.plain, 3)) if chosen == "en" else list(some)[: o.plain]
    path = o.work / f"classes-{code.of(_classes)}-{chosen}-{o.plain}-{o.states}.paths"
    if not path.exists():
        measuring.note(f"{chosen}: classes of {len(text)} sentences")
        tagger = at.induce_tags(text, states=o.states, iterations=60, threads=o.threads)
        at.word_classes(text, tagger, paths=True, threads=o.threads).save(path)
    return path, len(text)


def _measured(o, chosen, size, draw, classes):
    """Return the figures of one draw of sentences, with classes and without; what is known is not made again."""
    kept = o.work / f"classes-{code.of(_classes, _measured)}-{chosen}-{size}-{draw}-{o.plain}-{o.states}.json"
    if not kept.exists():
        with gzip.open(o.treebanks / SETS[chosen][0], "rt", encoding="utf-8") as file:
            sentences = file.read().strip().split("\n\n")
        treebank = o.work / f"classes-{chosen}-{size}.conll"
        treebank.write_text("\n\n".join(random.Random(draw).sample(sentences, size)) + "\n\n", encoding="utf-8")
        found = {"without": _scores(o, chosen, treebank, None), "with": _scores(o, chosen, treebank, classes)}
        measuring.note(f"{chosen}, {size}, draw {draw}: {found}")
        kept.write_text(json.dumps(found))
    return json.loads(kept.read_text())


def _scores(o, chosen, treebank, classes):
    import aligntools as at
    from aligntools.formats.annotation.conll import read_conll
    from aligntools.formats.annotation.conll_layouts import COLUMNS

    gold = read_conll(str(o.treebanks / SETS[chosen][1]))
    tags, heads, labels = gold.column(COLUMNS["upos"]), gold.heads(), gold.column(COLUMNS["deprel"])
    tagger = at.train_tagger(str(treebank), latent=1, classes=classes, threads=o.threads)
    parser = at.train_parser(str(treebank), classes=classes, threads=o.threads)
    tagged = tagger.tag_text(gold, threads=o.threads)
    known = tagger.model.knows(gold.words)
    trees = parser.parse_text(gold, threads=o.threads)
    right = trees.heads == heads
    both = [bool(r) and a == b for r, a, b in zip(right, trees.labels, labels, strict=True)]
    own = parser.parse_text(_with_tags(gold, tagged.tags), threads=o.threads).heads == heads
    correct = [a == b for a, b in zip(tagged.tags, tags, strict=True)]
    new = [c for c, k in zip(correct, known.tolist(), strict=True) if not k]
    figures = {"unknown": new, "upos": correct, "uas": right, "las": both, "uas_tagged": own}
    return {name: 100 * float(sum(values)) / max(len(values), 1) for name, values in figures.items()}


def _with_tags(gold, tags):
    from aligntools.formats.annotation.tagged import Tokens

    return Tokens(gold.words, gold.offsets, tags, gold.offsets[1:], "tagged")
