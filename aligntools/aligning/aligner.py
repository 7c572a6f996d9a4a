"""Trained aligners: applied to sentence pairs, saved, loaded."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from aligntools.aligning.alignments import Alignment, Alignments, with_words
from aligntools.aligning.evidence import SAMPLED, EvidenceOptions, TextEvidence, TextSource
from aligntools.aligning.settings import Decisions, ResolvedSettings
from aligntools.formats.inputs.sentences import Sentence, Sentences, paths_of
from aligntools.formats.links.pharaoh import Links, concatenate
from aligntools.formats.text.bitext import stream_bitext
from aligntools.formats.text.corpus import Bitext, Side, Skipped, in_ids_of, parts_of
from aligntools.formats.text.text_settings import LONGEST_RANGE, Reading
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool, pool_of
from aligntools.ground.run import Run
from aligntools.pipeline import Part, Tally, map_parts
from aligntools.viewing.models import ModelView, ShownAsModel
from aligntools.words.vocabulary import ExtendedVocabulary, Vocabulary

if TYPE_CHECKING:
    from aligntools.aligning.applying.applier import Applier
    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.aligning.contrastive.weights import Weights
    from aligntools.aligning.model import AlignmentModel
    from aligntools.aligning.priors import PriorCounter
    from aligntools.formats.links.given_links import GivenLinks
    from aligntools.ground.keywords import AppliedEvidenceKeywords, ApplyingKeywords


#: Sentence pairs decided on at a time, so that long texts need no temporaries as long as they are.
PART = 50_000
#: Lines of a file that are aligned together, and pairs of it that sources of evidence read together, at most.
_LINES, _READ = 10_000, 2_500


def check_lengths(bitext: "Bitext") -> None:
    """Refuse sentences that are longer than kernels can number."""
    longest = max((int(side.lengths().max(initial=0)) for side in (bitext.source, bitext.target)), default=0)
    if longest > LONGEST_RANGE.high:
        raise UsageProblem(f"a sentence has {longest} words, over {LONGEST_RANGE.high}; read the text with max_length")


def check_applied(asked: EvidenceOptions, weights: "Weights | None", path: str) -> None:
    """Refuse sources that were asked for but that the weights of a file do not use."""
    for kind in asked.kinds:
        if weights is None or kind.name not in weights.knowers:
            raise UsageProblem(f"{path} uses no {kind.name}; `{kind.option}` is for training")


def check_loaded(model: object, name: str = "model") -> None:
    """Refuse the name of a model's file where the model is expected."""
    if isinstance(model, str | os.PathLike):
        raise UsageProblem(f"`{name}` must be a loaded model, not a file's name; aligntools.load reads one")


def evidence_sources(
    weights: "Weights", known: TextEvidence | None, asked: EvidenceOptions
) -> Mapping[str, TextSource]:
    """Return the sources that weights ask, by kinds of evidence, in the order of their tables.

    Of a model that was trained here they are those that it was trained with. Raises UsageProblem when one is not there,
    or is another one.
    """
    if known is not None and weights.knowers.keys() <= known.sources.keys():
        return {name: known.sources[name] for name in weights.knowers}
    return asked.sources(weights.knowers)


