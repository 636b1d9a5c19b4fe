"""Tiering: decides when a kernel is worth compiling.

Small spaces stay on NumPy.  For others the time that a kernel would have saved so far is added up, and the kernel is compiled
when that reaches what compiling costs; before that it is loaded, or made beside the run by a thread, when there is something to
gain.  So no run loses more than it could have gained.  The choice changes no bit of a result.

`RHO_KERNELS`: `off` (never), `always` (every phase that kernels can do, whatever its size), `warm` (as if every kernel had been
used for long: what calibrations measure), else by these rules.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Final

from ...typechecker.elements import Kind
from ...typechecker.scalars import FUNCTIONS, ResultKind
from ..scalar.function_table import TRANSCENDENTAL

if TYPE_CHECKING:
    from ..lower.body import Body
    from .compiler import MachineCode

SWITCH: Final = "RHO_KERNELS"
SMALL: Final = 1 << 13
"""Points below which a phase stays on NumPy (its calls cost no more than binding a kernel), unless it has functions that are
many operations there."""
COMPILE_NANOSECONDS: Final = 10e6
LOAD_NANOSECONDS: Final = 1.5e6


CALL_NANOSECONDS: Final = 500
"""A NumPy call on a small array."""
AT_ONCE: Final = 5.0
CALLED: Final = 2_000.0
"""An item of a reduction from the right, on NumPy: by a few calls for all items, or by a call."""
MANY: Final = 6
"""Functions in a small body that are more work, as NumPy calls, than calling a kernel."""


SHARED_NANOSECONDS: Final = 8_000
"""Work from which a launch has helpers: one that is awake comes in about a microsecond."""
WORTH_WAKING: Final = 60_000
"""Nanoseconds of a lone launch that are worth waking helpers for."""
PIECES_NANOSECONDS: Final = 150_000
"""Work from which pieces are shared that each run makes anew."""
LONG_NANOSECONDS: Final = 10_000_000
"""Work from which pieces are handed out by Python, so that an interrupt is heard between them."""


HEARD_NANOSECONDS: Final = 5e6
"""Work of such a piece at most, where it can be cut: functions of large arguments, on a busy machine, take far longer."""


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


def is_candidate(points: int, applied: Iterable[str], *, sums: bool) -> bool:
    """Is a kernel of so many points that applies these functions ever worth it?  `sums`: of floats."""
    functions = list(applied)
    return points >= SMALL or sums or len(functions) >= MANY or not TRANSCENDENTAL.isdisjoint(functions)


_saved: dict[MachineCode, float] = {}
_asked: set[MachineCode] = set()


def saving(body: Body, points: int) -> float:
    """Nanoseconds that a kernel saves over NumPy on one thread, roughly (measured on AVX-512 and AVX2 machines)."""
    if points >= SMALL:
        fixed = 50_000  # slices are cut anew in each run
    else:
        fixed = CALL_NANOSECONDS * body.operations + (15_000 + 20 * min(points, 1 << 10) if body.is_ordered else 0)
    one_by_one = sum(_an_item(r.reduction or "", r.kind) for r in body.results if r.states)
    return fixed + points * one_by_one + points * (0.3 + 0.3 * body.operations) + body.transcendental * (20_000 + 12 * points)


def _an_item(function: str, kind: Kind) -> float:
    """Nanoseconds of a reduction from the right (`cpu.numpy_reductions`)."""
    if kind is Kind.BOOL or FUNCTIONS[function].result is ResultKind.BOOL or (function == "sub" and not kind.is_complex):
        return AT_ONCE
    return CALLED


def is_worth(code: MachineCode, nanoseconds: float) -> bool:
    """Should a run that code shortens by so much use it?  (Asking counts as a run.)"""
    from .compiler import address_of, as_now, is_ready, is_stored

    if is_ready(code) or mode() is not Mode.AUTO:
        return True
    total = _saved[code] = _saved.get(code, 0.0) + nanoseconds
    if total >= COMPILE_NANOSECONDS:
        return True
    if total >= LOAD_NANOSECONDS and code not in _asked:
        _asked.add(code)
        if is_stored(code):
            return True
        with contextlib.suppress(RuntimeError):  # no more threads: it is compiled when it would have paid
            threading.Thread(target=as_now(address_of), args=(code,), name="rho code").start()
    return False


def work(body: Body, points: int) -> int:
    """Nanoseconds that a kernel takes on one thread, roughly."""
    return points * (25 + 10 * body.operations + 120 * body.transcendental) // 100


def is_worthwhile(kernel: MachineCode, body: Body, points: int, runs: int = 1) -> bool:
    """Should this run of a phase, asked for once in so many, use its kernel?"""
    return is_worth(kernel, runs * saving(body, points))


FEW_NANOSECONDS: Final = 30_000.0
LEVELLED_NANOSECONDS: Final = 200_000.0
"""Work from which pieces are equal: taking one is nothing beside it."""


def pieces(least: int, nanoseconds: float) -> int:
    """How many pieces work has that would have `least`: more where it is long, so that interrupts are heard between them."""
    return least if nanoseconds < LONG_NANOSECONDS else max(least, int(nanoseconds / HEARD_NANOSECONDS))


def starts(size: int, step: int, threads: int, nanoseconds: float) -> list[int]:
    """Where the pieces of so many items begin, all multiples of `step`.

    Whatever a thread takes goes from one processor to another, which costs as much as thousands of items.  So there is a large
    piece for each thread where there is little work; between them are a few small ones for whoever is there first: the caller
    takes pieces from the front, helpers from the back."""
    equal = list(range(0, size, step))
    small = threads if nanoseconds < FEW_NANOSECONDS else 2 * threads
    if nanoseconds >= LEVELLED_NANOSECONDS or len(equal) < small + 2 * threads:
        return equal
    large = [(len(equal) - small) * thread // threads for thread in range(1, threads + 1)]
    front = large[0]
    return [equal[index] for index in (0, *range(front, front + small), *(small + end for end in large[:-1]))]
