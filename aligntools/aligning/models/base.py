"""The base of alignment models, and of models in training.

A model is one of a *view* of the text, in which words are whole or cut to some letters (`text.views`). It has the
view's words, the lexical table and the words of NULL. Its methods are what training, files, work in parts and pages ask
of a model; the base answers for a model without parameters of its own.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from aligntools.aligning.models import registry
from aligntools.aligning.models.kernels_link_counts import Sampled
from aligntools.aligning.models.lexical import LexicalFields, Lexicon, lexical_fields
from aligntools.aligning.settings import ResolvedSettings
from aligntools.aligning.text.cooccurrence import Table
from aligntools.aligning.text.kernels_look_alikes import KEY
from aligntools.aligning.text.link_matrices import Both, Chunk, LinkMatrices
from aligntools.aligning.text.views import ParallelText, TextView, ViewWords
from aligntools.clustering import word_classes
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.viewing.models import Columns

if TYPE_CHECKING:
    from aligntools.aligning.parts.table import PartTable
    from aligntools.aligning.parts.work import ViewWork
    from aligntools.aligning.precompile import Ahead
    from aligntools.aligning.training.expectation import BlockStep, Expectations
    from aligntools.aligning.training.reconstruction_positions import PositionClimb
    from aligntools.aligning.training.view_priors import ViewPriors
    from aligntools.formats.annotation.class_lists import WordLookup


_NO_IDS, _NO_KEYS = np.zeros(0, np.int32), np.zeros((0, KEY), np.int32)
#: In parts a model within an iteration has its words' numbers alone.
_NO_WORDS = ViewWords(0, [], [], _NO_IDS, _NO_IDS, _NO_KEYS, _NO_KEYS)


class WordLinks(NamedTuple):
    """Links that a model counts itself, beside its lexical table, in both directions.

    pairs, words, null (float32 [n_pairs], float64 [n_words] twice): Of pairs, given words, observed words with NULL.
    linked (float64 [n_words] each, or None): How often words are linked as observed words in all of a text, where the
        table has a part of it.
    """

    pairs: tuple[np.ndarray, np.ndarray]
    words: tuple[np.ndarray, np.ndarray]
    null: tuple[np.ndarray, np.ndarray]
    linked: tuple[np.ndarray, np.ndarray] | None = None

    def observed(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Return how often the words of each side are linked as observed words, float64 [n_words]."""
        forward, reverse = self.pairs
        linked = self.linked or (table.row_sums(reverse), table.column_sums(forward))
        return linked[0][: len(self.words[0])], linked[1][: len(self.words[1])]


@dataclass(frozen=True)
class ViewTask:
    """What a view's model is trained on; for a text in parts it has no text.

    old: A model of the same view to go on from.
    position_smoothing: Pseudo-count of each distribution of a table of positions.
    """

    settings: ResolvedSettings
    source: Side | None = None
    target: Side | None = None
    words: ViewWords | None = None
    old: "LexicalModel | None" = None
    priors: "ViewPriors | None" = None
    position_smoothing: float = 0.0
    learns_null: bool = False
    classes: "tuple[WordLookup | None, WordLookup | None]" = (None, None)

    def lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the lengths of the text's sentences on both sides."""
        assert self.source is not None, "in parts there is no text here"
        assert self.target is not None
        return self.source.lengths(), self.target.lengths()


#: Takes the links that a pass over a text samples of a chunk, forward and reverse, as `training.sampling.LastPass.add`.
LinkTaker: TypeAlias = Callable[[LinkMatrices, Chunk, Sequence[Sampled], np.ndarray, ResolvedSettings, Pool], None]


