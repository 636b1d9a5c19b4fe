"""A slow, obvious evaluator of phase graphs for tests: every phase by its definition, library ops by the reference's own code.

It is the other half of the claim that lowering and passes change nothing: `run_graph(lower(core))` = `interpret(core)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from rho.backend.graph import traverse
from rho.backend.graph.phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    AxisKind,
    AxisNode,
    Branch,
    Constant,
    ConstantNode,
    Fold,
    Graph,
    Input,
    LibraryPhase,
    Loop,
    Map,
    Output,
    Phase,
    PhaseResult,
    Print,
    Projection,
    ReadNode,
    SizeNode,
    Structured,
    SubGraph,
    ValueId,
    frame_of,
    framed_of,
)
from rho.backend.reference import reductions
from rho.backend.reference.arrays import assemble, at, build, cells, grade, inside, offset, positions, stack
from rho.backend.reference.interpreter import compute
from rho.backend.reference.scalars import evaluate
from rho.backend.vm.check_failures import CheckFailed
from rho.backend.vm.values import Array, array, fill_of
from rho.lang.diagnostics.model import Code
from rho.typechecker.core import operations as c
from rho.typechecker.elements import Kind
from rho.typechecker.sizes.polynomials import Size, SizeVariable


class Failed(Exception):
    """A run-time check failed: the diagnostic's code."""


def run_graph(graph: Graph, sizes: Mapping[SizeVariable, int], inputs: Mapping[str, Array]
              ) -> tuple[tuple[Array, ...], dict[str, Array]]:  # fmt: skip
    """What the graph prints, and its outputs."""
    machine = Machine(graph, dict(sizes), inputs)
    try:
        machine.run(graph.phases)
    except CheckFailed as failure:
        raise Failed(failure.code) from None
    return tuple(machine.printed), machine.outputs


