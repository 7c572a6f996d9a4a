"""Training a whole alignment model within a bound of memory: its views, reconstruction, pieces of words."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from aligntools.aligning.memory import cells_within, needed_for_training
from aligntools.aligning.model import AlignmentModel, SubwordMember, numbered
from aligntools.aligning.models import kernels_link_counts as kc
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.lexical import Lexicon, lexical_fields
from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.settings import (
    POSITION_SMOOTHING,
    Positions,
    PriorWeights,
    ReconstructionSettings,
    ResolvedSettings,
)
from aligntools.aligning.text.cooccurrence import build_table, unigrams
from aligntools.aligning.text.kernels_look_alikes import TIERS
from aligntools.aligning.text.subwords import Subwords, cut_sides, learn_subwords
from aligntools.aligning.text.views import ViewWords, collapse, cut, view_text
from aligntools.aligning.training.reconstruction import reconstruct, reconstructed_from
from aligntools.aligning.training.sampling import LastPass
from aligntools.aligning.training.stages import old_values, schedule, step_text, train
from aligntools.aligning.training.view_priors import (
    GivenPriors,
    ViewMapping,
    ViewPriors,
    of_pieces,
    tell_foreign,
    view_priors,
)
from aligntools.formats.links.priors import Priors
from aligntools.formats.text.corpus import Bitext, Side, Skipped
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Report
from aligntools.words.vocabulary import Vocabulary

_log = logging.getLogger("aligntools")


def settings_after(
    start: AlignmentModel, reconstructs: bool, model: str | None = None, positions: Positions | None = None
) -> ResolvedSettings:
    """Return the settings of what is trained from an older model on.

    They are the older model's. With reconstruction the model is the one that reconstruction trains from it, unless
    ``model`` and ``positions`` say otherwise, without subwords.
    """
    settings = start.settings
    if not reconstructs:
        return settings
    model = model or reconstructed_from(settings)
    positions = positions or settings.positions
    return replace(
        settings,
        model_type=model,
        positions=positions if "positions" in kind_of(model).own else "diagonal",
        subwords=0,
        view_agreement=False,
    )


def count_steps(settings: ResolvedSettings, reconstruction: ReconstructionSettings | None, starts: bool) -> int:
    """Return how many steps training reports, the table's among them; ``starts``: from an older model on."""
    iterations = len(schedule(settings))
    iterations += settings.ibm1_iterations == 0  # the table is a step of its own where it is no iteration of IBM 1
    if reconstruction is not None:
        iterations = reconstruction.mre_iterations + 1 + (0 if starts else iterations)
    members = len(settings.views) + bool(settings.subwords and reconstruction is None)
    return members * (iterations + kind_of(settings.model_type).last_pass)


def _mapped(priors: Priors, lowercase: bool, weights: PriorWeights) -> ViewMapping:
    """Return what maps priors into views; it logs a warning if they have nothing for the words of the first view."""
    looked = False

    def mapped(words: ViewWords) -> ViewPriors:
        nonlocal looked
        found = view_priors(priors, words, lowercase, weights)
        if not looked:
            pairs = int((priors.lexical.keys > 0).all(axis=1).sum())
            if not pairs and len(priors.lexical):
                if not (found.s_null.any() or found.t_null.any()):
                    _log.warning("none of the words that the priors link to <NULL> is one of the text")
            elif pairs and not len(found.keys):
                tell_foreign(pairs)
            elif not pairs and not any(f.any() for f in found.fertilities) and not found.jumps.any():
                _log.warning("the priors have no links, and what else they have weighs nothing (see `prior_fertility`)")
        looked = True
        return found

    return mapped


