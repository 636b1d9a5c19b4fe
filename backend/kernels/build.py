"""From a structured phase and a nest of loops to a kernel, where kernels know every function of its body.

Neighbours: `nest` (the loops), `ir` (the result), `backend.run.cpu.compiled` (asks for kernels).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...lang.source import Span
from ...typechecker.core import Payload
from ...typechecker.elements import Kind
from ...typechecker.scalars import FUNCTIONS, SELECTIVE, ResultKind, is_ordered, may_fail
from ...typechecker.sizes import Size
from ..graph.chains import ALONG
from ..graph.phases import PLACES, ApplyNode, AxisNode, ConstantNode, ReadNode, SizeNode, Structured
from ..scalar.table import REDUCTIONS, TRANSCENDENTAL, has_meaning
from .complexes import PART, Complexes, Parts
from .constants import FIXED_POWERS, LOGARITHMS, real_constant
from .ir import Accumulator, Apply, Argument, Coordinate, Form, Kernel, Literal, Load, Node, Operand, Result, Step, Stores
from .nest import Nest

KINDS: Final = frozenset({Kind.BOOL, Kind.U8, Kind.I32, Kind.I64, Kind.F32, Kind.F64, Kind.CHAR})
_ALONG: Final = frozenset(ALONG.values())
_SELECTIVE_ALONG: Final = frozenset(ALONG[name] for name in SELECTIVE)
_MOST_FACTORS: Final = 64
_PLAIN: Final = 1 << 53
"""Whole numbers below this are exact in binary64, and binary32 can round them."""


def spans_of(phase: Structured, nodes: Sequence[Node]) -> dict[int, Span]:
    """Where the functions of a phase's body that may fail are in the text, by their nodes in a kernel; none if not known."""
    checked = [place for place, node in enumerate(nodes) if isinstance(node, Apply) and may_fail(node.function, node.kind)]
    spans = [node.span for node in phase.body if isinstance(node, ApplyNode) and node.span is not None]
    return dict(zip(checked, spans, strict=True)) if len(checked) == len(spans) else {}


@dataclass(frozen=True, slots=True)
class Body:
    """A phase's body in kernel nodes; `sizes` are its scalars in order; `results` are nodes.

    `split`: results that are the real and the imaginary part of a complex sum, by the place of the first."""

    nodes: tuple[Node, ...]
    kinds: tuple[Kind, ...]
    sizes: tuple[Size, ...]
    results: tuple[Result, ...]
    coordinates: frozenset[int]
    transcendental: int
    split: frozenset[int] = frozenset()

    @property
    def operations(self) -> int:
        return sum(isinstance(node, Apply) for node in self.nodes)

    @property
    def finds_places(self) -> bool:
        return any(r.reduction in PLACES for r in self.results)

    @property
    def is_ordered(self) -> bool:
        """Does it reduce in the order of sums?"""
        return any(is_ordered(r.reduction or "", r.kind) for r in self.results)

    @property
    def is_from_the_right(self) -> bool:
        """Does it reduce one item after the other?"""
        return any(r.states for r in self.results)

    @property
    def late(self) -> frozenset[int]:
        """The nodes that depend on the state of a reduction from the right."""
        return late_nodes(self.nodes)


