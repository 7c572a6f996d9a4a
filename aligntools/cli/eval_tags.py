"""``aligntools eval-tags``: tags, or induced classes, scored against gold tags."""

import dataclasses
import json as json_module
import sys

import click
import numpy as np

from aligntools import __version__
from aligntools.cli import options
from aligntools.cli import tables as scores
from aligntools.formats import tagged
from aligntools.formats.conll import COLUMNS
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.metrics import tags

_FORMATS = ["auto", *(name for name in tagged.FORMATS if name != "text")]


@click.command("eval-tags", context_settings=options.SETTINGS)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="TAGGED...", nargs=-1, required=True)
@click.option(
    "--column",
    default="upos",
    show_default=True,
    metavar="upos|xpos|N",
    callback=options.tag_column,
    help="Column of the tags in CoNLL, by name or number, counted from 1.",
)
@click.option(
    "--hyp-column",
    metavar="upos|xpos|N",
    callback=options.tag_column,
    help="The same for TAGGED alone.",
)
@click.option(
    "--format",
    type=click.Choice(_FORMATS),
    default="auto",
    show_default=True,
    help="tagged: word_TAG or word/TAG, a sentence a line. columns: word and tag, a word a line.",
)
@click.option("--hyp-format", type=click.Choice(_FORMATS), help="The same for TAGGED alone.")
@click.option(
    "--separator",
    metavar="TEXT",
    callback=options.tag_separator,
    help="Between word and tag in tagged text; found out unless given ('_' or '/').",
)
@click.option("--train", metavar="FILE", help="Text the tagger was trained on: score words not in it apart.")
@click.option("--head", is_flag=True, help="Score the first sentences of a TAGGED longer than the gold.")
@click.option("--ignore-forms", is_flag=True, help="Do not compare the words, only how many there are.")
@click.option("--by-tag", is_flag=True, help="Add precision, recall and F1 of each tag, and the commonest errors.")
@options.scoring("accuracy", "TAGGED")
@options.output
@options.verbosity
def command(
    gold,
    hypotheses,
    column,
    hyp_column,
    format,
    hyp_format,
    separator,
    train,
    head,
    ignore_forms,
    by_tag,
    bootstrap,
    paired,
    seed,
    json,
    output,
    quiet,
    verbose,
):
    """Score tags against gold tags: accuracy, and measures for induced classes without names.

    Files are CoNLL-X or CoNLL-U, word_TAG lines, or a word and its tag a line, told apart by their first lines.

    Accuracy (and that of known and unknown words) is for labels that are the gold's tags; it is left out where
    most words have other labels. many-to-1: every label counts as the tag that it has most words in common with
    (Johnson 2007). 1-to-1: every label as a tag of its own, in the best way. VI: variation of information,
    H(G|P) + H(P|G), in bits, 0 is best (Meila 2007). V-measure: harmonic mean of homogeneity and completeness
    (Rosenberg & Hirschberg 2007). All words count, punctuation too.

    \b
    Example:
      sed 's/_ADJ/_NOUN/g' data/samples/en.tagged | aligntools eval-tags data/samples/en.tagged -
    """
    if paired and len(hypotheses) < 2:
        raise UsageProblem("--paired compares with the first tagging; give two or more")
    if [gold, *hypotheses, train].count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")
    reference = _with_words(tagged.read_tags(gold, column, format, separator))
    kind = hyp_format or format
    where = column if hyp_column is None else hyp_column
    taggings = [_with_words(tagged.read_tags(path, where, kind, separator)) for path in hypotheses]
    for k, path in enumerate(hypotheses):
        taggings[k] = _fitting(reference, taggings[k], gold, path, head, ignore_forms)
    known, types = None, None
    if train is not None:
        training = {tagged.without_spaces(word) for word in tagged.read_words(train, "auto", separator).words}
        known = np.fromiter((tagged.without_spaces(word) in training for word in reference.words), bool)
        types = len(training)
    results, tables, counts = [], [], []
    for k, (path, tagging) in enumerate(zip(hypotheses, taggings, strict=True)):
        scores = tags.score(reference.tags, tagging.tags, known)
        table = tags.contingency(reference.tags, tagging.tags)
        if not quiet:
            _note(path, table, scores)
        right = tags.agreement(reference.tags, tagging.tags)
        counts.append(tags.sentence_counts(right, reference.offsets) if scores.accuracy is not None else None)
        result = {"tagging": path, **dataclasses.asdict(scores)}
        if bootstrap:
            some = scores.accuracy is not None
            result["accuracy_interval"] = tags.bootstrap(counts[k], bootstrap, seed) if some else None
        if paired and k and counts[k] is not None and counts[0] is not None:
            difference = tags.compare(counts[k], counts[0], bootstrap or 1000, seed)
            result["difference"] = options.difference_as("accuracy", difference)
        results.append(result)
        tables.append(table)
    signature = {
        "metric": "tags",
        "gold": _kind(reference, column),
        "hyp": ",".join(dict.fromkeys(_kind(tagging, where) for tagging in taggings)),
        "nsent": len(reference),
        "nword": len(reference.words),
        "1-to-1": "optimal",
        "log": "2",
        **({"train": f"{types}types"} if train is not None else {}),
        **({"forms": "ignored"} if ignore_forms else {}),
        **({"bootstrap": bootstrap, "seed": seed} if bootstrap or paired else {}),
        "version": __version__,
    }
    show = _as_json if json else _as_table
    options.write_text(output, show(results, signature, tables, by_tag, verbose))


