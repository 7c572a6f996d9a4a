"""The dependency model with valence over tags (Klein & Manning 2004): parameters, expected counts, best trees."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from aligntools.formats.annotation.conll import column_place
from aligntools.formats.models.modelfile import Array, SavedModel, checked, hold, hold_vocabulary, named, write_model
from aligntools.ground import em
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool, balanced_blocks, over
from aligntools.parsing import kernels_valence
from aligntools.parsing.feature_space import vocabulary
from aligntools.parsing.learning.checkpoints import KIND, Checkpoint, damaged, fingerprint
from aligntools.parsing.settings import LONGEST, MAPS, PUNCTUATION, InducedParserSettings, TreeConstraints
from aligntools.parsing.text import PENN, chosen
from aligntools.parsing.text import NoSentences as NoSentences
from aligntools.words.vocabulary import Vocabulary

#: Blocks of a batch, and numbers that their counts may have together; fixed, so that threads never show.
BLOCKS, ROOM = 64, 1 << 25


@dataclass(frozen=True)
class Valence:
    """Probabilities of the model; sides are left and right.

    choose (float64 [tags, 2, tags]): Of a modifier's tag, by the head's tag and the side.
    decide (float64 [tags, 2, 2, 2]): To stop and to go on, by the head's tag, the side, and whether it has no word on
        that side yet, or has.
    root (float64 [tags]): Of the tag under the root.
    """

    choose: np.ndarray
    decide: np.ndarray
    root: np.ndarray

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the distributions, one a row."""
        return self.choose.reshape(-1, len(self.root)), self.decide.reshape(-1, 2), self.root[None]

    @classmethod
    def of_rows(cls, choose: np.ndarray, decide: np.ndarray, root: np.ndarray) -> "Valence":
        """Put together what `rows` returned."""
        n = root.shape[1]
        return cls(choose.reshape(n, 2, n), decide.reshape(n, 2, 2, 2), root[0])

    def logs(self) -> "Valence":
        """Return the logarithms."""
        with np.errstate(divide="ignore"):
            return Valence(np.log(self.choose), np.log(self.decide), np.log(self.root))


@dataclass(frozen=True)
class ValenceCounts:
    """Expected counts.

    bare (float64 [tags, 2]): Words that have none on a side.
    words (float64 [tags]).
    """

    chosen: np.ndarray
    rooted: np.ndarray
    bare: np.ndarray
    words: np.ndarray

    def events(self) -> Valence:
        """Return how often each event of the model is expected."""
        some = np.maximum(self.words[:, None] - self.bare, 0.0)
        more = np.maximum(self.chosen.sum(2) - some, 0.0)
        decide = np.stack([np.stack([self.bare, some], 2), np.stack([some, more], 2)], 2)
        return Valence(self.chosen, decide, self.rooted)


def harmonic(tags: np.ndarray, offsets: np.ndarray, n_tags: int, decay: float = 1.0) -> ValenceCounts:
    """Return the counts that learning starts from.

    Each word is the root's with the same probability, and else another word's, by the inverse of its distance to
    the power of ``decay`` (1: Klein & Manning 2004); whether a word has none on a side follows as if these were
    independent.
    """
    chosen, rooted, bare = np.zeros((n_tags, 2, n_tags)), np.zeros(n_tags), np.zeros((n_tags, 2))
    lengths = np.diff(offsets)
    for n in np.unique(lengths[lengths > 0]).tolist():
        rows = tags[(offsets[:-1][lengths == n])[:, None] + np.arange(n)]
        distance = np.abs(np.arange(n)[:, None] - np.arange(n)).astype(np.float64)
        near = np.power(distance, -decay, out=np.zeros((n, n)), where=distance > 0)  # head, modifier
        if n > 1:
            near *= (1 - 1 / n) / near.sum(0)
        np.add.at(rooted, rows, 1 / n)
        for i in range(n):
            np.add.at(bare[:, 0], rows[:, i], np.prod(1 - near[i, :i]))
            np.add.at(bare[:, 1], rows[:, i], np.prod(1 - near[i, i + 1 :]))
            for j in range(n):
                np.add.at(chosen[:, int(i < j)], (rows[:, i], rows[:, j]), near[i, j])
    words = np.bincount(tags, minlength=n_tags).astype(np.float64)
    return ValenceCounts(chosen, rooted, bare, words)


