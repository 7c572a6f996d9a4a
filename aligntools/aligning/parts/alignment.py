"""Alignment of text of any size: in parts, from disk, in several processes or on a cluster."""

import contextlib
import json
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from aligntools import __version__
from aligntools.aligning.aligner_training import tell_unused
from aligntools.aligning.alignments import Alignments
from aligntools.aligning.evidence import About, EvidenceOptions, summary
from aligntools.aligning.evidence_kinds import SETTINGS
from aligntools.aligning.memory import check, chosen_part, needed_for, of_part
from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.lexical import Lexicon, lexical_fields, table_values
from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.parts.given_pairs import in_parts
from aligntools.aligning.parts.passes import last_stage
from aligntools.aligning.parts.words import MARK, MOST_WORDS, SHARED, SIDES
from aligntools.aligning.parts.work import JobRunner, PartedText, ViewWork
from aligntools.aligning.priors import SomePriors, WeightedPriors, fingerprint
from aligntools.aligning.settings import PART_PAIRS, AlignerSettings, Decisions, PartSettings, PriorWeights
from aligntools.aligning.text.cooccurrence import Table, smoothed_shares
from aligntools.aligning.text.views import ViewWords, cut
from aligntools.formats.inputs.sentences import Sentences, paths_of
from aligntools.formats.opening.files import is_pattern, is_regular, matching
from aligntools.formats.text.text_settings import Reading
from aligntools.ground import memory
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.engines import Advice
from aligntools.ground.errors import DataError, ResourceError, UsageProblem
from aligntools.ground.parallel import Pool, pool_of
from aligntools.ground.progress import Progress, Step, reporter
from aligntools.ground.run import Run
from aligntools.store.job_engines import opened, temporary_folder
from aligntools.store.stores import Store, held
from aligntools.words.vocabulary import Vocabulary
from aligntools.words.white_space import named_as, split_as, split_of

if TYPE_CHECKING:
    from aligntools.ground.keywords import PartsKeywords


_log = logging.getLogger("aligntools")
#: What to do where a cluster's workers have too little, or a cluster is lost.
_ADVICE = Advice(
    "fewer `workers`",
    "give workers more, or smaller parts with `part_size`",
    "`tmpdir` or `checkpoint`",
    "the same work with the same `checkpoint` goes on where it was",
)