def _kind(tokens, column):
    """Say what a file was taken for."""
    if tokens.format == "conll":
        return f"conll:{column if isinstance(column, int) else COLUMNS[column] + 1}"
    if tokens.format == "columns":
        return f"columns:{column if isinstance(column, int) else 2}"
    return tokens.format


def _with_words(tokens):
    """Leave out sentences without words: not all formats can have them, and there is nothing to score."""
    some = np.diff(tokens.offsets) > 0
    if some.all():
        return tokens
    offsets = np.append(tokens.offsets[:-1][some], len(tokens.words))
    return dataclasses.replace(tokens, offsets=offsets, lines=tokens.lines[some])


def _fitting(reference, tokens, gold, path, head, ignore_forms):
    """Return the sentences that the gold has, or say where the two texts part."""
    n = len(reference)
    if head and len(tokens) > n:
        end = int(tokens.offsets[n])
        tokens = dataclasses.replace(
            tokens,
            words=tokens.words[:end],
            tags=tokens.tags[:end],
            offsets=tokens.offsets[: n + 1],
            lines=tokens.lines[:n],
        )
    lengths, theirs = np.diff(reference.offsets), np.diff(tokens.offsets)
    same = reference.words == tokens.words and np.array_equal(lengths, theirs)
    if same or (ignore_forms and np.array_equal(lengths, theirs)):
        return tokens
    for s in range(min(n, len(tokens))):
        words, others = (_forms(text, s) for text in (reference, tokens))
        if len(words) != len(others) or (words != others and not ignore_forms):
            line = int(tokens.lines[s])
            raise DataError(path, line, _difference(words, others, s, f"{gold}:{reference.lines[s]}"))
    if len(tokens) != n:
        problem = f"{len(tokens)} sentences with words, but the gold {gold} has {n}"
        more = " (if they are the first ones, score those with --head)" if len(tokens) > n else ""
        raise DataError(path, None, problem + more)
    return tokens


def _difference(words, others, s, place):
    """Describe how sentence ``s`` differs from the gold's."""
    k = next((k for k, pair in enumerate(zip(words, others, strict=False)) if pair[0] != pair[1]), None)
    first = "" if k is None else f"; word {k + 1} is '{_shown(others[k])}' for '{_shown(words[k])}'"
    if len(words) == len(others):
        return f"sentence {s + 1} has other words than the gold at {place}{first} (--ignore-forms scores the tags)"
    return f"sentence {s + 1} has {len(others)} words where the gold at {place} has {len(words)}{first}"


def _forms(tokens, s):
    return [tagged.without_spaces(word) for word in tokens.words[tokens.offsets[s] : tokens.offsets[s + 1]]]