def train_model(
    bitext: Bitext,
    settings: ResolvedSettings,
    pool: Pool,
    *,
    lowercase: bool = True,
    max_memory: int | None = None,
    start: AlignmentModel | None = None,
    reconstruction: ReconstructionSettings | None = None,
    report: Report | None = None,
    keep_text: bool = True,
    given: GivenPriors = GivenPriors(),  # noqa: B008
    last_pass: LastPass | None = None,
    learned: AlignmentModel | None = None,
) -> AlignmentModel:
    """Train a model of a text; ``given`` counts and ``last_pass`` do not go with reconstruction.

    keep_text: If False, the words of the text may be cut in place where there is one view; see `views.collapse`.
    learned: A model of other text, whose counts are priors, of words and of their pieces.
    """
    if reconstruction is not None:
        reconstructed_from(settings)  # before what takes long
        settings = replace(settings, view_agreement=False)
    cells = cells_within(max_memory, *needed_for_training(bitext, settings, reconstruction is not None, pool.threads))
    views = settings.views
    if not keep_text and len(views) == 1 and views[0] and not settings.subwords:
        collapse(bitext, views[0])
    if start and reconstruction:
        models = warm_start(bitext, start.views, settings, pool)
    else:
        counts = given.priors
        mapped: ViewMapping | None = None
        if counts is not None and len(counts):
            mapped = _mapped(counts, lowercase, given.weights)
        if learned:
            mapped = with_learned(mapped, [one.views for one in learned.chain])
        smoothing = POSITION_SMOOTHING if reconstruction is None else reconstruction.mre_position_smoothing
        old = start.views if start else None
        decide = last_pass if reconstruction is None else None
        models = train(bitext, settings, pool, cells, report, old, mapped, smoothing, decide)
    if reconstruction:
        models, settings = reconstruct(bitext, models, settings, pool, cells, reconstruction, report)
    subwords = None
    if settings.subwords and not reconstruction:
        words = given.of_pieces or Priors()

        def own(source: Subwords, target: Subwords, view: ViewWords) -> ViewPriors:
            return view_priors(
                of_pieces(words, source, target, lowercase), view, False, PriorWeights(prior_lexical=1.0)
            )

        older = [m.subwords for m in learned.chain] if learned else []
        before, known = start.subwords if start else None, own if len(words.lexical) else None
        subwords = train_subwords(bitext, settings, pool, cells, report, before, known, older)
    source, target = bitext.source_vocabulary, bitext.target_vocabulary
    assert isinstance(source, Vocabulary), "the text has words of its own"
    assert isinstance(target, Vocabulary)
    ratio = len(bitext.target.tokens) / max(len(bitext.source.tokens), 1)
    return AlignmentModel(settings, source, target, models, lowercase, ratio, subwords)


# Older models on a new text: the start of reconstruction if it does not start from its own EM


def warm_start(
    bitext: Bitext, models: list[LexicalModel], settings: ResolvedSettings, pool: Pool
) -> list[LexicalModel]:
    """Return models for a text that hold what older models know of its words, with no counts: a start for training.

    Pairs of words that an older model does not have get its value for such pairs. The lexicons' values are
    probabilities up to a factor for each word.
    """
    found, of = [], kind_of(settings.model_type).load()
    for old in models:
        text = view_text(bitext, old.letters)
        words, lexicon = text.words, old.lexicon
        sizes = len(words.s_words), len(words.t_words)
        table, _ = build_table(text.source, text.target, *sizes, pool, settings.keep, settings.p_null)
        both = [lexicon.forward] if lexicon.reverse is lexicon.forward else [lexicon.forward, lexicon.reverse]
        values = old_values(table, words, old, both, lexicon.default)
        s_ones, t_ones = (np.ones(size + 1, np.float32) for size in sizes)
        lexicon = Lexicon(values[0], values[-1], s_ones, t_ones, lexicon.default, lexicon.floors)
        nulls = []
        for side, names, known, null in (
            (text.source, words.s_words, old.words.s_ids, old.s_null),
            (text.target, words.t_words, old.words.t_ids, old.t_null),
        ):
            own, _ = unigrams(side, len(names))  # new words have their share of the text
            for i, word in enumerate(names):
                if word in known:
                    own[i] = null[known[word]]
            nulls.append(own)
        fields = lexical_fields(words, table, lexicon, [], np.zeros(TIERS), *nulls, old.p_null)
        found.append(of.on_text(fields, old, text, settings))
    return found


#: The model of pieces is trained on every n-th sentence pair of a text with more source tokens, on at least so many.
TOKENS = 2_000_000
#: Name of the view in reports of its training.
NAME = "subwords"
PiecePriors: TypeAlias = Callable[[Subwords, Subwords, ViewWords], ViewPriors]


