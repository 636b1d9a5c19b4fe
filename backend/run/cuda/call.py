"""One execution of a library phase on a device, as implementations see it.

Neighbours: `library` (makes these), `fetching`, `keyed`, `searching` and the other implementations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph.phases import LibraryPhase
from ..device import Types
from .modules import Modules

Arrays: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One execution of a phase on a device."""

    xp: Any
    modules: Modules
    phase: LibraryPhase
    types: Types

    def shape(self) -> tuple[int, ...]:
        return self.types.shape(self.phase.results[0])

    def kind(self) -> Kind:
        return self.types.kind(self.phase.results[0])

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

    def sizes(self) -> list[int]:
        sizes = self.phase.attributes["sizes"]
        assert isinstance(sizes, tuple)
        return [self.types.number(size) for size in sizes if isinstance(size, Size)]


Implementation: TypeAlias = Callable[[Call, Arrays], Any]
