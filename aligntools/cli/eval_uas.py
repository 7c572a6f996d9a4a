"""``aligntools eval-uas``: dependency trees scored against gold trees."""

import dataclasses
import json as json_module
import sys

import click
import numpy as np

from aligntools import __version__
from aligntools.cli import options, tables
from aligntools.formats.conll import COLUMNS, column_place, read_conll
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.metrics import attachment


@click.command("eval-uas", context_settings=options.SETTINGS)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="PARSED...", nargs=-1, required=True)
@click.option("--punct", type=click.Choice(["ud", "conll", "all"]), default="all", show_default=True,
              help="Words that count: all; conll: not those of punctuation characters alone (CoNLL 2006/2007);"
                   " ud: not those with the gold tag PUNCT (or '.').")  # fmt: skip
@click.option("--no-punct", is_flag=True, help="The same as --punct ud.")
@click.option("--max-length", type=click.IntRange(1), metavar="N",
              help="Only sentences of at most N words that count.")  # fmt: skip
@click.option("--by", type=click.Choice(["length", "distance", "tag"]), multiple=True,
              help="Add attachment by length of the sentence, distance of the head, or gold tag.")  # fmt: skip
@click.option("--column", default="upos", show_default=True, callback=options.tag_column, metavar="upos|xpos|N",
              help="Column with the gold tags (--punct ud, --by tag).")  # fmt: skip
@click.option("--subtypes/--no-subtypes", default=True, show_default=True,
              help="Whether labels must agree behind a colon too (nsubj:pass).")  # fmt: skip
@click.option("--ignore-forms", is_flag=True, help="Do not compare the words, only how many there are.")
@options.scoring("UAS", "PARSED")
@options.output
def command(gold, hypotheses, punct, no_punct, max_length, by, column, subtypes, ignore_forms, bootstrap, paired,
            seed, json, output):  # fmt: skip
    """Score dependency trees against gold trees: UAS, LAS, whole trees, roots.

    Files are CoNLL-X or CoNLL-U with the same words. UAS and LAS: words with the right head (and label, where both
    files have labels); trees: sentences whose words all have the right head; root: gold roots that are roots.

    \b
    Example:
      aligntools eval-uas --by distance data/samples/en.conllu data/samples/en.conllu
    """
    punct = "ud" if no_punct else punct
    if paired and len(hypotheses) < 2:
        raise UsageProblem("--paired compares with the first file; give two or more")
    if [gold, *hypotheses].count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")
    reference, gold_heads = _read(gold, True)
    gold_labels, tags = reference.column(COLUMNS["deprel"]), reference.column(column_place(column))
    words = attachment.counted(reference.words, tags, punct)
    counts, results, groups = [], [], []
    for path in hypotheses:
        parsed, heads = _read(path, False)
        _same(reference, parsed, gold, path, ignore_forms)
        labels = parsed.column(COLUMNS["deprel"])
        some = bool(labels) and not ({*labels} <= {b"_"} or {*gold_labels} <= {b"_"})
        right = attachment.labels_equal(gold_labels, labels, subtypes) if some else None
        counts.append(attachment.count(gold_heads, heads, reference.offsets, words, right, max_length))
        scores = dataclasses.asdict(attachment.score(counts[-1]))
        result = {"parser": path, **scores, "las": scores["las"] if some else None}
        if bootstrap:
            result["uas_interval"] = attachment.bootstrap(counts[-1], bootstrap, seed)
        if paired and len(counts) > 1:
            difference = attachment.compare(counts[-1], counts[0], bootstrap or 1000, seed)
            result["difference"] = options.difference_as("uas", difference)
        here = words & np.repeat(counts[-1][:, 0] > 0, np.diff(reference.offsets))
        groups.append(_groups(by, reference.offsets, gold_heads, heads, tags, here))
        if np.any(heads < 0):
            sys.stderr.write(f"note: {path}: {int(np.sum(heads < 0))} words have no head; they count as wrong\n")
        results.append(result)
    signature = {
        "metric": "uas", "punct": punct, "nsent": results[0]["sentences"], "nword": results[0]["words"],
        **({"maxlen": max_length} if max_length else {}), "subtypes": "yes" if subtypes else "no",
        **({"forms": "ignored"} if ignore_forms else {}),
        **({"bootstrap": bootstrap, "seed": seed} if bootstrap or paired else {}), "version": __version__,
    }  # fmt: skip
    text = tables.signature(signature)
    show = _as_json if json else _as_table
    options.write_text(output, show(results, groups, text, signature))


