"""Tags of rare and unknown words, from their letters.

A log-linear model ``p(state | form)`` (Ratnaparkhi 1996's features of rare words: affixes, capitals, digits, hyphens;
and the tags of related words that are known) is learned from rare words, since words not seen before are like those
seen once. Bayes' rule turns it into emissions. It takes expected counts, so that states may be tags or anonymous.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from aligntools.formats.annotation.class_lists import MEDIUM, SHORT, WordLookup
from aligntools.ground.lbfgs import minimize

#: Longest prefix and suffix that are features, in characters.
PREFIX, SUFFIX = 4, 5
#: Parameters at most; where there are many states, rarer features are left out.
PARAMETERS = 4_000_000
#: Features of fewer rare words are left out.
CUTOFF = 2
#: The ways in which a word is related to a known one; see `relatives`.
RELATIONS = ("lower", "upper", "tail", "stem")
#: Words whose features are looked at together.
BATCH = 500
#: Smaller shares of a relative's states are left out.
SMALL = 0.01


@lru_cache(maxsize=1 << 16)
def character_class(c: str) -> str:
    """Return a letter for upper case, lower case, digit, mark or script of a character; itself if punctuation."""
    kind = unicodedata.category(c)
    if kind in ("Lu", "Lt"):
        return "X"
    if kind == "Ll":
        return "x"
    if kind[0] == "N":
        return "d"
    if kind in ("Lo", "Lm"):
        return unicodedata.name(c, "?").split()[0][:4]
    if kind[0] == "M":
        return ""
    return c if ord(c) < 128 else kind


@lru_cache(maxsize=1 << 14)
def shape(word: str) -> str:
    """Return the classes of a word's first 30 characters, runs cut to two: ``McDonald-87`` gives ``XxXxx-dd``."""
    out: list[str] = []
    last, run = None, 0
    for c in word[:30]:
        k = character_class(c)
        run = run + 1 if k == last else 1
        last = k
        if run <= 2:
            out.append(k)
    return "".join(out)


def text_of(word: bytes) -> str:
    """Decode a word; bytes that are not UTF-8 survive as surrogates."""
    return word.decode("utf-8", "surrogateescape")


def form_features(word: str) -> list[str]:
    """Return the features of a word's letters."""
    low = "".join("0" if c.isdigit() else c for c in word.lower()[-40:])
    look = shape(word[:30])  # what is remembered is short too
    bound = "^" + low
    case = "U" if look[:1] == "X" else "l"
    if case == "U" and len(word) > 1 and word.upper() == word:
        case = "A"
    found = ["*", "c:" + case, "h:" + look, "n:" + str(min(len(word), 8))]
    found += ["s:" + bound[-n:] for n in range(1, min(SUFFIX, len(low)) + 1)]
    if len(low) <= SUFFIX:
        found.append("s:" + bound)
    found += ["p:" + low[:n] for n in range(1, min(PREFIX, len(low)) + 1)]
    found += [f"{case}:{low[-n:]}" for n in (2, 3) if len(low) >= n]
    inside = {c for c in look if not c.isalnum()} | ({"0"} if "d" in look else set())
    found += ["i:" + c for c in sorted(inside)]
    if "x" in look and "X" in look[1:]:
        found.append("i:X")
    return found


def features_of(words: Sequence[str], classes: WordLookup | None) -> list[list[str]]:
    """Return the features of words: of their letters, and of their classes where these are known."""
    found = [form_features(word) for word in words]
    if classes is not None:
        ids = classes.find([word.encode("utf-8", "surrogateescape") for word in words])
        names = [text_of(name) for name in classes.names.encoded()]
        for features, k in zip(found, ids.tolist(), strict=True):
            if k:
                features.append("k:" + names[k])
                if classes.paths:
                    features += [f"k{bits}:{names[k][:bits]}" for bits in (SHORT, MEDIUM)]
    return found


