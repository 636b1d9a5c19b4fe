"""Element-wise kernels over rows of a few items (vectors with three coordinates): vectors go across the ends of rows.

As many rows as a vector has lanes are done together, which are as many vectors as a row has items.  An operand with all items is
loaded as it lies; one item a row is a vector of rows, spread over them by shuffles; one item a column repeats, and is
made ready once.  The rows that are left over are done one by one (`maps`).

Neighbours: `maps` (rows of any length), `emission`; `build` makes the kernels that this specialises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ...lang.certain import certain
from ...typechecker.elements import Kind
from .build import used_nodes
from .emission import Emission
from .ir import FETCH, Apply, Coordinate, Form, Kernel, Load, Step, kind_of
from .maps import store_vector, write_vectors
from .nest import Nest
from .scalar_text import apply
from .vectors import STORED

_LONGEST: Final = 24
_ROWS: Final = 64
_MOST: Final = 160
"""Nodes of all vectors of a group of rows together."""


def with_flat_rows(kernel: Kernel, nest: Nest) -> Kernel:
    """The kernel for rows of just this length, if they are short and lie in memory as they should."""
    if kernel.form is not Form.MAP or kernel.steps or len(nest.sizes) < 2:
        return kernel
    length = nest.sizes[-1]
    if any(row.kind.is_complex for row in kernel.operands) or any(r.kind.is_complex for r in kernel.results):
        return kernel
    if any(isinstance(node, Apply) and node.function == FETCH for node in kernel.body):
        return kernel
    if not 2 <= length <= _LONGEST or nest.sizes[-2] < max(_ROWS, kernel.lanes):
        return kernel
    for operand, strides in zip(kernel.operands, nest.strides, strict=True):
        if operand.moves[-1] and operand.moves[-2] and strides[-2:] != (length * operand.kind.bytes, operand.kind.bytes):
            return kernel
    used = used_nodes(kernel.body, [r.node for r in kernel.results])
    if length * len(used) > _MOST or any(isinstance(n, Coordinate) and n.axis >= kernel.axes - 2 for n in kernel.body):
        return kernel
    return replace(kernel, length=length)


def write_flat_map(e: Emission) -> None:
    """Outer loops, then rows, a vector of them at a time, then those that are left."""
    w, kernel, lanes = e.w, e.kernel, e.kernel.lanes
    loops = e.open_outer(kernel.axes - 2)
    rows = e.sizes[-2]
    whole = w.word("and", rows, -lanes)
    columns = {i: _columns(e, i) for i, o in enumerate(kernel.operands) if o.moves[-1] and not o.moves[-2]}
    groups = w.begin(0, whole, lanes)
    _write_group(e, groups.index, columns)
    w.end(groups)
    rest = w.begin(whole, rows)
    e.move(kernel.axes - 2, rest.index)
    write_vectors(e)
    w.end(rest)
    e.close_outer(loops)


def _shuffled(e: Emission, kind: Kind, value: str, order: Sequence[int]) -> str:
    type = e.v.type(kind)
    places = ", ".join(f"i32 {place}" for place in order)
    return e.w.let(f"shufflevector {type} {value}, {type} poison, <{len(order)} x i32> <{places}>")


def _columns(e: Emission, operand: int) -> list[str]:
    """The vectors of an operand that has one item a column."""
    w, kernel, lanes = e.w, e.kernel, e.kernel.lanes
    kind, length = kernel.operands[operand].kind, e.kernel.length
    items = []
    for column in range(length):
        address = w.at(e.bases[operand], w.word("mul", column, e.strides[operand][-1]))
        items.append(_spread(e, kind, address))
    made = []
    for vector in range(length):
        value = items[0]
        for column in range(1, length):
            mask = (f"i1 {'true' if (vector * lanes + lane) % length == column else 'false'}" for lane in range(lanes))
            value = e.v.choose(kind, f"<{', '.join(mask)}>", items[column], value)
        made.append(value)
    return made


def _spread(e: Emission, kind: Kind, address: str) -> str:
    """One stored item for all lanes."""
    v, item = e.v, e.w.let(f"load {STORED[kind]}, ptr {address}, align 1")
    first = e.w.let(f"insertelement {v.stored(kind)} poison, {STORED[kind]} {item}, i64 0")
    zero = f"<{v.lanes} x i32> zeroinitializer"
    return v.from_stored(kind, e.w.let(f"shufflevector {v.stored(kind)} {first}, {v.stored(kind)} poison, {zero}"))


def _write_group(e: Emission, first: str, columns: dict[int, list[str]]) -> None:
    """As many rows as a vector has lanes."""
    w, v, kernel, lanes = e.w, e.v, e.kernel, e.kernel.lanes
    on_rows, everywhere = kernel.axes - 1, kernel.axes
    rows: dict[int, str] = {}
    for place, depth in enumerate(e.depths):
        node = kernel.body[place]
        if depth != on_rows or place not in e.needed:
            continue
        if isinstance(node, Load):
            rows[place] = _row_items(e, node.operand, first)
        elif isinstance(node, Apply):
            rows[place] = apply(v, place, node, [rows.get(arg) or e.known[arg] for arg in node.args])
    e.flush_checks(None)
    for vector in range(kernel.length):
        order = [(vector * lanes + lane) // kernel.length for lane in range(lanes)]
        start = w.word("add", w.word("mul", first, kernel.length), vector * lanes)
        found = dict(e.known)
        wanted = {arg for n in kernel.body if isinstance(n, Apply) for arg in n.args} | {r.node for r in kernel.results}
        found |= {place: _shuffled(e, kind_of(kernel, place), value, order) for place, value in rows.items() if place in wanted}
        for place, depth in enumerate(e.depths):
            node = kernel.body[place]
            if depth != everywhere or place not in e.needed:
                continue
            if isinstance(node, Load) and node.operand in columns:
                found[place] = columns[node.operand][vector]
            elif isinstance(node, Load):
                kind = kernel.operands[node.operand].kind
                found[place] = v.load(kind, w.at(e.bases[node.operand], w.word("mul", start, kind.bytes)))
            elif isinstance(node, Apply):
                found[place] = apply(v, place, node, [found[arg] for arg in node.args])
        e.flush_checks(None)
        for result, output in zip(kernel.results, e.outputs, strict=True):
            address = w.at(output, w.word("mul", start, result.kind.bytes))
            store_vector(e, result, found, address)


def _row_items(e: Emission, operand: int, first: str) -> str:
    """One item of each row."""
    w, v, kind = e.w, e.v, e.kernel.operands[operand].kind
    stride = e.strides[operand][-2]
    address = w.at(e.bases[operand], w.word("mul", first, stride))
    offsets = v.binary("mul", Kind.I64, v.splat(Kind.I64, stride), v.counting())
    certain(e.kernel.operands[operand].step is Step.NONE, "an operand of one item a row has no step")
    return v.gather(kind, w.let(f"getelementptr i8, ptr {address}, <{v.lanes} x i64> {offsets}"))
