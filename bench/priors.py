"""What priors of a large text give to a small one, and what a large text loses that is aligned in parts.

A gold set's sentences are aligned alone, and together with a thousand pairs of its training text (not those sets that
weights were chosen on), with priors that were made of the rest of that text: by our alignment of it, and by eflomal's.
Both kinds of priors are given to both systems. Then the training text is cut into parts, which are aligned with the
gold sentences in the ways of docs/tutorials/mt.md, and each part's alignment of these is scored.
"""

import json
import statistics
import tempfile
from pathlib import Path

import numpy as np

from bench import code, measuring, peers, quality, report, texts

#: Gold sets that the weights of priors were chosen on.
CHOSEN_ON = ("en-cs.gold", "en-sv.gold", "en-zh.gold")
#: Pairs of the training text that go with the gold sentences in the larger of the small texts.
SMALL = 1000
#: Into how many parts a text is cut.
PARTS = 10
#: Every so many of the parts is scored.
EVERY = 3
#: A set whose gold sentences are aligned with a file of very many priors, and the words a side of what fills it.
MANY, MANY_WORDS = "en-fr.dev", 1_000_000
HEURISTIC = "grow-diag-final-and"
HEADER = "text\tsystem\tpriors\tsymmetrization\tAER"


class _Figures:
    """AERs kept in a file: ``(text, system, priors) -> {symmetrization: AER}``."""

    def __init__(self, path, kept):
        self.path, self.rows, self.kept = path, {}, kept
        if path.exists():
            for line in path.read_text().splitlines()[1:]:
                *key, name, value = line.split("\t")
                self.rows.setdefault(tuple(key), {})[name] = float(value)
        else:
            path.write_text(HEADER + "\n")

    def of(self, text, system, priors, measure):
        """Return what is kept, or else measure it, or return None where nothing shall be measured."""
        key = (text, system, priors)
        if key not in self.rows and self.kept:
            return None
        if key not in self.rows:
            measuring.note(" ".join(key))
            found = measure()
            with open(self.path, "a") as file:
                for name, value in found.items():
                    file.write("\t".join([*key, name, f"{value:.3f}"]) + "\n")
            self.rows[key] = found
        return self.rows[key]


def _write(folder, name, pairs, gold, n_gold):
    """Write pairs of lines as a `texts.Text`."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.{kind}" for kind in ("source", "target", "joint")]
    if not all(path.exists() for path in files):
        for path, lines in zip(files, ([a for a, _ in pairs], [b for _, b in pairs], None), strict=True):
            lines = [f"{a} ||| {b}" for a, b in pairs] if lines is None else lines
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
    return texts.Text(name, *files, gold, n_gold, len(pairs))


def _cut_texts(o, name):
    """Return the whole text of a gold set, the gold sentences alone, these with `SMALL` pairs, and the other pairs."""
    whole = texts.text(o.data, name, o.work)
    sides = [path.read_text(encoding="utf-8").split("\n")[:-1] for path in (whole.source, whole.target)]
    pairs = list(zip(*sides, strict=True))
    gold, rest = pairs[: whole.n_gold], pairs[whole.n_gold :]
    step = len(rest) // SMALL
    some = rest[::step][:SMALL]
    large = [pair for k, pair in enumerate(rest) if k % step or k // step >= SMALL]
    folder = code.place(o.work, "priors", _cut_texts)
    return (
        whole,
        _write(folder, f"{name}.alone", gold, whole.gold, whole.n_gold),
        _write(folder, f"{name}.some", gold + some, whole.gold, whole.n_gold),
        _write(folder, f"{name}.large", large, None, 0),
    )


def _ours(o, text, *flags, threads=None):
    """Align as ``align`` does; return AERs by symmetrization."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        forward, reverse, joint = (Path(folder) / n for n in ("forward", "reverse", "joint"))
        single = ["--forward-output", forward, "--reverse-output", reverse]
        files = ["-s", text.source, "-t", text.target, "-o", joint, *single]
        measuring.run(measuring.aligntools("align", "-q", "--threads", threads or o.threads, *files, *flags))
        return {"joint": quality.evaluate(joint, text)[0], **_symmetrized(o, text, folder)}


