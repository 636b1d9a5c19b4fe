"""What a shard costs, read from the TOML of a device profile at the shard's own size.

A second opinion: nothing of `backend.schedule` is imported.  What is written here is docs/devices.md (Tables,
Estimates) for declared devices, over the phases of a bound graph.  Times are in grains of 2⁻¹⁶ ns and rounded up to ticks once.

`Prices.shard` gives None for what it has no rule for (loops, maps, some library phases): a judge then leaves those ticks alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod
from typing import Any

from rho.backend.graph.phases import AxisKind, Constant, Graph, Input, LibraryPhase, Output, Phase, Print, ReadNode, Structured

from .price_structured import Values, Work, n
from .price_tables import GRAIN, WIDTHS, Device

BLOCK = 4096
"""Elements of a block of the order of sums."""
Box = tuple[tuple[int, int], ...]


class Prices(Values):
    """Ticks of shards of a bound graph's phases on the devices of a profile."""

    def __init__(self, graph: Graph, profile: Mapping[str, Any], tick_ns: int) -> None:
        super().__init__(graph.types)
        self.tick_ns = tick_ns
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

    def packing(self, size: int) -> Fraction:
        """Ticks to copy one byte of rows that lie apart, of a value of so many bytes."""
        known = [stems for stems in (["strided", "copy", "add"], ["fresh"]) if self.home.has(stems, "f64")]
        work = sum(self.home.rate(stems, "f64", size) for stems in known)
        return Fraction(work, size * GRAIN * self.tick_ns)

    def sync(self, name: str) -> int:
        return -(-self.device(name).sync // self.tick_ns)

    # ------------------------------------------------------------------ structured

    def structured(self, phase: Structured, device: Device, extents: list[int]) -> int:
        if 0 in extents:
            return 0
        work = Work(self, phase, device, extents)
        if not work.reduces and all(isinstance(phase.body[r.node], ReadNode) for r in phase.results):
            return work.padding()
        alone = work.one_application()
        return work.fused() + work.padding() if alone is None else alone

    # ------------------------------------------------------------------ library

    def summed(self, phase: Phase) -> list[tuple[int, tuple[int | None, ...]]]:
        """The axes that a reduction by key or a product of integers goes over, whose parts may be put together in any order:
        sizes, and which axis of each operand it is."""
        if not isinstance(phase, LibraryPhase) or not phase.results:
            return []
        if self.kind(phase.results[0]) in ("f32", "f64", "c64", "c128"):
            return []
        entries = [one for one in phase.signature if one.combine in ("add", "mul", "and", "or", "band", "bor", "bxor")]
        places = [next(at for at, axis in enumerate(one.operands) if axis is not None) for one in entries]
        return [
            (self.shape(phase.args[at])[one.operands[at] or 0], one.operands)
            for at, one in zip(places, entries, strict=True)
        ]

    def read_part(self, phase: LibraryPhase, at: int, axis: int, part: tuple[int, int]) -> tuple[int, int]:
        """The items of an operand's axis that are read for a part of the result's axis that goes with it.

        A total is one of 4,096 items, a row one of a run, also of what is selected in it; a scan goes on from what precedes
        the block in which it begins, of which it takes all."""
        start, stop = part
        each = self.items_of_row(phase)
        if each > 1:
            return start * each, min(stop * each, self.shape(phase.args[0])[axis])
        if phase.op == "scan" and len(phase.args) > 1:
            return (start // BLOCK, -(-stop // BLOCK)) if at else (start // BLOCK * BLOCK, stop)
        return part

    def items_of_row(self, phase: LibraryPhase) -> int:
        """How many items a row of a phase is made of."""
        if phase.op in ("select_runs", "sum_runs"):
            return int(phase.attributes["run"])  # type: ignore[call-overload]
        if phase.op in ("sort_runs", "grade_runs"):
            return self.shape(phase.results[0])[1]
        return BLOCK if phase.op == "scan_totals" else 1

    def library(self, phase: LibraryPhase, device: Device, box: Box | None) -> int | None:
        args, results = [list(self.shape(a)) for a in phase.args], [list(self.shape(r)) for r in phase.results]
        if box is not None:
            whole = list(results[0])
            for (start, stop), (_, axes) in zip(box[len(whole) :], self.summed(phase), strict=True):
                for shape, own in zip(args, axes, strict=True):
                    if own is not None:
                        shape[own] = stop - start
            for axis, (start, stop) in enumerate(box[: len(whole)]):
                if stop - start == whole[axis]:
                    continue
                for entry in phase.signature:
                    if entry.result == axis and entry.combine is None:
                        for at, (shape, own) in enumerate(zip(args, entry.operands, strict=True)):
                            if own is not None and not (phase.op == "scan" and at):
                                each = self.items_of_row(phase)  # the last counts as a whole one
                                shape[own] = min((stop - start) * each, shape[own])
                for shape in results:
                    shape[axis] = stop - start
        if phase.op == "runtime_size":
            return 0
        if phase.op == "merge_runs":  # a third of what a sort of as many bytes takes, of a grade two thirds
            items = len(args) * prod(results[0]) * sum(WIDTHS[self.kind(a)] for a in phase.args)
            return device.at(("sort", "gather.sorts", "grade"), self.kind(phase.args[-1]), 2 * items) // 3
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
            "stack": ("stack", "join", "copy"), "grade": ("grade", "sort"), "broadcast": ("broadcast", "join", "copy"),
            "sort_runs": ("sort_runs", "sort", "gather.sorts", "grade"), "grade_runs": ("grade", "sort"),
            "select_runs": ("select_runs", "compress", "compact"), "sum_runs": ("sum_runs", "compress", "compact"),
            "compress": ("compress", "compact"), "join_runs": ("join_runs", "join", "copy", "compress", "compact"),
            "join_sums": ("join_sums", "join", "copy", "compress", "compact"),
        }.get(phase.op)  # fmt: skip
        if phase.op.startswith("scan") and not frame:
            function = phase.attributes["function"]
            tail = "row" if phase.attributes["axis"] == len(args[0]) - 1 else "col"
            own = () if phase.op == "scan" else (phase.op,)
            stems = (*own, f"scan.{function}.{tail}", f"scan.add.{tail}", f"scan.{function}", "scan.add", "scan")
        if stems is None:
            return None
        kind = self.kind(phase.args[1 if phase.op in ("select_runs", "sum_runs", "compress") else 0])
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