class PartsRun:
    """A text that is aligned in parts; `align_in_parts` makes one.

    advance: Called with the name of a stage, how many of its jobs are done, and how many there are.
    files: What is between the star's ends in the name of each file; ``""`` where a file is named without one.
    """

    def __init__(
        self,
        sources: Sentences,
        targets: Sentences | None,
        settings: AlignerSettings,
        decisions: Decisions,
        parts: PartSettings,
        *,
        reading: Reading,
        run: Run,
        evidence: EvidenceOptions,
        priors: WeightedPriors | None = None,
        directions: bool = True,
        checkpoint: str | None = None,
        progress: Progress = None,
        advance: Callable[[str, int, int], None] = lambda _stage, _done, _of: None,
    ) -> None:
        from aligntools.aligning.parts.training import check_settings

        tell_unused(settings)
        # not chosen here: subwords take memory, views are trained one after the other
        settings = replace(settings, subwords=settings.subwords or 0, view_agreement=settings.view_agreement or False)
        check_settings(settings.resolved(1))
        self.inputs, self.files = _files(sources, targets, reading.split)
        if run.remote:  # workers have working folders of their own
            self.inputs = [
                {k: named_as(v, os.path.abspath(v)) if is_regular(v) else v for k, v in one.items()}
                for one in self.inputs
            ]
        self._settings, self._decisions = settings, decisions.suiting(settings.direction, settings.decides)
        self._run, self._reading, self._directions = run.checked(), reading.arguments(), directions
        self._chose = parts.checked().part_size is None
        bound = memory.limit() if run.memory is None else run.memory
        # a cluster's workers have memory of their own
        self._part_size = parts.part_size or (PART_PAIRS if run.remote else chosen_part(bound))
        self._checkpoint, self._tell, self._advance = checkpoint, reporter(progress), advance
        self._evidence = evidence.elsewhere()  # workers may have working folders of their own
        for kind in evidence.kinds:
            own = evidence.of_kind(kind)
            chosen = [name for name in kind.in_memory if getattr(own, name) != getattr(kind.settings(), name)]
            if not kind.in_parts or chosen:
                option = chosen[0] if chosen else kind.option
                raise UsageProblem(f"`{option}` is for text in memory, and this text is worked on in parts")
        lowercase = bool(self._reading["lowercase"])
        self._priors = None if priors is None else in_parts(priors.counts, priors.weights, lowercase)
        self._paths = [path for one in self.inputs for path in one.values()]
        self._readable = all(map(is_regular, self._paths))
        if checkpoint is not None and not self._readable:
            raise UsageProblem("`checkpoint` needs files: a pipe cannot be read again")

    def _check_memory(self) -> None:
        """Refuse a bound that cannot be kept, before any work; parts are of the size that the work was begun with."""
        from aligntools.aligning.parts.plans import estimate_text

        begun = False
        if self._checkpoint is not None and self._chose:
            store = Store(os.path.abspath(self._checkpoint))
            kept = store.about("task") if store.has("task") else {}
            size: Any = kept.get("part_size")
            begun = kept == self._signature() | {"part_size": size}
            if begun and self._part_size != size:
                self._part_size = size
                _log.info("parts of %d pairs, with which %s was begun", size, self._checkpoint)
        run = self._run
        bound = memory.limit() if run.memory is None else run.memory
        if run.remote or bound is None:
            return
        vocabulary = estimate_text(self.inputs, self._reading["languages"])[2] if self._readable else 0
        check(run.memory, run.workers or 0, self._part_size, vocabulary, begun)
        if self._chose and not begun and self._part_size < PART_PAIRS:
            _log.info("parts of %d pairs, to keep to %s of memory", self._part_size, memory.shown(bound))

    def run(self, pool: "Pool", save_model: str | None = None) -> Iterator[tuple[int, Alignments]]:
        """Train, then yield the links of each part, with the number of the file it is of."""
        from aligntools.aligning.contrastive.tasks import for_new_text
        from aligntools.aligning.parts.evidence import ask
        from aligntools.aligning.parts.training import decision_of, link_parts, read_text, train_parts
        from aligntools.aligning.parts.work import PartReading

        self._check_memory()
        lowercase = bool(self._reading["lowercase"])
        with self._folder() as store:
            names = [os.fspath(path) for path in self._paths if is_regular(path)]
            with opened(self._run, pool, store.folder, names, each=of_part(self._part_size), advice=_ADVICE) as engine:
                report = lambda figures: self._tell(Step(figures["stage"], None, None, figures))  # noqa: E731
                runner = JobRunner(engine, report, self._advance)
                asked = bool(self._evidence)
                reading = PartReading(store, tuple(self.inputs), self._reading, self._part_size, asked)
                parts, words = read_text(reading, runner, pool)
                how = self._settings.decides, self._decisions, self._directions
                work = PartedText(store, self._settings.resolved(words), parts, *how)
                about: dict[str, About] = {}
                if asked or self._priors is not None:
                    about = ask(work, self._evidence, lowercase, runner, self._priors)
                    for line in summary(about):
                        _log.info("%s", line)
                models = train_parts(work, runner)
                if save_model is not None:
                    model = whole_model(work, models, lowercase, pool)
                    split = split_of(next(iter(self.inputs[0].values())))
                    decision = for_new_text(decision_of(work), about).text() if work.best else None
                    replace(model, split=split, evidence=about, decision=decision).save(save_model)
                linked = link_parts(work, runner, models, self._decisions, self._directions)
                for part, found in enumerate(linked):
                    yield work.place(part)[0], found

    def plan(self, pool: "Pool", clock: Callable[[], float]) -> list[str]:
        """Return what the work would take, in lines for a person; a sample is aligned, and timed by ``clock``."""
        from aligntools.aligning.parts.plans import plan_lines

        if not self._readable:
            raise UsageProblem("`plan` needs files: it looks at their beginning, and a pipe cannot be read again")
        self._check_memory()
        return plan_lines(
            self.inputs,
            self._settings,
            self._part_size,
            self._run.workers or 0,
            pool,
            self._reading,
            None if self._run.tmpdir is None else os.fspath(self._run.tmpdir),
            clock,
        )

    @contextlib.contextmanager
    def _folder(self) -> "Iterator[Store]":
        if self._checkpoint is None:
            with temporary_folder(self._run.tmpdir) as folder:
                yield Store(folder)
            return
        with held(self._checkpoint):
            store = Store(os.path.abspath(self._checkpoint), lasting=True)
            own = self._signature()
            if not store.has("task"):
                store.clear()
                store.write("task", own)
            elif store.about("task") != own:
                found = "was made with other text or options; remove it, or give another folder"
                raise DataError(self._checkpoint, None, found)
            yield store

    def forget(self) -> None:
        """Empty the checkpoint's folder: what was made of it is in its place."""
        if self._checkpoint is not None:
            with held(self._checkpoint, ends=True):
                store = Store(self._checkpoint)
                store.remove("task")  # first: what is left without it is of no task
                store.clear()

    def _signature(self) -> dict[str, Any]:
        """Return what tells two tasks apart: text, options, version."""
        files = []
        for path in self._paths:
            about = os.stat(path)
            files.append([os.path.realpath(path), about.st_size, about.st_mtime_ns, split_of(path)])
        facts = {
            "version": __version__,
            "files": files,
            "settings": asdict(self._settings),
            "reading": self._reading,
            "decisions": asdict(self._decisions),
            "directions": self._directions,
            "part_size": self._part_size,
            "priors": None if self._priors is None else fingerprint(self._priors),
            "evidence": {name: asdict(settings) for name, settings in self._evidence.settings.items()},
        }
        found: dict[str, Any] = json.loads(json.dumps(facts))
        return found


