"""``aligntools eval-bleu``: translations scored against references."""

import json as json_module
import sys
from collections.abc import Sequence
from typing import Any

import click

from aligntools import TranslationScoring
from aligntools.cli import declarations, options, scoring
from aligntools.metrics.scorers import TranslationScorer


@click.command("eval-bleu", cls=options.Command)
@click.argument("reference", metavar="REFERENCE")
@click.argument("hypotheses", metavar="TRANSLATION...", nargs=-1, required=True)
@options.group(
    "Common options",
    declarations.group(TranslationScoring, "lowercase"),
    scoring.paired("BLEU", "translation"),
    click.option(
        "--sentence-level", is_flag=True, help="Print the BLEU of every sentence instead, one column per translation."
    ),
)
@options.group(
    "Input and output",
    options.file("-r", "--reference", "more", multiple=True, help="A further reference; may be repeated."),
    declarations.option(TranslationScoring, "tokenize", hidden=True),
    scoring.json,
    options.output(),
)
@declarations.group(TranslationScoring, "smooth", "smooth_value")
@scoring.tests("BLEU")
def command(**o: Any) -> None:
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
    scoring.check_paired(o)
    scorer = declarations.call(TranslationScorer, o, references=o["reference"], more_references=o["more"])
    if not o["sentence_level"]:
        scoring.write_report(lambda: scorer.score, o)
        return
    translations = o["hypotheses"]
    scores = [scorer.score(path) for path in translations]
    options.write_text(o["output"], _sentences(translations, [s.sentences().tolist() for s in scores], o["json"]))
    if o["verbose"]:
        sys.stderr.write("".join(f"{path}: {s.details()}\n" for path, s in zip(translations, scores, strict=True)))


def _sentences(translations: Sequence[str], columns: Sequence[Sequence[float]], json: bool) -> str:
    if json:
        shown = [{"translation": p, "sentences": c} for p, c in zip(translations, columns, strict=True)]
        return json_module.dumps({"results": shown}, indent=2, ensure_ascii=False) + "\n"
    rows = zip(*columns, strict=True)
    return "".join("\t".join(f"{100 * value:.2f}" for value in row) + "\n" for row in rows)
