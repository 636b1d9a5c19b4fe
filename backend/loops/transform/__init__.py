"""Transformations of loop programs: each module is one, a function `run` from program to program with the same meaning.

Each is total (a program to which it does not apply comes back as it is) and idempotent (`folding` but for code behind a check
that always fails, which a second folding finds).  Invariants of all: outputs keep their
bits, a run leaves the same record, views that are not scratch stay.  `PIPELINE` is the order in which they are applied.

Note [Order].  Folding makes indices affine, on which the proofs of all others rest.  Hoisting and sharing leave little enough
for fusion to judge; what fusion brings together is shared, and scratch that is only stored goes.  Splitting comes once loops are
what they will be; folding, unrolling, hoisting and sharing then clear up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..ir import Program
from . import dead, folding, fusing, hoisting, sharing, splitting, unrolling

PIPELINE: Final[tuple[tuple[str, Callable[[Program], Program]], ...]] = (
    ("folding", folding.run),
    ("unrolling", unrolling.run),
    ("folding", folding.run),
    ("hoisting", hoisting.run),
    ("sharing", sharing.run),
    ("dead code", dead.run),
    ("fusing", fusing.run),
    ("sharing", sharing.run),
    ("dead code", dead.run),
    ("splitting", splitting.run),
    ("folding", folding.run),
    ("unrolling", unrolling.run),
    ("folding", folding.run),
    ("hoisting", hoisting.run),
    ("sharing", sharing.run),
    ("dead code", dead.run),
)


def optimise(program: Program) -> Program:
    """The program after all transformations."""
    for _, transformation in PIPELINE:
        program = transformation(program)
    return program
