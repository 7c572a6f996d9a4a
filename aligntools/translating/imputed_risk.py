"""Learning the weights of a translation system from Python."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from aligntools.formats.annotation.tagged_text import Tokens
from aligntools.formats.inputs.sentences import PathLike, Text, read_lines
from aligntools.formats.text.bitext import name_of
from aligntools.formats.text.text_settings import Loading, Splitting
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Progress, Step, reporter
from aligntools.ground.run import Run
from aligntools.store.job_engines import mapping_if_asked
from aligntools.translating.grammars import Grammar, grammar_of
from aligntools.translating.language_models import LanguageModel
from aligntools.translating.lattices import joined
from aligntools.translating.settings import LONGEST, DecoderSettings, ImputationSettings, TuningSettings
from aligntools.translating.translation_weights import (
    TranslationWeights,
    WeightsInput,
    in_order,
    weights_of,
    with_bigrams,
)

if TYPE_CHECKING:
    from aligntools.formats.translation.grammar import GrammarRules
    from aligntools.ground.keywords import TuneKeywords
    from aligntools.translating.decoding.decoder import System

_log = logging.getLogger("aligntools")


@taking(TuningSettings, ImputationSettings, DecoderSettings, Splitting, Loading, Run)
def tune(
    grammar: Grammar | PathLike,
    lm: LanguageModel | PathLike,
    supervised: Text | None = None,
    references: Sequence[Text] = (),
    settings: TuningSettings | None = None,
    *,
    monolingual: Sequence[Text] = (),
    start: WeightsInput = None,
    tags: PathLike | Mapping[str, str] | None = None,
    checkpoint: PathLike | None = None,
    run: Run | None = None,
    progress: Progress = None,
    **options: "Unpack[TuneKeywords]",
) -> TranslationWeights:
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
    reverse_grammar, reverse_lm, reverse_weights
        The reverse system, from target to source; without a language model if ``reverse_lm`` is None.
    settings, imputation, decoding, run : TuningSettings, ImputationSettings, DecoderSettings, Run or None
        The options below, whole. The weights depend neither on the threads, all cores if they are not given, nor on
        what decodes the text of a round, nor on interruptions.
    checkpoint : path, optional
        Folder that keeps the state of each round; the same call continues from it.
    progress : callable or bool, optional
        Called with a `Step` for each text imputed and each round, with its BLEU.
    **options

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
    given = Keywords("tune", options)
    reversed_ = {name: given.pop(f"reverse_{name}") for name in ("grammar", "lm", "weights")}
    settings, imputation = given.take(TuningSettings, settings), given.take(ImputationSettings, "imputation")
    decoding, run = given.take(DecoderSettings, "decoding"), given.take(Run, run)
    split, verify = given.take(Splitting).split, given.take(Loading).verify
    given.end()
    _check(supervised, references, monolingual, reversed_, settings, imputation, checkpoint)
    imputes = bool(monolingual)
    unused = settings.unused(imputes and imputation.impute == "lattice", tags is not None) | imputation.unused(imputes)
    if not imputes:
        unused |= {f"reverse_{k}": "there is no monolingual text" for k, one in reversed_.items() if one is not None}
        reversed_ = dict.fromkeys(reversed_)
    for name, about in unused.items():
        _log.warning("`%s` changes nothing: %s", name, about)
    text = None if supervised is None else read_lines(supervised, split)
    alone = [read_lines(one, split) for one in monolingual]
    others = _same_length([read_lines(one, split) for one in references], text)
    alone = _not_over_long(_same_length(alone, None, words=True))
    if text is not None:
        text, *others = _not_over_long([text, *others])

    @lru_cache(maxsize=1)  # trees of one text ask twice
    def read(text: Tokens) -> "GrammarRules":
        return grammar_of(reversed_["grammar"], text, decoding.span_limit, verify).rules

    reverse = _reverse(read, reversed_["lm"], reversed_["weights"], verify)
    from aligntools.translating.tuning.learning import Learner, starting_weights
    from aligntools.translating.tuning.round_trips import source_sides
    from aligntools.translating.tuning.tuning import NothingLearned

    report = reporter(progress)

    def tell(stage: str, figures: dict[str, Any]) -> None:
        in_rounds = stage == "round"
        report(Step(stage, figures["round"] if in_rounds else None, settings.rounds if in_rounds else None, figures))

    folder = None if checkpoint is None else os.fspath(checkpoint)
    begin = weights_of(start)
    with pool_of(run.threads) as pool, mapping_if_asked(run, pool) as blocks:
        of_reverse = reverse, name_of(reversed_["grammar"], "<reverse grammar>")
        learner = Learner(settings, decoding, imputation, folder, tell, pool, blocks, *of_reverse)
        imputed, known = [], [] if text is None else [text]
        if imputation.impute == "rules":
            known += [source_sides(read(one)) for one in alone]
        else:
            imputed = [learner.impute(one, k) for k, one in enumerate(alone)]
            known += [sources for sources, *_ in imputed]
        rules = grammar_of(grammar, joined(known), decoding.span_limit, verify).rules
        if tags is not None:
            rules = with_bigrams(rules, tags, None if begin is None else begin.features, settings.bigrams)
        model = lm if isinstance(lm, LanguageModel) else LanguageModel.load(lm, verify=verify)
        first = starting_weights(rules, None if begin is None else dict(begin.features), name_of(start, "<weights>"))
        try:
            return TranslationWeights(*learner.learn(rules, model.ngrams, first, text, others, alone, imputed))
        except NothingLearned as error:
            names = ", ".join(one.name for one in ([] if text is None else [text]) + others + alone)
            raise DataError(names, None, str(error)) from None


def _not_over_long(texts: list[Tokens]) -> list[Tokens]:
    """Return texts without the sentences that are over-long in one of them; say how many these are."""
    lengths = np.array([np.diff(text.offsets) for text in texts])
    if not (lengths > LONGEST).any():
        return texts
    long = (lengths > LONGEST).any(0)
    which = ", ".join(text.name for text in texts)
    count, first = np.count_nonzero(long), np.argmax(long) + 1
    _log.warning("%s: %d sentences over %d words are left out; first at line %d", which, count, LONGEST, first)
    return [text.chosen(np.flatnonzero(~long)) for text in texts]


def _check(
    supervised: object,
    references: Sequence[object],
    monolingual: Sequence[object],
    reverse: Mapping[str, Any],
    settings: TuningSettings,
    imputation: ImputationSettings,
    checkpoint: PathLike | None,
) -> None:
    """Refuse what cannot be learned from."""
    if isinstance(references, str | os.PathLike) or isinstance(monolingual, str | os.PathLike):
        raise UsageProblem("references and monolingual text are lists of texts")
    if supervised is None and not monolingual:
        raise UsageProblem("nothing to learn from: give `supervised` with `references`, or `monolingual`")
    if (supervised is None) != (not references):
        raise UsageProblem("`supervised` and `references` belong together")
    for name in ("reverse_grammar", "reverse_weights"):
        if monolingual and reverse[name.removeprefix("reverse_")] is None:
            raise UsageProblem(f"`monolingual` needs `{name}` to impute the source")
    of_references = settings.method == "likelihood" and settings.forest
    if of_references and imputation.impute == "lattice" and monolingual:
        raise UsageProblem(
            "`method=likelihood` with `forest` derives references from text, not from lattices: leave out `forest`"
        )
    if checkpoint is not None and not os.path.isdir(checkpoint):
        raise UsageProblem(f"`checkpoint`: {os.fspath(checkpoint)} is not a directory")


def _same_length(texts: list[Tokens], first: Tokens | None, words: bool = False) -> list[Tokens]:
    """Check that texts have as many sentences as the first, and words."""
    for text in texts:
        if words and not text.words:
            raise DataError(text.name, None, "has no words; give target text, one sentence per line")
        other = texts[0] if first is None else first
        if len(text) != len(other):
            found = f"has {len(text)} lines and {other.name} has {len(other)}"
            raise DataError(text.name, None, f"{found}; they must have the same number of lines")
    return texts


def _reverse(
    read: "Callable[[Tokens], GrammarRules]", lm: LanguageModel | PathLike | None, weights: WeightsInput, verify: bool
) -> "Callable[[Tokens, DecoderSettings], System]":
    """Return a function that makes the reverse system of a text, from the rules that ``read`` returns for it."""
    from aligntools.translating.decoding.decoder import System
    from aligntools.translating.decoding.system_tables import feature_names

    model = lm if isinstance(lm, LanguageModel) or lm is None else LanguageModel.load(lm, verify=verify)
    learned, name = weights_of(weights), name_of(weights, "<reverse weights>")

    def made(text: Tokens, settings: DecoderSettings) -> System:
        assert learned is not None
        rules = read(text)
        known = in_order(name, learned.features, feature_names(rules))
        return System(rules, None if model is None else model.ngrams, known, settings)

    return made
