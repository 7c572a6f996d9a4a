"""Evidence: what is known of words besides the text itself. The kinds that there are, and what each of them says.

Evidence is of *types* of words, pseudo-counts that training starts from, or of *places* in a sentence pair, links with
probabilities that are inputs of the network. Training, files and the network go over the kinds that are asked
(`SourceKind`) and name none of them. Other kinds have ways of their own into a model; their declarations say where.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from aligntools.ground.declarations import Settings
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    import numpy as np

    from aligntools.aligning.contrastive.evidence import Places
    from aligntools.formats.links.given_links import GivenLinks
    from aligntools.formats.links.priors import Priors
    from aligntools.formats.text.corpus import Bitext
    from aligntools.ground.parallel import Pool
    from aligntools.words.vocabulary import AnyVocabulary

#: What headers of models and files of weights have besides.
OF_MODELS = {"settings", "lowercase", "split", "length_ratio", "members", "subwords", "decision", "before", "words"}
OF_WEIGHTS = {"format", "version", "features", "weights", "search", "learned", "evidence", "trees"}
#: In what weights say of a kind: the model's own text was not all read, so that new text can do without.
SAMPLED = "sampled"
#: In what weights say of a kind: the weights of a second look at cells (`contrastive.second_look`).
LOOK = "look"
#: What a model's header says of evidence: its ``name``, and what else there is to know.
About = dict[str, Any]

S = TypeVar("S", bound=Settings)
_log = logging.getLogger("aligntools")


@dataclass(frozen=True)
class EvidenceKind:
    """A kind of evidence: its ``name`` in model headers, what it is ``about``, and the ``option`` that asks for it.

    types, places: What it is evidence of; ``in_parts``: also of text in parts; ``pieces``: also of pieces of words.
    again: To align new text it has to be there again; a kind that is asked has to where it gave evidence of places.
    """

    name: str
    about: str
    option: str
    types: bool = True
    places: bool = False
    in_parts: bool = True
    pieces: bool = False
    again: bool = False


@dataclass(frozen=True, eq=False)
class SourceEvidence:
    """What a source says of a text.

    about: For a model's header: the source's ``name``, a ``checksum`` if it can know places, what it found.
    priors, places: Links of types of words, as written, which count in full; links of each pair that was read.
    whole: All sentence pairs were read, where the source reads sentences.
    """

    about: About
    priors: "Priors | None" = None
    places: "Places | None" = None
    whole: bool = True


class Source(ABC):
    """What knows words beforehand, of any text; a subclass is of words or of text."""

    @property
    @abstractmethod
    def about(self) -> About:
        """Its ``name``, ``checksum`` and the like; the same for the same source, and JSON."""

    @abstractmethod
    def known(self, written: "Bitext", pool: "Pool", tell: Callable[[int, int], None]) -> SourceEvidence:
        """Return what is known of a text before training.

        written: Its words as they are written.
        tell: Called with how many more pairs were read, and how many are to be.
        """


class WordSource(Source):
    """A source that knows words by themselves, such as a lexicon: it gives evidence of types alone."""

    @abstractmethod
    def of_words(self, source: "AnyVocabulary", target: "AnyVocabulary", pool: "Pool") -> SourceEvidence:
        """Return which words of two vocabularies are translations; the most frequent ones come first."""

    def known(self, written: "Bitext", pool: "Pool", tell: Callable[[int, int], None]) -> SourceEvidence:
        """Return what is known of a text's words."""
        from aligntools.formats.text.corpus import frequent_first

        return self.of_text(*frequent_first(written), written, (written,), pool)

    def of_text(
        self, source: "AnyVocabulary", target: "AnyVocabulary", tried: "Bitext", parts: "Iterable[Bitext]", pool: "Pool"
    ) -> SourceEvidence:
        """Return the evidence about a text, or about one in parts. Words are given by descending frequency.

        It may be tried by ``tried``, the first part; sources that look where words are together go over the ``parts``.
        """
        return self.tried(self.of_words(source, target, pool), tried)

    def tried(self, evidence: SourceEvidence, written: "Bitext") -> SourceEvidence:
        """Return the evidence scaled by how well it agrees with a text or a part of it; words are as written."""
        return evidence


