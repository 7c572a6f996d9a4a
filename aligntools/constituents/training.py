"""Training a grammar from trees."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from aligntools.constituents.learning import Report, learn
from aligntools.constituents.model import ConstituentModel
from aligntools.constituents.settings import GrammarSettings
from aligntools.constituents.treebank import Treebank, treebank
from aligntools.formats.annotation.brackets import Tree
from aligntools.ground.parallel import Pool


def train(
    trees: Sequence[Tree],
    settings: GrammarSettings | None = None,
    pool: Pool | None = None,
    report: Report | None = None,
    about: dict[str, Any] | None = None,
) -> ConstituentModel:
    """Learn a grammar of trees.

    trees: Not empty, without functions and traces (`brackets.plain`) and repeats (`binarization.without_repeats`).
    report: Called with the name of a stage (``split``, ``merged``, ``smoothed``) and figures, in each iteration of EM.
    about: Kept in the model with the settings.
    """
    settings = settings or GrammarSettings()
    bank = treebank(trees, settings.siblings, settings.labels)
    own, *others = (_member(bank, settings, number, pool, report) for number in range(settings.members))
    return replace(own, settings=settings.header() | (about or {}), others=tuple(others))


def _member(
    bank: Treebank, settings: GrammarSettings, number: int, pool: Pool | None, report: Report | None
) -> ConstituentModel:
    """Return a member of a product of grammars; they differ by their seeds (Petrov 2010)."""

    def tell(stage: str, figures: dict[str, float]) -> None:
        if report is not None:
            report(stage, figures | ({"member": number + 1} if settings.members > 1 else {}))

    state, frequencies = learn(bank, replace(settings, seed=settings.seed + number), pool, tell)
    return ConstituentModel(state.grammar, frequencies, state.lexicon)
