"""What `check` finds of spans that translations leave out, have put in or repeat: average precision and AUC."""

import functools
import random
import tempfile
from pathlib import Path

import numpy as np

from bench import code, measuring, report, texts
from bench.filtering import Kept, auc

#: What the weights and tables of the score and its threshold were chosen on, and what nothing was chosen on.
CHOSEN = ("en-de", "en-cs")
HELD_OUT = ("en-fr", "en-zh")
KINDS, SIZES = ("left out", "put in", "repeated"), (1, 2, 4, 8)
#: Pairs of a text that are checked, how many of them are changed in each way, and words of a side.
PAIRS, CHANGED, LEAST, MOST = 2_000, 500, 12, 60
#: Pairs that a model is trained on.
TRAINED, SEED = 100_000, 1


def held_out(data, pair, trained):
    """Return the sides of pairs that are checked and of others that are trained on: different English sentences."""
    e, f = (list(texts.lines(data, pair, "train", language)) for language in (pair[:2], pair[3:]))
    own = list({both: n for n, both in enumerate(zip(e, f, strict=True))}.values())
    rng = random.Random(SEED)
    usable = [n for n in own if all(LEAST <= len(side[n].split()) <= MOST for side in (e, f))]
    rng.shuffle(usable)
    checked = sorted(usable[:PAIRS])
    english = {e[n] for n in checked}
    rest = [n for n in own if e[n] not in english]
    rng.shuffle(rest)
    return [[[side[n] for n in chosen] for side in (e, f)] for chosen in (checked, rest[:trained])]


