"""``aligntools eval-bleu``: translations scored against references."""

import dataclasses
import json as json_module

import click
import numpy as np

from aligntools import __version__
from aligntools.cli import options, tables
from aligntools.formats import files
from aligntools.ground.errors import DataError, UsageProblem


@click.command("eval-bleu", context_settings=options.SETTINGS)
@click.argument("reference", metavar="REFERENCE")
@click.argument("translations", metavar="TRANSLATION...", nargs=-1, required=True)
@click.option("-r", "--reference", "more", multiple=True, metavar="FILE", help="A further reference; may be repeated.")
@click.option("--tokenize", type=click.Choice(["none"]), default="none", show_default=True,
              help="The text is scored as it is: words are what stands between spaces.")  # fmt: skip
@click.option("--lowercase", is_flag=True, help="Put everything in lower case.")
@click.option("--smooth", type=click.Choice(["exp", "floor", "add-k", "none"]), default="exp", show_default=True,
              help="What is done about precisions of 0.")  # fmt: skip
@click.option("--smooth-value", type=click.FloatRange(0, min_open=True), metavar="X",
              help="Of floor and add-k.  [default: 0.1; 1]")  # fmt: skip
@click.option("--sentence-level", is_flag=True, help="Print every sentence's BLEU instead, a column a translation.")
@options.scoring("BLEU", "translation")
@options.output
@options.verbosity
def command(reference, translations, more, tokenize, lowercase, smooth, smooth_value, sentence_level, bootstrap,
            paired, seed, json, output, quiet, verbose):  # fmt: skip
    """Score translations against references: BLEU, as sacrebleu counts it with tokenization 'none'.

    BLEU is the geometric mean of the precisions of n-grams up to 4, clipped by the reference that has most of each,
    times a penalty for being shorter than the closest reference (Papineni et al. 2002). A sentence's BLEU goes up to
    the longest n-grams that it has. The interval comes from drawing sentences with replacement; --paired adds the
    difference to the first translation, its interval, and how often exchanging the two outputs at random gives as
    large a one.

    \b
    Example:
      sed 's/ the / a /' data/samples/de-en.en | aligntools eval-bleu data/samples/de-en.en -
    """
    if smooth_value is not None and smooth in ("exp", "none"):
        raise UsageProblem(f"--smooth-value does not go with --smooth {smooth}")
    if paired and len(translations) < 2:
        raise UsageProblem("--paired compares with the first translation; give two or more")
    if [reference, *more, *translations].count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")

    from aligntools.metrics import bleu

    ids = {}
    references = [_read(path, lowercase, ids) for path in (reference, *more)]
    n = len(references[0][1]) - 1
    for path, (_, offsets) in zip(more, references[1:], strict=True):
        _check_length(path, len(offsets) - 1, reference, n)
    counts = []
    for path in translations:
        words, offsets = _read(path, lowercase, ids)
        _check_length(path, len(offsets) - 1, reference, n)
        counts.append(bleu.statistics(words, offsets, references))
    how = {"smoothing": smooth, "value": smooth_value}
    if sentence_level:
        columns = [bleu.sentence_bleu(part, **how).tolist() for part in counts]
        options.write_text(output, _sentences(translations, columns, json))
        return
    results = []
    for k, (path, part) in enumerate(zip(translations, counts, strict=True)):
        result = {"translation": path, **dataclasses.asdict(bleu.score(part, **how))}
        if bootstrap:
            result["bleu_interval"] = bleu.bootstrap(part, bootstrap, seed, smooth, smooth_value)
        if paired and k:
            difference = bleu.compare(part, counts[0], bootstrap or 1000, seed, smooth, smooth_value)
            result["difference"] = options.difference_as("bleu", difference)
        results.append(result)
    value = bleu.SMOOTHING[smooth] if smooth_value is None else smooth_value
    signature = {
        "metric": "bleu", "nrefs": len(references), "case": "lc" if lowercase else "mixed", "eff": "no",
        "tok": tokenize, "smooth": smooth if value is None else f"{smooth}[{value:.2f}]", "nsent": n,
        **({"bootstrap": bootstrap, "seed": seed} if bootstrap or paired else {}), "version": __version__,
    }  # fmt: skip
    text = tables.signature(signature)
    if json:
        shown = {"signature": text, "settings": signature, "results": results}
        options.write_text(output, json_module.dumps(shown, indent=2, ensure_ascii=False) + "\n")
    else:
        options.write_text(output, _as_table(results, text))


def _read(path, lowercase, ids):
    """Return a text's words by number and where sentences begin; any white space separates words, as in sacrebleu."""
    words, ends = [], [0]
    for number, line in enumerate(files.lines(path), 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            problem = "bytes that are not UTF-8 (convert the file, for instance with iconv)"
            raise DataError(path, number, problem) from None
        if lowercase:
            text = text.lower()
        words += [ids.setdefault(word, len(ids)) for word in text.split()]
        ends.append(len(words))
    if len(ends) == 1:
        raise DataError(path, None, "is empty; give text, one sentence a line")
    return np.array(words, np.int32), np.array(ends, np.int64)


def _check_length(path, lines, reference, n):
    if lines != n:
        raise DataError(path, None, f"{lines} lines, but the reference {reference} has {n}; they must face each other")


def _sentences(translations, columns, json):
    if json:
        shown = [{"translation": p, "sentences": c} for p, c in zip(translations, columns, strict=True)]
        return json_module.dumps({"results": shown}, indent=2, ensure_ascii=False) + "\n"
    rows = zip(*columns, strict=True)
    return "".join("\t".join(f"{100 * value:.2f}" for value in row) + "\n" for row in rows)


def _as_table(results, signature):
    rows = [["translation", "BLEU", "95% interval", "1-grams", "2-grams", "3-grams", "4-grams", "BP", "ratio", "words",
             "in reference"]]  # fmt: skip
    for r in results:
        rows.append(
            [r["translation"], tables.percent(r["bleu"]), tables.interval(r.get("bleu_interval")),
             *map(tables.percent, r["precisions"]), f"{r['brevity_penalty']:.3f}", f"{r['ratio']:.3f}", str(r["words"]),
             str(r["reference_words"])]
        )  # fmt: skip
    if "bleu_interval" not in results[0]:
        rows = [row[:2] + row[3:] for row in rows]
    lines = [*tables.aligned(rows), *tables.differences(results, "translation", "bleu", "BLEU")]
    lines.append(f"signature: {signature}")
    return "\n".join(lines) + "\n"
