"""Constants of bodies as numbers, seen through conversions (`x*2` on f32 converts its 2).

Neighbours: `build` and `backend.run.cpu.body`, which must agree on what is a fixed power.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..graph.phases import ApplyNode, ConstantNode, Node

FIXED_POWERS: Final[dict[float | None, tuple[str, ...]]] = {
    2.0: ("square",), 3.0: ("square", "mul"), 4.0: ("square", "square"), 0.5: ("half_power",), -1.0: ("reciprocal",),
}  # fmt: skip
"""A float to a constant power by faster functions, each of what the one before gave (`mul`: and of the float), within 3 units."""

LOGARITHMS: Final[dict[float | None, str]] = {2.0: "log2", 10.0: "log10"}
"""Logarithms to a constant base that are one definition: what those to any base are made of there."""


def real_constant(nodes: Sequence[Node], place: int) -> float | None:
    """The number that a body node always is, if that is plain; for small numbers, which every kind stores exactly."""
    node = nodes[place]
    while isinstance(node, ApplyNode) and node.function == "convert":
        node = nodes[node.args[0]]
    if isinstance(node, ConstantNode) and isinstance(node.value, int | float) and abs(node.value) < 100:
        return float(node.value)
    return None
