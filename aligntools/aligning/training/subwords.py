"""Training the model of pieces of words, a member of an alignment model."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from aligntools.aligning.settings import ResolvedSettings
from aligntools.aligning.subword_member import SubwordMember, as_bitext, numbered
from aligntools.aligning.text.subwords import Subwords, cut_sides, learn_subwords
from aligntools.aligning.text.views import ViewWords
from aligntools.aligning.training.learned_priors import with_learned
from aligntools.aligning.training.stages import train
from aligntools.aligning.training.stepwise import step_text
from aligntools.aligning.training.view_priors import ViewMapping, ViewPriors
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Report
from aligntools.words.vocabulary import AnyVocabulary, Vocabulary

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
    learned: SubwordMember | None = None,
) -> SubwordMember:
    """Learn to cut a text's words, and train a model of the pieces.

    settings: ``subwords`` is how many merges are learned on each side.
    max_cells: Link-matrix cells worked at a time.
    report: See `stages.train`.
    start: Go on from it: cut as it cuts, and add what it learned to the priors.
    priors: Called with how both sides are cut and with the pieces of the text; returns their `ViewPriors`.
    learned: Of other text: cut as it cuts, and take what it learned for priors.
    """
    before = start or learned
    cuts = (
        [before.source, before.target]
        if before
        else [
            _learned(getattr(bitext, name), getattr(bitext, f"{name}_vocabulary"), settings.subwords)
            for name in ("source", "target")
        ]
    )
    steps = max(1, len(bitext.source.tokens) // TOKENS)
    if steps > 1:
        source, target = (Side(s.tokens, s.offsets) for s in step_text(bitext.source, bitext.target, steps, 0))
        bitext = replace(bitext, source=source, target=target)
    sides, vocabularies = [], []
    for name, subwords in zip(("source", "target"), cuts, strict=True):
        arrays, new = numbered(getattr(bitext, name), getattr(bitext, f"{name}_vocabulary"), subwords, {"": 0})
        sides.append(arrays)
        vocabularies.append(Vocabulary.from_words(new))
    pieces = as_bitext(cut_sides(*sides), *vocabularies)
    # Half of the sweeps cost hardly any quality: a text has more pieces than words, and fewer different ones.
    own = replace(settings, views=(0,), subwords=0, sweeps=max(3, settings.sweeps // 2))
    told = (lambda figures: report(figures | {"view": NAME})) if report else None
    given: ViewMapping | None = partial(priors, cuts[0], cuts[1]) if priors else None
    if learned:
        given = with_learned(given, [learned.model])
    (model,) = train(pieces, own, pool, max_cells, told, [start.model] if start else None, given)
    return SubwordMember(cuts[0], cuts[1], model)


def _learned(side: Side, vocabulary: AnyVocabulary, merges: int) -> Subwords:
    words: Sequence[str] = vocabulary.words()
    return learn_subwords(words, np.bincount(side.tokens, minlength=len(words)).tolist(), merges)
