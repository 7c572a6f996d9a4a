"""``aligntools imputed-risk``: learn a translation system's weights, from bitext and from target text alone."""

import os
import sys
from dataclasses import dataclass

import click

from aligntools.cli import options
from aligntools.ground.errors import DataError, UsageProblem

_COUNT, _ANY_COUNT = click.IntRange(min=1), click.IntRange(min=0)
_POSITIVE, _AMOUNT = click.FloatRange(min=0, min_open=True), click.FloatRange(min=0)


def _number(name, kind, default, help):
    metavar = "N" if isinstance(kind, click.IntRange) else "X"
    return click.option(name, type=kind, default=default, show_default=True, metavar=metavar, help=help)


@click.command("imputed-risk", context_settings=options.SETTINGS)
@click.option("--supervised", metavar="FILE", help="Source text with references.")
@click.option(
    "--reference", "references", metavar="FILE", multiple=True,
    help="Its translation; once for each set of references.",
)  # fmt: skip
@click.option(
    "--monolingual", metavar="FILE", multiple=True,
    help="Target text, whose source is imputed; more than once for several translations of the same sentences.",
)  # fmt: skip
@click.option("--grammar", metavar="FILE", required=True, help="The system's grammar, of extract-grammar.")
@click.option("--lm", metavar="FILE", required=True, help="Its language model (ARPA, or train-lm's binary).")
@click.option("-w", "--weights", "output", metavar="FILE", required=True, help="Write the weights here.")
@click.option("--start", metavar="FILE", help="Weights to begin with.")
@click.option("--tags", metavar="FILE", help="Tagged target text: adds the bigrams of rules' target sides as features.")
@_number("--bigrams", _COUNT, 500, "How many of them, the most frequent.")
@click.option("--reverse-grammar", metavar="FILE", help="Grammar of the reverse system, from target to source.")
@click.option("--reverse-lm", metavar="FILE", help="Its language model, of the source language.")
@click.option("--no-reverse-lm", is_flag=True, help="Impute without a language model.")
@click.option(
    "--reverse-weights", metavar="FILE",
    help="Its weights; this command learns them with the sides exchanged (--method likelihood or risk).",
)  # fmt: skip
@click.option(
    "--impute", type=click.Choice(["kbest", "samples", "rules"]), default="kbest", show_default=True,
    help="The k best sources, weighing what their probabilities say; k samples; or round trips rule by rule.",
)  # fmt: skip
@_number("--k", _COUNT, 1, "Sources a sentence.")
@click.option("--samples", type=click.IntRange(min=1), metavar="N", help="Short for --impute samples --k N.")
@_number("--reverse-gamma", _POSITIVE, 1.0, "Sharpness of the reverse model's probabilities.")
@_number("--monolingual-weight", _POSITIVE, 0.1, "What an imputed sentence counts beside a supervised one.")
@click.option(
    "--method", type=click.Choice(["risk", "mert", "likelihood"]), default="risk", show_default=True,
    help="Expected loss; minimum error rate training; conditional likelihood of the best candidate.",
)  # fmt: skip
@click.option(
    "--loss", type=click.Choice(["corpus", "sentence", "linear"]), default="corpus", show_default=True,
    help="1 - BLEU of expected counts; of each sentence, smoothed; or BLEU's linear approximation.",
)  # fmt: skip
@click.option("--forest", is_flag=True, help="Risk over all derivations decoded, not over k-best lists.")
@click.option(
    "--nbest", type=click.IntRange(min=2), default=100, show_default=True, metavar="N",
    help="Candidates a sentence that each round adds.",
)  # fmt: skip
@_number("--rounds", _ANY_COUNT, 10, "Of decoding and optimizing, at most.")
@_number("--patience", _COUNT, 3, "End after N rounds without a gain.")
@_number("--gamma", _POSITIVE, 1.0, "Sharpness of the distribution over translations.")
@click.option(
    "--quench", type=click.FloatRange(min=0, min_open=True), metavar="X",
    help="Double gamma in every round, optimizing each time, until it is X.",
)  # fmt: skip
@_number("--l2", _AMOUNT, 1e-4, "Weight of half the squared distance of the weights from the prior.")
@click.option(
    "--prior", type=click.Choice(["zero", "start"]), default="zero", show_default=True,
    help="Where --l2 draws the weights to: zero, or those to begin with.",
)  # fmt: skip
@click.option(
    "--choose", type=click.Choice(["supervised", "all", "last"]), default="all", show_default=True,
    help="Write the weights of the round that is best on all text, or on the supervised; or of the last.",
)  # fmt: skip
@_number("--temperature", _AMOUNT, 0.0, "Weight of the entropy, which is rewarded.")
@_number("--restarts", _ANY_COUNT, 8, "Random beginnings of MERT in each round.")
@_number("--pop-limit", _COUNT, 100, "Items that a cell of the decoder's chart takes.")
@_number("--span-limit", _COUNT, 10, "Most words that a rule covers.")
@click.option(
    "--checkpoint", metavar="DIR", help="Keep the state of each round here; the same command goes on from it."
)
@options.seed
@options.threads
@options.verbosity
def command(**given):
    """Learn the weights of a translation system (Li, Wang, Eisner & Khudanpur 2011).

    Supervised, from a source text and its references: rounds of translating and of minimizing the expected loss.
    From target text alone, or in addition: a reverse system imputes what its source may have been, and the weights
    are such that the way back arrives where it began (minimum imputed risk).

    Each round reports the BLEU of what its weights translate the texts to; the weights of the best round are
    written (see --choose).

    \b
    Example:
      aligntools train-lm -q -n 3 data/samples/de-en.en -o en.arpa
      aligntools align -q -s data/samples/de-en.de -t data/samples/de-en.en -o de-en.align
      aligntools extract-grammar -q -s data/samples/de-en.de -t data/samples/de-en.en -a de-en.align -o de-en.grammar
      head -20 data/samples/de-en.de > dev.de; head -20 data/samples/de-en.en > dev.en
      aligntools imputed-risk --supervised dev.de --reference dev.en --grammar de-en.grammar --lm en.arpa \\
        --rounds 2 --pop-limit 20 -w forward.json
    """
    _check(given)
    run(given)


