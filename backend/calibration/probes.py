"""The probes of a calibration: for each cost table of the profile, the programs to time, how their times combine, and the sizes.

Probes of phases time running a phase, moving bytes, the device's threads, and loops.  A small phase after a large one gives the
cost of a step with cold caches.  Reading is measured by a maximum, writing by a product; sizes count all bytes moved (`points`,
Note [Moving]).  Whether a phase is split into tasks, and whether pool threads wake for it, is taken from the cost model.

Probes of library operations time the step that the executor runs.  The table and the size are those that the cost model looks up
for the program, recorded from its look-up.

Probes of the disk call an anonymous file in the folder for temporary files.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache, lru_cache
from math import isqrt, prod
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Source, Span
from ...typechecker.check import check
from ...typechecker.core.operations import Core
from ...typechecker.elements import FUNCTIONS, ArrayType, Element, Kind
from ...typechecker.sizes.polynomials import number
from ..cpu.backend import CpuBackend
from ..cpu.views import DTYPES
from ..devices.kernel_form import RUNS, Tier, WorkSharing, shared_out, surroundings, work_of
from ..devices.op_tables import Rates
from ..devices.phase_cost import library_grains, numbers_of
from ..devices.profile import CONSTANTS, CostTable, DeviceProfile, Grains, function_key
from ..devices.this_machine import READ, SCRATCH_READ, SCRATCH_WRITE, WRITE
from ..graph.bind_sizes import BoundGraph, bind
from ..graph.lowering.blocks import lower
from ..graph.passes.pipeline import optimise
from ..graph.phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    ConstantNode,
    LibraryPhase,
    Loop,
    Node,
    PhaseId,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    Structured,
    Term,
    ValueId,
)
from ..jit import tiering
from ..jit.tiering import Mode, tier_name
from ..lower.body import legalize
from ..scalar.function_table import ROWS as SCALARS, Probe
from ..schedule.plan.plan import Device, ExecutionPlan
from ..schedule.single_device import HOME, Detail, plan_one_device
from ..vm.executor import execute_plan
from ..vm.input_sizes import bind_sizes
from ..vm.run_state import Backend, StepTiming, Types
from .measurement_loop import Clock, MeasuredCurve, ProbeRow, Run, Times, low

# ---------------------------------------------------------------------------------------------------- kernel modes
#
# Which kernels the CPU back end uses, which is part of a calibration's validity.
#
# Kernels are compiled once that pays; a calibration measures the state after that, with every possible kernel compiled.

def has_kernels() -> bool:
    return tier_name() != "numpy"


def warm_kernels() -> AbstractContextManager[None]:
    """Context in which kernels are compiled at once, unless they are switched off."""
    return kernels_as(tiering.Mode.WARM if tiering.mode() is tiering.Mode.AUTO else tiering.mode())


@contextmanager
def kernels_as(mode: tiering.Mode) -> Iterator[None]:
    """Context in which the tiering mode is `mode`."""
    before = os.environ.get(tiering.SWITCH)
    os.environ[tiering.SWITCH] = mode.value
    try:
        yield
    finally:
        if before is None:
            del os.environ[tiering.SWITCH]
        else:
            os.environ[tiering.SWITCH] = before


# ---------------------------------------------------------------------------------------------------- timed programs
#
# Programs and calls that can be repeated at a size, and hand-made phases, which no pass rewrites.
#
# Data are drawn with a fixed seed: floats from 0.1 to 0.95 (inside every function's domain), booleans true and false equally
# often.

Seen: TypeAlias = list[StepTiming]
Of: TypeAlias = Callable[[Seen], int]
"""Selects the time that counts from the observed steps."""
RunFactory: TypeAlias = Callable[[int], Callable[[], object]]


@dataclass(frozen=True, slots=True, eq=False)
class ProbeCall:
    """A Python call, prepared for a size, in a tiering mode."""

    make: RunFactory
    mode: tiering.Mode

    def ready(self, size: int, threads: int, clock: Clock) -> Run:
        with kernels_as(self.mode):
            call = self.make(size)

        def run() -> int:
            with kernels_as(self.mode):
                start = clock()
                call()
                return clock() - start

        return run


@dataclass(frozen=True, slots=True, eq=False)
class ProbeProgram:
    """A program whose last statement is the output.

    `inputs`: types by name, in which `n` is the size, `s` its square root, `b` the f64 items in `n` bytes, `h` half of them and
    `r` their square root.  `team`: on all threads; `stepwise`: loops run in the interpreter, so that their steps are observed.
    """

    text: str
    inputs: Mapping[str, str]
    of: Of
    team: bool = True
    stepwise: bool = False

    def ready(self, size: int, threads: int, clock: Clock | None = None) -> PreparedProbe:
        sides = {"n": size, "s": isqrt(size), "b": size >> 3, "h": size >> 4, "r": isqrt(size >> 3)}
        values = {name: value(type_, sides, index) for index, (name, type_) in enumerate(self.inputs.items())}
        declared = [f"input {name} : {type_.replace('spd', 'f64')}\n" for name, type_ in self.inputs.items()]
        *before, result = self.text.split("\n")
        core = _core("".join((*declared, *(f"{line}\n" for line in before), f"output result ← {result}\n")))
        bound = bind(optimise(lower(core)), bind_sizes(core, {name: value.shape for name, value in values.items()}, {}))
        device = Device(HOME, "cpu", threads if self.team else 1)
        plan = plan_one_device(bound, device, detail=Detail.STEPS)
        return PreparedProbe(bound, plan, values, device.threads, _Stepwise if self.stepwise else CpuBackend, self.of)


@dataclass(frozen=True, slots=True)
class PreparedProbe:
    """A program with its data; a call runs it and returns the time that `of` selects."""

    bound: BoundGraph
    plan: ExecutionPlan
    values: Mapping[str, Any]
    threads: int
    backend: type[CpuBackend]
    of: Of

    def run(self) -> Seen:
        seen: Seen = []
        execute_plan(self.plan, self.bound, self.values, {HOME: self.backend(self.threads)}, seen.append)
        return seen

    def __call__(self) -> int:
        return self.of(self.run())


class _Stepwise(CpuBackend):
    def region(self, *_: Any) -> None:
        return None


@cache
def _core(text: str) -> Core:
    checked = check(Source("<calibration>", text))
    assert checked.core is not None, (text, checked.diagnostics)
    return checked.core


def last(sort: type[Structured | LibraryPhase | Loop] = Structured) -> Of:
    """Returns the selection of the last step with a phase of class `sort`."""
    return lambda seen: [took.ns for took in seen if isinstance(took.step, sort)][-1]


def program(text: str, inputs: Mapping[str, str], of: Of | None = None, **options: bool) -> Times:
    return Times(((ProbeProgram(text, inputs, of or last(), **options), None, 1),))


def call(make: RunFactory, mode: tiering.Mode = tiering.Mode.WARM) -> Times:
    return Times(((ProbeCall(make, mode), None, 1),))


def value(type_: str, sides: Mapping[str, int], seed: int) -> Any:
    """Returns data of a type with sizes as numbers or names.  `idx<n>`: indices below n; `spd`: a positive definite matrix."""
    element, _, shape_text = type_.rstrip("]").rpartition("[")
    shape = tuple(sides.get(part) or int(part) for part in shape_text.split())
    generator, count = np.random.default_rng(seed), prod(shape)
    if element.startswith("idx<"):
        return generator.integers(0, sides.get(element[4:-1]) or int(element[4:-1]), count).reshape(shape)
    if element == "spd":
        values = generator.random(shape)
        return values + values.T + 2 * shape[0] * np.eye(shape[0])
    kind = Kind(element)
    if kind.is_integer:  # as many different values as items
        return generator.integers(0, max(8, count), count).reshape(shape)
    return drawn(kind, count, seed).reshape(shape)


@lru_cache(maxsize=8)
def drawn(kind: Kind, count: int, seed: int) -> Any:
    """Returns random items of a kind; integers are from 1 to 7."""
    generator = np.random.default_rng(seed)
    if kind.is_integer:
        return generator.integers(1, 8, count).astype(DTYPES[kind])
    real = generator.random(count)
    if kind is Kind.BOOL:
        return real < 0.5
    real = real * 0.85 + 0.1
    return (real + 1j * generator.permutation(real) if kind.is_complex else real).astype(DTYPES[kind])


# ------------------------------------------------------------------------------------- timed phases

_NOWHERE = Span("<calibration>", 0, 0)


@dataclass(frozen=True, slots=True)
class ProbeOperand:
    """A read of an array of this shape at the point's coordinates on `axes` (none: all axes of the space)."""

    kind: Kind
    shape: tuple[int, ...]
    axes: tuple[int, ...] = ()

    @property
    def projection(self) -> Projection:
        indices = tuple(AffineIndex((Term(axis, 1),), number(0)) for axis in self.axes)
        return Projection((Affine(indices, tuple(map(number, self.shape))),) if self.axes else ())


