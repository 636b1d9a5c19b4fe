"""What a shard costs, read from the TOML of a device profile at the shard's own size.

A second opinion: nothing of `backend.schedule` is imported.  What is written here is docs/devices.md (Tables,
Estimates) for declared devices, over the phases of a bound graph.  Times are in grains of 2⁻¹⁶ ns and rounded up to ticks once.

`Prices.shard` gives None for what it has no rule for (loops, maps, some library phases): a judge then leaves those ticks alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import isqrt, prod
from typing import Any

from rho.backend.graph.phases import (
    Affine,
    ApplyNode,
    AxisKind,
    AxisNode,
    Constant,
    ConstantNode,
    Graph,
    Input,
    LibraryPhase,
    Output,
    Phase,
    Print,
    Read,
    ReadNode,
    Reshaped,
    Structured,
)

GRAIN = 1 << 16
BLOCK = 4096
"""Elements of a block of the order of sums."""
Box = tuple[tuple[int, int], ...]

NEAR = {
    "bool": ("u8", "i32", "i64", "f64"), "u8": ("bool", "i32", "i64", "f64"), "i32": ("i64", "f32", "f64"),
    "i64": ("i32", "f64", "f32"), "f32": ("f64", "i32", "i64"), "f64": ("f32", "i64", "i32"),
    "c64": ("c128", "f32", "f64"), "c128": ("c64", "f64", "f32"), "char": ("i32", "i64", "f32", "f64"),
}  # fmt: skip
WIDTHS = {"bool": 1, "u8": 1, "i32": 4, "i64": 8, "f32": 4, "f64": 8, "c64": 8, "c128": 16, "char": 4}
CLASSES = {
    **dict.fromkeys(
        ("exp", "ln", "sqrt", "factorial", "circular", "erf", "erfc", "lgamma", "digamma", "expm1", "log1p", "pow", "log", "root",
         "binomial", "atan2"), "transcendental"),
    "convert": "cast", "convert_checked": "cast", "select": "select", "mul": "multiply", "div": "divide", "reciprocal": "divide",
    "residue": "divide", "gcd": "divide", "lcm": "divide", "ipow": "multiply",
    **dict.fromkeys(("lt", "le", "eq", "ge", "gt", "ne"), "compare"),
    **dict.fromkeys(("and", "or", "nand", "nor", "not"), "logic"),
}  # fmt: skip


class NoTable(Exception):
    """The device has no table for this."""


# ------------------------------------------------------------------------------------------ tables


@lru_cache(maxsize=100_000)
def looked_up(sizes: tuple[int, ...], times: tuple[int, ...], size: int) -> int:
    """Log-log: between two points their geometric means are on the curve; six halvings, then a straight line."""
    if size <= 0:
        return 0
    if size <= sizes[0]:
        return times[0] * GRAIN
    if size >= sizes[-1]:
        return times[-1] * GRAIN * size // sizes[-1]
    right = next(i for i, point in enumerate(sizes) if size <= point)
    if sizes[right] == size:
        return times[right] * GRAIN
    low, high = sizes[right - 1] << 32, sizes[right] << 32
    first, last = times[right - 1] << 32, times[right] << 32
    for _ in range(6):
        half, mean = isqrt(low * high), isqrt(first * last)
        if size << 32 > half:
            low, first = half, mean
        else:
            high, last = half, mean
    above = (size << 32) - low
    return (first * GRAIN * (high - low) + (last - first) * GRAIN * above) // ((high - low) << 32)


class Device:
    """One group of a profile file."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.name: str = fields["name"]
        self.count: int = fields.get("count", 1)
        self.launch: int = fields.get("launch_ns", 0)
        self.dispatch: int = fields.get("host_dispatch_ns", 0)
        self.sync: int = fields.get("sync_ns", 0)
        self.memory: int | None = fields.get("memory_bytes")
        if self.memory is not None:
            self.memory = int(self.memory * (1 - fields.get("memory_reserve", 0)))
        power = fields.get("power", {})
        self.idle_mw, self.active_mw = round(power.get("idle_w", 0) * 1000), round(power.get("active_w", 0) * 1000)
        self.tables = {name: (tuple(t["size"]), tuple(t["ns"])) for name, t in fields.get("op", {}).items()}

    def at(self, stems: Sequence[str], kind: str, size: int) -> int:
        """The first table that exists, names before wider names, of each the element types nearest first."""
        for stem in stems:
            for near in (kind, *NEAR[kind]):
                if f"{stem}.{near}" in self.tables:
                    return looked_up(*self.tables[f"{stem}.{near}"], size)
        raise NoTable(f"{stems[0]}.{kind}")

    def has(self, stems: Sequence[str], kind: str) -> bool:
        return any(f"{stem}.{near}" in self.tables for stem in stems for near in (kind, *NEAR[kind]))


