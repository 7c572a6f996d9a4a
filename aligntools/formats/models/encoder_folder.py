"""A folder with an encoder of the BERT or XLM-R kind: ``config.json``, ``tokenizer.json``, and weights.

Weights are in ``model.safetensors``, or else in ``model.onnx``, which may be in a folder ``onnx`` within.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.formats.models import onnx_weights
from aligntools.ground.errors import DataError, ModelError, UsageProblem
from aligntools.store import tensors

CONFIG, TOKENIZER, WEIGHTS, ONNX = "config.json", "tokenizer.json", "model.safetensors", "model.onnx"
#: Kinds of `config.json`; those of the second count positions from the padding piece's number on.
KINDS, FROM_PADDING = ("bert", "xlm-roberta", "roberta"), ("xlm-roberta", "roberta")
_CONTENT = f"{CONFIG}, {TOKENIZER} and {WEIGHTS} or {ONNX}"
#: Where weights of ONNX may be, and one of them that only some exports have by its name.
_PLACES, _NAMED = (ONNX, os.path.join("onnx", ONNX)), "encoder.layer.0.attention.self.query.weight"
_BFLOAT, _BLOCK = "BF16", 1 << 20
_NEEDED = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "max_position_embeddings")


@dataclass(frozen=True, eq=False)
class EncoderFolder:
    """What a folder holds; arrays are mapped, by names without the first part that some kinds put before them."""

    config: dict[str, Any]
    arrays: dict[str, np.ndarray]
    tokenizer: Any
    checksum: str


def read(folder: str) -> EncoderFolder:
    """Read a folder."""
    config = _config(os.path.join(folder, CONFIG))
    arrays, checksum = _weights(folder)
    return EncoderFolder(config, arrays, _tokenizer(os.path.join(folder, TOKENIZER)), checksum)


def _bytes(path: str, most: int = -1) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError as error:
        problem = "is not there" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        raise DataError(path, None, f"{problem}; an encoder's folder has {_CONTENT}") from None


def _config(path: str) -> dict[str, Any]:
    try:
        config = json.loads(_bytes(path))
    except ValueError as error:
        raise ModelError(path, None, f"is not JSON ({error})") from None
    if not isinstance(config, dict) or config.get("model_type") not in KINDS:
        kind = config.get("model_type") if isinstance(config, dict) else None
        raise ModelError(path, None, f"model_type is {kind!r}; encoders of the kinds {', '.join(KINDS)} can be read")
    for name in _NEEDED:
        if not isinstance(config.get(name), int) or config[name] < 1:
            raise ModelError(path, None, f"{name} is {config.get(name)!r}; a whole number from 1 on was expected")
    if config["hidden_size"] % config["num_attention_heads"]:
        raise ModelError(path, None, "hidden_size is not a multiple of num_attention_heads")
    for name, known in (("hidden_act", "gelu"), ("position_embedding_type", "absolute")):
        if config.get(name, known) != known:
            raise ModelError(path, None, f"{name} is {config[name]!r}; only {known} is known")
    return config


def _weights(folder: str) -> tuple[dict[str, np.ndarray], str]:
    """Return the arrays of the first file of weights that is there, and the file's checksum."""
    path = os.path.join(folder, WEIGHTS)
    onnx = next((other for place in _PLACES if os.path.isfile(other := os.path.join(folder, place))), None)
    if onnx is not None and not os.path.isfile(path):
        try:
            named, files = onnx_weights.read(onnx)
        except (OSError, ValueError, KeyError, MemoryError, OverflowError) as error:
            raise ModelError(onnx, None, f"is not a file of weights that can be read ({error})") from None
        arrays = {_plain(name): array for name, array in named.items()}
        if _NAMED not in arrays:
            raise ModelError(onnx, None, f"has no {_NAMED}; export it with neither optimization nor quantization")
        return arrays, _checksum(files)
    if len(_bytes(path, 8)) < 8:
        raise ModelError(path, None, "is cut short")
    size, arrays = os.path.getsize(path), {}
    try:
        for name, (kind, shape, begin) in tensors.places(path).items():
            if begin + kind.itemsize * int(np.prod(shape)) > size:
                raise ValueError("cut short")
            arrays[_plain(name)] = np.memmap(path, kind, "r", begin, shape) if np.prod(shape) else np.zeros(shape, kind)
    except KeyError as error:
        found = "16-bit numbers of bfloat16" if error.args == (_BFLOAT,) else f"{error}"
        raise ModelError(path, None, f"has {found}; save it with weights of float32 or float16") from None
    except (OSError, ValueError, TypeError, AttributeError, MemoryError, OverflowError) as error:
        raise ModelError(path, None, f"is damaged or not a safetensors file ({error})") from None
    return arrays, _checksum([path])


def _checksum(paths: Iterable[str]) -> str:
    found = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            while block := file.read(_BLOCK):
                found.update(block)
    return found.hexdigest()


def _plain(name: str) -> str:
    """Take ``bert.``, ``0.auto_model.`` or the like off a name."""
    parts = name.split(".")
    begin = next((k for k, part in enumerate(parts) if part in ("embeddings", "encoder")), 1)
    return ".".join(parts[begin:])


def _tokenizer(path: str) -> Any:
    data = _bytes(path)
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise UsageProblem("an encoder's folder needs tokenizers: pip install 'aligntools[encoder]'") from None
    make: Callable[[bytes], Any] = Tokenizer.from_buffer
    try:
        tokenizer = make(data)
    except Exception as error:  # the library raises plain exceptions
        raise ModelError(path, None, f"is not a tokenizer that can be read ({error})") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