def _eflomal(o, text, *flags):
    """Align as eflomal does; return AERs by symmetrization."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        _eflomal_links(o, text, Path(folder) / "forward", Path(folder) / "reverse", *flags)
        return _symmetrized(o, text, folder)


def _eflomal_links(o, text, forward, reverse, *flags):
    files = ["-s", text.source, "-t", text.target, "-f", forward, "-r", reverse]
    measuring.run([o.eflomal, "--overwrite", *files, *flags])


def _symmetrized(o, text, folder):
    found = {}
    for name in ("forward", "reverse", *peers.HEURISTICS):
        if name in peers.HEURISTICS:
            peers.symmetrize(o, folder, name, name)
        found[name] = quality.evaluate(Path(folder) / name, text)[0]
    return found


def _priors_path(o, large, system):
    by = _make_priors if system == "ours" else _eflomal_links
    return code.place(o.work, "priors", _cut_texts, by) / f"{large.name}.{system}.priors"


def _make_priors(o, large, system):
    """Return a file of priors of a text, by our alignment or by eflomal's."""
    path = _priors_path(o, large, system)
    if path.exists():
        return path
    measuring.note(f"priors of {large.name} by {system}")
    unfinished = path.with_name(path.name + ".part")
    text = ["-s", large.source, "-t", large.target]
    if system == "ours":
        measuring.run(measuring.aligntools(
            "align", "-q", "--threads", o.threads, *text, "--save-priors", unfinished, "-o", "/dev/null"
        ))  # fmt: skip
    else:
        with tempfile.TemporaryDirectory(dir=o.work) as folder:
            forward, reverse = Path(folder) / "forward", Path(folder) / "reverse"
            _eflomal_links(o, large, forward, reverse)
            make = Path(o.eflomal).with_name("eflomal-makepriors")
            measuring.run([make, *text, "-f", forward, "-r", reverse, "-p", unfinished])
    unfinished.rename(path)
    return path


def run(o):
    if not o.data or not (o.eflomal or o.kept):
        raise SystemExit("priors needs gold links and eflomal: --data DIR --eflomal PATH")
    figures = _Figures(o.work / f"priors-{code.of(_ours, _eflomal, _small, _parts)}.tsv", o.kept)
    theirs = _Figures(o.work / f"priors-eflomal-{code.of(_cut_texts, _eflomal)}.tsv", o.kept)
    names = o.sets.split(",")
    rows = [row for some in (False, True) for name in names for row in _small(o, figures, theirs, name, some)]
    for name in names:
        whole = texts.text(o.data, name, o.work)
        rows.append((name, whole, "all text", figures.of(name, "ours", "whole", lambda t=whole: _ours(o, t)), {}))
    rows = [row for row in rows if None not in row[3:]]
    parts = [_parts(o, figures, name) for name in o.cut.split(",")]
    body = _body(o, rows, [part for part in parts if len(part[2]) > 1])
    return "\n\n".join(part for part in (*body, _many(o), report.circumstances(o.threads)) if part)


def _small(o, figures, theirs, name, some):
    """Yield a gold set's rows: the gold sentences alone or with others, with each kind of priors."""
    _, *small, large = _cut_texts(o, name)
    text = small[some]
    if some and name in CHOSEN_ON:
        return
    for maker in ("none", "ours", "eflomal"):
        made = _priors_path(o, large, maker)
        if maker != "none" and not o.kept:
            made = _make_priors(o, large, maker)
        flags = ("--priors", made) if maker != "none" else ()
        ours = figures.of(text.name, "ours", maker, lambda f=flags: _ours(o, text, *f))
        kept = theirs if maker != "ours" else figures  # our priors change with our code
        yield name, text, maker, ours, kept.of(text.name, "eflomal", maker, lambda f=flags: _eflomal(o, text, *f))


# A file of very many priors


