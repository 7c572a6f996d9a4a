"""A tagger as a whole: vocabulary, candidates, models and unknown words, on disk and in memory."""

from dataclasses import dataclass, field
from itertools import pairwise, repeat

import numpy as np

from aligntools.formats.modelfile import fitting, hold, read_model, write_model
from aligntools.ground.errors import UsageProblem
from aligntools.tagging.decoding import Candidates, Model, decode
from aligntools.tagging.unknown import RELATIONS, UnknownWords, text_of
from aligntools.tagging.wordclasses import WordClasses

KIND = "tagger"
DECODERS = ("posterior", "viterbi")
#: A word's tags with less than this share of its likeliest tag's probability are no candidates.
THRESHOLD = 1e-3
#: Unknown words that are remembered between calls, at most.
REMEMBER = 1 << 17


@dataclass
class Member:
    """One model of a tagger, and what emissions of unknown words are made of.

    Attributes
    ----------
    model : Model
    prior : float64 [states]
        ``p(state)``.
    shares : float32 [nodes, states]
        ``p(state | tag, class of the word)``; all 1 where a tag has one state.
    """

    model: Model
    prior: np.ndarray
    shares: np.ndarray

    def emissions(self, group_shares, nodes, candidates):
        """Return ``p(state | word) / p(state)`` of words, as `Model` lays them out.

        Parameters
        ----------
        group_shares : float64 [candidates]
            ``p(group | word)``.
        nodes : int64 [words]
        candidates : Candidates
            Of the words.
        """
        _, candidate, state = candidates.states(self.model.first)
        rows = candidates.rows()[candidate]
        within = self.shares[nodes[rows], state]
        return rounded(group_shares[candidate] * within / self.prior[state])


def rounded(values):
    """Return values as they will be when read from a file."""
    return np.asarray(values, np.float32).astype(np.float64)


@dataclass
class Tagger:
    """What training gives and ``tag -m`` takes.

    Attributes
    ----------
    tags : list of str
    words : list of bytes
        Known words, distinct.
    candidates : Candidates
        Of the known words.
    members : list of Member
    coarse : Member or None
        The model of one state a tag that narrows the candidates down for the others.
    unknown : UnknownWords
        Learned from ``words``.
    classes : WordClasses
    anonymous : bool
        The tags are states that nobody named: all in one group, one member.
    settings : dict
    """

    tags: list
    words: list
    candidates: Candidates
    members: list
    coarse: Member | None
    unknown: UnknownWords
    classes: WordClasses
    anonymous: bool = False
    settings: dict = field(default_factory=dict)

    def __post_init__(self):
        self._forget()

    def _forget(self):
        """Keep the known words alone."""
        self._index = dict(zip(self.words, range(len(self.words)), strict=True))
        self._table = self.candidates
        self._models = [m.model for m in self._all()]

    def _all(self):
        return ([self.coarse] if self.coarse else []) + self.members

    def _learn_forms(self, words):
        """Add rows for unknown words."""
        shares = self.unknown.probabilities(words)
        nodes = self.classes.find(words)
        if self.anonymous:
            ptr = np.arange(len(words) + 1, dtype=np.int64)
            candidates = Candidates(ptr, np.zeros(len(words), np.int32))
            more = [rounded(shares / self.members[0].prior).ravel()]
        else:
            candidates = Candidates.above(shares, THRESHOLD)
            likely = shares[candidates.rows(), candidates.groups]
            more = [m.emissions(likely, nodes, candidates) for m in self._all()]
        base = len(self._index)
        self._index.update(zip(words, range(base, base + len(words)), strict=True))
        self._table = self._table.joined(candidates)
        self._models = [
            Model(m.first, m.start, m.transitions, m.stop, np.concatenate([m.values, v]))
            for m, v in zip(self._models, more, strict=True)
        ]

    def tag(self, words, offsets, pool, decoder="posterior"):
        """Tag a text.

        Parameters
        ----------
        words : list of bytes [tokens]
            Bytes that are no UTF-8 make an unknown word.
        offsets : int64 [sentences + 1]
        pool : Pool
        decoder : {"posterior", "viterbi"}
            The most probable tag of each token, or the most probable tags of a sentence.

        Returns
        -------
        tags : int32 [tokens]
            Numbers of ``tags``.
        confidence : float64 [tokens]
            Their posteriors.

        Raises
        ------
        UsageProblem
            When there is no such decoder.
        """
        if decoder not in DECODERS:
            raise UsageProblem(f"no decoder '{decoder}'; there are {' and '.join(DECODERS)}")
        if len(self._index) > len(self.words) + REMEMBER:
            self._forget()
        get = self._index.get
        rows = np.fromiter(map(get, words, repeat(-1)), np.int32, len(words))
        missing = np.flatnonzero(rows < 0)
        if len(missing):
            self._learn_forms(list(dict.fromkeys(words[t] for t in missing)))
            get = self._index.get
            rows[missing] = [get(words[t]) for t in missing]
        coarse = self._models[0] if self.coarse else None
        models = self._models[1:] if self.coarse else self._models
        offsets = np.ascontiguousarray(offsets, np.int64)
        path = decoder == "viterbi"
        return decode(rows, offsets, self._table, models, pool, coarse, self.anonymous, path)

    def knows(self, words):
        """Tell of each word whether training saw it, bool [words]."""
        known = set(self.words)
        return np.fromiter((w in known for w in words), bool, len(words))

    def save(self, path):
        """Write the model file."""
        header = {
            "tags": self.tags, "anonymous": self.anonymous, "members": len(self.members), "coarse": bool(self.coarse),
            "levels": self.classes.levels, "settings": self.settings,
        }  # fmt: skip
        arrays = {
            "candidates.ptr": self.candidates.ptr, "candidates.groups": self.candidates.groups,
            "classes.parents": self.classes.parents,
            "unknown.weights": self.unknown.weights, "unknown.ptr": self.unknown.ptr,
            "unknown.states": self.unknown.states, "unknown.shares": self.unknown.shares,
        }  # fmt: skip
        encoded = [name.encode("utf-8", "surrogateescape") for name in self.unknown.features]
        signatures = [name.encode("utf-8", "surrogateescape") for name in self.classes.numbers]
        for name, words in (("words", self.words), ("features", encoded), ("signatures", signatures)):
            arrays[f"{name}.blob"], arrays[f"{name}.ends"] = _pack(words)
        for n, m in enumerate(self._all()):
            arrays |= {f"{n}.{name}": getattr(m.model, name) for name in _CHAIN}
            arrays |= {f"{n}.values": m.model.values.astype(np.float32), f"{n}.prior": m.prior, f"{n}.shares": m.shares}
        write_model(path, KIND, header, arrays)

    @classmethod
    def load(cls, path):
        """Read a model file.

        Raises
        ------
        ModelError
            When it is not one, or its parts do not fit together.
        """
        header, arrays = read_model(path, KIND)
        with fitting(path):
            return _assemble(header, arrays)


