"""What a library phase sees of the running program: the types of values, the sizes that are bound, and the threads it may use.

Sizes of inputs and params are numbers before a run starts; a phase that defines a run-time size records it here.

Neighbours: `run.device` (types), `frames` (asks).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..run.device import Types


@dataclass(slots=True)
class Context(Types):
    """How many threads there are, too."""

    threads: int = 1
