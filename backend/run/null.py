"""The null back end: shapes and nothing else.  A plan runs on it at no cost, to see what it would allocate.

Every value is its kind and shape.  What only data can tell is taken at its worst where that is a size (run-time sizes are
their caps) and as false where it is a condition (the second arm; a loop never stops early).

Neighbours: `device.Backend`, `executor`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ...typechecker.elements import Kind
from ...typechecker.sizes import Size, capacity
from ..graph import traverse
from ..graph.bind import BoundGraph
from ..graph.phases import Constant, Fold, LibraryPhase, Loop, Map, Phase, PhaseId, Structured, ValueId
from .device import Index, Kernel, Types


@dataclass(frozen=True, slots=True)
class Shape:
    """A value without data."""

    kind: Kind
    shape: tuple[int, ...]


def null_inputs(bound: BoundGraph) -> dict[str, Shape]:
    """Inputs of the bound shapes."""
    types = bound.graph.types
    return {
        entry.name: Shape(types[phase.result].element.kind, tuple(_cap(size) for size in types[phase.result].shape))
        for entry in bound.graph.inputs
        for phase in bound.graph.phases
        if getattr(phase, "name", None) == entry.name and hasattr(phase, "result")
    }


def _cap(size: Size) -> int:
    return capacity(size).evaluate({})


class NullBackend:
    """Values are `Shape`s."""

    def structured(self, phase: Structured, types: Types) -> Kernel:
        return self._shapes(phase, types)

    def rows(self, members: Sequence[Structured], wanted: Sequence[ValueId], types: Types) -> Kernel:
        made = tuple(Shape(types.kind(v), types.cap_shape(v)) for v in wanted)
        return lambda memory, overwrite: made

    def library(self, phase: LibraryPhase, types: Types) -> Kernel:
        return self._shapes(phase, types)

    def whole(self, phase: Loop | Map | Fold, types: Types, program: Mapping[PhaseId, Phase]) -> None:
        return None

    def _shapes(self, phase: Structured | LibraryPhase, types: Types) -> Kernel:
        made = tuple(Shape(types.kind(v), types.cap_shape(v)) for v in traverse.results(phase))
        return lambda memory, overwrite: made

    def constant(self, phase: Constant, types: Types) -> Any:
        return Shape(types.kind(phase.result), types.shape(phase.result))

    def bring(self, value: Any, kind: Kind) -> Any:
        return value

    def fetch(self, value: Any, kind: Kind) -> Any:
        return value

    def item(self, value: Any) -> Any:
        return None

    def part(self, value: Any, index: Index) -> Any:
        boxed = tuple(one.stop - one.start for one in index if isinstance(one, slice))
        return Shape(value.kind, (*boxed, *value.shape[len(index) :]))

    def empty(self, kind: Kind, shape: tuple[int, ...]) -> Any:
        return Shape(kind, shape)

    def place(self, target: Any, index: Index, part: Any) -> None:
        return None

    @contextmanager
    def quiet(self) -> Iterator[None]:
        yield
