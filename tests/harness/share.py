"""The sampling of test cases and the seeds of random programs, which change with every commit.

`RHO_SHARE` is the fraction of the cases that a run takes: a twentieth in the gate, all with `RHO_SHARE=1`.  `RHO_SEED` is the
seed of every draw; by default it is the number of the commit (0 without git), so that runs of one commit are equal and each
commit draws other cases.  A run prints its seed, and a failing test prints the command that repeats its draw.  A seed that has
failed becomes a permanent argument of `seeds`.
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
    """The number of commits up to the one that is checked out; 0 without git."""
    folder = Path(__file__).resolve().parents[2]
    try:
        answer = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return int(answer.stdout) if answer.returncode == 0 else 0


SHARE = min(1.0, max(0.0, float(os.environ.get("RHO_SHARE", "0.05"))))
SEED = int(os.environ.get("RHO_SEED") or _commit_number())
os.environ["RHO_SEED"] = str(SEED)  # the same in the processes that tests start
APART = 10_000  # more seeds than any test draws at a commit, so that no two commits draw the same programs


def share(cases: Sequence[Case], seed: int = 0) -> list[Case]:
    """A seeded sample of the cases, in their order; empty only if `cases` is."""
    if SHARE >= 1.0 or not cases:
        return list(cases)
    count = max(1, round(len(cases) * SHARE))
    chosen = sorted(random.Random(SEED * 1_000_003 + seed).sample(range(len(cases)), count))
    return [cases[index] for index in chosen]


def seeds(count: int, *failed: int, least: int = 1) -> list[int]:
    """The seeds of a test's random programs: those that once `failed`, then this run's share of `count`, at least `least`."""
    return [*failed, *range(SEED * APART, SEED * APART + min(count, max(least, repeats(count))))]


def drawing(*names: object) -> random.Random:
    """The random generator of one test, seeded by the names and the run's seed."""
    return random.Random(f"{SEED} {' '.join(map(str, names))}")


def place(name: str) -> float:
    """Where a name lies in this run's draws: from 0 to 1."""
    return zlib.crc32(f"{SEED} {name}".encode()) / 2**32


def is_drawn(name: str, part: int = 2) -> bool:
    """Is the case of this name in this run?  One in `part` is; all are with `RHO_SHARE=1`."""
    return SHARE >= 1.0 or place(name) * part < 1.0


def share_of_names(names: Iterable[str]) -> list[str]:
    """This run's share of the names, at least one: each is in it or not, whatever the others."""
    given = list(names)
    return [name for name in given if SHARE >= 1.0 or place(name) < SHARE] or [min(given, key=place)]


def half(cases: Iterable[Case], of: str) -> list[Case]:
    """A sample of about half of the cases, another one for each `of`; at least one, and all with `RHO_SHARE=1`."""
    given = list(cases)
    return [case for place, case in enumerate(given) if is_drawn(f"{of} {place}")] or given[:1]


def repeats(count: int) -> int:
    """This run's share of `count` random draws, at least one."""
    return max(1, round(count * SHARE))


def again(test: str) -> str:
    """The command that repeats `test` with the draw of this run."""
    return f"RHO_SEED={SEED} RHO_SHARE={SHARE:g} python -m pytest -n0 '{test}'"