class Machine:
    def __init__(self, graph: Graph, sizes: dict[SizeVariable, int], inputs: Mapping[str, Array]) -> None:
        self.graph, self.sizes, self.inputs = graph, sizes, inputs
        self.values: dict[ValueId, Array] = {}
        self.printed: list[Array] = []
        self.outputs: dict[str, Array] = {}

    def size(self, size: Size) -> int:
        return size.evaluate(self.sizes)

    def shape(self, value: ValueId) -> tuple[int, ...]:
        return tuple(self.size(s) for s in self.graph.types[value].shape)

    def kind(self, value: ValueId) -> Kind:
        return self.graph.types[value].element.kind

    def store(self, value: ValueId, data: Array) -> None:
        assert (data.kind, data.shape) == (self.kind(value), self.shape(value)), self.graph.types[value]
        self.values[value] = data

    def run(self, phases: tuple[Phase, ...]) -> None:
        for phase in phases:
            results = self.phase(phase)
            for value, data in zip(traverse.results(phase), results, strict=True):
                self.store(value, data)

    def call(self, body: SubGraph, args: list[Array]) -> list[Array]:
        for param, arg in zip(body.params, args, strict=True):
            self.store(param, arg)
        self.run(body.phases)
        return [self.values[r] for r in body.results]

    def phase(self, phase: Phase) -> list[Array]:
        match phase:
            case Input():
                return [self.inputs[phase.name]]
            case Constant():
                return [array(self.kind(phase.result), self.shape(phase.result), phase.data)]
            case Print():
                self.printed.append(self.values[phase.arg])
                return []
            case Output():
                self.outputs[phase.name] = self.values[phase.arg]
                return []
            case Structured():
                return self.structured(phase)
            case LibraryPhase():
                return self.library(phase)
            case Loop():
                return self.loop(phase)
            case Branch():
                taken = bool(self.values[phase.condition].item)
                made = self.call(phase.then if taken else phase.otherwise, [])
                for variable, then, otherwise in phase.defines:
                    self.sizes[variable] = self.size(then if taken else otherwise)
                return made
            case Map():
                return self.map(phase)
            case Fold():
                return self.fold(phase)

    # -- structured

    def structured(self, phase: Structured) -> list[Array]:
        space = [self.size(a.size) for a in phase.axes]
        parallel = [n for n, a in zip(space, phase.axes, strict=True) if a.kind is AxisKind.PARALLEL]
        reduced = space[len(parallel) :]
        made = []
        for result in phase.results:
            kind = self.kind(result.value)

            def item(p: tuple[int, ...], result: PhaseResult = result, kind: Kind = kind) -> object:
                if result.reduction is None:
                    return self.node(phase, p, result.node)
                line = build(kind, reduced, lambda r: self.node(phase, (*p, *r), result.node))  # type: ignore[arg-type,return-value]
                return reductions.reduce(result.reduction, line, 0).item

            made.append(build(kind, parallel, item))  # type: ignore[arg-type]
        return made

    def node(self, phase: Structured, point: tuple[int, ...], wanted: int) -> object:
        values: list[object] = []
        kinds: list[Kind] = []
        for node in phase.body[: wanted + 1]:
            match node:
                case ReadNode():
                    read = phase.reads[node.index]
                    source = self.values[read.value]
                    where = self.project(read.projection, point)
                    values.append(fill_of(source.kind) if where is None else at(source, where))
                    kinds.append(node.kind)
                case ConstantNode():
                    values.append(node.value)
                    kinds.append(node.kind)
                case SizeNode():
                    values.append(self.size(node.size))
                    kinds.append(Kind.I64)
                case AxisNode():
                    values.append(point[node.axis])
                    kinds.append(Kind.I64)
                case ApplyNode():
                    compute_kind = kinds[node.args[1 if node.function == "select" else 0]]
                    args = [values[a] for a in node.args]
                    values.append(evaluate(node.function, compute_kind, args, node.kind, node.parameter))  # type: ignore[arg-type]
                    kinds.append(node.kind)
        return values[wanted]

    def project(self, projection: Projection, point: tuple[int, ...]) -> tuple[int, ...] | None:
        current = point
        for stage in projection.stages:
            if isinstance(stage, Affine):
                current = tuple(self.index(i, current) for i in stage.indices)
                box = [self.size(s) for s in stage.shape]
                if not inside(current, box):
                    assert stage.fills, (stage, point)
                    return None
            else:
                source, target = ([self.size(s) for s in box] for box in (stage.source, stage.target))
                flat = offset(current, source)
                found = []
                for n in reversed(target):
                    found.append(flat % n)
                    flat //= n
                current = tuple(reversed(found))
        return current

    def index(self, index: AffineIndex, point: tuple[int, ...]) -> int:
        return self.size(index.constant) + sum(t.coefficient * point[t.axis] for t in index.terms)

    # -- library phases, a frame point at a time

    def library(self, phase: LibraryPhase) -> list[Array]:
        depth, flags = frame_of(phase), framed_of(phase)
        if phase.op == "runtime_size":
            self.sizes[phase.defines[0]] = int(self.values[phase.args[0]].item)  # type: ignore[arg-type]
            return []
        args = [self.values[a] for a in phase.args]
        if not depth:
            made = self.cell(phase, args, [self.graph.types[r].shape for r in phase.results])
            for variable in phase.defines:
                axis = phase.attributes["axis"] if phase.op == "compress" else -1 if phase.op == "format" else 0
                self.sizes[variable] = made[0].shape[axis]  # type: ignore[index]
            return made
        frame = self.shape(phase.results[0])[:depth]
        split = [cells(a, depth) if f else [a] * len(list(positions(frame))) for a, f in zip(args, flags, strict=True)]
        shapes = [self.graph.types[r].shape[depth:] for r in phase.results]
        points = [self.cell(phase, [s[i] for s in split], shapes) for i, _ in enumerate(positions(frame))]
        return [assemble(self.kind(r), frame, self.shape(r)[depth:], [p[j] for p in points]) for j, r in enumerate(phase.results)]

    def cell(self, phase: LibraryPhase, args: list[Array], shapes: list[tuple[Size, ...]]) -> list[Array]:
        if phase.op == "sort":  # a rewrite's, not the program's
            order = grade(args[0], bool(phase.attributes["descending"]))
            return [Array(args[0].kind, args[0].shape, tuple(args[0].data[int(place)] for place in order.data))]
        view = _View(self, args, [self.kind(r) for r in phase.results], shapes)
        return list(compute(core_op(phase, len(args)), view))

    # -- control

    def loop(self, phase: Loop) -> list[Array]:
        state = [self.values[v] for v in phase.initial]
        states = [state]
        for _ in range(self.size(phase.trip)):
            new = self.call(phase.body, state)
            stop = phase.until is not None and bool(self.call(phase.until, [*new, *state])[0].item)
            state = new
            states.append(state)
            if stop:
                break
        return [stack([s[j] for s in states], 0) for j in range(len(state))] if phase.keep else state

    def map(self, phase: Map) -> list[Array]:
        frame = [self.size(s) for s in phase.frame]
        parts: list[list[Array]] = [[] for _ in phase.results]
        split = [cells(self.values[a], n) for a, n in zip(phase.args, phase.frames, strict=True)]
        for p in positions(frame):
            own = [s[offset(p[:n], frame[:n])] for s, n in zip(split, phase.frames, strict=True)]
            for slot, made in zip(parts, self.call(phase.body, own), strict=True):
                slot.append(made)
        return [assemble(self.kind(r), frame, self.shape(r)[len(frame) :], p) for r, p in zip(phase.results, parts, strict=True)]

    def fold(self, phase: Fold) -> list[Array]:
        columns = [cells(self.values[a], 1) for a in phase.args]
        n = len(columns[0])
        if phase.scan:
            states: list[list[Array]] = []
            for i in range(n):
                items = [column[i] for column in columns]
                states.append(self.call(phase.body, [*states[-1], *items]) if states else items)
            return [assemble(self.kind(r), (n,), self.shape(r)[1:], [s[j] for s in states]) for j, r in enumerate(phase.results)]
        if not n:
            raise CheckFailed(Code.E204, "empty")
        state = [column[-1] for column in columns]
        for i in reversed(range(n - 1)):
            state = self.call(phase.body, [*(column[i] for column in columns), *state])
        return state


