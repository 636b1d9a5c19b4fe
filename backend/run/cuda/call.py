"""One execution of a library phase on a device, as implementations see it.

Neighbours: `library` (makes these), `fetching`, `keyed`, `searching` and the other implementations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ....typechecker.elements import Kind
from ...library.context import Attributes
from ..device import Types
from .modules import Modules

Arrays: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Call(Attributes):
    """One execution of a phase on a device."""

    xp: Any
    modules: Modules
    types: Types

    def shape(self) -> tuple[int, ...]:
        return self.types.shape(self.phase.results[0])

    def kind(self) -> Kind:
        return self.types.kind(self.phase.results[0])


Implementation: TypeAlias = Callable[[Call, Arrays], Any]
