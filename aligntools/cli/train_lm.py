"""``aligntools train-lm``: n-gram language models."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from aligntools import LanguageModelSettings
from aligntools.cli import declarations, options, reporter
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    from aligntools.translating.language_models import LanguageModel


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
def command(*, texts: tuple[str, ...], format: Literal["arpa", "binary"], **o: Any) -> None:
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
