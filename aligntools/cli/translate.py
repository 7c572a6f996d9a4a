"""``aligntools translate``: text, a grammar and a language model in, translations out."""

import os
import stat
import sys
import time
from contextlib import ExitStack

import click

from aligntools.cli import engine_options, notices, options, reporting, serving
from aligntools.ground.errors import UsageProblem
from aligntools.translating.settings import (
    ARC_SCORES,
    ARC_WEIGHT,
    CANDIDATES,
    INPUTS,
    SAMPLING_GAMMA,
    DecoderSettings,
)

#: Bytes of input up to which the grammar is limited to the input's words before it is loaded.
FILTERED = 1 << 28


@click.command("translate", cls=options.Command, renamed={"--k-best": "--n-best"})
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@options.group(
    "Common options",
    click.option("--grammar", required=True, metavar="FILE",
                 help="Grammar from extract-grammar, or in cdec's or Moses' format."),
    click.option("--lm", metavar="FILE", help="Language model of the target language: ARPA, or binary from train-lm."),
    click.option("-w", "--weights", metavar="FILE",
                 help="Weights from imputed-risk.  [default: untuned ones, with a notice]"),
)  # fmt: skip
@options.group(
    "Input and output",
    click.option("--input", "kind", type=click.Choice(INPUTS), default="text", show_default=True,
                 help="What TEXT is: sentences; word lattices, one a line, in the python lattice format (plf); or"
                      " confusion networks, with blank lines between them (cn)."),
    click.option("--arc-scores", type=options.number(ARC_SCORES), default=1, show_default=True, metavar="N",
                 help="Scores of each arc of a lattice: probabilities, whose logarithms are features, lattice-1 and"
                      " so on."),
    click.option("--arc-weight", "arc_weights", metavar="X", type=options.number(ARC_WEIGHT), multiple=True,
                 help="Weight of a score; once for each.  [default: what -w has for lattice-1 and so on, or 1]"),
    options.split,
    options.output,
    click.option("--n-best", type=options.number(CANDIDATES), metavar="N",
                 help="Write the N best distinct translations of each sentence, with features, in Moses' format."),
    click.option("--samples", type=options.number(CANDIDATES), metavar="N",
                 help="Write N derivations of each sentence, drawn by their probability, in the same format."),
    click.option("--gamma", type=options.number(SAMPLING_GAMMA), default=1.0, show_default=True, metavar="X",
                 help="For --samples: scores are multiplied by this before they become probabilities. Larger draws"
                      " the best translations more often, smaller more different ones."),
    click.option("--hypergraphs", metavar="FILE", type=options.WRITTEN,
                 help="Also write the packed derivations to this file, as JSON lines."),
    click.option("--derivations", metavar="FILE", type=options.WRITTEN,
                 help="Also write the rules that made each translation, as JSON lines; with --n-best N, N of each."),
    serving.unbuffered,
)  # fmt: skip
@options.group(
    "Model and search",
    click.option("--no-lm", is_flag=True, help="Translate without a language model."),
    click.option("--tags", metavar="FILE", help="Tagged target text, for weights with bigrams over tags."),
    options.setting("--pop-limit", of=DecoderSettings, metavar="N",
                    help="Most items taken in a cell of the chart: more is slower and finds better scores;"
                                   " 0 takes all."),
    options.setting("--span-limit", of=DecoderSettings, metavar="N",
                    help="Most words that a rule covers; longer stretches are built from left to right."),
)  # fmt: skip
@engine_options.group
@options.group("Resources", options.verify, options.seed, options.threads, options.verbosity)
def command(
    texts, split, grammar, lm, no_lm, weights, tags, kind, arc_scores, arc_weights, output, pop_limit, span_limit,
    n_best, samples, gamma, hypergraphs, derivations, unbuffered, verify, seed, threads, quiet, verbose, **where,
):  # fmt: skip
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
    if lm is not None and no_lm:
        raise UsageProblem("--lm and --no-lm exclude each other")
    if lm is None and not no_lm:
        raise UsageProblem("a language model is needed: --lm FILE, or --no-lm to translate without one")
    if n_best and samples:
        raise UsageProblem("--n-best and --samples exclude each other")
    if gamma != 1 and not samples:
        raise UsageProblem("--gamma is for --samples: give it with it, or leave it out")
    if unbuffered and (n_best or samples or hypergraphs or derivations):
        others = "--n-best, --samples, --hypergraphs and --derivations"
        raise UsageProblem(f"--unbuffered answers a line with a line; leave out {others}")
    if kind != "text" and (unbuffered or derivations):
        name = "--unbuffered" if unbuffered else "--derivations"
        raise UsageProblem(f"{name} is for sentences; leave it out with --input {kind}")
    if kind == "text" and arc_weights:
        raise UsageProblem("--arc-weight is for lattices: --input plf or cn")
    run = engine_options.run_of(where)
    engine_options.check_unbuffered(unbuffered, run)
    from aligntools.api.translate.lattices import lattice_input, without_arcs
    from aligntools.api.translate.translation import JOB, PART, Grammar, LanguageModel, Translator, weights_of
    from aligntools.api.translate.translation_output import TranslationOutput, written, written_by
    from aligntools.formats.opening import files
    from aligntools.formats.translation import derivations as derived
    from aligntools.formats.translation.hypergraphs import format_header
    from aligntools.ground.parallel import Pool
    from aligntools.words.white_space import split_as

    texts = tuple(split_as(path, split) for path in texts or ("-",))
    size = JOB if run.asked and not samples else PART
    of_arcs = without_arcs(weights_of(weights).features)[1] if weights else {}  # first: a wrong file is soon found
    reads = None if kind == "text" else lattice_input(kind, arc_scores, arc_weights or None, of_arcs)[0]
    parts, known = ((), None) if unbuffered else _input(texts or ("-",), size, reads)
    with notices.hushed(quiet):
        rules = Grammar.load(grammar, text=known, span_limit=span_limit, verify=verify)
    began, line, total = time.perf_counter(), 0, 0.0
    progress = reporting.Lines(not quiet)
    with ExitStack() as stack:
        pool = stack.enter_context(Pool(threads))
        model = LanguageModel.load(lm, verify=verify) if lm else None
        translator = Translator(
            rules, model, weights, tags=tags, pop_limit=pop_limit, span_limit=span_limit, threads=pool
        )
        if reads is not None:
            translator = translator.for_lattices(kind, scores=arc_scores, weights=arc_weights or None)
        if not weights and not quiet:
            sys.stderr.write("no weights given (-w): translating with untuned ones; imputed-risk learns them\n")
        out = stack.enter_context(files.writing(output))
        forests = stack.enter_context(files.writing(hypergraphs)) if hypergraphs else None
        trees = stack.enter_context(files.writing(derivations)) if derivations else None
        if forests:
            forests.write(format_header(translator.features))
        if trees:
            trees.write(derived.format_header())
        if unbuffered:
            line, total = _serve(translator, texts or ("-",), out, quiet)
        wanted = TranslationOutput(n_best, samples, gamma, seed, forests is not None, trees is not None)
        blocks = stack.enter_context(engine_options.mapping(run, pool, quiet))
        if blocks is not None:
            kept = blocks.keep(translator.with_threads(None))
            del rules, model, translator  # the workers have them
            done = written_by(blocks, kept, wanted, parts)
        else:
            done = written(translator, wanted, parts)
        for part in done:
            out.write(part.lines)
            total += sum(part.scores)
            if forests:
                forests.write(part.hypergraphs)
            if trees:
                trees.write(part.derivations)
            out.flush()
            line += part.sentences
            progress.tell(f"{line} sentences translated")
    if verbose and not quiet:
        seconds = time.perf_counter() - began
        score = "" if n_best or samples else f", mean score {total / max(line, 1):.4f}"
        sys.stderr.write(f"{line} sentences in {seconds:.1f} s ({line / max(seconds, 1e-9):.1f}/s){score}\n")


