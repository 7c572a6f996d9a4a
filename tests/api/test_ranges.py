"""Settings of the API are within the ranges that the commands show."""

import dataclasses
import math

import numpy as np
import pytest

from aligntools.aligning.contrastive.settings import ContrastiveSettings
from aligntools.aligning.settings import AlignerSettings, Decisions, ReconstructionSettings
from aligntools.ground.declarations import declared
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.parsing.settings import ParserSettings, TransferSettings
from aligntools.tagging.settings import InductionSettings, TaggerSettings, TagSmoothing
from aligntools.translating.settings import (
    DecoderSettings,
    ExtractionSettings,
    ImputationSettings,
    LanguageModelSettings,
    TuningSettings,
)

CHECKS = {
    AlignerSettings: lambda s: s.resolved(1000), ReconstructionSettings: lambda s: s.resolved("vb"),
    Decisions: Decisions.checked, ContrastiveSettings: ContrastiveSettings.checked,
    ParserSettings: ParserSettings.checked, TransferSettings: TransferSettings.checked,
    TaggerSettings: TaggerSettings.checked, InductionSettings: InductionSettings.checked,
    LanguageModelSettings: LanguageModelSettings.checked, ExtractionSettings: ExtractionSettings.checked,
    DecoderSettings: DecoderSettings.checked, ImputationSettings: ImputationSettings.checked,
    TuningSettings: TuningSettings.checked, TagSmoothing: TagSmoothing.checked,
}  # fmt: skip


def ranges_of(kind):
    """Return the ranges of a class's numbers, declared with its fields."""
    found = {name: one.option.allowed for name, one in declared(kind).items() if not one.several}
    return {name: allowed for name, allowed in found.items() if allowed is not None}


@pytest.mark.parametrize("kind", CHECKS, ids=lambda kind: kind.__name__)
def test_settings_outside_their_ranges_are_refused(kind):
    CHECKS[kind](kind())
    numbers = {f.name for f in dataclasses.fields(kind) if str(f.type).split(" |")[0] in ("int", "float")}
    numbers |= {f.name for f in dataclasses.fields(kind) if f.type in (int, float)}
    ranges = ranges_of(kind)
    assert numbers == set(ranges), "every number has a range"
    for name, allowed in ranges.items():
        for value in (math.nan, math.inf, -math.inf, 1e300, 10**30, -1e4, allowed.high * 2, "1", True):
            with pytest.raises(UsageProblem, match="must be"):
                CHECKS[kind](dataclasses.replace(kind(), **{name: value}))
        good = np.int64(allowed.low + 1) if allowed.whole else np.float64((allowed.low + allowed.high) / 2)
        assert good in allowed


def test_threads_are_counted():
    for threads in (0, -1, 10**30, 1.5):
        with pytest.raises(UsageProblem, match="threads must be a whole number from 1"), pool_of(threads):
            pass
