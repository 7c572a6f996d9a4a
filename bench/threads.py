"""The same bytes for any number of threads."""

import hashlib
import tempfile
from pathlib import Path

from bench import measuring, report, texts

COUNTS = (1, 2, 4)
FLAGS = {
    "align": (),
    "align --fast": ("--fast",),
    "align --model ibm2 --no-agreement": ("--model", "ibm2", "--no-agreement"),
}
OUTPUTS = {
    "alignment": "-o",
    "forward": "--forward-output",
    "reverse": "--reverse-output",
    "scores": "--scores",
    "model": "--save-model",
}


def run(o):
    chosen = [texts.samples(o.work)]
    if o.sets:
        chosen += [texts.text(o.data, name, o.work) for name in o.sets.split(",")]
    rows = []
    for text in chosen:
        for name, flags in FLAGS.items():
            found = {threads: _digests(o, text, flags, threads) for threads in COUNTS}
            first = found[COUNTS[0]]
            same = [all(other[kind] == first[kind] for other in found.values()) for kind in OUTPUTS]
            rows.append([text.name, name, *("same" if x else "**different**" for x in same), first["alignment"][:12]])
            measuring.note(" ".join(rows[-1]))
    body = [
        f"Whether the outputs with {', '.join(map(str, COUNTS))} threads have the same bytes.",
        report.table(["text", "command", *OUTPUTS, "SHA-256 of the alignment"], rows),
        report.circumstances(),
    ]
    return "\n\n".join(body)


def _digests(o, text, flags, threads):
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        paths = {kind: Path(folder) / kind for kind in OUTPUTS}
        command = ["align", "-q", "-s", text.source, "-t", text.target, "--threads", threads, *flags]
        for kind, flag in OUTPUTS.items():
            command += [flag, paths[kind]]
        measuring.run(measuring.aligntools(*command))
        return {kind: hashlib.sha256(path.read_bytes()).hexdigest() for kind, path in paths.items()}