_CHAIN = ("first", "start", "transitions", "stop")


def _pack(words):
    return (
        np.frombuffer(b"".join(words), np.uint8),
        np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), dtype=np.int64),
    )


def _unpack(arrays, name):
    blob, ends = arrays[f"{name}.blob"], arrays[f"{name}.ends"]
    hold(arrays, f"{name}.blob", (len(blob),), np.uint8)
    hold(arrays, f"{name}.ends", (len(ends),), np.int64)
    _rises(np.concatenate([[0], ends]), len(blob), name)
    data, starts = blob.tobytes(), [0, *ends.tolist()]
    words = [data[a:b] for a, b in pairwise(starts)]
    if len(set(words)) < len(words):
        raise ValueError(f"{name} come twice")
    return words


def _rises(ptr, last, name):
    if ptr[0] != 0 or ptr[-1] != last or np.any(ptr[1:] < ptr[:-1]):
        raise ValueError(f"{name} does not cut what it should")


def _inside(array, n, name):
    if len(array) and (array.min() < 0 or array.max() >= n):
        raise ValueError(f"{name} is out of range")


def _assemble(header, arrays):
    tags, anonymous, levels = header["tags"], header["anonymous"], header["levels"]
    words, n_tags = _unpack(arrays, "words"), len(header["tags"])
    if not tags or any(not isinstance(t, str) for t in tags) or header["members"] < 1:
        raise ValueError("no tags")
    n_groups = 1 if anonymous else n_tags
    ptr = hold(arrays, "candidates.ptr", (len(words) + 1,), np.int64)
    groups = hold(arrays, "candidates.groups", (int(ptr[-1]),), np.int32)
    _rises(ptr, len(groups), "candidates.ptr")
    _inside(groups, n_groups, "candidates.groups")
    if np.any(np.diff(ptr) < 1):
        raise ValueError("a word has no candidates")
    candidates = Candidates(ptr, groups)
    parents = arrays["classes.parents"]
    hold(arrays, "classes.parents", (len(parents),), np.int64)
    _inside(parents, len(parents), "classes.parents")
    signatures = [s.decode("utf-8", "surrogateescape") for s in _unpack(arrays, "signatures")]
    if len(signatures) != len(parents) - 1:
        raise ValueError("signatures and classes differ in number")
    classes = WordClasses({s: n + 1 for n, s in enumerate(signatures)}, parents, [tuple(x) for x in levels])
    features = [s.decode("utf-8", "surrogateescape") for s in _unpack(arrays, "features")]
    rows = len(features) + len(RELATIONS) * n_tags
    weights = hold(arrays, "unknown.weights", (rows, n_tags), np.float32)
    ptr = hold(arrays, "unknown.ptr", (len(words) + 1,), np.int64)
    states = hold(arrays, "unknown.states", (int(ptr[-1]),), np.int32)
    _rises(ptr, len(states), "unknown.ptr")
    _inside(states, n_tags, "unknown.states")
    shares = hold(arrays, "unknown.shares", (len(states),), np.float32)
    known = {text_of(w): n for n, w in enumerate(words)}
    unknown = UnknownWords({f: n for n, f in enumerate(features)}, weights, known, ptr, states, shares)
    all_ = [
        _member(n, arrays, candidates, n_groups, len(parents), n_tags if anonymous else None)
        for n in range(header["members"] + bool(header["coarse"]))
    ]
    if anonymous and len(all_) != 1:
        raise ValueError("more than one model of anonymous states")
    coarse = all_.pop(0) if header["coarse"] else None
    return Tagger(tags, words, candidates, all_, coarse, unknown, classes, anonymous, header["settings"])


