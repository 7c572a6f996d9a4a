"""``aligntools transfer-parse``: a parser for a language without a treebank, through parallel text."""

import contextlib
import sys

import click

from aligntools.cli import engine_options, kinds, options, training
from aligntools.ground.errors import UsageProblem
from aligntools.parsing.settings import ENTROPIES, MAPS, METHODS, WEIGHTS, TransferSettings

_TEXTS = {"--source": "source", "--target": "target", "-a": "alignments"}


@click.command("transfer-parse", cls=options.Command, renamed=training.RENAMED)
@options.group(
    "Common options",
    click.option("--source-model", "source_models", required=True, multiple=True, metavar="FILE",
                 help="Parser of the source language, from train-parser. To learn from several languages, give this and"
                      " the next three once for each of them, in the same order."),
    click.option("--source", "sources", multiple=True, metavar="FILE",
                 help="Source side of parallel text, with tags: word_TAG lines or CoNLL."),
    click.option("--target", "targets", multiple=True, metavar="FILE",
                 help="Target side, with tags; the same number of sentences."),
    click.option("-a", "--alignments", multiple=True, metavar="FILE",
                 help="Word alignments, i-j with i the source word; one line per pair."),
    training.output,
    click.option("--labels/--no-labels", default=TransferSettings.labels, show_default=True,
                 help="Learn labels (nsubj, obj, ...) too, if the source parser has any."),
)  # fmt: skip
@options.group(
    "Input",
    click.option("--unlabeled", metavar="FILE", help="More text of the target language, with tags."),
    click.option("--column", type=kinds.Column(), metavar="upos|xpos|N",
                 help="Column of CoNLL with the tags.  [default: the one that the source parser learned from]"),
    click.option("--map", type=click.Choice(MAPS),
                 help="Map tags to the 12 universal ones.  [default: as the source parser does]"),
    training.separator,
    click.option("--reverse", is_flag=True, help="The alignments are target-source: i is the target word."),
    options.index_base(of="the alignments"),
    options.setting("--min-length", of=TransferSettings, metavar="N", help="Leave out pairs with a shorter sentence."),
    options.setting("--max-length", of=TransferSettings, metavar="N", help="Leave out pairs with a longer sentence."),
    options.setting("--min-aligned", of=TransferSettings, metavar="P",
                    help="Leave out pairs with a smaller share of target words aligned one to one."),
    options.setting("--head", of=TransferSettings, metavar="N", help="Use the first N of the pairs that are left."),
)  # fmt: skip
@options.group(
    "Method",
    click.option("--method", type=click.Choice(METHODS), default=TransferSettings.method, show_default=True,
                 help="full: transferred distributions (Ma & Xia 2014); direct: the source parser without its words;"
                      " projected: trees that the alignments support (McDonald, Petrov & Hall 2011)."),
    click.option("--weights", type=click.Choice(WEIGHTS), default=TransferSettings.weights, show_default=True,
                 help="What an aligned edge carries over from the source sentence (the paper's transferring weight,"
                      " w in equation 8): how probable the source parser finds it there, or its bare score, as in the"
                      " paper."),
    click.option("--direct-model", metavar="FILE",
                 help="A parser that learned without words (train-parser --features delexicalized), for edges that are"
                      " not aligned (full), or to begin with (projected).  [default: the source parser without its"
                      " words]"),
    options.setting("--gamma", of=TransferSettings, metavar="X",
                    help="How much it counts that the parser is certain of its trees on --unlabeled text (the paper's"
                         " gamma). Larger makes it more certain, also of mistakes; 0 leaves that text out."),
    options.setting("--direct-share", of=TransferSettings, metavar="P",
                    help="Learn something else from --unlabeled text: the trees that the parser so far and the source"
                         " parser without its words find together, with this share of the latter. 0.15 helped most"
                         " languages tried, above all with few pairs, and harmed German."),
    click.option("--entropy", type=click.Choice(ENTROPIES), default=TransferSettings.entropy, show_default=True,
                 help="Entropy of Shannon or of Renyi."),
    options.setting("--alpha", of=TransferSettings, metavar="X", help="Order of Renyi's entropy."),
    options.setting("--rounds", of=TransferSettings, metavar="N",
                    help="How often projected transfer chooses its trees again."),
    options.setting("--reward", of=TransferSettings, metavar="X",
                    help="For --method projected: how much the alignment counts against the parser's own opinion. An"
                         " edge that the source tree has too gains this much score, one that contradicts it loses as"
                         " much. Larger follows the source trees more; 0 ignores them."),
)  # fmt: skip
@options.group("Model", *training.parser_model)
@options.group(
    "Training",
    options.setting("--l2", of=TransferSettings, metavar="X",
                    help=training.L2_HELP.format("transferred trees") + " The default is higher than"
                         " for a treebank, because these have mistakes. What else is minimized grows with the text, so"
                         " the same value holds less in a large one."),
    *training.parser_learning,
)  # fmt: skip
@engine_options.group
@options.group("Resources and messages", training.log_json, options.verify, options.threads, options.verbosity)
def command(source_models, sources, targets, alignments, direct_model, output, unlabeled, log_json, verify, threads,
            quiet, verbose, **settings):  # fmt: skip
    """Train a parser for a language without a treebank, through parallel text with tags and word alignments.

    A source parser gives a distribution over the trees of each target sentence, through the alignment; the target
    parser learns to agree with it and, with --unlabeled text, to be certain there. The tags of both languages must be
    of one kind. Links count where both words have no other link. Pairs of several source languages are one training
    set; their parsers must know the same tags.

    \b
    Example:
      aligntools align -q -s data/samples/de-en.en -t data/samples/de-en.de -o /tmp/en-de.align
      aligntools train-hmm -q --tagged data/samples/en.conllu --members 1 -o /tmp/en.tagger
      aligntools tag -m /tmp/en.tagger data/samples/de-en.en -o /tmp/en.tagged
      aligntools tag -m /tmp/en.tagger data/samples/de-en.de -o /tmp/de.tagged
      aligntools train-parser -q --treebank data/samples/en.conllu -o /tmp/en.parser
      aligntools transfer-parse -q --source-model /tmp/en.parser --source /tmp/en.tagged \\
        --target /tmp/de.tagged -a /tmp/en-de.align -o /tmp/de.parser
      aligntools parse -m /tmp/de.parser /tmp/de.tagged
    """
    texts = {"source": sources, "target": targets, "alignments": alignments}
    _check(settings["method"], len(source_models), texts, unlabeled, direct_model)
    from aligntools.api.parse.parser_transfer import transfer_parser
    from aligntools.api.parse.parsing import Parser
    from aligntools.cli import notices
    from aligntools.formats.opening.files import writing

    with contextlib.ExitStack() as stack:
        stack.enter_context(notices.shown(quiet))
        log = stack.enter_context(writing(log_json)) if log_json else None
        steps = training.Steps(verbose, log, training.lbfgs_step, quiet)
        direct = None if direct_model is None else Parser.load(direct_model, verify=verify)
        loaded = [Parser.load(model, verify=verify) for model in source_models]
        given = {name: own if len(own) > 1 else (*own, None)[0] for name, own in texts.items()}
        parser = transfer_parser(
            loaded if len(loaded) > 1 else loaded[0], **given, direct_model=direct,
            unlabeled=unlabeled, **settings, threads=threads, progress=steps
        )  # fmt: skip
        parser.save(output)
    found = steps.result
    if quiet or not found:
        return
    for line in found["left_out"]:
        sys.stderr.write(line + "\n")
    sys.stderr.write(
        f"{found['pairs']} pairs, {found['plain']} unlabeled sentences, {100 * found['aligned']:.0f} % of the target"
        f" words aligned one to one; objective {found['objective']:.1f} after {found['steps']} steps"
        f" ({found['message']})\n"
    )


