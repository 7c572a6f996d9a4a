"""Word alignment from Python: reading parallel text, training aligners, aligning a text at once."""

import logging
import os
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, Unpack

from aligntools.aligning.aligner import Aligner, check_loaded
from aligntools.aligning.aligner_training import settings_of_new_text, tell_unused, train_with
from aligntools.aligning.alignments import Alignments, joined
from aligntools.aligning.evidence import EvidenceOptions, TextEvidence, ask, summary
from aligntools.aligning.evidence_kinds import SETTINGS
from aligntools.aligning.models import registry
from aligntools.aligning.priors import SomePriors, WeightedPriors
from aligntools.aligning.settings import (
    MRE_PRESETS,
    AlignerSettings,
    Decisions,
    PriorWeights,
    ReconstructionSettings,
    Symmetrization,
)
from aligntools.aligning.training.sampling import LastPass
from aligntools.formats.inputs.sentences import Sentences, paths_of
from aligntools.formats.text import bitext
from aligntools.formats.text.corpus import Bitext, in_lower_case
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Progress, Watch
from aligntools.ground.run import Run
from aligntools.words.white_space import SPLITS, split_of

if TYPE_CHECKING:
    from aligntools.formats.annotation.class_lists import ClassList, WordLookup
    from aligntools.ground.keywords import AlignKeywords, MreKeywords, ReadingKeywords, TrainingKeywords


_log = logging.getLogger("aligntools")


@taking(Reading)
def read_bitext(
    source: Sentences,
    target: Sentences | None = None,
    *,
    reading: Reading | None = None,
    tab_separates: bool = False,
    **options: "Unpack[ReadingKeywords]",
) -> "Bitext":
    """Read parallel text.

    A pair becomes empty where a side is blank or too long, has bytes that are not UTF-8, or where a line is without its
    one separator; ``skipped`` counts them.

    Parameters
    ----------
    source, target : str or path (files), or iterables of sentences
        Two line-aligned files, or one with ``' ||| '`` or a tab between the sides; plain, .gz, .bz2, .xz, .zst; ``-``
        is standard input.
    reading : Reading or None
        The options below, whole.
    tab_separates : bool
        In one file a tab separates the sides as ``' ||| '`` does, on any line.
    **options

    Returns
    -------
    Bitext
        Word ids of both sides and their vocabularies; its length is the number of pairs.

    Raises
    ------
    DataError
        When a file cannot be read, is empty, or has fewer lines than the other; when all of the first 1,000 lines of
        one file are without their separator, or more than 1 in 100 and at least 5, or no line is a pair; when
        ``strict``, for each pair that would be skipped.

    Examples
    --------
    >>> import aligntools as at
    >>> len(at.read_bitext("data/samples/de-en.de", "data/samples/de-en.en"))
    240
    """
    given = Keywords("read_bitext", options)
    how = given.take(Reading, reading)
    given.end()
    instead = {"input_format": "either"} if tab_separates else {}
    found = bitext.read_bitext(**paths_of(source, target, how.split), **how.arguments() | instead)
    found.splitting = split_of(source) if how.split in (None, SPLITS[0]) else how.split
    return found


def text_with_evidence(
    sources: "Sentences | Bitext",
    targets: Sentences | None,
    asked: EvidenceOptions,
    reading: Reading,
    run: Run,
    watch: Watch | None = None,
    places: bool = False,
) -> "tuple[Bitext, TextEvidence | None]":
    """Return a text as training reads it, and the evidence about its words as written; see `evidence.ask`."""
    known, begun = None, set[str]()

    def tell(kind: str, more: int, pairs: int) -> None:
        """Report how much of the text a source of evidence has read."""
        if watch is not None:
            if kind not in begun:
                begun.add(kind)
                watch.begin(kind, pairs, "pair")
            watch.advance(kind, more)

    with nullcontext() if watch is None else watch.stage(" and ".join(kind.name for kind in asked.kinds) or "reading"):
        cased = replace(reading, case_sensitive=True) if asked else reading
        written = sources if isinstance(sources, Bitext) else read_bitext(sources, targets, reading=cased)
        if asked:
            with pool_of(run.threads) as pool:
                known = ask(written, asked, pool, tell, places)
    if known is None:
        return written, None
    if watch is not None:
        watch.close()
        for line in summary(known.header):
            watch.say(line)
    text = written if reading.case_sensitive else in_lower_case(written)
    return text, replace(known, text=text)