class Stage:
    """A model in training: its parameters other than the lexical table, and the E-step and M-step of an iteration.

    `training.stages` has the lexical table and calls these methods; in parts `expect` sees one, `maximize` the sum.
    """

    def __init__(self, model: "type[LexicalModel]", task: ViewTask, before: "Stage | None" = None) -> None:
        self.of: Callable[..., LexicalModel] = model
        self.task, self.before = task, before

    def parameters(self) -> dict[str, Any]:
        """Return the parameters, by the names of the model's fields; arrays, where it works in parts."""
        return {}

    def restore(self, parameters: dict[str, np.ndarray]) -> Self:
        """Take parameters that were kept; those that are missing stay as they are."""
        return self

    def start(self, steps: "Expectations", counts: list[np.ndarray]) -> np.ndarray | None:
        """Iterate once with all words equally likely, where no IBM 1 goes before; return log-likelihoods.

        None: ``counts``, those of the table, are the first that are estimated from.
        """
        return None

    def expect(self, steps: "Expectations", lexicon: Lexicon, counts: list[np.ndarray]) -> tuple[np.ndarray, Any]:
        """Take expectations: those of pairs of words are added to ``counts``.

        Returns float64 [2], Any: log-likelihoods, and what `maximize` takes. For a model that is trained in parts this
        is an array, which is summed over the parts.
        """
        return steps.by_posteriors(self.now(steps, lexicon), counts), None

    def now(self, steps: "Expectations", lexicon: Lexicon) -> "LexicalModel":
        """Return a model as it is within an iteration, for its posteriors."""
        words, nulls = self.task.words or _NO_WORDS, (steps.s_null, steps.t_null, steps.p_null)
        return self.model(lexical_fields(words, steps.matrices.table, lexicon, [], np.zeros(0), *nulls))

    def block(self, steps: "Expectations", lexicon: Lexicon) -> "BlockStep":
        """Return what `expect` does with a block of sentences; needed where views learn from each other.

        The arrays that it returns, summed, are what `maximize` takes.
        """
        raise TypeError(f"views of {self.of} do not learn from each other")

    def maximize(self, counted: Any, steps: "Expectations | None" = None) -> None:
        """Estimate the parameters anew."""

    def figures(self) -> dict[str, Any]:
        """Return what is reported of an iteration besides its log-likelihoods."""
        return {}

    def model(self, fields: LexicalFields) -> "LexicalModel":
        """Return a model with the parameters as they are now."""
        return self.of(**fields, **self.parameters())

    def finish(self, fields: LexicalFields, training: Any) -> "LexicalModel":
        """Do what comes after the iterations of ``training``, a `training.stages.Training`; return the model."""
        return self.model(fields)


