"""Priors: what the alignment of one text tells the alignment of another, in eflomal's form."""

import hashlib
import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from aligntools.aligning.settings import PriorWeights
from aligntools.formats.links.priors import Priors

_log = logging.getLogger("aligntools")

#: Priors as functions take them: a file, counts in memory, or several of these, which add.
SomePriors: TypeAlias = "Priors | str | os.PathLike[str] | Iterable[Priors | str | os.PathLike[str]]"


def read_priors(priors: SomePriors) -> Priors:
    """Read priors in eflomal's form; those of several files add.

    Parameters
    ----------
    priors : str, path, Priors, or iterable of these
        Files of lines ``LEX source target n``, ``FERF source k n``, ``FERR target k n``, ``HMMF jump n`` and
        ``HMMR jump n``, separated by tabs; any compression.

    Returns
    -------
    Priors
        Counts in arrays; ``len()`` is the number of lines.

    Raises
    ------
    DataError
        When a file cannot be read, or for its first line that is not a count.

    Examples
    --------
    >>> import aligntools as at
    >>> at.read_priors("data/samples/de-en.priors")
    <Priors: 5 LEX, 0 FERF, 0 FERR, 0 HMMF, 0 HMMR>
    """
    from aligntools.formats.links import priors as format

    if isinstance(priors, Priors):
        return priors
    if isinstance(priors, str | os.PathLike):
        return format.read_priors(os.fspath(priors))
    parts = [read_priors(part) for part in priors]
    return parts[0] if len(parts) == 1 else format.combined(parts)


def fingerprint(priors: Priors) -> str:
    """Return what tells priors apart."""
    words = (
        getattr(v, what) for v in (priors.source_vocabulary, priors.target_vocabulary) for what in ("blob", "starts")
    )
    found = hashlib.sha256()
    for array in (priors.lexical.keys, priors.lexical.alphas, *words):
        found.update(array.tobytes())
    return found.hexdigest()


def write_priors(path: str | os.PathLike[str], priors: Priors) -> None:
    """Write priors as eflomal does, sorted; the file appears whole or not at all.

    Raises
    ------
    DataError
        When it cannot be written.
    """
    from aligntools.formats.links import priors as format

    format.write_priors(os.fspath(path), priors)


@dataclass(frozen=True, eq=False)
class WeightedPriors:
    """Counts in other text, and what they weigh in the training that takes them."""

    counts: Priors
    weights: PriorWeights

    @classmethod
    def of(cls, priors: "SomePriors | None", weights: PriorWeights) -> "WeightedPriors | None":
        """Read priors where there are any; see `read_priors`."""
        return None if priors is None else cls(read_priors(priors), weights)

    def tell_unused(self) -> None:
        """Log which weights were chosen of what the counts do not have."""
        kinds = {"prior_lexical": ("LEX",), "prior_fertility": ("FERF", "FERR"), "prior_jumps": ("HMMF", "HMMR")}
        tables = self.counts.tables()
        for name, own in kinds.items():
            chosen = getattr(self.weights, name) != getattr(PriorWeights, name)
            if chosen and not any(len(tables[kind]) for kind in own):
                _log.warning("`%s` changes nothing: `priors` have no %s", name, " or ".join(own))