def _member(n, arrays, candidates, n_groups, n_nodes, n_states):
    first = hold(arrays, f"{n}.first", (n_groups + 1,), np.int64)
    size = int(first[-1])
    _rises(first, size, "first")
    if np.any(np.diff(first) < 1) or n_states not in (None, size):
        raise ValueError("a tag has no states, or a state no tag")
    start = hold(arrays, f"{n}.start", (size,), np.float64)
    stop = hold(arrays, f"{n}.stop", (size,), np.float64)
    transitions = hold(arrays, f"{n}.transitions", (size, size), np.float64)
    prior = hold(arrays, f"{n}.prior", (size,), np.float64)
    shares = hold(arrays, f"{n}.shares", (n_nodes, size), np.float32)
    places = int(np.diff(first)[candidates.groups].sum())
    values = hold(arrays, f"{n}.values", (places,), np.float32).astype(np.float64)
    if any(a.min(initial=0) < 0 for a in (start, stop, transitions, shares, values)) or prior.min() <= 0:
        raise ValueError("a probability is negative")
    return Member(Model(first, start, transitions, stop, values), prior, shares)


def from_chain(chain, words, counts, smoothing=0.0, settings=None):
    """Make a tagger of a chain whose states nobody named; its tags are their numbers.

    Parameters
    ----------
    chain : object
        With ``start``, ``stop`` [K], ``transitions`` [K, K] and ``emissions`` [words, K], as `chain.Chain`.
    words : list of bytes
        Distinct; rows of the emissions.
    counts : float64 [words, K]
        Expected counts in the training text: unknown words are learned from them.
    smoothing : float
        Known words are smoothed with so many observations of their forms; 0 leaves the chain as it is.
    settings : dict or None
        To be kept in the model file.

    Returns
    -------
    Tagger
    """
    counts = np.ascontiguousarray(counts, np.float64)
    n_states = counts.shape[1]
    prior = counts.sum(0) + 1e-6
    prior /= prior.sum()
    unknown = UnknownWords.learn(words, counts)
    values = np.asarray(chain.emissions, np.float64)
    if smoothing > 0:
        seen = counts.sum(1, keepdims=True)
        shares = values * prior
        shares /= np.maximum(shares.sum(1, keepdims=True), 1e-300)
        values = (seen * shares + smoothing * unknown.probabilities(words)) / (seen + smoothing) / prior
    scale = values.max(1, keepdims=True, initial=0)
    values = rounded(np.divide(values, scale, out=np.ones_like(values), where=scale > 0))
    model = Model(
        np.array([0, n_states], np.int64), np.array(chain.start, np.float64),
        np.array(chain.transitions, np.float64, order="C"), np.array(chain.stop, np.float64), values.ravel(),
    )  # fmt: skip
    candidates = Candidates(np.arange(len(words) + 1, dtype=np.int64), np.zeros(len(words), np.int32))
    classes = WordClasses({}, np.zeros(1, np.int64), [(0, 1)])
    member = Member(model, prior, np.ones((1, n_states), np.float32))
    tags = [str(n) for n in range(n_states)]
    return Tagger(tags, list(words), candidates, [member], None, unknown, classes, True, settings or {})
