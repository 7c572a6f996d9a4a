"""``aligntools train-lm``: n-gram language models."""

import os
import sys

import click

from aligntools.cli import options
from aligntools.ground.errors import UsageProblem


def _thresholds(_ctx, _option, value):
    try:
        thresholds = [int(x) for x in value.replace(",", " ").split()]
    except ValueError:
        thresholds = []
    if not thresholds or thresholds[0] != 0 or sorted(thresholds) != thresholds:
        raise click.BadParameter("numbers that do not fall, the first, for single words, 0: for instance 0,0,1")
    return tuple(thresholds)


@click.command("train-lm", context_settings=options.SETTINGS)
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@click.option("-n", "--order", type=click.IntRange(1, 10), default=5, show_default=True, metavar="N",
              help="Words in the longest n-grams.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE",
              help="Where the ARPA file goes; may end in .gz, .xz, .zst.  [default: standard output]")  # fmt: skip
@click.option("--binary", metavar="FILE", help="Write the model here in a form that loads faster; no ARPA without -o.")
@click.option("--prune", default="0", show_default=True, callback=_thresholds, metavar="N,N,...",
              help="Leave out n-grams that come N times or less, by order; the last N is for the rest.")  # fmt: skip
@click.option("--lowercase", is_flag=True, help="Put the text in lower case.")
@click.option("--skip-symbols", is_flag=True, help="Pass over <s>, </s> and <unk> in the text; else they are an error.")
@click.option("--max-memory", callback=options.size, default="2G", show_default=True, metavar="SIZE",
              help="Tables over this go to temporary files: 800M, 4G.")  # fmt: skip
@click.option("--tmpdir", metavar="DIR", help="Where temporary files go.  [default: the system's folder for them]")
@options.threads
@options.verbosity
def command(texts, order, output, binary, prune, lowercase, skip_symbols, max_memory, tmpdir, threads, quiet, verbose):
    """Estimate a language model of texts, one sentence a line; '-' is standard input. Lines without words do not count.

    Interpolated modified Kneser-Ney (Chen & Goodman 1998) with three discounts an order, as KenLM's lmplz estimates
    it. The ARPA file can be read by KenLM and SRILM. The result depends neither on memory nor on threads.

    \b
    Example:
      aligntools train-lm -n 3 data/samples/de-en.en -o /tmp/en.arpa
      aligntools eval-lm -m /tmp/en.arpa data/samples/fr-en.en
    """
    if tmpdir is not None and not os.path.isdir(tmpdir):
        raise UsageProblem(f"--tmpdir {tmpdir} is no folder")
    if texts.count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the texts")
    if len(prune) > order:
        raise UsageProblem(f"--prune has {len(prune)} numbers for a model of order {order}")

    from aligntools.formats.arpa import write_arpa
    from aligntools.formats.disk_arrays import Store
    from aligntools.ground.parallel import Pool
    from aligntools.translating.lm.counting import count
    from aligntools.translating.lm.kneser_ney import estimate
    from aligntools.translating.lm.language_model import from_blocks

    store = Store(max_memory * 7 // 10, tmpdir)  # the rest is for what is sorted at a time, and for text
    counts = count(texts, order, store, lowercase=lowercase, skip_symbols=skip_symbols)
    with Pool(threads) as pool:
        model = estimate(counts, store, pool, prune)
    if not quiet:
        _tell(counts, model, store, verbose)
    if output is not None or binary is None:
        write_arpa(output or "-", model.vocabulary, model.counts, model.blocks())
    if binary is not None:
        from_blocks(model.order, model.vocabulary, model.counts, model.blocks()).save(binary)


def _tell(counts, model, store, verbose):
    blank = f" ({counts.blank} blank lines left out)" if counts.blank else ""
    lines = [f"{counts.sentences} sentences{blank}, {counts.words} words, {len(counts.vocabulary) - 3} different"]
    lines.append("n-grams by order: " + ", ".join(map(str, model.counts)))
    for order, discounts in enumerate(model.discounts, 1):
        shown = ", ".join(f"{value:.4g}" for value in discounts.values)
        if discounts.problem:
            lines.append(f"note: {order}-grams: {discounts.problem}; discounts {shown} are used (a small text?)")
        elif verbose:
            lines.append(f"discounts of order {order}: {shown}")
    if verbose and store.spilled:
        lines.append(f"{(store.spilled >> 20) + 1}M went to temporary files")
    sys.stderr.write("\n".join(lines) + "\n")