def _check(given):
    """Refuse options that contradict each other."""
    if given["supervised"] is None and not given["monolingual"]:
        raise UsageProblem("nothing to learn from: --supervised with --reference, or --monolingual")
    if (given["supervised"] is None) != (not given["references"]):
        raise UsageProblem("--supervised and --reference belong together")
    if given["samples"] is not None:
        given["impute"], given["k"] = "samples", given["samples"]
    if given["monolingual"]:
        for name in ("reverse_grammar", "reverse_weights"):
            if given[name] is None:
                raise UsageProblem(f"--monolingual needs --{name.replace('_', '-')}: it imputes the source")
        if given["reverse_lm"] is None and not given["no_reverse_lm"] and given["impute"] != "rules":
            raise UsageProblem("--monolingual needs --reverse-lm, or --no-reverse-lm to do without")
    if given["reverse_lm"] is not None and given["no_reverse_lm"]:
        raise UsageProblem("--reverse-lm and --no-reverse-lm contradict each other")
    if given["quench"] is not None and given["quench"] < given["gamma"]:
        raise UsageProblem(f"--quench {given['quench']:g} is below --gamma {given['gamma']:g}")
    if given["forest"] and given["method"] != "risk":
        raise UsageProblem(f"--forest is for --method risk, not {given['method']}")
    if given["forest"] and given["loss"] == "sentence":
        raise UsageProblem("--loss sentence needs whole sentences: leave out --forest, or take --loss corpus or linear")
    folder = given["checkpoint"]
    if folder is not None and not os.path.isdir(folder):
        raise UsageProblem(f"--checkpoint {folder}: no such folder (make it first)")


def _read(path):
    from aligntools.formats.bitext import read_side
    from aligntools.translating.tuning.examples import Text

    return Text.of(*read_side(path, lowercase=False))


def _references(paths, text, of):
    """Read sets of references of a text."""
    found = [_read(path) for path in paths]
    for path, reference in zip(paths, found, strict=True):
        if len(reference) != len(text):
            raise DataError(
                path, None, f"has {len(reference)} lines and {of} has {len(text)}; they must face each other"
            )
    return found


