"""What a CUDA kernel takes (`cuda_text`, Note [Parameters]): sizes, scalars, addresses and strides of its operands, results.

Neighbours: `cuda_text` (writes the function), `backend.run.cuda.launching` (gives them).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .cuda_scalars import may_fail
from .ir import Apply, Argument, Kernel, Load, Step


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
    """`which`: the axis of a size, the scalar, the operand or the result; `axis` of a stride."""

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


def parameters(kernel: Kernel) -> tuple[Parameter, ...]:
    """What the function takes, in order."""
    needed = needed_nodes(kernel)
    made = [Parameter(Role.SIZE, axis) for axis in range(kernel.axes)]
    used = {node.place for place, node in enumerate(kernel.body) if isinstance(node, Argument) and place in needed}
    made += [Parameter(Role.SCALAR, place) for place in range(kernel.scalars) if place in used or place == kernel.trip]
    loaded = {node.operand for place, node in enumerate(kernel.body) if isinstance(node, Load) and place in needed}
    for i in sorted(loaded):
        made.append(Parameter(Role.ADDRESS, i))
        made += [Parameter(Role.STRIDE, i, axis) for axis in range(kernel.axes) if has_stride(kernel, i, axis)]
    made += [Parameter(Role.RESULT, i) for i in range(len(kernel.results))]
    if is_checked(kernel):
        made.append(Parameter(Role.FAILED))
    return tuple(made)


def is_checked(kernel: Kernel) -> bool:
    """May the kernel fail?"""
    needed = needed_nodes(kernel)
    return any(isinstance(node, Apply) and may_fail(node) and place in needed for place, node in enumerate(kernel.body))


def has_stride(kernel: Kernel, operand: int, axis: int) -> bool:
    row = kernel.operands[operand]
    return row.moves[axis] and (axis != kernel.vector_axis or row.step is Step.STRIDED)


def needed_nodes(kernel: Kernel) -> frozenset[int]:
    needed = {result.node for result in kernel.results} | {node for step in kernel.steps for node in step}
    for place in range(len(kernel.body) - 1, -1, -1):
        node = kernel.body[place]
        if isinstance(node, Apply) and place in needed:
            needed.update(node.args)
    return frozenset(needed)
