"""Tables of positions for IBM 2: ``p(m | n, M, N)`` of Brown et al. (1993), a distribution for each n, M and N."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.aligning.models import kernels_positions as kp
from aligntools.aligning.settings import POSITION_SMOOTHING
from aligntools.aligning.text.kernels_pairs import Directed
from aligntools.aligning.text.link_matrices import Chunk
from aligntools.formats.models.modelfile import hold
from aligntools.formats.text.corpus import Side
from aligntools.ground.parallel import Pool, balanced_blocks, over

#: Longer sentences are treated as sentences of this length, their positions scaled.
LONGEST = 100
#: Least smoothing, so that a distribution without counts is still one.
LEAST = 1e-9
BLOCKS = 32

_NONE = np.zeros(0, np.float32)


@dataclass
class PositionTable:
    """One direction's table.

    shapes (int32 [n, 2]): Lengths of the given and of the observed side, up to LONGEST.
    values (float32): A block of (observed x given) probabilities for each shape; rows sum to 1.
    """

    shapes: np.ndarray
    values: np.ndarray

    def __post_init__(self) -> None:
        sizes = self.shapes.astype(np.int64).prod(1)
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.shape_of = nearest_shapes(self.shapes)

    @classmethod
    def of_lengths(cls, given: np.ndarray, observed: np.ndarray, tension: float) -> "PositionTable":
        """Return a table for the pairs of lengths that occur, with the diagonal's probabilities."""
        full = (given > 0) & (observed > 0)
        pairs = np.stack([given[full], observed[full]], 1)
        shapes = np.unique(np.minimum(pairs, LONGEST), axis=0).astype(np.int32).reshape(-1, 2)
        size = int(shapes.astype(np.int64).prod(1).sum())
        table = cls(shapes, np.zeros(size, np.float32))
        table.values = table.estimate(np.zeros(size, np.float32), tension, 1.0)
        return table

    def estimate(
        self, counts: np.ndarray, tension: float, smoothing: float = POSITION_SMOOTHING, pool: Pool | None = None
    ) -> np.ndarray:
        """M-step: return the probabilities that counts give, smoothed towards the diagonal."""
        values, smoothing = np.empty(len(counts), np.float32), max(smoothing, LEAST)

        def task(b: tuple[int, int]) -> None:
            kp.estimate_positions(*b, self.shapes, self.starts, counts, float(smoothing), float(tension), values)

        blocks = balanced_blocks(np.diff(self.starts), BLOCKS)
        over(pool, task, blocks)
        return values

    def rows(self) -> np.ndarray:
        """Return where each distribution begins, and the end: int64 [n_rows + 1]."""
        lengths = np.repeat(self.shapes[:, 0].astype(np.int64), self.shapes[:, 1])
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    def collect(
        self,
        chunk: Chunk,
        given: Side,
        observed: Side,
        forward: bool,
        cells: np.ndarray,
        counts: np.ndarray,
        pool: Pool,
    ) -> None:
        """Add a chunk's link matrices to ``counts``, each shape by one thread, in the order of the text."""
        lengths = [np.diff(s.offsets[chunk.k0 : chunk.k1 + 1]) for s in (given, observed)]
        shape = self.shape_of[tuple(np.minimum(n, LONGEST) for n in lengths)]
        sentences = np.argsort(shape, kind="stable")
        sentences = sentences[np.minimum(*lengths)[sentences] > 0]
        ids, first = np.unique(shape[sentences], return_index=True)
        bounds = np.append(first, len(sentences)).astype(np.int64)
        costs = np.add.reduceat((lengths[0] * lengths[1])[sentences], first) if len(first) else np.zeros(0)
        sentences = (sentences + chunk.k0).astype(np.int64)
        place = chunk.k0, forward, given.offsets, observed.offsets, chunk.cell_offsets, cells
        shapes = ids.astype(np.int64), self.shapes, self.starts

        def task(b: tuple[int, int]) -> None:
            kp.collect_positions(*b, bounds, sentences, *place, *shapes, counts)

        pool.map(task, balanced_blocks(costs, BLOCKS))


def arrays_of(positions: Sequence[PositionTable]) -> dict[str, np.ndarray]:
    """Return the tables of both directions as a file has them."""
    return {f"positions.{d}.{name}": getattr(p, name) for d, p in enumerate(positions) for name in ("shapes", "values")}


def positions_of(arrays: dict[str, np.ndarray]) -> list[PositionTable]:
    """Return the tables of a file; ValueError where one is none."""
    found = []
    for d in (0, 1):
        shapes, values = arrays[f"positions.{d}.shapes"], arrays[f"positions.{d}.values"]
        right = shapes.ndim == 2 and shapes.shape[1] == 2 and shapes.dtype == np.int32 and values.dtype == np.float32
        if not right or (len(shapes) and (shapes.min() < 1 or shapes.max() > LONGEST)):
            raise ValueError(f"positions.{d}.shapes")
        hold(arrays, f"positions.{d}.values", (shapes.astype(np.int64).prod(1).sum(),), np.float32, 0)
        found.append(PositionTable(shapes, values))
    return found


def nearest_shapes(shapes: np.ndarray) -> np.ndarray:
    """Return for every pair of lengths the shape that is nearest to it: int32 [LONGEST + 1, LONGEST + 1]."""
    if not len(shapes):
        return np.full((LONGEST + 1, LONGEST + 1), -1, np.int32)
    from scipy.ndimage import distance_transform_edt

    own = np.full((LONGEST + 1, LONGEST + 1), -1, np.int32)
    own[tuple(shapes.T)] = np.arange(len(shapes))
    rows, columns = distance_transform_edt(own < 0, return_distances=False, return_indices=True)
    return np.ascontiguousarray(own[rows, columns])


#: An empty table, which stands for the diagonal.
DIAGONAL = PositionTable(np.zeros((0, 2), np.int32), _NONE)


class DirectedChunk:
    """One direction of a chunk of text, with the arrays that kernels fill for its words and sentences."""

    def __init__(self, chunk: Chunk, given: Side, observed: Side, forward: bool) -> None:
        self.chunk, self.forward = chunk, forward
        self.text = Directed(
            chunk.k0, given.tokens, given.offsets, observed.tokens, observed.offsets, chunk.cell_offsets
        )
        n_given, n_observed = (int(s.offsets[chunk.k1] - s.offsets[chunk.k0]) for s in (given, observed))
        n, uses, nulls = chunk.k1 - chunk.k0, np.zeros(n_given, np.float32), np.zeros((2, n_observed), np.float32)
        self.outcome = kp.Outcome(uses, nulls, np.zeros(n), np.zeros(n))


def positioned(
    block: tuple[int, int],
    part: DirectedChunk,
    cells: np.ndarray,
    inverse: np.ndarray,
    null: np.ndarray,
    p_null: float,
    positions: PositionTable,
    tension: float,
    squared: bool = False,
    apart: np.ndarray = _NONE,
) -> np.ndarray:
    """Run `kernels_positions.positioned_block`; return its features."""
    features = np.zeros(2)
    table = kp.PositionBlocks(positions.shape_of, positions.shapes, positions.starts, positions.values)
    words = inverse, null, np.float32(p_null), float(tension)
    out = squared, apart, part.outcome, features
    kp.positioned_block(*block, part.text, cells, part.forward, *words, table, *out)
    return features