def _facing(paths):
    """Read target texts, all translations of the same sentences."""
    found = [_read(path) for path in paths]
    for path, text in zip(paths, found, strict=True):
        if not text.words:
            raise DataError(path, None, "has no words; give target text, one sentence a line")
        if len(text) != len(found[0]):
            problem = f"has {len(text)} lines and {paths[0]} has {len(found[0])}; they must face each other"
            raise DataError(path, None, problem)
    return found


@dataclass
class Work:
    """What the steps of the command share."""

    given: dict
    pool: object
    settings: object

    def say(self, text):
        """Tell the user, unless told to be quiet."""
        if not self.given["quiet"]:
            sys.stderr.write(text + "\n")

    def system(self, grammar, lm, weights, full_states=False):
        """Make a decoder."""
        from aligntools.translating.decoding import decoder

        how = decoder.DecoderSettings(
            pop_limit=self.given["pop_limit"], span_limit=self.given["span_limit"], full_states=full_states
        )
        return decoder.System(grammar, lm, weights, how)


def run(given):
    """Learn and write weights."""
    from aligntools.ground.parallel import Pool
    from aligntools.translating.tuning import tuning

    names = (
        "method",
        "loss",
        "forest",
        "rounds",
        "patience",
        "gamma",
        "quench",
        "l2",
        "temperature",
        "restarts",
        "seed",
    )
    settings = tuning.Settings(k=given["nbest"], **{name: given[name] for name in names})
    with Pool(given["threads"]) as pool:
        _tune(Work(given, pool, settings))


def _tune(work):
    from aligntools.translating.lm import language_model
    from aligntools.translating.tuning import examples
    from aligntools.translating.tuning.imputation import IMPUTED
    from aligntools.translating.tuning.weights import save_weights

    given = work.given
    supervised = _read(given["supervised"]) if given["supervised"] is not None else None
    references = _references(given["references"], supervised, given["supervised"])
    monolingual = _facing(given["monolingual"])
    by_rule = bool(monolingual) and given["impute"] == "rules"
    imputed = [] if by_rule else [_impute(work, text, k) for k, text in enumerate(monolingual)]
    texts = ([supervised] if supervised is not None else []) + [text for text, _ in imputed]
    grammar, start_by_name = _grammar(work, None if by_rule else examples.numbered(texts))
    model = language_model.load(given["lm"])
    system = work.system(grammar, model, _start(given, grammar, start_by_name), given["forest"])
    names = [*system.features, *([IMPUTED] if by_rule else [])]
    start = [*system.weights, *([1.0] if by_rule else [])]
    frozen = {len(names) - 1: 1.0} if by_rule else {}
    made = []
    if supervised is not None:
        made.append(examples.part(system, supervised, references, names=names, pool=work.pool))
    share, alone = given["monolingual_weight"], supervised is None or given["choose"] != "supervised"
    for text, of in imputed:
        made.append(
            examples.part(system, text, monolingual, of.groups, share * of.weights, alone, names, work.pool)
        )  # fmt: skip
    if by_rule:
        composed = _composed(work, monolingual, grammar, model, system)
        for text in monolingual:
            weights = [share] * len(text)
            made.append(examples.part(composed, text, monolingual, None, weights, alone, names, work.pool))
    progress = _rounds(work, made, names, start, frozen, [grammar, model])
    best, weights = progress.best_round, progress.best
    work.say(f"best: round {best.number}, BLEU {best.score:.2f}")
    if given["choose"] == "last":
        best, weights = progress.rounds[-1], progress.weights
    about = {
        "method": given["method"], "bleu": round(best.score, 4), "round": best.number, "seed": given["seed"],
        "supervised": 0 if supervised is None else len(supervised), "monolingual": sum(map(len, monolingual)),
    } | ({"loss": given["loss"]} if given["method"] == "risk" else {})  # fmt: skip
    save_weights(given["output"], system.features, weights[: len(system.features)], about)


