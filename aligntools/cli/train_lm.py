"""``aligntools train-lm``: n-gram language models."""

import sys
from pathlib import Path

import click

from aligntools.cli import engine_options, kinds, notices, options
from aligntools.ground.errors import UsageProblem
from aligntools.translating.settings import LanguageModelSettings

_THRESHOLDS = kinds.Numbers(
    LanguageModelSettings.PRUNE,
    lambda thresholds: thresholds[0] == 0 and sorted(thresholds) == list(thresholds),
    "numbers that do not fall, the first, for single words, 0: for instance 0,0,1",
)


@click.command("train-lm", cls=options.Command)
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@options.group(
    "Common options",
    click.option("-o", "--output", metavar="FILE", type=options.WRITTEN,
                 help="Write the model to this file; ARPA may end in .gz, .xz, .zst.  [default: standard output]"),
    options.setting("-n", "--order", of=LanguageModelSettings, metavar="N", help="Words in the longest n-grams."),
    click.option("--format", type=click.Choice(["arpa", "binary"]), default="arpa", show_default=True,
                 help="Write ARPA, which KenLM and SRILM read, or a binary file, which loads faster."),
    click.option("--binary", metavar="FILE", type=options.WRITTEN, hidden=True),
)  # fmt: skip
@options.group(
    "Training",
    click.option("--prune", default="0", show_default=True, type=_THRESHOLDS, metavar="N,N,...",
                 help="Leave out n-grams that occur N times or less, by order; the last N is for all higher orders."),
    click.option("--lowercase", is_flag=True, help="Put the text in lower case."),
    options.split,
    click.option("--skip-symbols", is_flag=True,
                 help="Skip <s>, </s> and <unk> in the text; otherwise they are an error."),
)  # fmt: skip
@engine_options.group
@options.group(
    "Resources",
    options.max_memory("Use at most this much memory, for instance 800M or 4G; tables that do not fit go to temporary"
                       " files.  [default: 2G of tables, 75% of the memory in all]"),
    options.threads,
    options.verbosity,
)  # fmt: skip
def command(
    texts, output, order, format, binary, prune, lowercase, skip_symbols, split, max_memory, threads, quiet, verbose,
    **where,
):  # fmt: skip
    """Estimate a language model from texts, one sentence per line; '-' is standard input. Blank lines do not count.

    Interpolated modified Kneser-Ney smoothing (Chen & Goodman 1998) with three discounts for each order, as in
    KenLM's lmplz. The result does not depend on memory, threads or workers.

    \b
    Example:
      aligntools train-lm -n 3 data/samples/de-en.en -o /tmp/en.arpa
      aligntools eval-lm -m /tmp/en.arpa data/samples/fr-en.en
    """
    if texts.count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the texts")
    if format == "binary" and output in (None, "-"):
        raise UsageProblem("--format binary needs a file: -o FILE")
    from aligntools.api.language_models import train_lm

    steps = {}
    with notices.shown(quiet):
        model = train_lm(
            [Path(text) for text in texts], order=order, prune=prune, lowercase=lowercase, skip_symbols=skip_symbols,
            split=split, max_memory=max_memory, threads=threads,
            progress=lambda step: steps.update(step.figures), **where,
        )  # fmt: skip
    if not quiet:
        _tell(steps, model, verbose)
    if output is not None or binary is None:
        model.save(output or "-", format)
    if binary is not None:
        model.save(binary, "binary")


def _tell(figures, model, verbose):
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
