"""Learning the weights of a translation system from Python."""

import logging
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack

from aligntools.api.given.naming import name_of
from aligntools.api.given.sentences import PathLike, Text, read_lines
from aligntools.api.given.texts import Split
from aligntools.api.running.engines import Where, mapping_if_asked
from aligntools.api.running.progress import Progress, Step, reporter
from aligntools.api.running.threads import pool_of
from aligntools.api.translate.grammars import Grammar, grammar_of, joined
from aligntools.api.translate.language_models import LanguageModel
from aligntools.api.translate.translation_weights import TranslationWeights, WeightsInput, weights_of, with_bigrams
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.running import Run
from aligntools.translating.settings import (
    BIGRAMS,
    BIGRAMS_RANGE,
    CHOICES,
    IMPUTATIONS,
    DecoderSettings,
    ImputationSettings,
    TuningSettings,
)
from aligntools.translating.text import Lines

if TYPE_CHECKING:
    from aligntools.formats.translation.grammar import GrammarRules
    from aligntools.translating.tuning.learning import ReverseSystem

_log = logging.getLogger("aligntools")

Method: TypeAlias = Literal["risk", "mert", "likelihood", "mira", "perceptron"]
Loss: TypeAlias = Literal["corpus", "sentence", "linear"]
Prior: TypeAlias = Literal["zero", "start"]
Imputation: TypeAlias = Literal["kbest", "samples", "lattice", "rules"]
SourceWeights: TypeAlias = Literal["posterior", "equal"]
Reach: TypeAlias = Literal["forest", "grammar"]
Choice: TypeAlias = Literal["supervised", "all", "last"]