def train_subwords(
    bitext: Bitext,
    settings: ResolvedSettings,
    pool: Pool,
    max_cells: int,
    report: Report | None = None,
    start: SubwordMember | None = None,
    priors: PiecePriors | None = None,
    learned: Sequence[SubwordMember | None] = (),
) -> SubwordMember:
    """Learn ``settings.subwords`` merges of a text's words on each side, and train a model of the pieces.

    start, learned: Cut as the first of them cuts; what they learned is added to the priors.
    priors: Called with how both sides are cut and with the pieces of the text; returns their `ViewPriors`.
    """
    known = [one for one in learned if one is not None]
    before = start or (known[0] if known else None)
    cuts = [before.source, before.target] if before else []
    for side, vocabulary in () if before else bitext.sides:
        words: Sequence[str] = vocabulary.words()
        counts = np.bincount(side.tokens, minlength=len(words)).tolist()
        cuts.append(learn_subwords(words, counts, settings.subwords))
    steps = max(1, len(bitext.source.tokens) // TOKENS)
    if steps > 1:
        source, target = (Side(s.tokens, s.offsets) for s in step_text(bitext.source, bitext.target, steps, 0))
        bitext = replace(bitext, source=source, target=target)
    sides, vocabularies = [], []
    for (side, vocabulary), subwords in zip(bitext.sides, cuts, strict=True):
        arrays, new = numbered(side, vocabulary, subwords, {"": 0})
        sides.append(arrays)
        vocabularies.append(Vocabulary.from_words(new))
    source, target = cut_sides(*sides)
    pieces = Bitext(source, target, vocabularies[0], vocabularies[1], Skipped())
    # Half of the sweeps cost hardly any quality: a text has more pieces than words, and fewer different ones.
    own = replace(settings, views=(0,), subwords=0, sweeps=max(3, settings.sweeps // 2))
    of_pieces = (lambda figures: report(figures | {"view": NAME})) if report else None
    given: ViewMapping | None = partial(priors, cuts[0], cuts[1]) if priors else None
    if known:
        given = with_learned(given, [[one.model] for one in known])
    (model,) = train(pieces, own, pool, max_cells, of_pieces, [start.model] if start else None, given)
    return SubwordMember(cuts[0], cuts[1], model)


#: Links that the model expects less often are left out.
FEWEST = 0.3


def added(one: ViewPriors, other: ViewPriors, larger: bool = False) -> ViewPriors:
    """Return the sum of two priors of a view; ``larger``: the larger of what both have of a pair."""
    keys, places = np.unique(np.concatenate([one.keys, other.keys]), return_inverse=True)
    alphas = np.zeros(len(keys), np.float32)
    (np.maximum if larger else np.add).at(alphas, places, np.concatenate([one.alphas, other.alphas]))
    return ViewPriors(
        keys,
        alphas,
        one.s_null + other.s_null,
        one.t_null + other.t_null,
        [a + b for a, b in zip(one.fertilities, other.fertilities, strict=True)],
        one.jumps + other.jumps,
    )


def with_learned(mapped: ViewMapping | None, chain: Sequence[Sequence[LexicalModel]]) -> ViewMapping:
    """Return what maps priors into a view, with what models of other text learned.

    chain: A model's views, those of the one that it was adapted from, and so on. What a later one counted has what
        those before it counted of its words.
    """

    def both(words: ViewWords) -> ViewPriors:
        own = learned_priors(chain[0], words)
        for views in chain[1:]:
            own = added(own, learned_priors(views, words), larger=True)
        return own if mapped is None else added(mapped(words), own)

    return both


def learned_priors(models: Sequence[LexicalModel], words: ViewWords) -> ViewPriors:
    """Map what a model of other text learned of links into a view: the mean of both directions' counts.

    models: The model of the view itself is taken, or else that of the longest words.
    Fertilities and jumps are left out.
    """
    old = min(models, key=lambda m: (m.letters != words.letters, -(m.letters or np.inf)))
    found = old.word_links()
    forward, reverse = (old.counts[0], old.counts[-1]) if found is None else found.pairs
    counts = (forward + reverse) * np.float32(0.5)
    kept = counts >= FEWEST
    rows = np.repeat(np.arange(old.table.n_source), np.diff(old.table.ptr))[kept]
    columns, counts = old.table.ids[kept], counts[kept]
    letters = old.letters, words.letters
    s_starts, s_ids = _same_words(old.words.s_words, words.s_words, *letters)
    t_starts, t_ids = _same_words(old.words.t_words, words.t_words, *letters)
    high, wide = np.diff(s_starts)[rows], np.diff(t_starts)[columns]
    of = np.repeat(np.arange(len(rows)), high * wide)
    place = np.arange(len(of)) - np.repeat(np.cumsum(high * wide) - high * wide, high * wide)
    n_s, n_t = len(words.s_words), len(words.t_words)
    s = s_ids[s_starts[rows[of]] + place // wide[of]].astype(np.int64)
    t = t_ids[t_starts[columns[of]] + place % wide[of]]
    keys, places = np.unique(s * n_t + t, return_inverse=True)
    alphas = np.bincount(places, counts[of] / np.maximum(high, wide)[of], len(keys)).astype(np.float32)
    return ViewPriors(
        keys,
        alphas,
        np.zeros(n_s + 1),
        np.zeros(n_t + 1),
        [np.zeros((n, kc.FERTILITIES), np.float32) for n in (n_s, n_t)],
        np.zeros((2, 2 * kc.JUMPS + 1)),
    )


def _same_words(old: list[str], new: list[str], old_letters: int, letters: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where each old word's new words begin, and these: of words that are the same after the shorter cut."""
    shorter = min(filter(None, (old_letters, letters)), default=0)
    ids: dict[str, int] = {}
    names = [[ids.setdefault(cut(word, shorter), len(ids)) for word in words[1:]] for words in (old, new)]
    order = np.argsort(np.array(names[1], np.int64), kind="stable")
    sizes = np.bincount(np.array(names[1], np.int64), minlength=len(ids))
    begins = np.cumsum(sizes) - sizes
    of_old = np.array(names[0], np.int64)
    counts = np.concatenate([[0], sizes[of_old]])
    starts = np.concatenate([[0], np.cumsum(counts)])
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], counts)
    return starts, order[np.repeat(np.concatenate([[0], begins[of_old]]), counts) + place] + 1
