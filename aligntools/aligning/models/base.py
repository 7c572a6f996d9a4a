"""What every alignment model of one view of the text has: the view's words, the lexical table, the words of NULL.

And what training, files, parts and pages ask of a model, with the answers of one that has nothing of its own.
"""

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from aligntools.aligning.models.lexical import Lexicon
from aligntools.aligning.settings import AlignerSettings
from aligntools.aligning.text.cooccurrence import Table
from aligntools.aligning.text.views import ViewWords


class Shares(NamedTuple):
    """A chart of what a model learned: shares of things with names, one series or several."""

    title: str
    below: str
    names: list[str]
    series: list[tuple[str, list[float]]]


class WordLinks(NamedTuple):
    """Links that a model counts beside what its lexical table was estimated from, forward and reverse.

    Attributes
    ----------
    pairs : tuple of float32 [n_pairs]
    words : tuple of float64 [n_words]
        Sums of the given words.
    null : tuple of float64 [n_words]
        Observed words that are linked to NULL.
    """

    pairs: tuple[np.ndarray, np.ndarray]
    words: tuple[np.ndarray, np.ndarray]
    null: tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False, kw_only=True)
class LexicalModel(ABC):
    """A trained model of one view; its subclasses add what they know of positions.

    One method has to be there, `posteriors`; the others have answers for a model without parameters of its own. What
    is known of a model without its class is in its declaration, `registry.ModelKind`.

    Attributes
    ----------
    words : ViewWords
    table, lexicon
        The co-occurrence table and its values.
    counts : list of float32 [n_pairs]
        What the values were estimated from: one array when joint, else forward and reverse.
    tiers : float64 [TIERS]
        Priors of look-alike pairs.
    s_null, t_null : float32 [n_view_words + 1]
        Probability of each word under NULL.
    p_null : float32 [2]
        Probability of NULL, forward and reverse.
    HAS_PATHS : bool
        Whether `paths` gives paths, not posteriors.
    """

    HAS_PATHS = False

    words: ViewWords
    table: Table
    lexicon: Lexicon
    counts: list[np.ndarray]
    tiers: np.ndarray
    s_null: np.ndarray
    t_null: np.ndarray
    p_null: np.ndarray

    @property
    def view(self) -> int:
        """Letters that words are cut to; 0 for whole words."""
        return self.words.view

    def lexical(self) -> dict:
        """Return the fields of this class by name, from which another model of the same words is made."""
        names = [field.name for field in dataclasses.fields(LexicalModel)]
        return {name: getattr(self, name) for name in names}

    # Applying

    @abstractmethod
    def posteriors(self, text, chunk, cells, other, directions, pool, logs):
        """Turn link matrices into posteriors, in place.

        Parameters
        ----------
        text : object with ``source`` and ``target``, each with ``tokens`` and ``offsets``
            The text in the view's ids.
        chunk : Chunk
        cells, other : float32 [cells]
            Values of the lexicon's forward and reverse tables; become ``p(link)`` of either direction.
        directions : int
            1 forward, 2 reverse, 3 both; the other's cells are left as they are.
        logs : float64 [2, k1 - k0], output
            Natural logarithms of ``p(target | source)`` and ``p(source | target)``.
        """

    def paths(self, text, chunk, cells, other, directions, pool):
        """Turn link matrices into the most probable paths: 1 at their links, 0 elsewhere, in place.

        Where words are independent of each other, posteriors do as well: each word's best link is on the path.
        """
        self.posteriors(text, chunk, cells, other, directions, pool, np.zeros((2, chunk.k1 - chunk.k0)))

    def sampled(self, text, chunk, posteriors, settings: AlignerSettings, pool):
        """Return links that the model samples from its posteriors, and the posteriors' weight beside them.

        Parameters
        ----------
        posteriors : tuple of float32 [cells]
            Forward and reverse.

        Returns
        -------
        list of (sizes, positions, masses), float; or None
            Forward and reverse; see `Fertility.marginals`. None: it does not sample.
        """
        return None

    def word_links(self) -> WordLinks | None:
        """Return links that the model counted itself; None where there are those of the lexical table alone."""
        return None

    # Files

    def about(self) -> dict[str, Any]:
        """Return what a file's header says of a view's model beside what it says of all."""
        return {}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its own arrays, as a file names them."""
        return {}

    @classmethod
    def from_arrays(
        cls, fields: dict[str, Any], arrays: dict[str, np.ndarray], about: dict[str, Any], settings: AlignerSettings
    ) -> "LexicalModel":
        """Make a model of what was in a file.

        Parameters
        ----------
        fields : dict
            Those of `LexicalModel`, checked.
        arrays, about
            What `arrays` and `about` gave. ValueError or KeyError where they are not what kernels trust them to be; see
            `aligntools.formats.models.modelfile.hold`.
        """
        return cls(**fields)

    # Training

    @classmethod
    def stage(cls, task: "Task", before: "Stage | None") -> "Stage":
        """Begin to train a model; ``before`` is that of the model whose iterations come before."""
        return Stage(cls, task, before)

    @classmethod
    def on_text(cls, fields: dict[str, Any], old: "LexicalModel", text, settings: AlignerSettings) -> "LexicalModel":
        """Return a model of a new text, with what an older one, of any kind, knows of positions.

        Parameters
        ----------
        fields : dict
            Those of `LexicalModel`.
        text : TextView
        """
        return cls(**fields)

    def climbing(self) -> Any:
        """Return how maximum reconstruction goes on from it: a class of `training.reconstruction_positions`."""
        raise NotImplementedError(f"{type(self).__name__} is not reconstructed from")

    @classmethod
    def compiled_ahead(cls) -> Any:
        """Return what to compile while training begins, `ahead.Ahead`; None where that is not worth a process."""
        return None

    # Parts

    @classmethod
    def finish_in_parts(cls, view, last: int) -> None:
        """Do what comes after the iterations of a training in parts; ``view`` is a `parts.training.ViewTraining`."""
        return None

    @classmethod
    def of_part(cls, part_table, fields: dict[str, Any]) -> "LexicalModel":
        """Return a part's share of a model that was trained in parts."""
        return cls(**fields)

    @classmethod
    def of_parts(cls, view_work, table: Table, fields: dict[str, Any]) -> "LexicalModel":
        """Return the whole model that was trained in parts."""
        return cls(**fields)

    # Looking at it

    def facts(self) -> list[list[Any]]:
        """Return rows of name and value that a page shows of it, beside those of all models."""
        return []

    def charts(self) -> list[Shares]:
        """Return what it learned, to look at."""
        return []

    def word_shares(self, d: int, words: np.ndarray) -> list[list[float]] | None:
        """Return shares of 0, 1, 2 .. links of some words of one side; None where it knows of none."""
        return None


