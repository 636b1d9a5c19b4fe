"""Random well-typed cores with nested lifts, loops, branches and run-time sizes: lowering, passes and binding keep results."""

from __future__ import annotations

import random

from hypothesis import HealthCheck, given, settings, strategies as st
from share import repeats

from rho.backend.graph.bind_sizes import bind
from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes.pipeline import PASS_NAMES, optimise
from rho.backend.graph.verify import verify
from rho.backend.reference.interpreter import interpret
from rho.backend.vm.input_sizes import bind_sizes
from rho.tests.graph.build import BOOL, F64, I64, Build, outcome
from rho.tests.graph.oracle import run_graph
from rho.typechecker.core import operations as c
from rho.typechecker.elements import Kind
from rho.typechecker.sizes.polynomials import Size, number, product, variable

EXAMPLES = repeats(600)
NUMERIC = {
    F64: ["add", "sub", "mul", "div", "min", "max", "residue"],
    I64: ["add", "sub", "mul", "min", "max", "residue"],
    BOOL: ["and", "or", "ne", "eq"],
}


class Maker:
    """Grows a program from values in scope; `depth` bounds nesting."""

    def __init__(self, chance: random.Random) -> None:
        self.random = chance
        self.b = Build()

    def pick(self, items: list[c.ValueId]) -> c.ValueId:
        return self.random.choice(items)

    def literal(self, kind: Kind, shape: list[Size]) -> c.ValueId:
        count = product(shape).constant or 0
        items = {
            F64: lambda: self.random.choice([0.0, -0.0, 1.0, 2.5, -1.5, 3.0, 7.0]),
            I64: lambda: self.random.randint(-3, 5),
            BOOL: lambda: self.random.random() < 0.5,
        }[kind]
        return self.b.literal(kind, shape, [items() for _ in range(count)])

    def step(self, scope: list[c.ValueId], depth: int) -> c.ValueId | None:
        """One op on values in scope; None if the draw does not fit."""
        b, r = self.b, self.random
        x = self.pick(scope)
        shape, kind = b.shape(x), b.kind(x)
        rank = len(shape)
        axis = r.randrange(rank) if rank else 0
        draw = r.choice([8, 9, 9, 10, 11, 11]) if depth and r.random() < 0.25 else r.randrange(34)
        if draw < 5:
            others = [v for v in scope if b.kind(v) is kind and (b.shape(v) == shape[: len(b.shape(v))])]
            y = self.pick(others) if others else x
            return b.scalar(r.choice(NUMERIC[kind]), *r.sample([x, y], 2))
        if draw == 5:
            target = r.choice([k for k in (BOOL, I64, F64) if k is not kind])
            if kind is BOOL:
                return b.scalar("convert", x, kind=target)
            if target is BOOL:
                return b.scalar("gt", x, self.literal(kind, []))
            return b.scalar("floor", x, kind=I64) if kind is F64 else b.scalar("convert", x, kind=F64)
        if draw == 6:
            return self.literal(kind, [number(n) for n in r.choice([(), (2,), (3,), (2, 3)])])
        if draw == 7:
            others = [v for v in scope if b.kind(v) is kind and b.shape(v) == shape]
            masks = [v for v in scope if b.kind(v) is BOOL and b.shape(v) == shape[: len(b.shape(v))]]
            return b.scalar("select", self.pick(masks), x, self.pick(others)) if masks else None
        if draw == 8 and rank and kind is not BOOL:
            return self.kept(x, rank, kind)
        if draw == 9 and depth:
            return self.lift(scope, depth)
        if draw == 10 and depth:
            return self.loop(scope, x, depth)
        if draw == 11 and depth:
            return self.branch(scope, x, depth)
        if draw == 12:
            return b.op(lambda o: c.Iota(o), I64, [r.choice([number(3), *shape])])
        if not rank:
            return None
        if draw == 13 and rank > 1:
            axes = r.sample(range(rank), rank)
            new = [shape[axes.index(i)] for i in range(rank)]
            return b.op(lambda o: c.Transpose(o, x, tuple(axes)), kind, new)
        if draw == 14:
            return b.same(lambda o: c.Reverse(o, x, axis), x)
        if draw == 15:
            function = r.choice(["and", "or"] if kind is BOOL else ["add", "mul", "sub"])
            return b.reduce(function, x, axis)
        if draw == 16:
            function = r.choice(["and", "or"] if kind is BOOL else ["add", "sub"])
            return b.same(lambda o: c.Scan(o, function, x, axis), x)
        if draw == 17:
            return b.op(lambda o: c.Reshape(o, x), kind, [product(shape)])
        if draw == 18:
            new = r.choice([[number(2), *shape], [number(4)], [product(shape) + 1], [*shape, number(1)]])
            return b.op(lambda o: c.Reshape(o, x), kind, new)
        if draw == 19:
            start = r.randint(-1, 2)
            size = r.choice([number(2), shape[0] + 1, number(0)])
            return b.op(lambda o: c.Slice(o, x, (number(start),)), kind, [size, *shape[1:]])
        if draw == 20:
            new = [*shape[:axis], shape[axis] + shape[axis], *shape[axis + 1 :]]
            return b.op(lambda o: c.Join(o, (x, x), axis), kind, new)
        if draw == 21:
            indices = [v for v in scope if b.kind(v) is I64 and len(b.shape(v)) <= 1]
            if not indices:
                return None
            i = self.pick(indices)
            return b.op(lambda o: c.Gather(o, x, i, axis, True), kind, [*shape[:axis], *b.shape(i), *shape[axis + 1 :]])
        if draw == 22:
            order = b.op(lambda o: c.library_op(o, "grade", x, descending=r.random() < 0.5), I64, [shape[0]])
            return b.same(lambda o: c.Gather(o, x, order, 0, False), x)
        if draw == 23:
            amount = self.literal(I64, []) if rank > 1 else b.reduce("add", b.op(lambda o: c.Iota(o), I64, [shape[0] + 1]))
            return b.same(lambda o: c.Rotate(o, x, amount, axis), x)
        if draw == 24:
            wide = b.op(lambda o: c.Broadcast(o, x, tuple(range(1, rank + 1))), kind, [number(2), *shape])
            return b.scalar(r.choice(NUMERIC[kind]), wide, wide)
        if draw > 25:
            return self.library(scope, x, axis, draw)
        table = [v for v in scope if b.kind(v) is kind and len(b.shape(v)) == 1]
        return b.op(lambda o: c.library_op(o, "member_of", x, self.pick(table)), BOOL, shape) if table else None

    def kept(self, x: c.ValueId, rank: int, kind: Kind) -> c.ValueId:
        """A run-time size, used twice and reduced away."""
        b = self.b
        measure = b.reduce("add", x, rank - 1) if rank > 1 else x
        mask = b.scalar("gt", measure, self.literal(kind, []))
        while len(b.shape(mask)) > 1:
            mask = b.reduce("or", mask, 1)
        kept = b.compress(mask, x)
        count = b.value(I64, [])
        b.emit(c.SizeVector(count, (b.shape(kept)[0],), True))
        total = b.reduce("add", b.scalar("mul", kept, b.scalar("convert", count, kind=F64) if kind is F64 else count))
        return b.scalar("add", total, total)

    def library(self, scope: list[c.ValueId], x: c.ValueId, axis: int, draw: int) -> c.ValueId | None:
        b, r = self.b, self.random
        shape, kind = b.shape(x), b.kind(x)
        rank = len(shape)
        same = [v for v in scope if b.kind(v) is kind]
        y = self.pick(same)
        if draw == 26 and kind is not BOOL and b.shape(y) and b.shape(y)[0] == shape[-1]:
            return b.op(lambda o: c.Contract(o, x, y), kind, [*shape[:-1], *b.shape(y)[1:]])
        if draw == 27:
            table = [v for v in same if b.shape(v)[1:] == () and b.shape(v)]
            return b.op(lambda o: c.library_op(o, "index_of", self.pick(table), x), I64, shape) if table else None
        if draw == 28:
            shape_of_index = r.choice([(), (2,)])
            i = b.literal(I64, list(map(number, shape_of_index)), [r.randint(0, 1) for _ in range(2 if shape_of_index else 1)])
            value = self.literal(kind, [])
            indices = tuple(i if a == axis else None for a in range(rank))
            return b.same(lambda o: c.Update(o, x, indices, value, True), x)
        if draw == 29 and rank == 1 and kind is not BOOL:
            return b.op(lambda o: c.library_op(o, "encode", self.literal(kind, [number(2)]), x), kind, [2, *shape])
        if draw == 30 and kind is not BOOL and rank == 1:
            keys = [v for v in scope if b.kind(v) is I64 and b.shape(v) == shape[:1]]
            if not keys:
                return None
            return b.op(lambda o: c.KeyReduce(o, "add", self.pick(keys), x, True), kind, [3])
        if draw == 31 and kind is not BOOL:
            cell = (kind, shape[1:])
            shape = (number(2), *shape[1:])  # a fold needs an item
            x = b.op(lambda o, x=x: c.Slice(o, x, (number(0),)), kind, shape)
            scan = r.random() < 0.5
            with b.block(cell, cell) as (params, ops):
                made = self.grow([*scope, *params], 3, 0)
                fit = [v for v in made if b.kind(v) is kind and b.shape(v) == shape[1:]]
                body = self.pick([*fit, *fit, b.scalar("sub", *params)])
            op = c.FoldScan if scan else c.CoreFold
            result = b.value(kind, shape if scan else shape[1:])
            b.emit(op((result,), (x,), c.Block(tuple(params), tuple(ops), (body,))))
            return result
        if draw == 32:
            return b.op(lambda o: c.library_op(o, "match", x, y), BOOL, [])
        if draw == 33 and rank == 1:
            return b.op(lambda o: c.library_op(o, "first_occurrence", x), BOOL, shape)
        return None

    def grow(self, scope: list[c.ValueId], count: int, depth: int) -> list[c.ValueId]:
        made = []
        scope = list(scope)
        for _ in range(count):
            value = self.step(scope, depth)
            if value is not None and len(self.b.shape(value)) <= 4:
                scope.append(value)
                made.append(value)
        return made

    def lift(self, scope: list[c.ValueId], depth: int) -> c.ValueId | None:
        b, r = self.b, self.random
        ranked = [v for v in scope if b.shape(v)]
        if not ranked:
            return None
        x = self.pick(ranked)
        count = r.randint(1, len(b.shape(x)))
        frame = b.shape(x)[:count]
        args, frames = [x], [count]
        for v in scope:
            own = r.randint(0, min(count, len(b.shape(v))))
            if r.random() < 0.4 and b.shape(v)[:own] == frame[:own]:
                args.append(v)
                frames.append(own)

        def body(b: Build, *cells: c.ValueId) -> c.ValueId:
            made = self.grow([*scope, *cells], 5, depth - 1)
            return self.pick([*cells, *made, *made, *made])

        return b.lift(args, frames, body)[0]

    def loop(self, scope: list[c.ValueId], x: c.ValueId, depth: int) -> c.ValueId:
        b = self.b

        def body(b: Build, state: c.ValueId) -> c.ValueId:
            made = self.grow([*scope, state], 4, depth - 1)
            fit = [v for v in made if b.kind(v) is b.kind(state) and b.shape(v) == b.shape(state)]
            return self.pick([*fit, *fit, state])

        until = None
        if self.random.random() < 0.4 and b.kind(x) is not BOOL and not b.shape(x):
            until = lambda b, new, old: b.scalar("gt", new, old)  # noqa: E731
        keep = until is None and self.random.random() < 0.3
        return b.loop([x], self.random.randint(0, 3), body, until, keep)[0]

    def branch(self, scope: list[c.ValueId], x: c.ValueId, depth: int) -> c.ValueId | None:
        b = self.b
        conditions = [v for v in scope if b.kind(v) is BOOL and not b.shape(v)]
        if not conditions:
            numbers = [v for v in scope if b.kind(v) is not BOOL and not b.shape(v)]
            if not numbers:
                return None
            low = self.pick(numbers)
            conditions = [b.scalar("gt", low, self.literal(b.kind(low), []))]

        def arm(b: Build) -> c.ValueId:
            made = self.grow(scope, 2, depth - 1)
            return self.pick([x, *(v for v in made if b.kind(v) is b.kind(x) and b.shape(v) == b.shape(x))])

        return b.branch(self.pick(conditions), arm, arm)


