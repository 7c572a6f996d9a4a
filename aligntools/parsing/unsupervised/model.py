"""A parser that was learned without trees: the dependency model with valence, on disk and at work."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from aligntools.formats.annotation.conll import column_place
from aligntools.formats.models.modelfile import Array, SavedModel, checked, hold_vocabulary, named
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool, balanced_blocks, over
from aligntools.parsing.parser import DependencyParses
from aligntools.parsing.settings import LONGEST, MAPS, PUNCTUATION, TreeConstraints
from aligntools.parsing.text import PENN, chosen
from aligntools.parsing.unsupervised import kernels_valence
from aligntools.parsing.unsupervised.valence import BLOCKS, Valence, best_trees
from aligntools.words.vocabulary import Vocabulary

#: Tags of punctuation: universal ones, the Penn Treebank's and STTS's.
MARKS = frozenset({b".", b"PUNCT", b"$,", b"$.", b"$(", *(tag for tag, full in PENN.items() if full == b".")})
#: Tags that a model may have; more are not tags.
MOST_TAGS = 2000
_ARRAYS = (
    Array("choose", ("tags", 2, "tags"), np.float64, 0, 1),
    Array("decide", ("tags", 2, 2, 2), np.float64, 0, 1),
    Array("root", ("tags",), np.float64, 0, 1),
)


@dataclass(frozen=True)
class TagSentences:
    """Sentences as the model sees them.

    offsets (int64 [sentences + 1]): From 0.
    tags (int32 [words]): From 0; the number of known tags for an unknown one.
    left_out (bool [words]): Punctuation that the model does not see.
    """

    offsets: np.ndarray
    tags: np.ndarray
    left_out: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def inside(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the tags of the words that are not left out, and offsets over these."""
        before = np.append(0, np.cumsum(~self.left_out))
        return self.tags[~self.left_out], before[self.offsets]


def punctuation(tags: Sequence[bytes]) -> np.ndarray:
    """Return which tags are those of punctuation, bool [tags]."""
    return np.fromiter((tag in MARKS for tag in tags), bool, len(tags))


@dataclass(frozen=True)
class ValenceModel(SavedModel):
    """The dependency model with valence over tags; a parser as `parser.ParserModel` is one, without labels.

    vocabulary: Of tags.
    settings: What it was trained with; JSON.
    """

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
        return TagSentences(np.asarray(offsets, np.int64) - offsets[0], numbers, left_out)

    def parse(
        self,
        sentences: TagSentences,
        pool: Pool | None = None,
        constraints: TreeConstraints | None = None,
        longest: int = LONGEST,
    ) -> DependencyParses:
        """Find the most probable trees; parameters are as for `parser.ParserModel.parse`.

        Punctuation that is dropped gets the lowest head that makes no edges cross.

        Raises UsageProblem when other trees are asked for than projective ones with one root.
        """
        if constraints not in (None, self.constraints):
            raise UsageProblem("a parser that was learned without trees has only projective ones with one root")
        offsets, lengths = sentences.offsets, np.diff(sentences.offsets)
        flat = lengths > longest
        heads, best = np.ones(len(sentences.tags), np.int32), np.full(len(lengths), -np.inf)
        heads[offsets[:-1][lengths > 0]] = 0
        tags, within = sentences.inside()
        own, places = chosen(tags, within, ~flat)
        found, best[~flat] = best_trees(self._logs, own, places, pool)
        inside = ~sentences.left_out & ~np.repeat(flat, lengths)
        # Numbers of heads count the words that were left out, too.
        starts = np.repeat(places[:-1], np.diff(places))
        here = np.flatnonzero(inside)
        first = np.repeat(offsets[:-1][~flat], np.diff(places))
        above = here[starts + np.maximum(found, 1) - 1] - first + 1 if len(here) else here
        heads[here] = np.where(found > 0, above, 0)
        if sentences.left_out.any():

            def attach(block: tuple[int, int]) -> None:
                kernels_valence.attach_left_out(offsets, *block, flat, sentences.left_out, heads)

            over(pool, attach, balanced_blocks(lengths + 8.0, BLOCKS))
        return DependencyParses(heads, best, flat)

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
