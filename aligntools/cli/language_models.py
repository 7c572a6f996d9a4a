"""``aligntools train-lm`` and ``eval-lm``: n-gram language models, and the perplexity of text under them."""

import dataclasses
import json as json_module
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from aligntools import LanguageModelSettings
from aligntools.cli import declarations, options, reporter
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    from aligntools.translating.language_models import LanguageModel, Perplexity, SentenceScore, WordScore


@click.command("train-lm", cls=options.Command)
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@options.group(
    "Common options",
    options.written(
        "-o",
        "--output",
        help="Write the model to this file; ARPA may end in .gz, .xz, .zst.  [default: standard output]",
    ),
    declarations.option(LanguageModelSettings, "order", "-n"),
    options.choice(
        "--format",
        choices=("arpa", "binary"),
        help="Write ARPA, which KenLM and SRILM read, or a binary file, which loads faster.",
    ),
    options.written("--binary", hidden=True),
)
@declarations.group(LanguageModelSettings, without=["order"])
@options.group("Training", options.split)
@options.engines
@options.group("Resources", options.table_memory, options.threads, options.verbosity)
def train_lm(*, texts: tuple[str, ...], format: Literal["arpa", "binary"], **o: Any) -> None:
    """Estimate a language model from texts, one sentence per line; '-' is standard input. Blank lines do not count.

    Interpolated modified Kneser-Ney smoothing (Chen & Goodman 1998) with three discounts for each order, as in
    KenLM's lmplz. The result does not depend on memory, threads or workers.

    \b
    Example:
      aligntools train-lm -n 3 data/samples/de-en.en -o /tmp/en.arpa
      aligntools eval-lm -m /tmp/en.arpa data/samples/fr-en.en
    """
    if format == "binary" and o["output"] in (None, "-"):
        raise UsageProblem("--format binary needs a file: -o FILE")
    from aligntools.translating.language_models import train_lm

    steps: dict[str, Any] = {}
    with reporter.shown(o["quiet"]):
        how: dict[str, Any] = {"split": o["split"], "progress": lambda step: steps.update(step.figures)}
        model = declarations.call(train_lm, o, text=[Path(text) for text in texts], **how)
    if not o["quiet"]:
        _tell(steps, model, o["verbose"])
    if o["output"] is not None or o["binary"] is None:
        model.save(o["output"] or "-", format)
    if o["binary"] is not None:
        model.save(o["binary"], "binary")


def _tell(figures: dict[str, Any], model: "LanguageModel", verbose: bool) -> None:
    blank = f" ({figures['blank']} blank lines skipped)" if figures["blank"] else ""
    lines = [f"{figures['sentences']} sentences{blank}, {figures['words']} words, {figures['types']} different"]
    lines.append("n-grams by order: " + ", ".join(map(str, model.counts)))
    if verbose:
        for order, discounts in enumerate(model.discounts, 1):
            if not discounts.problem:
                shown = ", ".join(f"{value:.4g}" for value in discounts.values)
                lines.append(f"discounts of order {order}: {shown}")
        if figures["spilled"]:
            lines.append(f"{(figures['spilled'] >> 20) + 1}M went to temporary files")
    sys.stderr.write("\n".join(lines) + "\n")


_BITS = math.log(2)
_DECIMAL = math.log(10)


