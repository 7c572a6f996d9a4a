"""Weights of a translation system learned from files."""

from collections.abc import Sequence
from dataclasses import dataclass

from aligntools.api.running.progress import Progress
from aligntools.api.translate.tuning import tune
from aligntools.formats.text.reading import Loading, Splitting
from aligntools.ground.running import Run
from aligntools.translating.settings import DecoderSettings, ImputationSettings, TuningSettings


@dataclass(frozen=True)
class TuningFiles:
    """Files that are read and written; None for what is not.

    grammar, lm: The system's.
    output: The weights.
    supervised: Source text with references.
    references: Its translations.
    monolingual: Target text whose source is imputed.
    reverse_grammar, reverse_lm, reverse_weights: The system that imputes it.
    start: Weights to begin with.
    tags: Tagged target text.
    checkpoint: A folder that keeps the state of each round.
    """

    grammar: str
    lm: str
    output: str
    supervised: str | None = None
    references: Sequence[str] = ()
    monolingual: Sequence[str] = ()
    reverse_grammar: str | None = None
    reverse_lm: str | None = None
    reverse_weights: str | None = None
    start: str | None = None
    tags: str | None = None
    checkpoint: str | None = None


def tune_by_files(
    files: TuningFiles,
    settings: TuningSettings,
    imputation: ImputationSettings,
    decoding: DecoderSettings,
    run: Run,
    *,
    splitting: Splitting,
    loading: Loading,
    progress: Progress = None,
) -> None:
    """Learn weights, and write them; see `tune`.

    Raises UsageProblem when files and settings do not go together. Raises DataError when a file cannot be read or
    written.
    """
    tune(
        files.grammar,
        files.lm,
        files.supervised,
        files.references,
        settings,
        monolingual=files.monolingual,
        reverse_grammar=files.reverse_grammar,
        reverse_lm=files.reverse_lm,
        reverse_weights=files.reverse_weights,
        imputation=imputation,
        decoding=decoding,
        start=files.start,
        tags=files.tags,
        checkpoint=files.checkpoint,
        split=splitting.split,
        verify=loading.verify,
        run=run,
        progress=progress,
    ).save(files.output)
