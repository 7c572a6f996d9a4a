"""The layers of an encoder (Devlin et al. 2019), over blocks of rows of one shape.

A product of matrices may round differently for another number of rows. So texts are put into blocks that always
have the same number of rows, and each block's products are of one thread. Where the machine's library rounds a row by
its place in a block, which is tried once, each text has a block for itself. The states of a text are then the same
bytes whatever the other texts, their order and the number of threads.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from aligntools.encoding import kernels_layers as kernels
from aligntools.encoding.weights import Dense, EncoderWeights, Normalization
from aligntools.ground.parallel import Pool, one_thread

#: Rows of a block; texts with more have the next that they fit into.
ROWS = 256
#: A text that has a block for itself has rows up to a multiple of this.
STEP = 32
_SEED, _MOVED = 7, 37


class Layers:
    """The first layers of an encoder."""

    def __init__(self, weights: EncoderWeights) -> None:
        self.weights = weights
        self._anywhere: bool | None = None

    def run(self, texts: Sequence[np.ndarray], wanted: Sequence[int], pool: Pool) -> list[np.ndarray]:
        """Return the states of texts.

        texts (list of int32 [pieces]): With the pieces that stand around a text; at most ``weights.longest`` long.
        wanted: Layers, from 0, the embeddings.
        Returns list of float32 [wanted, pieces, width].
        """
        lengths = [len(text) for text in texts]
        out: list[np.ndarray] = [np.empty(0)] * len(texts)

        def fill(block: tuple[int, list[int]]) -> None:
            rows, members = block
            starts = np.concatenate([[0], np.cumsum([lengths[k] for k in members])])
            found = self._block([texts[k] for k in members], starts, rows, wanted)
            for n, k in enumerate(members):
                out[k] = found[:, starts[n] : starts[n + 1]].copy()

        with one_thread():
            if self._anywhere is None:
                self._anywhere = self._rounds_alike()
            pool.map(fill, blocks(lengths) if self._anywhere else alone(lengths))
        return out

    def _block(self, texts: list[np.ndarray], starts: np.ndarray, rows: int, wanted: Sequence[int]) -> np.ndarray:
        weights = self.weights
        width, end = weights.width, int(starts[-1])
        longest = int(np.diff(starts).max())
        x, y = np.zeros((rows, width), np.float32), np.zeros((rows, width), np.float32)
        asked = np.empty((rows, 3 * width), np.float32)
        inner = np.empty((rows, weights.layers[0].inner.matrix.shape[1] if weights.layers else 0), np.float32)
        turned = np.empty((width // weights.heads, longest), np.float32)
        scores, powers = np.empty(longest, np.float32), np.empty(longest, np.int32)
        epsilon, nothing = np.float32(weights.epsilon), np.zeros(width, np.float32)
        x[:end] = weights.rows(np.concatenate(texts))
        for text, begin in zip(texts, starts[:-1], strict=True):
            x[begin : begin + len(text)] += weights.positions[: len(text)]
        kernels.add_normalize(x, y, nothing, weights.first.gain, weights.first.shift, epsilon)
        out = np.empty((len(wanted), end, width), np.float32)
        for number in range(max(wanted, default=0) + 1):
            if number:
                layer = weights.layers[number - 1]
                np.matmul(x, layer.asking.matrix, out=asked)
                kernels.attend(
                    asked, layer.asking.bias, starts, weights.heads, turned, scores, powers, powers.view(np.float32), y
                )
                _add(y, layer.answer, x, layer.attended, epsilon)
                np.matmul(x, layer.inner.matrix, out=inner)
                kernels.add_gelu(inner, layer.inner.bias)
                _add(inner, layer.outer, x, layer.out, epsilon)
            for n, asked_for in enumerate(wanted):
                if asked_for == number:
                    out[n] = x[:end]
        return out

    def _rounds_alike(self) -> bool:
        """Try whether a row's products depend on its place in a block."""
        rng = np.random.default_rng(_SEED)
        for layer in self.weights.layers[:1]:
            for dense in (layer.asking, layer.answer, layer.inner, layer.outer):
                x = rng.standard_normal((ROWS, dense.matrix.shape[0]), np.float32)
                moved = np.matmul(np.roll(x, _MOVED, 0), dense.matrix)
                if not np.array_equal(np.roll(np.matmul(x, dense.matrix), _MOVED, 0), moved):
                    return False
        return True


def _add(x: np.ndarray, dense: Dense, to: np.ndarray, normalization: Normalization, epsilon: np.float32) -> None:
    kernels.add_normalize(to, np.matmul(x, dense.matrix), dense.bias, normalization.gain, normalization.shift, epsilon)


def blocks(lengths: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield the rows of a block and the texts in it: the longest that is left, and the longest that fit with it."""
    waiting: dict[int, list[int]] = {}
    for k in range(len(lengths) - 1, -1, -1):
        waiting.setdefault(lengths[k], []).append(k)
    sizes = sorted(waiting)
    while sizes:
        rows = -(-max(sizes[-1], 1) // ROWS) * ROWS
        left, members = rows, []
        at = len(sizes) - 1
        while at >= 0:
            size = sizes[at]
            if size > left or -(-max(size, 1) // ROWS) * ROWS != rows:
                at -= 1
                continue
            members.append(waiting[size].pop())
            left -= size
            if not waiting[size]:
                del waiting[size], sizes[at]
                at -= 1
        yield rows, members


def alone(lengths: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield a block for each text, whose rows go by the text's length."""
    for k, length in enumerate(lengths):
        yield -(-max(length, 1) // STEP) * STEP, [k]
