"""Transfer between files: the distributions and the trees of the target side, found by jobs over parts of the pairs."""

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aligntools.ground.parallel import Pool
from aligntools.parsing.features.space import TAGS, EncodedSentences, FeatureSpace
from aligntools.parsing.learning import training
from aligntools.parsing.learning.parts import InParts, KeptArray, KeptLoss, cuts_of, weights_of
from aligntools.parsing.parser import ParserModel
from aligntools.parsing.settings import TransferSettings, TreeConstraints
from aligntools.parsing.transfer import projection
from aligntools.store.stores import Kept, Store, read_object, write_object

if TYPE_CHECKING:
    from aligntools.parsing.learning.training import ExpectedLoss


@dataclass(frozen=True)
class TransferPairs:
    """Sentence pairs.

    source, target: As the source parser sees them.
    own: The target side, as the target parser sees it.
    aligned (int32 [target words]): See `projection.one_to_one`.
    direct: The target side, as another parser without words sees it.
    """

    source: EncodedSentences
    target: EncodedSentences
    own: EncodedSentences
    aligned: np.ndarray
    direct: EncodedSentences | None = None

    def part(self, begin: int, end: int) -> "TransferPairs":
        """Return the pairs ``begin:end``."""
        a, b = self.target.offsets[[begin, end]] - self.target.offsets[0]
        source, target, own = (side.part(begin, end) for side in (self.source, self.target, self.own))
        direct = None if self.direct is None else self.direct.part(begin, end)
        return TransferPairs(source, target, own, self.aligned[a:b], direct)


def expected_of(
    parser: ParserModel,
    direct: ParserModel | None,
    pairs: TransferPairs,
    constraints: TreeConstraints,
    transferred: str,
    pool: Pool | None,
) -> np.ndarray:
    """Return the edge marginals that are transferred over pairs [shape=(target edges,)].

    parser: Of the source language.
    direct: A parser without words for edges that are not aligned, which sees ``pairs.direct``.
    transferred: See `projection.transferring_scores`.
    """
    own = None if direct is None or pairs.direct is None else direct.scores(pairs.direct, pool, only=TAGS)
    return projection.expected_edges(
        parser, pairs.source, pairs.target, pairs.aligned, constraints, pool, transferred, own
    )


def keep_pairs(
    place: InParts, pairs: TransferPairs, heads: np.ndarray | None = None, of: EncodedSentences | None = None
) -> tuple[str, ...]:
    """Write pairs to files, and trees ``of`` one of their sides; return the names."""
    cuts = cuts_of(pairs.own.edges)
    names = place.new_names("pairs", len(cuts))
    side = of or pairs.source
    words = side.offsets - side.offsets[0]
    for name, (begin, end) in zip(names, cuts, strict=True):
        theirs = None if heads is None else heads[words[begin] : words[end]]
        write_object(place.store, name, (pairs.part(begin, end), theirs))
    return names


def _expect(parser: Kept, constraints: TreeConstraints, transferred: str, names: tuple[str, str], pool: Pool) -> None:
    """Write the loss of a part: its edges' probabilities under what is transferred."""
    pairs, _ = read_object(parser.store, names[0], shared=True)
    source, direct = parser.get()
    expected = expected_of(source, direct, pairs, constraints, transferred, pool)
    write_object(parser.store, names[1], training.ExpectedLoss(pairs.own, expected, constraints))


def expected_loss(
    place: InParts, parser: ParserModel, direct: ParserModel | None, pairs: TransferPairs, settings: TransferSettings
) -> tuple[KeptLoss, KeptArray]:
    """Return the cross-entropy with the transferred distributions, and these.

    parser, direct, pairs: See `expected_of`.
    """
    store = place.store
    kept = Kept(store, *place.new_names("source-parser", 1))
    write_object(store, kept.name, (parser, direct))
    names = keep_pairs(place, pairs)
    losses = place.new_names("loss", len(names))
    expect = functools.partial(_expect, kept, settings.constraints, settings.transferred)
    place.run("transferring", expect, list(zip(names, losses, strict=True)))
    store.remove(kept.name, *names)
    edges = pairs.own.edges
    return KeptLoss(losses, edges), KeptArray(store, losses, _expected_of, (int(edges[-1]),), np.dtype(np.float64))


def _expected_of(loss: "ExpectedLoss") -> np.ndarray:
    return loss.expected


def _support(
    store: Store,
    space: FeatureSpace,
    weights: str,
    reward: float,
    constraints: TreeConstraints,
    names: tuple[str, str],
    pool: Pool,
) -> None:
    """Write the best trees of a part, by the target parser and by the alignments."""
    pairs, theirs = read_object(store, names[0], shared=True)
    agreement = reward * projection.agreement(theirs, pairs.source, pairs.own, pairs.aligned, pool)
    heads = projection.supported_trees(space, weights_of(store, weights), pairs.own, agreement, constraints, pool)
    write_object(store, names[1], heads)


class SupportedTrees:
    """Chooses the trees of the target side again and again, for other weights.

    heads (int32 [source words]): Trees of the source side.
    """

    def __init__(self, place: InParts, pairs: TransferPairs, heads: np.ndarray, settings: TransferSettings) -> None:
        self._place, self._settings = place, settings
        self._names = keep_pairs(place, pairs, heads)

    def chosen(self, space: FeatureSpace, weights: np.ndarray) -> np.ndarray:
        """Return the trees' heads, int32 [target words]."""
        s, store = self._settings, self._place.store
        (name,), found = self._place.new_names("chooser", 1), self._place.new_names("heads", len(self._names))
        write_object(store, name, weights)
        support = functools.partial(_support, store, space, name, s.reward, s.constraints)
        self._place.run("trees", support, list(zip(self._names, found, strict=True)))
        heads = np.concatenate([read_object(store, one) for one in found])
        store.remove(name, *found)
        return heads