def tune(
    grammar: Grammar | PathLike, lm: LanguageModel | PathLike, supervised: Text | None = None,
    references: Sequence[Text] = (), *, monolingual: Sequence[Text] = (), start: WeightsInput = None,
    tags: PathLike | Mapping[str, str] | None = None, bigrams: int = BIGRAMS,
    reverse_grammar: Grammar | PathLike | None = None, reverse_lm: LanguageModel | PathLike | None = None,
    reverse_weights: WeightsInput = None, impute: Imputation = "kbest", n_sources: int = ImputationSettings.n_sources,
    reverse_gamma: float = ImputationSettings.reverse_gamma,
    monolingual_weight: float = ImputationSettings.monolingual_weight,
    lattice_order: int = ImputationSettings.lattice_order, lattice_prune: float = ImputationSettings.lattice_prune,
    source_weights: SourceWeights = "posterior", method: Method = "risk", loss: Loss = "corpus",
    forest: bool = TuningSettings.forest, n_best: int = TuningSettings.n_best, rounds: int = TuningSettings.rounds,
    patience: int = TuningSettings.patience, gamma: float = TuningSettings.gamma,
    quench: float | None = TuningSettings.quench, l2: float = TuningSettings.l2, prior: Prior = "zero",
    choose: Choice = "all", temperature: float = TuningSettings.temperature, restarts: int = TuningSettings.restarts,
    passes: int = TuningSettings.passes, step: float = TuningSettings.step, oracle: bool = TuningSettings.oracle,
    reach: Reach = "forest",
    pop_limit: int = DecoderSettings.pop_limit, span_limit: int = DecoderSettings.span_limit,
    split: Split = "spaces", checkpoint: PathLike | None = None, verify: bool = True, seed: int = TuningSettings.seed,
    threads: int | None = None, progress: Progress = None, **where: Unpack[Where],
) -> TranslationWeights:  # fmt: skip
    """Learn the weights of a translation system (Li, Wang, Eisner & Khudanpur 2011, "Minimum imputed risk").

    Supervised, from a source text and its references: rounds of translating and of minimizing the expected loss. From
    target text alone, or in addition: a reverse system imputes its sources, and the weights are such that translating
    them leads back to the text.

    Parameters
    ----------
    grammar, lm : Grammar and LanguageModel, or paths
        The system's. From a file, only the rules that the texts can use are read.
    supervised : path or iterable of sentences, optional
        Source text with references.
    references : sequence of texts
        Its translations, one text for each set of references.
    monolingual : sequence of texts
        Target texts whose sources are imputed; several are translations of the same sentences: sources are imputed for
        each, and all are references of each.
    start : TranslationWeights, mapping or path, optional
        Weights to begin with; untuned ones if not given.
    tags : path, or mapping of str to str, optional
        Tagged target text, or each word's tag: adds the most frequent bigrams of target sides over tags as features.
    bigrams : int
        How many of them.
    reverse_grammar, reverse_lm, reverse_weights
        The reverse system, from target to source; without a language model if ``reverse_lm`` is None.
    impute : str
        ``kbest``: the best sources, weighted by their probabilities; ``samples``; ``lattice``: an
        automaton of sources, translated whole; ``rules``: round trips rule by rule.
    source_weights : str
        Of the k best sources: ``posterior``, their probabilities, or ``equal``.
    n_sources, reverse_gamma, monolingual_weight : int, float, float
        Sources of each sentence; sharpness of their probabilities; weight of an imputed sentence.
    lattice_order, lattice_prune : int, float
        Words of the n-grams that lattices are made of; least posterior probability of their arcs.
    method : str
        ``risk``: expected loss; ``mert``: Och 2003; ``likelihood``: of the best candidate (equation 5 of Li et al.);
        ``mira``: batch k-best MIRA (Cherry & Foster 2012); ``perceptron``: averaged, towards the best of the list
        (Liang et al. 2006).
    loss : str
        Of risk: ``corpus``: 1 - BLEU of expected counts; ``sentence``: of each sentence, smoothed; ``linear``: BLEU's
        linear approximation (Tromble et al. 2008). Of MIRA: ``corpus``: BLEU with a background of other sentences;
        ``sentence``: smoothed.
    forest : bool
        Risk over all derivations, not over n-best lists; likelihood of the references themselves (equation 5 of Li et
        al.), over all derivations.
    oracle : bool
        With ``likelihood`` and ``forest``, where the grammar derives no reference: take the nearest candidate.
    n_best, rounds, patience, restarts : int
        Candidates of each sentence that a round adds; most rounds; rounds without a gain after which to stop; random
        starting points of MERT in each round.
    passes, step : int, float
        Of MIRA and the perceptron: passes over the sentences in each round; the largest step of MIRA (its C), every
        step of the perceptron.
    reach : str
        With ``likelihood`` and ``forest``: the derivations of references that the decoder's forests have, or all that
        the ``grammar`` has.
    gamma, quench : float
        Sharpness of the distribution over translations; double it in every round until it reaches ``quench``.
    l2, temperature : float
        Weight of half the squared distance of the weights from the prior; of the entropy, which is rewarded.
    prior : str
        ``zero``, or ``start``: the weights to begin with.
    choose : str
        Return the weights of the round that is best on ``all`` text, on the ``supervised``, or of the ``last``.
    pop_limit, span_limit : int
        See `Translator`.
    split : str
        What separates words in lines, as for `read_bitext`.
    checkpoint : path, optional
        Folder that keeps the state of each round; the same call continues from it.
    verify : bool
        Check the checksums of binary files.
    seed, threads : int
        Neither the number of threads (all cores if not given) nor an interruption changes the weights.
    progress : callable or bool, optional
        Called with a `Step` for each text imputed and each round, with its BLEU.
    **where
        ``workers``, ``cluster``, ``cluster_file`` and ``tmpdir``, as for `align_in_parts`: what decodes the text of a
        round. It does not change the weights.

    Raises
    ------
    UsageProblem
        When there is nothing to learn from, or settings contradict each other.
    DataError
        When texts do not have the same number of lines, or weights do not fit the grammar.

    Examples
    --------
    >>> import aligntools as at
    >>> source, target, links = ["das Haus ist klein"], ["the house is small"], ["0-0 1-1 2-2 3-3"]
    >>> grammar = at.extract_grammar(source, target, links)
    >>> at.tune(grammar, at.train_lm(target, order=2), source, [target], rounds=1, n_best=5).about["bleu"]
    100.0
    """
    settings = TuningSettings(method, loss, forest, n_best, rounds, patience, gamma, quench, l2, temperature, prior,
                              restarts=restarts, seed=seed, passes=passes, step=step,
                              oracle=oracle, reach=reach)  # fmt: skip
    decoding = DecoderSettings(pop_limit, span_limit)
    imputation = ImputationSettings(impute, n_sources, reverse_gamma, monolingual_weight, lattice_order, lattice_prune,
                                    source_weights)  # fmt: skip
    for chosen in (settings, imputation):
        chosen.check()
    decoding.checked()
    if method == "likelihood" and forest and impute == "lattice" and monolingual:
        raise UsageProblem("--method likelihood --forest derives references from text, not lattices: omit --forest")
    BIGRAMS_RANGE.check("bigrams", bigrams)
    Run(**where).checked()  # first: what excludes each other is soon found
    _check(supervised, references, monolingual, reverse_grammar, reverse_weights, impute, choose, checkpoint)
    reverse_system = {"reverse_grammar": reverse_grammar, "reverse_lm": reverse_lm, "reverse_weights": reverse_weights}
    _tell_unused(settings, imputation, bool(monolingual), reverse_system, bigrams != BIGRAMS and tags is None)
    texts = _texts(supervised, references, monolingual, split)
    reverse = _reverse(reverse_grammar, reverse_lm, reverse_weights, span_limit, verify) if monolingual else None
    folder = None if checkpoint is None else os.fspath(checkpoint)
    how = settings, decoding, imputation, choose, folder
    return _learn(how, grammar, lm, texts, reverse, start, tags, bigrams, verify, threads, progress, where)


