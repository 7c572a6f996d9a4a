"""Word classes of plain text by train-classes, beside mkcls: perplexity of the bigram model of classes, time, memory.

Both programs' classes are scored here, by the definition, from the files that they write.
"""

import gzip
import math
from collections import Counter

from bench import measuring, report

#: Texts: one side of training text.
TEXTS = {
    "es, Europarl": "en-es/europarl.es.gz",
    "en, software": "en-sv/train.en.gz",
    "cs": "en-cs/train.cs.gz",
    "fr, Hansards": "en-fr/train.fr.gz",
    "fr, laws": "en-fr/laws.fr.gz",
}


def run(o):
    if o.data is None:
        raise SystemExit("mkcls needs text: --data DIR")
    rows = []
    for name in o.texts.split(";"):
        text, words = _plain(o, TEXTS[name])
        pairs = _pairs(text)
        row = [name, f"{words:,}", f"{len({w for pair in pairs for w in pair}) - 1:,}"]
        for runs in map(int, o.runs.split(",")):
            out = o.work / "classes.mkcls"
            measuring.note(f"{name}: mkcls -n{runs}")
            if o.mkcls:
                row += _figures([o.mkcls, f"-c{o.classes}", f"-n{runs}", f"-p{text}", f"-V{out}", "opt"], out, pairs)
            measuring.note(f"{name}: --restarts {runs}")
            ours = "train-classes", text, "-q", "-n", o.classes, "--restarts", runs, "-o", out, "--threads", o.threads
            row += _figures(measuring.aligntools(*ours), out, pairs)
        rows.append(row)
    head = ["text", "words", "different"]
    for runs in o.runs.split(","):
        both = [f"mkcls -n{runs}"] if o.mkcls else []
        head += [f"{what}: {of}" for what in (*both, f"--restarts {runs}") for of in ("perplexity", "CPU s", "MB")]
    body = [
        f"{o.classes} classes of one side of text, by `mkcls` of mgiza (Moses calls it with `-n2`) and `train-classes`:"
        " perplexity of the bigram model of the classes on that text, ends of sentences counted as words, worked out"
        " here from the files of both; CPU seconds of the whole process and peak memory, single runs one after another."
        " The temperature was chosen on es, Hansards, laws and 30,000 lines of cs.",
        report.table(head, rows),
        report.circumstances(o.threads),
    ]
    return "\n\n".join(body)


def _plain(o, name):
    """Return the text in a plain file, and its words."""
    path = o.work / f"mkcls-{name.replace('/', '-').removesuffix('.gz')}"
    with gzip.open(o.data / name, "rb") as file:
        data = file.read()
    if not path.exists():
        path.write_bytes(data)
    return path, len(data.split())


def _pairs(path):
    """Count which words follow which; None stands at the edges of sentences."""
    found = Counter()
    with open(path, "rb") as file:
        for line in file:
            if words := line.split():
                found.update(zip([None, *words], [*words, None], strict=True))
    return found


def _figures(command, out, pairs):
    """Return the perplexity of the classes that a command writes, its CPU time and its memory."""
    usage = measuring.run(command)
    classes = {None: b"0"}
    with open(out, "rb") as file:
        for line in file:
            word, _, number = line.rstrip(b"\n").rpartition(b"\t")
            classes[word] = number
    together, first, words = Counter(), Counter(), Counter()
    for (a, b), n in pairs.items():
        together[classes[a], classes[b]] += n
        first[classes[a]] += n
        words[b] += n
    terms = [sum(n * math.log(n) for n in counts.values()) for counts in (together, first, words)]
    log_likelihood = terms[0] - 2 * terms[1] + terms[2]  # what begins pairs ends as many
    perplexity = math.exp(-log_likelihood / pairs.total())
    return [f"{perplexity:.2f}", f"{usage.cpu:.1f}", f"{usage.peak / 2**20:.0f}"]
