"""The table of library operations, by name.

Neighbours: `frames` (what a row is), `graph.registry` (the names), `run.cpu.CpuBackend` (asks).
"""

from __future__ import annotations

from typing import Final

from .contracting import CONTRACTING
from .finding import FINDING
from .frames import Operation
from .grading import GRADING
from .keyed import KEYED
from .linear import LINEAR
from .making import MAKING
from .masking import MASKING
from .moving import MOVING
from .radix import RADIX
from .scans import SCANS
from .searching import SEARCHING
from .selecting import SELECTING
from .transforms import TRANSFORMS

OPERATIONS: Final[dict[str, Operation]] = {
    **MOVING, **SELECTING, **MASKING, **SCANS, **CONTRACTING, **GRADING, **SEARCHING, **FINDING, **RADIX, **KEYED, **MAKING,
    **LINEAR, **TRANSFORMS,
}  # fmt: skip
