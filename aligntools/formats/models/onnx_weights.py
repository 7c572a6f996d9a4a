"""The weights in files of ONNX, by the names that the exported model had for them.

Exporters store the matrix of a dense layer transposed and under a number (``onnx::MatMul_375``); the graph tells whose
it is: its product is what the layer's bias is added to. Of the format (messages of Protocol Buffers,
https://onnx.ai/onnx/repo-docs/IR.html) arrays and the nodes between matrix and bias are read alone; nothing is run.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

_Value: TypeAlias = "int | memoryview"

#: Numbers of the fields that are read, in messages ModelProto, GraphProto, NodeProto, AttributeProto, TensorProto and
#: StringStringEntryProto.
_GRAPH = 7
_NODE, _INITIALIZER = 1, 5
_INPUT, _OUTPUT, _OPERATION, _ATTRIBUTE = 1, 2, 4, 5
_ATTRIBUTE_NAME, _ATTRIBUTE_INTEGER = 1, 3
_SIZES, _TYPE, _FLOATS, _NAME, _RAW, _ELSEWHERE = 1, 2, 4, 8, 9, 13
_KEY, _TEXT = 1, 2
#: Types of arrays that are weights, and of weights in fewer bits.
_KINDS: dict[int, np.dtype[Any]] = {1: np.dtype("<f4"), 10: np.dtype("<f2"), 11: np.dtype("<f8")}
_FEWER = {2: "8-bit integers", 3: "8-bit integers", 16: "16-bit numbers of bfloat16"}
#: What a varint has at most, in bytes.
_LONGEST = 10


#: An operation, the names of what goes in and of what comes out, and its attributes that are whole numbers.
_Node: TypeAlias = tuple[str, list[str], list[str], dict[str, int]]


def read(path: str) -> tuple[dict[str, np.ndarray], list[str]]:
    """Read a file's weights, mapped; also return the file, and those beside it that have weights of it.

    Arrays are floats. Matrices of dense layers are there by the layer's name, [outputs, inputs], too. Raises ValueError
    when it is damaged, or has weights of fewer bits; OSError when a file cannot be opened.
    """
    data = _mapped(path)
    graph = next((value for number, value in _fields(data) if number == _GRAPH), None)
    if not isinstance(graph, memoryview):
        raise ValueError("has no graph")
    arrays: dict[str, np.ndarray] = {}
    files: dict[str, memoryview] = {path: data}
    nodes = []
    for number, value in _fields(graph):
        if number == _INITIALIZER:
            name, array = _array(_message(value), files)
            if array is not None:
                arrays[name] = array
        elif number == _NODE:
            nodes.append(_node(_message(value)))
    for operation, inputs, outputs, _ in nodes:  # what had the same values was stored once
        if operation == "Identity" and inputs[:1] and inputs[0] in arrays:
            arrays |= dict.fromkeys(outputs, arrays[inputs[0]])
    return dict(_dense(nodes, arrays)) | arrays, list(files)


def _dense(nodes: Iterable[_Node], arrays: dict[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the matrices of dense layers, by the names of the layers' biases."""
    products: dict[str, np.ndarray] = {}
    for operation, inputs, outputs, flags in nodes:
        matrix = arrays.get(inputs[1]) if len(inputs) > 1 else None
        if operation == "MatMul" and matrix is not None and matrix.ndim == 2:
            products |= dict.fromkeys(outputs, matrix.T)
        elif operation == "Gemm" and matrix is not None and matrix.ndim == 2 and len(inputs) > 2:
            stem, _, end = inputs[2].rpartition(".")
            if end == "bias":
                yield f"{stem}.weight", matrix if flags.get("transB") else matrix.T
        elif operation == "Add" and len(inputs) == 2:
            for bias, product in (inputs, inputs[::-1]):
                stem, _, end = bias.rpartition(".")
                if end == "bias" and product in products:
                    yield f"{stem}.weight", products[product]


def _array(data: memoryview, files: dict[str, memoryview]) -> tuple[str, np.ndarray | None]:
    """Return an array's name, and the array if it is of floats."""
    shape: list[int] = []
    kind, name = 0, ""
    values: memoryview | None = None
    place: dict[str, str] = {}
    for number, value in _fields(data):
        if number == _SIZES:
            shape += [value] if isinstance(value, int) else _packed(value)
        elif number == _TYPE and isinstance(value, int):
            kind = value
        elif number == _NAME:
            name = _text(value)
        elif number in (_RAW, _FLOATS):
            values = _message(value)
        elif number == _ELSEWHERE:
            entry = dict(_fields(_message(value)))
            place[_text(entry[_KEY])] = _text(entry[_TEXT])
    if kind in _FEWER and len(shape) == 2:
        raise ValueError(f"has {_FEWER[kind]}; export it with weights of float32 or float16")
    if kind not in _KINDS:
        return name, None
    size = int(np.prod(shape, dtype=object)) * _KINDS[kind].itemsize
    if place:
        values = _beside(files, place, size)
    if values is None or len(values) != size:
        raise ValueError(f"{name} has other bytes than its sizes say")
    return name, np.frombuffer(values, _KINDS[kind]).reshape(shape)


def _beside(files: dict[str, memoryview], place: dict[str, str], size: int) -> memoryview:
    """Return bytes of a file beside the first one."""
    name, begin = place.get("location", ""), int(place.get("offset", "0"))
    if not name or os.path.basename(name) != name:
        raise ValueError(f"has weights in '{name}', and there is no such file in its folder")
    path = os.path.join(os.path.dirname(next(iter(files))), name)
    if path not in files:
        files[path] = _mapped(path)
    return files[path][begin : begin + size]


def _mapped(path: str) -> memoryview:
    whole: Any = np.memmap(path, np.uint8, "r")
    return memoryview(whole)


def _node(data: memoryview) -> _Node:
    inputs, outputs, flags, operation = [], [], {}, ""
    for number, value in _fields(data):
        if number == _INPUT:
            inputs.append(_text(value))
        elif number == _OUTPUT:
            outputs.append(_text(value))
        elif number == _OPERATION:
            operation = _text(value)
        elif number == _ATTRIBUTE:
            entry = dict(_fields(_message(value)))
            number_of = entry.get(_ATTRIBUTE_INTEGER, 0)
            if isinstance(number_of, int) and _ATTRIBUTE_NAME in entry:
                flags[_text(entry[_ATTRIBUTE_NAME])] = number_of
    return operation, inputs, outputs, flags


def _fields(data: memoryview) -> Iterator[tuple[int, _Value]]:
    """Yield the fields of a message of Protocol Buffers, as numbers and bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        form, size = key & 7, 0
        if form == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if form == 2:
            size, at = _varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(form, len(data) + 1)
        if at + size > len(data):
            raise ValueError("cut short or not an ONNX file")
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for k, byte in enumerate(data[at : at + _LONGEST]):
        value |= (byte & 127) << (7 * k)
        if byte < 128:
            return value, at + k + 1
    raise ValueError("cut short or not an ONNX file")


def _packed(data: memoryview) -> list[int]:
    found, at = [], 0
    while at < len(data):
        value, at = _varint(data, at)
        found.append(value)
    return found


def _message(value: _Value) -> memoryview:
    if isinstance(value, int):
        raise ValueError("a number where a message was expected")
    return value


def _text(value: _Value) -> str:
    return bytes(_message(value)).decode()