@dataclass(frozen=True, slots=True)
class ProbeSample:
    """A hand-made structured phase: `body` over `space`, its last axis reduced with `reduction`; the result is the last node."""

    space: Sequence[int]
    operands: Sequence[ProbeOperand]
    body: Sequence[Node]
    result: Kind
    reduction: str | None = None

    @property
    def phase(self) -> Structured:
        kinds = [AxisKind.PARALLEL] * (len(self.space) - 1) + [AxisKind.REDUCE if self.reduction else AxisKind.PARALLEL]
        axes = tuple(Axis(number(n), kind) for n, kind in zip(self.space, kinds, strict=True))
        reads = tuple(Read(ValueId(index), operand.projection) for index, operand in enumerate(self.operands))
        result = PhaseResult(ValueId(len(self.operands)), len(self.body) - 1, self.reduction)
        return Structured(PhaseId(0), _NOWHERE, axes, reads, tuple(self.body), (result,))

    def kernel(self, back_end: Backend | None = None) -> Callable[[], object]:
        """Returns a call of the phase's kernel on data; by default of the CPU, on one thread."""
        back_end = back_end or CpuBackend(1)
        result = ProbeOperand(self.result, tuple(self.space[:-1] if self.reduction else self.space))
        types = {
            ValueId(index): ArrayType(Element(operand.kind), tuple(map(number, operand.shape)))
            for index, operand in enumerate((*self.operands, result))
        }
        kernel = back_end.structured(self.phase, Types(types, {}))
        memory = {
            ValueId(index): back_end.bring(drawn(operand.kind, prod(operand.shape), index).reshape(operand.shape), operand.kind)
            for index, operand in enumerate(self.operands)
        }
        return lambda: kernel(memory, None)


