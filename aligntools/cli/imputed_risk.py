"""``aligntools imputed-risk``: learn a translation system's weights, from bitext and from target text alone."""

import sys

import click

from aligntools.cli import declared, engine_options, notices, options
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.translating.settings import (
    BIGRAMS,
    BIGRAMS_RANGE,
    CHOICES,
    IMPUTATIONS,
    LOSSES,
    METHODS,
    PRIORS,
    REACHES,
    SOURCE_WEIGHTS,
    DecoderSettings,
    ImputationSettings,
    TuningSettings,
)

_OLD = {"-w": "-o", "--weights": "--output", "--k": "--n-sources", "--nbest": "--n-best"}


def _choice(name, kinds, default, help):
    return click.option(name, type=click.Choice(kinds), default=default, show_default=True, help=help)


@click.command("imputed-risk", cls=options.Command, renamed=_OLD)
@options.group(
    "Common options",
    click.option("--supervised", metavar="FILE", help="Source text with references, one sentence per line."),
    click.option("--reference", "references", metavar="FILE", multiple=True,
                 help="Its translation; once for each set of references."),
    click.option("--grammar", metavar="FILE", required=True, help="Grammar of the system, from extract-grammar."),
    click.option("--lm", metavar="FILE", required=True, help="Language model: ARPA, or binary from train-lm."),
    click.option("-o", "--output", metavar="FILE", type=options.WRITTEN, required=True,
                 help="Write the weights to this file."),
    options.split,
)  # fmt: skip
@options.group(
    "Target text alone",
    click.option("--monolingual", metavar="FILE", multiple=True,
                 help="Target text whose source is imputed; more than once for several translations of the same"
                      " sentences: sources are imputed for each, and all are references of each."),
    click.option("--reverse-grammar", metavar="FILE", help="Grammar of the reverse system, from target to source."),
    click.option("--reverse-lm", metavar="FILE", help="Its language model, of the source language."),
    click.option("--no-reverse-lm", is_flag=True, help="Impute without a language model."),
    click.option("--reverse-weights", metavar="FILE",
                 help="Its weights; this command learns them with the sides exchanged (--method likelihood or risk)."),
    _choice("--impute", IMPUTATIONS, ImputationSettings.impute,
            "The best sources, weighted by their probabilities; samples; a lattice of sources, which is translated"
            " whole; or the best sources' trees, which are translated rule by rule."),
    options.setting("--n-sources", of=ImputationSettings, help="Sources, or trees, for each sentence."),
    click.option("--samples", type=options.number(ImputationSettings, "n_sources"), metavar="N",
                 help="Short for --impute samples --n-sources N."),
    options.setting("--lattice-order", of=ImputationSettings,
                    help="Words of the n-grams from which --impute lattice makes lattices."),
    options.setting("--lattice-prune", of=ImputationSettings,
                    help="Leave out arcs of these lattices with a lower posterior probability."),
    options.setting("--reverse-gamma", of=ImputationSettings,
                    help="How sharply imputed sources are weighed by the reverse model's scores. Larger counts its best"
                         " source almost alone."),
    _choice("--source-weights", SOURCE_WEIGHTS, ImputationSettings.source_weights,
            "What the best sources of a sentence weigh: their probabilities, or all alike."),
    options.setting("--monolingual-weight", of=ImputationSettings,
                    help="Weight of an imputed sentence relative to a supervised one."),
)  # fmt: skip
@options.group(
    "Features and starting weights",
    click.option("--start", metavar="FILE", help="Weights to begin with.  [default: untuned ones]"),
    click.option("--tags", metavar="FILE",
                 help="Tagged target text: adds bigrams of the rules' target sides over tags as features."),
    click.option("--bigrams", type=options.number(BIGRAMS_RANGE), default=BIGRAMS, show_default=True, metavar="N",
                 help="How many bigrams, the most frequent ones."),
)  # fmt: skip
@options.group(
    "Training",
    _choice("--method", METHODS, TuningSettings.method,
            "Expected loss; minimum error rate training; conditional likelihood of the best candidate; batch MIRA; the"
            " averaged perceptron."),
    _choice("--loss", LOSSES, TuningSettings.loss,
            "Of risk and MIRA: 1 - BLEU of expected counts (MIRA: of a sentence among others); of each sentence,"
            " smoothed; or, of risk, BLEU's linear approximation."),
    click.option("--forest", is_flag=True,
                 help="Risk over all derivations, not over n-best lists; likelihood of the references, over all their"
                      " derivations, not of the nearest candidate."),
    _choice("--reach", REACHES, TuningSettings.reach,
            "With --method likelihood --forest: the derivations of references that the decoder's forests have, or all"
            " that the grammar has."),
    click.option("--oracle", is_flag=True,
                 help="With --method likelihood --forest, where the grammar derives no reference: take the nearest"
                      " candidate."),
    options.setting("--n-best", of=TuningSettings, help="Candidates of each sentence that a round adds."),
    options.setting("--rounds", of=TuningSettings, help="Most rounds of decoding and optimizing."),
    options.setting("--patience", of=TuningSettings, help="Stop after N rounds without a gain."),
    options.setting("--gamma", of=TuningSettings,
                    help="How sharply candidates are weighed by their scores (the paper's gamma): scores are multiplied"
                         " by it before they become probabilities. Larger counts the best candidate almost alone, as"
                         " the decoder does; smaller spreads over all, which is easier to learn from. See --quench."),
    options.setting("--quench", of=TuningSettings, metavar="X",
                    help="Double gamma in every round, optimizing each time, until it reaches X."),
    options.setting("--l2", of=TuningSettings,
                    help="How strongly weights are held near those of --prior: half of this times their squared"
                         " distance is added to what is minimized. Larger changes them less; for few or short"
                         " sentences."),
    _choice("--prior", PRIORS, TuningSettings.prior, "What --l2 draws the weights to: zero, or the starting weights."),
    _choice("--choose", CHOICES, "all",
            "Write the weights of the round that is best on all text or on the supervised text, or of the last round."),
    options.setting("--temperature", of=TuningSettings, help="Weight of the entropy, which is rewarded."),
    options.setting("--restarts", of=TuningSettings, help="Random starting points of MERT in each round."),
    options.setting("--passes", of=TuningSettings,
                    help="Passes of MIRA and the perceptron over the sentences in each round."),
    options.setting("--step", of=TuningSettings,
                    help="The largest step of MIRA (its C), every step of the perceptron. Larger learns faster and is"
                         " less steady."),
)  # fmt: skip
@declared.group(DecoderSettings)
@engine_options.group
@options.group(
    "Resources",
    click.option("--checkpoint", metavar="DIR",
                 help="Keep the state of each round in this folder; the same command continues from it."),
    options.verify,
    options.seed,
    options.threads,
    options.verbosity,
)  # fmt: skip
def command(grammar, lm, supervised, references, output, samples, no_reverse_lm, quiet, verbose, **given):
    """Learn the weights of a translation system (Li, Wang, Eisner & Khudanpur 2011).

    Supervised, from a source text and its references: rounds of translating and of minimizing the expected loss.
    From target text alone, or in addition: a reverse system imputes its source sentences, and the weights are such
    that translating them leads back to the text (minimum imputed risk).

    Each round reports the BLEU of the translations under its weights; the weights of the best round are written
    (see --choose).

    \b
    Example:
      aligntools train-lm -q -n 3 data/samples/de-en.en -o en.arpa
      aligntools align -q -s data/samples/de-en.de -t data/samples/de-en.en -o de-en.align
      aligntools extract-grammar -q -s data/samples/de-en.de -t data/samples/de-en.en -a de-en.align -o de-en.grammar
      head -20 data/samples/de-en.de > dev.de; head -20 data/samples/de-en.en > dev.en
      aligntools imputed-risk --supervised dev.de --reference dev.en --grammar de-en.grammar --lm en.arpa \\
        --rounds 2 --pop-limit 20 -o forward.json
    """
    if samples is not None:
        given["impute"], given["n_sources"] = "samples", samples
    if given["reverse_lm"] is not None and no_reverse_lm:
        raise UsageProblem("--reverse-lm and --no-reverse-lm exclude each other")
    imputes = given["monolingual"] and given["reverse_grammar"] and given["reverse_weights"]
    if imputes and given["reverse_lm"] is None and not no_reverse_lm:
        raise UsageProblem("--monolingual needs --reverse-lm, or --no-reverse-lm to impute without one")
    from aligntools.api.translate.tuning import tune
    from aligntools.translating.tuning.tuning import NothingLearned

    report = (lambda step: None) if quiet else (lambda step: _tell(step, verbose))
    with notices.shown(quiet) if engine_options.asked(given) else notices.hushed(quiet):
        try:
            tune(grammar, lm, supervised, references, progress=report, **given).save(output)
        except NothingLearned as error:
            texts = [name for name in (supervised, *references, *given["monolingual"]) if name is not None]
            raise DataError(", ".join(map(str, texts)), None, error.message) from None


def _tell(step, verbose):
    """Show a step of learning."""
    f = step.figures
    if step.stage == "imputing":
        text = (
            f"imputed {f['sources']} sources of {f['sentences']} sentences"
            if "sources" in f
            else (f"imputed lattices of {f['lattices']} of {f['sentences']} sentences, {f['arcs']} arcs")
        )
    elif step.stage == "composing":
        text = f"imputed {f['trees']} trees of {f['sentences']} sentences; {f['rules']} rules translate them"
    elif step.stage == "reaching":
        text = f"references of {f['reached']} of {f['sentences']} sentences can be derived"
    elif step.stage == "resuming":
        text = f"continues after round {f['round']}"
    elif step.stage == "best":
        text = f"best: round {f['round']}, BLEU {f['bleu']:.2f}"
    else:
        each = ", ".join(f"{b:.2f} (length {r:.3f})" for b, r in zip(f["bleu"], f["ratio"], strict=True))
        what = "edges" if "edges" in f else "candidates"
        reached = "" if f["objective"] is None else f", objective {f['objective']:.5f}"
        text = f"round {f['round']}: BLEU {each}; {f[what]} {what}{reached}"
        if verbose:
            text += f"; together {f['score']:.2f}"
    sys.stderr.write(text + "\n")
