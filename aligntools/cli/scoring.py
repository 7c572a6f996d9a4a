"""The commands ``eval-...`` that score files against gold, and the options and reports that they share."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from aligntools import AlignmentScoring, BracketScoring, TagScoring, TranslationScoring, TreeScoring
from aligntools.cli import declarations, options, reporter
from aligntools.cli.kinds import Decorator
from aligntools.ground.errors import UsageProblem, readable
from aligntools.ground.ranges import BOOTSTRAP
from aligntools.metrics.base import Score
from aligntools.metrics.report import compare_scores
from aligntools.metrics.scorers import AlignmentScorer, BracketScorer, TagScorer, TranslationScorer, TreeScorer


def tests(figure: str) -> Decorator:
    """Add ``--bootstrap`` and ``--seed``, about intervals of a figure, and the options about messages."""
    random = options.group(
        "Tests",
        click.option(
            "--bootstrap",
            type=options.Number(BOOTSTRAP),
            default=1000,
            show_default=True,
            metavar="N",
            help=f"Samples for the 95% interval of the {figure}; 0 for none.",
        ),
        options.seed,
    )
    return options.group("", random, options.group("Messages", options.verbosity))


def paired(figure: str, system: str) -> Decorator:
    """Return the option ``--paired``; its help names the tested ``figure``, and each further file as ``system``."""
    return click.option("--paired", is_flag=True, help=f"Test the {figure} of each further {system} against the first.")


#: ``--json``, passed as ``json`` (bool).
in_json = click.option("--json", is_flag=True, help="Print JSON, with fractions instead of percent.")


def check_paired(o: Mapping[str, Any]) -> None:
    """Refuse to compare a single system."""
    if o["paired"] and len(o["hypotheses"]) < 2:
        raise UsageProblem("--paired compares with the first file; give two or more")


def write_report(scorer: Callable[[], Callable[[str], Score]], o: Mapping[str, Any], by: Sequence[str] = ()) -> None:
    """Score every system that the options name; write the table or the JSON, with ``verbose`` the counts, too.

    scorer: Reads the gold file; returns what scores a system's.
    """
    check_paired(o)
    score = scorer()
    paired, bootstrap, seed, verbose = (o[name] for name in ("paired", "bootstrap", "seed", "verbose"))
    if not (bootstrap or paired) and "seed" in declarations.given():
        raise UsageProblem("`seed` is for `bootstrap` and `paired`: there is nothing random without them")
    with reporter.shown(o["quiet"]):
        scores = [score(path) for path in o["hypotheses"]]
    names = list(map(readable, o["hypotheses"]))
    report = compare_scores(scores, names, paired=paired, bootstrap=bootstrap, seed=seed)
    options.write_text(o["output"], report.json(by=by) if o["json"] else report.text(verbose=verbose, by=by))
    if verbose:
        sys.stderr.write(report.details())


@click.command(
    "eval-aer",
    cls=options.Command,
    basic="head paired json gold_format index_base reverse bootstrap seed quiet",
)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="ALIGNMENT...", nargs=-1, required=True)
@options.group(
    "Common options",
    declarations.group(AlignmentScoring, "head"),
    paired("AER", "alignment"),
    in_json,
)
@options.group(
    "Input and output",
    declarations.group(AlignmentScoring, "gold_format", "index_base", "gold_base", "first_sentence", "reverse"),
    options.file("-s", "--source", help="Source text: links past a sentence's end are refused."),
    options.file("-t", "--target", help="Target text, for the same check."),
    options.split,
    options.output(),
)
@declarations.group(AlignmentScoring, "all_sure", "ignore_possible")
@tests("AER")
def eval_aer(**o: Any) -> None:
    """Score alignments against gold links: AER, precision, recall, F1.

    With A the links of an alignment, S the sure and P the possible gold links (S is part of P): precision is
    |A∩P| / |A|, recall |A∩S| / |S|, AER 1 - (|A∩S| + |A∩P|) / (|A| + |S|) (Och & Ney 2003), summed over the
    corpus. Files count words from 0 by default. The last line of the output is a signature: figures can be
    compared if it is the same.

    The interval comes from drawing sentences with replacement. --paired adds the difference to the first
    alignment, its interval, and how often exchanging the two outputs at random gives as large a difference.

    \b
    Example:
      cut -d' ' -f1-5 data/samples/de-en.wa | tr '?' - | aligntools eval-aer data/samples/de-en.wa -
    """
    write_report(lambda: declarations.call(AlignmentScorer, o).score, o)


@click.command("eval-sentences", cls=options.Command)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="LADDER...", nargs=-1, required=True)
@options.group("Common options", paired("F1", "ladder"), in_json, options.output())
@tests("F1")
def eval_sentences(**o: Any) -> None:
    """Score groups of sentences against gold groups: precision, recall, F1, strict and lax.

    Files have a group a line, [source lines]:[target lines] from 0, as Vecalign writes them and align-sentences
    --ladder does; or hunalign's ladders and hand-made alignments, a rung a line; or links of XCES. Strict: a group is
    right if both its sides are those of a gold group. Lax: if a sentence of each side is in one gold group. Precision
    counts sentences without a partner as groups, recall does not (Thompson & Koehn 2019).

    \b
    Example:
      printf '[0]:[0]\\n[1, 2]:[1]\\n' > /tmp/gold.ladder
      printf '[0]:[0]\\n[1]:[1]\\n[2]:[]\\n' | aligntools eval-sentences /tmp/gold.ladder -
    """
    from aligntools.formats.links.ladder import read_ladder
    from aligntools.metrics.sentence_groups import LadderScore

    def scorer() -> Callable[[str], LadderScore]:
        gold = read_ladder(o["gold"])
        return lambda path: LadderScore.of(gold, read_ladder(path))

    write_report(scorer, o)


@click.command(
    "eval-tags",
    cls=options.Command,
    basic="column train paired by_tag format head json bootstrap seed quiet",
)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="TAGGED...", nargs=-1, required=True)
@options.group(
    "Common options",
    declarations.group(TagScoring, "column"),
    options.file("--train", help="The tagger's training text: score words that are not in it apart."),
    paired("accuracy", "TAGGED"),
    click.option(
        "--by-tag", is_flag=True, help="Add precision, recall and F1 of each tag, and the most frequent errors."
    ),
)
@options.group("Input and output", declarations.group(TagScoring, without=("column",)), in_json, options.output())
@tests("accuracy")
def eval_tags(**o: Any) -> None:
    """Score tags against gold tags: accuracy, and measures for induced classes without names.

    Files are CoNLL-X or CoNLL-U, word_TAG lines, or a word and its tag per line, told apart by their first lines.

    Accuracy (and that of known and unknown words) is for labels that are the gold's tags; it is left out where
    most words have other labels. many-to-1: every label counts as the tag that it has most words in common with
    (Johnson 2007). 1-to-1: every label as a tag of its own, in the best way. VI: variation of information,
    H(G|P) + H(P|G), in bits, 0 is best (Meila 2007). V-measure: harmonic mean of homogeneity and completeness
    (Rosenberg & Hirschberg 2007). All words count, punctuation too.

    \b
    Example:
      sed 's/_ADJ/_NOUN/g' data/samples/en.tagged | aligntools eval-tags data/samples/en.tagged -
    """
    write_report(lambda: declarations.call(TagScorer, o).score, o, by=["tag"] if o["by_tag"] else [])


@click.command(
    "eval-uas",
    cls=options.Command,
    renamed={"--no-punct": "--punct=ud"},
    basic="paired punct conll18 by max_length json bootstrap seed quiet",
)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="PARSED...", nargs=-1, required=True)
@options.group(
    "Common options",
    declarations.group(TreeScoring, "punct"),
    click.option(
        "--by",
        type=click.Choice(["length", "distance", "tag", "relation"]),
        multiple=True,
        help="Add attachment by length of the sentence, distance of the head, gold tag, or relation (label too).",
    ),
    click.option("--confusion", is_flag=True, help="Add the most frequent wrong labels."),
    declarations.group(TreeScoring, "conll18"),
    paired("UAS", "PARSED"),
)
@options.group(
    "Input and output",
    declarations.group(TreeScoring, "column", "predicted_columns", "ignore_forms"),
    in_json,
    options.output(),
)
@declarations.group(TreeScoring, "max_length", "subtypes")
@tests("UAS")
def eval_uas(**o: Any) -> None:
    """Score dependency trees against gold trees: UAS, LAS, whole trees, roots.

    Files are CoNLL-X or CoNLL-U with the same words, or with --conll18 the same characters. UAS and LAS: words with the
    right head (and label, where both files have labels); trees: sentences whose words all have the right head; root:
    gold roots that are roots.

    \b
    Example:
      aligntools eval-uas --by distance data/samples/en.conllu data/samples/en.conllu
    """
    if "column" in declarations.given() and o["punct"] != "ud" and "tag" not in o["by"]:
        raise UsageProblem("`column` changes nothing here; it goes with `punct=ud` or --by tag")
    by = [*o["by"], *["confusion"] * o["confusion"], *["conll18"] * o["conll18"]]
    write_report(lambda: declarations.call(TreeScorer, o).score, o, by=by)


@click.command("eval-brackets", cls=options.Command)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="PARSED...", nargs=-1, required=True)
@options.group(
    "Common options",
    declarations.group(BracketScoring, "leave_out", "unlabelled"),
    click.option(
        "--by",
        type=click.Choice(["label", "length"]),
        multiple=True,
        help="Add brackets by label, or by length of the sentence.",
    ),
    paired("F1", "PARSED"),
)
@options.group(
    "Input and output",
    declarations.group(BracketScoring, "ignore_forms"),
    in_json,
    options.output(),
)
@declarations.group(BracketScoring, "whole", "functions", "max_length")
@tests("F1")
def eval_brackets(**o: Any) -> None:
    """Score trees of constituents against gold trees: labelled F1, precision, recall, as EVALB counts them.

    Files have trees in brackets, one on a line or over several, with the same words in the same order. Functions
    (NP-SBJ), traces and labels above the sentence (TOP) are left out, and so is punctuation; PRT counts as ADVP. A line
    (()) is a sentence without a tree: its gold brackets are missing. Gold trees without words do not count.
    exact: sentences with all brackets and no other; crossing: brackets of a sentence that cross a gold one, in the
    mean.

    \b
    Example:
      aligntools eval-brackets --by label data/samples/en.mrg data/samples/en.mrg
    """
    write_report(lambda: declarations.call(BracketScorer, o).score, o, by=o["by"])


@click.command("eval-bleu", cls=options.Command)
@click.argument("reference", metavar="REFERENCE")
@click.argument("hypotheses", metavar="TRANSLATION...", nargs=-1, required=True)
@options.group(
    "Common options",
    declarations.group(TranslationScoring, "lowercase"),
    paired("BLEU", "translation"),
    click.option(
        "--sentence-level", is_flag=True, help="Print the BLEU of every sentence instead, one column per translation."
    ),
)
@options.group(
    "Input and output",
    options.file("-r", "--reference", "more", multiple=True, help="A further reference; may be repeated."),
    declarations.option(TranslationScoring, "tokenize", hidden=True),
    in_json,
    options.output(),
)
@declarations.group(TranslationScoring, "smooth", "smooth_value")
@tests("BLEU")
def eval_bleu(**o: Any) -> None:
    """Score translations against references: BLEU, as sacrebleu counts it with tokenization 'none'.

    Words are separated by spaces, so tokenize the text first. In CoNLL, the words are scored. BLEU is the geometric
    mean of the precisions of n-grams up to 4, clipped by the reference that has most of each, times a penalty for being
    shorter than the closest reference (Papineni et al. 2002). A sentence's BLEU goes up to the longest n-grams that it
    has.

    The interval comes from drawing sentences with replacement. --paired adds the difference to the first
    translation, its interval, and how often exchanging the two outputs at random gives as large a difference.

    \b
    Example:
      sed 's/ the / a /' data/samples/de-en.en | aligntools eval-bleu data/samples/de-en.en -
    """
    check_paired(o)
    scorer = declarations.call(TranslationScorer, o, references=o["reference"], more_references=o["more"])
    if not o["sentence_level"]:
        write_report(lambda: scorer.score, o)
        return
    translations = o["hypotheses"]
    scores = [scorer.score(path) for path in translations]
    options.write_text(o["output"], _sentences(translations, [s.sentences().tolist() for s in scores], o["json"]))
    if o["verbose"]:
        sys.stderr.write("".join(f"{path}: {s.details()}\n" for path, s in zip(translations, scores, strict=True)))


def _sentences(translations: Sequence[str], columns: Sequence[Sequence[float]], as_json: bool) -> str:
    if as_json:
        shown = [{"translation": p, "sentences": c} for p, c in zip(translations, columns, strict=True)]
        return json.dumps({"results": shown}, indent=2, ensure_ascii=False) + "\n"
    rows = zip(*columns, strict=True)
    return "".join("\t".join(f"{100 * value:.2f}" for value in row) + "\n" for row in rows)
