"""``aligntools imputed-risk``: learn a translation system's weights, from bitext and from target text alone."""

import sys
from typing import TYPE_CHECKING, Any

import click

from aligntools import DecoderSettings, ImputationSettings, Splitting, TuningSettings
from aligntools.cli import declarations, options, reporter
from aligntools.cli.flags import renamed
from aligntools.ground.declarations import range_of

if TYPE_CHECKING:
    from aligntools.ground.progress import Step

_OLD = {"-w": "-o", "--weights": "--output"} | renamed(ImputationSettings, TuningSettings)


@click.command(
    "imputed-risk",
    cls=options.Command,
    renamed=_OLD,
    basic="supervised references grammar lm output monolingual reverse_grammar reverse_lm impute method loss"
    " n_best rounds start checkpoint workers threads seed quiet",
)
@options.group(
    "Common options",
    options.file("--supervised", help="Source text with references, one sentence per line."),
    options.file("--reference", "references", multiple=True, help="Its translation; once for each set of references."),
    options.file("--grammar", required=True, help="Grammar of the system, from extract-grammar."),
    options.file("--lm", required=True, help="Language model: ARPA, or binary from train-lm."),
    options.written("-o", "--output", required=True, help="Write the weights to this file."),
    options.split,
)
@options.group(
    "Target text alone",
    options.file(
        "--monolingual",
        needs=("reverse_grammar", "reverse_weights", "reverse_lm|no_reverse_lm"),
        multiple=True,
        help="Target text whose source is imputed; more than once for several translations of the same"
        " sentences: sources are imputed for each, and all are references of each.",
    ),
    options.file("--reverse-grammar", help="Grammar of the reverse system, from target to source."),
    options.file("--reverse-lm", excludes=("no_reverse_lm",), help="Its language model, of the source language."),
    click.option("--no-reverse-lm", is_flag=True, help="Impute without a language model."),
    options.file(
        "--reverse-weights",
        help="Its weights; this command learns them with the sides exchanged (--method likelihood or risk).",
    ),
    click.option(
        "--samples",
        type=options.Number(range_of(ImputationSettings, "n_sources")),
        metavar="N",
        help="Short for --impute samples --n-sources N.",
    ),
)
@declarations.group(ImputationSettings)
@options.group(
    "Features and starting weights",
    options.file("--start", help="Weights to begin with.  [default: untuned ones]"),
    options.file("--tags", help="Tagged target text: adds bigrams of the rules' target sides over tags as features."),
    declarations.option(TuningSettings, "bigrams"),
)
@declarations.group(TuningSettings, without=["bigrams", "seed"])
@declarations.group(DecoderSettings)
@options.engines
@options.group(
    "Resources",
    click.option(
        "--checkpoint",
        metavar="DIR",
        help="Keep the state of each round in this folder; the same command continues from it.",
    ),
    options.verify,
    declarations.option(TuningSettings, "seed"),
    options.threads,
    options.verbosity,
)
def command(*, samples: int | None, quiet: bool, verbose: bool, **o: Any) -> None:
    """Learn the weights of a translation system (Li, Wang, Eisner & Khudanpur 2011).

    Supervised, from a source text and its references: rounds of translating and of minimizing the expected loss.
    From target text alone, or in addition: a reverse system imputes its source sentences, and weights are learned that
    translate these back into the text as closely as possible (minimum imputed risk).

    Each round reports the BLEU of the translations under its weights; the weights of the best round are written
    (see --set choose).

    \b
    Example:
      aligntools train-lm -q -n 3 data/samples/de-en.en -o en.arpa
      aligntools align -q -s data/samples/de-en.de -t data/samples/de-en.en -o de-en.align
      aligntools extract-grammar -q -s data/samples/de-en.de -t data/samples/de-en.en -a de-en.align -o de-en.grammar
      head -20 data/samples/de-en.de > dev.de; head -20 data/samples/de-en.en > dev.en
      aligntools imputed-risk --supervised dev.de --reference dev.en --grammar de-en.grammar --lm en.arpa \\
        --rounds 2 --pop-limit 20 -o forward.json
    """
    from aligntools.translating.imputed_risk import tune

    sampled = {} if samples is None else {"impute": "samples", "n_sources": samples}
    with reporter.shown(quiet):
        declarations.call(
            tune,
            o,
            **{name: o[name] for name in ("reverse_grammar", "reverse_lm", "reverse_weights", "verify")},
            imputation=declarations.settings(ImputationSettings, o, **sampled),
            decoding=declarations.settings(DecoderSettings, o),
            split=declarations.settings(Splitting, o).split,
            progress=(lambda step: None) if quiet else (lambda step: _tell(step, verbose)),
        ).save(o["output"])


_TOLD = {
    "composing": "imputed {trees} trees of {sentences} sentences; {rules} rules translate them",
    "reaching": "references of {reached} of {sentences} sentences can be derived",
    "resuming": "continues after round {round}",
    "best": "best: round {round}, BLEU {bleu:.2f}",
}


def _tell(step: "Step", verbose: bool) -> None:
    f = step.figures
    if step.stage == "imputing":
        text = (
            f"imputed {f['sources']} sources of {f['sentences']} sentences"
            if "sources" in f
            else (f"imputed lattices of {f['lattices']} of {f['sentences']} sentences, {f['arcs']} arcs")
        )
    elif step.stage in _TOLD:
        text = _TOLD[step.stage].format(**f)
    else:
        each = ", ".join(f"{b:.2f} (length {r:.3f})" for b, r in zip(f["bleu"], f["ratio"], strict=True))
        what = "edges" if "edges" in f else "candidates"
        reached = "" if f["objective"] is None else f", objective {f['objective']:.5f}"
        text = f"round {f['round']}: BLEU {each}; {f[what]} {what}{reached}"
        if verbose:
            text += f"; together {f['score']:.2f}"
    sys.stderr.write(text + "\n")
