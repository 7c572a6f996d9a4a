"""simalign's interface over our models: ``SentenceAligner(...).get_word_aligns(source, target)``.

Where simalign names a language model, ours needs the file of a saved aligner: as ``model``, or, for callers that say
``bert``, in the environment's ``ALIGNTOOLS_SIMALIGN_MODEL``.
"""

import os
from typing import Any, TypeAlias

import aligntools as at
from aligntools.ground.errors import UsageProblem

__all__ = ["SentenceAligner"]

Text: TypeAlias = str | list[str]
#: Names the model where the caller does not name a file.
MODEL = "ALIGNTOOLS_SIMALIGN_MODEL"
#: Letters of ``matching_methods``, and their names in the results.
METHODS = {"m": "mwmf", "a": "inter", "i": "itermax", "f": "fwd", "r": "rev"}


class SentenceAligner:
    """Aligns with a saved aligntools model.

    model: A model file, from ``align --save-model``; else the environment names it.
    matching_methods: ``a`` gives ``inter``, the links of both directions; ``i`` gives ``itermax``, the joint decision,
        what ``align`` writes; ``m`` gives ``mwmf``, grow-diag-final-and; ``f`` and ``r`` give the single directions.
    **others: What only a language model has a use for; passed over.
    Raises UsageProblem when no model is named, or a method does not exist. Raises ModelError when the model cannot be
    read.
    """

    def __init__(
        self,
        model: str = "bert",
        token_type: str = "bpe",
        distortion: float = 0.0,
        matching_methods: str = "mai",
        device: str = "cpu",
        layer: int = 8,
        **others: Any,
    ) -> None:
        path = model if os.path.isfile(model) else os.environ.get(MODEL)
        if not path:
            raise UsageProblem(
                f"'{model}' is not a model file; save an aligner with `Aligner.save()` and give the file as `model`, or"
                f" name it in the environment's {MODEL}"
            )
        if unknown := set(matching_methods) - set(METHODS):
            raise UsageProblem(f"no matching method {', '.join(sorted(unknown))}; there are {', '.join(METHODS)}")
        self.matching_methods = matching_methods
        self._aligner = at.Aligner.load(path)

    def get_word_aligns(self, src_sent: Text, trg_sent: Text) -> dict[str, list[tuple[int, int]]]:
        """Align one sentence pair, given as words or as text to be split at blanks.

        Returns for each method the links (source position, target position), sorted.
        """
        source, target = (side.split() if isinstance(side, str) else list(side) for side in (src_sent, trg_sent))
        joint = self._aligner.align(source, target)
        forward, reverse = joint.forward or [], joint.reverse or []
        found = {"i": sorted(joint.links), "f": sorted(forward), "r": sorted(reverse)}
        for letter in set(self.matching_methods) - set(found):
            how: Any = "intersect" if letter == "a" else "grow-diag-final-and"
            found[letter] = at.symmetrize([forward], [reverse], how)[0]
        return {METHODS[letter]: found[letter] for letter in self.matching_methods}