def expected_counts(
    model: Valence, tags: np.ndarray, offsets: np.ndarray, pool: Pool | None = None
) -> tuple[ValenceCounts, np.ndarray]:
    """Return expected counts, and the log-likelihood of each sentence.

    model: Weights of at most 1 that need not be normalized. tags (int32 [words]), offsets (int64 [sentences + 1]).
    """
    # The weights of each modifier are taken relative to the largest, so that products stay within a float64.
    top = np.maximum(model.choose.max((0, 1)), model.root)
    top = np.where(top > 0, top, 1.0)
    parts, log_z, unsafe = _expected(model.choose / top, model.decide, model.root / top, False, tags, offsets, pool)
    sentences = np.repeat(np.arange(len(log_z)), np.diff(offsets))
    log_z += np.bincount(sentences, np.log(top)[tags], len(log_z))
    rest = np.flatnonzero(unsafe)
    if len(rest):
        logs = model.logs()
        words = np.concatenate([tags[offsets[s] : offsets[s + 1]] for s in rest])
        places = np.append(0, np.cumsum(np.diff(offsets)[rest]))
        more, log_z[rest], _ = _expected(logs.choose, logs.decide, logs.root, True, words, places, pool)
        parts += more
    n = len(model.root)
    chosen, rooted, bare = np.zeros((n, 2, n)), np.zeros(n), np.zeros((n, 2))
    for part in parts:
        chosen += part[0]
        rooted += part[1]
        bare += part[2]
    possible = np.repeat(np.isfinite(log_z), np.diff(offsets))
    words = np.bincount(tags[possible], minlength=n).astype(np.float64)
    return ValenceCounts(chosen, rooted, bare, words), log_z


def _blocks(lengths: np.ndarray, room: int) -> list[tuple[int, int]]:
    return balanced_blocks((lengths + 8.0) ** 3, max(1, min(BLOCKS, room)))