def build_body(phase: Structured, *, complexes: bool = False, loops: bool = False) -> Body | None:
    """None: a function or kind that kernels do not have.  `complexes`: may complex numbers be in two parts?  `loops`: may a
    function be a loop (integers to any power)?"""
    nodes: list[Node] = []
    kinds: list[Kind] = []
    sizes: list[Size] = []
    places: list[int | Parts] = []

    def add(node: Node, kind: Kind) -> int:
        nodes.append(node)
        kinds.append(kind)
        return len(nodes) - 1

    phase, states, following = _with_steps(phase)
    if following and len(following) < len(phase.results):
        return None
    pairs = Complexes(phase, add)

    for at, node in enumerate(phase.body):
        match node:
            case ReadNode(kind=kind) if at in states:
                if not (kind in KINDS or (kind.is_complex and complexes)):
                    return None
                parts = [add(Accumulator(part), part) for part in ((PART[kind],) * 2 if kind.is_complex else (kind,))]
                places.append((parts[0], parts[1]) if kind.is_complex else parts[0])
            case ReadNode():
                if node.kind.is_complex and complexes:
                    places.append(pairs.load(node.index, node.kind))
                    continue
                if node.kind not in KINDS:
                    return None
                places.append(add(Load(node.index), node.kind))
            case ConstantNode():
                if node.kind.is_complex and complexes:
                    places.append(pairs.literal(node.kind, node.value))
                    continue
                if node.kind not in KINDS:
                    return None
                places.append(add(Literal(node.kind, bits_of(node.kind, node.value)), node.kind))
            case SizeNode():
                if node.size not in sizes:
                    sizes.append(node.size)
                places.append(add(Argument(sizes.index(node.size)), Kind.I64))
            case AxisNode():
                places.append(add(Coordinate(node.axis), Kind.I64))
            case ApplyNode():
                compute = _kind_of(phase, node.args[1 if node.function == "select" else 0])
                whole = [places[a] for a in node.args]
                if complexes and (compute.is_complex or node.kind.is_complex):
                    found = pairs.apply(node, whole, compute)
                    if found is None:
                        return None
                    places.append(found)
                    continue
                if complexes and pairs.squares and len(whole) == 2 and (compared := pairs.comparison(node, whole)) is not None:
                    places.append(compared)
                    continue
                args = tuple(arg for arg in whole if isinstance(arg, int))
                if len(args) < len(whole) or compute not in KINDS or node.kind not in KINDS:
                    return None
                constant = _converted(nodes[args[0]], node) if node.function == "convert" else None
                made: int | None
                if node.function in _SELECTIVE_ALONG and compute.is_float:
                    args = (_of_one_zero(args[0], compute, add),)
                if constant is not None:
                    made = add(constant, node.kind)
                elif node.function == "ipow":
                    made = _whole_power(phase, node, args, compute, add)
                    if made is None and loops:
                        made = add(Apply("ipow", args, compute, node.kind), node.kind)
                elif node.function == "pow" and (fixed := _fixed_power(phase, node, args[0], compute, add)) is not None:
                    made = fixed
                elif node.function == "log" and (own := LOGARITHMS.get(real_constant(phase.body, node.args[0]))) is not None:
                    made = add(Apply(own, args[1:], compute, node.kind), node.kind)
                elif (function := _function(phase, node, compute)) is not None:
                    made = add(Apply(function, args, compute, node.kind, node.parameter), node.kind)
                else:
                    made = None
                if made is None:
                    return None
                places.append(made)
    results: list[Result] = []
    split: set[int] = set()
    for number, result in enumerate(phase.results):
        place = places[result.node]
        if number in following:
            nodes_of = (place, *(places[at] for at in following[number]))
            item, before, after = ((node,) if isinstance(node, int) else node for node in nodes_of)
            imaginary = item[1] if len(item) > 1 else -1
            results.append(Result(item[0], _kind_of(phase, result.node), result.reduction, imaginary, before, after))
            continue
        if isinstance(place, tuple):
            if result.reduction is None:
                results.append(Result(place[0], _kind_of(phase, result.node), None, place[1]))
            elif result.reduction == "add":
                split.add(len(results))
                results += [Result(part, kinds[part], "add") for part in place]
            else:
                return None
            continue
        kind = kinds[place]
        if result.reduction in PLACES:
            if kind is Kind.CHAR:
                return None
            kind = Kind.I64
        elif result.reduction is not None and kind is Kind.CHAR:
            return None
        if result.reduction in SELECTIVE and kind.is_float:
            place = _of_one_zero(place, kind, add)
        results.append(Result(place, kind, result.reduction))
    axes = frozenset(node.axis for node in nodes if isinstance(node, Coordinate))
    hard = sum(isinstance(node, Apply) and node.function in TRANSCENDENTAL for node in nodes)
    return Body(tuple(nodes), tuple(kinds), tuple(sizes), tuple(results), axes, hard, split=frozenset(split))


def _of_one_zero(place: int, kind: Kind, add: Callable[[Node, Kind], int]) -> int:
    """Items of which the greatest is the same in whatever order they are compared: a zero has no sign (x+0)."""
    zero = add(Literal(kind, bits_of(kind, 0.0)), kind)
    return add(Apply("add", (place, zero), kind, kind), kind)


def _with_steps(phase: Structured) -> tuple[Structured, frozenset[int], dict[int, tuple[int, int]]]:
    """The phase with the steps of its reductions from the right in its body, as applications of these to an item and a state;
    which nodes are states; and of each such result its state and its next one."""
    body, states, following = list(phase.body), list[int](), dict[int, tuple[int, int]]()
    for number, result in enumerate(phase.results):
        function = result.reduction
        if function is None or function in REDUCTIONS or function in PLACES:
            continue
        kind, state = _kind_of(phase, result.node), len(body)
        is_truth = FUNCTIONS[function].result is ResultKind.BOOL
        body += [ReadNode(len(phase.reads), kind), ApplyNode(function, (result.node, state), Kind.BOOL if is_truth else kind)]
        if is_truth and kind is not Kind.BOOL:
            body.append(ApplyNode("convert", (state + 1,), kind))
        states.append(state)
        following[number] = state, len(body) - 1
    return replace(phase, body=tuple(body)) if states else phase, frozenset(states), following


def late_nodes(nodes: Sequence[Node]) -> frozenset[int]:
    """The nodes that are states of reductions from the right, or depend on these."""
    late: set[int] = set()
    for place, node in enumerate(nodes):
        if isinstance(node, Accumulator) or (isinstance(node, Apply) and not late.isdisjoint(node.args)):
            late.add(place)
    return frozenset(late)