class _View:
    """One library op's operands (ids from 0) and results (ids from 1000) as the reference's operations see them."""

    def __init__(self, machine: Machine, args: list[Array], kinds: list[Kind], shapes: list[tuple[Size, ...]]) -> None:
        self.machine, self.args, self.kinds, self.shapes = machine, args, kinds, shapes

    def value(self, which: int) -> Array:
        return self.args[which]

    def kind(self, which: int) -> Kind:
        return self.kinds[which - 1000]

    def shape(self, which: int) -> tuple[int, ...]:
        return tuple(self.machine.size(s) for s in self.shapes[which - 1000])

    def size(self, size: Size) -> int:
        return self.machine.size(size)


_CORE_NAMES = {"reshape_cycle": c.Reshape}
_CORE_OPS = {op.__name__.lower(): op for op in c.Op.__args__}


def core_op(phase: LibraryPhase, count: int) -> c.Op:
    """The core op that a library phase came from, on small ids."""
    op = _CORE_NAMES.get(phase.op) or _CORE_OPS.get(phase.op.replace("_", ""))
    attributes = dict(phase.attributes)
    if op is None:
        results = tuple(1000 + i for i in range(len(phase.results)))
        kept = tuple((name, value) for name, value in attributes.items() if name == "descending")
        return c.Library(results, phase.op, tuple(range(count)), kept)  # type: ignore[arg-type]
    arguments: dict[str, object] = {"result": 1000}
    names = [f.name for f in fields(op) if f.name not in attributes and f.name not in ("result", "size")]
    if op is c.Update:
        present = iter(range(1, count - 1))
        indexed = attributes["indexed"]
        indices = tuple(next(present) if has else None for has in indexed)  # type: ignore[attr-defined]
        return c.Update(1000, 0, indices, count - 1, attributes["checked"])  # type: ignore[arg-type]
    if op is c.Gather:
        axes = attributes.get("other_axes", ())
        kept = {name: attributes[name] for name in ("axis", "checked", "fills")}
        return c.Gather(1000, 0, 1, **kept, other_indices=tuple(range(2, count)), axes=axes)  # type: ignore[arg-type]
    if op in (c.Join, c.Stack):
        arguments["args"] = tuple(range(count))
        names = []
    if op is c.SizeVector:
        arguments["scalar"] = False
        names = []
    for position, name in enumerate(n for n in names if n not in ("scalar",)):
        arguments[name] = position
    for name, value in attributes.items():
        if name not in ("frame", "framed"):
            arguments[name] = value
    if "size" in {f.name for f in fields(op)}:
        arguments["size"] = phase.defines[0]
    return op(**arguments)  # type: ignore[arg-type]
