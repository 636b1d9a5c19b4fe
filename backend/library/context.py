"""What a library phase sees of the running program: the types of values, the sizes that are bound, and the threads it may use.

Sizes of inputs and params are numbers before a run starts; a phase that defines a run-time size records it here.

Neighbours: `run.device` (types), `frames` (asks).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...typechecker.sizes import Size
from ..graph.phases import LibraryPhase
from ..run.device import Types


@dataclass(slots=True)
class Context(Types):
    """How many threads there are, too."""

    threads: int = 1


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a phase says of itself, by what it is."""

    phase: LibraryPhase

    def axis(self) -> int:
        value = self.phase.attributes["axis"]
        assert isinstance(value, int)
        return value

    def flag(self, name: str) -> bool:
        return self.phase.attributes.get(name) is True

    def function(self) -> str:
        value = self.phase.attributes["function"]
        assert isinstance(value, str)
        return value

    def sizes(self, types: Types) -> list[int]:
        sizes = self.phase.attributes["sizes"]
        assert isinstance(sizes, tuple)
        return [types.number(size) for size in sizes if isinstance(size, Size)]
