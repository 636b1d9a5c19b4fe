"""The interface of a peer: for each workload, by name, its idiomatic call on arrays in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Arrays = dict[str, Any]
Call = Callable[[Arrays], Any]
Sides = dict[str, Call]
FEW_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
STEPS = 50  # of the loops W9 to W11