class Aligner(ShownAsModel):
    """A trained aligner. It does not change, can be pickled, and may be used from several threads at once.

    `train_aligner` and `Aligner.load` make one.
    """

    def __init__(
        self,
        model: "AlignmentModel",
        known: TextEvidence | None = None,
        asked: EvidenceOptions = EvidenceOptions(),  # noqa: B008
    ):
        #: The model's vocabularies, settings and arrays.
        self.model = model
        #: The evidence about the training text, if the aligner was trained in this process.
        self.known = known
        self._asked, self._suited = asked, dict[bool, Aligner]()

    @cached_property
    def weights(self) -> "Weights | None":
        """The weights of features by which links are decided on, where posteriors alone do not."""
        if self.model.decision is None:
            return None
        from aligntools.aligning.contrastive.weights import weights_of

        found = weights_of("the model", self.model.decision)
        return found.without(self._asked.left_out)

    @cached_property
    def before(self) -> "Aligner | None":
        """What aligned text before the model was adapted, and has a part in its links; it asks what the model asks."""
        if self.model.before is None:
            return None
        found = Aligner(self.model.before, None, self._asked)
        if self.weights is None or found.weights is None:
            return found
        asked = {name: about["checksum"] for name, about in self.weights.knowers.items()}
        others = [name for name, about in found.weights.knowers.items() if asked.get(name) != about["checksum"]]
        return found.asking(self._asked.without(others)) if others else found

    @cached_property
    def _sources(self) -> Mapping[str, TextSource]:
        return {} if self.weights is None else evidence_sources(self.weights, self.known, self._asked)

    def _suiting(self, sources: object) -> "Aligner":
        """Return what aligns a text: without kinds of evidence that did not read it, or that are not there to do so."""
        if self.weights is None or not any(about.get(SAMPLED) for about in self.weights.knowers.values()):
            return self
        own = self.known is not None and sources is self.known.text
        if own not in self._suited:
            names = self._asked.absent(self.weights.knowers) if self.known is None else []
            if self.known is not None and own:
                places, knowers = self.known.places, self.weights.knowers
                names = [name for name, about in knowers.items() if about.get(SAMPLED) and name not in places]
            self._suited[own] = self.asking(self._asked.without(names)) if names else self
        return self._suited[own]

    def deciding(self, weights: "Weights") -> "Aligner":
        """Return the same, whose links these weights decide on."""
        found = Aligner(replace(self.model, decision=weights.text()), self.known, self._asked)
        found.__dict__["network_applier"] = self.network_applier  # what it sums up of the tables is needed again
        return found

    def knowing(self, known: TextEvidence | None) -> "Aligner":
        """Return a copy with the evidence about a text."""
        return Aligner(self.model, known, self._asked)

    def asking(self, asked: EvidenceOptions) -> "Aligner":
        """Return the same, with other sources of the evidence that decisions on links ask for."""
        return Aligner(self.model, self.known, asked)

    def __reduce__(self) -> tuple[Any, ...]:
        return Aligner, (self.model, None, self._asked)

    def __repr__(self) -> str:
        s, sizes = self.model.settings, self.model.sizes
        return f"<Aligner: {s.model_type}, views {s.views}, {sizes[0] - 1} source and {sizes[1] - 1} target words>"

    def model_view(self, title: str, words: int, best: int) -> "ModelView":
        """Return what the model learned; see `aligntools.view_model`."""
        from aligntools.aligning.model import model_view

        return model_view(self.model, title, words, best)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        threads: "int | Pool | None" = None,
        verify: bool = True,
        **options: "Unpack[AppliedEvidenceKeywords]",
    ) -> "Aligner":
        """Read a model file, as ``align --save-model`` or `save` wrote it, or tables of GIZA++ or MGIZA.

        Parameters
        ----------
        path : str or path
            A model file, or a folder with GIZA++'s files of a training of IBM 3 or IBM 4 (``PREFIX.t3.final`` and the
            like), or of two, whose names begin with ``forward`` and ``reverse``, as ``align --giza-dir`` writes them.
        threads : int or None
        verify : bool
            Check the checksum, which says whether the file is what was written.
        encoder : path, bool or None
            Where links are decided on with an encoder: the folder of that which the model was trained with, where it
            is not the extra's; False decides without.
        **options
            The same of other kinds of evidence.

        Raises
        ------
        ModelError
            When it is damaged or holds a model of another kind.
        DataError
            When one of GIZA++'s files is not there or is not as it should be.
        """
        from aligntools.aligning.model import AlignmentModel

        given = Keywords("load", options)
        asked = EvidenceOptions.of(given.take, applying=True)
        given.end()
        with pool_of(threads) as pool:
            if os.path.isdir(path):
                from aligntools.aligning.giza_import import model_of_giza
                from aligntools.formats.text.giza_trainings import read_trainings

                model = model_of_giza(*read_trainings(path), pool=pool)
            else:
                model = AlignmentModel.load(os.fspath(path), pool, verify)
        return cls(model, None, asked)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file; it appears whole or not at all.

        Raises
        ------
        DataError
            When it cannot be written.
        """
        self.model.save(os.fspath(path))

    @property
    def settings(self) -> ResolvedSettings:
        """How the model was trained."""
        return self.model.settings

    @cached_property
    def own_applier(self) -> "Applier":
        """What finds posteriors by the model alone, without the one before it."""
        return self.applier()

    @cached_property
    def network_applier(self) -> "Applier":
        """What finds the posteriors that the network judges."""
        from aligntools.aligning.contrastive.candidates import CELLS

        return self.applier(CELLS)

    def finder(self, pool: "Pool", cells: int | None = None) -> "CandidateFinder":
        """Return what finds the candidates that the network judges."""
        from aligntools.aligning.contrastive.candidates import CELLS, CandidateFinder

        assert self.weights is not None
        applier = self.network_applier if cells is None else self.applier(min(cells, CELLS))
        how = self.weights.network, self.weights.search.candidates
        return CandidateFinder(self.model, pool, *how, applier=applier)

    def applier(self, max_cells: int | None = None) -> "Applier":
        """Return an applier of the model to texts, which computes at most ``cells`` link-matrix cells at a time."""
        from aligntools.aligning.applying.applier import CHUNK_CELLS, Applier

        model = self.model
        cells = CHUNK_CELLS if max_cells is None else max_cells
        return Applier(model.views, model.settings, model.sizes, cells, model.subwords)

    def align(self, source: Sentence, target: Sentence, **options: "Unpack[ApplyingKeywords]") -> Alignment:
        """Align one sentence pair; see `align_batch` for the options.

        Examples
        --------
        >>> import aligntools as at
        >>> model = at.train_aligner(at.read_bitext("data/samples/de-en.txt"), fast=True)
        >>> str(model.align("Der Zug fährt um acht Uhr ab .", "The train leaves at eight o'clock ."))
        '0-0 1-1 2-2 3-3 4-4 5-5 7-6'
        """
        options.setdefault("threads", 1)
        (found,) = self.align_batch([source], [target], unbuffered=True, **options)
        return with_words(found, source, target)

    @taking(Decisions, Reading, Run)
    def align_batch(
        self,
        sources: "Sentences | Bitext",
        targets: Sentences | None = None,
        *,
        unbuffered: bool = False,
        **options: "Unpack[ApplyingKeywords]",
    ) -> Iterator[Alignment]:
        """Align sentence pairs one after the other, in constant memory: one `Alignment` for each pair, always.

        Parameters
        ----------
        sources, targets : iterables of str or of lists of str, or files (str or path)
            As many of each. ``sources`` alone: a file with ``' ||| '`` between the sides, or a `Bitext`.
        decisions, reading, run : Decisions, Reading, Run or None
            The options below, whole. Case is kept apart as the model has it.
        unbuffered : bool
            Yield each alignment before the next pair is asked for. Then any number of lines may be malformed.
        **options

        Yields
        ------
        Alignment

        Raises
        ------
        DataError
            When one side is shorter than the other, or ``strict`` is not met.
        UsageProblem
            When an option does not exist.

        Examples
        --------
        >>> import aligntools as at
        >>> model = at.train_aligner(at.read_bitext("data/samples/de-en.txt"), fast=True)
        >>> [str(a) for a in model.align_batch(["Der Zug fährt .", ""], ["The train leaves .", "?"])]
        ['0-0 1-1 2-2 3-3', '']
        """
        for block in self.align_blocks(sources, targets, unbuffered=unbuffered, **options):
            yield from block

    def align_blocks(
        self,
        sources: "Sentences | Bitext",
        targets: Sentences | None = None,
        *,
        unbuffered: bool = False,
        directions: bool = True,
        counter: "PriorCounter | None" = None,
        requests: "tuple[Tally, str] | None" = None,
        **options: "Unpack[ApplyingKeywords]",
    ) -> Iterator[Alignments]:
        """Align as `align_batch` does; yield runs of sentence pairs as arrays, for speed.

        counter: Counts the links of both directions; in this process alone.
        requests: Where single pairs have a blank answer if they fail: what counts them, and the name of their text.
        """
        given = Keywords("align_blocks", options)
        decisions = given.take(Decisions, "decisions").suiting(self.settings.direction, self.weights is not None)
        reading, run = given.take(Reading, "reading"), given.take(Run, "run")
        given.end()
        how: Any = {"unbuffered": unbuffered, "directions": directions, "counter": counter, "requests": requests}
        yield from self.decided_blocks(sources, targets, decisions, reading, run, **how)

    def decided_blocks(
        self,
        sources: "Sentences | Bitext",
        targets: Sentences | None,
        decisions: Decisions,
        reading: Reading,
        run: Run,
        *,
        unbuffered: bool = False,
        directions: bool = True,
        counter: "PriorCounter | None" = None,
        requests: "tuple[Tally, str] | None" = None,
    ) -> Iterator[Alignments]:
        """Do what `align_blocks` does, by settings that suit the model."""
        from aligntools.aligning.memory import cells_within

        if run.asked and (unbuffered or counter is not None):
            what = "unbuffered pairs are aligned" if unbuffered else "links are counted"
            raise UsageProblem(f"{what} in this process; leave out the workers")
        processes = (run.workers or 1) + 1 if run.asked else 1
        cells = None if run.memory is None else cells_within(run.memory // processes)
        work = partial(_align_part, decisions, cells, directions or counter is not None, counter)
        size = JOB if run.asked else PART
        aligner = self._suiting(sources) if decisions.by_network else self
        with pool_of(run.threads) as pool:
            asked = aligner._sources if decisions.by_network else {}
            texts = aligner.texts_with_links(asked, sources, targets, reading, unbuffered, size, pool)
            parts, tally = parts_to_align(texts, run, requests), requests[0] if requests else Tally()
            with closing(map_parts(work, aligner, parts, run, pool, tally)) as done:
                for found in done:
                    yield from found

    def texts_with_links(
        self,
        asked: Mapping[str, TextSource],
        sources: "Sentences | Bitext",
        targets: Sentences | None,
        reading: Reading,
        unbuffered: bool,
        part: int,
        pool: "Pool",
    ) -> "Iterator[tuple[Bitext, list[GivenLinks]]]":
        """Yield what `texts` does, each with the links of its words by every source that is asked."""
        if not asked:
            yield from ((text, []) for text in self.texts(sources, targets, reading, unbuffered, part))
            return
        model, known = self.model, self.known
        if isinstance(sources, Bitext):
            own = known is not None and known.text is sources and asked.keys() <= known.sources.keys()
            places = known.places if known is not None and own else {}
            texts, begin = self.texts(sources, targets, reading, unbuffered, part), 0
            for text, written in zip(texts, parts_of(sources, part), strict=True):
                end = begin + len(text)
                links = (
                    places[name].given[begin:end] if name in places else one.links(written, pool)
                    for name, one in asked.items()
                )
                yield text, list(links)
                begin = end
            return
        none = Vocabulary.from_words([])
        blocks = stream_bitext(
            **paths_of(sources, targets, reading.split or model.split),
            source_vocabulary=none,
            target_vocabulary=none,
            **reading.arguments() | {"lowercase": False},
            unbuffered=unbuffered,
            block_lines=min(part, _READ),
        )
        for written in blocks:
            text = in_ids_of(written, model.source_vocabulary, model.target_vocabulary, model.lowercase)
            for whole in self.texts(text, None, reading, unbuffered, len(text)):
                yield whole, [one.links(written, pool) for one in asked.values()]

    def texts(
        self,
        sources: "Sentences | Bitext",
        targets: Sentences | None,
        reading: Reading,
        unbuffered: bool,
        part: int = PART,
    ) -> "Iterator[Bitext]":
        """Yield a text in the model's ids, ``part`` pairs at a time; the other parameters are `align_batch`'s."""
        from aligntools.aligning.text.views import CutSide

        model = self.model
        if isinstance(sources, Bitext):
            cut = sources.source.letters if isinstance(sources.source, CutSide) else 0
            if cut and model.settings.views != (cut,):
                raise UsageProblem("this text was cut while another model was trained on it; read it again")
            if not cut:
                sources = in_ids_of(sources, model.source_vocabulary, model.target_vocabulary, model.lowercase)
            check_lengths(sources)
            skipped = sources.skipped
            for text in parts_of(sources, part):
                text.skipped, skipped = skipped, Skipped()
                yield text
            return
        yield from stream_bitext(
            **paths_of(sources, targets, reading.split or model.split),
            source_vocabulary=model.source_vocabulary,
            target_vocabulary=model.target_vocabulary,
            **reading.arguments() | {"lowercase": model.lowercase},
            unbuffered=unbuffered,
            block_lines=min(part, _LINES),
        )


def _align_part(
    decisions: Decisions,
    cells: int | None,
    directions: bool,
    counter: "PriorCounter | None",
    aligner: Aligner,
    part: Part,
    pool: "Pool",
) -> Iterator[Alignments]:
    """Yield the alignments of the runs of a part, and have their links counted."""
    from aligntools.aligning.applying.decisions import align_text

    text, given = text_of(part, aligner.model)
    weights = aligner.weights if decisions.by_network else None
    if aligner.before is not None:
        from aligntools.aligning.mixture import align_by_both, judged_by_both

        if weights is None:
            found = align_by_both(aligner, text, decisions, pool, directions)
        else:
            asked = dict(zip(weights.knowers, given, strict=True))
            found = judged_by_both(aligner, text, asked, decisions, pool, directions)
    elif weights is None:
        applier = aligner.own_applier if cells is None else aligner.applier(cells)
        found = align_text(applier, text, decisions, pool, directions)
    else:
        from aligntools.aligning.contrastive import tasks

        found = tasks.align(aligner.finder(pool, cells), text, weights, pool, given, directions, decisions)
    tables = []
    for number, run in enumerate(found):
        if counter is not None:
            tables.append((run.forward_table, run.reverse_table))
        yield run if number else replace(run, skipped=text.skipped)
    if counter is not None:
        counter.add(text, *(concatenate(column) for column in zip(*tables, strict=True)))


#: Sentence pairs of a worker's job.
JOB = 2_500


class PairRequest(NamedTuple):
    """A pair that is answered before the next is read; it has a blank answer where that fails."""

    line: int
    text: Bitext
    given: int
    problem: str = ""

    @property
    def blank(self) -> "tuple[Bitext, list[GivenLinks]]":
        """As many pairs without words, and no links."""
        from aligntools.formats.links.given_links import GivenLinks

        text, offsets = self.text, np.zeros(len(self.text) + 1, np.int64)
        none, links = Side(np.empty(0, np.int32), offsets), Links(np.empty((0, 2), np.int32), offsets)
        blank = Bitext(none, none, text.source_vocabulary, text.target_vocabulary, text.skipped)
        return blank, [GivenLinks.of(links)] * self.given


def parts_to_align(
    texts: "Iterable[tuple[Bitext, list[GivenLinks]]]", run: Run, requests: tuple[Tally, str] | None = None
) -> Iterator[Part]:
    """Yield the parts of a text, with words numbered as in a model, and the links given with each part.

    requests: Counts blank answers to single pairs, with the name of their text.
    """
    first = 0
    for text, given in texts:
        request = PairRequest(first + 1, text, len(given)) if requests else None
        whole: Any = text
        if run.asked:  # without the words of the model, which workers have
            both = text.source_vocabulary, text.target_vocabulary
            unknown = [list(one.extra) if isinstance(one, ExtendedVocabulary) else [] for one in both]
            whole = text.source, text.target, *unknown, text.skipped
        yield Part(requests[1] if requests else "", first, first, (whole, given), request)
        first += len(text)


def text_of(part: Part, model: "AlignmentModel") -> "tuple[Bitext, list[GivenLinks]]":
    """Return the text of a part, in the model's ids, with the links that were given of it."""
    text, given = part.text
    if isinstance(text, Bitext):
        return text, given
    source, target, source_words, target_words, skipped = text
    extended: Any = ExtendedVocabulary
    own = extended(model.source_vocabulary, source_words), extended(model.target_vocabulary, target_words)
    return Bitext(source, target, *own, skipped), given
