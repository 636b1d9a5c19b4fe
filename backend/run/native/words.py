"""The operations of a native call (`call.c`, Note [Words]), and those that only drafts of calls have.

Neighbours: `cpu.drafting` (makes rows of them), `cpu.encoding` (makes words of rows).
"""

from __future__ import annotations

from enum import IntEnum


class Operation(IntEnum):
    """What a call does, one after the other; the operands are `call.c`'s but where a draft's are written here.

    MAKE: value, dtype, shape.  VIEW: value, dtype, shape, strides, bytes ahead, the value of which it shows a part.  LAUNCH: the
    words of a launch, the values that it writes.  COMPUTE: a factor is a number.  BRANCH: a label.

    Only in drafts: SET: a slot, a number.  JUMP, LABEL: a label.  SETTLED: a value that a phase has made, once it is whole."""

    MAKE = 0
    VIEW = 1
    CALL = 2
    LAUNCH = 3
    FREE = 4
    GIVE = 5
    ALIGN = 6
    COMPUTE = 7
    LOAD = 8
    LENGTH = 9
    CHECK = 10
    BRANCH = 11
    MOVE = 12
    NUMBER = 13
    ADDRESS = 14
    SET = 15
    JUMP = 16
    LABEL = 17
    SETTLED = 18
