"""Quantities for people and editors: of the inputs and named values of a program, and of the parameters of its functions.

Neighbours: `demand` (the analysis), `elaborate.sampling` (functions on symbolic sizes), `check` (asks for both lazily).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...lang.source import Span
from ..clauses import positive
from ..core import ValueId
from ..core_blocks import Core
from ..core_walk import results_of
from ..display import names_of_sizes, show_signature_type, show_type
from ..obligations import SizeFact
from ..types import ArrayType
from .demand import Demands, demands_of
from .grades import Grade
from .tally import Use
from .written import written


@dataclass(frozen=True, slots=True)
class NamedQuantity:
    """A named value of a program: how often each element is read, and where."""

    name: str
    value: ValueId
    span: Span
    type: str
    grade: Grade
    uses: tuple[Use, ...]

    def line(self) -> str:
        return f"{self.name} : {written(self.grade)} {self.type}"


def named_quantities(core: Core, demands: Demands | None = None) -> tuple[NamedQuantity, ...]:
    """Inputs and top-level names in the order of the program; params have no elements to read."""
    found = demands_of(core) if demands is None else demands
    params = {param.name for param in core.params}
    top = {entry.value for entry in core.inputs} | {r for op in core.block.ops for r in results_of(op)}
    return tuple(
        NamedQuantity(name, value, core.spans[value], show_type(core.types[value]), found.grade(value), found.uses_of(value))
        for value, name in core.names.items()
        if value in top and name not in params
    )


def show_instance(
    name: str, arguments: Sequence[tuple[Grade, ArrayType]], results: Sequence[ArrayType], facts: Sequence[SizeFact]
) -> str:  # fmt: skip
    """`matmul : m f64[n k] → n f64[k m] → f64[n m]`, as a signature would say it."""
    names = names_of_sizes([type_ for _, type_ in arguments], results)
    made = [show_signature_type(type_, names) for type_ in results]
    result = made[0] if len(made) == 1 else f"({' ⋄ '.join(made)})"
    parts = [*(f"{written(grade)} {show_signature_type(type_, names)}" for grade, type_ in arguments), result]
    where = f" where {', '.join(str(positive(fact)) for fact in facts)}" if facts else ""
    return f"{name} : {' → '.join(parts)}{where}"
