"""Tiles of products of matrices, with all sums in registers: the one place that writes LLVM's code itself.

Sums of products of unsigned with signed bytes are exact, so all ways of computing them give the same: the dot products
of AVX-512 VNNI, those of AVX-VNNI, AVX2's products of 16 bits, and plain vector code elsewhere. LLVM finds none of the
first three in a loop. A sum of products of floats goes over the inputs in their order.

The right matrix is packed in panels of 16 columns, each with 64 bytes for each step over the inputs, of which a step of
bytes takes four: [outputs / 16, inputs / 4, 16, 4] bytes, [outputs / 16, inputs, 16] floats.
"""

from abc import ABC, abstractmethod
from typing import Any

from llvmlite import ir
from numba.core import cgutils, codegen, config, types
from numba.extending import intrinsic

#: Rows of the left matrix that a tile has, panels of the right one that a tile of bytes has, and one of floats.
ROWS, PANELS, FLOAT_PANELS = 6, 4, 2
PANEL, GROUP = 16, 4
_SIZE = PANEL * GROUP

_BYTE, _INT, _LONG, _FLOAT = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType()


def features() -> set[str]:
    """Return the names of the processor's features that code is compiled for."""
    text = codegen.get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES
    name = config.CPU_NAME or ""
    found = {part[1:] for part in str(text).split(",") if part.startswith("+")}
    return found | ({"avx2"} if name == "x86-64-v3" else set())


class _Way(ABC):
    """How four bytes of a row, a step over the inputs, meet a panel, in parts.

    A part is ``size`` bytes of the panel and has ``lanes`` sums; ``at_once`` of them have registers for all rows.
    """

    kind: Any = _INT
    lanes, parts, size, at_once = PANEL, 1, _SIZE, 1

    @abstractmethod
    def row(self, builder: Any, four: Any) -> Any:
        """Return a row's four bytes, given as 32 bits, as `step` takes them."""

    def panel(self, builder: Any, packed: Any) -> Any:
        """Return a part of a panel, given as bytes, as `step` takes it."""
        return packed

    @abstractmethod
    def step(self, builder: Any, total: Any, row: Any, panel: Any) -> Any:
        """Return the sums with one more product."""

    def end(self, builder: Any, total: Any) -> Any:
        """Return sums as one number for each column."""
        return total


def _vector(kind: Any, n: int) -> Any:
    return ir.VectorType(kind, n)