def _read(path, gold):
    conll = read_conll(path)
    heads = conll.heads()
    bare = np.flatnonzero(heads < 0)
    if len(bare) and (gold or len(bare) == len(heads)):
        line = conll.line_of_word(int(bare[0])) if len(bare) < len(heads) else None
        raise DataError(path, line, "no head in column 7 (_); " + ("the gold needs one for every word" if gold
                        else "was the file parsed?"))  # fmt: skip
    return conll, heads


def _same(reference, parsed, gold, path, ignore_forms):
    """Stop at the first sentence that has other words than the gold's."""
    lengths, theirs = np.diff(reference.offsets), np.diff(parsed.offsets)
    words, others = reference.words, parsed.words
    if np.array_equal(lengths, theirs) and (ignore_forms or words == others):
        return
    for s in range(min(len(lengths), len(theirs))):
        a = words[reference.offsets[s] : reference.offsets[s + 1]]
        b = others[parsed.offsets[s] : parsed.offsets[s + 1]]
        if len(a) == len(b) and (ignore_forms or a == b):
            continue
        line, place = int(parsed.sentence_lines()[s]), f"{gold}:{reference.sentence_lines()[s]}"
        k = next((k for k, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), None)
        first = "" if k is None else f"; word {k + 1} is '{_shown(b[k])}' for '{_shown(a[k])}'"
        what = "other words than" if len(a) == len(b) else f"{len(b)} words, not {len(a)} as"
        advice = " (--ignore-forms scores it all the same)" if len(a) == len(b) else ""
        raise DataError(path, line, f"sentence {s + 1} has {what} the gold at {place}{first}{advice}")
    raise DataError(path, None, f"{len(theirs)} sentences, but the gold {gold} has {len(lengths)}")


def _shown(value):
    text = value.decode("utf-8", "replace")
    return text if len(text) <= 40 else text[:40] + "..."


def _groups(by, offsets, gold_heads, heads, tags, here):
    right, found = (gold_heads == heads)[here], {}
    for kind in dict.fromkeys(by):
        if kind == "length":
            names, pair = [name for name, _ in attachment.LENGTHS], [attachment.length_groups(offsets)] * 2
        elif kind == "distance":
            names = [name for name, _ in attachment.DISTANCES]
            pair = [attachment.distance_groups(h, offsets) for h in (gold_heads, heads)]
        else:
            kinds = sorted(set(tags))
            numbers = {tag: k for k, tag in enumerate(kinds)}
            names = [tag.decode("utf-8", "replace") for tag in kinds]
            pair = [np.fromiter((numbers[tag] for tag in tags), np.int64, len(tags))] * 2
        found[kind] = attachment.by_group(pair[0][here], pair[1][here], right, names)
    return found


def _as_json(results, groups, text, signature):
    for result, found in zip(results, groups, strict=True):
        if found:
            result["by"] = {
                kind: [dataclasses.asdict(g) | {"recall": g.recall, "precision": g.precision} for g in rows]
                for kind, rows in found.items()
            }
    shown = {"signature": text, "settings": signature, "results": results}
    return json_module.dumps(shown, indent=2, ensure_ascii=False) + "\n"


def _as_table(results, groups, text, _signature):
    rows = [["parser", "UAS%"]]
    if "uas_interval" in results[0]:
        rows[0].append("95% interval")
    rows[0] += ["LAS%", "trees%", "root%"]
    for r in results:
        row = [r["parser"], tables.percent(r["uas"])]
        if "uas_interval" in r:
            row.append(tables.interval(r["uas_interval"]))
        rows.append([*row, *(tables.percent(r[name]) for name in ("las", "complete", "root"))])
    lines = [*tables.aligned(rows), *tables.differences(results, "parser", "uas", "UAS")]
    for r, found in zip(results, groups, strict=True):
        for kind, members in found.items():
            table = [[kind, "gold", "parsed", "recall", "precision"]]
            for g in members:
                shares = map(tables.percent, (g.recall, g.precision))
                table.append([g.name, str(g.gold), str(g.predicted), *shares])
            lines += ["", f"{r['parser']} by {kind}:", *tables.aligned(table)]
    lines.append(f"gold: {results[0]['words']} words in {results[0]['sentences']} sentences count")
    lines.append(f"signature: {text}")
    return "\n".join(lines) + "\n"