# ------------------------------------------------------------------------------------------ phases


class Prices:
    """Ticks of shards of a bound graph's phases on the devices of a profile."""

    def __init__(self, graph: Graph, profile: Mapping[str, Any], tick_ns: int) -> None:
        self.types, self.tick_ns = graph.types, tick_ns
        self.devices = {fields["name"]: Device(fields) for fields in profile["device"]}
        said = [fields["name"] for fields in profile["device"] if fields.get("home")]
        cpus = [fields["name"] for fields in profile["device"] if fields.get("backend") == "cpu"]
        self.home = self.devices[(said or cpus)[0]]

    def device(self, name: str) -> Device:
        return self.devices[name.partition("[")[0]]

    def ticks(self, grains: int) -> int:
        return -(-grains // (GRAIN * self.tick_ns))

    def shard(self, phase: Phase, name: str, box: Box | None) -> int | None:
        """Ticks of a box of a phase (None: the whole) on a device; None where there is no rule for it."""
        device = self.device(name)
        if isinstance(phase, Input | Constant):
            return 0
        if isinstance(phase, Print | Output):
            work: int | None = 0
        elif isinstance(phase, Structured):
            extents = [n(axis.size) for axis in phase.axes] if box is None else [stop - start for start, stop in box]
            self.whole_blocks(phase, extents)
            work = self.structured(phase, device, extents)
        elif isinstance(phase, LibraryPhase):
            work = self.library(phase, device, box)
        else:
            work = None
        return None if work is None else self.ticks(work + self.step(device))

    def whole_blocks(self, phase: Structured, extents: list[int]) -> None:
        """Sums with rounding are cut at blocks, of which the last counts as a whole one (docs/devices.md, Estimates)."""
        ordered = any(
            r.reduction in ("add", "mul") and self.kind(r.value) in ("f32", "f64", "c64", "c128") for r in phase.results
        )
        for at, axis in enumerate(phase.axes):
            if ordered and axis.kind is AxisKind.REDUCE and extents[at] < n(axis.size):
                extents[at] = min(n(axis.size), -(-extents[at] // BLOCK) * BLOCK)

    def step(self, device: Device) -> int:
        """A launch, and the first execution's dispatch."""
        return (device.launch + device.dispatch) * GRAIN

    def combine(self, partial_bytes: int) -> int:
        """Ticks to merge one partial result at home."""
        home, work = self.home, 0
        if home.has(["copy", "add"], "f64"):
            work = home.at(["copy", "add"], "f64", 3 * partial_bytes)
        return self.ticks((home.launch + home.dispatch) * GRAIN + work)

    def sync(self, name: str) -> int:
        return -(-self.device(name).sync // self.tick_ns)

    # ------------------------------------------------------------------ structured

    def structured(self, phase: Structured, device: Device, extents: list[int]) -> int:
        if 0 in extents:
            return 0
        work = _Work(self, phase, device, extents)
        if not work.reduces and all(isinstance(phase.body[r.node], ReadNode) for r in phase.results):
            return work.padding()
        alone = work.one_application()
        return work.fused() + work.padding() if alone is None else alone

    def kind(self, value: Any) -> str:
        return self.types[value].element.kind.value

    def shape(self, value: Any) -> tuple[int, ...]:
        return tuple(map(n, self.types[value].shape))

    # ------------------------------------------------------------------ library

    def library(self, phase: LibraryPhase, device: Device, box: Box | None) -> int | None:
        args, results = [list(self.shape(a)) for a in phase.args], [list(self.shape(r)) for r in phase.results]
        if box is not None:
            whole = list(results[0])
            for axis, (start, stop) in enumerate(box):
                if stop - start == whole[axis]:
                    continue
                for entry in phase.signature:
                    if entry.result == axis and entry.combine is None:
                        for shape, own in zip(args, entry.operands, strict=True):
                            if own is not None:
                                shape[own] = stop - start
                for shape in results:
                    shape[axis] = stop - start
        frame = int(phase.attributes.get("frame", 0))  # type: ignore[call-overload]
        framed = phase.attributes.get("framed") or (False,) * len(args)
        cells = [shape[frame if own else 0 :] for shape, own in zip(args, framed, strict=True)]  # type: ignore[call-overload]
        points = prod(results[0][:frame])
        if 0 in (points, *(prod(shape[frame:]) for shape in results)):
            return 0
        if phase.op == "contract":
            return points * self.product(cells[0], cells[1], self.kind(phase.results[0]), device)
        stems = {
            "join": ("join", "copy"), "rotate": ("rotate", "join", "copy"), "reshape_cycle": ("reshape_cycle", "copy"),
            "stack": ("stack", "join", "copy"), "grade": ("grade", "sort"),
        }.get(phase.op)  # fmt: skip
        if stems is None:
            return None
        kind = self.kind(phase.args[0])
        sizes = [prod(shape) * WIDTHS[self.kind(a)] for shape, a in zip(args, phase.args, strict=True)]
        size, made = sum(sizes), [prod(shape) * WIDTHS[self.kind(r)] for shape, r in zip(results, phase.results, strict=True)]
        if phase.op == "reshape_cycle":
            size = min(size, prod(results[0]) * WIDTHS[kind])
        times = points if phase.op == "rotate" else 1
        each = device.at(stems, kind, -(-(size + sum(made)) // times))
        return times * each + (times - 1) * device.launch * GRAIN

    def product(self, left: list[int], right: list[int], kind: str, device: Device) -> int:
        shared = left[-1] if left else right[0] if right else 1
        rows, columns = prod(left[:-1]), prod(right[1:])
        touched = (rows * shared + shared * columns + rows * columns) * WIDTHS[kind]
        if rows == columns == 1:
            return device.at(("dot", "gemv", "gemm.square", "gemm"), kind, touched)
        if min(rows, columns) < 4 and device.has(["gemv"], kind):
            return device.at(["gemv"] if min(rows, columns) == 1 else ["gemm.thin", "gemv"], kind, touched)
        long = max(rows, columns) >= 8 * max(shared, min(rows, columns))
        shape = "square" if not long else "tall" if rows >= columns else "wide"
        return device.at((f"gemm.{shape}", "gemm.square", "gemm"), kind, 2 * rows * columns * shared)


def n(size: Any) -> int:
    """A bound size as a number."""
    value = size.constant
    assert value is not None, "sizes that only a run knows are not priced here"
    return int(value)


class _Work:
    """A structured phase over a space of so many points an axis."""

    def __init__(self, prices: Prices, phase: Structured, device: Device, extents: list[int]) -> None:
        self.prices, self.phase, self.device, self.extents = prices, phase, device, extents
        self.wide = {axis for axis, length in enumerate(extents) if length != 1}
        self.reduce = next((a for a, axis in enumerate(phase.axes) if axis.kind is AxisKind.REDUCE), None)
        self.reduces = self.reduce is not None
        self.points = prod(extents)
        self.reads = [self.varies(read) for read in phase.reads]
        self.nodes: list[set[int]] = []
        for node in phase.body:
            if isinstance(node, ReadNode):
                self.nodes.append(self.reads[node.index])
            elif isinstance(node, AxisNode):
                self.nodes.append(self.wide & {node.axis})
            elif isinstance(node, ApplyNode):
                self.nodes.append(set().union(*(self.nodes[a] for a in node.args)))
            else:
                self.nodes.append(set())
        self.inner, self.steps = self.side_by_side()

    def varies(self, read: Read) -> set[int]:
        stages = read.projection.stages
        if stages and isinstance(stages[0], Affine):
            return self.wide & {term.axis for index in stages[0].indices for term in index.terms}
        return set(self.wide)

    def along(self, axes: set[int]) -> int:
        return prod(self.extents[a] for a in axes)

    def side_by_side(self) -> tuple[int | None, list[list[int]]]:
        """The axis along which the largest operand is contiguous, and the strides of all."""
        steps = []
        for read in self.phase.reads:
            stages = read.projection.stages
            shape = list(self.prices.shape(read.value))
            if len(stages) > 1 or (stages and isinstance(stages[0], Reshaped)):
                shape = self.extents
            rows = [prod(shape[i + 1 :]) for i in range(len(shape))]
            if stages and len(stages) == 1 and isinstance(stages[0], Affine):
                own = [0] * len(self.extents)
                for index, row in zip(stages[0].indices, rows, strict=True):
                    for term in index.terms:
                        own[term.axis] += term.coefficient * row
                rows = [abs(step) for step in own]
            steps.append(rows)
        inner, most = None, 0
        for axes, rows in zip(self.reads, steps, strict=True):
            if axes and self.along(axes) > most:
                most = self.along(axes)
                inner = min(sorted(axes), key=lambda a, rows=rows: rows[a])  # type: ignore[misc]
        return inner, steps

    def padding(self) -> int:
        """Copies that a reshape of a view needs, and reads that may leave their operand."""
        total = 0
        for read, axes in zip(self.phase.reads, self.reads, strict=True):
            stages, kind = read.projection.stages, self.prices.kind(read.value)
            copied = sum(
                prod(map(n, stage.target)) for at, stage in enumerate(stages)
                if isinstance(stage, Reshaped) and any(isinstance(later, Affine) for later in stages[at + 1 :])
            )  # fmt: skip
            fills = any(isinstance(stage, Affine) and stage.fills for stage in stages)
            for size in ([copied] if copied else []) + ([self.along(axes)] if fills else []):
                total += self.device.at(("pad", "copy", "write", "add"), kind, size * WIDTHS[kind])
        return total

    # ------------------------------------------------------------------ applications

    def node_kind(self, place: int) -> str | None:
        node = self.phase.body[place]
        return node.kind.value if isinstance(node, ReadNode | ConstantNode | ApplyNode) else None

    def computes(self, node: ApplyNode) -> str:
        which = node.args[1 if node.function == "select" else 0] if node.args else None
        return (None if which is None else self.node_kind(which)) or "i64"

    def stems(self, node: ApplyNode) -> list[str]:
        group = CLASSES.get(node.function, "add")
        if group == "cast":
            return [f"convert.{self.computes(node)}", "convert", "cast", "copy", "add"]
        name = node.function
        if name == "circular":
            name = f"circular_{node.parameter}" if node.parameter >= 0 else f"circular_m{-node.parameter}"
        return [name, node.function, group, *(["add"] if group != "transcendental" else [])]

    def looked(self, node: ApplyNode, size: int) -> int:
        return self.device.at(self.stems(node), self.table_kind(node), size)

    def table_kind(self, node: ApplyNode) -> str:
        return node.kind.value if node.function.startswith("convert") else self.computes(node)

    def width(self, node: ApplyNode) -> int:
        return node.kind.bytes + sum(WIDTHS.get(self.node_kind(arg) or "", 8) for arg in node.args)

    def one_application(self) -> int | None:
        """A single application of full operands, or one reduction of an operand, is what a table is about."""
        phase = self.phase
        full = all(axes == self.wide for axes in self.reads)
        apart = len({read.value for read in phase.reads}) == len(phase.reads)
        plain = all(
            len(r.projection.stages) <= 1 and not any(isinstance(s, Affine) and s.fills for s in r.projection.stages)
            for r in phase.reads
        )
        if len(phase.results) != 1 or not (full and apart and plain):
            return None
        if self.inner is not None and any(rows[self.inner] > 1 for rows in self.steps):
            return None
        applied = [node for node in phase.body if isinstance(node, ApplyNode)]
        result, source = phase.results[0], phase.body[phase.results[0].node]
        if self.reduces:
            if len(phase.reads) == 1 and isinstance(source, ReadNode):
                return self.reduction(str(result.reduction), source.kind.value)
            if len(applied) == 1 and applied[0] is source and self.counts(applied[0]):
                return self.reduction(str(result.reduction), "bool")
            return None
        if len(applied) != 1 or not phase.reads or not all(isinstance(phase.body[a], ReadNode) for a in applied[0].args):
            return None
        return self.looked(applied[0], self.points * self.width(applied[0]))

    def counts(self, node: ApplyNode) -> bool:
        source = self.phase.body[node.args[0]] if node.args else None
        return node.function == "convert" and isinstance(source, ReadNode) and source.kind.value == "bool"

    def widens(self, place: int, node: ApplyNode) -> bool:
        """Truth values are counted as they are."""
        source = self.phase.body[node.args[0]] if node.args else None
        truth = isinstance(source, ReadNode | ApplyNode) and source.kind.value == "bool"
        return node.function == "convert" and truth and any(r.node == place and r.reduction == "add" for r in self.phase.results)

    def reduction(self, function: str, kind: str) -> int:
        assert self.reduce is not None
        size = self.points * WIDTHS[kind]

        def reduced(*layouts: str) -> int:
            return self.device.at(list(_reduced(function, layouts)), kind, size)

        if self.points == self.extents[self.reduce]:
            return reduced("full")
        across = self.inner is not None and self.inner != self.reduce
        run = self.extents[self.inner if across and self.inner is not None else self.reduce]
        long = reduced("col", "full") if across else reduced("row", "full")
        short = reduced("narrow", "col", "full") if across else reduced("short", "row", "full")
        if run >= 1024 or short <= long:
            return long
        return long + -(-(short - long) * 8 * (1024 - run) // (max(run, 1) * (1024 - 8)))

    def fused(self) -> int:
        """The slowest application on all bytes touched; of every other one what it takes more than an addition."""
        phase, prices = self.phase, self.prices
        touched: dict[Any, int] = {}
        for read, axes in zip(phase.reads, self.reads, strict=True):
            size = min(prod(prices.shape(read.value)), self.along(axes)) * WIDTHS[prices.kind(read.value)]
            touched[read.value] = max(touched.get(read.value, 0), size)
        cells = prod(length for a, length in enumerate(self.extents) if a != self.reduce)
        kinds = [prices.kind(r.value) for r in phase.results]
        everything = sum(touched.values()) + sum(cells * WIDTHS[kind] for kind in kinds)
        moved = self.device.at(("copy", "add"), kinds[0], everything)
        slowest, more = moved, 0
        for place, node in enumerate(phase.body):
            if not isinstance(node, ApplyNode) or self.widens(place, node):
                continue
            own = self.along(self.nodes[place]) * self.width(node)
            slowest = max(slowest, self.looked(node, min(everything, own)))
            more += max(0, self.looked(node, own) - self.device.at(("add",), self.table_kind(node), own))
        for result, kind in zip(phase.results, kinds, strict=True):
            if result.reduction is not None:
                slowest = max(slowest, self.reduction(result.reduction, kind))
        return max(slowest, more + moved)


def _reduced(function: str, layouts: Sequence[str]) -> Iterator[str]:
    for head in (f"reduce.{function}", "reduce.add", "reduce"):
        yield from (f"{head}.{layout}" for layout in layouts)
    yield from (f"reduce.{function}", "reduce", "copy", "add")
