"""AER with a dictionary and without: small texts, wrong dictionaries, and a larger text.

Each gold set is all the text there is. Dictionaries are lines of an English word, a tab and its translation. A wrong
one has its sides exchanged, is of another language's words, or has the words of one side on both.
"""

import statistics
import tempfile
from itertools import islice
from pathlib import Path

from bench import code, measuring, report
from bench.encoder import _aer, _links
from bench.encoder_map import gold_text, language

SEEDS = (1, 2, 3)
COMMANDS = {"align": "`align`", "contrastive": "`contrastive-align`"}
#: Wrong dictionaries, by the titles of columns.
WRONG = ("sides exchanged", "of another language", "one side's words")


def run(o):
    if not o.data:
        raise SystemExit("dictionary needs gold links: --data DIR")
    kept, names = measuring.Kept(o.work / "dictionary.json"), o.sets.split(",")
    here = code.of(_small, _wrong, _large, _measured, gold_text, _aer, _links)
    files = {name: _dictionary(o, name) for name in names}
    small = {n: kept.get(f"{n} {here}", lambda n=n: _small(o, n, files[n]), n) for n in names}
    wrong = {n: kept.get(f"{n} wrong {here}", lambda n=n: _wrong(o, n, files), f"{n}, wrong ones") for n in names}
    large = {}
    for n in o.large.split(","):
        key = f"{n} {o.pairs} {here}"
        large[n] = kept.get(key, lambda n=n: _large(o, n, _dictionary(o, n)), f"{n}, {o.pairs} pairs more")
    return f"{_body(small, wrong, large, o.pairs)}\n\n{report.circumstances(o.threads)}"


def _dictionary(o, name):
    found = sorted(o.dictionaries.glob(f"{language(name)}.*"))
    if not found:
        raise SystemExit(f"dictionary needs {language(name)}.*.tsv in {o.dictionaries}")
    return found[0]


def _measured(o, text, gold, seed, dictionary, commands=tuple(COMMANDS)):
    """Return AER of each command, and what the dictionary said of the text."""
    import aligntools as at
    from aligntools.formats.text.corpus import in_lower_case

    how = {"seed": seed, "threads": o.threads, "dictionary": [str(dictionary)] if dictionary else []}
    found, read = {}, in_lower_case(text)
    given = text if dictionary else read  # what is not asked about is trained on as it is given
    for command in commands:
        if command == "align":
            model = aligner = at.train_aligner(given, **how)
        else:
            model = at.train_contrastive_aligner(given, encoder=False, **how)
            aligner = model.aligner
        found[command] = _aer(_links(model, read)[: len(gold.sure)], gold)
        found["said"] = aligner.model.evidence.get("dictionary", {})
    return found


def _small(o, name, dictionary):
    """Return mean AER over seeds of each command, without the dictionary and with it, and what it said."""
    text, gold = gold_text(o.data, name)
    row = {"pairs": len(text)}
    for way, path in (("without", None), ("with", dictionary)):
        runs = [_measured(o, text, gold, seed, path) for seed in SEEDS]
        for command in COMMANDS:
            row[f"{command} {way}"] = statistics.mean(one[command] for one in runs)
    said = runs[0]["said"]
    return row | {"agreement": said["files"][0]["agreement"]} | {key: said[key] for key in ("entries", "met")}


def _wrong(o, name, files):
    """Return AER of `align` by each wrong dictionary, of one seed, and how far it was believed."""
    text, gold = gold_text(o.data, name)
    rows = [line.split("\t")[:2] for line in files[name].read_text(encoding="utf-8").splitlines()]
    names = [*files]
    other = files[names[(names.index(name) + 1) % len(names)]]
    found = {"without": (_measured(o, text, gold, 1, None, ["align"])["align"], 0.0)}
    found["right"] = (_measured(o, text, gold, 1, files[name], ["align"])["align"], 1.0)
    with tempfile.TemporaryDirectory() as folder:
        for title, changed in zip(WRONG, (lambda s, t: (t, s), None, lambda s, _: (s, s)), strict=True):
            path = Path(folder) / "wrong.tsv"
            path.write_text("".join(f"{a}\t{b}\n" for a, b in (changed(*row) for row in rows)) if changed
                            else other.read_text(encoding="utf-8"), encoding="utf-8")  # fmt: skip
            one = _measured(o, text, gold, 1, path, ["align"])
            found[title] = one["align"], one["said"]["files"][0]["belief"]
    return found


def _large(o, name, dictionary):
    """Return AER of a gold set with training text behind it, without the dictionary and with it, of one seed."""
    import gzip

    from aligntools.formats.text.bitext import read_bitext
    from aligntools.formats.text.memory_text import TextLines

    pair, part = name.split(".")
    sides = []
    for which in ("en", pair[3:]):
        lines = (o.data / pair / f"{part}.{which}").read_text(encoding="utf-8").splitlines()
        with gzip.open(o.data / pair / f"train.{which}.gz", "rt", encoding="utf-8") as file:
            lines += [line.rstrip("\n") for line in islice(file, o.pairs)]
        sides.append(TextLines(lines))
    text, gold = read_bitext(*sides, lowercase=False), gold_text(o.data, name)[1]
    row = {"pairs": len(text)}
    for way, path in (("without", None), ("with", dictionary)):
        one = _measured(o, text, gold, 1, path)
        row |= {f"{command} {way}": one[command] for command in COMMANDS}
    return row


def _body(small, wrong, large, pairs):
    columns = [f"{title}{way}" for title in COMMANDS.values() for way in ("", ", dictionary", ", %")]
    header = ["gold set, pairs", *columns, "entries", "met the text", "agreement"]
    table = []
    for name, row in (small | {f"{name} and more": row for name, row in large.items()}).items():
        figures = []
        for command in COMMANDS:
            without, own = (row[f"{command} {way}"] for way in ("without", "with"))
            figures += [f"{without:.1f}", f"{own:.1f}", f"{100 * (own / without - 1):+.0f}"]
        said = [f"{row['entries']:,}", str(row["met"]), f"{row['agreement']:.2f}"] if "entries" in row else [""] * 3
        table.append([f"{name}, {row['pairs']:,}", *figures, *said])
    titles = ["gold set", "no dictionary", "the right one", *WRONG]
    others = []
    for name, row in wrong.items():
        figures = [f"{aer:.1f} ({100 * share:.0f} %)" for aer, share in (row[title] for title in WRONG)]
        others.append([name, *(f"{row[key][0]:.1f}" for key in ("without", "right")), *figures])
    text = (
        "AER in percent, mean of seeds 1, 2 and 3, at the same commit; no encoder takes part. The gold set is all the"
        f" text; *and more*: with the first {pairs:,} pairs of training text behind it, one seed. Dictionaries of one"
        " word to one word: FreeDict's of Bulgarian, Portuguese and Dutch, Wiktionary's of Italian. What an entry"
        " counts, and that entries reach pieces and forms of words were chosen with the same outcome by Bulgarian and"
        " Dutch as by the others; that those whose words begin as none of the text are left out was chosen on all four"
        " (it gains nothing on Bulgarian and Dutch);"
        " from which agreement on a dictionary is believed, on these dictionaries and nine texts. The network"
        " of `contrastive-align` was taught by gold links of other languages, in both columns.\n\n"
    )
    middle = (
        "\n\nWrong dictionaries, `align`, seed 1; how far each was believed is in brackets. Of another language: that"
        " of the next row.\n\n"
    )
    return text + report.table(header, table) + middle + report.table(titles, others)