def _expected(
    choose: np.ndarray,
    decide: np.ndarray,
    root: np.ndarray,
    log: bool,
    tags: np.ndarray,
    offsets: np.ndarray,
    pool: Pool | None,
) -> tuple[list[tuple[np.ndarray, np.ndarray, np.ndarray]], np.ndarray, np.ndarray]:
    lengths, n = np.diff(offsets), len(root)
    log_z, unsafe = np.zeros(len(lengths)), np.zeros(len(lengths), np.uint8)

    def work(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        longest = int(lengths[block[0] : block[1]].max())
        chart = np.empty(kernels_valence.SQUARES * longest**2)
        found = np.zeros((n, 2, n)), np.zeros(n), np.zeros((n, 2))
        kernels_valence.expect(tags, offsets, *block, choose, decide, root, log, chart, log_z, unsafe, *found)
        return found

    return over(pool, work, _blocks(lengths, ROOM // (2 * n * n))), log_z, unsafe


def best_trees(
    logs: Valence, tags: np.ndarray, offsets: np.ndarray, pool: Pool | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return heads [words] of the most probable trees and their log-probabilities [sentences], by `Valence.logs`.

    A sentence without any tree of a probability above 0 gets a flat one, and -inf.
    """
    lengths = np.diff(offsets)
    heads, best = np.zeros(len(tags), np.int32), np.zeros(len(lengths))

    def work(block: tuple[int, int]) -> None:
        longest = int(lengths[block[0] : block[1]].max())
        chart = np.empty(kernels_valence.BEST_SQUARES * longest**2)
        places, stack = np.empty(4 * longest**2, np.int32), np.empty(9 * (longest + 1), np.int32)
        given = logs.choose, logs.decide, logs.root, chart, places, stack, heads, best
        kernels_valence.best_trees(tags, offsets, *block, *given)

    over(pool, work, _blocks(lengths, BLOCKS))
    return heads, best


#: Tags of punctuation: universal ones, the Penn Treebank's and STTS's.
MARKS = frozenset({b".", b"PUNCT", b"$,", b"$.", b"$(", *(tag for tag, full in PENN.items() if full == b".")})
#: Tags that a model may have; more are not tags.
MOST_TAGS = 2000
_ARRAYS = (
    Array("choose", ("tags", 2, "tags"), np.float64, 0, 1),
    Array("decide", ("tags", 2, 2, 2), np.float64, 0, 1),
    Array("root", ("tags",), np.float64, 0, 1),
)


#: Sentences as the model sees them: offsets (int64 [sentences + 1]) from 0; tags (int32 [words]) from 0, the number of
#: known tags for an unknown one; and which words are punctuation that it does not see (bool [words]).
TagSentences: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


def punctuation(tags: Sequence[bytes]) -> np.ndarray:
    """Return which tags are those of punctuation, bool [tags]."""
    return np.fromiter((tag in MARKS for tag in tags), bool, len(tags))


@dataclass(frozen=True)
class ValenceModel(SavedModel):
    """The dependency model with valence over tags; a parser as `parser.ParserModel` is one, without labels."""

    KIND = "dmv"
    vocabulary: Vocabulary
    parameters: Valence
    settings: dict[str, Any] = field(default_factory=dict)
    constraints: ClassVar[TreeConstraints] = TreeConstraints()
    labeler: ClassVar[None] = None
    normal_form: ClassVar[None] = None

    def __post_init__(self) -> None:
        if len(self.parameters.root) != len(self.vocabulary) - 1:
            raise ValueError(f"probabilities of {len(self.parameters.root)} tags for {len(self.vocabulary) - 1}")

    @property
    def weights(self) -> np.ndarray:
        """All probabilities, joined."""
        return np.concatenate([row.ravel() for row in self.parameters.rows()])

    @cached_property
    def _logs(self) -> Valence:
        """Logarithms, with those of a tag that training never saw: the mean of all heads, any head's alike."""
        known, n = self.parameters, len(self.parameters.root)
        choose = np.full((n + 1, 2, n + 1), 1 / n)
        choose[:n, :, :n], choose[n, :, :n] = known.choose, known.choose.mean(0)
        decide = np.concatenate([known.decide, known.decide.mean(0)[None]])
        return Valence(choose, decide, np.append(known.root, 1 / n)).logs()

    def _drops(self) -> bool:
        return bool(self.settings.get("punct", "drop") == "drop")

    def unknown_tags(self, tags: Sequence[bytes]) -> np.ndarray:
        """Return for each tag whether training never saw it, bool [tags]; punctuation that is dropped is known."""
        strange = self.vocabulary.ids(tags) < 0
        return strange & ~punctuation(tags) if self._drops() else strange

    def sentences(self, words: Sequence[bytes], tags: Sequence[bytes], offsets: np.ndarray) -> TagSentences:
        """Return text as this parser sees it."""
        if not len(words) == len(tags) == offsets[-1] - offsets[0]:
            raise ValueError(f"{len(words)} words, {len(tags)} tags and offsets up to {offsets[-1] - offsets[0]}")
        ids = self.vocabulary.ids(tags)
        left_out = punctuation(tags) if self._drops() else np.zeros(len(tags), bool)
        numbers = np.where(ids > 0, ids - 1, len(self.vocabulary) - 1).astype(np.int32)
        return np.asarray(offsets, np.int64) - offsets[0], numbers, left_out

    def parse(
        self,
        sentences: TagSentences,
        pool: Pool | None = None,
        constraints: TreeConstraints | None = None,
        longest: int = LONGEST,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find the most probable trees; parameters are as for `parser.ParserModel.parse`.

        Punctuation that is dropped gets the lowest head that makes no edges cross.
        """
        if constraints not in (None, self.constraints):
            raise UsageProblem("a parser that was learned without trees has only projective ones with one root")
        offsets, tags, left_out = sentences
        lengths = np.diff(offsets)
        flat = lengths > longest
        heads, best = np.ones(len(tags), np.int32), np.full(len(lengths), -np.inf)
        heads[offsets[:-1][lengths > 0]] = 0
        own, places = chosen(tags[~left_out], np.append(0, np.cumsum(~left_out))[offsets], ~flat)
        found, best[~flat] = best_trees(self._logs, own, places, pool)
        inside = ~left_out & ~np.repeat(flat, lengths)
        # Numbers of heads count the words that were left out, too.
        starts = np.repeat(places[:-1], np.diff(places))
        here = np.flatnonzero(inside)
        first = np.repeat(offsets[:-1][~flat], np.diff(places))
        above = here[starts + np.maximum(found, 1) - 1] - first + 1 if len(here) else here
        heads[here] = np.where(found > 0, above, 0)
        if left_out.any():
            attach = kernels_valence.attach_left_out
            blocks = balanced_blocks(lengths + 8.0, BLOCKS)
            over(pool, lambda block: attach(offsets, *block, flat, left_out, heads), blocks)
        return heads, best, flat

    def parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the arrays of the model's file."""
        return {"settings": self.settings}, self.vocabulary.arrays("tags") | named(self.parameters, _ARRAYS)

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Rebuild the model from what a file holds."""
        vocabulary = hold_vocabulary(arrays, "tags", text=False)
        n, settings = len(vocabulary) - 1, header["settings"]
        if not 1 <= n <= MOST_TAGS or not isinstance(settings, dict):
            raise ValueError(f"{n} tags")
        parameters = Valence(*checked(arrays, _ARRAYS, {"tags": n}))
        if any(np.abs(rows.sum(1) - 1).max() > 1e-6 for rows in parameters.rows()):
            raise ValueError("probabilities do not sum to 1")
        column_place(settings.get("column", "upos"))
        if settings.get("map", "none") not in MAPS or settings.get("punct", "drop") not in PUNCTUATION:
            raise ValueError("settings")
        return cls(vocabulary, parameters, settings)


def learn(
    tags: np.ndarray,
    offsets: np.ndarray,
    n_tags: int,
    settings: InducedParserSettings,
    pool: Pool | None = None,
    report: Callable[[int, float], None] | None = None,
    checkpoint: Checkpoint | None = None,
) -> em.EmResult[Valence]:
    """Learn the model: by EM, or by variational Bayes (Kurihara & Sato 2004; Johnson et al. 2007).

    The objectives are of the parameters of each step, the first from the start; the model is one update further.
    tags (int32 [words]), offsets (int64 [sentences + 1]): From 0.
    """
    counts, values = harmonic(tags, offsets, n_tags, settings.decay), list[float]()
    own = "" if checkpoint is None else fingerprint(settings.header(), tags, offsets)
    path, kept = ("", None) if checkpoint is None else checkpoint.kept("induce", own)
    if kept is not None:
        arrays = kept[1]
        try:
            values = hold(arrays, "values", (len(arrays["values"]),), np.float64).tolist()
            shapes = {f.name: getattr(counts, f.name).shape for f in fields(counts)}
            counts = ValenceCounts(**{n: hold(arrays, n, shape, np.float64, 0) for n, shape in shapes.items()})
        except (KeyError, ValueError, TypeError) as error:
            raise damaged(path, error) from None

    def keep(counts: ValenceCounts, values: list[float]) -> None:
        arrays = {f.name: getattr(counts, f.name) for f in fields(counts)} | {"values": np.array(values)}
        write_model(path, KIND, {"fingerprint": own}, arrays)

    def expect(weights: Valence) -> tuple[ValenceCounts, float]:
        found, log_z = expected_counts(weights, tags, offsets, pool)
        return found, float(log_z[np.isfinite(log_z)].sum())

    def maximize(found: ValenceCounts) -> em.EmParameters[Valence]:
        return em.maximized(found.events().rows(), settings.prior, settings.estimator == "vb", Valence.of_rows)

    fit = em.fit(
        maximize(counts),
        expect,
        maximize,
        settings.iterations,
        settings.tolerance,
        least=3,
        values=values,
        report=None if report is None else lambda step, value, _: report(step, value),
        keep=None if checkpoint is None else keep,
    )
    return replace(fit, model=maximize(fit.counts or counts).mean())


class TooManyTags(ValueError):
    """The tags are no tags."""


def train(
    tags: Sequence[bytes],
    offsets: np.ndarray,
    settings: InducedParserSettings | None = None,
    pool: Pool | None = None,
    report: Callable[[int, float], None] | None = None,
    checkpoint: Checkpoint | None = None,
    about: dict[str, Any] | None = None,
) -> tuple[ValenceModel, dict[str, Any]]:
    """Learn the dependency model with valence; return it with figures about the training.

    offsets (int64 [sentences + 1]).
    """
    settings = settings or InducedParserSettings()
    offsets = np.asarray(offsets, np.int64)
    left_out = punctuation(tags) if settings.punct == "drop" else np.zeros(len(tags), bool)
    inside = np.append(0, np.cumsum(~left_out))[offsets]
    tags = [tag for tag, out in zip(tags, left_out, strict=True) if not out]
    lengths = np.diff(inside)
    keep = (lengths >= settings.min_length) & (lengths <= settings.max_length) & (lengths > 0)
    if not keep.any():
        raise NoSentences("no sentence can be trained on")
    tags, within = chosen(tags, inside, keep)
    known = vocabulary(tags)
    if len(known) - 1 > MOST_TAGS:
        raise TooManyTags(f"{len(known) - 1} different tags; there may be {MOST_TAGS}")
    ids = (known.ids(tags) - 1).astype(np.int32)
    fit = learn(ids, within, len(known) - 1, settings, pool, report, checkpoint)
    model = ValenceModel(known, fit.model, settings.header() | (about or {}))
    reasons = {
        "empty": lengths == 0,
        "too short": (lengths > 0) & (lengths < settings.min_length),
        "too long": lengths > settings.max_length,
    }
    return model, {
        "sentences": len(within) - 1,
        "words": len(tags),
        "tags": len(known) - 1,
        "objective": fit.values[-1],
        "steps": len(fit.values) - 1,
        "message": fit.message,
        "skipped": {reason: int(which.sum()) for reason, which in reasons.items() if which.any()},
    }
