"""Time and memory of whole commands beside those of an older checkout, taking turns."""

import statistics
import sys
from pathlib import Path

from bench import measuring, report, texts

#: Commands by name; the older checkout takes the options by their old spellings, which the newer one knows too.
COMMANDS = {
    "align, en-fr.dev": "align -q -s {dev}.source -t {dev}.target -o {out}",
    "align --fast, en-fr.dev": "align -q --fast -s {dev}.source -t {dev}.target -o {out}",
    "align, 20,000 pairs of en-fr": "align -q -s {few}.source -t {few}.target -o {out}",
    "align, en-fr.million": "align -q -s {million}.source -t {million}.target -o {out}",
    "contrastive-align, 20,000 pairs": "contrastive-align -q -s {few}.source -t {few}.target -o {out}",
    "train-parser, EWT, 15 iterations": "train-parser -q --treebank {ewt} --iterations 15 -m {out}.parser",
    "extract-grammar, 29,000 captions": "extract-grammar -q -s {multi}.de -t {multi}.en -a {multi}.align -o {out}.bin"
    " --format binary",
    "translate, test2016": "translate -q --grammar {multi}.bin --lm {multi}.lm {multi}.test -o {out}",
}


def run(o):
    if not o.data:
        raise SystemExit("against needs text: --data DIR")
    chosen = {name: line for name, line in COMMANDS.items() if o.only in name}
    files, rows = _files(o, any("{million}" in line for line in chosen.values())), []
    for name, line in chosen.items():
        args = [part.format(**files) for part in line.split()]
        sides = {"before": (o.python, o.checkout.resolve()), "now": (sys.executable, report.ROOT)}
        found = {side: [] for side in sides}
        for turn in range(-1, 1 if "million" in name else o.runs):
            for side, (python, checkout) in sides.items():
                if turn < 0 and "million" in name:
                    continue
                usage = measuring.run(
                    [python, "-P", "-m", "aligntools", *args],  # -P: not what is in the folder that this runs in
                    PYTHONPATH=str(checkout),
                    ALIGNTOOLS_CACHE_DIR=f"{o.work}/{side}",
                )
                measuring.note(f"{name}, turn {turn + 1}, {side}: {usage.seconds:.2f} s")
                if turn >= 0:  # the first one compiles
                    found[side].append(usage)
        rows.append([name, *_figures(found)])
    header = ["command", "seconds before", "now", "now / before", "CPU before", "CPU now", "peak MB before", "now"]
    body = [
        f"Whole commands of this state of the code and of an older one (commit {report.commit_of(o.checkout)}),"
        f" taking turns, after a run that compiles: medians of {o.runs} runs, the range in brackets (the million pairs:"
        " one run).",
        report.table(header, rows),
        report.circumstances(),
    ]
    return "\n\n".join(body)


def _figures(found):
    seconds = {side: [u.seconds for u in usages] for side, usages in found.items()}
    middle = {side: statistics.median(values) for side, values in seconds.items()}
    cpu = {side: statistics.median(u.cpu for u in usages) for side, usages in found.items()}
    peak = {side: max(u.peak for u in usages) / 1e6 for side, usages in found.items()}
    shown = [f"{middle[s]:.2f} [{min(seconds[s]):.2f}, {max(seconds[s]):.2f}]" for s in found]
    ratio = f"{middle['now'] / middle['before']:.3f}"
    return [*shown, ratio, *(f"{cpu[s]:.1f}" for s in found), *(f"{peak[s]:,.0f}" for s in found)]


def _files(o, million):
    """Prepare the texts, the million pairs where they are wanted; return what stands in the command lines."""
    import gzip

    work = Path(o.work) / "against"
    work.mkdir(exist_ok=True)
    files = {}
    for key, name in (("dev", "en-fr.dev"), ("million", texts.MILLION)):
        if key == "dev" or million:
            text = texts.text(o.data, name, o.work)
            for side, path in (("source", text.source), ("target", text.target)):
                (work / f"{key}.{side}").unlink(missing_ok=True)
                (work / f"{key}.{side}").symlink_to(Path(path).resolve())
            files[key] = work / key
    for side in ("source", "target"):
        lines = (work / f"dev.{side}").read_text(encoding="utf-8").splitlines(keepends=True)[:20_000]
        (work / f"few.{side}").write_text("".join(lines), encoding="utf-8")
    multi = work / "multi"
    corpora = o.data.parent / "translation"
    for name, suffix in (("train.de", ".de"), ("train.en", ".en"), ("test2016.de", ".test")):
        multi.with_suffix(suffix).write_bytes(gzip.decompress((corpora / f"{name}.gz").read_bytes()))
    (work / "ewt.conllu").write_bytes(
        gzip.decompress((o.data.parent / "treebanks" / "ud" / "en_ewt-train.conllu.gz").read_bytes())
    )
    if not multi.with_suffix(".bin").exists():
        sides = ["-s", f"{multi}.de", "-t", f"{multi}.en"]
        for args in (
            ["align", "--fast", "--symmetrize", "grow-diag-final-and", *sides, "-o", f"{multi}.align"],
            ["extract-grammar", *sides, "-a", f"{multi}.align", "-o", f"{multi}.bin", "--format", "binary"],
            ["train-lm", "--format", "binary", f"{multi}.en", "-o", f"{multi}.lm"],
        ):
            measuring.run(measuring.aligntools(*args, "-q"))
    return files | {"out": work / "out", "few": work / "few", "multi": multi, "ewt": work / "ewt.conllu"}
