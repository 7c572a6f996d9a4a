"""A tagger as a whole: vocabulary, candidates, models and unknown words, on disk and in memory."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise, repeat
from typing import Any, Self

import numpy as np

from aligntools.formats.annotation.class_lists import WordLookup
from aligntools.formats.annotation.conll import column_place
from aligntools.formats.models.modelfile import Array, SavedModel, checked, hold, hold_offsets, named
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.tagging.chain import Chain
from aligntools.tagging.decoding import CandidateChain, TagCandidates, tag_posteriors
from aligntools.tagging.decoding import decode as decoded
from aligntools.tagging.settings import DECODERS
from aligntools.tagging.state_splits import Splitter
from aligntools.tagging.unknown_words import RELATIONS, FormClasses, UnknownWords, text_of
from aligntools.words.white_space import NormalForm, form_of

#: A word's tags with less than this share of the probability of its likeliest tag are not candidates.
THRESHOLD = 1e-3
#: Largest number of unknown words that are remembered between calls.
REMEMBER = 1 << 17
#: Bytes of unknown words that are remembered: they may be long.
HELD = 1 << 26
_ARRAYS = (
    Array("candidates.groups", ("candidates",), np.int32, 0, "groups"),
    Array("candidates.ptr", ("words",), low=1, cuts="candidates"),
    Array("classes.parents", ("classes",), np.int64, 0, "classes"),
    Array("unknown.weights", ("rows", "tags"), np.float32),
    Array("unknown.states", ("states",), np.int32, 0, "tags"),
    Array("unknown.ptr", ("words",), cuts="states"),
    Array("unknown.shares", ("states",), np.float32, 0),
)
_CHAIN = (
    Array("start", ("states",), np.float64, 0),
    Array("first", ("groups",), low=1, cuts="states"),
    Array("transitions", ("states", "states"), np.float64, 0),
    Array("stop", ("states",), np.float64, 0),
)
_MEMBER = (
    Array("prior", ("states",), np.float64, np.finfo(np.float64).tiny),
    Array("shares", ("classes", "states"), np.float32, 0),
)
_WORDS = Array("words.factors", ("words",), np.float64, 0)


@dataclass(frozen=True)
class TaggerMember:
    """One model of a tagger, and what emissions of unknown words are made of.

    prior (float64 [states]): ``p(state)``.
    shares (float32 [nodes, states]): ``p(state | tag, class of the word)``; all 1 where a tag has one state.
    """

    chain: CandidateChain
    prior: np.ndarray
    shares: np.ndarray


def emissions(
    first: np.ndarray,
    class_shares: np.ndarray,
    prior: np.ndarray,
    group_shares: np.ndarray,
    nodes: np.ndarray,
    candidates: TagCandidates,
) -> np.ndarray:
    """Return ``p(state | word) / p(state)`` of words, laid out as in `CandidateChain`.

    first (int64 [groups + 1]), class_shares (float32 [nodes, states]), prior (float64 [states]).
    group_shares (float64 [candidates]): ``p(group | word)``.
    nodes (int64 [words]): Class of each word.
    """
    _, candidate, state = candidates.states(first)
    rows = candidates.rows()[candidate]
    within = class_shares[nodes[rows], state]
    return rounded(group_shares[candidate] * within / prior[state])


def rounded(values: np.ndarray) -> np.ndarray:
    """Return values as they will be when read from a file."""
    return np.asarray(values, np.float32).astype(np.float64)


@dataclass(frozen=True)
class TaggerModel(SavedModel):
    """What training gives and ``tag -m`` takes; nothing in it changes.

    coarse: The model of one state per tag that reduces the candidates for the others.
    anonymous: The tags are the names or numbers of induced states: all in one group, one member.
    factors (float64 [words] or None): What a known word's emissions times this are ``p(word | state)``; None in a model
        of an older version.
    """

    KIND = "tagger"
    tags: list[str]
    words: list[bytes]
    candidates: TagCandidates
    members: list[TaggerMember]
    coarse: TaggerMember | None
    unknown: UnknownWords
    classes: FormClasses
    anonymous: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    factors: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lock", threading.Lock())
        object.__setattr__(self, "_memory", _Memory(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, f.name) for f in fields(self))

    @cached_property
    def normal_form(self) -> NormalForm | None:
        """Unicode's normal form of the words."""
        return form_of(self.words)

    @cached_property
    def splitter(self) -> Splitter | None:
        """What splits surface tokens, where the tagger was trained on them."""
        return Splitter.of(self.settings["splits"]) if "splits" in self.settings else None

    @property
    def all_members(self) -> list[TaggerMember]:
        """The coarse model, if there is one, and the others."""
        return ([self.coarse] if self.coarse else []) + self.members

    def tag(
        self,
        words: Sequence[bytes],
        offsets: np.ndarray,
        pool: Pool,
        decode: str = "posterior",
        remember: bool = True,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the tag of each word (int32 [tokens], indexes of ``tags``), and its posterior (float64 [tokens]).

        words, offsets (int64 [sentences + 1]): Bytes that are not UTF-8 make an unknown word.
        remember: Keep what was found out about unknown words. Otherwise time and memory are those of the words given.
        """
        if decode not in DECODERS:
            raise UsageProblem(f"`decode` is one of {', '.join(DECODERS)}, not {decode}")
        rows, table, chains = self._rows(words) if remember else self._rows_alone(words)
        coarse = chains[0] if self.coarse else None
        offsets = np.ascontiguousarray(offsets, np.int64)
        path = decode == "viterbi"
        return decoded(rows, offsets, table, chains[1:] if coarse else chains, pool, coarse, self.anonymous, path)

    def tag_posteriors(
        self, words: Sequence[bytes], offsets: np.ndarray, pool: Pool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the posteriors of the tags of a text's words, as `aligntools.tagging.decoding.tag_posteriors` does."""
        rows, table, chains = self._rows_alone(words)
        coarse = chains.pop(0) if self.coarse else None
        return tag_posteriors(
            rows, np.ascontiguousarray(offsets, np.int64), table, chains, pool, coarse, self.anonymous
        )

    @property
    def _held(self) -> "_Memory":
        """The rows of words that were met."""
        found: _Memory = self.__dict__["_memory"]
        return found

    def _rows(self, words: Sequence[bytes]) -> tuple[np.ndarray, TagCandidates, list[CandidateChain]]:
        """Return each word's row, and the candidates and chains that have these rows."""
        memory = self._held
        if len(memory.index) > len(self.words) + REMEMBER or memory.held > HELD:
            memory = _Memory(self)
            object.__setattr__(self, "_memory", memory)
        rows = np.fromiter(map(memory.index.get, words, repeat(-1)), np.int32, len(words))
        missing = np.flatnonzero(rows < 0)
        if len(missing):
            with self.__dict__["_lock"]:
                forms = dict.fromkeys(words[t] for t in missing.tolist())
                memory.learn([w for w in forms if w not in memory.index])
            rows[missing] = [memory.index[words[t]] for t in missing.tolist()]
        return rows, *memory.tables

    def _rows_alone(self, words: Sequence[bytes]) -> tuple[np.ndarray, TagCandidates, list[CandidateChain]]:
        """Return rows, candidates and chains as `_rows` does, of these words alone."""
        forms = list(dict.fromkeys(words))
        index, size = self._held.index, len(self.words)
        found = np.fromiter((index.get(word, size) for word in forms), np.int64, len(forms))
        order = np.argsort(found >= size, kind="stable")  # the known ones first
        known = found[found < size]
        cells, kept = self.candidates.of_tokens(known)
        table, chains = TagCandidates(cells, self.candidates.groups[kept]), []
        for member, places in zip(self.all_members, self._places, strict=True):
            widths = np.diff(member.chain.first)[table.groups]
            at = np.repeat(places[kept] - np.cumsum(widths) + widths, widths) + np.arange(int(widths.sum()))
            chains.append(replace(member.chain, values=member.chain.values[at]))
        if len(known) < len(forms):
            more, values = self._unknown([forms[k] for k in order[len(known) :].tolist()])
            table = table.joined(more)
            chains = [replace(c, values=np.concatenate([c.values, v])) for c, v in zip(chains, values, strict=True)]
        row = {forms[k]: n for n, k in enumerate(order.tolist())}
        return np.fromiter((row[word] for word in words), np.int32, len(words)), table, chains

    def first_states(self, chain: CandidateChain) -> np.ndarray:
        """Return where each tag's states begin, and end: int64 [tags + 1]."""
        return np.arange(len(self.tags) + 1, dtype=np.int64) if self.anonymous else chain.first

    def emissions(
        self, words: Sequence[bytes], members: "list[TaggerMember] | None" = None
    ) -> tuple[np.ndarray, list[tuple[Chain, np.ndarray]]]:
        """Return ``p(word | state)`` of a text's words; of an unknown word its share that states differ by.

        words (sequence of bytes [tokens]).
        members: None: those that tag.
        Returns tokens (int32 [tokens]): Rows of the emissions.
        Returns list of (Chain, int64 [tags + 1]): of each member, and where tags' states begin.
        """
        tokens, table, chains = self._rows_alone(words)
        forms = dict(zip(tokens.tolist(), words, strict=True))  # each row's word
        index, size = self._held.index, len(self.words)
        ids = [index.get(forms[row], size) for row in range(len(table.ptr) - 1)]
        unknown = 0.0 if self.settings.get("relative_frequencies") else 1.0
        assert self.factors is not None  # `Sequences` asks
        factors = np.array([self.factors[k] if k < size else unknown for k in ids])
        found, all_ = [], dict(zip(map(id, self.all_members), chains, strict=True))
        for member in members or self.members:
            chain = all_[id(member)]
            _, candidate, state = table.states(chain.first)
            values = np.zeros((len(ids), len(chain.start)))
            values[table.rows()[candidate], state] = chain.values
            dense = Chain(chain.start, chain.transitions, chain.stop, values * factors[:, None])
            found.append((dense, self.first_states(chain)))
        return tokens, found

    @cached_property
    def _places(self) -> list[np.ndarray]:
        """Where the emissions of each known word's candidates begin, for each member."""
        return [member.chain.places(self.candidates) for member in self.all_members]

    def _unknown(self, words: Sequence[bytes]) -> tuple[TagCandidates, list[np.ndarray]]:
        """Return the candidates of unknown words, and for each member their emissions."""
        if self.settings.get("relative_frequencies"):  # nothing is known of them: any tag, by its neighbours
            candidates = TagCandidates.above(np.ones((len(words), len(self.tags))), 1)
            return candidates, [np.ones(len(candidates.groups)) for _ in self.all_members]
        shares = self.unknown.probabilities(words)
        if self.anonymous:
            ptr = np.arange(len(words) + 1, dtype=np.int64)
            candidates = TagCandidates(ptr, np.zeros(len(words), np.int32))
            return candidates, [rounded(shares / self.members[0].prior).ravel()]
        nodes = self.classes.find(words)
        candidates = TagCandidates.above(shares, THRESHOLD)
        likely = shares[candidates.rows(), candidates.groups]
        return candidates, [
            emissions(m.chain.first, m.shares, m.prior, likely, nodes, candidates) for m in self.all_members
        ]

    def knows(self, words: Sequence[bytes]) -> np.ndarray:
        """Return for each word whether training saw it, bool [words]."""
        known = set(self.words)
        return np.fromiter((w in known for w in words), bool, len(words))

    def parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the arrays of the model's file."""
        header = {
            "tags": self.tags,
            "anonymous": self.anonymous,
            "members": len(self.members),
            "coarse": bool(self.coarse),
            "levels": self.classes.levels,
            "settings": self.settings,
        }
        arrays = named(self, _ARRAYS)
        if self.unknown.classes is not None:
            header["word_classes"] = True
            arrays |= self.unknown.classes.arrays("word_classes")
        if self.factors is not None:
            arrays["words.factors"] = self.factors
        texts = {
            "words": self.words,
            "features": _bytes(self.unknown.features),
            "signatures": _bytes(self.classes.numbers),
        }
        for name, words in texts.items():
            arrays[f"{name}.blob"] = np.frombuffer(b"".join(words), np.uint8)
            arrays[f"{name}.ends"] = np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), dtype=np.int64)
        for n, m in enumerate(self.all_members):
            own = named(m.chain, _CHAIN) | named(m, _MEMBER) | {"values": m.chain.values.astype(np.float32)}
            arrays |= {f"{n}.{name}": array for name, array in own.items()}
        return header, arrays

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Rebuild the model from what a file holds."""
        tags, anonymous, settings = header["tags"], header["anonymous"], header["settings"]
        words, n_tags = _unpack(arrays, "words"), len(tags)
        odd = any(not isinstance(tag, str) or not tag or set(tag) & set("\t\n") for tag in tags)
        if not tags or odd or header["members"] < 1:
            raise ValueError("no tags")
        if not isinstance(settings, dict) or not isinstance(anonymous, bool):
            raise ValueError("settings")
        column_place(settings.get("column", "upos"))
        if "splits" in settings:
            Splitter.of(settings["splits"])
        signatures, features = ([text_of(s) for s in _unpack(arrays, name)] for name in ("signatures", "features"))
        sizes = {"words": len(words), "tags": n_tags, "groups": 1 if anonymous else n_tags}
        sizes |= {"rows": len(features) + len(RELATIONS) * n_tags}
        groups, ptr, parents, *found = checked(arrays, _ARRAYS, sizes)
        if len(signatures) != len(parents) - 1:
            raise ValueError("signatures and classes differ in number")
        candidates, weights, states, of_words, shares = TagCandidates(ptr, groups), *found
        classes = FormClasses(
            {s: n + 1 for n, s in enumerate(signatures)}, parents, [tuple(x) for x in header["levels"]]
        )
        known, numbers = {text_of(w): n for n, w in enumerate(words)}, {f: n for n, f in enumerate(features)}
        word_classes = WordLookup.from_arrays(arrays, "word_classes") if header.get("word_classes") else None
        unknown = UnknownWords(numbers, weights, known, of_words, states, shares, word_classes)
        own = sizes | {"classes": len(parents)}
        all_ = [_member(n, arrays, candidates, own) for n in range(header["members"] + bool(header["coarse"]))]
        if anonymous and len(all_) != 1:
            raise ValueError("more than one model of anonymous states")
        if anonymous and len(all_[0].prior) != n_tags:
            raise ValueError("a state has no tag")
        coarse = all_.pop(0) if header["coarse"] else None
        if coarse and len(coarse.prior) != sizes["groups"]:
            raise ValueError("the coarse model has not one state for each tag")
        factors = checked(arrays, [_WORDS], sizes)[0] if "words.factors" in arrays else None
        return cls(tags, words, candidates, all_, coarse, unknown, classes, anonymous, settings, factors)


class _Memory:
    """Rows of words: the known ones, and unknown ones that were met.

    Threads may read while one of them (that holds the model's lock) adds words: rows are never changed or removed,
    and the tables have a row before the index does.
    """

    def __init__(self, model: "TaggerModel") -> None:
        self.model, self.held = model, 0  # bytes of unknown words
        self.index = dict(zip(model.words, range(len(model.words)), strict=True))
        self.tables = model.candidates, [m.chain for m in model.all_members]

    def learn(self, words: Sequence[bytes]) -> None:
        """Add rows for unknown words."""
        if not words:
            return
        table, chains = self.tables
        candidates, more = self.model._unknown(words)
        chains = [replace(c, values=np.concatenate([c.values, v])) for c, v in zip(chains, more, strict=True)]
        self.tables = table.joined(candidates), chains
        base = len(self.index)
        self.index.update(zip(words, range(base, base + len(words)), strict=True))
        self.held += sum(map(len, words))


def _bytes(names: Iterable[str]) -> list[bytes]:
    return [name.encode("utf-8", "surrogateescape") for name in names]


def _unpack(arrays: dict[str, np.ndarray], name: str) -> list[bytes]:
    blob, ends = arrays[f"{name}.blob"], arrays[f"{name}.ends"]
    hold(arrays, f"{name}.blob", (len(blob),), np.uint8)
    hold(arrays, f"{name}.ends", (len(ends),), np.int64)
    starts = np.concatenate([[0], ends]).astype(np.int64)
    hold_offsets({name: starts}, name, len(ends), len(blob))
    data = blob.tobytes()
    words = [data[a:b] for a, b in pairwise([0, *ends.tolist()])]
    if len(set(words)) < len(words):
        raise ValueError(f"{name} come twice")
    return words


def _member(n: int, arrays: dict[str, np.ndarray], candidates: TagCandidates, sizes: dict[str, int]) -> TaggerMember:
    start, first, transitions, stop = checked(arrays, _CHAIN, sizes, f"{n}.")
    prior, shares = checked(arrays, _MEMBER, sizes | {"states": len(start)}, f"{n}.")
    places = int(np.diff(first)[candidates.groups].sum())
    values = hold(arrays, f"{n}.values", (places,), np.float32, 0).astype(np.float64)
    return TaggerMember(CandidateChain(first, start, transitions, stop, values), prior, shares)
