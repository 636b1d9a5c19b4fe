"""The operations of `run.c` (Note [Words]), in its order.

Neighbours: `encode` (makes words).
"""

from __future__ import annotations

from enum import IntEnum


class Operation(IntEnum):
    """`enum operation`."""

    RUN = 0
    FREE = 1
    SHARE = 2
    MOVE = 3
    CELL = 4
    PUT = 5
    SET = 6
    ADD = 7
    LOAD = 8
    EVALUATE = 9
    BRANCH = 10
    JUMP = 11
    POLL = 12
    GIVE = 13
