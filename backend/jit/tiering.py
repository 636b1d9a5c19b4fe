"""Tiering: decides when a kernel is compiled, and thresholds of work for threads and interrupts.

Small spaces stay on NumPy.  For others the time that a kernel would have saved is added up over the runs, and the kernel is
compiled when the sum reaches the cost of compiling.  Earlier, from `LOAD_NANOSECONDS`, it is loaded from disk, or compiled by a
thread beside the run.  So no run loses more time than it could have gained.  The tier does not change any bit of a result.

`RHO_KERNELS`: `off` (never use kernels), `always` (use them wherever they can be used), `warm` (as if every kernel had long been
in use, which calibration measures); otherwise by these rules.
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
"""A phase with fewer points stays on NumPy, whose calls then cost no more than binding a kernel, unless it applies expensive
functions."""
COMPILE_NANOSECONDS: Final = 10e6
LOAD_NANOSECONDS: Final = 1.5e6


CALL_NANOSECONDS: Final = 500
"""The cost of a NumPy call on a small array."""
AT_ONCE: Final = 5.0
CALLED: Final = 2_000.0
"""Nanoseconds per item of a right fold on NumPy: `AT_ONCE` if a few calls handle all items, `CALLED` if each item is a call."""
MANY: Final = 6
"""From this number of functions in its body, a small phase costs more as NumPy calls than as a kernel."""


SHARED_NANOSECONDS: Final = 8_000
"""A launch with at least this much work (nanoseconds) uses pool threads; one that is awake joins in about a microsecond."""
WORTH_WAKING: Final = 60_000
"""A launch with at least this much work (nanoseconds) wakes sleeping pool threads, even if it comes alone."""
PIECES_NANOSECONDS: Final = 150_000
"""Work (nanoseconds) from which tasks that each run makes anew are shared by threads."""
LONG_NANOSECONDS: Final = 10_000_000
"""Work (nanoseconds) from which Python hands out the tasks, so that interrupts are handled between them."""


HEARD_NANOSECONDS: Final = 5e6
"""The most work (estimated nanoseconds) of such a task, if it can be cut.  Functions of large arguments on a busy machine may
take far longer than estimated."""


class Mode(Enum):
    OFF = "off"
    AUTO = "auto"
    WARM = "warm"
    ALWAYS = "always"


def mode() -> Mode:
    """The mode that `RHO_KERNELS` selects."""
    value = os.environ.get(SWITCH, "").lower()
    if value in ("off", "0", "no"):
        return Mode.OFF
    return {"always": Mode.ALWAYS, "warm": Mode.WARM}.get(value, Mode.AUTO)


def is_candidate(points: int, applied: Iterable[str], *, sums: bool) -> bool:
    """Can a kernel over `points` points that applies these functions ever pay?  `sums`: does it sum floats?"""
    functions = list(applied)
    return points >= SMALL or sums or len(functions) >= MANY or not TRANSCENDENTAL.isdisjoint(functions)


_saved: dict[MachineCode, float] = {}
_asked: set[MachineCode] = set()


def saving(body: Body, points: int) -> float:
    """Estimated nanoseconds that a kernel saves over NumPy on one thread (measured on AVX-512 and AVX2 machines)."""
    if points >= SMALL:
        fixed = 50_000  # slices are cut anew in each run
    else:
        fixed = CALL_NANOSECONDS * body.operations + (15_000 + 20 * min(points, 1 << 10) if body.is_ordered else 0)
    one_by_one = sum(_an_item(r.reduction or "", r.kind) for r in body.results if r.states)
    return fixed + points * one_by_one + points * (0.3 + 0.3 * body.operations) + body.transcendental * (20_000 + 12 * points)


def _an_item(function: str, kind: Kind) -> float:
    """Nanoseconds per item of a right fold on NumPy (`cpu.numpy_reductions`)."""
    if kind is Kind.BOOL or FUNCTIONS[function].result is ResultKind.BOOL or (function == "sub" and not kind.is_complex):
        return AT_ONCE
    return CALLED


def is_worth(code: MachineCode, nanoseconds: float) -> bool:
    """Should this run, which the code shortens by `nanoseconds`, use it?  Each call counts as a run."""
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
    """Estimated nanoseconds of a kernel on one thread."""
    return points * (25 + 10 * body.operations + 120 * body.transcendental) // 100


def is_worthwhile(kernel: MachineCode, body: Body, points: int, runs: int = 1) -> bool:
    """Should this run of a phase use its kernel, if this is asked once in `runs` runs?"""
    return is_worth(kernel, runs * saving(body, points))


FEW_NANOSECONDS: Final = 30_000.0
LEVELLED_NANOSECONDS: Final = 200_000.0
"""Work (nanoseconds) from which tasks have equal sizes, because taking a task costs little compared with it."""


def pieces(least: int, nanoseconds: float) -> int:
    """The number of tasks: `least`, or more for long work, so that interrupts are handled between them."""
    return least if nanoseconds < LONG_NANOSECONDS else max(least, int(nanoseconds / HEARD_NANOSECONDS))


def starts(size: int, step: int, threads: int, nanoseconds: float) -> list[int]:
    """The starts of tasks over `size` items, all multiples of `step`.

    To take a task moves data between processors, which costs as much as thousands of items.  So little work is cut into one large
    task for each thread and a few small ones for the thread that is ready first: the caller takes tasks from the front, pool
    threads from the back."""
    equal = list(range(0, size, step))
    small = threads if nanoseconds < FEW_NANOSECONDS else 2 * threads
    if nanoseconds >= LEVELLED_NANOSECONDS or len(equal) < small + 2 * threads:
        return equal
    large = [(len(equal) - small) * thread // threads for thread in range(1, threads + 1)]
    front = large[0]
    return [equal[index] for index in (0, *range(front, front + small), *(small + end for end in large[:-1]))]