def _learn(
    how: tuple[TuningSettings, DecoderSettings, ImputationSettings, str, str | None],
    grammar: Grammar | PathLike,
    lm: LanguageModel | PathLike,
    texts: tuple[Lines | None, list[Lines], list[Lines]],
    reverse: "ReverseSystem | None",
    start: WeightsInput,
    tags: PathLike | Mapping[str, str] | None,
    bigrams: int,
    verify: bool,
    threads: int | None,
    progress: Progress,
    where: Where,
) -> TranslationWeights:
    """Impute, read the grammar as far as the texts need it, and learn."""
    from aligntools.translating.tuning.learning import Learner, starting_weights
    from aligntools.translating.tuning.round_trips import source_sides

    report = reporter(progress)

    def tell(stage: str, figures: dict[str, Any]) -> None:
        in_rounds = stage == "round"
        report(Step(stage, figures["round"] if in_rounds else None, how[0].rounds if in_rounds else None, figures))

    supervised, references, monolingual = texts
    begin = weights_of(start)
    with pool_of(threads) as pool, mapping_if_asked(Run(**where).checked(), pool) as blocks:
        learner = Learner(*how, tell, pool, blocks)
        by_rule = how[2].impute == "rules" and bool(monolingual)
        imputed = []
        if reverse is not None and not by_rule:
            imputed = [learner.impute(reverse, one, k) for k, one in enumerate(monolingual)]
        known = [*([] if supervised is None else [supervised]), *(one.sources for one in imputed)]
        if reverse is not None and by_rule:
            known += [source_sides(reverse.read(one)) for one in monolingual]
        rules = grammar_of(grammar, joined(known), how[1].span_limit, verify).rules
        if tags is not None:
            rules = with_bigrams(rules, tags, None if begin is None else begin.features, bigrams)
        model = lm if isinstance(lm, LanguageModel) else LanguageModel.load(lm, verify=verify)
        first = starting_weights(rules, None if begin is None else dict(begin.features), name_of(start, "<weights>"))
        found = learner.learn(rules, model.ngrams, first, supervised, references, monolingual, imputed, reverse)
    return TranslationWeights(*found)