def _settings_after(settings: AlignerSettings, init_model: Aligner | None, adapt: Aligner | None) -> AlignerSettings:
    """Return the settings that a text is trained on with: those of a model that is there, where there is one.

    Raises UsageProblem where others were chosen, too. Logs those that were chosen and change nothing.
    """
    check_loaded(init_model, "init_model")
    check_loaded(adapt, "adapt")
    before = init_model or adapt
    if before is None:
        tell_unused(settings)
        return settings
    if init_model is not None and adapt is not None:
        raise UsageProblem("`init_model` and `adapt` both say what training starts from; give one of them")
    option = "init_model" if init_model is not None else "adapt"
    _check_fixed((name for name in AlignerSettings.names() if settings.chosen(name)), option)
    return before.settings if init_model is not None else settings_of_new_text(before.model)


def _check_fixed(names: Iterable[str], option: str = "init_model") -> None:
    """Refuse settings of a new model where one that is there goes on."""
    for name in sorted(names):
        raise UsageProblem(f"`{name}` is for a new model; `{option}` keeps the settings it was trained with")


@taking(AlignerSettings, PriorWeights, Reading, Run, *SETTINGS)
def train_aligner(
    sources: "Sentences | Bitext",
    targets: Sentences | None = None,
    settings: AlignerSettings | None = None,
    *,
    priors: "SomePriors | None" = None,
    weights: PriorWeights | None = None,
    init_model: Aligner | None = None,
    adapt: Aligner | None = None,
    reading: Reading | None = None,
    run: Run | None = None,
    keep_text: bool = True,
    progress: Progress = None,
    **options: "Unpack[TrainingKeywords]",
) -> Aligner:
    """Train an aligner: both directions together, as ``aligntools align`` does.

    IBM 1, then IBM 2 or the HMM (Vogel, Ney & Tillmann 1996; agreement: Liang, Taskar & Klein 2006; variational
    Bayes: Riley & Gildea 2012), then a sampler over jumps and fertilities (after Östling & Tiedemann 2016), for
    several views of the words, whose posteriors are averaged.

    Parameters
    ----------
    sources, targets : iterables of str or of lists of str, or files (str or path)
        As many sentences of each. ``sources`` alone: a file with ``' ||| '`` between the sides, a `Bitext`, or pairs:
        tuples of two sentences.
    settings, weights, reading, run : AlignerSettings, PriorWeights, Reading, Run or None
        The options below, whole. An option that is also given by itself replaces theirs.
    priors : str, path, Priors, iterable of these, or None
        Counts of links, fertilities and jumps in other text (see `read_priors`, `count_priors`), which the text's own
        are added to: pseudo-counts of Dirichlet priors. They need not be of this text's words.
    init_model : Aligner or None
        Go on training from this model, with its settings.
    adapt : Aligner or None
        Start from what this model has learned of other text: its counts are priors, and its settings hold. Where the
        network decides on its links, it does here, too.
    keep_text : bool
        False lets training cut the words of a `Bitext` in place, which saves its memory once more; that text then
        serves this aligner alone.
    progress : callable, True or None
        Called with a `Step` after each iteration; True shows a tqdm bar.
    **options

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
    given = Keywords("train_aligner", options)
    settings = _settings_after(given.take(AlignerSettings, settings), init_model, adapt)
    weights, reading, run = given.take(PriorWeights, weights), given.take(Reading, reading), given.take(Run, run)
    how: Any = {
        "priors": priors,
        "init_model": init_model,
        "adapt": adapt,
        "keep_text": keep_text,
        "progress": progress,
    }
    return _read_and_train(sources, targets, settings, weights, reading, run, given, **how)[0]


def _read_and_train(
    sources: "Sentences | Bitext",
    targets: Sentences | None,
    settings: AlignerSettings,
    weights: PriorWeights,
    reading: Reading,
    run: Run,
    given: Keywords,
    *,
    priors: "SomePriors | None",
    init_model: Aligner | None,
    adapt: Aligner | None,
    keep_text: bool,
    progress: Progress,
    links: LastPass | None = None,
) -> "tuple[Aligner, Bitext]":
    """Read a text and train an aligner on it; return both. ``given`` has the keywords of evidence alone."""
    asked = EvidenceOptions.of(given.take).chosen(settings.best and init_model is None)
    given.end()
    counts = WeightedPriors.of(priors, weights)  # before what takes long
    reading = _reading_for(init_model or adapt, reading)
    bitext, known = text_with_evidence(sources, targets, asked, reading, run)
    aligner = train_with(
        bitext,
        settings,
        init_model=init_model,
        reading=reading,
        run=run,
        keep_text=keep_text and (bool(asked) or bitext is sources),  # no one else has the words that are read here
        progress=progress,
        priors=counts,
        links=links,
        known=known,
        learned=adapt,
    )
    return aligner, bitext


@taking(AlignerSettings, ReconstructionSettings, Reading, Run)
def train_mre_aligner(
    sources: "Sentences | Bitext",
    targets: Sentences | None = None,
    *,
    preset: Literal["paper"] | None = None,
    init_model: Aligner | None = None,
    reading: Reading | None = None,
    run: Run | None = None,
    keep_text: bool = True,
    progress: Progress = None,
    **options: "Unpack[MreKeywords]",
) -> Aligner:
    """Train an aligner by maximum reconstruction estimation (Cheng, Liu & Xu 2017), from where EM ends.

    It is an HMM of whole words, unless ``model_type`` is ``ibm2``. An IBM 2 trained without agreement aligns best with
    ``symmetrize="grow-diag-final-and"``, which the command takes then.

    Parameters
    ----------
    sources, targets, init_model, reading, run, keep_text, progress
        As for `train_aligner`. The settings of ``init_model`` hold, but for ``model_type`` and ``positions``.
    preset : str or None
        ``paper`` says of what is not given what the paper describes (`MRE_PRESETS`): IBM 2 with a table of positions
        that begins uniform, EM without agreement, 50 steps, positions and NULL's words trained too, nothing smoothed.
        After ``init_model`` that is only what is of reconstruction itself.
    **options

    Returns
    -------
    Aligner

    Examples
    --------
    >>> import aligntools as at
    >>> model = at.train_mre_aligner(["das haus", "das buch", "ein buch"], ["the house", "the book", "a book"])
    >>> str(model.align("ein haus", "a house"))
    '0-0 1-1'
    """
    plan, given = mre_plan(preset, options, init_model)
    reading, run = given.take(Reading, reading), given.take(Run, run)
    given.end()
    reading = _reading_for(init_model, reading)
    bitext, _ = text_with_evidence(sources, targets, EvidenceOptions(), reading, run)
    return train_with(
        bitext,
        plan.settings,
        init_model=init_model,
        reconstruction=plan.reconstruction,
        reading=reading,
        run=run,
        keep_text=keep_text and bitext is sources,
        progress=progress,
    )


class Plan(NamedTuple):
    """The settings of an aligner that is to be trained, and of the reconstruction that follows.

    symmetrize: How links of both directions are combined best, where that was measured and nothing else is asked for.
    """

    settings: AlignerSettings
    reconstruction: ReconstructionSettings | None = None
    symmetrize: Symmetrization | None = None

    def decisions(self, asked: Decisions) -> Decisions:
        """Return how links are decided on: as asked, or as is best for the model."""
        if self.symmetrize is None or self.settings.direction != "both":
            return asked
        return replace(asked, symmetrize=self.symmetrize)


def mre_plan(preset: str | None, options: Mapping[str, Any], init_model: Aligner | None) -> tuple[Plan, Keywords]:
    """Return what `train_mre_aligner` trains with these keywords, and those of them that are about other things."""
    if preset is not None and preset not in MRE_PRESETS:
        raise UsageProblem(f"no such preset: {preset}; choose one of {', '.join(MRE_PRESETS)}")
    chosen: dict[str, Any] = {"model_type": "hmm", "views": (0,)} | MRE_PRESETS.get(preset or "", {}) | dict(options)
    if chosen["model_type"] in registry.names():  # the preset's model may be another
        others = registry.of_others(chosen["model_type"])
        chosen = {n: value for n, value in chosen.items() if n not in others or n in options}
    settings: AlignerSettings
    if init_model:
        from aligntools.aligning.training.train_model import settings_after

        start = {name: chosen.pop(name) for name in AlignerSettings.names() if name in chosen}
        _check_fixed(start.keys() & options.keys() - {"model_type", "positions"})
        model_type = options.get("model_type")
        settings = settings_after(init_model.model, True, model_type, start.get("positions")).checked()
    given = Keywords("train_mre_aligner", chosen)
    if not init_model:
        settings = given.take(AlignerSettings)
        tell_unused(settings)
    how = given.take(ReconstructionSettings)
    if how.mre_position_smoothing != ReconstructionSettings.mre_position_smoothing and settings.positions != "table":
        _log.warning("`mre_position_smoothing` changes nothing: it is for `positions=table`")
    # after reconstruction the posteriors of some models whose directions were trained separately, and of the paper's
    # preset, are spread over many words, so that their mean exceeds the threshold too seldom
    apart = preset is not None or (registry.kind_of(settings.model_type).spreads and not settings.agreement)
    return Plan(settings, how, "grow-diag-final-and" if apart else "joint"), given


def _reading_for(init_model: Aligner | None, reading: Reading) -> Reading:
    """Return how a text is read: in the case of the model that training goes on from, where there is one."""
    return reading if init_model is None else replace(reading, case_sensitive=not init_model.model.lowercase)


@taking(AlignerSettings, Decisions, PriorWeights, Reading, Run, *SETTINGS)
def align(
    sources: "Sentences | Bitext",
    targets: Sentences | None = None,
    settings: AlignerSettings | None = None,
    *,
    decisions: Decisions | None = None,
    reading: Reading | None = None,
    run: Run | None = None,
    priors: "SomePriors | None" = None,
    init_model: Aligner | None = None,
    adapt: Aligner | None = None,
    progress: Progress = None,
    **options: "Unpack[AlignKeywords]",
) -> Alignments:
    """Train an aligner on a text and align that text: one alignment for each pair.

    Parameters
    ----------
    sources, targets, settings, priors, init_model, adapt, reading, run, progress
        As for `train_aligner`.
    decisions : Decisions or None
        How links are decided on, whole.
    **options

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
    given = Keywords("align", options)
    settings = _settings_after(given.take(AlignerSettings, settings), init_model, adapt)
    weights, decisions = given.take(PriorWeights), given.take(Decisions, decisions)
    reading, run = given.take(Reading, reading), given.take(Run, run)
    network = settings.decides if init_model is None else init_model.weights is not None
    blocks: list[Alignments] = []
    links = LastPass(blocks.append, decisions.suiting(settings.direction, network))
    how: Any = {"priors": priors, "init_model": init_model, "adapt": adapt, "progress": progress, "links": links}
    whole = isinstance(sources, Bitext)
    aligner, bitext = _read_and_train(sources, targets, settings, weights, reading, run, given, keep_text=whole, **how)
    if not links.found:
        blocks = list(aligner.decided_blocks(bitext, None, decisions, Reading(), run))
    return joined(blocks, bitext.skipped)


