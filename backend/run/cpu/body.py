"""The scalar body of a structured phase as a list of instructions over slots.

Nodes that do not depend on every axis of the space are *hoisted*: computed once, whole, before the blocks.  The others
run block by block; their temporaries live in a few block-sized registers, assigned by linear scan so that a chain of
same-kind operations needs one.

Neighbours: `structured` (compiles and runs bodies), `scalars` (what instructions call).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....lang.source import Span
from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph.phases import ApplyNode, AxisNode, ConstantNode, Node, ReadNode, SizeNode
from ...kernels.constants import real_constant
from ..failures import CheckFailed
from .kinds import DTYPES, constant
from .reals import FIXED_POWERS, Implementation
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
    """`slot` ← function of `args` slots; `register` is where a block's result goes (-1: the output of result `output`)."""

    function: Implementation
    args: tuple[int, ...]
    slot: int
    dtype: np.dtype[Any]
    register: int = -1
    output: int = -1


@dataclass(frozen=True, slots=True)
class Body:
    """`constants`: slots known now; `reads`: (slot, read index); `axes`: (slot, axis); then instructions in order.

    `varying[slot]` tells on which axes a slot's value varies."""

    slots: int
    constants: tuple[tuple[int, Any], ...]
    reads: tuple[tuple[int, int], ...]
    axes: tuple[tuple[int, int], ...]
    hoisted: tuple[Instruction, ...]
    inner: tuple[Instruction, ...]
    registers: tuple[np.dtype[Any], ...]
    varying: tuple[frozenset[int], ...]
    kinds: tuple[Kind, ...]


def compile_body(
    nodes: Sequence[Node],
    results: Sequence[int],
    read_varying: Sequence[tuple[bool, ...]],
    space: Sequence[int],
    number: Callable[[Size], int],
) -> Body:
    """Instructions for the nodes that the results need."""
    needed = _needed(nodes, results)
    constants: list[tuple[int, Any]] = []
    reads: list[tuple[int, int]] = []
    axes: list[tuple[int, int]] = []
    applied: list[tuple[int, ApplyNode]] = []
    kinds: list[Kind] = []
    varying: list[frozenset[int]] = []
    for slot, node in enumerate(nodes):
        on: frozenset[int] = frozenset()
        kind = Kind.I64
        match node:
            case ConstantNode():
                kind = node.kind
                if slot in needed:
                    constants.append((slot, constant(node.kind, node.value)))
            case SizeNode():
                if slot in needed:
                    constants.append((slot, np.array(number(node.size), np.int64)))
            case ReadNode():
                kind = node.kind
                on = frozenset(axis for axis, varies in enumerate(read_varying[node.index]) if varies)
                if slot in needed:
                    reads.append((slot, node.index))
            case AxisNode():
                on = frozenset({node.axis}) if space[node.axis] != 1 else frozenset()
                if slot in needed:
                    axes.append((slot, node.axis))
            case ApplyNode():
                kind = node.kind
                on = frozenset().union(*(varying[a] for a in node.args)) if node.args else on
                if slot in needed:
                    applied.append((slot, node))
        kinds.append(kind)
        varying.append(on)
    full = frozenset().union(*(varying[r] for r in results)) if results else frozenset()
    hoisted: list[Instruction] = []
    inner: list[Instruction] = []
    for slot, node in applied:
        compute = kinds[node.args[1 if node.function == "select" else 0]]
        function = implementation(node.function, compute, node.kind, node.parameter)
        if node.span is not None:
            function = _located(function, node.span)
        args = node.args
        if node.function == "pow" and compute.is_float:
            fixed = FIXED_POWERS.get(real_constant(nodes, args[1]))
            if fixed is not None:
                function, args = fixed, args[:1]
        made = Instruction(function, args, slot, DTYPES[node.kind])
        (inner if varying[slot] == full else hoisted).append(made)
    assigned, registers = _assign(inner, results)
    return Body(
        len(nodes), tuple(constants), tuple(reads), tuple(axes), tuple(hoisted), assigned, registers, tuple(varying), tuple(kinds)
    )


def _needed(nodes: Sequence[Node], results: Sequence[int]) -> set[int]:
    needed = set(results)
    for slot in range(len(nodes) - 1, -1, -1):
        node = nodes[slot]
        if slot in needed and isinstance(node, ApplyNode):
            needed.update(node.args)
    return needed


def _assign(
    instructions: Sequence[Instruction], results: Sequence[int]
) -> tuple[tuple[Instruction, ...], tuple[np.dtype[Any], ...]]:
    """Registers by linear scan; a result is written straight to its output."""
    last = {arg: place for place, made in enumerate(instructions) for arg in made.args}
    outputs: dict[int, int] = {}
    for output, slot in enumerate(results):
        outputs.setdefault(slot, output)
    registers: list[np.dtype[Any]] = []
    free: list[int] = []
    held: dict[int, int] = {}
    assigned: list[Instruction] = []
    for place, made in enumerate(instructions):
        for arg in set(made.args):
            if last.get(arg) == place and arg in held:
                free.append(held.pop(arg))
        if made.slot in outputs:
            assigned.append(Instruction(made.function, made.args, made.slot, made.dtype, -1, outputs[made.slot]))
            continue
        register = next((r for r in reversed(free) if registers[r] == made.dtype), None)
        if register is None:
            register = len(registers)
            registers.append(made.dtype)
        else:
            free.remove(register)
        held[made.slot] = register
        assigned.append(Instruction(made.function, made.args, made.slot, made.dtype, register))
    return tuple(assigned), tuple(registers)
