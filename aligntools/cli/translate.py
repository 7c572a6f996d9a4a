"""``aligntools translate``: text, a grammar and a language model in, translations out."""

import contextlib
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from aligntools import DecoderSettings, LatticeSettings, Run, TranslationLists
from aligntools.cli import declared, engine_options, kinds, notices, options, reporting, serving
from aligntools.cli.flags import renamed
from aligntools.ground.declaring import range_of
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    from aligntools.api.given.texts import Split
    from aligntools.api.translate.translation import Translator
    from aligntools.formats.opening.files import Output


@click.command("translate", cls=options.Command, renamed=renamed(TranslationLists))
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@options.group(
    "Common options",
    click.option(
        "--grammar", required=True, metavar="FILE", help="Grammar from extract-grammar, or in cdec's or Moses' format."
    ),
    click.option("--lm", metavar="FILE", help="Language model of the target language: ARPA, or binary from train-lm."),
    click.option(
        "-w", "--weights", metavar="FILE", help="Weights from imputed-risk.  [default: untuned ones, with a notice]"
    ),
)
@declared.group(LatticeSettings, without=["arc_weights"])
@options.group(
    "Input and output",
    declared.option(
        LatticeSettings,
        "arc_weights",
        multiple=True,
        metavar="X",
        show_default=False,
        type=kinds.Number(range_of(LatticeSettings, "arc_weights")),
        help="Weight of a score; once for each.  [default: what -w has for lattice-1 and so on, or 1]",
    ),
    options.split,
    options.output,
    declared.group(TranslationLists, without=["seed"]),
    click.option(
        "--hypergraphs",
        metavar="FILE",
        type=options.WRITTEN,
        help="Also write the packed derivations to this file, as JSON lines.",
    ),
    click.option(
        "--derivations",
        metavar="FILE",
        type=options.WRITTEN,
        help="Also write the rules that made each translation, as JSON lines; with --n-best N, N of each.",
    ),
    serving.unbuffered,
)
@options.group(
    "Search",
    click.option("--no-lm", is_flag=True, help="Translate without a language model."),
    click.option("--tags", metavar="FILE", help="Tagged target text, for weights with bigrams over tags."),
    declared.group(DecoderSettings),
)
@engine_options.group
@options.group(
    "Resources", options.verify, declared.option(TranslationLists, "seed"), options.threads, options.verbosity
)
def command(
    texts: tuple[str, ...],
    arc_weights: tuple[float, ...],
    split: "Split | None",
    output: str,
    hypergraphs: str | None,
    derivations: str | None,
    unbuffered: bool,
    no_lm: bool,
    verify: bool,
    quiet: bool,
    verbose: bool,
    **o: Any,
) -> None:
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
    from aligntools.api.translate.translation_output import SystemFiles, TranslationOutput, prepared, written

    system = declared.made_of(SystemFiles, o)
    if system.lm is not None and no_lm:
        raise UsageProblem("--lm and --no-lm exclude each other")
    if system.lm is None and not no_lm:
        raise UsageProblem("a language model is needed: --lm FILE, or --no-lm to translate without one")
    lattices = declared.settings(LatticeSettings, o, arc_weights=arc_weights or None)
    lists, run = declared.settings(TranslationLists, o), declared.settings(Run, o)
    listed = lists.n_best is not None or lists.samples is not None
    if unbuffered and (listed or hypergraphs or derivations):
        more = "`n_best`, `samples`, `hypergraphs` and `derivations`"
        raise UsageProblem(f"`unbuffered` answers a line with a line; leave out {more}")
    if unbuffered and lattices.input != "text":
        raise UsageProblem(f"`unbuffered` is for sentences; leave it out with `input={lattices.input}`")
    from aligntools.api.running.answering import check_unbuffered

    check_unbuffered(unbuffered, run)
    from aligntools.api.running.threads import pool_of
    from aligntools.formats.opening import files

    texts = texts or ("-",)
    wanted = TranslationOutput(lists, hypergraphs is not None, derivations is not None)
    with notices.hushed(quiet):
        translator, parts = prepared(
            None if unbuffered else texts,
            system,
            declared.settings(DecoderSettings, o),
            lattices,
            wanted,
            split=split,
            verify=verify,
            run=run,
        )
    began, line, total = time.perf_counter(), 0, 0.0
    progress = reporting.Lines(not quiet)
    if not system.weights and not quiet:
        sys.stderr.write("no weights given (-w): translating with untuned ones; imputed-risk learns them\n")
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(files.writing(output))
        others = [stack.enter_context(files.writing(path)) if path else None for path in (hypergraphs, derivations)]
        if unbuffered:
            pool = stack.enter_context(pool_of(run.threads))
            line, total = _serve(translator.with_threads(pool), texts, split, out, quiet)
        if run.asked:
            stack.enter_context(notices.shown(quiet))
        done = written(translator, wanted, parts, run)
        del translator  # workers have it
        for part in done:
            out.write(part.lines)
            for other, data in zip(others, (part.hypergraphs, part.derivations), strict=True):
                if other is not None:
                    other.write(data)
            total += sum(part.scores)
            out.flush()
            line += part.sentences
            progress.tell(f"{line} sentences translated")
    if verbose and not quiet:
        seconds = time.perf_counter() - began
        score = "" if listed else f", mean score {total / max(line, 1):.4f}"
        sys.stderr.write(f"{line} sentences in {seconds:.1f} s ({line / max(seconds, 1e-9):.1f}/s){score}\n")


def _serve(
    translator: "Translator", texts: Sequence[str], split: "Split | None", out: "Output", quiet: bool
) -> tuple[int, float]:
    """Answer each line before the next is read; return how many there were, and the sum of their scores."""
    from aligntools.api.running.answering import Unanswered, answer
    from aligntools.api.translate.translation_output import requests_of

    unanswered, count, total = Unanswered(), 0, 0.0

    def translated(text: Any) -> bytes:
        nonlocal count, total
        (found,) = translator.translate_batch(text)
        count += 1
        total += found.score
        return str(found).encode("utf-8", "surrogateescape") + b"\n"

    with serving.until_terminated():
        for path in texts:
            answer(requests_of(path, split), path, translated, out, unanswered)
        if not quiet and (line := unanswered.summary()):
            reporting.say(line)
    return count, total
