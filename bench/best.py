"""``align --best`` beside the default on text where they differ: AER with paired tests, time and memory.

Texts of English and French, each after the sentences of both gold sets: the training text, some of it, and the million
pairs. Of some of it only time and memory are measured: it is trained on twice, with a network that gold links of these
sets taught; `bench.contrastive` has the errors, by networks of other languages.
"""

import tempfile
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import numpy as np

from bench import code, measuring, report, texts

PAIR = "en-fr"
#: Texts that come after the gold sentences: parts, and pairs of them at most.
TEXTS = {
    "some of the training text": (("train",), 20_000), "the training text": (("train",), None),
    "the million pairs": (("train", "laws"), None),
}  # fmt: skip
#: Texts whose errors are not measured here.
COST_ALONE = ("some of the training text",)
WAYS = {"default": (), "--best": ("--best", "--no-encoder")}


def run(o):
    if not o.data:
        raise SystemExit("best needs gold links and text: --data DIR")
    golds = [(p.stem, texts.count_lines(p)) for p in sorted((o.data / PAIR).glob("*.wa"))]
    kept, rows, costs = measuring.Kept(o.work / "best.json"), [], []
    for name in o.texts.split(","):
        found = {}
        for way, options in WAYS.items():

            def measure(name=name, options=options):
                return _measure(o, golds, name, options)

            key = f"{name} {way} {o.threads} {code.of(_measure, _write, commands=('align',))}"
            found[way] = kept.get(key, measure, f"{name}, {way}")
        rows += [[name, gold, *_compared(found, gold)] for gold, _ in golds if name not in COST_ALONE]
        costs += [[name, f"{found['default']['pairs']:,}", *_cost(found)]]
    body = [
        f"Each text comes after the sentences of the gold sets of {PAIR}, which are aligned with it; one run of each,"
        " after one of the sample text that compiles. AER in percent; differences in points, intervals by paired"
        " bootstrap over sentences. Some of the training text has no errors here: it is trained on twice, by a network"
        ' that has seen these gold links. Section "Contrastive alignment" has them, languages held out.',
        report.table(["text", "gold set", *WAYS, "--best / default", "difference, 95 %"], rows),
        report.table(["text", "pairs", "seconds", "--best", "ratio", "peak MB", "--best"], costs),
        report.circumstances(o.threads),
    ]
    return "\n\n".join(body)


def _write(o, golds, name, folder):
    """Write a text after the gold sentences of all sets; return its files and its number of pairs."""
    files, n = [Path(folder) / side for side in ("source", "target")], 0
    own, most = TEXTS[name]
    with ExitStack() as stack:
        outs = [stack.enter_context(open(p, "w", encoding="utf-8", newline="\n")) for p in files]
        for part in [gold for gold, _ in golds] + list(own):
            sides = (texts.lines(o.data, PAIR, part, language) for language in ("en", PAIR[3:]))
            for pair in islice(zip(*sides, strict=True), most if part in own else None):
                if part in own and not all(side.strip() for side in pair):
                    continue
                for out, line in zip(outs, pair, strict=True):
                    out.write(line + "\n")
                n += 1
    return files, n


def _measure(o, golds, name, options):
    """Align a text; return the counts of AER by sentence of each gold set, time and memory."""
    from aligntools.formats.links.goldlinks import read_gold
    from aligntools.formats.links.pharaoh import read_pharaoh
    from aligntools.metrics import aer

    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        files, pairs = _write(o, golds, name, folder)
        sample, out = texts.samples(o.work), Path(folder) / "links"
        command = "align", "-q", *options, "--threads", o.threads, "-o", out
        measuring.run(measuring.aligntools(*command, "-s", sample.source, "-t", sample.target))  # compiles
        usage = measuring.run(measuring.aligntools(*command, "-s", files[0], "-t", files[1]))
        head = Path(folder) / "head"
        with open(out, "rb") as links, open(head, "wb") as first:
            first.writelines(islice(links, sum(n for _, n in golds)))
        links, begin, counts = read_pharaoh(str(head), compiled=False), 0, {}
        for gold, n in golds:
            known = read_gold(str(o.data / PAIR / f"{gold}.wa"), format="pharaoh")
            counts[gold] = aer.count(links[begin : begin + n], known).tolist()
            begin += n
    return {"counts": counts, "pairs": pairs, "seconds": usage.seconds, "peak": usage.peak}


def _compared(found, gold):
    from bench.gains import compared, share

    both = compared(*([np.array(found[way]["counts"][gold])] for way in WAYS))
    value, low, high = both["difference"]
    return [
        *(f"{both[side][0]:.2f}" for side in ("before", "now")), f"{share(both):.3f}",
        f"{value:+.2f} [{low:+.2f}, {high:+.2f}]",
    ]  # fmt: skip


def _cost(found):
    one, other = (found[way] for way in WAYS)
    ratio = other["seconds"] / one["seconds"]
    seconds = [f"{w['seconds']:.1f}" for w in (one, other)]
    return [*seconds, f"{ratio:.1f}", *(f"{w['peak'] / 1e6:,.0f}" for w in (one, other))]