# ---------------------------------------------------------------------------------------------------- probes

WIDTH: Final = Kind.F64.bytes
ROUND: Final = (1 << 16, 1 << 18, 1 << 19, 3 << 18, 1 << 20, 3 << 19, 1 << 21, 5 << 19, 3 << 20, 1 << 22, 3 << 21, 1 << 23,
                1 << 24, 1 << 25, 1 << 26, 1 << 27)  # fmt: skip
"""Working sets in bytes, which cover the sizes of all caches."""
FRESH: Final = (1 << 18, 1 << 20, 1 << 22, 1 << 24, (1 << 25) - (1 << 16), (1 << 25) + (1 << 16), 1 << 26)
BEHIND: Final = (1 << 10, 1 << 18, 1 << 20, 1 << 21, 1 << 22, 1 << 24, 1 << 26)
SQUARES: Final = tuple(side * side * WIDTH for side in (100, 300, 500, 700, 1100, 1700))
COMPUTED: Final = (1 << 16, 1 << 17, 1 << 18, 1 << 20)
CHAINED: Final = (1000, 2000, 4000)
_TRIPS, _TURNS, _LONG_TURNS, _MANY_TURNS = 12, 40, 20, 200
HANDED: Final = 300


def _of_turns(sort: type[LibraryPhase | Structured]) -> Of:
    """Returns the selection of the shortest step of class `sort` in an iteration, after the first iteration."""

    def of(seen: Seen) -> int:
        by_phase: dict[int, list[int]] = {}
        for took in seen:
            if isinstance(took.step, sort):
                by_phase.setdefault(took.step.id, []).append(took.ns)
        return min(low(times[1:]) for times in by_phase.values() if len(times) > 1)

    return of


