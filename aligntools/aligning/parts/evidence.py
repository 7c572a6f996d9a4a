"""What is known beforehand of the words of a text in parts, whatever kinds of evidence know it.

A source that reads sentences reads each part's share of the pairs, as a job; one that knows words by themselves is
asked once, about the words of all parts, and so is one that reads some of the sentences alone.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from aligntools.aligning.evidence import About, EvidenceOptions, Source, SourceKind, TextSource, WordSource
from aligntools.aligning.parts import given_pairs
from aligntools.aligning.parts.work import JobRunner, PartedText, load_text, written_name
from aligntools.formats.links.priors import Priors, combined
from aligntools.formats.text.corpus import in_lower_case, pick
from aligntools.ground.declarations import Settings
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary

#: What a run keeps of each kind, under its name, and what is put before a model's header when all were asked.
KNOWN = "known"


@dataclass(frozen=True)
class Asking:
    """Arguments of jobs."""

    kind: SourceKind[Settings]
    settings: Settings
    pairs: tuple[int, ...]
    lowercase: bool

    @property
    def source(self) -> Source:
        """The source, loaded once by each process."""
        return _source(self.kind, self.settings)

    @property
    def words(self) -> WordSource | None:
        """What knows words by themselves: the source, or what it has for a text of which it reads a sample."""
        source, pairs = self.source, sum(self.pairs)
        if isinstance(source, WordSource):
            return source
        assert isinstance(source, TextSource)
        return source.alone if source.pairs_of(pairs) < pairs else None

    def name(self, *numbers: int) -> str:
        """Return the name of what is kept of the kind."""
        return ".".join([KNOWN, self.kind.name, *(f"{n:06d}" for n in numbers)])


@cache
def _source(kind: SourceKind[Settings], settings: Settings) -> Source:
    return kind.source(settings)


def ask_part(work: PartedText, asking: Asking, part: int, pool: Pool) -> None:
    """Keep what a source of evidence says about its pairs of a part: evenly spread ones, and those asked for."""
    source, name = asking.source, asking.name(part)
    if work.store.has(name):
        return
    assert isinstance(source, TextSource)
    total, first = sum(asking.pairs), sum(asking.pairs[:part])
    spread = np.linspace(0, total - 1, source.pairs_of(total)).astype(np.int64)
    chosen = np.union1d(spread, np.array(source.lines_of(total), np.int64))
    rows = chosen[(chosen >= first) & (chosen < first + asking.pairs[part])] - first
    written = pick(load_text(work.store, written_name(*work.place(part))), rows)
    priors, facts = source.of_part(written, in_lower_case(written) if asking.lowercase else written, pool)
    given_pairs.keep_priors(work.store, name, priors, facts)


def ask(
    work: PartedText,
    asked: EvidenceOptions,
    lowercase: bool,
    runner: JobRunner,
    others: Priors | None = None,
) -> dict[str, About]:
    """Ask every kind that takes part, and keep what is given to training; return what a model's header says.

    ``others`` are priors of other text, as `given_pairs.in_parts` returns them.
    """
    store = work.store
    pairs = tuple(work.sizes()[:, 0].tolist())
    askings = [Asking(kind, asked.of_kind(kind), pairs, lowercase) for kind in asked.kinds]
    if not store.has(KNOWN):
        header, found = {}, [others] if others is not None and len(others) else []
        for asking in askings:
            header[asking.kind.name], own = _ask_kind(work, asking, runner)
            found += own
        if found:
            given_pairs.keep_priors(store, given_pairs.GIVEN, combined(found))
        store.write(KNOWN, header)
    for asking in askings:
        store.remove(asking.name(), *(asking.name(part) for part in range(work.parts)))
    store.remove(*(written_name(*work.place(part)) for part in range(work.parts)))
    return store.about(KNOWN)


def _ask_kind(work: PartedText, asking: Asking, runner: JobRunner) -> tuple[About, list[Priors]]:
    """Ask a kind about the whole text; return what a header says, and priors that add."""
    source, store, parts = asking.source, work.store, range(work.parts)
    about: About = {}
    priors: list[Priors] = []
    try:
        if asking.words is not None:
            if not store.has(asking.name()):
                runner.run(asking.kind.name, partial(ask_words, work, asking), [work.parts])
            kept = given_pairs.kept_priors(store, asking.name())
            about, priors = store.about(asking.name()), [kept] if len(kept) else []
        if isinstance(source, TextSource):
            runner.run(asking.kind.name, partial(ask_part, work, asking), parts)
            belief, own = source.of_parts([store.about(asking.name(part)) for part in parts])
            about = own | ({"alone": about | {"belief": own.get("belief", 1.0)}} if about else {})
            priors += [given_pairs.kept_priors(store, asking.name(part)) for part in parts] if belief else []
            priors = [one.believed(belief) for one in priors]
        return about, [one for one in priors if len(one)]
    finally:
        _source.cache_clear()


def ask_words(work: PartedText, asking: Asking, parts: int, pool: Pool) -> None:
    """Keep what a source says of the words of all parts."""
    source = asking.words
    assert source is not None
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())  # in the order of the text
    for part in range(parts):
        text = load_text(work.store, written_name(*work.place(part)))
        for of_side, side, vocabulary in zip(
            counts, (text.source, text.target), (text.source_vocabulary, text.target_vocabulary), strict=True
        ):
            words = vocabulary.words()
            of_side.update(dict(zip(words, np.bincount(side.tokens, minlength=len(words)).tolist(), strict=True)))
    for of_side in counts:
        del of_side[""]
    distinct = [Vocabulary.from_words(word for word, _ in of_side.most_common()) for of_side in counts]
    texts = (load_text(work.store, written_name(*work.place(part))) for part in range(parts))
    first = load_text(work.store, written_name(*work.place(0)))
    evidence = source.of_text(distinct[0], distinct[1], first, texts, pool)
    priors = evidence.priors or Priors()
    priors = given_pairs.in_lower_case(priors) if asking.lowercase else priors
    given_pairs.keep_priors(work.store, asking.name(), priors, evidence.about)
