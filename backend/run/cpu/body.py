"""The scalar body of a structured phase as a list of instructions over slots.

Nodes that do not depend on every axis of the space are *hoisted*: computed once, whole, before the slices.  The others are
computed slice by slice, and are let go when nothing needs them any more.

Neighbours: `slices` (runs bodies), `structured` and `rows` (compile them), `scalars` (what instructions call).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....lang.source import Span
from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph.phases import ApplyNode, AxisNode, ConstantNode, Node, ReadNode, SizeNode
from ...kernels.constants import FIXED_POWERS, real_constant
from ..failures import CheckFailed
from .kinds import NumArray, constant
from .reals import Implementation, fixed_power
from .reduce import ALONG, along
from .scalars import implementation


def _located(function: Implementation, span: Span) -> Implementation:
    """A function that says where it is in the text if its check fails."""

    def run(*args: Any) -> Any:
        try:
            return function(*args)
        except CheckFailed as failure:
            failure.span = span
            raise

    return run


@dataclass(frozen=True, slots=True)
class Instruction:
    """`slot` ← function of `args` slots, of which `dead` are needed no more."""

    function: Implementation
    args: tuple[int, ...]
    slot: int
    dead: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Body:
    """`constants`: slots known now; `reads`: (slot, read index); `axes`: (slot, axis); then instructions in order.

    `varying[slot]` tells on which axes a slot's value varies."""

    constants: tuple[tuple[int, Any], ...]
    reads: tuple[tuple[int, int], ...]
    axes: tuple[tuple[int, int], ...]
    hoisted: tuple[Instruction, ...]
    inner: tuple[Instruction, ...]
    varying: tuple[frozenset[int], ...]


def evaluate(instructions: Sequence[Instruction], slots: list[Any], outputs: Mapping[int, NumArray]) -> None:
    """Fill the slots of the instructions.  `outputs`: where the values of some ufuncs are to stay."""
    for made in instructions:
        args = [slots[arg] for arg in made.args]
        slots[made.slot] = made.function(*args, out=outputs[made.slot]) if made.slot in outputs else made.function(*args)
        for slot in made.dead:
            slots[slot] = None


def compile_body(
    nodes: Sequence[Node], results: Sequence[int], read_varying: Sequence[tuple[bool, ...]], space: Sequence[int],
    number: Callable[[Size], int], *, by_rows: bool = False,
) -> Body:  # fmt: skip
    """Instructions for the nodes that the results need; `by_rows`: of a chain along rows, where nothing is hoisted."""
    needed = _needed(nodes, results)
    constants: list[tuple[int, Any]] = []
    reads: list[tuple[int, int]] = []
    axes: list[tuple[int, int]] = []
    applied: list[tuple[int, ApplyNode]] = []
    varying: list[frozenset[int]] = []
    for slot, node in enumerate(nodes):
        on: frozenset[int] = frozenset()
        match node:
            case ConstantNode():
                if slot in needed:
                    constants.append((slot, constant(node.kind, node.value)))
            case SizeNode():
                if slot in needed:
                    constants.append((slot, np.array(number(node.size), np.int64)))
            case ReadNode():
                on = frozenset(axis for axis, varies in enumerate(read_varying[node.index]) if varies)
                if slot in needed:
                    reads.append((slot, node.index))
            case AxisNode():
                on = frozenset({node.axis}) if space[node.axis] != 1 else frozenset()
                if slot in needed:
                    axes.append((slot, node.axis))
            case ApplyNode():
                on = frozenset().union(*(varying[a] for a in node.args)) if node.args else on
                if slot in needed:
                    applied.append((slot, node))
        varying.append(on)
    full = frozenset().union(*(varying[r] for r in results)) if results else frozenset()
    inner = [(slot, node) for slot, node in applied if by_rows or varying[slot] == full]
    hoisted = [made for made in applied if made not in inner]
    last = {arg: slot for slot, node in (*hoisted, *inner) for arg in node.args}

    def instruction(slot: int, node: ApplyNode) -> Instruction:
        function, args = _function(nodes, node, space)
        dead = tuple(arg for arg in dict.fromkeys(node.args) if last[arg] == slot and arg not in results)
        return Instruction(function, args, slot, dead)

    return Body(
        tuple(constants), tuple(reads), tuple(axes), tuple(instruction(*made) for made in hoisted),
        tuple(instruction(*made) for made in inner), tuple(varying),
    )  # fmt: skip


def _function(nodes: Sequence[Node], node: ApplyNode, space: Sequence[int]) -> tuple[Implementation, tuple[int, ...]]:
    """What computes a node, of which slots."""
    if node.function.startswith(ALONG):
        return along(node.function.removeprefix(ALONG), node.kind, space[-1]), node.args
    compute = getattr(nodes[node.args[1 if node.function == "select" else 0]], "kind", Kind.I64)
    exponent = real_constant(nodes, node.args[1]) if node.function == "pow" and compute.is_float else None
    if exponent is not None and exponent in FIXED_POWERS:
        return fixed_power(exponent, compute), node.args[:1]
    function = implementation(node.function, compute, node.kind, node.parameter)
    return function if node.span is None else _located(function, node.span), node.args


def _needed(nodes: Sequence[Node], results: Sequence[int]) -> set[int]:
    needed = set(results)
    for slot in range(len(nodes) - 1, -1, -1):
        node = nodes[slot]
        if slot in needed and isinstance(node, ApplyNode):
            needed.update(node.args)
    return needed