def _files(sources: Sentences, targets: Sentences | None, split: str | None) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the files that the sides name, as readers take them, and what their patterns' stars stand for."""
    if not is_pattern(sources) and not is_pattern(targets):
        return [paths_of(sources, targets, split)], [""]
    sources, targets = split_as(sources, split), split_as(targets, split)
    if targets is None:
        found = matching(str(sources))
        return [paths_of(named_as(sources, path), None) for path, _ in found], [star for _, star in found]
    if not (is_pattern(sources) and is_pattern(targets)):
        raise UsageProblem("give both sides as patterns with a star, or neither")
    left, right = ({star: path for path, star in matching(str(side))} for side in (sources, targets))
    if alone := sorted(left.keys() ^ right.keys()):
        path = left.get(alone[0]) or right[alone[0]]
        raise DataError(path, None, "has no counterpart on the other side")
    return [paths_of(named_as(sources, path), named_as(targets, right[star])) for star, path in left.items()], list(
        left
    )


def seems_too_large(texts: list[str], settings: AlignerSettings, languages: str | None = None) -> bool:
    """Return whether a text seems not to fit into this process's memory, and can be aligned in parts."""
    bound = memory.limit()
    if bound is None or not all(map(is_regular, texts)):
        return False
    if sum(os.path.getsize(text) for text in texts) * 20 < bound - memory.FIXED:  # small, whatever its compression
        return False
    if not kind_of(settings.trained).in_parts:
        return False
    from aligntools.aligning.parts.plans import estimate_text

    names = ("joint",) if len(texts) == 1 else ("source", "target")
    pairs, words, vocabulary, _ = estimate_text([dict(zip(names, texts, strict=True))], languages)
    half = words / 2 / max(pairs, 1)
    needed = needed_for(words, vocabulary, int(pairs * half * half * 1.3), settings.resolved(words // 2))
    return bound < memory.FIXED + memory.SPARE + needed


@taking(AlignerSettings, Decisions, PartSettings, PriorWeights, Reading, Run, *SETTINGS)
def align_in_parts(
    sources: Sentences,
    targets: Sentences | None = None,
    settings: AlignerSettings | None = None,
    *,
    decisions: Decisions | None = None,
    reading: Reading | None = None,
    run: Run | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    directions: bool = True,
    save_model: str | os.PathLike[str] | None = None,
    priors: "SomePriors | None" = None,
    progress: Progress = None,
    **options: "Unpack[PartsKeywords]",
) -> Iterator[Alignments]:
    """Train an aligner on a text of any size and align that text, in parts that are worked from disk.

    Memory does not grow with the text. The parts can be worked by processes on this machine, or by a Dask cluster;
    what comes out is the same, and differs from `align` by a little: parts sample their links without knowing those of
    the others (Newman et al. 2009).

    Parameters
    ----------
    sources, targets : str or path
        As for `align`. A name with a star stands for several files, which are read one after the other.
    settings, decisions, reading, run : AlignerSettings, Decisions, Reading, Run or None
        The options below, whole. ``model_type`` is ``hmm`` or ``fertility``.
    checkpoint : path or None
        A folder to keep them in instead, so that the same call goes on where a process that ended has been. It is
        emptied once all links were taken.
    directions : bool
        Find the links of the single directions too.
    save_model : path or None
        Write the model of the whole text, for `Aligner.load`. It has to fit into memory.
    priors : str, path, Priors, iterable of these, or None
        As for `train_aligner`; links of words alone.
    progress : callable, True or None
        As for `train_aligner`.
    **options

    Yields
    ------
    Alignments
        Of each part, in order.

    Raises
    ------
    DataError
        When a file cannot be read, or the folder cannot be written.
    ResourceError
        When ``max_memory`` is too little, or workers end again and again.
    UsageProblem
        When options exclude each other.

    Examples
    --------
    >>> import aligntools as at
    >>> blocks = at.align_in_parts("data/samples/de-en.de", "data/samples/de-en.en", part_size=100)
    >>> sum(len(block) for block in blocks)
    240
    """
    given = Keywords("align_in_parts", options)
    settings, parts = given.take(AlignerSettings, settings), given.take(PartSettings)
    decisions, reading, run = given.take(Decisions, decisions), given.take(Reading, reading), given.take(Run, run)
    evidence, weights = EvidenceOptions.of(given.take).chosen(settings.best), given.take(PriorWeights)
    given.end()
    work = PartsRun(
        sources,
        targets,
        settings,
        decisions,
        parts,
        reading=reading,
        run=run,
        evidence=evidence,
        priors=WeightedPriors.of(priors, weights),
        directions=directions,
        checkpoint=None if checkpoint is None else os.fspath(checkpoint),
        progress=progress,
    )
    with pool_of(run.threads) as pool:
        for _, block in work.run(pool, None if save_model is None else os.fspath(save_model)):
            yield block
    work.forget()


def whole_model(work: PartedText, models: tuple[tuple[int, int], ...], lowercase: bool, pool: Pool) -> AlignmentModel:
    """Build the whole model from its parts and shards. It needs memory for all words of the text.

    models: Of each view the last iteration, and the generation of the table.
    """
    words: tuple[dict[bytes, None], dict[bytes, None]] = ({}, {})  # in order of first occurrence
    tokens = [0, 0]
    for part in range(work.parts):
        memory.ask(0, "the model's words")
        sides: Any = work.text(part).sides
        for d, (side, vocabulary) in enumerate(sides):
            words[d].update(dict.fromkeys(list(vocabulary.encoded())[1:]))
            tokens[d] += len(side.tokens)
    source, target = (Vocabulary.from_bytes(list(one)) for one in words)
    views = [
        _view_model(view, last, generation, (source, target), pool)
        for view, (last, generation) in zip(work.views(), models, strict=True)
    ]
    return AlignmentModel(work.settings, source, target, views, lowercase, tokens[1] / max(tokens[0], 1))


def _view_model(
    view_work: ViewWork, last: int, generation: int, vocabularies: tuple[Vocabulary, Vocabulary], pool: Pool
) -> LexicalModel:
    store, name, shards = view_work.store, view_work.name, range(view_work.shards())
    ids = np.concatenate([store.read(name("shard", generation, s), "ids")[0] for s in shards])
    memory.ask(len(ids) * (32 if kind_of(view_work.settings.model_type).last_pass else 16), "the model's table")
    ptr, size = [np.zeros(1, np.int64)], 0
    for shard in shards:
        (own,) = store.read(name("shard", generation, shard), "ptr")
        ptr.append(own[1:] + size)
        size += int(own[-1])
    table = Table(np.concatenate(ptr), ids, *store.read(name("layout", 0), "source.types", "target.types"))
    counts = [
        np.concatenate([store.read(name("values", last, s), f"whole{d}")[0] for s in shards])
        for d in range(view_work.arrays)
    ]
    s_inverse, t_inverse, floors, tiers = store.read(
        name("estimate", last), "s_inverse", "t_inverse", "floors", "tiers"
    )
    settings = view_work.settings
    values = [table_values(c, settings.alpha, settings.estimator == "vb", pool) for c in counts]
    s_counts, t_counts = view_work.word_counts()
    lexicon = Lexicon(values[0], values[-1], s_inverse, t_inverse, float(floors[0]), floors)
    nulls = [smoothed_shares(np.append(own, 0.0)) for own in (s_counts, t_counts)]
    p_null = np.full(2, settings.null_prior, np.float32)
    if not view_work.letters and any(store.about(name("vocabulary"))["shared"]):
        raise ResourceError(
            f"a model of whole words has at most {MOST_WORDS} on a side, and the text has more; use `views=5`"
        )
    (s_words, s_map, s_keys), (t_words, t_map, t_keys) = (
        _side_words(view_work, *side) for side in zip(SIDES, vocabularies, strict=True)
    )
    words = ViewWords(view_work.letters, s_words, t_words, s_map, t_map, s_keys, t_keys)
    fields = lexical_fields(words, table, lexicon, counts, tiers, nulls[0], nulls[1], p_null)
    of: type[LexicalModel] = kind_of(settings.model_type).load()
    return of.of_parts(view_work, fields, last_stage(view_work, last).parameters())


def _side_words(view_work: ViewWork, side: str, vocabulary: Vocabulary) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return a side's words, where each word of the text is among them, and their look-alike keys."""
    blob, starts, keys = view_work.store.read(
        view_work.name("vocabulary"), f"{side}.blob", f"{side}.starts", f"{side}.keys"
    )
    words = Vocabulary(blob, starts).words()
    ids = {word: i for i, word in enumerate(words)}
    mapping = np.empty(len(vocabulary) + 1, np.int32)
    for i, word in enumerate(vocabulary.words()):
        own = cut(word, view_work.letters)
        known = ids.get(own)
        mapping[i] = ids[MARK + cut(own, SHARED)] if known is None else known
    mapping[-1] = len(words)
    return words, mapping, keys