class TextSource(Source):
    """A source that reads sentences."""

    @abstractmethod
    def links(self, written: "Bitext", pool: "Pool") -> "GivenLinks":
        """Return links of each pair of a text: evidence of places, for weights that were learned with it."""

    def pairs_of(self, pairs: int, words: int | None = None) -> int:
        """Return how many pairs are read of a text with so many, and so many words on both sides together."""
        return pairs

    def lines_of(self, pairs: int) -> Sequence[int]:
        """Return the numbers, from 0, of the pairs that are always read, of a text with ``pairs`` pairs."""
        return ()

    @property
    def alone(self) -> WordSource | None:
        """What it knows of words by themselves, which is asked too where not all sentences are read."""
        return None

    @abstractmethod
    def of_part(self, written: "Bitext", text: "Bitext", pool: "Pool") -> "tuple[Priors, About]":
        """Return priors of some pairs of a text in parts, and facts that `of_parts` puts together, JSON.

        ``text`` is what is written, in the case that training takes it in; the priors are of its words.
        """

    @abstractmethod
    def of_parts(self, facts: Sequence[About]) -> tuple[float, About]:
        """Return how far the priors of all parts are believed, from 0 to 1, and what a model's header says."""


@dataclass(frozen=True)
class SourceKind(EvidenceKind, ABC, Generic[S]):
    """A kind of evidence that settings can ask for; it is off by default. A subclass makes the source.

    applying: Its options that hold where a model is applied, too: where the source is, or that it is left out.
    in_memory: Its options that are about a text in memory, and none in parts.
    instead: What to do where a model needs a source that is not there; the end of a message.
    """

    settings: type[S] = Settings  # type: ignore[assignment]
    applying: tuple[str, ...] = ()
    in_memory: tuple[str, ...] = ()
    instead: str = ""

    def asked(self, settings: S) -> bool:
        """Return whether settings ask for it."""
        return settings != self.settings()

    def left_out(self, settings: S) -> bool:
        """Return whether settings say that it takes no part, even where a model has it."""
        return False

    def chosen(self, settings: S, usual: bool) -> S:
        """Fill in the defaults of what was not given.

        usual: Whether kinds that are there take part without being asked for.
        """
        return settings

    def elsewhere(self, settings: S) -> S:
        """Return the same for processes that may have working folders of their own."""
        return settings

    @abstractmethod
    def source(self, settings: S) -> Source:
        """Return the source that settings ask for; it loads what takes memory when it is asked first."""

    def settings_of(self, about: About, settings: S) -> S:
        """Return settings that ask for the source which a model's header names; ``settings`` hold where they can."""
        return settings

    def worth(self, about: About) -> "np.ndarray | None":
        """Return what links of new text are worth to a model whose own text was not all read; None: they are not asked.

        about: What the model's header says. Returns float64 [READINGS]; see `contrastive.evidence.Places`.
        """
        return None

    def look(self, about: About, read: bool) -> "Sequence[float] | None":
        """Return the weights of a second look at what the source says of cells; see `contrastive.second_look`.

        read: The source had a part in the base model, which then knows what it says.
        """
        return None

    def summary(self, about: About) -> str:
        """Return what a model's header says, in a line."""
        return f"{self.name} {about['name']}"

    def source_of(self, about: About, settings: S) -> TextSource:
        """Return the source of evidence of places that weights were made with.

        Raises UsageProblem when it is not there, or is another one.
        """
        problem = ""
        try:
            found = self.source(self.settings_of(about, settings))
            if found.about["checksum"] != about["checksum"]:
                problem = f"its checksum begins with {about['checksum'][:12]}, and this is another one"
        except UsageProblem as error:
            problem = error.message
        if problem:
            asked = f"links are decided on with the {self.name} {about['name']}, and"
            raise UsageProblem(f"{asked} {problem}; {self.instead}")
        assert isinstance(found, TextSource)
        return found


#: All kinds, by their names.
KINDS: dict[str, EvidenceKind] = {}


def register(kind: EvidenceKind) -> None:
    """Make a kind known; one of the same name is replaced."""
    if kind.name in OF_MODELS | OF_WEIGHTS:
        raise ValueError(f"headers have '{kind.name}' already")
    KINDS[kind.name] = kind


def forget(name: str) -> None:
    """Take a kind back."""
    del KINDS[name]


def kinds() -> tuple[EvidenceKind, ...]:
    """Return all kinds, in the order in which they were made known."""
    return tuple(KINDS.values())