def _many(o):
    """Return a table of what the gold sentences take with a file of very many priors, and without; None if unknown."""
    kept = o.work / f"priors-lines-{code.of(_cut_texts, _make_priors, _fill, _usage)}.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    if o.lines and not o.kept and str(o.lines) not in found:
        _, text, _, large = _cut_texts(o, MANY)
        path = _fill(o, _make_priors(o, large, "ours"))
        measuring.note(f"{o.lines} lines of priors")
        found[str(o.lines)] = {"bytes": path.stat().st_size}
        for system in ("ours", "eflomal"):
            for flags in ((), ("--priors", path)):
                usage = _usage(o, system, text, flags)
                row = {"seconds": usage.seconds, "cpu": usage.cpu, "peak": usage.peak}
                found[str(o.lines)][f"{system} {'with' if flags else 'without'}"] = row
        path.unlink()
        kept.write_text(json.dumps(found))
    if str(o.lines) not in found:
        return None
    figures = dict(found[str(o.lines)])
    size = figures.pop("bytes")
    rows = [
        [name, f"{row['seconds']:.1f}", f"{row['cpu']:.1f}", f"{row['peak'] / 1e6:,.0f}"]
        for name, row in figures.items()
    ]
    return (
        f"The {MANY} gold sentences with a file of {o.lines:,} priors ({size / 1e6:,.0f} MB): `LEX` lines, those of the"
        " training text and others of a million made-up words a side, in no order. One run each, from start to"
        " exit.\n\n"
    ) + report.table(["system, priors", "seconds", "CPU seconds", "peak MB"], rows)


def _fill(o, real):
    """Write a file of so many priors: given ones, then others of words that no text has; return where."""
    path = o.work / f"many.{o.lines}.priors"
    rows = [line for line in real.read_bytes().splitlines(keepends=True) if line.startswith(b"LEX")][: o.lines]
    rng = np.random.default_rng(1)
    with open(path, "wb") as out:
        out.writelines(rows)
        left = o.lines - len(rows)
        while left:
            n = min(left, 1_000_000)
            words = (MANY_WORDS * rng.random((n, 2)) ** 3).astype(int).tolist()  # few of them are frequent
            out.write("".join(f"LEX\tgiven{a}\tother{b}\t{1 + a % 9}\n" for a, b in words).encode())
            left -= n
    return path