def joining_body(kind: Kind) -> Body:
    """Complex numbers of their two parts."""
    part = PART[kind]
    return Body((Load(0), Load(1)), (part, part), (), (Result(0, kind, None, 1),), frozenset(), 0)


def _kind_of(phase: Structured, place: int) -> Kind:
    return getattr(phase.body[place], "kind", Kind.I64)


def _function(phase: Structured, node: ApplyNode, compute: Kind) -> str | None:
    """The kernel's name of a function, None if it has none for the kind."""
    if node.function == "convert" and compute.is_float and not node.kind.is_float:
        return None
    if node.function == "convert_checked" and Kind.CHAR in (compute, node.kind) and compute.is_float:
        return None
    return node.function if node.function in _ALONG or has_meaning(node.function, node.parameter, compute) else None


def _fixed_power(phase: Structured, node: ApplyNode, x: int, compute: Kind, add: Callable[[Node, Kind], int]) -> int | None:
    """A float to a power that is always the same and that `constants.FIXED_POWERS` spells out."""
    exponent = real_constant(phase.body, node.args[1])
    if exponent not in FIXED_POWERS or not compute.is_float:
        return None
    made = x
    for function in FIXED_POWERS[exponent]:
        made = add(Apply(function, (made, x) if function == "mul" else (made,), compute, compute), compute)
    return made


def _whole_power(
    phase: Structured, node: ApplyNode, args: Sequence[int], compute: Kind, add: Callable[[Node, Kind], int]
) -> int | None:
    """An integer to a constant power by squaring: exact modulo the width, whatever the order."""
    exponent = phase.body[node.args[1]]
    if not isinstance(exponent, ConstantNode) or not isinstance(exponent.value, int) or not 0 < exponent.value <= _MOST_FACTORS:
        return None
    left, square, made = int(exponent.value), args[0], None
    while True:
        if left & 1:
            made = square if made is None else add(Apply("mul", (made, square), compute, compute), compute)
        left >>= 1
        if not left:
            return made
        square = add(Apply("mul", (square, square), compute, compute), compute)


def _converted(source: Node, node: ApplyNode) -> Literal | None:
    """A constant as a float, where that is plain: a conversion in the loop would make vectors as short as wide kinds want."""
    if not isinstance(source, Literal) or not node.kind.is_float or source.kind is Kind.CHAR:
        return None
    value: float = source.bits
    if source.kind.is_float:
        integer, number = "Qd" if source.kind is Kind.F64 else "If"
        (value,) = struct.unpack("<" + number, struct.pack("<" + integer, source.bits))
    return Literal(node.kind, bits_of(node.kind, float(value))) if abs(value) < _PLAIN else None


def bits_of(kind: Kind, value: Payload) -> int:
    if kind is Kind.CHAR:
        assert isinstance(value, str)
        return ord(value)
    if kind.is_float:
        assert isinstance(value, float | int)
        return int(struct.unpack("<Q", struct.pack("<d", value))[0] if kind is Kind.F64
                   else struct.unpack("<I", struct.pack("<f", value))[0])  # fmt: skip
    assert isinstance(value, int)
    return int(value)


def build_kernel(body: Body, nest: Nest, operands: Sequence[Kind], stores: Stores = Stores.PLAIN) -> Kernel:
    """The kernel of a body in a nest."""
    axes = len(nest.groups)
    vector = axes - 2 if nest.form in (Form.ACROSS, Form.COLUMNS) else axes - 1
    rows = tuple(
        Operand(kind, _step(strides[vector], kind.bytes), tuple(s != 0 for s in strides))
        for kind, strides in zip(operands, nest.strides, strict=True)
    )
    loop_of = {axis: place for place, group in enumerate(nest.groups) for axis in group}
    nodes = tuple(_placed(node, loop_of) for node in body.nodes)
    return Kernel(nest.form, axes, rows, len(body.sizes), nodes, body.results, stores)


def _placed(node: Node, loop_of: dict[int, int]) -> Node:
    """Coordinates in terms of the loops; an axis of length 1 has none, and its coordinate is 0."""
    if isinstance(node, Coordinate):
        return Coordinate(loop_of[node.axis]) if node.axis in loop_of else Literal(Kind.I64, 0)
    return node


def _step(stride: int, bytes: int) -> Step:
    if stride == 0:
        return Step.NONE
    return Step.UNIT if stride == bytes else Step.REVERSED if stride == -bytes else Step.STRIDED


def used_nodes(nodes: Sequence[Node], roots: Sequence[int]) -> frozenset[int]:
    """The nodes that some nodes are made of, these included."""
    used = set(roots)
    for place in range(len(nodes) - 1, -1, -1):
        node = nodes[place]
        if isinstance(node, Apply) and place in used:
            used.update(node.args)
    return frozenset(used)

