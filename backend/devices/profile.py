"""Profiles: the devices and links of a real or hypothetical machine as data, with the cost tables of operations.

A `Profile` is the content of a `device-profile/1` file (`profile_toml`), the description of this machine (`this_machine`), and
the result of a calibration.  `phase_cost` derives the ticks of phases from it.

Note [Classes].  A problem looks up ticks by the class of a device.  Where two devices of one class have different tables
(two unequal GPUs) each gets the class `gpu/gpu0`: the part before the slash is the name that `place z on gpu` uses.

Note [Stores].  A store is a device that does not compute: it contains files, and its links say how fast each device reads them.
Links without a group may be used by several readers at a time without slowing each other down.

Note [Fingerprint].  The sha256 of the canonical text without the date: two profiles with one fingerprint give the same plans.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import isqrt
from typing import Final, NewType, cast

from ...lang.primitives.table import nearest
from ...lang.support.records import dataclass, field, replace
from ...typechecker.elements import FUNCTIONS, Kind, is_sequential
from ..graph.registry import LIBRARY
from ..scalar.function_table import class_of
from .cost_functions import Duplex, Interval, largest, smallest

# ---------------------------------------------------------------------------------------------------- tables
#
# Tables of times measured at a few sizes, with log-log interpolation between them, in integers.
#
# Note [Log-log].  Between two points (a, s) and (b, t) the curve is a straight line in log-log coordinates.  It is evaluated by
# bisection: the geometric means √ab and √st are a point of it, and after six halvings (which cut a decade into parts of 3.7 %) a
# straight line joins the neighbours.  Square roots are exact integer roots of numbers shifted left by 32 bits, so every machine
# computes the same value, and the curve is monotone between two points.
#
# Note [Beyond the ends].  Below the first point its time holds (the overhead of a call); above the last point, time is in
# proportion to size.  No bytes, or no operations, take no time.
#
# Results are in grains of 2⁻¹⁶ ns, so that sums of many parts are rounded up to ticks once, at the end.

Grains = NewType("Grains", int)
"""Time in units of 2⁻¹⁶ ns."""

GRAIN: Final = 1 << 16
"""Grains in a nanosecond."""
_SHIFT: Final = 32
_HALVINGS: Final = 6


@dataclass(frozen=True, slots=True)
class CostTable:
    """`ns[i]` is the time at `size[i]`.  Sizes ascend, and there is at least one.  Times may fall where a device starts to use
    more of its resources (a second thread); otherwise a larger size never costs less."""

    size: tuple[int, ...]
    ns: tuple[int, ...]

    @staticmethod
    def of_rate(per_second: int) -> CostTable:
        """A table of times in proportion to size, from about a nanosecond on; `per_second`: the rate."""
        rate = Fraction(per_second, 10**9)
        rate = rate.limit_denominator(1000) or rate
        return CostTable((rate.numerator,), (rate.denominator,))

    def at(self, size: int) -> Grains:
        """The grains for a size (for an `Interval` of sizes, an interval).  See Notes [Log-log] and [Beyond the ends]."""
        if isinstance(size, Interval):
            return cast(Grains, size.looked_up(self))
        if size <= 0:
            return Grains(0)
        sizes, times = self.size, self.ns
        if size <= sizes[0]:
            return Grains(times[0] * GRAIN)
        if size >= sizes[-1]:
            return Grains(times[-1] * GRAIN * size // sizes[-1])
        upper = bisect_left(sizes, size)
        if sizes[upper] == size:
            return Grains(times[upper] * GRAIN)
        return Grains(_between(sizes[upper - 1], times[upper - 1], sizes[upper], times[upper], size))

    def between(self, low: int, high: int) -> tuple[int, int]:
        """The least and greatest grains for sizes from `low` to `high`; the curve is monotone between two points."""
        inside = self.ns[bisect_right(self.size, low) : bisect_left(self.size, high)]
        times = [self.at(low), self.at(high), *(ns * GRAIN for ns in inside)]
        return min(times), max(times)

    def rate(self, size: int, where: int | None = None) -> Grains:
        """The grains for `size` at the rate that holds at `where` (by default at `size`), in proportion below the first point
        too."""
        measured = smallest(largest(size if where is None else where, self.size[0]), self.size[-1])
        return Grains(self.at(measured) * size // measured)


def _between(low: int, first: int, high: int, last: int, size: int) -> int:
    """Grains at `size`, which lies strictly between two points."""
    sizes, times = _means(low, first, high, last)
    x = size << _SHIFT
    upper = bisect_left(sizes, x)
    a, s, b, t = sizes[upper - 1], times[upper - 1], sizes[upper], times[upper]
    grains = (s << 16) * (b - a) + ((t - s) << 16) * (x - a)
    return grains // ((b - a) << _SHIFT)


@lru_cache(maxsize=4096)
def _means(low: int, first: int, high: int, last: int) -> tuple[list[int], list[int]]:
    """The points of the curve after all halvings.  See Note [Log-log]."""
    sizes, times = [low << _SHIFT, high << _SHIFT], [first << _SHIFT, last << _SHIFT]
    for _ in range(_HALVINGS):
        sizes, times = _halved(sizes), _halved(times)
    return sizes, times


def _halved(points: list[int]) -> list[int]:
    means = [isqrt(a * b) for a, b in pairwise(points)]
    return [point for pair in zip(points, means, strict=False) for point in pair] + points[-1:]


# ---------------------------------------------------------------------------------------------------- profile

SCHEMA: Final = "device-profile/1"
CPU: Final = "cpu"
"""The back end of processors; those of GPUs are in `codegen.gpu_targets`."""
STORE: Final = "store"
"""The class and the back end of stores."""


class CalibrationSource(Enum):
    """The source of power figures: declared, or an energy counter."""

    DECLARED = "declared"
    RAPL = "rapl"
    NVML = "nvml"


@dataclass(frozen=True, slots=True)
class Power:
    idle_mw: int
    active_mw: int
    source: CalibrationSource = CalibrationSource.DECLARED


@dataclass(frozen=True, slots=True)
class Roofline:
    """The roofline that stands in for missing tables: peak operations and bytes per second."""

    flops: int
    bandwidth: int


@dataclass(frozen=True, slots=True)
class DeviceProfile:
    """`count` equal devices, each with `memory_bytes` (None: no limit), of which plans may not use the share `memory_reserve`.

    Times in ns: `launch_ns` a kernel, `host_dispatch_ns` the first execution of a step (finding or making its kernel), `sync_ns`
    a wait for another queue, `alloc_ns` an allocation.  `ops`: tables by operation name (see keys).  `reserved`: fields that
    later versions may define, kept unread.  `paths`: the files and folders of a store.  `lacks`: extensions of OpenCL that a
    device does not have."""

    name: str
    kind: str
    backend: str = CPU
    node: str = "n0"
    count: int = 1
    threads: int = 1
    memory_bytes: int | None = None
    memory_reserve: Fraction = Fraction(0)
    home: bool = False
    launch_ns: int = 0
    sync_ns: int = 0
    host_dispatch_ns: int = 0
    alloc_ns: int = 0
    power: Power | None = None
    roofline: Roofline | None = None
    ops: Mapping[str, CostTable] = field(default_factory=dict)
    reserved: Mapping[str, object] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()

    @property
    def memory(self) -> int | None:
        """Bytes that plans may use on each instance; None without a limit."""
        return None if self.memory_bytes is None else int(self.memory_bytes * (1 - self.memory_reserve))

    def slower(self, factor: Fraction) -> DeviceProfile:
        """The device with all times multiplied by `factor`."""
        if factor == 1:
            return self

        def times(table: CostTable) -> CostTable:
            return CostTable(table.size, tuple(max(1, round(ns * factor)) for ns in table.ns))

        roof = self.roofline
        roof = roof and Roofline(max(1, int(roof.flops / factor)), max(1, int(roof.bandwidth / factor)))
        launch, dispatch, allocation = (round(ns * factor) for ns in (self.launch_ns, self.host_dispatch_ns, self.alloc_ns))
        return replace(
            self, ops={name: times(table) for name, table in self.ops.items()}, roofline=roof, launch_ns=launch,
            host_dispatch_ns=dispatch, alloc_ns=allocation,
        )  # fmt: skip

    def same_times(self, other: DeviceProfile) -> bool:
        """Does every phase take equally long on both devices?"""
        times = (self.backend, self.launch_ns, self.host_dispatch_ns, self.alloc_ns, self.roofline, self.ops)
        return times == (other.backend, other.launch_ns, other.host_dispatch_ns, other.alloc_ns, other.roofline, other.ops)


@dataclass(frozen=True, slots=True)
class LinkProfile:
    """A link between devices (or groups of them), by name.  `table`: bytes to ns, latency included; None: unlimited rate."""

    source: str
    target: str
    latency_ns: int = 0
    table: CostTable | None = None
    duplex: Duplex = Duplex.HALF
    group: str | None = None
    energy_pj_per_byte: Fraction = Fraction(0)

    @property
    def bytes_per_ns(self) -> Fraction | None:
        """The rate of the largest transfer in the table, as a simple fraction."""
        if self.table is None:
            return None
        rate = Fraction(self.table.size[-1], max(1, self.table.ns[-1] - self.latency_ns))
        return rate.limit_denominator(10_000) or rate


@dataclass(frozen=True, slots=True)
class Calibration:
    """The origin of a profile's figures.  `calibrated`: the date; None: they are declared.  Residuals are shares: with 0.1 and
    0.19, nine in ten measured times were at least 0.9 times, and nine in ten at most 1.19 times the tables' figures.  `unusable`:
    the reason why a stored calibration of this machine is not used."""

    calibrated: date | None = None
    residual_p10: Fraction = Fraction(1, 2)
    residual_p90: Fraction = Fraction(1, 2)
    facts: Mapping[str, str | int] = field(default_factory=dict)
    unusable: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Profile:
    """Devices and links.  Invariants (`profile_toml` checks them): names differ, exactly one device has `home` (its first
    instance is home), links join devices that exist, stores come last and have a link to home."""

    devices: tuple[DeviceProfile, ...]
    links: tuple[LinkProfile, ...] = ()
    power_off_unused: bool = False
    calibration: Calibration = Calibration()

    @property
    def home(self) -> DeviceProfile:
        return next(device for device in self.devices if device.home)

    def device(self, name: str) -> DeviceProfile | None:
        """The device of a group, by its name or that of an instance such as `node[3]`."""
        stem = name.partition("[")[0]
        return next((device for device in self.devices if device.name in (name, stem)), None)

    def restricted(self, devices: Sequence[DeviceProfile]) -> Profile:
        """The profile with only these devices, each once, and the links between them."""
        distinct = tuple({device.name: device for device in reversed(devices)}.values())[::-1]
        names = {device.name for device in distinct}

        def is_there(end: str) -> bool:
            stem, _, rest = end.partition("[")
            device = next((one for one in distinct if one.name in (end, stem)), None)
            return device is not None and (not rest or end in names or int(rest.rstrip("]")) < device.count)

        links = tuple(link for link in self.links if is_there(link.source) and is_there(link.target))
        return replace(self, devices=distinct, links=links)

    @property
    def has_stores(self) -> bool:
        return any(device.backend == STORE for device in self.devices)

    def store_of(self, path: str) -> str | None:
        """The store that contains a file, by the file's real path: the store that names the file, or its nearest enclosing
        folder."""
        matches = [
            (len(prefix), device.name) for device in self.devices for prefix in device.paths
            if path == prefix or path.startswith(prefix.rstrip("/") + "/")
        ]  # fmt: skip
        return max(matches)[1] if matches else None

    def class_of(self, device: DeviceProfile) -> str:
        """The class of a device.  See Note [Classes]; each store is a class of its own."""
        if device.backend == STORE:
            return f"{device.kind}/{device.name}"
        alike = [other for other in self.devices if other.kind == device.kind]
        return device.kind if all(device.same_times(other) for other in alike) else f"{device.kind}/{device.name}"


# ---------------------------------------------------------------------------------------------------- keys
#
# Names of the operation tables of a device, and the tables that stand in for missing ones.
#
# A name is an operation, variants of it, and the element type it computes in, joined by dots: `add.f64`, `reduce.add.row.f64`,
# `convert.i64.f64` (from i64 to f64), `gemm.tall.f32`, `scan.add.i64`.
#
# Note [Tables].  `size` of a table is bytes touched (operands once, results once), but for `gemm` and the linear algebra: there
# it is the operations that `graph.registry` counts.  A measured profile has parts of structured phases instead of whole ones:
#   * `step`: running one at all, by the bytes that the program touches; `first`: what its first execution takes more
#     (`first.library` of a library phase, `first.made` where sizes are known only then); `call`: one operand, or NumPy call,
# more;
#   * `read`, `write`: moving bytes past one thread, by all bytes that go round; `fresh`: what memory takes that was not there;
#     `strided`: reading an operand across the order of the others; `pad`: a read that may leave its operand, or needs a copy;
#   * `point.add.f64`: one more application in a kernel; `point.residue.constant.i64`: with a constant divisor; `ufunc.add.f64`:
# one
#     more NumPy call, both by bytes touched;
#   * `row.add.f64`, `column.add.f64`: reducing 1024 runs of so many numbers, along and across; `line`: entering an innermost loop
#     of that length 1024 times; `line.column`: the same where it reduces across;
#   * `turn`: an application in a loop that waits for the one before, `turn.exp` a transcendental one;
#   * `team`: what all threads take for so many nanoseconds of one, where helpers are woken, `team.reduced` of reductions whose
#     partial results are joined, `team.long` of long loops, `team.rows` of chains along rows that make a number of each,
#     `team.handed` where one thread has made an operand; `cut`, `cut.reduced`: what pieces take more where helpers sleep on;
#   * `message`: processor time of sending or receiving so many bytes, in which a worker computes nothing (LogP's overhead).
#
# Layouts of a reduction: `full` (no cells left), `row` (what is reduced lies side by side, rows of 1024), `short` (rows of 8),
# `col` (cells lie side by side, 1024 of them), `narrow` (8 of them).

CLASSES: Final = ("add", "multiply", "divide", "compare", "logic", "select", "cast", "transcendental", "copy")
STREAMS: Final = ("read", "write", "strided", "pad")
LAYOUTS: Final = ("full", "row", "short", "col", "narrow")
MATRICES: Final = ("gemm", "gemv", "dot")
BY_WORK: Final = frozenset({"gemm", "factor"}) | {name for name, op in LIBRARY.items() if {"solve", "factor"} & {*op.stems}}
"""Operations whose tables are by operations, not bytes."""
SHAPES: Final = ("square", "tall", "wide")
LIBRARY_CLASSES: Final = ("scan", "gather", "sort", "search", "compact", "scatter", "solve", "factor", "transform", "random",
                          "format", "sequential", "fill")  # fmt: skip
PARTS: Final = ("step", "first", "call", "fresh", "team", "point", "ufunc", "row", "column", "line", "turn", "cut", "disk",
                "scratch", "transfer", "message")  # fmt: skip
MESSAGE: Final = "message.u8"
_KINDS: Final = {kind.value: kind for kind in Kind}
_HEADS: Final = frozenset({
    *FUNCTIONS, *CLASSES, *STREAMS, *MATRICES, *LIBRARY_CLASSES, *LIBRARY, "reduce", *PARTS,
    *(f"circular_{k}" for k in range(13)), *(f"circular_m{k}" for k in range(1, 13)),
})  # fmt: skip
_VARIANTS: Final = frozenset({
    *FUNCTIONS, *CLASSES, *LAYOUTS, *SHAPES, *_KINDS, *_HEADS, "rows", "sorts", "constant", "moved", "thin", "square",
    "half_power", "reduced", "library", "made", "own", "plane", "ends", "long", "handed", "few", "binary",
}) - {"point", "ufunc"}  # fmt: skip

_NEAR: Final[dict[Kind, tuple[Kind, ...]]] = {
    Kind.BOOL: (Kind.U8, Kind.I32, Kind.I64, Kind.F64),
    Kind.U8: (Kind.BOOL, Kind.I32, Kind.I64, Kind.F64),
    Kind.I32: (Kind.I64, Kind.F32, Kind.F64),
    Kind.I64: (Kind.I32, Kind.F64, Kind.F32),
    Kind.F32: (Kind.F64, Kind.I32, Kind.I64),
    Kind.F64: (Kind.F32, Kind.I64, Kind.I32),
    Kind.C64: (Kind.C128, Kind.F32, Kind.F64),
    Kind.C128: (Kind.C64, Kind.F64, Kind.F32),
    Kind.CHAR: (Kind.I32, Kind.I64, Kind.F32, Kind.F64),
}
"""Element types whose times by bytes are closest, nearest first."""


def is_key(name: str) -> bool:
    """Is it a valid name of an operation?"""
    head, *rest = name.split(".")
    return bool(rest) and rest[-1] in _KINDS and head in _HEADS and all(part in _VARIANTS for part in rest[:-1])


def nearest_key(name: str) -> str | None:
    """The most similar name of the same element type, for a misspelt one."""
    stem, dot, kind = name.rpartition(".")
    if not dot or kind not in _KINDS:
        return None
    guess = nearest(stem, sorted(_HEADS))
    return None if guess is None or guess == stem else f"{guess}.{kind}"


def function_key(function: str, parameter: int = 0) -> str:
    """The operation name of a scalar function; each function of `circular` has its own."""
    if function != "circular":
        return function
    return f"circular_{parameter}" if parameter >= 0 else f"circular_m{-parameter}"


def kinds_near(kind: Kind) -> tuple[Kind, ...]:
    """The kind itself, then the kinds whose tables may stand in for its own, nearest first."""
    return kind, *_NEAR[kind]


def scalar_stems(function: str, source: Kind, parameter: int = 0) -> tuple[str, ...]:
    """The operation names of an application, most specific first."""
    group = class_of(function)
    if group == "cast":
        return f"convert.{source.value}", "convert", "cast", "copy", "add"
    stems = [function_key(function, parameter), function, group]
    if group != "transcendental":
        stems.append("add")
    return tuple(dict.fromkeys(stems))


CONSTANTS: Final = {"residue": 0, "ipow": 1}
"""Functions that are faster with a constant operand, and the index of that operand."""


def reduce_stems(function: str, layout: str) -> Iterator[str]:
    """The operation names of a reduction, most specific first."""
    if is_sequential(function):
        yield from (f"reduce.{function}", "sequential")
    wider = {"short": "row", "narrow": "col"}
    layouts = [layout, *([wider[layout]] if layout in wider else []), "full"]
    yield from (f"reduce.{function}.{one}" for one in layouts)
    yield from (f"reduce.add.{one}" for one in layouts)
    yield from (f"reduce.{one}" for one in layouts)
    yield from (f"reduce.{function}", "reduce")
