"""What a back end offers the executor: kernels for phases, and values in and out of its memory.

Neighbours: `executor` (drives it), `cpu` and `null` (two implementations).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from ...typechecker.core import CoreGuard
from ...typechecker.elements import Kind
from ...typechecker.sizes import Size, SizeVariable
from ...typechecker.types import ArrayType
from ..graph import traverse
from ..graph.phases import Constant, Fold, LibraryPhase, Loop, Map, Phase, PhaseId, Structured, ValueId

Kernel: TypeAlias = Callable[[Mapping[ValueId, Any], Any], tuple[Any, ...]]
"""From a memory and an array to write the first result over (or None) to the results, in order."""


Whole: TypeAlias = Callable[[Mapping[ValueId, Any]], Sequence[Any] | None]
"""From a memory to the results, in order; None: going through the phases inside is as good, or all there is."""
Index: TypeAlias = tuple[int | slice, ...]
"""Which part of an array: the point of a cell on the leading axes, or the slices of a box."""


class Types(Protocol):
    """The values of a graph, with sizes as numbers at the time of asking; `sizes` grows while the program runs."""

    @property
    def types(self) -> Mapping[ValueId, ArrayType]: ...
    @property
    def sizes(self) -> dict[SizeVariable, int]: ...
    @property
    def guards(self) -> tuple[CoreGuard, ...]: ...

    def kind(self, value: ValueId) -> Kind: ...
    def shape(self, value: ValueId) -> tuple[int, ...]: ...
    def cap_shape(self, value: ValueId) -> tuple[int, ...]:
        """The shape with sizes that are not known yet at their caps."""
        ...

    def number(self, size: Size) -> int: ...


class Backend(Protocol):
    """One per device of a plan.  Kernels are for the sizes that `types` knows when they are made."""

    def structured(self, phase: Structured, types: Types) -> Kernel: ...
    def library(self, phase: LibraryPhase, types: Types) -> Kernel: ...
    def rows(self, members: Sequence[Structured], wanted: Sequence[ValueId], types: Types) -> Kernel:
        """A chain along rows (`graph.chains`) that makes the wanted values."""
        ...

    def whole(self, phase: Loop | Map | Fold, types: Types, program: Mapping[PhaseId, Phase]) -> Whole | None:
        """A phase that has others inside, of a program of these phases, as code of its own; None: go through the others."""
        ...

    def constant(self, phase: Constant, types: Types) -> Any: ...
    def bring(self, value: Any, kind: Kind) -> Any:
        """A host array into the device's memory.  The host's array is never written."""
        ...

    def fetch(self, value: Any, kind: Kind) -> Any:
        """A value as a host array, for printing and saving; not shared with anything that is written later."""
        ...

    def item(self, value: Any) -> Any:
        """The Python value of a scalar (conditions, sizes); None if it is not known."""
        ...

    def part(self, value: Any, index: Index) -> Any:
        """A cell or a box of an array, not copied."""
        ...

    def empty(self, kind: Kind, shape: tuple[int, ...]) -> Any:
        """Room for an array."""
        ...

    def place(self, target: Any, index: Index, part: Any) -> None:
        """Write a cell, or a box, of `target`, which `empty` made."""
        ...

    def quiet(self) -> Any:
        """A context in which no operation warns."""
        ...


def one_by_one(kernels: Sequence[tuple[Structured | LibraryPhase | Constant, Kernel]], wanted: Sequence[ValueId]) -> Kernel:
    """The members of a chain or group in order, where there is no code for all of it; what none needs any more is let go."""
    last: dict[ValueId, int] = {}
    for place, (member, _) in enumerate(kernels):
        last.update(dict.fromkeys((*traverse.operands(member), *traverse.results(member)), place))
    last.update(dict.fromkeys(wanted, len(kernels)))

    def run(memory: Mapping[ValueId, Any], overwrite: Any) -> tuple[Any, ...]:
        known = {value: memory[value] for value in last if value in memory}
        for place, (member, kernel) in enumerate(kernels):
            known.update(zip(traverse.results(member), kernel(known, None), strict=True))
            for value in [value for value in known if last[value] <= place]:
                del known[value]
        return tuple(known[value] for value in wanted)

    return run
