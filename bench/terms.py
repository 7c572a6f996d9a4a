"""How good term lists are: precision by a dictionary, beside phrase tables filtered as Moses' users do it."""

import functools
import json
import math
import random
from pathlib import Path

from bench import code, report, texts
from bench.filtering import Kept

#: Texts whose term lists a dictionary judges; the settings were chosen on them.
CHOSEN = ("en-it.train",)
BEST = (500, 2000)
#: Least counts of a phrase pair that is ranked by its probabilities.
COUNTS = (3, 30)
#: Least probabilities of one that is ranked by its count.
LEAST = 0.5
SEED = 1


def dictionary(folder, language):
    """Return the translations of English words, from every file of a language."""
    found = {}
    for path in sorted(folder.glob(f"en-{language}.*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            english, other = line.split("\t")[:2]
            found.setdefault(english, set()).add(other)
    return found


def precision(pairs, words):
    """Return of the first pairs which percent is in a dictionary, and which of those whose source side it has.

    Parameters
    ----------
    pairs : list of (str, str)
    words : dict of str to set of str
    """
    judged = [(source, target) for source, target in pairs if source in words]
    right = sum(target in words[source] for source, target in judged)
    return 100 * right / max(len(pairs), 1), len(judged), 100 * right / max(len(judged), 1)


def significance(both, source, target, pairs):
    """Return minus the log of the probability that two phrases meet so often by chance (hypergeometric).

    The probability of the count itself, which is most of that of the count or more (Johnson et al. 2007).
    """

    def choose(n, k):
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    source, target = min(source, pairs), min(target, pairs)
    both = min(both, source, target)
    return choose(pairs, target) - choose(source, both) - choose(max(pairs - source, target - both), target - both)


def phrase_table(path):
    """Yield the phrase pairs of a table as Moses has it, with the counts of target, source and both."""
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.split(" ||| ")
        sides = (side.removesuffix(" [X]") for side in fields[:2])  # of Hiero rules
        yield *sides, *map(float, fields[4].split())


def ranked(table, n_pairs):
    """Return phrase pairs by system, the best first."""
    rows = [(s, t, both, both * both / source / target, source, target) for s, t, target, source, both in table]
    found = {}
    for least in COUNTS:
        some = [row for row in rows if row[2] >= least]
        found[f"phrase table, count {least}+, by p(e\\|f) p(f\\|e)"] = sorted(some, key=lambda row: (-row[3], -row[2]))
    likely = [row for row in rows if min(row[2] / row[4], row[2] / row[5]) >= LEAST]
    found[f"phrase table, both p {LEAST}+, by count"] = sorted(likely, key=lambda row: -row[2])
    found["phrase table, by significance"] = sorted(
        rows, key=lambda row: -significance(row[2], row[4], row[5], n_pairs)
    )
    return {name: [row[:2] for row in some[: max(BEST)]] for name, some in found.items()}


def lists(o, name):
    """Return the best pairs of every system for a text."""
    import aligntools as at

    pair, part = name.split(".")
    source, target = (list(texts.lines(o.data, pair, part, language)) for language in pair.split("-"))
    source, target = zip(*((s, t) for s, t in zip(source, target, strict=True) if s.strip() and t.strip()), strict=True)
    text = at.read_bitext(source, target, case_sensitive=True)
    model = at.train_aligner(text, threads=o.threads, keep_text=True)
    links = [a.links for a in model.align_batch(text, threads=o.threads)]
    found = {"terms": [(term.source, term.target) for term in at.terms(text, None, links, top=max(BEST))]}
    path = Path(o.work) / f"terms-{name}.table"
    how = {"nonterminals": 0, "phrases": "loose", "max_symbols": 4, "max_span": 4, "keep": 1000}
    at.extract_grammar(text, None, links, **how).save(path, format="moses")
    found |= ranked(phrase_table(path), len(source))
    path.unlink()
    return found


def sample(pairs, n=100):
    """Return some pairs of a list, to be judged by hand; the same ones each time."""
    return random.Random(SEED).sample(pairs, min(n, len(pairs)))


def run(o):
    if not o.data:
        raise SystemExit("terms needs text: --data DIR")
    kept = Kept(o.work / f"terms-{code.of(lists)}.json")
    rows = []
    for name in o.sets.split(",") if o.sets else CHOSEN:
        found = kept.of(name, functools.partial(lists, o, name))
        if o.sample:
            (o.sample / f"{name}.json").write_text(json.dumps({key: sample(some) for key, some in found.items()}))
        words = dictionary(o.dictionaries, name.split(".")[0][3:])
        for system, pairs in found.items():
            for best in BEST:
                whole, judged, right = precision(list(map(tuple, pairs[:best])), words)
                rows.append([name, system, f"{best:,}", f"{whole:.1f}", f"{judged:,}", f"{right:.1f}"])
    body = [
        f"{report.circumstances(o.threads)} Lower-cased text, aligned by `align`; the best 500 and 2,000 pairs of each"
        " list: which percent the dictionary has, how many have a source side that it has, and which percent of these"
        " are right by it. A dictionary has few names, forms and terms of several words, so that both are low bounds."
        " Phrase tables are those of `extract-grammar --set nonterminals=0 --phrases loose`, up to 4 words a"
        " side, ranked"
        " by both conditional probabilities from a least count on, by count where both are high, and by significance"
        " (Johnson et al. 2007)."
        f" `--min-probability` and the learning of stop words were chosen on {', '.join(CHOSEN)}.",
        report.table(["text", "list", "pairs", "in the dictionary %", "judged", "right %"], rows),
    ]
    return "\n\n".join(body)
