"""Tiering: when a unit gets machine code, and thresholds of work for threads and interrupts.

A unit (a phase, a row chain, a library operation, a region) without code runs on NumPy.  From its second run on, or if one run
would lose `LOAD_NANOSECONDS`, it takes what the disk cache has: its code, and of a region its lowering.  Otherwise a region is
lowered and code is requested once runs have lost `WORTH_COMPILING` without it, and one background thread compiles requests, that
with the greatest loss first, while runs without the code yield to it.  Only a run that would lose `COMPILE_NANOSECONDS` waits for
its code.  The tier does not change any bit of a result.

`RHO_KERNELS`: `off` (never use kernels), `always` (compile before the first run), `warm` (as if every kernel had long been in
use, which calibration measures); otherwise by these rules.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Final

from ...lang.support import processes
from ...typechecker.elements import FUNCTIONS, Kind, ResultKind
from ..scalar.function_table import TRANSCENDENTAL

if TYPE_CHECKING:
    from ..lower.body import Body
    from .compiler import MachineCode

SWITCH: Final = "RHO_KERNELS"
SMALL: Final = 1 << 13
"""The points from which NumPy works on a phase slice by slice."""
COMPILE_NANOSECONDS: Final = 10e6
"""The loss in nanoseconds for which a run waits until its code is compiled."""
LOAD_NANOSECONDS: Final = 3e6
"""Nanoseconds to load code from the disk cache, including parts of LLVM that are not loaded yet."""
WORTH_COMPILING: Final = 0.5e6
"""Nanoseconds that runs have lost without code when the code is requested."""
YIELD_NANOSECONDS: Final = 200_000
"""Nanoseconds between sleeps of runs without code, of a quarter of this, while the background thread compiles."""
CALL_NANOSECONDS: Final = 500
"""The cost of a NumPy call on a small array."""
LAUNCH_NANOSECONDS: Final = 12_000
"""Nanoseconds of a launch of code from Python; a call that would lose less on NumPy stays there."""
AT_ONCE: Final = 5.0
CALLED: Final = 2_000.0
"""Nanoseconds per item of a right fold on NumPy: `AT_ONCE` where a few calls handle all items, `CALLED` where each item takes a
call."""
SHARED_NANOSECONDS: Final = 8_000
"""A launch with at least this much work (nanoseconds) uses pool threads; one that is awake joins in about a microsecond."""
WORTH_WAKING: Final = 60_000
"""A launch with at least this much work (nanoseconds) wakes sleeping pool threads, even if it comes alone."""
PIECES_NANOSECONDS: Final = 150_000
"""Work (nanoseconds) from which threads share tasks that each run creates anew."""
LONG_NANOSECONDS: Final = 10_000_000
"""Work (nanoseconds) from which a launch is cut into short tasks and handles interrupts between them."""


INTERRUPT_NANOSECONDS: Final = 5e6
"""The most work (estimated nanoseconds) of such a task, if it can be cut, so that interrupts are handled in time.  Functions of
large arguments on a busy machine may take far longer than estimated."""


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


def saving(body: Body, points: int) -> float:
    """Estimated nanoseconds that a kernel saves over NumPy on one thread (measured on AVX-512 and AVX2 machines)."""
    operations, transcendental = _counts(body)
    if points >= SMALL:
        fixed = 50_000  # every run cuts its slices anew
    else:
        fixed = CALL_NANOSECONDS * operations + (15_000 + 20 * min(points, 1 << 10) if body.is_ordered else 0)
    one_by_one = sum(_an_item(r.reduction or "", r.kind) for r in body.results if r.states)
    return fixed + points * one_by_one + points * (0.3 + 0.3 * operations) + transcendental * (20_000 + 12 * points)


def launched_from(body: Body) -> int:
    """The number of points from which a kernel launched by Python saves more than the launch costs."""
    operations, transcendental = _counts(body)
    if body.is_ordered or transcendental:
        return 0
    one_by_one = sum(_an_item(r.reduction or "", r.kind) for r in body.results if r.states)
    saved = one_by_one + 0.3 + 0.3 * operations
    return min(SMALL, max(0, math.ceil((LAUNCH_NANOSECONDS - CALL_NANOSECONDS * operations) / saved)))


def _counts(body: Body) -> tuple[int, int]:
    """How many functions a body applies, and how many of them are transcendental."""
    applied = body.applied
    return len(applied), sum(function in TRANSCENDENTAL for function in applied)


def _an_item(function: str, kind: Kind) -> float:
    """Nanoseconds per item of a right fold on NumPy (`cpu.numpy_reductions`)."""
    if kind is Kind.BOOL or FUNCTIONS[function].result is ResultKind.BOOL or (function == "sub" and not kind.is_complex):
        return AT_ONCE
    return CALLED


# ---------------------------------------------------------------------------------------------------- background compiler
#
# Requests for code, and the thread that compiles them.
#
# The thread is no daemon, since the process must not end while LLVM works; it ends with the last request or, when the main thread
# ends, after the current module.  A forked child has neither the thread nor its queue; its runs request again.

class Losses:
    """The runs of a unit without its code or its lowering, and the nanoseconds that they have lost."""

    __slots__ = ("is_stored", "lost", "runs")

    def __init__(self) -> None:
        self.runs, self.lost = 0, 0.0
        self.is_stored: bool | None = None

    def permit(self, lost: float, find: Callable[[], bool], before: int = 0) -> bool:
        """Counts a run that loses `lost` nanoseconds; may it take what the disk cache has (by `find`), or make it?

        `before`: runs of the unit that have not been counted."""
        if mode() is not Mode.AUTO or lost >= COMPILE_NANOSECONDS:
            return True
        self.runs = max(self.runs, before) + 1
        self.lost += lost
        if self.runs == 1 and lost < LOAD_NANOSECONDS:
            return False
        if self.is_stored is None:
            self.is_stored = find()
        return self.is_stored or self.lost >= WORTH_COMPILING


class CodeRequest(Losses):
    """Code that is not loaded yet.

    `is_ready`: the code is loaded, cannot be compiled on this machine, or compiling it has failed."""

    __slots__ = ("code", "compile", "is_queued", "is_ready")

    def __init__(self, code: MachineCode) -> None:
        super().__init__()
        self.code = code
        self.is_queued = self.is_ready = False
        self.compile: Callable[[MachineCode], None] | None = None

    def is_wanted(self, lost: float, before: int = 0) -> bool:
        """Should this run, which loses `lost` nanoseconds without the code, use it (and load or compile it now)?"""
        if self.is_ready or lost >= COMPILE_NANOSECONDS:
            return True
        is_permitted = self.permit(lost, self._find, before)
        if self.is_queued:
            _compiler.yield_to()
        elif is_permitted and self.is_stored and not _compiler.is_busy:
            return True
        elif is_permitted:
            _compiler.add(self)
        return False

    def _find(self) -> bool:
        from .compiler import is_stored

        return is_stored(self.code)


class _BackgroundCompiler:
    """The thread that compiles requested code while runs go on."""

    def __init__(self) -> None:
        self._lock, self._queue = processes.lock(), list[CodeRequest]()
        self._thread: threading.Thread | None = None
        self._yielded = 0
        processes.in_children(self._forget)

    @property
    def is_busy(self) -> bool:
        return self._thread is not None

    def yield_to(self) -> None:
        """Sleeps for a moment, if the thread works, so that it gets Python's lock: NumPy lets go of the lock in each call on more
        than 500 items and takes it again before a waiting thread has woken, which so can wait for seconds."""
        now = time.perf_counter_ns()
        if self.is_busy and now - self._yielded >= YIELD_NANOSECONDS:
            time.sleep(YIELD_NANOSECONDS / 4e9)
            self._yielded = time.perf_counter_ns()

    def add(self, request: CodeRequest) -> None:
        """Queues a request; if no thread can be started, a run that waits compiles it."""
        from .compiler import address_of, as_now

        request.compile = as_now(address_of)
        with self._lock:
            request.is_queued = True
            self._queue.append(request)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="rho code")
                with contextlib.suppress(RuntimeError):
                    self._thread.start()
                    return
                self._forget()

    def _serve(self) -> None:
        while True:
            with self._lock:
                if not self._queue or not threading.main_thread().is_alive():
                    self._thread = None
                    return
                request = max(self._queue, key=lambda queued: (queued.is_stored is True, queued.lost))
                self._queue.remove(request)
            assert request.compile is not None
            with contextlib.suppress(Exception):
                request.compile(request.code)
                _requests.pop(request.code, None)
            request.is_ready = True  # it fails again in a run that needs it, which reports the failure

    def _forget(self) -> None:
        for request in self._queue:
            request.is_queued = False
        self._thread = None
        self._queue.clear()


_compiler: Final = _BackgroundCompiler()
_requests: dict[MachineCode, CodeRequest] = {}


def request_of(code: MachineCode) -> CodeRequest:
    """The request for code; a new one if there is none."""
    request = _requests.get(code)
    if request is None:
        request = _requests[code] = CodeRequest(code)
    return request


def pays(lost: float) -> bool:
    """Does code that saves `lost` nanoseconds in a run pay when Python launches it?"""
    return lost >= LAUNCH_NANOSECONDS or mode() is Mode.ALWAYS


def is_wanted(code: MachineCode, lost: float, before: int = 0) -> bool:
    """Should this run, which loses `lost` nanoseconds without the code, use the code?  Each call counts as a run; `before`: runs
    of the unit that have not been counted."""
    from .compiler import is_ready

    return is_ready(code) or mode() is not Mode.AUTO or request_of(code).is_wanted(lost, before)


def work(body: Body, points: int) -> int:
    """Estimated nanoseconds of a kernel on one thread."""
    operations, transcendental = _counts(body)
    return points * (25 + 10 * operations + 120 * transcendental) // 100


FEW_NANOSECONDS: Final = 30_000.0
LEVELLED_NANOSECONDS: Final = 200_000.0
"""Work (nanoseconds) from which tasks have equal sizes, because taking a task costs little in comparison."""


def pieces(least: int, nanoseconds: float) -> int:
    """The number of tasks: `least`, or more for long work, so that interrupts are handled between them."""
    return least if nanoseconds < LONG_NANOSECONDS else max(least, int(nanoseconds / INTERRUPT_NANOSECONDS))


def starts(size: int, step: int, threads: int, nanoseconds: float) -> list[int]:
    """The starts of tasks over `size` items, all multiples of `step`.

    Taking a task moves data between processors, which costs as much as thousands of items.  So short work is cut into one large
    task per thread and a few small ones for the threads that finish first: the caller takes tasks from the front, pool threads
    from the back."""
    equal = list(range(0, size, step))
    small = threads if nanoseconds < FEW_NANOSECONDS else 2 * threads
    if nanoseconds >= LEVELLED_NANOSECONDS or len(equal) < small + 2 * threads:
        return equal
    large = [(len(equal) - small) * thread // threads for thread in range(1, threads + 1)]
    front = large[0]
    return [equal[index] for index in (0, *range(front, front + small), *(small + end for end in large[:-1]))]


# ---------------------------------------------------------------------------------------------------- names of tiers

def tier_name() -> str:
    """Returns `numpy`, or `llvm` with llvmlite's version, without importing either."""
    from importlib.metadata import PackageNotFoundError, version

    if mode() is Mode.OFF:
        return "numpy"
    try:
        return f"llvm {version('llvmlite')}"
    except PackageNotFoundError:
        return "numpy"


def numpy_version() -> str:
    """Returns NumPy's version without importing it; "none" where it is not installed, as in a browser."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("numpy")
    except PackageNotFoundError:
        return "none"