def _impute(work, text, number):
    """Return a target text's imputed sources."""
    from aligntools.translating.grammar.filtering import read_grammar
    from aligntools.translating.lm import language_model
    from aligntools.translating.tuning import examples
    from aligntools.translating.tuning.weights import load_weights

    given = work.given
    grammar = read_grammar(given["reverse_grammar"], only_for=examples.numbered([text]), span=given["span_limit"])
    model = None if given["no_reverse_lm"] else language_model.load(given["reverse_lm"])
    system = work.system(grammar, model, [0.0] * len(_names(grammar)))
    system = system.with_weights(load_weights(given["reverse_weights"], system.features))
    sources, of = examples.impute_text(
        system, text, given["impute"], given["k"], given["reverse_gamma"], given["seed"] + number, work.pool
    )
    work.say(f"imputed {len(sources)} sources of {len(text)} sentences")
    return sources, of


def _names(grammar):
    from aligntools.translating.decoding.decoder import feature_names

    return feature_names(grammar)


def _grammar(work, only_for):
    """Return the system's grammar and the weights to begin with by name, if there are any."""
    from aligntools.formats.tagged import read_tags
    from aligntools.translating.grammar import features
    from aligntools.translating.grammar.filtering import read_grammar
    from aligntools.translating.tuning.weights import read_weights

    given = work.given
    grammar = read_grammar(given["grammar"], only_for=only_for, span=given["span_limit"])
    start = read_weights(given["start"])[0] if given["start"] is not None else None
    if given["tags"] is not None:
        tagged = read_tags(given["tags"])
        tags = features.dominant_tags(tagged.words, tagged.tags)
        known = None
        if start is not None:
            plain = set(_names(grammar))
            known = [name for name in start if name not in plain] or None
        grammar = features.add_bigrams(grammar, tags, most=given["bigrams"], names=known)
    return grammar, start


def _start(given, grammar, start):
    from aligntools.translating.tuning.weights import default_weights, load_weights

    names = _names(grammar)
    if start is None:
        return default_weights(names)
    if grammar.sparse_names and not set(grammar.sparse_names) & set(start):  # learned without bigrams
        dense = names[: len(names) - len(grammar.sparse_names)]
        return [*load_weights(given["start"], dense), *([0.0] * len(grammar.sparse_names))]
    return load_weights(given["start"], names)


def _composed(work, texts, forward, model, system):
    """Return a system of the round trips, rule by rule."""
    from aligntools.translating.grammar.filtering import read_grammar
    from aligntools.translating.tuning import examples
    from aligntools.translating.tuning.imputation import compose
    from aligntools.translating.tuning.weights import load_weights

    given = work.given
    reverse = read_grammar(given["reverse_grammar"], only_for=examples.numbered(texts), span=given["span_limit"])
    names = _names(reverse)
    weights = dict(zip(names, load_weights(given["reverse_weights"], names), strict=True))
    by_name = dict(zip(system.features, system.weights, strict=True))
    grammar = compose(reverse, forward, weights, by_name, gamma=given["reverse_gamma"])
    if not len(grammar):
        raise DataError(given["reverse_grammar"], None, "has no rule whose target side is a source side of --grammar")
    work.say(f"composed {len(grammar)} rules")
    return work.system(grammar, model, [0.0] * len(_names(grammar)), given["forest"])


def _rounds(work, made, names, start, frozen, of):
    """Tune, from a checkpoint if there is one."""
    from aligntools.translating.tuning import tuning

    path, own, begin = None, None, start
    if work.given["checkpoint"] is not None:
        path = os.path.join(work.given["checkpoint"], "tuning.state")
        grammar, model = of
        data = [start, grammar.target, grammar.features, model.unigrams]
        for part in made:
            data += [part.groups, part.weights, part.references.keys, part.references.lengths]
        others = {name: work.given[name] for name in ("pop_limit", "span_limit", "impute", "k")}
        own = tuning.fingerprint(work.settings, *data, names=list(names), **others)
        if os.path.exists(path):
            begin = tuning.load_progress(path, own)
            work.say(f"goes on after round {len(begin.rounds) - 1}")

    def report(found):
        each = ", ".join(f"{b:.2f} (length {r:.3f})" for b, r in zip(found.bleu, found.ratio, strict=True))
        reached = "" if found.objective is None else f", objective {found.objective:.5f}"
        what = "edges" if work.settings.forest else "candidates"
        work.say(f"round {found.number}: BLEU {each}; {found.candidates} {what}{reached}")

    keep = None if path is None else lambda progress: tuning.save_progress(path, own, progress)
    return tuning.tune(made, begin, work.settings, frozen, work.pool, report, keep)