def _usage(o, system, text, flags):
    """Align, and return what it took."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        files = ["-s", text.source, "-t", text.target]
        if system == "ours":
            command = measuring.aligntools("align", "-q", "--threads", o.threads, *files, "-o", "/dev/null")
        else:
            command = [o.eflomal, "--overwrite", *files, "-f", Path(folder) / "f", "-r", Path(folder) / "r"]
        return measuring.run([*command, *flags])


# Text in parts


def _parts(o, figures, name):
    """Return a set's name, pairs, and the AER of each way."""
    whole = texts.text(o.data, name, o.work)
    sides = [path.read_text(encoding="utf-8").split("\n")[:-1] for path in (whole.source, whole.target)]
    pairs = list(zip(*sides, strict=True))
    gold, rest = pairs[: whole.n_gold], pairs[whole.n_gold :]
    size = -(-len(rest) // PARTS)
    folder = code.place(o.work, "priors", _parts)
    parts = [  # the gold sentences are aligned with every part
        _write(folder, f"{name}.part{k}", gold + rest[k * size : (k + 1) * size], whole.gold, whole.n_gold)
        for k in range(PARTS)
    ]

    def seeded(flag, made):
        """Return how a part is aligned with what another part gave, which does not hold the gold sentences."""

        def flags(k):
            return flag, made[(k + 1) % PARTS]

        return flags

    seeds = [
        _write(folder, f"{name}.seed{k}", rest[k * size : (k + 1) * size], None, 0) for k in range(PARTS)
    ]  # fmt: skip
    priors, models = [], []
    for seed in seeds:
        stem = folder / seed.name
        priors.append(stem.with_suffix(stem.suffix + ".priors"))
        models.append(stem.with_suffix(stem.suffix + ".atm"))
        if not models[-1].exists() and not o.kept:
            measuring.note(f"{seed.name}: priors and model")
            files = ["-s", seed.source, "-t", seed.target, "-o", "/dev/null"]
            save = ["--save-priors", priors[-1], "--save-model", models[-1]]
            measuring.run(measuring.aligntools("align", "-q", "--threads", o.threads, *files, *save))
    others = {k: [flag for n, path in enumerate(priors) if n != k for flag in ("--priors", path)] for k in range(PARTS)}
    ways = {
        "each part alone": lambda k: (),
        "priors of one other part": seeded("--priors", priors),
        "priors of all other parts": lambda k: others[k],
        "`--init-model` of one other part": seeded("--init-model", models),
    }
    found = {"whole": figures.of(name, "ours", "whole", lambda: _ours(o, whole))}
    for way, flags in ways.items():
        each = [
            figures.of(part.name, "ours", way, lambda p=part, k=k, f=flags: _ours(o, p, *f(k)))
            for k, part in list(enumerate(parts))[::EVERY]
        ]
        if None not in each:
            found[way] = {key: statistics.mean(row[key] for row in each) for key in each[0]}
    return name, whole.n_pairs, {way: row for way, row in found.items() if row}


def _body(o, rows, parts):
    header = [
        "gold set", "text", "pairs", "priors", "ours", f"ours {HEURISTIC}", "ours, its best", "eflomal, its best",
        f"eflomal {HEURISTIC}",
    ]  # fmt: skip
    lines = []
    for name, text, maker, ours, other in rows:
        kind = {"alone": "gold", "some": f"gold + {SMALL:,}"}.get(text.name.rsplit(".", 1)[-1], "all")
        lines.append([
            name, kind, f"{text.n_pairs:,}", maker, f"{ours['joint']:.1f}", f"{ours[HEURISTIC]:.1f}", _least(ours),
            _least(other), f"{other[HEURISTIC]:.1f}" if other else "",
        ])  # fmt: skip
    ways = [way for way in parts[0][2] if all(way in found for _, _, found in parts)] if parts else []
    cut = [[way, *(f"{found[way][s]:.2f}" for _, _, found in parts for s in ("joint", HEURISTIC))] for way in ways]
    body = [
        "AER in percent, lower-cased text. Priors are of the training text without the pairs that are aligned with the"
        " gold sentences: counted from our alignment of it (`align --save-priors`), or from eflomal's"
        " (`eflomal-makepriors`). `ours` is the default, without a choice on the set; *its best* is the lowest of all"
        " symmetrizations, chosen on the gold links. eflomal has no seed; one run each. The weights of priors"
        f" (`--prior-lexical` and others) were chosen on {', '.join(CHOSEN_ON)}, not on the other sets.",
        report.table(header, lines),
        _summary(rows),
    ]
    if parts:
        names = [f"{name}, {n:,} pairs{end}" for name, n, _ in parts for end in ("", f", {HEURISTIC}")]
        body += [
            f"A large text in {PARTS} parts. The gold sentences are aligned together with one part, and the mean AER"
            f" over {len(range(0, PARTS, EVERY))} of the parts is given; what these get comes from other parts, without"
            " the gold sentences. Texts of over two million words have one view of the words, their parts all four"
            " (`views`), so a part may do better than the whole.",
            report.table(["way", *names], cut),
        ]
    return body


def _least(found):
    if not found:
        return ""
    name = min(found, key=found.get)
    return f"{found[name]:.1f} {name}"


def _summary(rows):
    """Return the mean gains by priors, on the sets that weights were chosen on and on the others."""
    table = {(name, text.name, maker): (ours, other) for name, text, maker, ours, other in rows}
    lines = []
    for label, chosen in (("weights chosen on these", True), ("not", False)):
        names = [row for row in rows if row[2] == "none" and (row[0] in CHOSEN_ON) == chosen]
        for maker in ("ours", "eflomal"):
            if not names:
                continue
            gains = [[], [], [], []]
            for name, text, _, *_ in names:
                plain, helped = table[name, text.name, "none"], table.get((name, text.name, maker))
                if helped is None:
                    continue
                gains[0].append(plain[0]["joint"] - helped[0]["joint"])
                gains[1].append(plain[0][HEURISTIC] - helped[0][HEURISTIC])
                gains[2].append(min(plain[1].values()) - min(helped[1].values()))
                gains[3].append(plain[1][HEURISTIC] - helped[1][HEURISTIC])
            lines.append([label, maker, len(gains[0]), *(f"{statistics.mean(g or [0]):.2f}" for g in gains)])
    header = ["sets", "priors by", "texts", "ours", f"ours {HEURISTIC}", "eflomal, its best", f"eflomal {HEURISTIC}"]
    return "Points of AER that priors take off, mean over the small texts:\n\n" + report.table(header, lines)
