"""Values on a device, and the recycling of large buffers.

A memory maps value ids to arrays.  Values are immutable to the program; a buffer is written again only once nobody can
see it: `sole_owner` asks the reference count, so a mistake in a plan costs speed, never a value.

Neighbours: `executor`; `cpu.structured` allocates through `Pool`.
"""

from __future__ import annotations

import sys
from typing import Any, Final, TypeAlias

from ..graph.phases import ValueId

Memory: TypeAlias = dict[ValueId, Any]
_OWNED_ONCE: Final = 2
"""References to an array that only a memory holds: the memory's own and the argument of `getrefcount`."""


def sole_owner(memory: Memory, value: ValueId) -> bool:
    """Is the array held by this memory alone, in full, and writable?  (A view of it would hold it too.)"""
    array = memory[value]
    if getattr(array, "base", array) is not None or not array.flags.writeable or not array.flags.owndata:
        return False
    del array
    return sys.getrefcount(memory[value]) <= _OWNED_ONCE
