"""What every alignment model of one view of the text has: the view's words, the lexical table, the words of NULL."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from aligntools.aligning.models.lexical import Lexicon
from aligntools.aligning.text.cooccurrence import Table
from aligntools.aligning.text.kernels_pairs import Pairs
from aligntools.aligning.text.views import ViewWords


def pairs_of(text, chunk) -> Pairs:
    """Return a chunk of a text as kernels take it."""
    return Pairs(
        chunk.k0, text.source.tokens, text.source.offsets, text.target.tokens, text.target.offsets, chunk.cell_offsets
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class LexicalModel(ABC):
    """A trained model of one view; its subclasses add what they know of positions.

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
    """

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
        return {name: getattr(self, name) for name in LexicalModel.__dataclass_fields__}

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