def _serve(translator, texts, out, quiet):
    """Answer each line before the next is read; return how many there were, and the sum of their scores."""
    from aligntools.formats.text.requests import stream_requests

    unanswered, count, total = serving.Unanswered(), 0, 0.0

    def translated(text):
        nonlocal count, total
        (found,) = translator.translate_batch(text)
        count += 1
        total += found.score
        return str(found).encode("utf-8", "surrogateescape") + b"\n"

    with serving.until_terminated():
        for path in texts:
            serving.answer(stream_requests(path, "text"), path, translated, out, unanswered)
        if not quiet:
            unanswered.tell()
    return count, total


def _input(texts, sentences, reads):
    """Return the input in parts of so many sentences, and as a whole if it is known: when all of it is in files."""
    from aligntools.api.translate.grammars import joined
    from aligntools.api.translate.lattices import stream_input

    size = 0
    for path in texts:
        try:
            info = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
            mode = stat.S_IFMT(info.st_mode)
            size += info.st_size if mode in (stat.S_IFREG, stat.S_IFDIR) else FILTERED
        except (OSError, ValueError, AttributeError):  # a standard input that is no file, or nothing to open
            size += FILTERED if path == "-" else 0
    parts = (part for path in texts for part in stream_input(path, sentences, reads))
    if size >= FILTERED:
        return parts, None
    parts = list(parts)
    return parts, joined(parts)