def changed(target):
    """Return ``kind, size, line, sentence`` of `CHANGED` sentences for each kind and size."""
    rng, found = random.Random(SEED), []
    words = [line.split() for line in target]
    for kind in KINDS:
        for size in SIZES:
            for n in rng.sample(range(len(words)), min(CHANGED, len(words) // 2)):
                own = words[n]
                at = rng.randrange(len(own) - size + 1)
                if kind == "left out":
                    new = own[:at] + own[at + size :]
                elif kind == "put in":
                    other = rng.choice(words)
                    begin, at = rng.randrange(len(other) - size + 1), rng.randrange(len(own) + 1)
                    new = own[:at] + other[begin : begin + size] + own[at:]
                else:
                    new = own[: at + size] + own[at:]
                found.append((kind, size, n, " ".join(new)))
    return found


def average_precision(bad, good):
    """Return the mean, over the bad, of the precision of all that is scored as high; ties count together."""
    scores, is_bad = np.concatenate([bad, good]), np.repeat([1, 0], [len(bad), len(good)])
    order = np.argsort(-scores, kind="stable")
    scores, hits = scores[order], np.cumsum(is_bad[order])
    ends = np.append(np.nonzero(np.diff(scores))[0], len(scores) - 1)
    return float((np.diff(hits[ends], prepend=0) * hits[ends] / (ends + 1)).sum() / len(bad))


def cells(changes, n):
    """Yield ``kind, size``, the changed lines and the lines as they are beside them, as rows of both texts joined."""
    for kind in KINDS:
        for size in SIZES:
            rows = [k for k, change in enumerate(changes) if change[:2] == (kind, size)]
            used = {changes[k][2] for k in rows}
            yield kind, size, [n + k for k in rows], [k for k in range(n) if k not in used]


def shares(linked, sizes):
    """Return the share of both sides' words without a link, pair by pair."""
    rows = [(len({i for i, _ in links}) + len({j for _, j in links})) for links in linked]
    return 1 - np.array(rows) / np.array(sizes)


def eflomal_links(o, sides, trained):
    """Return eflomal's links of a text, forward and reverse, that is aligned together with other text."""
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        place = functools.partial(Path, folder)
        for name, own, more in zip("st", sides, trained, strict=True):
            place(name).write_text("".join(line.lower() + "\n" for line in own + more), encoding="utf-8")
        files = ["-s", place("s"), "-t", place("t"), "-f", place("f"), "-r", place("r")]
        measuring.run([o.eflomal, "--overwrite", *files])
        return [
            [{tuple(map(int, link.split("-"))) for link in line.split()} for line in rows[: len(sides[0])]]
            for rows in (place(name).read_text().splitlines() for name in "fr")
        ]


def measured(o, pair):
    """Return average precision and AUC of each figure, kind and size, and what the defaults flag."""
    import aligntools as at

    sides, trained = held_out(o.data, pair, o.trained)
    changes, n = changed(sides[1]), len(sides[0])
    source = sides[0] + [sides[0][line] for _, _, line, _ in changes]
    target = sides[1] + [sentence for *_, sentence in changes]
    sizes = [len(s.split()) + len(t.split()) for s, t in zip(source, target, strict=True)]
    model = at.train_aligner(*trained, threads=o.threads)
    ratio = np.log([len(t.split()) / len(s.split()) for s, t in zip(source, target, strict=True)])
    figures = {
        "length ratio": np.abs(ratio - np.median(ratio[:n])),
        "unlinked words": shares([a.links for a in model.align_batch(source, target, threads=o.threads)], sizes),
    }
    if o.eflomal:
        forward, reverse = eflomal_links(o, (source, target), trained)
        for name, join in (("intersection", set.__and__), ("union", set.__or__)):
            figures[f"eflomal, {name}"] = shares([join(a, b) for a, b in zip(forward, reverse, strict=True)], sizes)
    found, flagged = {name: [] for name in ("check", *figures)}, []
    for _, _, bad, good in cells(changes, n):
        rows = good + bad
        own = at.check([source[k] for k in rows], [target[k] for k in rows], model=model, threads=o.threads)
        scores = np.array([one.score for one in own])
        flagged.append(float(np.mean([one.flagged for one in own[len(good) :]])))
        for name in found:
            values = scores if name == "check" else figures[name][rows]
            high, low = values[len(good) :], values[: len(good)]
            found[name].append([average_precision(high, low), float(auc(high, low))])
    plain = at.check(*sides, model=model, threads=o.threads)
    return {"rates": found, "flagged": flagged, "plain": plain.flagged_share, "pairs": n, "trained": len(trained[0])}


def run(o):
    if not o.data:
        raise SystemExit("checking needs text: --data DIR")
    kept = Kept(o.work / f"checking-{code.of(measured)}.json")
    languages = o.languages.split(",") if o.languages else CHOSEN + HELD_OUT
    results = {pair: kept.of(f"{pair} {o.trained}", functools.partial(measured, o, pair)) for pair in languages}
    body = [
        f"{report.circumstances(o.threads)} {PAIRS:,} pairs of each training text, {LEAST} to {MOST} words a side, and"
        f" models of up to {TRAINED:,} other pairs of it. For each kind and size, {CHANGED} of the translations are"
        " changed: so many words in a row are left out, words of another translation are put in, or words are repeated"
        f" behind themselves; {PAIRS - CHANGED:,} stay as they are, and a figure that knew nothing would have an"
        " average precision of 25 %. *unlinked words*: the share of both sides' words without a link, by `align`'s"
        " links and by eflomal's, which aligns the text together with what the model is trained on."
        " *length ratio*: how far the logarithm of the ratio of words lies from its median."
        f" The score's tables and weights and its threshold were chosen on {' and '.join(CHOSEN)}, on the same pairs;"
        f" nothing was chosen on {' and '.join(HELD_OUT)}. Single runs."
    ]
    head = [f"{kind} {size}" for kind in KINDS for size in SIZES]
    for number, title in enumerate(("Average precision", "AUC")):
        rows = [
            [
                pair,
                name,
                *(f"{100 * cell[number]:.1f}" for cell in cells_of),
                f"{100 * np.mean(cells_of, 0)[number]:.1f}",
            ]
            for pair, result in results.items()
            for name, cells_of in result["rates"].items()
        ]
        body += [f"{title}, in percent, by kind and words:", report.table(["text", "figure", *head, "mean"], rows)]
    rows = [
        [pair, f"{result['trained']:,}", f"{100 * result['plain']:.1f}", *(f"{100 * x:.0f}" for x in result["flagged"])]
        for pair, result in results.items()
    ]
    body.append(
        "Percent of pairs that are flagged with the default `--flag-above`; *untouched*: of the pairs as they are."
    )
    body.append(report.table(["text", "pairs trained on", "untouched", *head], rows))
    return "\n\n".join(body)
