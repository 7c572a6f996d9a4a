"""``aligntools eval-lm``: perplexity of text under a language model."""

import dataclasses
import json as json_module
import math

import click

from aligntools.cli import options, tables
from aligntools.ground.errors import UsageProblem

_BITS = math.log(2)
_DECIMAL = math.log(10)


@click.command("eval-lm", context_settings=options.SETTINGS)
@click.option("-m", "--model", required=True, metavar="FILE", help="An ARPA file, or what train-lm --binary wrote.")
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@click.option("--lines", is_flag=True,
              help="A line for each line of text: log10 probability, words, unknown words, perplexity.")  # fmt: skip
@click.option("--lowercase", is_flag=True, help="Put the text in lower case.")
@click.option("--json", is_flag=True, help="Print JSON; with --lines an object a line.")
@options.output
@options.threads
@options.verbosity
def command(model, texts, lines, lowercase, json, output, threads, quiet, verbose):
    """Measure the perplexity of texts, one sentence a line, under a language model.

    It is per word, ends of sentences among them; the second figure leaves unknown words out of the mean, though not
    out of the context of others. Lines without words do not count.

    \b
    Example:
      aligntools train-lm -q -n 3 data/samples/de-en.en -o /tmp/en.arpa
      aligntools eval-lm -m /tmp/en.arpa data/samples/fr-en.en
    """
    if texts.count("-") + (model == "-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")

    from aligntools.formats.files import writing
    from aligntools.ground.parallel import Pool
    from aligntools.translating.lm import language_model

    loaded = language_model.load(model)
    results = []
    with Pool(threads) as pool, writing(output) as out:
        for path in texts:
            tally = language_model.Tally(loaded.order)
            for scores in language_model.score_text(loaded, path, pool, lowercase=lowercase):
                tally.add(scores)
                if lines:
                    out.write(_lines(scores, json).encode())
            results.append((path, tally.result()))
        if not lines:
            out.write((_as_json if json else _as_table)(results, verbose).encode())


def _lines(scores, json):
    rows = []
    for n, log in enumerate(scores.sentences().tolist()):
        begin, end = scores.offsets[n], scores.offsets[n + 1]
        words, unknown = int(end - begin - 1), int(scores.unknown[begin:end].sum())
        log = log if words else 0.0
        perplexity = math.exp(-log / (words + 1)) if words else None
        if json:
            row = {"log10": log / _DECIMAL, "words": words, "unknown": unknown, "perplexity": perplexity}
            rows.append(json_module.dumps(row))
        else:
            rows.append(f"{log / _DECIMAL:.6g}\t{words}\t{unknown}\t" + (f"{perplexity:.6g}" if words else "-"))
    return "".join(row + "\n" for row in rows)


def _figures(path, result):
    shown = {"text": path, **dataclasses.asdict(result)}
    found = shown.pop("found")
    for name in ("perplexity", "perplexity_known"):
        shown[name] = None if math.isnan(shown[name]) else shown[name]
    shown["log10"] = shown.pop("log_probability") / _DECIMAL
    events = result.words + result.sentences
    shown["bits"] = -result.log_probability / _BITS / events if events else None
    return shown | {"found_by_order": list(found)}


def _as_json(results, _verbose):
    return json_module.dumps({"results": [_figures(*r) for r in results]}, indent=2, ensure_ascii=False) + "\n"


def _as_table(results, verbose):
    rows = [["text", "perplexity", "without unknown", "bits", "log10", "sentences", "words", "unknown"]]
    for path, result in results:
        f = _figures(path, result)
        numbers = [f[name] for name in ("perplexity", "perplexity_known", "bits")]
        rows.append(
            [path, *("-" if x is None else f"{x:.3f}" for x in numbers), f"{f['log10']:.2f}",
             *(str(f[name]) for name in ("sentences", "words", "unknown"))]
        )  # fmt: skip
    text = tables.aligned(rows)
    if verbose:
        for path, result in results:
            found = ", ".join(f"{order}: {n}" for order, n in enumerate(result.found, 1))
            text.append(f"{path}: words by the order of the n-gram found: {found}")
    return "\n".join(text) + "\n"