def _beside(seen: Seen) -> int:
    """Returns the executor's overhead of an iteration beyond its step."""
    known = [took for took in seen if isinstance(took.step, Loop | LibraryPhase)]
    return max(1, sum(took.ns if isinstance(took.step, Loop) else -took.ns for took in known) // _MANY_TURNS)


def handed_over() -> None:
    """Passes control from one thread to another and back, repeatedly."""
    there, back = threading.Event(), threading.Event()

    def answer() -> None:
        for _ in range(HANDED // 2):
            there.wait()
            there.clear()
            back.set()

    helper = threading.Thread(target=answer, daemon=True)
    helper.start()
    for _ in range(HANDED // 2):
        there.set()
        back.wait()
        back.clear()
    helper.join()


# -------------------------------------------------------------------------------------- running at all

_SHORT_INPUT: Final = {"x": "f64[64]"}
_BEHIND: Final = {**_SHORT_INPUT, "y": "f64[b]"}
_AGAIN = program(f"{{⍵×⌈/y+⌈/⍵}}⍣{_TRIPS}⊢x", _BEHIND, _of_turns(Structured), stepwise=True)
_KERNEL, _CALLED, _OFTEN = (
    program(f"s ← ⌈/y\n{applied}x×s", _BEHIND, stepwise=True) for applied in ("*", "s-", "s-x×x⌈x-")
)  # fmt: skip
_FIRST = (_KERNEL + _CALLED) * 0.5
_START = _FIRST.fixed(BEHIND[0])
"""The overhead of a program with one phase, see `Around.before`."""
_LIBRARY = program("output s ← ⌈/y\n+\\x", _BEHIND, last(LibraryPhase), stepwise=True)
_SCANNED = program(f"{{+\\⍵}}⍣{_TRIPS}⊢x", _SHORT_INPUT, _of_turns(LibraryPhase), stepwise=True).fixed(1)
_KNOWN, _MADE = (program(f"y ← {text}\n2+y÷3+y", _SHORT_INPUT, stepwise=True) for text in ("⌽+\\x", "(x>0.4)⌿x"))
_TURNED = program(f"{{1⌽⍵}}⍣{_MANY_TURNS} ⊢ x", {"x": "f64[8]"}, _beside, stepwise=True)

_STEPS: Final = (
    ProbeRow("step.f64", _AGAIN, BEHIND, MeasuredCurve.LEVEL),
    ProbeRow("first.f64", _FIRST - _AGAIN, BEHIND, MeasuredCurve.LEVEL),
    ProbeRow("call.f64", (_OFTEN - _CALLED) * 0.25, BEHIND, MeasuredCurve.LEVEL),
    ProbeRow("first.library.f64", _LIBRARY - _SCANNED, BEHIND, MeasuredCurve.LEVEL),
    ProbeRow("first.made.f64", _MADE - _KNOWN, curve=MeasuredCurve.LEVEL),
    ProbeRow("launch", _TURNED),
    ProbeRow("wait", call(lambda _: handed_over) * (1 / HANDED)),
    ProbeRow("alloc", call(lambda _: lambda: np.empty(1 << 12))),
)

# ---------------------------------------------------------------------------------------------- moving data

_TWO, _TWO_SQUARES = {"x": "f64[b]", "y": "f64[b]"}, {"x": "f64[r r]", "y": "f64[r r]"}
_GREATEST, _DOUBLED = program("⌈/x", {"x": "f64[b]"}, team=False), program("x×0.5", {"x": "f64[h]"}, team=False)
_ADDED, _SQUARES = program("x+y", _TWO, team=False), program("x+y", _TWO_SQUARES, team=False)


def _filled_again(size: int) -> Callable[[], object]:
    target = np.empty(size // WIDTH)
    return lambda: target.fill(1.0)


def _filled_anew(size: int) -> Callable[[], object]:
    return lambda: np.empty(size // WIDTH).fill(1.0)


_MOVED: Final = (
    ProbeRow("read.f64", _GREATEST - _START, ROUND, MeasuredCurve.RATES),
    ProbeRow("write.f64", _DOUBLED * 2 - _GREATEST - _START, ROUND, MeasuredCurve.RATES),
    ProbeRow("add.f64", (_GREATEST + _DOUBLED * 2) * (1 / 3) - _START, ROUND, MeasuredCurve.RATES),
    ProbeRow("strided.f64", program("x+⍉y", _TWO_SQUARES, team=False) - _SQUARES, SQUARES, MeasuredCurve.RATES),
    ProbeRow("pad.f64", program("x+(≢x)↑1↓y", _TWO, team=False) - _ADDED, ROUND[1:-2:2], MeasuredCurve.RATES),
    ProbeRow("fresh.f64", call(_filled_anew) - call(_filled_again), FRESH, MeasuredCurve.RATES),
)

# ----------------------------------------------------------------------------------------------- threads


def _as_shared(row: ProbeRow, ready: PreparedProbe) -> ProbeRow | None:
    """Returns the row for the table that the cost model uses for a phase: split with or without waking the pool."""
    phase = next(phase for phase in ready.bound.graph.phases if isinstance(phase, Structured))
    number = numbers_of(ready.bound)
    extents = tuple(number(axis.size) for axis in phase.axes)
    work = work_of(phase, ready.bound.graph.types, extents, number, kernels=has_kernels())
    shared = shared_out(work.nest, bool(work.reduced), work.nanoseconds, ready.threads)
    if work.tier is not Tier.KERNEL or shared.sharing not in (WorkSharing.CUT, WorkSharing.WOKEN):
        return None
    kind = "reduced.f64" if shared.joined else "f64"
    if shared.sharing is WorkSharing.WOKEN:
        return replace(row, table=f"team.{kind}")
    assert isinstance(row.at, Times)
    return ProbeRow(f"cut.{kind}", row.ns - row.at, curve=MeasuredCurve.LEVEL, at=1)


def _team(
    table: str | Callable[[ProbeRow, Any], ProbeRow | None], text: str, type_: str, sizes: Sequence[int], before: Times = _START,
    of: Of | None = None,
) -> ProbeRow:  # fmt: skip
    """Returns a row that compares all threads with one."""
    alone, together = program(text, {"x": type_}, of, team=False), program(text, {"x": type_}, of)
    return ProbeRow(table, together - before, sizes, MeasuredCurve.RISING, alone - before)


_TEAMS: Final = (
    _team(_as_shared, "⌈/x", "f64[b]", ROUND),
    _team(_as_shared, "x×0.5", "f64[h]", ROUND),
    _team(_as_shared, "*x", "f64[n]", COMPUTED),
    _team("team.rows.f64", "√+/x×x", "f64[n 500]", CHAINED),
    _team("team.handed.f64", "⌈/5⌽x", "f64[b]", BEHIND[1:6], _FIRST),
)

# ----------------------------------------------------------------------------------------------- loops

_POINTS: Final = 1 << 15
_PLAIN, _SERIES = (
    (program(f"{body}⍣{_TURNS} ⊢ x", {"x": f"f64[{_POINTS}]"}, last(Loop), team=False) - _START) * (1 / _TURNS)
    for body in ("{0.5+⍵×0.5}", "{*-⍵}")
)  # fmt: skip
_TURNING: Final = (
    ProbeRow("turn.f64", _PLAIN * 0.5, at=_POINTS * 3 * WIDTH),
    ProbeRow("turn.exp.f64", _SERIES - _PLAIN * 0.5, at=_POINTS * 2 * WIDTH),
)
_LONG: Final = (_team("team.long.f64", f"{{0.5+⍵×0.5}}⍣{_LONG_TURNS} ⊢ x", "f64[n]", (1 << 21,), of=last(Loop)),)

# ------------------------------------------------------------------------------------------------ disk

BYTES: Final = 32 << 20
_PAGE: Final = 1 << 12
"""Bytes of a page: the table has the time of one, and larger requests take proportionally longer."""


_ACTS: Final[dict[str, Callable[[int, bytearray], object]]] = {
    "write": lambda file, room: os.pwrite(file, room, 0),
    "sync": lambda file, _: os.fsync(file),
    "forget": lambda file, _: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED) if hasattr(os, "posix_fadvise") else None,
    "read": lambda file, room: os.preadv(file, [room], 0),
}


def _on_disk(table: str, *acts: str) -> ProbeRow:
    def make(size: int) -> Callable[[], object]:
        file = tempfile.TemporaryFile()  # noqa: SIM115 (it goes with the call)
        room = bytearray(np.random.default_rng(0).bytes(size))  # random bytes, which no file system compresses
        if os.pwrite(file.fileno(), room, 0) < size:
            raise OSError
        return lambda: [_ACTS[act](file.fileno(), room) for act in acts]

    return ProbeRow(table, call(make) * (_PAGE / BYTES), (BYTES,), at=_PAGE)


DISK: Final = (
    _on_disk(SCRATCH_WRITE, "write"), _on_disk(WRITE, "write", "sync"), _on_disk(SCRATCH_READ, "read"),
    _on_disk(READ, "sync", "forget", "read"),  # only synced pages leave the page cache
)  # fmt: skip

# ---------------------------------------------------------------------------------- library operations

_FLOATS: Final = "f64 f32"
_BOTH: Final = "f64 i64"
_SORTED: Final = "f64 i64 f32"
_DECADE: Final = (1 << 5, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 18, 1 << 20, (1 << 22) - (1 << 13))
_GRADED: Final = (1 << 5, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 21, (1 << 22) - (1 << 13))
_MATRIX: Final = (1 << 6, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20)
_JOINED: Final = (1 << 5, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 19, (1 << 21) - (1 << 13), (1 << 21) + (1 << 13), 1 << 22)
_ITERATIVE_SIZES: Final = (1 << 4, 1 << 8, 1 << 12, 1 << 15)
_THIN: Final = (1 << 10, 1 << 13, 1 << 17)
_LINES: Final = (1 << 10, 1 << 14, 1 << 18)


class _ProbeRequest(Exception):
    """Raised with the first table and size that the cost model looks up."""


class _Asking(Rates):
    def table(self, stems: Iterable[str], kind: Kind) -> CostTable | None:
        return CostTable((1,), (1,))

    def grains(self, stems: Iterable[str], kind: Kind, size: int) -> Grains:
        raise _ProbeRequest(f"{next(iter(stems))}.{kind.value}", size)


def looked_up_row(row: ProbeRow, ready: PreparedProbe) -> ProbeRow:
    """Returns the row with the table and size that the cost model looks up for a program's library step."""
    number = numbers_of(ready.bound)
    asking = _Asking(DeviceProfile("asking", "asking"), around=surroundings(ready.bound, number)[0])
    phase = [phase for phase in ready.bound.graph.phases if isinstance(phase, LibraryPhase)][-1]
    try:
        library_grains(phase, ready.bound.graph.types, asking, number, None)
    except _ProbeRequest as asked:
        return replace(row, table=asked.args[0], at=asked.args[1])
    raise AssertionError(row)


def _each(expression: str, inputs: str, kinds: str = "f64", sizes: tuple[int, ...] = _DECADE) -> list[ProbeRow]:
    """Returns a row for each kind.  `inputs`: their names and types, in which K is the kind."""
    split = [one.split(":") for one in inputs.split(", ")]
    return [
        ProbeRow(looked_up_row, program(expression, {name: text.replace("K", kind) for name, text in split}, last(LibraryPhase)),
        sizes)
        for kind in kinds.split()
    ]


LIBRARY: Final = (
    *_each("A+.×B", "A:K[s s], B:K[s s]", _FLOATS, _MATRIX),
    *_each("(⍉A)+.×A", "A:K[s s]", _FLOATS, _MATRIX[2:]),
    *_each("A+.×B", "A:K[n 16], B:K[16 16]", sizes=_THIN),
    *_each("A+.×B", "A:K[16 16], B:K[16 n]", sizes=_THIN),
    *_each("A+.×x", "A:K[s s], x:K[s]", _FLOATS, (1 << 6, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)),
    *_each("A+.×B", "A:K[s s], B:K[s 3]", sizes=(1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)),
    *_each("x+.×A", "A:K[s s], x:K[s]", sizes=(1 << 12, 1 << 19)),
    *_each("+\\x", "x:K[n]", "f64 f32 i64"),
    *_each("-\\x", "x:K[n]"),
    *_each("⌈\\x", "x:K[n]"),
    *_each("+⍀A", "A:K[s s]", _BOTH),
    *_each("x[i]", "x:K[n], i:idx<n>[n]"),
    *_each("x[⍋x]", "x:K[n]", _SORTED),
    *_each("A[i;]", "A:K[s 16], i:idx<s>[s]", sizes=(1 << 6, 1 << 12, 1 << 20, 1 << 30)),
    *_each("x,y", "x:K[n], y:K[n]", _SORTED, _JOINED),
    *_each("3⌽x", "x:K[n]", "f64 bool"),
    *_each("(1+≢x)⍴x", "x:K[n]"),
    *_each("m⌿x", "m:bool[n], x:K[n]", _SORTED),
    *_each("⍸m", "m:bool[n]"),
    *_each("≠x", "x:K[n]", _BOTH),
    *_each("⍋x", "x:K[n]", _SORTED, _GRADED),
    *_each("x⍳y", "x:K[n], y:K[n]", _BOTH),
    *_each("x∊y", "x:K[n], y:K[n]", _BOTH),
    *_each("(x[⍋x])⍸y", "x:K[s], y:K[n]"),
    *_each("(x[⍋x])⍸y", "x:K[8], y:K[n]"),
    *_each("i∊x", "x:K[8], i:K[n]", _BOTH),
    *_each("x⍳i", "x:K[8], i:K[n]", _BOTH),
    *_each("2⊥x", "x:K[n]", _BOTH),
    *_each("10 10 10⊤x", "x:K[n]", "i64"),
    *_each("2 2 2⊤x", "x:K[n]", "i64"),
    *_each("5 6⍷x", "x:K[n]", "i64"),
    *_each("x@i⊢y", "x:K[s], y:K[n], i:idx<n>[s]"),
    *_each("256+⌸(k ⋄ x)", "k:idx<256>[n], x:K[n]", _BOTH),
    *_each("256+⌸(k ⋄ A)", "k:idx<256>[s], A:K[s 8]", _BOTH, (1 << 6, 1 << 14, 1 << 20, 1 << 26)),
    *_each("7?≢x", "x:K[n]"),
    *_each("⍕x", "x:K[n]", _BOTH, (1 << 8, 1 << 13)),
    *_each("⌹A", "A:K[s s]", sizes=_MATRIX[:5]),
    *_each("x⌹A", "A:K[s s], x:K[s]", sizes=_MATRIX[:5]),
    *_each("⎕cholesky A", "A:spd[s s]", sizes=_MATRIX[:5]),
    *_each("{(u s v)←⎕svd ⍵ ⋄ s}A", "A:K[s s]", sizes=_ITERATIVE_SIZES),
    *_each("{(w v)←⎕eigh ⍵ ⋄ w}A", "A:spd[s s]", sizes=_ITERATIVE_SIZES),
    *_each("⎕fft c", "c:c128[n]", sizes=_LINES),
    *_each("⎕rfft x", "x:K[n]", sizes=_LINES),
)


def rows(threads: int) -> list[ProbeRow]:
    """Returns all rows except library operations; those of compiled loops and of threads only where these exist."""
    loops, team = has_kernels(), threads > 1
    return [*DISK, *_STEPS, *_MOVED, *(_TEAMS if team else ()), *(_TURNING if loops else ()), *(_LONG if loops and team else ())]


# ---------------------------------------------------------------------------------------------------- scalar functions
#
# The cost of one more application of a function, or of one more item to reduce: computing alone, on one thread.
#
# In kernels, it is the time that an application adds to a phase over a table whose rows are the same few thousand numbers, which
# stay in the nearest cache.  For NumPy calls, it is the time that an application adds to a phase of one slice.  The functions are
# those of the table of scalar functions.

LENGTH: Final = 2048
"""Numbers of a row that stays in the L1 cache."""
ROWS: Final = 16
SLICE: Final = 1 << 14
CALLED: Final = (Kind.F64, Kind.I64, Kind.F32, Kind.BOOL, Kind.C128)
KINDS: Final = (Kind.F64, Kind.I64, Kind.F32, Kind.BOOL, Kind.I32, Kind.U8)
_CONVERSIONS: Final = ((Kind.I64, Kind.F64), (Kind.BOOL, Kind.F64), (Kind.BOOL, Kind.I64), (Kind.I64, Kind.I32),
                       (Kind.F32, Kind.F64), (Kind.I32, Kind.I64), (Kind.BOOL, Kind.U8), (Kind.U8, Kind.I64),
                       (Kind.F64, Kind.I64))  # fmt: skip
_CIRCULAR: Final = (0, 1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -5, -6, -7)
_REDUCED_BY_CALLS: Final = {Kind.BOOL: ("or",), Kind.F64: ("add", "max", "sub", "div"), Kind.C128: ("add",)}
_REDUCED: Final = {Kind.F64: ("add", "max"), Kind.F32: ("add", "max"), Kind.I64: ("add", "max"), Kind.BOOL: ("or", "add")}
_LENGTHS: Final = (4, 8, 16, 32, 64, 256, 1024, 4096, 1 << 16)
"""Lengths of reduced runs."""
_ROW_POINTS, _COLUMN_POINTS, _LINE_POINTS = 1 << 19, 1 << 16, 1 << 15
_VECTOR_LENGTHS: Final = (3, 8, 15, 30, 60, 120, 500)
_PILES: Final = (3, 8, 16, 60)
_HIGH: Final = 4
"""Items of a row in reductions across rows."""
_LEAST_SHARE: Final = 1000
"""An application of more bytes per nanosecond than this is a measuring error."""
_ROW_COUNT, _MANY = 8, 24
"""The lengths of two chains of applications, whose difference is above noise for cheap functions."""
_FEW_ROWS, _SIDE = 32, 3
"""Rows below the first length are reduced one by one if at most the second number of them are adjacent."""

Make: TypeAlias = Callable[[int, int, int], list[Node]]
"""Builds nodes from the index of the first and the indices of two operands; the last node is the application."""


@dataclass(frozen=True, slots=True)
class Application:
    """An application to measure; `each`: bytes touched; `count`: the number of functions that it consists of."""

    name: str
    kind: Kind
    each: int
    result: Kind
    make: Make
    probe: Probe = Probe.EVERYWHERE
    count: int = 1


def applications(kind: Kind) -> Iterator[Application]:
    """Yields the scalar functions of a kind, `circular` by parameter, conversions, and functions specialized to a constant."""
    width = kind.bytes
    for name, row in FUNCTIONS.items():
        probe = SCALARS[name].probe
        if kind not in row.kinds or probe is Probe.NEVER or (probe is Probe.RARE and kind is not Kind.F64):
            continue
        if row.arity == 3 and not kind.is_complex:
            yield Application(name, kind, 1 + 3 * width, kind, _chosen(name, kind), count=2)
        if row.arity == 3:
            continue
        for parameter in (0,) if name != "circular" else _CIRCULAR if kind is Kind.F64 else (1, 2, 7):
            result = row.result_kind(kind, parameter) or kind
            each, make = row.arity * width + result.bytes, _applied(name, row.arity, result, parameter)
            yield Application(function_key(name, parameter), kind, each, result, make, probe)
    for target in (target for source, target in _CONVERSIONS if source is kind):
        yield Application(f"convert.{kind.value}", target, width + target.bytes, target, _applied("convert", 1, target))
    for name, operand in CONSTANTS.items():
        if kind in (Kind.I64, Kind.I32) and kind in FUNCTIONS[name].kinds:
            yield Application(f"{name}.constant", kind, 3 * width, kind, _with_constant(name, kind, 3, operand))
    if kind.is_float:
        yield Application("half_power", kind, 2 * width, kind, _with_constant("pow", kind, 0.5, 1))


def _applied(name: str, arity: int, result: Kind, parameter: int = 0) -> Make:
    return lambda first, *operands: [ApplyNode(name, operands[:arity], result, parameter)]


def _chosen(name: str, kind: Kind) -> Make:
    """Returns the nodes of a selection by a comparison that is true for some items."""
    return lambda first, one, other: [
        ApplyNode("lt", (other, 1 - other % 2), Kind.BOOL), ApplyNode(name, (first, one, other), kind),
    ]  # fmt: skip


def _with_constant(name: str, kind: Kind, value: int | float, operand: int) -> Make:
    return lambda first, one, other: [
        ConstantNode(kind, value), ApplyNode(name, (first, one) if operand == 0 else (one, first), kind),
    ]  # fmt: skip


# -------------------------------------------------------------------------------------- applications of scalar functions


def _joining(kind: Kind) -> str:
    return "and" if kind is Kind.BOOL else "add"


def _chain(kind: Kind, *names: str) -> list[Node]:
    joined = (ApplyNode(name, (2 + index, index % 2), kind) for index, name in enumerate(names))
    return [ReadNode(0, kind), ReadNode(1, kind), ApplyNode(_joining(kind), (0, 1), kind), *joined]


def _in_cache(kind: Kind, nodes: Sequence[Node], result: Kind) -> ProbeSample:
    return ProbeSample((ROWS, LENGTH), [ProbeOperand(kind, (LENGTH,), (1,))] * 2, nodes, result)


def _slice(kind: Kind, nodes: Sequence[Node], result: Kind, reduction: str | None = None) -> Times:
    return timed(ProbeSample((SLICE,), [ProbeOperand(kind, (SLICE,))] * 2, nodes, result, reduction), Mode.OFF)


def timed(sample: ProbeSample, mode: Mode = Mode.WARM) -> Times:
    return call(lambda _: sample.kernel(), mode)


@cache
def _chained(kind: Kind, *names: str) -> Times:
    return timed(_in_cache(kind, _chain(kind, *names), kind))


def _cheap(name: str, kind: Kind) -> Times:
    """Returns the time of a cheap application from chains of many."""
    join = _joining(kind)
    other = join if name != join else "or" if kind is Kind.BOOL else "mul"
    few = (join,) * _ROW_COUNT
    return (_chained(kind, *few, *(name, other) * (_MANY // 2)) - _chained(kind, *few)) * (1 / _MANY)


def _row(prefix: str, one: Application, spent: Times, points: int) -> ProbeRow:
    size = points * one.each
    return ProbeRow(f"{prefix}.{one.name}.{one.kind.value}", spent * (1 / one.count), at=size, least=size / _LEAST_SHARE)


def in_kernels(kind: Kind) -> Iterator[ProbeRow]:
    """Yields rows of applications in kernels: chains of cheap ones, three combined ones of others."""
    for one in applications(kind):
        if one.probe is Probe.CHAINED:
            yield _row("point", one, _cheap(one.name, kind), ROWS * LENGTH)
        elif kind is Kind.F64 or one.probe is Probe.EVERYWHERE:
            nodes, shown, join = _chain(kind), list[int](), _joining(one.result)
            for operands in ((2, 0), (0, 1), (1, 2)):
                nodes += one.make(len(nodes), *operands)
                shown.append(len(nodes) - 1)
            nodes += [ApplyNode(join, (shown[0], shown[1]), one.result), ApplyNode(join, (shown[2], len(nodes)), one.result)]
            sample = _in_cache(kind, nodes, one.result)
            joins = _cheap(join, one.result) * 2 if one.result in FUNCTIONS[join].kinds else Times(())
            if legalize(sample.phase) is not None:
                yield _row("point", one, (timed(sample) - _chained(kind) - joins) * (1 / 3), ROWS * LENGTH)


def by_calls(kind: Kind) -> Iterator[ProbeRow]:
    """Yields rows of every function as a NumPy call, and of reductions."""
    less = _slice(kind, _chain(kind), kind)
    for one in applications(kind):
        yield _row("ufunc", one, _slice(kind, [*_chain(kind), *one.make(3, 2, 0)], one.result) - less, SLICE)
    for function in _REDUCED_BY_CALLS.get(kind, ("add", "max")):
        more = _slice(kind, _chain(kind), kind, function)
        yield ProbeRow(f"ufunc.reduce.{function}.{kind.value}", more - less, at=SLICE * kind.bytes)


# --------------------------------------------------------------------------------------- reductions


def reductions(kind: Kind) -> Iterator[tuple[str, int, int, ProbeSample]]:
    """Yields reductions as (table, length of a run, number of runs, phase).

    Rows are all the same memory; columns are in the second-level cache.
    """
    for function in _REDUCED[kind]:
        name = f"{function}.{kind.value}"
        for length in _LENGTHS:
            runs = max(1, _ROW_POINTS // max(length, 64))
            if length >= _FEW_ROWS:
                yield f"row.{name}", length, runs, _reduced(function, (runs, length), ProbeOperand(kind, (length,), (1,)))
                continue
            groups = runs // _SIDE  # few adjacent rows, not evenly spaced: reduced one by one
            operands = ProbeOperand(kind, (groups, length), (0, 2)), ProbeOperand(kind, (_SIDE, length), (1, 2))
            yield f"row.{name}", length, groups * _SIDE, _reduced(function, (groups, _SIDE, length), *operands)
        for length in _LENGTHS[:-2]:
            runs = _COLUMN_POINTS // length
            yield f"column.{name}", length, runs, _reduced(function, (length, runs), ProbeOperand(kind, (runs, length), (1, 0)))


def _reduced(function: str, space: Sequence[int], *operands: ProbeOperand) -> ProbeSample:
    kind = operands[0].kind
    nodes: list[Node] = [ReadNode(index, kind) for index in range(len(operands))]
    if len(operands) > 1:
        nodes.append(ApplyNode("and" if kind is Kind.BOOL else "max", (0, 1), kind))
    if function == "add" and kind is Kind.BOOL:  # counted
        kind = Kind.I64
        nodes.append(ApplyNode("convert", (len(nodes) - 1,), kind))
    return ProbeSample(space, operands, nodes, kind, function)


def _summed(rows: int, length: int) -> ProbeSample:
    operands = [ProbeOperand(Kind.F64, (rows, length)), ProbeOperand(Kind.F64, (length,), (1,))]
    return ProbeSample((rows, length), operands, _chain(Kind.F64), Kind.F64)


def _piled(rows: int, length: int) -> ProbeSample:
    """As `_summed`, across rows."""
    operand = ProbeOperand(Kind.F64, (rows, _HIGH, length), (0, 2, 1))
    return ProbeSample((rows, length, _HIGH), [operand], [ReadNode(0, Kind.F64)], Kind.F64, "add")


def _entered(name: str, make: Callable[[int, int], ProbeSample], lengths: Iterable[int], points: int) -> Iterator[ProbeRow]:
    """Yields rows for the overhead of entering the innermost loop, by its length."""
    all_at_once = timed(make(4, points // 4))
    for length in lengths:
        runs = points // length
        yield ProbeRow(name, (timed(make(runs, length)) - all_at_once) * (RUNS / runs), curve=MeasuredCurve.FALLING, at=length)


def kernel_rows() -> Iterator[ProbeRow]:
    """Yields the rows of kernels, if there are any, and of NumPy calls."""
    if has_kernels():
        launch = timed(ProbeSample((LENGTH,), [ProbeOperand(Kind.F64, (LENGTH,))] * 2, _chain(Kind.F64), Kind.F64))
        for kind in KINDS:
            yield from in_kernels(kind)
        for kind in _REDUCED:
            for name, length, runs, sample in reductions(kind):
                yield ProbeRow(name, (timed(sample) - launch) * (RUNS / runs), curve=MeasuredCurve.RISING, at=length)
        yield from _entered("line.f64", _summed, _VECTOR_LENGTHS, _LINE_POINTS)
        yield from _entered("line.column.f64", _piled, _PILES, _LINE_POINTS // _HIGH)
    for kind in CALLED:
        yield from by_calls(kind)