def _check(method, models, texts, unlabeled, direct_model):
    """Refuse options that contradict each other, by the names that they have here."""
    from aligntools.api.parse.parser_transfer import ADVICE

    if method == "direct":
        for flag, name in _TEXTS.items():
            if texts[name]:
                raise UsageProblem(f"{flag} does not go with --method direct, which takes the source parser alone")
        if unlabeled is not None:
            raise UsageProblem("--unlabeled does not go with --method direct, which takes the source parser alone")
        if direct_model is not None:
            raise UsageProblem("--direct-model does not go with --method direct; give that parser as --source-model")
        if models > 1:
            raise UsageProblem(f"--method direct takes one --source-model; {ADVICE}")
        return
    for flag, name in _TEXTS.items():
        if not texts[name]:
            raise UsageProblem(f"--method {method} needs {flag}: parallel text with tags, and its word alignments")
        if len(texts[name]) != models:
            raise UsageProblem(
                f"{models} times --source-model, but {len(texts[name])} times {flag}; each source language has one"
            )
    if unlabeled is not None and method == "projected":
        raise UsageProblem("--unlabeled goes with --method full")
    if [*(path for own in texts.values() for path in own), unlabeled].count("-") > 1:
        raise UsageProblem("only one of the files can be standard input ('-')")
