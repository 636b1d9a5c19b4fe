"""Values that tests write down."""

from __future__ import annotations

from rho.backend.run.values import Array
from rho.typechecker.elements import Kind


def text(characters: str) -> Array:
    """A char vector."""
    return Array(Kind.CHAR, (len(characters),), tuple(characters))
