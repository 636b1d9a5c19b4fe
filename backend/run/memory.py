"""Values on a device, and the recycling of large buffers.

A memory maps value ids to arrays.  Values are immutable to the program; a buffer is written again only once nobody can
see it: `sole_owner` asks the reference count, so a mistake in a plan costs speed, never a value.

Neighbours: `executor`, `pool` (where large buffers come from).
"""

from __future__ import annotations

import sys
from typing import Any, Final, TypeAlias

from ..graph.phases import ValueId
from .pool import Lease

Memory: TypeAlias = dict[ValueId, Any]
_OWNED_ONCE: Final = 2
"""References to an array that only a memory holds: the memory's own and the argument of `getrefcount`."""


def sole_owner(memory: Memory, value: ValueId) -> bool:
    """Is the array held by this memory alone, in full, and writable?  (A view of it would hold it too.)"""
    array = memory[value]
    base = getattr(array, "base", array)
    if base is None:
        if not array.flags.owndata:
            return False
    elif type(base) is not Lease:
        return False
    if not getattr(array.flags, "writeable", True):  # CuPy's arrays always are
        return False
    del array, base
    return sys.getrefcount(memory[value]) <= _OWNED_ONCE