def relatives(word: str, known: dict[str, int]) -> list[tuple[int, str]]:
    """Return the known words that a word resembles: (relation, number in RELATIONS; the word)."""
    found = []
    low = word.lower()
    if low != word and low in known:
        found.append((0, low))
    for other in (word[:1].upper() + word[1:], word.upper()):
        if other != word and other in known:
            found.append((1, other))
            break
    tail = word.rpartition("-")[2] if "-" in word[1:-1] else ""
    if tail in known:
        found.append((2, tail))
    for cut in range(1, min(5, len(word) - 2)):
        stem = word[:-cut]
        if stem in known:
            found.append((3, stem))
            break
    return found


@dataclass(frozen=True)
class UnknownWords:
    """``p(state | form)`` for any word.

    features: Row of each feature in ``weights``.
    weights (float32 [features + 4 K, K]): Of features; then, for each of RELATIONS, of the relative's states.
    ptr (int64 [words + 1]), states (int32).
    shares (float32): ``p(state | word)`` of known words, where it is not small: word ``w`` is often enough in
        ``states[ptr[w]:ptr[w + 1]]``.
    classes: Classes of words, known or not, which are features too.
    """

    features: dict[str, int]
    weights: np.ndarray
    known: dict[str, int]
    ptr: np.ndarray
    states: np.ndarray
    shares: np.ndarray
    classes: WordLookup | None = None

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.weights.shape[1])

    @classmethod
    def learn(
        cls,
        words: Sequence[bytes],
        counts: np.ndarray,
        rare: float = 20,
        l2: float = 2.0,
        iterations: int = 100,
        classes: WordLookup | None = None,
    ) -> "UnknownWords":
        """Learn from the words of a text.

        counts (float64 [words, K]): How often each word was in each state, counted or expected.
        rare: Words seen up to that often are learned from.
        l2: Precision of the weights' Gaussian prior.
        """
        counts = np.asarray(counts, np.float64)
        n_states = counts.shape[1]
        texts = [text_of(w) for w in words]
        totals = counts.sum(1)
        shares = counts / np.maximum(totals, 1e-300)[:, None]
        known = {t: n for n, t in enumerate(texts)}
        ptr = np.concatenate([[0], np.cumsum((shares > SMALL).sum(1))]).astype(np.int64)
        states = np.nonzero(shares > SMALL)[1].astype(np.int32)
        chosen = np.flatnonzero((totals > 0) & (totals <= rare))
        if not len(chosen):
            chosen = np.flatnonzero(totals > 0)
        found = features_of([texts[n] for n in chosen], classes)
        frequency = Counter(name for names in found for name in names)
        room = max(PARAMETERS // max(n_states, 1) - len(RELATIONS) * n_states, 100)
        kept = sorted((name for name in frequency if frequency[name] >= CUTOFF), key=lambda x: (-frequency[x], x))
        features = {name: n for n, name in enumerate(kept[:room])}
        rows = len(features) + len(RELATIONS) * n_states
        likely = shares[shares > SMALL].astype(np.float32)
        model = cls(features, np.zeros((rows, n_states), np.float32), known, ptr, states, likely, classes)
        if len(chosen) and n_states > 1:
            weights = model._fitted([texts[n] for n in chosen], found, shares[chosen], l2, iterations)
            return replace(model, weights=weights)
        return model

    def _design(self, texts: list[str], found: list[list[str]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return features of words as CSR arrays: starts, columns, values."""
        ptr, columns, values = [0], [], []
        base = len(self.features)
        for word, names in zip(texts, found, strict=True):
            for name in names:
                n = self.features.get(name)
                if n is not None:
                    columns.append(n)
                    values.append(1.0)
            for relation, other in relatives(word, self.known):
                row = self.known[other]
                begin, end = self.ptr[row : row + 2].tolist()
                columns += (base + relation * self.n_states + self.states[begin:end]).tolist()
                values += self.shares[begin:end].tolist()
            ptr.append(len(columns))
        return np.array(ptr, np.int64), np.array(columns, np.int64), np.array(values)

    def _fitted(
        self, texts: list[str], names: list[list[str]], targets: np.ndarray, l2: float, iterations: int
    ) -> np.ndarray:
        from scipy.sparse import csr_matrix

        ptr, columns, values = self._design(texts, names)
        x = csr_matrix((values, columns, ptr), shape=(len(texts), len(self.weights)))
        back = x.T.tocsr()
        shape_ = self.weights.shape

        def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
            w = flat.reshape(shape_)
            scores = x @ w
            scores -= scores.max(1, keepdims=True)
            p = np.exp(scores)
            sums = p.sum(1, keepdims=True)
            loss = float((targets * (np.log(sums) - scores)).sum()) + 0.5 * l2 * float((w * w).sum())
            p /= sums
            p -= targets
            return loss, (back @ p + l2 * w).ravel()

        start = np.zeros(self.weights.size)
        found = minimize(objective, start, iterations, tolerance=1e-7, memory=6)
        return found.state.x.reshape(shape_).astype(np.float32)

    def probabilities(self, words: Sequence[bytes]) -> np.ndarray:
        """Return ``p(state | form)``.

        Returns float64 [words, K].
        """
        if not words:
            return np.zeros((0, self.n_states))
        return np.concatenate([self._batch(words[n : n + BATCH]) for n in range(0, len(words), BATCH)])

    def _batch(self, words: Sequence[bytes]) -> np.ndarray:
        texts = [text_of(w) for w in words]
        ptr, columns, values = self._design(texts, features_of(texts, self.classes))
        scores = np.zeros((len(words), self.n_states))
        some = np.flatnonzero(np.diff(ptr) > 0)
        if len(some):
            terms = self.weights[columns] * values[:, None]
            scores[some] = np.add.reduceat(terms, ptr[some], axis=0)
        scores -= scores.max(1, keepdims=True)
        p = np.exp(scores)
        return np.asarray(p / p.sum(1, keepdims=True))


#: Levels of the tree below its root.
DEPTH = 3


def signature(word: bytes) -> tuple[str, ...]:
    """Return a word's class at each level below the root, each a part of the one above; no two levels share a name."""
    text = text_of(word)
    look = shape(text)
    kinds = look[:2] + "".join(sorted(set(look[2:]) & set("-dX")))
    end = "".join("0" if c.isdigit() else c for c in text[-3:].lower())
    return f"1{kinds}", f"2{len(kinds)}{kinds}{end[-2:]}", f"3{len(kinds)}{kinds}{end}"


@dataclass(frozen=True)
class FormClasses:
    """A tree; node 0 is the root, and nodes are numbered level by level.

    numbers: Node of a signature.
    parents (int64 [nodes]).
    levels: First node of a level, and one past the last.
    paths (int64 [words, DEPTH + 1]): Node of each word of the text at each level, -1 below the last.
    nodes (int64 [words]): Deepest node of each word.
    """

    numbers: dict[str, int]
    parents: np.ndarray
    levels: list[tuple[int, int]]
    paths: np.ndarray = field(repr=False, default_factory=lambda: np.zeros((0, DEPTH + 1), np.int64))
    nodes: np.ndarray = field(repr=False, default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(cls, words: Sequence[bytes], least: int = 3) -> "FormClasses":
        """Build the tree from different words; classes of fewer than ``least`` are left out."""
        found = [signature(w) for w in words]
        numbers: dict[str, int] = {}
        parents, levels = [0], [(0, 1)]
        for depth in range(DEPTH):
            sizes = Counter(s[depth] for s in found)
            begin = len(parents)
            above = {s[depth]: s[depth - 1] for s in found} if depth else {}
            for name in sorted(sizes):
                parent = numbers.get(above[name]) if depth else 0
                if sizes[name] >= least and parent is not None:
                    numbers[name] = len(parents)
                    parents.append(parent)
            levels.append((begin, len(parents)))
        paths = np.full((len(words), DEPTH + 1), -1, np.int64)
        paths[:, 0] = 0
        for n, s in enumerate(found):
            for depth in range(DEPTH):
                paths[n, depth + 1] = numbers.get(s[depth], -1)
        return cls(numbers, np.array(parents, np.int64), levels, paths, paths.max(1, initial=0))

    def find(self, words: Sequence[bytes]) -> np.ndarray:
        """Return the deepest node of any words, int64 [words]."""
        nodes = np.zeros(len(words), np.int64)
        for n, w in enumerate(words):
            for name in signature(w):
                node = self.numbers.get(name)
                if node is None:
                    break
                nodes[n] = node
        return nodes
