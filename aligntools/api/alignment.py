"""Word alignment from Python: reading parallel text, training aligners, aligning a text at once."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from aligntools.aligning.settings import (
    MRE_PRESETS,
    AlignerSettings,
    DecisionSettings,
    Decoder,
    Flavor,
    ModelType,
    PriorWeights,
    ReconstructionSettings,
    Symmetrization,
)
from aligntools.api.aligner import Aligner, check_lengths
from aligntools.api.alignments import Alignments
from aligntools.api.priors import SomePriors, read_priors
from aligntools.api.progress import Progress, Step, reporter
from aligntools.api.texts import InputFormat, Sentences, Split, paths_of
from aligntools.api.threads import pool_of
from aligntools.api.training_links import TrainingLinks
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import check

if TYPE_CHECKING:
    from aligntools.aligning.contrastive.rounds import Rounds
    from aligntools.formats.corpus import Bitext
    from aligntools.formats.pharaoh import Links
    from aligntools.ground.parallel import Pool

_SETTINGS, _DECISIONS, _RECONSTRUCTION = AlignerSettings(), DecisionSettings(), ReconstructionSettings()
_log = logging.getLogger("aligntools")
_STEPS = {
    f"mre_{name}": getattr(_RECONSTRUCTION, name)
    for name in ("iterations", "smoothing", "positions", "null", "position_smoothing")
}
_START = {
    "model_type": "hmm", "positions": _SETTINGS.positions, "estimator": _SETTINGS.estimator,
    "agreement": _SETTINGS.joint, "tension": _SETTINGS.tension,
}  # fmt: skip
_WEIGHTS = PriorWeights()
#: Pairs without words above which these are left out of training, where they are most of a text: each takes memory.
MANY_BLANK = 1_000_000


def read_bitext(
    source: Sentences, target: Sentences | None = None, *, case_sensitive: bool = False,
    max_length: int = 2000, strict: bool = False, tab_separates: bool = False, input_format: InputFormat = "auto",
    split: Split = "spaces",
) -> "Bitext":  # fmt: skip
    """Read parallel text.

    Parameters
    ----------
    source, target : str or path (files), or iterables of sentences
        Two line-aligned files, or one with ``' ||| '`` or a tab between the sides; plain, .gz, .bz2, .xz, .zst; ``-``
        is standard input.
    case_sensitive : bool
        Keep upper and lower case apart.
    max_length : int
        A pair with a longer side becomes empty, as one with a blank side, with bytes that are not UTF-8, or a line
        without its one separator does; ``skipped`` counts them.
    strict : bool
        Raise an error there instead.
    tab_separates : bool
        In one file a tab separates the sides as ``' ||| '`` does, on any line.
    input_format : str
        What separates the sides in one file: ``joint`` is ``' ||| '``, ``tsv`` one tab. ``auto`` is ``tsv`` where the
        first line with words has one tab, words on both sides of it, and no ``' ||| '``; this is logged.
    split : str
        What separates words: ``spaces``, which is spaces and tabs, or ``unicode``, all white space at which Python's
        `str.split` splits. Lists of words are split already.

    Returns
    -------
    Bitext
        Word ids of both sides and their vocabularies; its length is the number of pairs.

    Raises
    ------
    DataError
        When a file cannot be read, is empty, or has fewer lines than the other; when all of the first 1,000 lines of
        one file are without their separator, or more than 1 in 100 and at least 5, or no line is a pair.

    Examples
    --------
    >>> import aligntools as at
    >>> len(at.read_bitext("data/samples/de-en.de", "data/samples/de-en.en"))
    240
    """
    from aligntools.formats import bitext
    from aligntools.formats.white_space import SPLITS, split_of

    found = bitext.read_bitext(
        **paths_of(source, target, split),
        lowercase=not case_sensitive,
        max_length=max_length,
        strict=strict,
        input_format="either" if tab_separates else input_format,
    )
    found.splitting = split_of(source) if split == SPLITS[0] else split
    return found


def aligner_settings(
    *, model_type: ModelType = "fertility", fast: bool = False, direction: str = _SETTINGS.direction,
    estimator: str = _SETTINGS.estimator, agreement: bool = _SETTINGS.joint, look_alike: bool = _SETTINGS.look_alike,
    views: Sequence[int] | None = _SETTINGS.views, ibm1_iterations: int = _SETTINGS.ibm_iterations,
    iterations: int | None = _SETTINGS.model_iterations, sweeps: int | None = _SETTINGS.sweeps,
    alpha: float = _SETTINGS.alpha, p_null: float = _SETTINGS.p_null, tension: float = _SETTINGS.tension,
    positions: str = _SETTINGS.positions, seed: int = _SETTINGS.seed, subwords: int | None = _SETTINGS.subwords,
    view_agreement: bool | None = _SETTINGS.view_agreement,
) -> AlignerSettings:  # fmt: skip
    """Return the settings that the options of `train_aligner` mean."""
    chosen = tuple(views) if views is not None else None
    if fast:
        chosen = chosen or (5,)
    if (fast or direction != "both") and model_type == "fertility":
        model_type = "hmm"
    return AlignerSettings(
        model=model_type, estimator=estimator, joint=agreement and direction == "both", direction=direction,
        look_alike=look_alike, views=chosen, ibm_iterations=ibm1_iterations, model_iterations=iterations,
        sweeps=sweeps, alpha=alpha, p_null=p_null, tension=tension, positions=positions, seed=seed,
        subwords=subwords, view_agreement=view_agreement,
    )  # fmt: skip


def tell_unused(settings: AlignerSettings) -> None:
    """Log which settings were chosen that change nothing in the model that is trained."""
    for name, about in settings.unused().items():
        _log.warning("%s changes nothing: %s", name, about)


def train_aligner(
    sources: "Sentences | Bitext", targets: Sentences | None = None, *, model_type: ModelType = "fertility",
    fast: bool = False, direction: Literal["both", "forward", "reverse"] = "both",
    estimator: Literal["vb", "em"] = "vb", agreement: bool = _SETTINGS.joint,
    look_alike: bool = _SETTINGS.look_alike, views: Sequence[int] | None = _SETTINGS.views,
    ibm1_iterations: int = _SETTINGS.ibm_iterations, iterations: int | None = _SETTINGS.model_iterations,
    sweeps: int | None = _SETTINGS.sweeps, alpha: float = _SETTINGS.alpha, p_null: float = _SETTINGS.p_null,
    tension: float = _SETTINGS.tension, positions: Literal["diagonal", "table"] = "diagonal",
    init_model: "Aligner | None" = None, case_sensitive: bool = False, max_length: int = 2000, strict: bool = False,
    split: Split = "spaces", max_memory: int | None = None, seed: int = _SETTINGS.seed,
    threads: "int | Pool | None" = None, keep_text: bool = True, progress: Progress = None,
    priors: "SomePriors | None" = None, prior_lexical: float = _WEIGHTS.lexical,
    prior_fertility: float = _WEIGHTS.fertility, prior_jumps: float = _WEIGHTS.jumps,
    links: TrainingLinks | None = None,
    subwords: int | None = _SETTINGS.subwords, view_agreement: bool | None = _SETTINGS.view_agreement,
    best: bool = False,
) -> Aligner:  # fmt: skip
    """Train an aligner: both directions together, as ``aligntools align`` does.

    IBM 1, then IBM 2 or the HMM (Vogel, Ney & Tillmann 1996; agreement: Liang, Taskar & Klein 2006; variational
    Bayes: Riley & Gildea 2012), then a sampler over jumps and fertilities (after Östling & Tiedemann 2016), for
    several views of the words, whose posteriors are averaged.

    Parameters
    ----------
    sources, targets : iterables of str or of lists of str, or files (str or path)
        As many sentences of each. ``sources`` alone: a file with ``' ||| '`` between the sides, a `Bitext`, or pairs:
        tuples of two sentences.
    model_type : str
        ``fertility`` (the sampler, from the HMM on), ``hmm``, ``ibm2`` or ``ibm1``.
    fast : bool
        Stop at the HMM, one view of the text: quickest.
    direction : str
        Train one direction alone (no ``fertility``).
    estimator : str
        Variational Bayes (``vb``) or maximum likelihood (``em``).
    agreement : bool
        Train the directions jointly.
    look_alike : bool
        Expect words that look alike to be translations, as far as the text bears it out.
    views : sequence of int or None
        Views to average: 0 whole words, n their first n letters. None chooses by the size of the text.
    ibm1_iterations, iterations, sweeps : int
        Iterations of IBM 1, of the HMM or IBM 2, sweeps of the sampler. None chooses by model and size.
    alpha : float
        Dirichlet prior of a pair of words (``vb``).
    p_null : float
        Probability of NULL.
    tension : float
        Start of IBM 2's diagonal tension (Dyer, Chahuneau & Smith 2013).
    positions : str
        IBM 2's prior over positions: the ``diagonal``, or a ``table`` p(m | n, M, N).
    init_model : Aligner or None
        Go on training from this model, with its settings.
    case_sensitive : bool
        Keep upper and lower case apart.
    max_length : int
        A pair with a longer side is left out, as one with a blank side is.
    strict : bool
        Raise an error there instead.
    split : str
        As for `read_bitext`.
    max_memory : int or None
        Bytes.
    seed : int
        The same seed gives the same model.
    threads : int or None
        None: all cores. The result does not depend on it.
    keep_text : bool
        False lets training cut the words of a `Bitext` in place, which saves its memory once more; that text then
        serves this aligner alone.
    progress : callable, True or None
        Called with a `Step` after each iteration; True shows a tqdm bar.
    priors : str, path, Priors, iterable of these, or None
        Counts of links, fertilities and jumps in other text (see `read_priors`, `count_priors`), which the text's own
        are added to: pseudo-counts of Dirichlet priors. They need not be of this text's words.
    prior_lexical, prior_fertility, prior_jumps : float
        What one of these counts weighs beside one of the text.
    links : TrainingLinks or None
        Takes the links of the text as training finds them, where it does: in a text of over six million words.
    subwords : int or None
        Align pieces of words too, which so many merges make on each side (byte-pair encoding), and let them have their
        say; 0 for no pieces. None: 3,000 in text of up to 3.5 million words, where neither ``views`` nor ``priors`` are
        given.
    view_agreement : bool or None
        Let the HMM of each view learn from what all views find. None: in text of up to 3.5 million words, where several
        views are trained, both directions together.
    best : bool
        Fewer errors, in several times the time. A text of up to 100,000 pairs is trained on twice, the second time with
        the links that the contrastive aligner's network finds as priors, unless ``init_model`` or ``priors`` are given;
        one of over 3.5 million words gets the views and pieces of words that smaller ones have.

    Returns
    -------
    Aligner

    Raises
    ------
    DataError
        When the sides do not have the same number of sentences.
    ResourceError
        When ``max_memory`` is too little.
    UsageProblem
        When options exclude each other.

    Examples
    --------
    >>> import aligntools as at
    >>> model = at.train_aligner(["das haus", "das buch", "ein buch"], ["the house", "the book", "a book"])
    >>> model.align("ein haus", "a house").links
    [(0, 0), (1, 1)]
    """
    if fast and best:
        raise UsageProblem("fast is for less time and best for fewer errors; choose one of them")
    settings = aligner_settings(
        model_type=model_type, fast=fast, direction=direction, estimator=estimator, agreement=agreement,
        look_alike=look_alike, views=views, ibm1_iterations=ibm1_iterations, iterations=iterations, sweeps=sweeps,
        alpha=alpha, p_null=p_null, tension=tension, positions=positions, seed=seed, subwords=subwords,
        view_agreement=view_agreement,
    )  # fmt: skip
    if init_model is None:
        tell_unused(settings)
    return train_with(
        sources, targets, init_model.settings if init_model else settings, init_model=init_model,
        case_sensitive=case_sensitive, max_length=max_length, strict=strict, split=split, max_memory=max_memory,
        threads=threads, keep_text=keep_text, progress=progress, priors=priors,
        weights=PriorWeights(prior_lexical, prior_fertility, prior_jumps), links=links, best=best,
    )  # fmt: skip


def _chosen(defaults: dict[str, Any], preset: str | None, **given: Any) -> dict[str, Any]:
    """Return what is given, and for what is None the preset's or the default."""
    if preset is not None and preset not in MRE_PRESETS:
        raise UsageProblem(f"no such preset: {preset}; choose one of {', '.join(MRE_PRESETS)}")
    instead = defaults | {k: v for k, v in MRE_PRESETS.get(preset or "", {}).items() if k in defaults}
    return {name: instead[name] if value is None else value for name, value in given.items()}