@click.command("eval-lm", cls=options.Command)
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@options.group(
    "Common options",
    options.file("-m", "--model", required=True, help="Language model: ARPA, or binary from train-lm."),
    options.option(
        "--lines",
        excludes=("words",),
        is_flag=True,
        help="Write one line for each line of text: log10 probability, words, unknown words, perplexity.",
    ),
    click.option(
        "--words",
        is_flag=True,
        help="Write one line for each word and end of a sentence: word, log10 probability, order of the n-gram"
        " that was found, 1 if it is unknown; a blank line after each line of text.",
    ),
    click.option("--json", is_flag=True, help="Write JSON; with --lines and --words, one object per line of text."),
)
@options.group(
    "Input and output",
    options.output(),
    declarations.option(LanguageModelSettings, "lowercase"),
    options.split,
)
@options.group("Resources", options.verify, options.threads, options.verbosity)
def eval_lm(**o: Any) -> None:
    """Measure the perplexity of texts, one sentence per line, under a language model.

    Perplexity is per word, where the end of a sentence counts as a word. The second figure leaves unknown words out
    of the mean, but not out of the context of others. Blank lines do not count.

    \b
    Example:
      aligntools train-lm -q -n 3 data/samples/de-en.en -o /tmp/en.arpa
      aligntools eval-lm -m /tmp/en.arpa data/samples/fr-en.en
    """
    from aligntools.formats.opening.files import writing
    from aligntools.ground.parallel import Pool
    from aligntools.translating.language_models import LanguageModel

    loaded, json = LanguageModel.load(o["model"], verify=o["verify"]), o["json"]
    with reporter.shown(o["quiet"]), Pool(o["threads"]) as pool, writing(o["output"]) as out:
        how: dict[str, Any] = {"lowercase": o["lowercase"], "split": o["split"], "threads": pool}
        if o["lines"]:
            for path in o["texts"]:
                for score in loaded.score_lines(path, **how):
                    out.write(_line(score, json).encode())
            return
        if o["words"]:
            for path in o["texts"]:
                for found in loaded.score_lines_by_word(path, **how):
                    out.write(_words(found, json).encode("utf-8", "surrogateescape"))
            return
        results = [(path, loaded.perplexity(path, **how)) for path in o["texts"]]
        if json:
            rows = [_figures(*one) for one in results]
            text = json_module.dumps({"results": rows}, indent=2, ensure_ascii=False) + "\n"
        else:
            text = _as_table(results, o["verbose"] and not o["quiet"])
        out.write(text.encode())


def _words(found: "list[WordScore]", json: bool) -> str:
    rows = [(one.word, one.log_probability / _DECIMAL, one.order, int(one.unknown)) for one in found]
    if json:
        names = ("word", "log10", "order", "unknown")
        return json_module.dumps({"words": [dict(zip(names, row, strict=True)) for row in rows]}) + "\n"
    return "".join(f"{word}\t{log:.6g}\t{order}\t{unknown}\n" for word, log, order, unknown in rows) + "\n"


def _line(score: "SentenceScore", json: bool) -> str:
    perplexity = score.perplexity if score.words else None
    log10 = score.log_probability / _DECIMAL
    if json:
        row = {"log10": log10, "words": score.words, "unknown": score.unknown, "perplexity": perplexity}
        return json_module.dumps(row) + "\n"
    shown = f"{perplexity:.6g}" if score.words else "-"
    return f"{log10:.6g}\t{score.words}\t{score.unknown}\t{shown}\n"


def _figures(path: str, result: "Perplexity") -> dict[str, Any]:
    shown: dict[str, Any] = {"text": path, **dataclasses.asdict(result)}
    found = shown.pop("found")
    for name in ("perplexity", "perplexity_known"):
        shown[name] = None if math.isnan(shown[name]) else shown[name]
    shown["log10"] = shown.pop("log_probability") / _DECIMAL
    events = result.words + result.sentences
    shown["bits"] = -result.log_probability / _BITS / events if events else None
    return shown | {"found_by_order": list(found)}


def _as_table(results: "Sequence[tuple[str, Perplexity]]", verbose: bool) -> str:
    from aligntools.metrics.base import aligned

    rows = [["text", "perplexity", "without unknown", "bits", "log10", "sentences", "words", "unknown"]]
    for path, result in results:
        f = _figures(path, result)
        numbers = [f[name] for name in ("perplexity", "perplexity_known", "bits")]
        shown = ["-" if x is None else f"{x:.3f}" for x in numbers]
        rows.append([path, *shown, f"{f['log10']:.2f}", *(str(f[name]) for name in ("sentences", "words", "unknown"))])
    text = aligned(rows)
    if verbose:
        for path, result in results:
            found = ", ".join(f"{order}: {n}" for order, n in enumerate(result.found, 1))
            text.append(f"{path}: words by the order of the n-gram found: {found}")
    return "\n".join(text) + "\n"
