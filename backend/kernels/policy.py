"""When a kernel is worth compiling.

Small spaces stay on NumPy.  For others the time that a kernel would have saved so far is added up, and the kernel is compiled
when that reaches what compiling costs (less where its code is on disk): so no run loses more than it could have gained.  The
choice changes no bit of a result.

`RHO_KERNELS`: `off` (never), `always` (every phase that kernels can do, whatever its size), `warm` (as if every kernel had been
used for long: what calibrations measure), else by these rules.

Neighbours: `build`, `store`, `backend.run.cpu.compiled`.
"""

from __future__ import annotations

import os
from enum import Enum
from typing import Final

from .build import Body
from .ir import Kernel
from .store import Code, is_ready, is_stored

SWITCH: Final = "RHO_KERNELS"
SMALL: Final = 1 << 13
"""Points below which a phase stays on NumPy (its calls cost no more than binding a kernel), unless it has functions that are
many operations there."""
COMPILE_NANOSECONDS: Final = 10e6
LOAD_NANOSECONDS: Final = 1.5e6


class Mode(Enum):
    OFF = "off"
    AUTO = "auto"
    WARM = "warm"
    ALWAYS = "always"


def mode() -> Mode:
    """What the user asked for."""
    value = os.environ.get(SWITCH, "").lower()
    if value in ("off", "0", "no"):
        return Mode.OFF
    return {"always": Mode.ALWAYS, "warm": Mode.WARM}.get(value, Mode.AUTO)


_saved: dict[Kernel | Code, float] = {}
_asked: set[Kernel | Code] = set()


def saving(body: Body, points: int) -> float:
    """Nanoseconds that a kernel saves over NumPy on one thread, roughly (measured on AVX-512 and AVX2 machines)."""
    return points * (0.3 + 0.3 * body.operations) + body.transcendental * (20_000 + 12 * points)


def is_worthwhile_to_repeat(kernel: Kernel, body: Body, points: int, turns: int) -> bool:
    """The same of a loop, whose body costs NumPy a few calls a turn."""
    if is_ready(kernel) or mode() is Mode.WARM:
        return True
    each = 2_000 + 800 * body.operations + saving(body, points)
    total = _saved[kernel] = _saved.get(kernel, 0.0) + turns * each
    return total >= COMPILE_NANOSECONDS


def is_worth(code: Code, nanoseconds: float) -> bool:
    """Should a run that code of another sort shortens by so much use it?"""
    if is_ready(code) or mode() is Mode.ALWAYS:
        return True
    total = _saved[code] = _saved.get(code, 0.0) + nanoseconds
    if total < COMPILE_NANOSECONDS and total >= LOAD_NANOSECONDS and code not in _asked:
        _asked.add(code)
        return is_stored(code)
    return total >= COMPILE_NANOSECONDS


def is_worthwhile(kernel: Kernel, body: Body, points: int) -> bool:
    """Should this run of a phase use its kernel?"""
    if is_ready(kernel) or mode() is Mode.WARM:
        return True
    total = _saved[kernel] = _saved.get(kernel, 0.0) + saving(body, points)
    if total >= COMPILE_NANOSECONDS:
        return True
    if total >= LOAD_NANOSECONDS and kernel not in _asked:
        _asked.add(kernel)
        return is_stored(kernel)
    return False