def _texts(
    supervised: Text | None, references: Sequence[Text], monolingual: Sequence[Text], split: Split
) -> tuple[Lines | None, list[Lines], list[Lines]]:
    """Read all texts and check that they have the same number of sentences."""
    text = None if supervised is None else read_lines(supervised, split)
    alone = [read_lines(one, split) for one in monolingual]
    return (
        text,
        _same_length([read_lines(one, split) for one in references], text),
        _same_length(alone, None, words=True),
    )


def _check(
    supervised: object, references: Sequence[object], monolingual: Sequence[object], reverse_grammar: object,
    reverse_weights: object, impute: str, choose: str, checkpoint: PathLike | None,
) -> None:  # fmt: skip
    """Refuse what cannot be learned from."""
    if isinstance(references, str | os.PathLike) or isinstance(monolingual, str | os.PathLike):
        raise UsageProblem("references and monolingual text are lists of texts")
    if supervised is None and not monolingual:
        raise UsageProblem("nothing to learn from: give --supervised with --reference, or --monolingual")
    if (supervised is None) != (not references):
        raise UsageProblem("--supervised and --reference belong together")
    if monolingual:
        for name, given in (("reverse-grammar", reverse_grammar), ("reverse-weights", reverse_weights)):
            if given is None:
                raise UsageProblem(f"--monolingual needs --{name} to impute the source")
    for name, value, known in (("impute", impute, IMPUTATIONS), ("choose", choose, CHOICES)):
        if value not in known:
            raise UsageProblem(f"--{name}: '{value}' is not one of {', '.join(known)}")
    if checkpoint is not None and not os.path.isdir(checkpoint):
        raise UsageProblem(f"--checkpoint: {os.fspath(checkpoint)} is not a directory")


def _tell_unused(
    settings: TuningSettings,
    imputation: ImputationSettings,
    imputes: bool,
    reverse: Mapping[str, object],
    bigrams: bool,
) -> None:
    """Log what was given that changes nothing; ``bigrams``: so many of them, without tags."""
    found = settings.unused(imputes and imputation.impute == "lattice") | imputation.unused(imputes)
    if not imputes:
        found |= {name: "there is no monolingual text" for name, given in reverse.items() if given is not None}
    if bigrams:
        found["bigrams"] = "there are no tags"
    for name, about in found.items():
        _log.warning("%s changes nothing: %s", name, about)


def _same_length(texts: list[Lines], first: Lines | None, words: bool = False) -> list[Lines]:
    """Check that texts have as many sentences as the first, and words."""
    for text in texts:
        if words and not text.words:
            raise DataError(text.name, None, "has no words; give target text, one sentence per line")
        other = texts[0] if first is None else first
        if len(text) != len(other):
            problem = (
                f"has {len(text)} lines and {other.name} has {len(other)}; they must have the same number of lines"
            )
            raise DataError(text.name, None, problem)
    return texts


def _reverse(
    grammar: Grammar | PathLike | None,
    lm: LanguageModel | PathLike | None,
    weights: WeightsInput,
    span: int,
    verify: bool,
) -> "ReverseSystem":
    """Return the reverse system."""
    assert grammar is not None
    from aligntools.translating.tuning.learning import ReverseSystem

    @lru_cache(maxsize=1)  # trees of one text ask twice
    def read(text: Lines) -> "GrammarRules":
        return grammar_of(grammar, text, span, verify).rules

    model = lm if isinstance(lm, LanguageModel) or lm is None else LanguageModel.load(lm, verify=verify)
    learned = weights_of(weights)
    assert learned is not None
    return ReverseSystem(
        read, None if model is None else model.ngrams, dict(learned.features), name_of(grammar, "<reverse grammar>"),
        name_of(weights, "<reverse weights>"),
    )  # fmt: skip
