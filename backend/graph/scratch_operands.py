"""A library phase as the rules of its scratch memory see it.

Neighbours: `scratch` (the rules), `registry` (frames and cells).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...typechecker.elements import Kind
from ...typechecker.sizes import ONE, Size, capacity, product
from ...typechecker.types import ArrayType
from .phases import LibraryPhase, ValueId
from .registry import Cells, cells_of, frame_of, framed_of


class Operands:
    """A library phase as its rule sees it: whole operands and results, and the cells of a framed op."""

    def __init__(self, phase: LibraryPhase, types: Mapping[ValueId, ArrayType]) -> None:
        self.phase = phase
        self.args = [types[a] for a in phase.args]
        self.results = [types[r] for r in phase.results]
        self.cells: Cells = cells_of(phase, types)
        rank = frame_of(phase)
        self.frame = product(capacity(s) for s in self.results[0].shape[:rank]) if rank else ONE
        self.framed = rank > 0
        self.flags = framed_of(phase)

    def items(self, which: int) -> Size:
        return product(capacity(s) for s in self.args[which].shape)

    def size(self, which: int) -> int:
        """Bytes of an item of an operand."""
        return self.args[which].element.kind.bytes

    def kind(self, which: int) -> Kind:
        return self.args[which].element.kind

    def made(self) -> Size:
        """Items of the first result."""
        return product(capacity(s) for s in self.results[0].shape)

    def made_bytes(self) -> Size:
        return self.made() * self.results[0].element.kind.bytes

    def attribute(self, name: str) -> object:
        return self.phase.attributes.get(name)

    def function(self) -> str:
        found = self.attribute("function")
        assert isinstance(found, str)
        return found

    def axis(self) -> int:
        found = self.attribute("axis")
        assert isinstance(found, int)
        return found