def train_mre_aligner(
    sources: "Sentences | Bitext", targets: Sentences | None = None, *,
    preset: Literal["paper"] | None = None, model_type: Literal["ibm2", "hmm"] | None = None,
    mre_iterations: int | None = None, mre_smoothing: float | None = None, mre_position_smoothing: float | None = None,
    mre_positions: bool | None = None, mre_null: bool | None = None,
    direction: Literal["both", "forward", "reverse"] = "both", estimator: Literal["vb", "em"] | None = None,
    agreement: bool | None = None, look_alike: bool = _SETTINGS.look_alike, views: Sequence[int] | None = (0,),
    ibm1_iterations: int = _SETTINGS.ibm_iterations, iterations: int | None = _SETTINGS.model_iterations,
    alpha: float = _SETTINGS.alpha, p_null: float = _SETTINGS.p_null, tension: float | None = None,
    positions: Literal["diagonal", "table"] | None = None, init_model: "Aligner | None" = None,
    case_sensitive: bool = False, max_length: int = 2000, strict: bool = False, split: Split = "spaces",
    max_memory: int | None = None,
    seed: int = _SETTINGS.seed, threads: "int | Pool | None" = None, keep_text: bool = True, progress: Progress = None,
) -> Aligner:  # fmt: skip
    """Train an aligner by maximum reconstruction estimation (Cheng, Liu & Xu 2017), from where EM ends.

    Parameters
    ----------
    preset : str or None
        ``paper`` makes of what is None below what the paper describes (`MRE_PRESETS`): IBM 2 with a table of positions
        that begins uniform, EM without agreement, 50 steps, positions and NULL's words trained too, nothing smoothed.
        After ``init_model`` that is only what is of reconstruction itself.
    model_type : str or None
        ``hmm`` or ``ibm2``; None: the HMM, or what ``init_model`` is nearest to. An ``ibm2``
        trained without agreement aligns best with ``symmetrize="grow-diag-final-and"``, which the command takes then.
    mre_iterations : int or None
        Steps of exponentiated gradient, after the iterations of EM. None: 8.
    mre_smoothing : float or None
        Uses that each word is given beforehand, spread as the text's words are. None: 20 after EM, 0 after
        variational Bayes.
    mre_position_smoothing : float or None
        Uses that each distribution over positions (``table``) is given beforehand, in EM too. None: 50.
    mre_positions : bool or None
        Train jumps or positions too, not the words alone. None: no.
    mre_null : bool or None
        Train the words of NULL too. None: after variational Bayes.
    estimator, agreement, tension
        None: those of `train_aligner`.
    init_model : Aligner or None
        Start from this model instead of from EM; its settings hold, but for ``model_type`` and ``positions``.

    The other parameters, what is returned and what is raised are those of `train_aligner`.

    Examples
    --------
    >>> import aligntools as at
    >>> model = at.train_mre_aligner(["das haus", "das buch", "ein buch"], ["the house", "the book", "a book"])
    >>> str(model.align("ein haus", "a house"))
    '0-0 1-1'
    """
    steps = _chosen(
        _STEPS, preset, mre_iterations=mre_iterations, mre_smoothing=mre_smoothing, mre_positions=mre_positions,
        mre_null=mre_null, mre_position_smoothing=mre_position_smoothing,
    )  # fmt: skip
    how = ReconstructionSettings(**{name.removeprefix("mre_"): value for name, value in steps.items()})
    if init_model:
        from aligntools.aligning.training.train_model import settings_after

        settings = settings_after(init_model.model, True, model_type, positions)
    else:
        if model_type == "hmm":  # which has no table
            positions, tension = positions or "diagonal", _SETTINGS.tension if tension is None else tension
        start = _chosen(
            _START, preset, model_type=model_type, positions=positions, estimator=estimator, agreement=agreement,
            tension=tension,
        )  # fmt: skip
        settings = aligner_settings(
            **start, direction=direction, look_alike=look_alike, views=views, ibm1_iterations=ibm1_iterations,
            iterations=iterations, alpha=alpha, p_null=p_null, seed=seed,
        )  # fmt: skip
        tell_unused(settings)
    return train_with(
        sources, targets, settings, init_model=init_model, reconstruction=how, case_sensitive=case_sensitive,
        max_length=max_length, strict=strict, split=split, max_memory=max_memory, threads=threads, keep_text=keep_text,
        progress=progress,
    )  # fmt: skip


