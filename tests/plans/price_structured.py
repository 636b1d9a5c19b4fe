"""What structured phases cost over a space of so many points an axis: the second half of `prices`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from rho.backend.graph.phases import Affine, ApplyNode, AxisKind, AxisNode, ConstantNode, Read, ReadNode, Reshaped, Structured

from .price_tables import WIDTHS, Device

CLASSES = {
    **dict.fromkeys(
        ("exp", "ln", "sqrt", "factorial", "circular", "erf", "erfc", "lgamma", "digamma", "expm1", "log1p", "pow", "log", "root",
         "binomial", "atan2"), "transcendental"),
    "convert": "cast", "convert_checked": "cast", "select": "select", "mul": "multiply", "div": "divide", "reciprocal": "divide",
    "residue": "divide", "gcd": "divide", "lcm": "divide", "ipow": "multiply",
    **dict.fromkeys(("lt", "le", "eq", "ge", "gt", "ne"), "compare"),
    **dict.fromkeys(("and", "or", "nand", "nor", "not"), "logic"),
}  # fmt: skip


def n(size: Any) -> int:
    """A bound size as a number; the most that one may be which only a run knows."""
    value = size.bounds()[1] if size.constant is None else size.constant
    assert value is not None, "sizes without a bound are not priced here"
    return int(value)


class Values:
    """Elements and sizes of a graph's values."""

    def __init__(self, types: Mapping[Any, Any]) -> None:
        self.types = types

    def kind(self, value: Any) -> str:
        return self.types[value].element.kind.value

    def shape(self, value: Any) -> tuple[int, ...]:
        return tuple(map(n, self.types[value].shape))


class Work:
    """A structured phase over a space of so many points an axis."""

    def __init__(self, values: Values, phase: Structured, device: Device, extents: list[int]) -> None:
        self.values, self.phase, self.device, self.extents = values, phase, device, extents
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
            shape = list(self.values.shape(read.value))
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
            stages, kind = read.projection.stages, self.values.kind(read.value)
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
        """The slowest application on all bytes touched, or a reduction of the widest operand with what is read beside; of every
        application what it takes more than an addition."""
        phase, values = self.phase, self.values
        touched: dict[Any, int] = {}
        for read, axes in zip(phase.reads, self.reads, strict=True):
            size = min(prod(values.shape(read.value)), self.along(axes)) * WIDTHS[values.kind(read.value)]
            touched[read.value] = max(touched.get(read.value, 0), size)
        cells = prod(length for a, length in enumerate(self.extents) if a != self.reduce)
        kinds = [values.kind(r.value) for r in phase.results]
        everything = sum(touched.values()) + sum(cells * WIDTHS[kind] for kind in kinds)
        moved = self.device.at(("copy", "add"), kinds[0], everything)
        slowest, more = moved, 0
        for place, node in enumerate(phase.body):
            if not isinstance(node, ApplyNode) or self.widens(place, node):
                continue
            own = self.along(self.nodes[place]) * self.width(node)
            slowest = max(slowest, self.looked(node, min(everything, own)))
            more += max(0, self.looked(node, own) - self.device.at(("add",), self.table_kind(node), own))
        base = moved
        for result, kind in zip(phase.results, kinds, strict=True):
            if result.reduction is not None:
                for read, axes in zip(phase.reads, self.reads, strict=True):
                    if axes == self.wide and WIDTHS[values.kind(read.value)] > WIDTHS[kind]:
                        kind = values.kind(read.value)
                beside = moved - self.device.at(("copy", "add"), kind, self.points * WIDTHS[kind])
                base = max(base, self.reduction(result.reduction, kind) + max(0, beside))
        return max(slowest, more + base)


def _reduced(function: str, layouts: Sequence[str]) -> Iterator[str]:
    for head in (f"reduce.{function}", "reduce.add", "reduce"):
        yield from (f"{head}.{layout}" for layout in layouts)
    yield from (f"reduce.{function}", "reduce", "copy", "add")
