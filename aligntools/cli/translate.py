"""``aligntools translate``: text, a grammar and a language model in, translations out."""

import time
from typing import Any

import click

from aligntools import DecoderSettings, LatticeSettings, TranslationLists
from aligntools.cli import declarations, kinds, options, service_options
from aligntools.cli.flags import renamed
from aligntools.ground.declarations import range_of


@click.command(
    "translate",
    cls=options.Command,
    renamed=renamed(TranslationLists),
    basic="grammar lm weights input output n_best samples derivations unbuffered pop_limit workers threads quiet",
)
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@options.group(
    "Common options",
    options.file(
        "--grammar",
        required=True,
        needs=("lm|no_lm",),
        said="a language model is needed: --lm FILE, or --no-lm to translate without one",
        help="Grammar from extract-grammar, or in cdec's or Moses' format.",
    ),
    options.file(
        "--lm", excludes=("no_lm",), help="Language model of the target language: ARPA, or binary from train-lm."
    ),
    options.file("-w", "--weights", help="Weights from imputed-risk.  [default: untuned ones, with a notice]"),
)
@declarations.group(LatticeSettings, without=["arc_weights"])
@options.group(
    "Input and output",
    declarations.option(
        LatticeSettings,
        "arc_weights",
        multiple=True,
        metavar="X",
        show_default=False,
        type=kinds.Number(range_of(LatticeSettings, "arc_weights")),
        help="Weight of a score; once for each.  [default: what -w has for lattice-1 and so on, or 1]",
    ),
    options.split,
    options.output(),
    declarations.group(TranslationLists, without=["seed"]),
    options.written("--hypergraphs", help="Also write the packed derivations to this file, as JSON lines."),
    options.written(
        "--derivations",
        help="Also write the rules that made each translation, as JSON lines; with --n-best N, N of each.",
    ),
    service_options.unbuffered,
)
@options.group(
    "Search",
    click.option("--no-lm", is_flag=True, help="Translate without a language model."),
    options.file("--tags", help="Tagged target text, for weights with bigrams over tags."),
    declarations.group(DecoderSettings),
)
@options.engines
@options.group(
    "Resources", options.verify, declarations.option(TranslationLists, "seed"), options.threads, options.verbosity
)
def command(*, arc_weights: tuple[float, ...], **o: Any) -> None:
    """Translate text with a hierarchical grammar, one line out for each line in.

    Reads standard input if no TEXT is given, and writes as it goes. Words are separated by spaces; words that the
    grammar does not know are passed through. Lattices (--input plf) are translated whole: of all their paths the
    translation with the highest score is written.

    \b
    Example:
      aligntools align -q -i data/samples/de-en.txt -o /tmp/de-en.align
      aligntools extract-grammar -q -i data/samples/de-en.txt -a /tmp/de-en.align -o /tmp/de-en.grammar
      aligntools train-lm -q -n 3 data/samples/de-en.en -o /tmp/en.arpa
      head -5 data/samples/de-en.de | aligntools translate -q --grammar /tmp/de-en.grammar --lm /tmp/en.arpa
      aligntools translate -q --input plf data/samples/de.plf --grammar /tmp/de-en.grammar --lm /tmp/en.arpa
    """
    from aligntools.translating.translation_files import translate_files

    untuned = "no weights given (-w): translating with untuned ones; imputed-risk learns them"
    lattices = declarations.settings(LatticeSettings, o, arc_weights=arc_weights or None)
    found, lines = service_options.answered(translate_files, o, "" if o["weights"] else untuned, lattices=lattices)
    count, total = found
    if o["verbose"]:
        seconds = time.perf_counter() - lines.began
        score = "" if total is None else f", mean score {total / max(count, 1):.4f}"
        lines.say(f"{count} sentences in {seconds:.1f} s ({count / max(seconds, 1e-9):.1f}/s){score}")