def train_with(
    sources: "Sentences | Bitext", targets: Sentences | None, settings: AlignerSettings, *,
    init_model: Aligner | None = None, reconstruction: ReconstructionSettings | None = None,
    case_sensitive: bool = False, max_length: int = 2000, strict: bool = False, split: Split = "spaces",
    max_memory: int | None = None, threads: "int | Pool | None" = None, keep_text: bool = True,
    progress: Progress = None, priors: "SomePriors | None" = None, weights: PriorWeights = _WEIGHTS,
    links: TrainingLinks | None = None,
    best: bool = False, rounds: "Rounds | None" = None,
) -> Aligner:  # fmt: skip
    """Train an aligner with settings made elsewhere; see `train_aligner` for the parameters.

    ``rounds`` are those of the contrastive aligner's base model; with ``best`` there are two where they help.
    """
    from aligntools.aligning.training.train_model import count_steps, train_model
    from aligntools.formats.corpus import Bitext, without_blanks

    check(weights, {name: f"prior_{name}" for name in PriorWeights.RANGES})
    counts = read_priors(priors) if priors is not None else None  # before what takes long
    start = init_model.model if init_model else None
    lowercase = start.lowercase if start else not case_sensitive
    if isinstance(sources, Bitext):
        bitext = sources
    else:
        bitext = read_bitext(
            sources, targets, case_sensitive=not lowercase, max_length=max_length, strict=strict, split=split
        )  # fmt: skip
        keep_text = False
    check_lengths(bitext)
    splitting = bitext.splitting
    if bitext.skipped.total > max(MANY_BLANK, len(bitext) // 2):
        bitext, keep_text, links = without_blanks(bitext), True, None  # the words are shared with the whole text
    if counts is not None and len(counts) and settings.subwords is None:  # pieces would not know of what words have
        settings = replace(settings, subwords=0)
    settings = settings.resolved(len(bitext.source.tokens), best)
    if best and start is None and counts is None:
        from aligntools.aligning.contrastive.rounds import best_rounds

        rounds = best_rounds(settings, len(bitext))
    again = rounds.count - 1 if rounds else 0
    total, done, tell = count_steps(settings, reconstruction, start is not None), 0, reporter(progress)
    total += again * count_steps(settings, None, False)

    def report(figures: dict[str, Any]) -> None:
        nonlocal done
        done += 1
        tell(Step(figures["stage"], done, total, figures))

    with pool_of(threads) as pool:
        model = train_model(
            bitext, settings, pool, lowercase=lowercase, max_memory=max_memory, start=start,
            reconstruction=reconstruction, report=report, keep_text=keep_text or again > 0, priors=counts,
            weights=weights, last_pass=links.last_pass(bitext.skipped) if links and not again else None,
        )  # fmt: skip
        if rounds is not None:
            from aligntools.aligning.contrastive.candidates import CandidateFinder
            from aligntools.aligning.contrastive.rounds import count_found, train_again

            for left in reversed(range(again)):
                found = count_found(CandidateFinder(model, pool, rounds.judge), bitext)
                del model  # its memory serves the next one
                model = train_again(
                    found, settings, bitext, pool, lowercase, report, max_memory=max_memory,
                    keep_text=keep_text or left > 0,
                )  # fmt: skip
    return Aligner(replace(model, split=splitting))


def align(
    sources: "Sentences | Bitext", targets: Sentences | None = None, *,
    symmetrize: Symmetrization = _DECISIONS.symmetrize, flavor: Flavor = _DECISIONS.flavor,
    decode: Decoder = _DECISIONS.decode, threshold: float | None = _DECISIONS.threshold,
    case_sensitive: bool = False, max_length: int = 2000, strict: bool = False, split: Split = "spaces",
    threads: "int | Pool | None" = None, **options: Any,
) -> Alignments:  # fmt: skip
    """Train an aligner on a text and align that text: one alignment for each pair.

    Parameters
    ----------
    sources, targets, case_sensitive, max_length, strict, split, threads
        As for `train_aligner`.
    symmetrize, flavor, decode, threshold
        As for `Aligner.align_batch`.
    **options
        The other options of `train_aligner`.

    Returns
    -------
    Alignments
        A sequence of `Alignment`; its arrays hold all links.

    Examples
    --------
    >>> import aligntools as at
    >>> found = at.align(["das haus", "das buch", "ein buch"], ["the house", "the book", "a book"], fast=True)
    >>> [str(a) for a in found]
    ['0-0 1-1', '0-0 1-1', '0-0 1-1']
    """
    from aligntools.formats.corpus import Bitext, Skipped
    from aligntools.formats.pharaoh import Links, concatenate

    whole = isinstance(sources, Bitext)
    bitext = (
        sources
        if isinstance(sources, Bitext)
        else read_bitext(
            sources, targets, case_sensitive=case_sensitive, max_length=max_length, strict=strict, split=split
        )
    )
    init = options.get("init_model")
    if init is not None:
        case_sensitive = not init.model.lowercase
    how: Any = {"symmetrize": symmetrize, "flavor": flavor, "decode": decode, "threshold": threshold}
    blocks: list[Alignments] = []
    trained = options.get("direction", "both") if init is None else init.settings.direction
    links = TrainingLinks(blocks.append, **how, trained=trained)
    aligner = train_aligner(
        bitext, case_sensitive=case_sensitive, threads=threads, keep_text=whole, links=links, **options
    )
    if not links.found:
        blocks = list(aligner.align_blocks(bitext, **how, threads=threads))
    skipped = Skipped()
    for block in blocks:
        skipped.add(block.skipped)

    def joined(tables: "list[Links | None]") -> "Links | None":
        known = [table for table in tables if table is not None]
        return concatenate(known) if len(known) == len(tables) else None

    if not blocks:
        none = Links(np.empty((0, 2), np.int32), np.zeros(1, np.int64))
        return Alignments(
            none, np.empty(0, np.float32), none, none, np.empty((2, 0)), np.empty((2, 0), np.int64), skipped
        )
    return Alignments(
        concatenate([b.table for b in blocks]), np.concatenate([b.probabilities for b in blocks]),
        joined([b.forward_table for b in blocks]), joined([b.reverse_table for b in blocks]),
        np.concatenate([b.log_likelihood for b in blocks], axis=1), np.concatenate([b.lengths for b in blocks], axis=1),
        skipped,
    )  # fmt: skip
