"""A library phase as the rules of the registry see it: its frame, its cells, and its whole operands (phases.py, Note [Frames]).

Neighbours: `registry` (the rules), and whoever runs, cuts or rewrites library phases.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ...lang.records import dataclass
from ...typechecker.elements import Kind
from ...typechecker.sizes import ONE, Size, capacity, product
from ...typechecker.types import ArrayType
from .phases import LibraryPhase, Phase, ValueId

Types: TypeAlias = Mapping[ValueId, ArrayType]
Shape: TypeAlias = tuple[Size, ...]


def frame_of(phase: LibraryPhase) -> int:
    value = phase.attributes.get("frame", 0)
    assert isinstance(value, int)
    return value


def framed_of(phase: LibraryPhase) -> tuple[bool, ...]:
    value = phase.attributes.get("framed")
    return value if isinstance(value, tuple) else (False,) * len(phase.args)


def is_unread(phase: Phase) -> bool:
    """Nobody reads its result (a grade before a sort): it is not made."""
    return isinstance(phase, LibraryPhase) and wanted_of(phase) == (0, 0)


def wanted_of(phase: LibraryPhase) -> tuple[int, int] | None:
    """The places that are read of the axis that a grade or a sort orders; None where all are (`rules.orders`)."""
    found = phase.attributes.get("wanted")
    return found if isinstance(found, tuple) else None


@dataclass(frozen=True, slots=True)
class Cells:
    """The shapes of a library phase's cells: operands and results without the frame."""

    args: tuple[Shape, ...]
    results: tuple[Shape, ...]
    attributes: Mapping[str, object]

    @property
    def axis(self) -> int:
        value = self.attributes["axis"]
        assert isinstance(value, int)
        return value


def cells_of(phase: LibraryPhase, types: Types) -> Cells:
    frame = frame_of(phase)
    args = tuple(types[a].shape[frame if carries else 0 :] for a, carries in zip(phase.args, framed_of(phase), strict=True))
    return Cells(args, tuple(types[r].shape[frame:] for r in phase.results), phase.attributes)


class Operands:
    """A library phase as its rule sees it: whole operands and results, and the cells of a framed op."""

    def __init__(self, phase: LibraryPhase, types: Types) -> None:
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
