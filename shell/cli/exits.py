"""Exit codes of the `rho` program: the one place that says which outcome gives which number (ux.md)."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    OK = 0
    FAILED = 1  # the program failed while running
    USAGE = 2
    REJECTED = 3  # by the checker
    REFUSED = 4  # by a bound, a load-time guard or a permission
    BUDGET = 5  # a budget (time) ran out
    BUG = 70  # in Rho; a reproducer file is written
    INTERRUPTED = 130
    TERMINATED = 143