@dataclass(frozen=True)
class Task:
    """What a view's model is trained on.

    Attributes
    ----------
    settings : AlignerSettings, resolved
    pool : Pool
    source, target : Side or None
        The text; None in parts.
    words : ViewWords or None
    old : LexicalModel or None
        A model of the same view to go on from.
    given : ViewPriors or None
        Pseudo-counts of other text.
    position_smoothing : float
        Words that each distribution of a table of positions is given beforehand.
    learns_null : bool
        Whether the words of NULL are estimated.
    """

    settings: AlignerSettings
    pool: Any
    source: Any = None
    target: Any = None
    words: Any = None
    old: LexicalModel | None = None
    given: Any = None
    position_smoothing: float = 0.0
    learns_null: bool = False


class Stage:
    """A model in training: what it has beside the words' table, and an iteration's E-step and M-step.

    The words' table is the training's (`aligntools.aligning.training.stages`), which calls these; so do trainings in
    parts, where `expect` sees one part of the text and `maximize` the sum over all.

    Parameters
    ----------
    model : type
        The class of the model.
    task : Task
    before : Stage or None
        Of the model whose iterations came before.
    """

    def __init__(self, model: type[LexicalModel], task: Task, before: "Stage | None" = None) -> None:
        self.of: Any = model
        self.task, self.before = task, before

    def parameters(self) -> dict[str, Any]:
        """Return the parameters, by the names of the model's fields; arrays, where it works in parts."""
        return {}

    def restore(self, parameters: dict[str, np.ndarray]) -> Self:
        """Take parameters that were kept; of some, what there is."""
        return self

    def start(self, steps, counts: list[np.ndarray]) -> np.ndarray | None:
        """Iterate once with all words equally likely, where no IBM 1 goes before; return log-likelihoods.

        None: ``counts``, those of the table, are the first that are estimated from.
        """
        return None

    def expect(self, steps, lexicon: Lexicon, counts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray | None]:
        """Take expectations: those of pairs of words are added to ``counts``.

        Parameters
        ----------
        steps : Expectations

        Returns
        -------
        float64 [2], np.ndarray or None
            Log-likelihoods, and what `maximize` takes: an array that can be summed over parts of a text.
        """
        return steps.by_posteriors(self.now(steps, lexicon), counts), None

    def now(self, steps, lexicon: Lexicon) -> LexicalModel:
        """Return a model as it is within an iteration, for its posteriors."""
        fields = {
            "words": self.task.words,
            "table": steps.matrices.table,
            "lexicon": lexicon,
            "counts": [],
            "tiers": np.zeros(0),
            "s_null": steps.s_null,
            "t_null": steps.t_null,
            "p_null": steps.p_null,
        }
        return self.model(fields)

    def block(self, steps, lexicon: Lexicon, parts: dict) -> Any:
        """Return what `expect` does with a block of sentences: views that learn from each other need it.

        What `maximize` takes comes to be in ``parts``, by block.
        """
        raise NotImplementedError

    def maximize(self, counted: Any, steps=None) -> None:
        """Estimate the parameters anew."""

    def figures(self) -> dict[str, Any]:
        """Return what is told of an iteration beside its log-likelihoods."""
        return {}

    def model(self, fields: dict[str, Any]) -> LexicalModel:
        """Return a model with the parameters as they are now."""
        return self.of(**fields, **self.parameters())

    def finish(self, fields: dict[str, Any], training) -> LexicalModel:
        """Do what comes after the iterations; return the model.

        Parameters
        ----------
        fields : dict
            Those of `LexicalModel`.
        training : Training
        """
        return self.model(fields)