def _call(builder: Any, name: str, result: Any, *args: Any) -> Any:
    kind = ir.FunctionType(result, [a.type for a in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


def _repeat(builder: Any, value: Any, n: int) -> Any:
    """Return a vector of ``n`` times a value."""
    empty = ir.Constant(_vector(value.type, n), ir.Undefined)
    one = builder.insert_element(empty, value, ir.Constant(_INT, 0))
    return builder.shuffle_vector(one, empty, ir.Constant(_vector(_INT, n), [0] * n))


def _pick(builder: Any, vector: Any, places: range) -> Any:
    """Return a vector's elements at some places."""
    return builder.shuffle_vector(vector, vector, ir.Constant(_vector(_INT, len(places)), list(places)))


class _DotProducts(_Way):
    """VNNI: one instruction multiplies and sums four bytes for each column."""

    def __init__(self, lanes: int) -> None:
        self.lanes, self.parts, self.size = lanes, PANEL // lanes, lanes * GROUP
        self.at_once = lanes // 4  # 32 registers, or 16

    def row(self, builder: Any, four: Any) -> Any:
        return _repeat(builder, four, self.lanes)

    def panel(self, builder: Any, packed: Any) -> Any:
        return builder.bitcast(packed, _vector(_INT, self.lanes))

    def step(self, builder: Any, total: Any, row: Any, panel: Any) -> Any:
        return _call(builder, f"llvm.x86.avx512.vpdpbusd.{32 * self.lanes}", total.type, total, row, panel)


class _Pairs(_Way):
    """AVX2: products of 16 bits, summed by pairs; each column has two sums until the end."""

    lanes, parts, size, at_once = 8, 4, 16, 2

    def row(self, builder: Any, four: Any) -> Any:
        wide = builder.zext(builder.bitcast(four, _vector(_BYTE, 4)), _vector(ir.IntType(16), 4))
        return builder.bitcast(_repeat(builder, builder.bitcast(wide, _LONG), 4), _vector(ir.IntType(16), 16))

    def panel(self, builder: Any, packed: Any) -> Any:
        return builder.sext(packed, _vector(ir.IntType(16), 16))

    def step(self, builder: Any, total: Any, row: Any, panel: Any) -> Any:
        return builder.add(total, _call(builder, "llvm.x86.avx2.pmadd.wd", total.type, row, panel))

    def end(self, builder: Any, total: Any) -> Any:
        return builder.add(_pick(builder, total, range(0, 8, 2)), _pick(builder, total, range(1, 8, 2)))


class _Plain(_Way):
    """Any processor: vectors that LLVM cuts as it can."""

    def row(self, builder: Any, four: Any) -> Any:
        return builder.zext(builder.bitcast(four, _vector(_BYTE, 4)), _vector(_INT, 4))

    def panel(self, builder: Any, packed: Any) -> Any:
        return builder.sext(packed, _vector(_INT, _SIZE))

    def step(self, builder: Any, total: Any, row: Any, panel: Any) -> Any:
        for k in range(GROUP):
            one = _repeat(builder, builder.extract_element(row, ir.Constant(_INT, k)), PANEL)
            total = builder.add(total, builder.mul(one, _pick(builder, panel, range(k, _SIZE, GROUP))))
        return total


class _Floats(_Way):
    """A float of the row, and 16 of the panel."""

    kind = _FLOAT

    def __init__(self, lanes: int) -> None:
        self.lanes, self.parts, self.size = lanes, PANEL // lanes, 4 * lanes
        self.at_once = 2

    def row(self, builder: Any, four: Any) -> Any:
        return _repeat(builder, builder.bitcast(four, _FLOAT), self.lanes)

    def panel(self, builder: Any, packed: Any) -> Any:
        return builder.bitcast(packed, _vector(_FLOAT, self.lanes))

    def step(self, builder: Any, total: Any, row: Any, panel: Any) -> Any:
        return builder.fadd(total, builder.fmul(row, panel, flags=["contract"]), flags=["contract"])


def way_of_floats() -> _Way:
    """Return how this processor multiplies floats."""
    have = features()
    return _Floats(16 if "avx512f" in have else 8 if "avx2" in have else 4)


def way_of_bytes() -> _Way:
    """Return how this processor multiplies bytes."""
    have = features()
    if {"avx512vnni", "avx512vl"} <= have:
        return _DotProducts(16)
    if "avxvnni" in have:
        return _DotProducts(8)
    return _Pairs() if "avx2" in have else _Plain()


def _write_tile(
    builder: Any, way: _Way, n: int, x: Any, step: Any, panels: Any, groups: Any, out: Any, width: Any
) -> None:
    """Write the code of ``n`` panels: loops over the inputs, each with as many sums as there are registers for."""
    kind = _vector(way.kind, way.lanes)
    rows = [builder.gep(x, [builder.mul(step, ir.Constant(_LONG, r))]) for r in range(ROWS)]
    pieces = [(p, part) for p in range(n) for part in range(way.parts)]
    for first in range(0, len(pieces), way.at_once):
        begin, body, end = builder.block, builder.append_basic_block("group"), builder.append_basic_block("whole")
        builder.branch(body)
        builder.position_at_end(body)
        group = builder.phi(_LONG)
        group.add_incoming(ir.Constant(_LONG, 0), begin)
        some = pieces[first : first + way.at_once]
        totals = {(r, piece): builder.phi(kind) for r in range(ROWS) for piece in some}
        packed = []
        for p, part in some:
            panel = builder.gep(panels, [builder.mul(groups, ir.Constant(_LONG, p * _SIZE))])
            at = builder.add(builder.mul(group, ir.Constant(_LONG, _SIZE)), ir.Constant(_LONG, part * way.size))
            packed.append(way.panel(builder, _load(builder, panel, at, _vector(_BYTE, way.size))))
        more = {}
        for r in range(ROWS):
            four = way.row(builder, _load(builder, rows[r], builder.mul(group, ir.Constant(_LONG, GROUP)), _INT))
            for piece, panel in zip(some, packed, strict=True):
                more[r, piece] = way.step(builder, totals[r, piece], four, panel)
        following = builder.add(group, ir.Constant(_LONG, 1))
        group.add_incoming(following, builder.block)
        for key, total in totals.items():
            total.add_incoming(ir.Constant(kind, None), begin)
            total.add_incoming(more[key], builder.block)
        builder.cbranch(builder.icmp_signed("<", following, groups), body, end)
        builder.position_at_end(end)
        for (r, (p, part)), total in more.items():
            found = way.end(builder, total)
            row = builder.gep(out, [builder.mul(width, ir.Constant(_LONG, r))])
            place = builder.gep(row, [ir.Constant(_LONG, 4 * (p * PANEL + part * (PANEL // way.parts)))])
            builder.store(found, builder.bitcast(place, found.type.as_pointer()), align=4)


def _load(builder: Any, base: Any, at: Any, kind: Any) -> Any:
    return builder.load(builder.bitcast(builder.gep(base, [at]), kind.as_pointer()), align=1)


def _tile(way: Any, n: int, x: Any, packed: Any, out: Any) -> tuple[Any, Any]:
    """Return the signature and the code of a tile of ``n`` panels, as Numba takes them."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def place(number: int, *at: Any) -> tuple[Any, Any]:
            """Return an array and the address of an element of it."""
            array = context.make_array(signature.args[number])(context, builder, args[number])
            found = builder.bitcast(array.data, _BYTE.as_pointer())
            for axis, index in enumerate(at):
                found = builder.gep(found, [builder.mul(index, builder.extract_value(array.strides, axis))])
            return array, found

        left, first = place(0, args[1], args[2])
        right, panels = place(3, args[4])
        sums, corner = place(5, args[6], builder.mul(args[4], ir.Constant(_LONG, PANEL)))
        step, width = builder.extract_value(left.strides, 0), builder.extract_value(sums.strides, 0)
        _write_tile(builder, way, n, first, step, panels, builder.extract_value(right.shape, 1), corner, width)
        return context.get_dummy_value()

    i = types.int64
    return types.void(x, i, i, packed, i, out, i), generate


@intrinsic  # type: ignore[untyped-decorator]
def multiply_bytes(
    typing: Any, x: Any, row: Any, column: Any, packed: Any, panel: Any, out: Any, to: Any
) -> tuple[Any, Any]:
    """Fill rows of ``out`` from ``to``, and columns from ``16 panel``, with products of rows of ``x`` and panels.

    x (uint8 [rows, inputs or more]): Rows from ``row``, inputs from ``column``.
    packed (int8 [panels, inputs / 4, 16, 4]): Panels from ``panel``.
    out (int32 [rows, 16 panels], output).
    """
    return _tile(way_of_bytes(), PANELS, x, packed, out)


@intrinsic  # type: ignore[untyped-decorator]
def multiply_floats(
    typing: Any, x: Any, row: Any, column: Any, packed: Any, panel: Any, out: Any, to: Any
) -> tuple[Any, Any]:
    """Do the same with floats: ``packed`` is float32 [panels, inputs, 16], ``out`` float32."""
    return _tile(way_of_floats(), FLOAT_PANELS, x, packed, out)
