"""Hand-built cores for tests of the graph: one small method an op, and the comparison with the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes.pipeline import optimise
from rho.backend.graph.phases import Graph
from rho.backend.graph.verify import verify
from rho.backend.reference.interpreter import interpret
from rho.backend.vm.input_sizes import bind_sizes
from rho.backend.vm.values import Array, array
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Span
from rho.tests.graph.oracle import Failed, run_graph
from rho.typechecker.core import operations as c
from rho.typechecker.elements import FUNCTIONS, ArrayType, Element, Kind
from rho.typechecker.sizes.polynomials import Size, SizeOrigin, SizeVariable, as_size, variable

SPAN = Span("<test>", 0, 1)
F64, I64, BOOL = Kind.F64, Kind.I64, Kind.BOOL
Shape = Sequence[Size | int]


class Build:
    def __init__(self) -> None:
        self.types: dict[c.ValueId, ArrayType] = {}
        self.ops: list[c.Op] = []
        self.inputs: list[c.CoreInput] = []
        self.outputs: list[c.CoreOutput] = []
        self.names: dict[c.ValueId, str] = {}
        self.data: dict[str, Array] = {}
        self.sizes = 0

    # -- values

    def value(self, kind: Kind, shape: Shape) -> c.ValueId:
        made = c.ValueId(len(self.types))
        self.types[made] = ArrayType(Element(kind), tuple(as_size(s) for s in shape))
        return made

    def shape(self, value: c.ValueId) -> tuple[Size, ...]:
        return self.types[value].shape

    def kind(self, value: c.ValueId) -> Kind:
        return self.types[value].element.kind

    def size(self, name: str, origin: SizeOrigin = SizeOrigin.INPUT, cap: Size | None = None) -> SizeVariable:
        self.sizes += 1
        return SizeVariable(name, self.sizes, origin, cap)

    def input(self, name: str, kind: Kind, shape: Shape, actual: Sequence[int], data: Sequence[object]) -> c.ValueId:
        made = self.value(kind, shape)
        self.inputs.append(c.CoreInput(name, made, None, SPAN))
        self.names[made] = name
        self.data[name] = array(kind, actual, data)
        return made

    def emit(self, op: c.Op) -> None:
        self.ops.append(op)

    # -- ops

    def literal(self, kind: Kind, shape: Shape, data: Sequence[c.Payload]) -> c.ValueId:
        made = self.value(kind, shape)
        self.emit(c.Literal(made, tuple(data)))
        return made

    def scalar(self, function: str, *args: c.ValueId, kind: Kind | None = None) -> c.ValueId:
        longest = max((self.shape(a) for a in args), key=len)
        compute = self.kind(args[1 if function == "select" else 0])
        result = kind or FUNCTIONS[function].result_kind(compute)
        assert result is not None
        made = self.value(result, longest)
        self.emit(c.Scalar(made, function, args))
        return made

    def reduce(self, function: str, arg: c.ValueId, axis: int = 0) -> c.ValueId:
        shape = self.shape(arg)
        made = self.value(self.kind(arg), shape[:axis] + shape[axis + 1 :])
        self.emit(c.Reduce(made, function, arg, axis))
        return made

    def op(self, make: object, kind: Kind, shape: Shape) -> c.ValueId:
        """Emit `make(result)`."""
        made = self.value(kind, shape)
        self.emit(make(made))  # type: ignore[operator]
        return made

    def same(self, make: object, like: c.ValueId) -> c.ValueId:
        return self.op(make, self.kind(like), self.shape(like))

    @contextmanager
    def block(self, *params: tuple[Kind, Shape]) -> Iterator[tuple[list[c.ValueId], list[c.Op]]]:
        """Ops emitted inside go to the yielded list."""
        outer, self.ops = self.ops, []
        yield [self.value(kind, shape) for kind, shape in params], self.ops
        self.ops = outer

    def lift(self, args: Sequence[c.ValueId], frames: Sequence[int], body: object) -> tuple[c.ValueId, ...]:
        """`body(build, *cells)` gives the result cells."""
        frame = max((self.shape(a)[:n] for a, n in zip(args, frames, strict=True)), key=len)
        cells = [(self.kind(a), self.shape(a)[n:]) for a, n in zip(args, frames, strict=True)]
        with self.block(*cells) as (params, ops):
            made = body(self, *params)  # type: ignore[operator]
        results = (made,) if isinstance(made, int) else tuple(made)
        outs = tuple(self.value(self.kind(r), (*frame, *self.shape(r))) for r in results)
        block = c.Block(tuple(params), tuple(ops), results)
        self.emit(c.MapCells(outs, tuple(args), tuple(frames), frame, block))
        return outs

    def loop(self, initial: Sequence[c.ValueId], trip: Size | int, body: object, until: object = None, keep: bool = False
             ) -> tuple[c.ValueId, ...]:  # fmt: skip
        cells = [(self.kind(a), self.shape(a)) for a in initial]
        with self.block(*cells) as (params, ops):
            made = body(self, *params)  # type: ignore[operator]
        results = (made,) if isinstance(made, int) else tuple(made)
        block = c.Block(tuple(params), tuple(ops), results)
        test = None
        if until is not None:
            with self.block(*cells, *cells) as (params, ops):
                stop = until(self, *params)  # type: ignore[operator]
            test = c.Block(tuple(params), tuple(ops), (stop,))
        front = (as_size(trip) + 1,) if keep else ()
        outs = tuple(self.value(kind, (*front, *shape)) for kind, shape in cells)
        self.emit(c.CoreLoop(outs, tuple(initial), as_size(trip), block, test, keep))
        return outs

    def branch(self, condition: c.ValueId, then: object, otherwise: object) -> c.ValueId:
        arms = []
        for arm in (then, otherwise):
            with self.block() as (_, ops):
                made = arm(self)  # type: ignore[operator]
            arms.append(c.Block((), tuple(ops), (made,)))
        made = self.value(self.kind(arms[0].results[0]), self.shape(arms[0].results[0]))
        self.emit(c.CoreBranch((made,), condition, arms[0], arms[1]))
        return made

    def compress(self, mask: c.ValueId, arg: c.ValueId, axis: int = 0) -> c.ValueId:
        shape = self.shape(arg)
        k = self.size("k", SizeOrigin.RUNTIME, shape[axis])
        made = self.value(self.kind(arg), (*shape[:axis], variable(k), *shape[axis + 1 :]))
        self.emit(c.Compress(made, mask, arg, axis, k))
        return made

    def print(self, value: c.ValueId) -> None:
        self.emit(c.CorePrint(value))

    def output(self, name: str, value: c.ValueId) -> None:
        self.outputs.append(c.CoreOutput(name, value, SPAN))

    def core(self) -> c.Core:
        block = c.Block((), tuple(self.ops), ())
        spans = dict.fromkeys(self.types, SPAN)
        return c.Core(block, tuple(self.inputs), (), tuple(self.outputs), (), self.types, spans, self.names, (), ())


def outcome(run: object) -> object:
    """What a run gives, or the code it fails with; items are compared by `repr` so that NaN equals NaN and 0 is not -0."""
    try:
        printed, outputs = run()  # type: ignore[operator]
    except Failed as failure:
        return str(failure)
    except RhoError as failure:
        return failure.diagnostics[0].code
    return [(a.kind, a.shape, repr(a.data)) for a in (*printed, *(outputs[n] for n in sorted(outputs)))]


def agree(build: Build, without: frozenset[str] | None = None) -> Graph:
    """Lowered and optimised, the program does what the reference does; the optimised graph."""
    core = build.core()
    sizes = bind_sizes(core, {name: a.shape for name, a in build.data.items()}, {})

    def reference() -> object:
        results = interpret(core, build.data, {})
        return results.printed, results.outputs

    wanted = outcome(reference)
    graph = lower(core)
    verify(graph, "lower")
    assert outcome(lambda: run_graph(graph, sizes, build.data)) == wanted
    better = optimise(graph, without=without or frozenset(), verify_each=True)
    assert outcome(lambda: run_graph(better, sizes, build.data)) == wanted
    return better