def is_kind(name: str) -> bool:
    """Return whether there is a kind of this name."""
    return name in KINDS


def source_kinds() -> tuple[SourceKind[Any], ...]:
    """Return the kinds that are asked."""
    return tuple(kind for kind in KINDS.values() if isinstance(kind, SourceKind))


def kind_of(name: str) -> SourceKind[Any]:
    """Return a kind that a file names.

    Raises UsageProblem when there is none.
    """
    found = KINDS.get(name)
    if not isinstance(found, SourceKind):
        raise UsageProblem(f"evidence '{name}' is of an unknown kind")
    return found


@dataclass(frozen=True)
class EvidenceOptions:
    """Which evidence is asked for: settings by the names of kinds; of those that are not among them, the defaults.

    never: Kinds that are not asked, whatever settings say.
    """

    settings: Mapping[str, Settings] = field(default_factory=dict)
    never: tuple[str, ...] = ()

    @classmethod
    def of(cls, made: Callable[[type[Settings]], Settings], *, applying: bool = False) -> "EvidenceOptions":
        """Ask as settings say, which ``made`` returns of a class.

        Raises UsageProblem where a model is applied (``applying``), and an option is for training.
        """
        found = {}
        for kind in source_kinds():
            settings = found[kind.name] = made(kind.settings)
            for name in kind.settings.names():
                chosen = getattr(settings, name) != getattr(kind.settings(), name)
                if applying and chosen and name not in kind.applying:
                    raise UsageProblem(f"a model is applied as it is; `{name}` is for training")
        return cls(found)

    def of_kind(self, kind: SourceKind[S]) -> S:
        """Return a kind's settings."""
        found = self.settings.get(kind.name)
        return found if isinstance(found, kind.settings) else kind.settings()

    def chosen(self, usual: bool) -> "EvidenceOptions":
        """Fill in the defaults of all; see `SourceKind.chosen`."""
        return replace(self, settings={kind.name: kind.chosen(self.of_kind(kind), usual) for kind in source_kinds()})

    def elsewhere(self) -> "EvidenceOptions":
        """Return the same for processes that may have working folders of their own."""
        return replace(self, settings={kind.name: kind.elsewhere(self.of_kind(kind)) for kind in source_kinds()})

    @property
    def kinds(self) -> tuple[SourceKind[Any], ...]:
        """The kinds that take part."""
        return tuple(kind for kind in source_kinds() if kind.asked(self.of_kind(kind)))

    def __bool__(self) -> bool:
        return bool(self.kinds)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of kinds that take no part, even where a model has them."""
        return *self.never, *(kind.name for kind in source_kinds() if kind.left_out(self.of_kind(kind)))

    def without(self, names: Iterable[str]) -> "EvidenceOptions":
        """Return the same where some kinds take no part, even where a model has them."""
        return replace(self, never=(*self.never, *names))

    def absent(self, wanted: Mapping[str, About]) -> list[str]:
        """Return the kinds that a model can do without and whose sources are not there; log which.

        wanted: What weights ask for. One that was asked for has to be there.
        """
        names = []
        for name, about in wanted.items():
            kind = kind_of(name)
            if not about.get(SAMPLED) or kind.asked(self.of_kind(kind)):
                continue
            try:
                kind.source_of(about, self.of_kind(kind))
            except UsageProblem as problem:
                _log.warning("%s is left out: %s", name, problem.message)
                names.append(name)
        return names

    def keywords(self) -> dict[str, Any]:
        """Return the same as keywords of a call."""
        every = {name: getattr(one, name) for one in self.settings.values() for name in one.names()}
        return {name: value for name, value in every.items() if value is not None}

    def sources(self, wanted: Mapping[str, About]) -> dict[str, TextSource]:
        """Return the sources of evidence of places that weights ask for; see `SourceKind.source_of`."""
        found = {}
        for name, about in wanted.items():
            kind = kind_of(name)
            found[name] = kind.source_of(about, self.of_kind(kind))
        return found


@dataclass(frozen=True, eq=False)
class TextEvidence:
    """What all kinds that were asked know of a text.

    text: The text, as training takes it.
    """

    by_kind: Mapping[str, SourceEvidence]
    asked: EvidenceOptions = field(default_factory=EvidenceOptions)
    text: "Bitext | None" = None

    @cached_property
    def priors(self) -> "Priors | None":
        """Links of types of words, of all kinds together."""
        return self._together(self.by_kind)

    @cached_property
    def of_pieces(self) -> "Priors | None":
        """Those that are links of pieces of words, too."""
        return self._together([name for name in self.by_kind if kind_of(name).pieces])

    def _together(self, names: Iterable[str]) -> "Priors | None":
        from aligntools.formats.links.priors import combined

        found = [priors for name in names if (priors := self.by_kind[name].priors) is not None]
        return found[0] if len(found) == 1 else combined(found) if found else None

    @property
    def header(self) -> dict[str, About]:
        """What a model's header says."""
        return {name: one.about for name, one in self.by_kind.items()}

    @property
    def places(self) -> "dict[str, Places]":
        """Evidence of places, by kind, in the order that weights have it."""
        return {name: one.places for name, one in sorted(self.by_kind.items()) if one.places is not None}

    @property
    def read(self) -> float:
        """The share of the text's pairs in which a source of places has a link."""
        counts = [one.given.links.counts() for one in self.places.values() if len(one.given)]
        return max((float((own > 0).mean()) for own in counts), default=0.0)

    @property
    def tables(self) -> "dict[str, np.ndarray]":
        """What links of places are worth, by kind: of this text, or else of new text."""
        return {name: places.table for name, places in self.places.items()} | worth(self.header, self.places)

    @cached_property
    def sources(self) -> dict[str, TextSource]:
        """The sources of evidence of places."""
        found = {name: kind_of(name).source(self.asked.of_kind(kind_of(name))) for name in self.tables}
        return {name: one for name, one in found.items() if isinstance(one, TextSource)}

    def without(self, names: Sequence[str]) -> "TextEvidence":
        """Return the same without the evidence of some kinds."""
        return replace(self, by_kind={name: one for name, one in self.by_kind.items() if name not in names})


