"""Arrays in a file, in the form of safetensors (github.com/huggingface/safetensors, "Format").

Reading is the library's. Its writing is not used: it makes another file next to the one it is given, which stays
there under an unknown name when the process is killed, or it needs all bytes twice in memory.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

#: What the form calls types, in the order of the library: arrays of the later ones come first.
TYPES = {
    "BOOL": np.bool_,
    "U8": np.uint8,
    "I8": np.int8,
    "I16": np.int16,
    "U16": np.uint16,
    "F16": np.float16,
    "I32": np.int32,
    "U32": np.uint32,
    "F32": np.float32,
    "F64": np.float64,
    "I64": np.int64,
    "U64": np.uint64,
}
_NAMES = {np.dtype(kind): name for name, kind in TYPES.items()}
_ORDER = {name: place for place, name in enumerate(TYPES)}
#: Arrays begin at a multiple of so many bytes.
ALIGNMENT = 8


def blocks(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> Iterator[bytes | memoryview]:
    """Yield what a file of these arrays has in it, one array after the other.

    Raises KeyError when the form has no name for an array's type.
    """
    named = [(_NAMES[array.dtype], name, np.asarray(array, order="C")) for name, array in arrays.items()]
    named.sort(key=lambda one: (-_ORDER[one[0]], one[1]))
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for kind, name, array in named:
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    yield len(text).to_bytes(8, "little") + text
    for _, _, array in named:
        yield array.reshape(-1).view(np.uint8).data


def write(path: str, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> None:
    """Write arrays over what a file has in it."""
    with open(path, "wb", buffering=0) as file:
        for block in blocks(arrays, metadata):
            view = memoryview(block)
            while view:
                view = view[file.write(view) :]


def places(path: str) -> dict[str, tuple[np.dtype, tuple[int, ...], int]]:
    """Return the type and the shape of each array in a file, and where its bytes begin."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    return {
        name: (np.dtype(TYPES[about["dtype"]]), tuple(about["shape"]), 8 + size + about["data_offsets"][0])
        for name, about in header.items()
        if name != "__metadata__"
    }
