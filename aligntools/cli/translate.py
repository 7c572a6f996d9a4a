"""``aligntools translate``: text, a grammar and a language model in, translations out."""

import os
import stat
import sys
import time
from contextlib import ExitStack
from itertools import pairwise

import click

from aligntools.cli import options

#: Sentences worked at a time.
PART = 500
#: Bytes of input up to which the grammar is limited to the input's words before it is loaded.
FILTERED = 1 << 28


@click.command("translate", context_settings=options.SETTINGS)
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@click.option(
    "--grammar", required=True, metavar="FILE", help="Grammar from extract-grammar, or of cdec's or Moses' kind."
)
@click.option("--lm", metavar="FILE", help="Language model of the target side: ARPA, or binary from train-lm.")
@click.option("--no-lm", is_flag=True, help="Translate without a language model.")
@click.option("-w", "--weights", metavar="FILE",
              help="Weights from imputed-risk.  [default: untuned ones, with a notice]")  # fmt: skip
@click.option("--tags", metavar="FILE",
              help="Tagged target text that gives words their tags, for weights with target bigrams.")  # fmt: skip
@options.output
@click.option("--pop-limit", type=click.IntRange(min=0), default=100, show_default=True, metavar="N",
              help="Items that a cell of the chart takes: more is slower and finds better scores; 0: all.")  # fmt: skip
@click.option("--span-limit", type=click.IntRange(1, 100), default=10, show_default=True, metavar="N",
              help="Most words that a rule covers; what is longer is put together from left to right.")  # fmt: skip
@click.option("--k-best", type=click.IntRange(min=1), metavar="N",
              help="Write the N best distinct translations of each sentence, with features, as Moses.")  # fmt: skip
@click.option("--samples", type=click.IntRange(min=1), metavar="N",
              help="Write N derivations of each sentence drawn by their probability, in the same form.")  # fmt: skip
@click.option("--gamma", type=click.FloatRange(min=0), default=1.0, show_default=True, metavar="X",
              help="Factor of scores where samples are drawn.")  # fmt: skip
@click.option("--hypergraphs", metavar="FILE", help="Write the packed derivations here too, as JSON lines.")
@options.seed
@options.threads
@options.verbosity
def command(
    texts, grammar, lm, no_lm, weights, tags, output, pop_limit, span_limit, k_best, samples, gamma, hypergraphs,
    seed, threads, quiet, verbose,
):  # fmt: skip
    """Translate text with a hierarchical grammar: a line out for each line in.

    Reads standard input where no TEXT is given, and writes as it goes. Words are what stands between spaces; those
    that the grammar does not know are passed through.

    \b
    Example:
      aligntools align -q -i data/samples/de-en.txt -o /tmp/de-en.align
      aligntools extract-grammar -q -i data/samples/de-en.txt -a /tmp/de-en.align -o /tmp/de-en.grammar
      aligntools train-lm -q -n 3 data/samples/de-en.en -o /tmp/en.arpa
      head -5 data/samples/de-en.de | aligntools translate -q --grammar /tmp/de-en.grammar --lm /tmp/en.arpa
    """
    from aligntools.formats import files, nbest
    from aligntools.formats import hypergraphs as packed
    from aligntools.ground.errors import UsageProblem
    from aligntools.ground.parallel import Pool
    from aligntools.translating.decoding.decoder import DecoderSettings
    from aligntools.translating.forest import lists

    if (lm is None) != no_lm:
        raise UsageProblem("a language model is needed: --lm FILE, or --no-lm to go without")
    if k_best and samples:
        raise UsageProblem("--k-best and --samples exclude each other")
    texts = texts or ("-",)
    parts, words = _input(texts)
    settings = DecoderSettings(pop_limit, span_limit)
    system = _system(grammar, lm, weights, tags, words, settings)
    if not weights and not quiet:
        sys.stderr.write("no weights given (-w): translating with untuned ones; imputed-risk learns them\n")
    began, line, total = time.perf_counter(), 0, 0.0
    with ExitStack() as stack:
        pool = stack.enter_context(Pool(threads))
        out = stack.enter_context(files.writing(output))
        forests = stack.enter_context(files.writing(hypergraphs)) if hypergraphs else None
        if forests:
            forests.write(packed.format_header(system.features))
        for part in parts:
            sentences = system.encode(part.words, part.offsets)
            name = system.names(sentences)
            if not (k_best or samples):
                found = system.translate(sentences, pool)
                total += float(found.scores.sum())
                ends = found.offsets.tolist()
                out.writelines(b" ".join(name(found.tokens[a:b])) + b"\n" for a, b in pairwise(ends))
            if k_best or samples or forests:
                forest = system.forest(sentences, pool)
            if k_best:
                found = lists.best_lists(system, forest, sentences, k_best, pool)
            elif samples:  # other parts of the text, other draws
                found = lists.sample_lists(system, forest, sentences, samples, gamma, seed + (line << 32), pool)
            if k_best or samples:
                out.write(nbest.format_nbest(line, found, system.features))
            if forests:
                forests.writelines(packed.format_lines(forest, system.features, _decoded(name)))
            out.flush()
            line += len(sentences)
    if verbose and not quiet:
        seconds = time.perf_counter() - began
        score = "" if k_best or samples else f", mean score {total / max(line, 1):.4f}"
        sys.stderr.write(f"{line} sentences in {seconds:.1f} s ({line / max(seconds, 1e-9):.1f}/s){score}\n")


def _decoded(name):
    return lambda id: name([id])[0].decode("utf-8", "replace")


def _input(texts):
    """Return the input in parts, and its words if it is known as a whole, which is when all of it is in files."""
    from aligntools.formats import tagged

    size = 0
    for path in texts:
        try:
            info = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
            mode = stat.S_IFMT(info.st_mode)
            size += info.st_size if mode in (stat.S_IFREG, stat.S_IFDIR) else FILTERED
        except (OSError, ValueError, AttributeError):  # a standard input that is no file, or nothing to open
            size += FILTERED if path == "-" else 0
    streams = (tagged.stream_text(path, PART) for path in texts)
    parts = (part for stream in streams for part in stream)
    if size >= FILTERED:
        return parts, None
    parts = list(parts)
    return parts, parts


def _system(grammar, lm, weights, tags, known, settings):
    """Load what the options name; the grammar only as far as the input needs it, if that is known."""
    from aligntools.formats.tagged import read_tags
    from aligntools.translating.decoding.decoder import System, feature_names
    from aligntools.translating.grammar import features
    from aligntools.translating.grammar.filtering import read_grammar
    from aligntools.translating.lm import language_model as language_models
    from aligntools.translating.tuning import examples
    from aligntools.translating.tuning.weights import default_weights, load_weights, read_weights

    given = read_weights(weights)[0] if weights else None  # first: it is soon seen whether it is one
    rules = read_grammar(
        grammar, only_for=examples.numbered(known) if known is not None else None, span=settings.span_limit
    )
    if tags:
        tagged = read_tags(tags)
        plain = set(feature_names(rules))
        sparse = [name for name in given if name not in plain] if given else None
        rules = features.add_bigrams(rules, features.dominant_tags(tagged.words, tagged.tags), names=sparse)
    names = feature_names(rules)
    values = load_weights(weights, names) if weights else default_weights(names)
    return System(rules, language_models.load(lm) if lm else None, values, settings)
