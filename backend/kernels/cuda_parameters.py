"""What a CUDA kernel takes (`cuda_text`, Note [Parameters]): sizes, scalars, addresses and strides of its operands, results.

Neighbours: `cuda_text` (writes the function), `backend.run.cuda.launching` (gives them).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ...typechecker.elements import Kind
from .complexes import PART
from .cuda_scalars import PROVED, may_fail
from .cuda_states import states
from .ir import FETCH, Apply, Argument, Form, Kernel, Load, Step


class Role(Enum):
    """What a parameter is; see `cuda_text`, Note [Parameters]."""

    SIZE = "n"
    SCALAR = "s"
    ADDRESS = "p"
    STRIDE = "d"
    RESULT = "r"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Parameter:
    """`which`: the axis of a size, the scalar, the operand or the output; `axis` of a stride."""

    role: Role
    which: int = 0
    axis: int = 0

    @property
    def name(self) -> str:
        match self.role:
            case Role.FAILED:
                return "failed"
            case Role.STRIDE:
                return f"d{self.which}_{self.axis}"
            case _:
                return f"{self.role.value}{self.which}"


@dataclass(frozen=True, slots=True)
class Output:
    """An array that a kernel writes.  `result`: the result that it is, -1 where it only helps to join partial results.

    `part`: what an item is made of, a float of complex ones."""

    kind: Kind
    result: int

    @property
    def part(self) -> Kind:
        return PART.get(self.kind, self.kind)


def outputs(kernel: Kernel) -> tuple[Output, ...]:
    """In order: of reductions every part of each state, the last of which is the result."""
    if kernel.form is Form.MAP:
        return tuple(Output(result.kind, place) for place, result in enumerate(kernel.results))
    made: list[Output] = []
    for place, state in enumerate(states(kernel)):
        made += [Output(part.kind, -1) for part in state.parts[:-1]]
        made.append(Output(state.parts[-1].kind, place))
    return tuple(made)


def parameters(kernel: Kernel) -> tuple[Parameter, ...]:
    """What the function takes, in order."""
    needed = needed_nodes(kernel)
    made = [Parameter(Role.SIZE, axis) for axis in range(kernel.axes)]
    used = {node.place for place, node in enumerate(kernel.body) if isinstance(node, Argument) and place in needed}
    made += [Parameter(Role.SCALAR, place) for place in range(kernel.scalars) if place in used or place == kernel.trip]
    for i in sorted(loaded(kernel)):
        made.append(Parameter(Role.ADDRESS, i))
        made += [Parameter(Role.STRIDE, i, axis) for axis in range(kernel.axes) if has_stride(kernel, i, axis)]
    made += [Parameter(Role.RESULT, i) for i in range(len(outputs(kernel)))]
    if is_checked(kernel):
        made.append(Parameter(Role.FAILED))
    return tuple(made)


def is_checked(kernel: Kernel) -> bool:
    """May the kernel fail?"""
    needed = needed_nodes(kernel)
    return any(isinstance(node, Apply) and may_fail(node) and place in needed for place, node in enumerate(kernel.body))


def loaded(kernel: Kernel) -> frozenset[int]:
    """The operands that the results need."""
    found = set[int]()
    for place in needed_nodes(kernel):
        match kernel.body[place]:
            case Load(operand):
                found.add(operand)
            case Apply(function=function, parameter=operand) if function in (FETCH, PROVED):
                found.add(operand)
    return frozenset(found)


def has_stride(kernel: Kernel, operand: int, axis: int) -> bool:
    row = kernel.operands[operand]
    return row.moves[axis] and (axis != kernel.vector_axis or row.step is Step.STRIDED)


def needed_nodes(kernel: Kernel) -> frozenset[int]:
    needed = {node for result in kernel.results for node in result.nodes} | {node for step in kernel.steps for node in step}
    for place in range(len(kernel.body) - 1, -1, -1):
        node = kernel.body[place]
        if isinstance(node, Apply) and place in needed:
            needed.update(node.args)
    return frozenset(needed)
