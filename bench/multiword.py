"""Tokens that stand for several words (*au*, *della*): tags of surface text, with and without splitting."""

import tempfile
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

from bench import measuring, report

#: Files of ``ud/`` to train and to test on; where they are one, its first 800 sentences are trained on.
SETS = {
    "fr": ("fr_partut-train", "fr_partut-test"),
    "fr, other text": ("fr_partut-train", "fr_pud"),
    "it": ("it_partut-train", "it_partut-test"),
    "pt": ("pt_pud", "pt_pud"),
}
CUT = 800


def run(o):
    accuracies, splits, firsts = [], [], []
    with tempfile.TemporaryDirectory(dir=o.work) as name:
        for chosen, (train, test) in SETS.items():
            rows = _measure(o, Path(name), *_texts(o.treebanks / "ud", train, test))
            for table, row in zip((accuracies, splits, firsts), rows, strict=True):
                table.append([chosen, *row])
            measuring.note(f"{chosen}: {rows}")
    body = [
        "Input is surface text as the treebank tokenizes it (`conll --tokens surface`), gold is the treebank's words:"
        " ParTUT's training and test part, French PUD by the tagger of French ParTUT, and of Portuguese PUD 200"
        f" sentences by the other 800. Taggers have `--latent {o.latent} --members {o.members}`. UPOS accuracy of gold"
        " words in percent, all words of a token that is not split as gold being wrong: a tagger of words on the"
        " surface text; on the text split by a table of each form's most frequent split; `--tokens surface` with"
        " `tag --split-tokens`; and, as what could be reached, a tagger of words on gold words. Which way"
        " is taken was chosen on these texts.",
        report.table(["text", "words", "not split", "table", "`--split-tokens`", "gold words"], accuracies),
        "Tokens of several words that are split as in the treebank, in percent, and the number of other tokens that are"
        " split:",
        report.table(
            ["text", "tokens of several", "table", "`--split-tokens`", "others split: table", "`--split-tokens`"],
            splits,
        ),
        "What tag a token of several words should have in training: those of all with a plus, or the first word's."
        " Accuracy of each surface token's first tag, in percent:",
        report.table(["text", "surface tokens", "all tags", "first tag"], firsts),
        report.circumstances(o.threads),
    ]
    return "\n\n".join(body)


def _texts(folder, train, test):
    from aligntools.formats.annotation.conll import read_conll

    training, gold = (read_conll(folder / f"{name}.conllu.gz") for name in (train, test))
    return (training, gold) if train != test else (training.part(0, CUT), gold.part(CUT, len(gold)))


def _sentences(conll):
    """Return each sentence's tokens: form, forms of its words, their tags."""
    from aligntools.formats.annotation.conll_layouts import COLUMNS
    from aligntools.formats.annotation.conll_tokens import surface_of

    surface = surface_of(conll)
    forms, words, tags = surface.column(COLUMNS["form"]), conll.words, conll.column(COLUMNS["upos"])
    tokens = [
        (form.replace(b" ", b"\xc2\xa0"), words[a:b], tags[a:b])
        for form, (a, b) in zip(forms, pairwise(surface.words.tolist()), strict=True)
    ]
    return [tokens[a:b] for a, b in pairwise(surface.offsets.tolist())]


def _measure(o, folder, training, test):
    from aligntools.formats.annotation.conll import read_conll

    (folder / "train.conllu").write_bytes(training.format())
    learned, gold = _sentences(training), _sentences(test)
    _write(folder / "surface.txt", [[form for form, _, _ in s] for s in gold])
    _write(folder / "words.txt", [[w.replace(b" ", b"\xc2\xa0") for _, words, _ in s for w in words] for s in gold])
    first = [[form + b"_" + tags[0] for form, _, tags in s] for s in learned]
    _write(folder / "first.tagged", first)
    table = _table(learned)
    _write(folder / "table.txt", [[w for form, _, _ in s for w in table.get(_lower(form), [form])] for s in gold])

    def tagged(model, text, *options):
        places = ("-m", folder / model, folder / text, "-o", folder / "out.conllu")
        measuring.run(measuring.aligntools("tag", "-q", *places, "--to", "conll", *options))
        return _sentences(read_conll(folder / "out.conllu"))

    for model, *options in (
        ("words", folder / "train.conllu"), ("surface", folder / "train.conllu", "--tokens", "surface"),
        ("first", folder / "first.tagged"),
    ):  # fmt: skip
        sizes = ("--latent", o.latent, "--members", o.members, "--threads", o.threads)
        measuring.run(measuring.aligntools("train-hmm", "-q", *sizes, "-o", folder / model, "--tagged", *options))
    by_table = []
    for s, out in zip(gold, tagged("words", "table.txt"), strict=True):
        rest = iter(out)
        pieces = [[next(rest) for _ in table.get(_lower(form), [form])] for form, _, _ in s]
        by_table.append([(b"", [p[1][0] for p in piece], [p[2][0] for p in piece]) for piece in pieces])
    split = tagged("surface", "surface.txt", "--split-tokens")
    whole = [[(b"", [w], [t]) for _, words, tags in s for w, t in zip(words, tags, strict=True)] for s in gold]
    words = _correct(whole, tagged("words", "words.txt"))
    n = sum(len(words) for s in gold for _, words, _ in s)
    several = sum(len(words) > 1 for s in gold for _, words, _ in s)
    tokens = sum(map(len, gold))
    correct = [_correct(gold, tagged("words", "surface.txt")), _correct(gold, by_table), _correct(gold, split), words]
    right, wrong = zip(*(_splits(gold, out) for out in (by_table, split)), strict=True)
    heads = [_firsts(gold, out) for out in (split, tagged("first", "surface.txt"))]
    return (
        [f"{n:,}", *(f"{100 * x / n:.2f}" for x in correct)],
        [several, *(f"{100 * x / several:.1f}" for x in right), *wrong],
        [f"{tokens:,}", *(f"{100 * x / tokens:.2f}" for x in heads)],
    )


def _lower(word):
    return word.decode().lower().encode()


def _write(path, rows):
    path.write_bytes(b"".join(b" ".join(row) + b"\n" for row in rows))


def _table(sentences):
    """Return the most frequent split of each form that is split more often than not, all in lower case."""
    counts = defaultdict(Counter)
    for form, words, _ in (token for s in sentences for token in s):
        counts[_lower(form)][tuple(map(_lower, words)) if len(words) > 1 else ()] += 1
    likeliest = {form: found.most_common(1)[0][0] for form, found in counts.items()}
    return {form: list(words) for form, words in likeliest.items() if words}


def _pairs(gold, out):
    return (pair for s, found in zip(gold, out, strict=True) for pair in zip(s, found, strict=True))


def _correct(gold, out):
    """Count right tags of words of tokens that have as many words as the gold ones."""
    return sum(
        sum(a == b for a, b in zip(tags, found, strict=True))
        for (_, _, tags), (_, _, found) in _pairs(gold, out)
        if len(tags) == len(found)
    )


def _splits(gold, out):
    """Count tokens of several words that are split as in the gold ones, and others that are split."""
    right = wrong = 0
    for (_, words, _), (_, found, _) in _pairs(gold, out):
        if len(words) > 1:
            right += list(map(_lower, words)) == list(map(_lower, found))
        else:
            wrong += len(found) > 1
    return right, wrong


def _firsts(gold, out):
    return sum(tags[0] == found[0] for (_, _, tags), (_, _, found) in _pairs(gold, out))
