"""How much of a net is run: the gate takes a seeded tenth of its cases, `RHO_SHARE=1` takes all of them.

`RHO_SHARE` is a fraction between 0 and 1. `RHO_SEED` moves the draw, so that repeated runs look at other tenths.
"""

import os
import random
import zlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

Case = TypeVar("Case")

SHARE = min(1.0, max(0.0, float(os.environ.get("RHO_SHARE", "0.1"))))
SEED = int(os.environ.get("RHO_SEED", "0"))


def share(cases: Sequence[Case], seed: int = 0) -> list[Case]:
    """The cases that this run looks at, in their order: a seeded sample, never empty unless `cases` is."""
    if SHARE >= 1.0 or not cases:
        return list(cases)
    count = max(1, round(len(cases) * SHARE))
    chosen = sorted(random.Random(SEED * 1_000_003 + seed).sample(range(len(cases)), count))
    return [cases[index] for index in chosen]


def is_drawn(name: str) -> bool:
    """Is a case of a large table, told by its name, in this run?  Half of them are; all with `RHO_SHARE=1`."""
    return SHARE >= 1.0 or zlib.crc32(f"{SEED} {name}".encode()) % 2 == 0


def half(cases: Iterable[Case], of: str) -> list[Case]:
    """About half of the cases that a test goes through by itself, others for each `of`; one at least, all with `RHO_SHARE=1`."""
    given = list(cases)
    return [case for place, case in enumerate(given) if is_drawn(f"{of} {place}")] or given[:1]


def repeats(count: int) -> int:
    """How many of `count` random draws this run makes, at least one."""
    return max(1, round(count * SHARE))