def _shown(value):
    text = value.decode("utf-8", "replace")
    return text if len(text) <= 40 else text[:40] + "..."


def _note(path, table, scores):
    """Say on standard error what the figures do not: labels that are none of the gold's tags."""
    if not table.foreign:
        return
    names = [table.predicted[k] for k in np.flatnonzero(table.same < 0)]
    shown = " ".join(map(_shown, names[:5])) + (" ..." if len(names) > 5 else "")
    what = f"{table.foreign} of {table.words} words have labels that the gold does not ({shown})"
    end = "" if scores.accuracy is not None else "; accuracy does not apply"
    sys.stderr.write(f"note: {path}: {what}{end}\n")


def _as_json(results, signature, tables, by_tag, _verbose):
    if by_tag:
        for result, table in zip(results, tables, strict=True):
            rows = [dataclasses.asdict(row) for row in tags.by_tag(table)]
            result["by_tag"] = [row | {"tag": row["tag"].decode("utf-8", "replace")} for row in rows]
            result["confusions"] = [
                {"gold": _text(g), "predicted": _text(p), "words": n} for g, p, n in tags.confusions(table)
            ]
    shown = {"signature": scores.signature(signature), "settings": signature, "results": results}
    return json_module.dumps(shown, indent=2, ensure_ascii=False) + "\n"


def _text(value):
    return value.decode("utf-8", "replace")


def _as_table(results, signature, tables, by_tag, verbose):
    first = results[0]
    columns = {"tagging": [r["tagging"] for r in results], "acc%": [scores.percent(r["accuracy"]) for r in results]}
    if "accuracy_interval" in first:
        intervals = [r["accuracy_interval"] for r in results]
        columns["95% interval"] = ["-" if x is None else scores.interval(x) for x in intervals]
    if first["known"] is not None:
        columns["known"] = [scores.percent(r["accuracy_known"]) for r in results]
        columns["unknown"] = [scores.percent(r["accuracy_unknown"]) for r in results]
    columns["many-to-1"] = [scores.percent(r["many_to_one"]) for r in results]
    columns["1-to-1"] = [scores.percent(r["one_to_one"]) for r in results]
    information = [r["information"] for r in results]
    columns["VI"] = [f"{x['vi']:.4f}" for x in information]
    if verbose:
        columns["H(G|P)"] = [f"{x['gold_given_predicted']:.4f}" for x in information]
        columns["H(P|G)"] = [f"{x['predicted_given_gold']:.4f}" for x in information]
    for name, key in (("V", "v_measure"), ("hom", "homogeneity"), ("com", "completeness")):
        columns[name] = [scores.percent(x[key]) for x in information]
    columns["labels"] = [str(r["labels"]) for r in results]
    lines = scores.aligned([list(columns), *zip(*columns.values(), strict=True)])
    lines += scores.differences(results, "tagging", "accuracy", "accuracy")
    if by_tag:
        for r, table in zip(results, tables, strict=True):
            lines += ["", *_tag_lines(r["tagging"], table)]
        lines.append("")
    known = "" if first["known"] is None else f", {first['known']} known and {first['unknown']} unknown"
    lines.append(f"gold: {first['words']} words{known}, {first['tags']} tags")
    if verbose:
        lines.append("G: gold tags, P: labels; hom: 1 - H(G|P) / H(G), com: 1 - H(P|G) / H(P), V: their harmonic mean")
    lines.append(f"signature: {scores.signature(signature)}")
    return "\n".join(lines) + "\n"


def _tag_lines(path, table):
    rows = [["tag", "gold", "labelled", "both", "precision", "recall", "F1"]]
    for row in tags.by_tag(table):
        counts = map(str, (row.gold, row.predicted, row.correct))
        rows.append([_text(row.tag), *counts, *map(scores.percent, (row.precision, row.recall, row.f1))])
    how = "" if table.comparable or not table.words else ", labels mapped many-to-1"
    lines = [f"{path}{how}:", *scores.aligned(rows)]
    errors = [f"{_text(g)} as {_text(p)} {n}" for g, p, n in tags.confusions(table)]
    return lines + (["commonest errors: " + ", ".join(errors)] if errors else [])
