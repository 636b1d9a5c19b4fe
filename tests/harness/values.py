"""Values for tests, seeded random numbers, programs run on NumPy arrays, and the comparison of floats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from share import SEED

import rho
from rho.backend.vm.values import Array
from rho.typechecker.elements import Kind


def text(characters: str) -> Array:
    """A char vector."""
    return Array(Kind.CHAR, (len(characters),), tuple(characters))


def generator() -> np.random.Generator:
    """NumPy's random generator with this run's seed."""
    return np.random.default_rng(SEED)


def run_program(folder: Path, text: str, **values: Any) -> Any:
    """The result of a program, written to a file in `folder`, on inputs and params by name."""
    path = folder / "task.rho"
    path.write_text(text, encoding="utf-8")
    return rho.load(path).run(**values)


def is_within(found: Any, want: Any, ulps: float = 16) -> bool:
    """Do all items differ by at most `ulps` units in the last place of the largest item, at the precision of `found`?

    For values that are summed in another order or rounded differently by libraries.  Items that are not finite must be equal."""
    found, want = np.asarray(found), np.asarray(want)
    if found.shape != want.shape:
        return False
    if found.dtype.kind not in "fc":
        return bool(np.array_equal(found, want))
    finite = np.isfinite(want)
    if not np.array_equal(found[~finite], want[~finite], equal_nan=True):
        return False
    largest = float(np.abs(want[finite]).max(initial=0.0))
    with np.errstate(all="ignore"):
        difference = np.abs(found[finite] - want[finite])
    least = float(np.finfo(found.dtype).smallest_subnormal)
    return bool(np.all(difference <= ulps * (np.finfo(found.dtype).eps * largest + least)))
