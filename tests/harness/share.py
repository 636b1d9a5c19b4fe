"""What a run draws: which share of the nets' cases, and which random programs, new ones at every commit.

`RHO_SHARE` is a fraction between 0 and 1: the gate takes a tenth of the cases of a net, `RHO_SHARE=1` takes all of them.
`RHO_SEED` moves every draw; without it the seed is the number of the commit (0 where there is no git), so that two runs of one
commit are alike and each commit looks at other cases.  A run prints its seed, and a test that fails prints the command that
draws the same again.  A seed that has failed becomes permanent as an argument of `seeds`.
"""

import os
import random
import subprocess
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

Case = TypeVar("Case")


def _commit_number() -> int:
    """How many commits led to the one that is checked out; 0 where git does not know."""
    folder = Path(__file__).resolve().parents[2]
    try:
        answer = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return int(answer.stdout) if answer.returncode == 0 else 0


SHARE = min(1.0, max(0.0, float(os.environ.get("RHO_SHARE", "0.1"))))
SEED = int(os.environ.get("RHO_SEED") or _commit_number())
os.environ["RHO_SEED"] = str(SEED)  # the same one in workers and in processes that tests start
APART = 10_000  # more than any net draws of one seed, so that no two commits draw the same programs


def share(cases: Sequence[Case], seed: int = 0) -> list[Case]:
    """The cases that this run looks at, in their order: a seeded sample, never empty unless `cases` is."""
    if SHARE >= 1.0 or not cases:
        return list(cases)
    count = max(1, round(len(cases) * SHARE))
    chosen = sorted(random.Random(SEED * 1_000_003 + seed).sample(range(len(cases)), count))
    return [cases[index] for index in chosen]


def seeds(count: int, *failed: int, least: int = 1) -> list[int]:
    """The seeds of a net's random programs: this run's share of `count`, `least` or more, after those that once `failed`."""
    return [*failed, *range(SEED * APART, SEED * APART + min(count, max(least, repeats(count))))]


def drawing(*names: object) -> random.Random:
    """The source of one net's random choices, another one at every commit."""
    return random.Random(f"{SEED} {' '.join(map(str, names))}")


def is_drawn(name: str, part: int = 2) -> bool:
    """Is a case of a large table, told by its name, in this run?  One in `part` of them is; all with `RHO_SHARE=1`."""
    return SHARE >= 1.0 or zlib.crc32(f"{SEED} {name}".encode()) % part == 0


def half(cases: Iterable[Case], of: str) -> list[Case]:
    """About half of the cases that a test goes through by itself, others for each `of`; one at least, all with `RHO_SHARE=1`."""
    given = list(cases)
    return [case for place, case in enumerate(given) if is_drawn(f"{of} {place}")] or given[:1]


def repeats(count: int) -> int:
    """How many of `count` random draws this run makes, at least one."""
    return max(1, round(count * SHARE))


def again(test: str) -> str:
    """The command that runs `test` once more with the draw of this run."""
    return f"RHO_SEED={SEED} RHO_SHARE={SHARE:g} python -m pytest -n0 '{test}'"