def program(seed: int) -> Build:
    return grown(random.Random(seed))


@st.composite
def programs(draw: st.DrawFn) -> Build:
    """A strategy: what Hypothesis shrinks are the draws, so a failure comes with few and simple ops."""
    return grown(draw(st.randoms(use_true_random=False)))


def grown(chance: random.Random) -> Build:
    """A program whose inputs, ops and results are drawn."""
    maker = Maker(chance)
    b, r = maker.b, maker.random
    n, m = variable(b.size("n")), variable(b.size("m"))
    rows, columns = r.choice([(0, 2), (1, 3), (2, 3), (3, 0), (3, 2), (2, 1)])
    reals = [r.choice([0.0, -0.0, 1.0, 2.0, -3.5, 0.1, 4.0]) for _ in range(rows * columns)]
    scope = [
        b.input("x", F64, [n, m], [rows, columns], reals),
        b.input("v", F64, [m], [columns], [float(r.randint(-3, 3)) for _ in range(columns)]),
        b.input("i", I64, [n], [rows], [r.randint(0, 1) for _ in range(rows)]),
        b.input("t", BOOL, [], [], [r.random() < 0.5]),
    ]
    for at, value in enumerate(maker.grow(scope, 12, 3)):
        if r.random() < 0.5:
            b.output(f"r{at}", value)
        elif r.random() < 0.3:
            b.print(value)
    return b


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.sampled_from(PASS_NAMES))
def test_random_program(build: Build, off: str) -> None:
    core = build.core()
    sizes = bind_sizes(core, {name: a.shape for name, a in build.data.items()}, {})

    def reference() -> object:
        results = interpret(core, build.data, {})
        return results.printed, results.outputs

    wanted = outcome(reference)
    raw = lower(core)
    verify(raw, "lower")
    variants = {"raw": raw, "all": optimise(raw, verify_each=True)}
    variants["bound"] = optimise(bind(variants["all"], sizes).graph, verify_each=True)
    variants[f"without {off}"] = optimise(raw, frozenset({off}), verify_each=True)
    for name, graph in variants.items():
        assert outcome(lambda g=graph: run_graph(g, sizes, build.data)) == wanted, name  # type: ignore[misc]