#: Classes as functions take them: a list, the path of one, or none.
SomeClasses: TypeAlias = "ClassList | str | os.PathLike[str] | None"


def with_word_classes(bitext: "Bitext", source: SomeClasses = None, target: SomeClasses = None) -> "Bitext":
    """Return a text with classes of its words, by which an aligner that is trained on it goes.

    IBM 4 tells distances apart by classes, and ``hmm-classes`` jumps (Och & Ney 2003). Without these they learn the
    classes of a side from the text.

    Parameters
    ----------
    bitext : Bitext
    source, target : ClassList, str, path or None
        Of each side: a list, or a file of lines ``word TAB class`` as mkcls and ``train-classes`` write it, of any
        compression. Of a word's several classes the most frequent one counts. Words that are not there are looked up
        in lower case, and have no class if they are not there either.

    Returns
    -------
    Bitext

    Raises
    ------
    DataError
        When a file cannot be read or has no words, or a line is not such.

    Examples
    --------
    >>> import aligntools as at
    >>> text = at.read_bitext("data/samples/de-en.de", "data/samples/de-en.en")
    >>> classes = at.train_classes("data/samples/de-en.de", number=10)
    >>> model = at.train_aligner(at.with_word_classes(text, source=classes.class_list()), model_type="ibm4")
    """
    return replace(bitext, classes=(_lookup(source), _lookup(target)))


def _lookup(classes: SomeClasses) -> "WordLookup | None":
    if classes is None:
        return None
    from aligntools.formats.annotation.class_lists import ClassList, WordLookup, read_classes

    return WordLookup.of(classes if isinstance(classes, ClassList) else read_classes(classes))
