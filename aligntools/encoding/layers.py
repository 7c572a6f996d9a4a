"""The layers of an encoder (Devlin et al. 2019), over blocks of texts.

Products are of whole numbers, and exact: so the states of a text are the same bytes whatever the other texts, their
order and the number of threads.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from aligntools.encoding import kernels_layers as kernels
from aligntools.encoding.weights import Dense, EncoderWeights, Normalization
from aligntools.ground.parallel import Pool

#: Rows of a block, unless one text has more.
ROWS = 192


class Layers:
    """The first layers of an encoder."""

    def __init__(self, weights: EncoderWeights) -> None:
        self.weights = weights

    def run(self, texts: Sequence[np.ndarray], wanted: Sequence[int], pool: Pool) -> list[np.ndarray]:
        """Return the states of texts; equal texts are read once.

        texts (list of int32 [pieces]): With the pieces that stand around a text; at most ``weights.longest`` long.
        wanted: Layers, from 0, the embeddings.
        Returns list of float32 [wanted, pieces, width].
        """
        first: dict[bytes, int] = {}
        same = [first.setdefault(text.tobytes(), k) for k, text in enumerate(texts)]
        out: list[np.ndarray] = [np.empty(0)] * len(texts)

        def fill(members: list[int]) -> None:
            starts = np.concatenate([[0], np.cumsum([len(texts[k]) for k in members])])
            found = self._block([texts[k] for k in members], starts, wanted)
            for n, k in enumerate(members):
                out[k] = found[:, starts[n] : starts[n + 1]].copy()

        pool.map(fill, blocks([len(text) for text in texts], list(first.values())))
        return [out[k] for k in same]

    def _block(self, texts: list[np.ndarray], starts: np.ndarray, wanted: Sequence[int]) -> np.ndarray:
        weights = self.weights
        width, inner, end = weights.width, weights.inner, int(starts[-1])
        rows = _up(end, kernels.ROWS)
        x, y = np.zeros((rows, width), np.float32), np.zeros((rows, width), np.float32)
        asked = np.zeros((rows + kernels.ROWS, 3 * width), np.float32)  # attention reads a whole tile from any row on
        narrow, wide = (np.zeros((rows, _up(size, kernels.GROUP)), np.uint8) for size in (width, inner))
        sizes = {width, 3 * width, inner}
        products = {size: np.empty((rows, _up(size, kernels.COLUMNS)), np.int32) for size in sizes}
        scales, zeros = np.empty(rows, np.float32), np.empty(rows, np.int32)
        values, limits = np.empty((1, inner), np.float32), np.empty(2, np.float32)
        limit_bits, epsilon = limits.view(np.int32), np.float32(weights.epsilon)

        def multiply(bytes_: np.ndarray, dense: Dense) -> tuple[np.ndarray, ...]:
            found = products[len(dense.bias)]
            kernels.multiply(bytes_, dense.packed, found)
            return found, scales, zeros, dense.steps, dense.sums, dense.bias

        def product(of: np.ndarray, dense: Dense) -> tuple[np.ndarray, ...]:
            kernels.quantize(of, of.view(np.int32), limits, limit_bits, narrow, scales, zeros)
            return multiply(narrow, dense)

        def add(normalization: Normalization) -> None:
            kernels.add_normalize(x, y, normalization.gain, normalization.shift, epsilon)

        x[:end] = weights.rows(np.concatenate(texts))
        for text, begin in zip(texts, starts[:-1], strict=True):
            x[begin : begin + len(text)] += weights.positions[: len(text)]
        add(weights.first)
        out = np.empty((len(wanted), end, width), np.float32)
        for number in range(max(wanted, default=0) + 1):
            if number:
                layer = weights.layers[number - 1]
                kernels.dequantize(*product(x, layer.asking), asked[:rows])
                for begin, text in zip(starts[:-1].tolist(), texts, strict=True):
                    self._attend(asked, begin, len(text), y)
                kernels.dequantize(*product(y, layer.answer), y)
                add(layer.attended)
                found = product(x, layer.inner)
                kernels.gelu(*found, values, values.view(np.int32), limits, limit_bits, wide)
                kernels.dequantize(*multiply(wide, layer.outer), y)
                add(layer.out)
            for n, asked_for in enumerate(wanted):
                if asked_for == number:
                    out[n] = x[:end]
        return out

    def _attend(self, asked: np.ndarray, first: int, n: int, out: np.ndarray) -> None:
        size = self.weights.width // self.weights.heads
        columns, across = _up(n, kernels.FLOAT_COLUMNS), _up(size, kernels.FLOAT_COLUMNS)
        keys = np.zeros((columns // kernels.PANEL, size, kernels.PANEL), np.float32)
        values = np.zeros((across // kernels.PANEL, columns, kernels.PANEL), np.float32)
        scores, powers = np.empty((kernels.ROWS, columns), np.float32), np.empty(columns, np.int32)
        taken = np.empty((kernels.ROWS, across), np.float32)
        bits, power_values = scores.view(np.int32), powers.view(np.float32)
        kernels.attend(
            asked, first, n, self.weights.heads, keys, values, scores, bits, powers, power_values, taken, out
        )


def _up(n: int, step: int) -> int:
    return -(-n // step) * step


def blocks(lengths: Sequence[int], texts: Sequence[int]) -> Iterator[list[int]]:
    """Yield texts in blocks of about `ROWS` rows, shorter ones first: those of a block have about one length."""
    members: list[int] = []
    rows = 0
    for k in sorted(texts, key=lambda k: lengths[k]):
        if members and rows + lengths[k] > ROWS:
            yield members
            members, rows = [], 0
        members.append(k)
        rows += lengths[k]
    if members:
        yield members