@dataclass(frozen=True, eq=False, kw_only=True)
class LexicalModel(ABC):
    """A trained model of one view, with the table of words; subclasses add positions, and must have `posteriors`.

    counts (list of float32 [n_pairs]): What values were estimated from: one array when joint, else forward and reverse.
    tiers (float64 [TIERS]): Priors of look-alike pairs.
    s_null, t_null, p_null (float32 [n_view_words + 1] twice, [2]): Of words under NULL; of NULL, forward and reverse.
    HAS_PATHS: Whether `paths` gives paths; without them it gives posteriors.
    climbing: The class that trains positions in maximum reconstruction from it, where its `registry.ModelKind` says so.
    compiled_ahead: What to compile while training begins; None if that is not worth a process.
    """

    HAS_PATHS: ClassVar = False
    STAGE: ClassVar[type[Stage]] = Stage
    climbing: "ClassVar[type[PositionClimb] | None]" = None
    compiled_ahead: "ClassVar[Ahead | None]" = None

    words: ViewWords
    table: Table
    lexicon: Lexicon
    counts: list[np.ndarray]
    tiers: np.ndarray
    s_null: np.ndarray
    t_null: np.ndarray
    p_null: np.ndarray

    @property
    def letters(self) -> int:
        """Letters that words are cut to; 0 for whole words."""
        return self.words.letters

    # Applying

    @abstractmethod
    def posteriors(
        self, text: ParallelText, chunk: Chunk, both: Both, directions: int, pool: Pool, logs: np.ndarray
    ) -> None:
        """Turn link matrices of a text in the view's ids into posteriors, in place.

        both: Values of the lexicon, forward and reverse; those of the ``directions`` (1, 2, 3) become ``p(link)``.
        logs (float64 [2, k1 - k0], output): Natural logarithms of ``p(target | source)`` and ``p(source | target)``.
        """

    def paths(self, text: ParallelText, chunk: Chunk, both: Both, directions: int, pool: Pool) -> None:
        """Turn link matrices into the most probable paths: 1 at their links, 0 elsewhere, in place.

        Where words are independent of each other it gives posteriors: each word's best link is on the path.
        """
        self.posteriors(text, chunk, both, directions, pool, np.zeros((2, chunk.k1 - chunk.k0)))

    def sampled(
        self, text: ParallelText, chunk: Chunk, posteriors: Both, settings: ResolvedSettings, pool: Pool
    ) -> tuple[list[Sampled], float] | None:
        """Return links that the model samples from its posteriors, and the weight of the posteriors against them.

        Returns forward and reverse. None: it does not sample.
        """
        return None

    def word_links(self) -> WordLinks | None:
        """Return links that the model counted itself; None if it has only those of the lexical table."""
        return None

    # Files

    def about(self) -> dict[str, Any]:
        """Return what a file's header says of this kind of model alone."""
        return {}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its own arrays, as a file names them."""
        return {}

    @classmethod
    def from_arrays(
        cls, fields: LexicalFields, arrays: dict[str, np.ndarray], about: dict[str, Any], settings: ResolvedSettings
    ) -> "LexicalModel":
        """Rebuild the model from checked fields and what `arrays` and `about` gave.

        ValueError or KeyError where these are not what kernels trust them to be; see `formats.models.modelfile.hold`.
        """
        return cls(**fields)

    # Training

    @classmethod
    def stage(cls, task: ViewTask, before: Stage | None) -> Stage:
        """Begin to train a model; ``before`` is that of the model whose iterations come before."""
        return cls.STAGE(cls, task, before)

    @classmethod
    def on_text(
        cls, fields: LexicalFields, old: "LexicalModel", text: TextView, settings: ResolvedSettings
    ) -> "LexicalModel":
        """Return a model of a new text, with the parameters of positions of an older model, of any kind."""
        return cls(**fields)

    # Parts

    @classmethod
    def finish_in_parts(cls, view: Any, last: int) -> None:
        """Do what comes after the iterations of a training in parts, a `parts.training.ViewTraining`."""
        return None

    @classmethod
    def of_part(cls, part_table: "PartTable", fields: LexicalFields, parameters: dict[str, Any]) -> "LexicalModel":
        """Return a part's share of a model that was trained in parts; ``parameters`` are its stage's."""
        return cls(**fields, **parameters)

    @classmethod
    def of_parts(cls, view_work: "ViewWork", fields: LexicalFields, parameters: dict[str, Any]) -> "LexicalModel":
        """Return the whole model that was trained in parts."""
        return cls(**fields, **parameters)

    # Looking at it

    def facts(self) -> list[list[Any]]:
        """Return rows of name and value that a page shows of this kind of model alone."""
        return []

    def charts(self) -> list[Columns]:
        """Return charts of what it learned."""
        return []

    def word_shares(self, d: int, words: np.ndarray) -> list[list[float]] | None:
        """Return for words of one side the shares of their having 0, 1, 2 .. links; None if it does not know them."""
        return None


#: A table of distances has a row for each pair of classes.
MOST_CLASSES = 500
_log = logging.getLogger("aligntools")


def check_classes(bitext: Bitext, settings: ResolvedSettings, letters: int) -> None:
    """Refuse classes that came with a text where the model has no use for them; tell if they are of other words."""
    for name, given, words in (
        ("source", bitext.classes[0], bitext.source_vocabulary),
        ("target", bitext.classes[1], bitext.target_vocabulary),
    ):
        if given is None:
            continue
        if "word_classes" in registry.of_others(settings.model_type):
            raise UsageProblem(f"`{name}_classes` is for IBM 4 and hmm-classes; use `model_type=ibm4`")
        if letters:
            raise UsageProblem(f"`{name}_classes` has classes of whole words; use `views=0`")
        if len(given.names) - 1 > MOST_CLASSES:
            raise UsageProblem(f"`{name}_classes` has {len(given.names) - 1} classes; at most {MOST_CLASSES} are taken")
        if len(words) > 1 and not given.find([w.encode("utf-8", "surrogateescape") for w in words.words()[1:]]).any():
            _log.warning("none of the words of `%s_classes` is one of the text", name)


def classes_of(task: ViewTask, size: int, d: int) -> np.ndarray:
    """Return the classes of a side's words, int32 [size + 1]; words without one have 0, as NULL and unknown words.

    size: How many words the side has, with NULL.
    d: 0 source, 1 target.
    """
    side, given = (task.source, task.target)[d], task.classes[d]
    assert side is not None, "it is not trained in parts"
    if given is None:
        return learned_classes(side, size, task.settings)
    assert task.words is not None
    words = (task.words.s_words, task.words.t_words)[d][1:]
    found = np.append(0, given.find([word.encode("utf-8", "surrogateescape") for word in words]))
    return np.append(found, 0).astype(np.int32)


def learned_classes(side: Side, size: int, settings: ResolvedSettings) -> np.ndarray:
    """Return classes that are learned from a side of a text, int32 [size + 1]; see `classes_of`."""
    found = word_classes(side.tokens, side.offsets, size, settings.word_classes, seed=settings.seed)
    return np.append(found, 0).astype(np.int32)
