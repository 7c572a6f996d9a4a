"""What ``translate`` reads and writes: a text in parts, and what is written of each, made here or in workers."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from aligntools.api.given.sentences import PathLike
from aligntools.api.running.engines import mapping_if_asked
from aligntools.api.running.threads import pool_of
from aligntools.api.translate.grammars import joined
from aligntools.api.translate.lattices import LatticeInput, lattice_input, stream_input, without_arcs
from aligntools.api.translate.translation import JOB, PART, Grammar, LanguageModel, Translator
from aligntools.api.translate.translation_weights import TranslationWeights
from aligntools.formats.text.reading import Split
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.ground.running import Run
from aligntools.store.objects import Kept
from aligntools.translating.settings import DecoderSettings, LatticeSettings, TranslationLists
from aligntools.translating.text import Lines
from aligntools.words.white_space import split_as

#: Bytes of input up to which the grammar is limited to the input's words before it is loaded.
FILTERED = 1 << 28


@dataclass(frozen=True)
class Written:
    """What is written of a part.

    lines: Translations, or lists of candidates.
    scores: Of the translations; none with lists.
    """

    sentences: int
    lines: bytes
    scores: list[float]
    hypergraphs: bytes
    derivations: bytes = b""


@dataclass(frozen=True)
class TranslationOutput:
    """What is wanted of each sentence.

    lists: Lists in place of the best translation.
    hypergraphs: Packed derivations too.
    derivations: The best derivation too, or those of the n best.
    """

    lists: TranslationLists
    hypergraphs: bool = False
    derivations: bool = False

    @property
    def header(self) -> bytes:
        """The first line of derivations, if they are wanted."""
        from aligntools.formats.translation.derivations import format_header

        return format_header() if self.derivations else b""

    def of(self, translator: Translator, part: Lines, first: int) -> Written:
        """Return what is written of a part whose first sentence has this number."""
        from aligntools.formats.translation.derivations import format_sentences
        from aligntools.formats.translation.hypergraphs import format_nbest

        n_best, samples = self.lists.n_best, self.lists.samples
        listed = n_best is not None or samples is not None
        lines, scores = b"", []
        if not listed:
            found = list(translator.translate_batch(part))
            lines = b"".join(str(one).encode("utf-8", "surrogateescape") + b"\n" for one in found)
            scores = [one.score for one in found]
        wanted = listed or self.hypergraphs or self.derivations
        forests = next(translator.hypergraphs(part, first=first)) if wanted else None
        if forests is not None and n_best is not None:
            lines = format_nbest(first, forests.n_best(n_best))
        elif forests is not None and samples is not None:
            lines = format_nbest(first, forests.samples(samples, gamma=self.lists.gamma, seed=self.lists.seed))
        packed = b"".join(forests.lines()) if forests is not None and self.hypergraphs else b""
        trees = b""
        if forests is not None and self.derivations:
            trees = b"".join(format_sentences(forests.derivations(n_best or 1)))
        return Written(len(part), lines, scores, packed, trees)


@dataclass(frozen=True)
class SystemFiles:
    """The files of a translation system.

    grammar, lm, weights, tags: See `Translator`.
    """

    grammar: PathLike
    lm: PathLike | None = None
    weights: PathLike | None = None
    tags: PathLike | None = None


def prepared(
    texts: Sequence[PathLike] | None,
    system: SystemFiles,
    decoding: DecoderSettings,
    lattices: LatticeSettings,
    wanted: TranslationOutput,
    *,
    split: Split | None = None,
    verify: bool = True,
    run: Run,
) -> tuple[Translator, Iterable[Lines]]:
    """Return a translator, and what it is to translate in parts.

    texts: Where all of it is in files and not too large, only those rules of the grammar are read that it can use.
        None: sentences come one by one, and there are no parts.
    split, verify: What separates words of the texts; whether the checksums of files are checked.
    Raises UsageProblem when what is wanted is not made of lattices.
    """
    if wanted.derivations and lattices.input != "text":
        raise UsageProblem(f"`derivations` is for sentences; leave it out with `input={lattices.input}`")
    # first: a wrong file is soon found
    weights = system.weights
    of_arcs = {} if weights is None else without_arcs(TranslationWeights.load(weights).features)[1]
    reads = None if lattices.input == "text" else lattice_input(lattices, of_arcs)[0]
    size = JOB if run.asked and wanted.lists.samples is None else PART
    parts, known = ([], None) if texts is None else _input([split_as(one, split) for one in texts], size, reads)
    rules = Grammar.load(system.grammar, text=known, span_limit=decoding.span_limit, verify=verify)
    model = None if system.lm is None else LanguageModel.load(system.lm, verify=verify)
    translator = Translator(rules, model, weights, decoding, tags=system.tags, threads=run.threads)
    return (translator if reads is None else translator.for_lattices(lattices)), parts


def _input(texts: Sequence[PathLike], size: int, reads: LatticeInput | None) -> tuple[Iterable[Lines], Lines | None]:
    """Return the input in parts of ``size`` sentences, and whole if all of it is in files."""
    total = 0
    for path in texts:
        try:
            info = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
            mode = stat.S_IFMT(info.st_mode)
            total += info.st_size if mode in (stat.S_IFREG, stat.S_IFDIR) else FILTERED
        except (OSError, ValueError, AttributeError):  # a standard input that is no file, or nothing to open
            total += FILTERED if path == "-" else 0
    parts = (part for path in texts for part in stream_input(path, size, reads))
    if total >= FILTERED:
        return parts, None
    found = list(parts)
    return found, joined(found)


def written(translator: Translator, wanted: TranslationOutput, parts: Iterable[Lines], run: Run) -> Iterator[Written]:
    """Yield what is written: what comes before the first part, and then each part of a text, made here or by workers.

    The caller keeps no other reference to the translator where it is large: workers have it then.
    """
    from aligntools.formats.translation.hypergraphs import format_header

    yield Written(0, b"", [], format_header(translator.features) if wanted.hypergraphs else b"", wanted.header)
    with pool_of(run.threads) as pool, mapping_if_asked(run, pool) as blocks:
        if blocks is None:
            own = translator.with_threads(pool)
            yield from (wanted.of(own, part, first) for first, part in _numbered(parts))
            return
        kept = blocks.keep(translator.with_threads(None))
        del translator
        yield from blocks.run("translating", partial(_written, kept, wanted), _numbered(parts))


def _numbered(parts: Iterable[Lines]) -> Iterator[tuple[int, Lines]]:
    """Yield parts with the number of their first sentence."""
    first = 0
    for part in parts:
        yield first, part
        first += len(part)


def _written(translator: Kept, wanted: TranslationOutput, part: tuple[int, Lines], pool: Pool) -> Written:
    """Do a part's job."""
    first, lines = part
    return wanted.of(translator.get().with_threads(pool), lines, first)
