"""systran_align's interface over our models: ``generate_alignment_probabilities``, ``Aligner.align``, ``align_batch``.

Both files of "probabilities" hold one aligntools model, or a table each, as fast_align writes with ``-p``.
"""

import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import aligntools as at
from aligntools.aligning.contrastive.base import aligner_from_tables
from aligntools.formats.models.modelfile import is_model

__all__ = ["Aligner", "generate_alignment_probabilities"]

FilePath: TypeAlias = "str | os.PathLike[str]"
Words: TypeAlias = Sequence[str]
#: How two tables' directions are combined; a model decides jointly.
_HEURISTIC: Any = "grow-diag-final-and"


def generate_alignment_probabilities(
    input_path: FilePath, forward_probs_path: FilePath, backward_probs_path: FilePath, **_: Any
) -> None:
    """Train on a text and write what `Aligner` reads.

    input_path: Lines ``source ||| target``, tokenized.
    forward_probs_path, backward_probs_path: Each gets the whole model, of both directions.
    """
    model = at.train_aligner(Path(input_path), case_sensitive=True)
    model.save(forward_probs_path)
    model.save(backward_probs_path)


class Aligner:
    """Aligns with an aligntools model, or with two tables of word probabilities.

    forward_probs_path, backward_probs_path: An aligntools model (one is read, whichever it is), or fast_align's tables
        of ``p(target | source)`` and ``p(source | target)``.
    """

    def __init__(self, forward_probs_path: FilePath, backward_probs_path: FilePath) -> None:
        paths = [os.fspath(path) for path in (forward_probs_path, backward_probs_path)]
        model = next((path for path in paths if is_model(path)), None)
        self._aligner = at.Aligner.load(model) if model else aligner_from_tables(*paths)
        self._how: dict[str, Any] = {} if model else {"symmetrize": _HEURISTIC}
        self._lock = threading.Lock()  # an instance may be shared by workers

    def align(self, source: Words, target: Words) -> dict[str, Any]:
        """Align one sentence pair, given as words; see `align_batch`."""
        return self.align_batch([source], [target])[0]

    def align_batch(self, sources: Iterable[Words], targets: Iterable[Words]) -> list[dict[str, Any]]:
        """Align sentence pairs, given as words.

        Returns ``alignments``, a list of (source position, target position), and ``forward_log_prob`` and
        ``backward_log_prob``, natural logarithms of each side's probability given the other.
        """
        found = []
        with self._lock:
            for alignment in self._aligner.align_batch(list(sources), list(targets), **self._how):
                scores = alignment.scores
                probabilities = {"forward_log_prob": scores.forward, "backward_log_prob": scores.reverse}
                found.append({"alignments": alignment.links, **probabilities})
        return found