def sizes(text: "Bitext") -> tuple[int, int]:
    """Return a text's pairs, and its words on both sides together."""
    return len(text), len(text.source.tokens) + len(text.target.tokens)


def worth(header: Mapping[str, About], known: Iterable[str] = ()) -> "dict[str, np.ndarray]":
    """Return what links of new text are worth, by the kinds of a model's header that are not ``known``."""
    tables = {name: kind_of(name).worth(about) for name, about in header.items() if name not in set(known)}
    return {name: table for name, table in tables.items() if table is not None}


def summary(header: Mapping[str, About]) -> list[str]:
    """Return what a model's header says of its evidence, a line for each kind."""
    return [kind_of(name).summary(about) for name, about in header.items()]


def ask(
    written: "Bitext",
    asked: EvidenceOptions,
    pool: "Pool",
    tell: Callable[[str, int, int], None] = lambda _kind, _done, _of: None,
    places: bool = False,
) -> TextEvidence | None:
    """Ask every kind that takes part about a text whose words are as they are written; None where none does.

    ``tell`` is called with the kind's name, how many more pairs were read, and how many are to be. With ``places`` only
    places are asked about: where training is over, evidence of types changes nothing.
    """
    by_kind = {}
    for kind in asked.kinds:
        source = kind.source(asked.of_kind(kind))  # forgotten before training: it may take memory
        own = partial(tell, kind.name)
        if not places:
            by_kind[kind.name] = evidence_from(source, written, pool, own)
        elif isinstance(source, TextSource):
            by_kind[kind.name] = source.known(written, pool, own)
    return TextEvidence(by_kind, asked, written) if asked else None


def evidence_from(source: Source, written: "Bitext", pool: "Pool", tell: Callable[[int, int], None]) -> SourceEvidence:
    """Return what a source knows of a text; where it reads a sample of the pairs, of words by themselves too."""
    from aligntools.formats.links.priors import combined

    found, alone = source.known(written, pool, tell), None
    if isinstance(source, TextSource) and not found.whole:
        alone = source.alone
    if alone is None:
        return found
    words, share = alone.known(written, pool, tell), float(found.about.get("belief", 1.0))
    of_words = None if words.priors is None else words.priors.believed(share)
    priors = [one for one in (found.priors, of_words) if one is not None]
    about = found.about | {"alone": words.about | {"belief": share}}
    return replace(found, about=about, priors=combined(priors) if priors else None)
