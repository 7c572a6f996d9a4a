"""Damage to model files that a checksum does not show: files that are whole, of contents that are wrong."""

import json
import random
import struct
import tempfile

import numpy as np

#: What a model says of itself stands under this name; its checksum is zeros until it is known.
_MAGIC, _UNKNOWN = "aligntools", "0" * 32


def parts(data: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """Take a model file apart: its own header (safetensors' metadata) and its arrays."""
    from safetensors.numpy import load

    size = struct.unpack("<Q", data[:8])[0]
    metadata = json.loads(data[8 : 8 + size])["__metadata__"]
    return metadata, {name: a.copy() for name, a in load(data).items()}


def whole(metadata: dict, arrays: dict[str, np.ndarray]) -> bytes:
    """Put a model file together again, its checksum right."""
    from safetensors.numpy import save

    about = json.loads(metadata[_MAGIC])
    sealing = isinstance(about, dict) and "checksum" in about
    if sealing:
        about["checksum"] = _UNKNOWN
    text = {_MAGIC: json.dumps(about, sort_keys=True)}
    data = save({k: np.ascontiguousarray(a) for k, a in arrays.items()}, text)
    if not sealing:  # as files of 0.2.0 and before
        return data
    from aligntools.formats.models.modelfile import seal

    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        seal(file.name)
        file.seek(0)
        return file.read()


def _wrong_number(array, rng):
    flat = array.reshape(-1)
    if not len(flat):
        return array
    at = rng.randrange(len(flat))
    if array.dtype.kind == "f":
        flat[at] = rng.choice((np.nan, np.inf, -np.inf, -1.0, 1e30, 0.0))
    else:
        info = np.iinfo(array.dtype)
        flat[at] = rng.choice((info.min, info.max, 0, max(-1, info.min), min(info.max, 1 << 20), flat[at] ^ 1))
    return array


def _all_numbers(array, rng):
    if array.dtype.kind == "f":
        array[...] = rng.choice((np.nan, np.inf, -1.0, 0.0, 1e30))
    else:
        info = np.iinfo(array.dtype)
        array[...] = rng.choice((info.min, info.max, 0, 1))
    return array


def _several_numbers(array, rng):
    for _ in range(rng.randint(2, 20)):
        array = _wrong_number(array, rng)
    return array


def _shorter(array, rng):
    return array[: rng.randrange(len(array))] if array.ndim and len(array) else array


def _longer(array, rng):
    return np.concatenate([array, array[: rng.randint(1, 5)]]) if array.ndim and len(array) else array


def _none(array, _):
    return array[:0] if array.ndim else array


def _shuffled(array, rng):
    return np.random.default_rng(rng.randrange(1 << 30)).permutation(array) if array.ndim else array


def _reversed(array, _):
    return array[::-1] if array.ndim else array


def _other_type(array, rng):
    return array.astype(rng.choice(("float32", "float64", "int32", "int64", "uint8")), casting="unsafe")


def _flat(array, _):
    return array.reshape(-1)


def _deeper(array, _):
    return array[None]


def _turned(array, _):
    return array.T


ARRAYS = (
    _wrong_number, _wrong_number, _wrong_number, _several_numbers, _all_numbers, _shorter, _longer, _none, _shuffled,
    _reversed, _other_type, _flat, _deeper, _turned,
)  # fmt: skip


def _header(metadata, rng):
    """Change one value anywhere in the header."""
    about = json.loads(metadata[_MAGIC])
    holders = [(about, key) for key in about if key != "checksum"]
    for holder, key in holders:
        value = holder[key]
        if isinstance(value, dict):
            holders += [(value, k) for k in value]
        elif isinstance(value, list):
            holders += [(value, k) for k in range(min(len(value), 50))]
    holder, key = rng.choice(holders)
    if isinstance(holder, dict) and rng.random() < 0.2:
        del holder[key]
    else:
        values = (None, -1, 0, 1, 1 << 40, 10**30, 1.5, float("nan"), "", "x", [], {}, True, [[]], "\u2028" * 9)
        holder[key] = rng.choice(values)
    return metadata | {_MAGIC: json.dumps(about)}


def wrong_contents(data: bytes, rng: random.Random) -> bytes:
    """Return a model file whose checksum is right and whose contents are wrong."""
    metadata, arrays = parts(data)
    if rng.random() < 0.2:
        return whole(_header(metadata, rng), arrays)
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice(sorted(arrays))
        with np.errstate(all="ignore"):
            arrays[name] = rng.choice(ARRAYS)(arrays[name], rng)
    if rng.random() < 0.05:
        del arrays[rng.choice(sorted(arrays))]
    return whole(metadata, arrays)
