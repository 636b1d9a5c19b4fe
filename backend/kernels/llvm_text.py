"""A kernel as an LLVM function: loads the argument block, loops, and calls `scalar_text` for the body.

The outer axes are plain loops.  Body nodes are computed as far out as their operands allow.  `sums` reduces across; kernels of
other forms are loop programs (`backend.loops.lower.kernel`).

Neighbours: `ir` (Note [Argument block]), `writer`, `scalar_text`; `store` compiles the text.
"""

from __future__ import annotations

from .emission import Emission
from .ir import NAME, Kernel
from .sums import write_across
from .writer import Writer


def llvm_text(kernel: Kernel) -> str:
    """A module with one function `i64 kernel(ptr words)`."""
    emission = Emission(kernel)
    emission.enter()
    write_across(emission)
    emission.w.do("ret i64 0")
    return function_text(emission.w, emission.lines())


def function_text(writer: Writer, lines: list[str]) -> str:
    """The module of a finished function body."""
    body, declarations = "\n".join(lines), "\n".join(writer.declarations)
    metadata = "\n!0 = !{i32 1}\n" if "!nontemporal" in body else "\n"
    return (
        f"define i64 @{NAME}(ptr noalias %words) #0 {{\n{body}\n}}\n{declarations}\n"
        f'attributes #0 = {{ nounwind "prefer-vector-width"="512" "no-trapping-math"="true" }}{metadata}'
    )
