"""Peak memory for four sizes of a corpus, the fixed cost apart."""

import tempfile
from pathlib import Path

from bench import measuring, peers, report, texts


def run(o):
    if o.source:
        whole = texts.given(o.source, o.target, o.work)
    elif o.data:
        whole = texts.text(o.data, o.set, o.work)
    else:
        raise SystemExit("memory needs text: --data DIR, or --source and --target")
    n = whole.n_pairs
    sizes = [int(x) for x in o.sizes.split(",")] if o.sizes else [n // 8, n // 4, n // 2, n]
    measuring.run(measuring.aligntools("warmup", "-q"))
    tiny = texts.beginning(texts.samples(o.work), 20, o.work)
    corpora = [texts.beginning(whole, size, o.work) if size < n else whole for size in sizes]
    words = [texts.count_words(c.source) + texts.count_words(c.target) for c in corpora]
    systems = ["aligntools", "aligntools --fast", *peers.available(o)]
    parts = []
    fixed, rows = {}, []
    for name in systems:
        fixed[name] = _peak(o, name, tiny)
        peaks = []
        for corpus in corpora:
            peaks.append(_peak(o, name, corpus))
            measuring.note(f"{name}, {corpus.n_pairs} pairs: {peaks[-1] / 1e6:.0f} MB")
        rows.append([name, f"{fixed[name] / 1e6:.0f}", *(f"{x / 1e6:,.0f}" for x in peaks)])
        each = [f"{(x - fixed[name]) / c.n_pairs:,.0f}" for x, c in zip(peaks, corpora, strict=True)]
        parts.append([name, *each])
        each = [f"{(x - fixed[name]) / w:,.1f}" for x, w in zip(peaks, words, strict=True)]
        parts[-1] += each
    columns = [f"{c.n_pairs:,} pairs" for c in corpora]
    body = [
        f"Largest resident memory of a process, in MB (10^6 bytes), on the beginnings of {whole.name}. The fixed cost"
        " was measured with 20 sentence pairs: interpreter, libraries, compiled code (nothing below the measuring"
        " process's own 25 MB can be seen).",
        report.table(["system", "fixed", *columns], rows),
        "Beyond the fixed cost: bytes per sentence pair, then bytes per word (both sides counted; the later parts of"
        " the text have longer sentences):",
        report.table(["system", *columns, *(f"{w / 1e6:,.1f}M words" for w in words)], parts),
        report.circumstances(o.threads),
    ]
    return "\n\n".join(body)


def _peak(o, name, text):
    """Run one system and return its largest resident memory in bytes."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        if not name.startswith("aligntools"):
            return peers.align(name, o, text, folder).peak
        files = ["-q", "-s", text.source, "-t", text.target, "-o", Path(folder) / "out"]
        flags = ["--threads", o.threads, *name.split()[1:]]
        return measuring.run(measuring.aligntools("align", *files, *flags)).peak
