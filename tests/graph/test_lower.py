# ruff: noqa: B008  (defaults of lambdas make operands first)
"""Lowering keeps what a program computes: each op, alone and lifted over frames, against the reference interpreter."""

from __future__ import annotations

import pytest

from rho.backend.graph.phases import LibraryPhase, Map, Structured
from rho.backend.graph.traverse import all_phases
from rho.tests.graph.build import BOOL, F64, I64, Build, agree
from rho.typechecker.core import operations as c
from rho.typechecker.sizes.polynomials import ONE, ZERO, number, variable

REALS = [1.5, -2.0, 0.25, 3.0, -0.5, 7.0, 2.0, 0.0, 1.0, -4.0, 5.5, 6.0]


def start() -> tuple[Build, c.ValueId, c.ValueId]:
    """x : f64[n m] (3 × 4) and v : f64[m]."""
    b = Build()
    n, m = variable(b.size("n")), variable(b.size("m"))
    x = b.input("x", F64, [n, m], [3, 4], REALS)
    v = b.input("v", F64, [m], [4], [10.0, 20.0, 30.0, 40.0])
    return b, x, v


def test_scalar_with_prefix_agreement_and_literal() -> None:
    b, x, _ = start()
    rows = b.reduce("add", x, 1)
    two = b.literal(F64, [], [2.0])
    b.output("r", b.scalar("mul", b.scalar("sub", x, rows), two))
    agree(b)


def test_reductions_on_each_axis_and_in_sequence() -> None:
    b, x, _ = start()
    for function in ("add", "max", "sub"):
        for axis in (0, 1):
            b.output(f"{function}{axis}", b.reduce(function, x, axis))
    agree(b)


def test_views() -> None:
    b, x, v = start()
    n, m = b.shape(x)
    b.output("transpose", b.op(lambda r: c.Transpose(r, x, (1, 0)), F64, [m, n]))
    b.output("reverse", b.same(lambda r: c.Reverse(r, x, 1), x))
    b.output("ravel", b.op(lambda r: c.Reshape(r, x), F64, [n * m]))
    b.output("drop", b.op(lambda r: c.Slice(r, x, (ONE, number(2))), F64, [n - 1, m - 2]))
    b.output("overtake", b.op(lambda r: c.Slice(r, v, (number(-2),)), F64, [m + 3]))
    b.output("windows", b.op(lambda r: c.SlidingWindows(r, v, 1), F64, [m - 1, 2]))
    b.output("spread", b.op(lambda r: c.Broadcast(r, v, (1,)), F64, [2, m]))
    b.output("fill", b.op(lambda r: c.Reshape(r, b.literal(I64, [], [7])), I64, [n, 2]))
    b.output("cycle", b.op(lambda r: c.Reshape(r, v), F64, [m * 2 + 1]))
    b.output("truncate", b.op(lambda r: c.Reshape(r, b.literal(I64, [6], range(6))), I64, [2, 2]))
    b.output("grid", b.op(lambda r: c.IotaGrid(r), I64, [n, m, 2]))
    b.output("tall", b.op(lambda r: c.Reshape(r, v), F64, [n, m]))
    agree(b)


def test_literal_gathers_that_step_evenly_are_views() -> None:
    b, x, _ = start()
    m = b.shape(x)[1]
    indices = b.literal(I64, [2], [3, 1])
    wide = b.literal(F64, [5], [0.0, 1.0, 2.0, 3.0, 4.0])
    b.output("even", b.op(lambda r: c.Gather(r, wide, indices, 0, False), F64, [2]))
    odd = b.literal(I64, [3], [3, 1, 0])
    b.output("odd", b.op(lambda r: c.Gather(r, wide, odd, 0, False), F64, [3]))
    b.output("cells", b.op(lambda r: c.Gather(r, x, b.literal(I64, [], [1]), 0, True), F64, [m]))
    graph = agree(b)
    assert sum(isinstance(p, LibraryPhase) and p.op == "gather" for p in graph.phases) == 2


def lifted(body: object, kind: object = F64) -> Build:
    """`body` on the rows of x (3 rows) and of an empty matrix."""
    b, x, _ = start()
    empty = b.input("e", F64, [ZERO, b.shape(x)[1]], [0, 4], [])
    b.output("rows", b.lift([x], [1], body)[0])
    b.output("none", b.lift([empty], [1], body)[0])
    return b


BODIES = {
    "reduce": lambda b, r: b.reduce("add", r),
    "softmax": lambda b, r: b.scalar("div", b.scalar("exp", r), b.reduce("add", b.scalar("exp", r))),
    "sequential": lambda b, r: b.reduce("sub", r),
    "scan": lambda b, r: b.same(lambda o: c.Scan(o, "add", r, 0), r),
    "reverse": lambda b, r: b.same(lambda o: c.Reverse(o, r, 0), r),
    "ravel table": lambda b, r: b.op(lambda o: c.Reshape(o, r), F64, [b.shape(r)[0], 1]),
    "windows": lambda b, r: b.reduce("add", b.op(lambda o: c.SlidingWindows(o, r, 1), F64, [b.shape(r)[0] - 1, 2]), 1),
    "grade": lambda b, r: b.op(lambda o: c.library_op(o, "grade", r, descending=False), I64, b.shape(r)),
    "sort": lambda b, r: b.same(
        lambda o, g=b.op(lambda i: c.library_op(i, "grade", r, descending=True), I64, b.shape(r)): c.Gather(o, r, g, 0, False), r
    ),
    "join": lambda b, r: b.op(lambda o: c.Join(o, (r, r), 0), F64, [b.shape(r)[0] * 2]),
    "join constant": lambda b, r: b.op(
        lambda o, k=b.literal(F64, [2], [1.0, 2.0]): c.Join(o, (k, r), 0), F64, [b.shape(r)[0] + 2]
    ),
    "stack": lambda b, r: b.op(lambda o: c.Stack(o, (r, b.scalar("neg", r)), 0), F64, [2, b.shape(r)[0]]),
    "rotate": lambda b, r: b.same(lambda o, a=b.literal(I64, [], [1]): c.Rotate(o, r, a, 0), r),
    "rotate by cell": lambda b, r: b.same(lambda o, a=b.scalar("floor", b.reduce("max", r), kind=I64): c.Rotate(o, r, a, 0), r),
    "constant": lambda b, r: b.literal(F64, [2], [1.0, 2.0]),
    "identity": lambda b, r: r,
    "match": lambda b, r: b.op(lambda o: c.library_op(o, "match", r, r), BOOL, []),
    "index of": lambda b, r: b.op(lambda o: c.library_op(o, "index_of", r, b.reduce("max", r)), I64, []),
    "member": lambda b, r: (
        b.op(lambda o, k=b.literal(F64, [3], [1.0, 2.0, 7.0]): c.library_op(o, "member_of", r, k), BOOL, b.shape(r))
    ),
    "member in cell": lambda b, r: (
        b.op(lambda o, k=b.literal(F64, [3], [1.0, 2.0, 7.0]): c.library_op(o, "member_of", k, r), BOOL, [3])
    ),
    "contract": lambda b, r: b.op(lambda o: c.Contract(o, r, r), F64, []),
    "decode": lambda b, r: b.op(lambda o, k=b.literal(F64, [], [2.0]): c.library_op(o, "decode", k, r), F64, []),
    "encode": lambda b, r: b.op(
        lambda o, k=b.literal(F64, [2], [2.0, 3.0]): c.library_op(o, "encode", k, r), F64, [2, b.shape(r)[0]]
    ),
    "update": lambda b, r: b.same(
        lambda o, i=b.literal(I64, [2], [2, 0]), z=b.literal(F64, [], [9.0]): c.Update(o, r, (i,), z, False), r
    ),
    "first": lambda b, r: b.op(lambda o: c.library_op(o, "first_occurrence", r), BOOL, b.shape(r)),
    "kept sum": lambda b, r: b.reduce("add", b.compress(b.scalar("gt", r, b.literal(F64, [], [0.5])), r)),
    "kept mean": lambda b, r: kept_mean(b, r),
    "iterate": lambda b, r: b.loop([r], 3, lambda b, s: b.scalar("mul", s, b.scalar("sub", s, r)))[0],
    "iterate keep": lambda b, r: b.loop([r], 2, lambda b, s: b.scalar("add", s, r), keep=True)[0],
    "iterate until": lambda b, r: b.loop(
        [b.reduce("add", r)],
        9,
        lambda b, s: b.scalar("mul", s, b.literal(F64, [], [2.0])),
        until=lambda b, new, old: b.scalar("gt", new, b.literal(F64, [], [20.0])),
    )[0],
    "branch": lambda b, r: b.branch(
        b.scalar("gt", b.reduce("add", r), b.literal(F64, [], [3.0])), lambda b: b.scalar("neg", r), lambda b: r
    ),
    "branch apart": lambda b, r: b.branch(
        b.scalar("gt", b.reduce("add", r), b.literal(F64, [], [3.0])),
        lambda b: b.same(lambda o: c.Scan(o, "add", r, 0), r),
        lambda b: r,
    ),
    "floor of outside": lambda b, r: b.scalar("floor", b.literal(F64, [], [2.5]), kind=I64),
    "fails outside": lambda b, r: b.op(
        lambda o, k=b.literal(I64, [], [9]), t=b.literal(F64, [2], [1.0, 2.0]): c.Gather(o, t, k, 0, True), F64, []
    ),
    "expand": lambda b, r: b.op(
        lambda o, k=b.literal(BOOL, [6], [True, False, True, True, False, True]): c.Expand(o, k, r, 0, True), F64, [6]
    ),
    "nested": lambda b, r: b.lift([r], [1], lambda b, s: b.scalar("add", s, b.reduce("add", b.scalar("mul", r, s))))[0],
    "outer": lambda b, r: b.lift([r], [1], lambda b, s: b.lift([r], [1], lambda b, t: b.scalar("sub", s, t))[0])[0],
    "random": lambda b, r: b.op(lambda o, k=b.literal(I64, [], [5]): c.library_op(o, "random", k), F64, [2]),
    "random by cell": lambda b, r: (
        b.op(lambda o, k=b.scalar("floor", b.reduce("add", r), kind=I64): c.library_op(o, "random", k), F64, [2])
    ),
}


def kept_mean(b: Build, r: c.ValueId) -> c.ValueId:
    """Two ops need the run-time size, one between does not depend on it."""
    kept = b.compress(b.scalar("gt", r, b.literal(F64, [], [0.5])), r)
    other = b.reduce("max", r)
    count = b.value(I64, [])
    b.emit(c.SizeVector(count, (b.shape(kept)[0],), True))
    mean = b.scalar("div", b.reduce("add", kept), b.scalar("convert", count, kind=F64))
    return b.scalar("add", mean, other)


@pytest.mark.parametrize("name", BODIES)
def test_lifted(name: str) -> None:
    agree(lifted(BODIES[name]))


def test_only_what_must_is_mapped() -> None:
    graph = agree(lifted(BODIES["kept mean"]))
    maps = [p for p in graph.phases if isinstance(p, Map)]
    assert len(maps) == 2
    assert all(len(p.body.phases) <= 6 for p in maps)


@pytest.mark.parametrize("name", ["reduce", "softmax", "sort", "iterate", "branch", "nested", "outer", "decode", "update"])
def test_batched_without_maps(name: str) -> None:
    graph = agree(lifted(BODIES[name]))
    assert not any(isinstance(p, Map) for p in all_phases(graph))


def test_gather_of_a_common_table_has_no_frame() -> None:
    b, x, v = start()
    places = b.scalar("convert", b.scalar("gt", x, b.literal(F64, [], [1.0])), kind=I64)
    table = b.op(lambda r: c.Reshape(r, v), F64, [2, b.shape(v)[0]])
    for axis in (0, 1):
        cell = [b.shape(x)[1], b.shape(v)[0]] if axis == 0 else [2, b.shape(x)[1]]

        def pick(b: Build, i: c.ValueId, axis: int = axis, cell: object = cell) -> c.ValueId:
            return b.op(lambda r: c.Gather(r, table, i, axis, True), F64, cell)

        b.output(f"axis{axis}", b.lift([places], [1], pick)[0])
    graph = agree(b)
    assert all("frame" not in p.attributes for p in graph.phases if isinstance(p, LibraryPhase))


def test_a_rotation_by_a_few_amounts_is_as_many_rotations() -> None:
    """Of a table for all of them, and of its rows, each by its own amount."""
    b, _, v = start()
    amounts, y = b.literal(I64, [3], [-1, 0, 6]), b.literal(F64, [3, 4], REALS)
    b.output("common", b.lift([amounts], [1], lambda b, i: b.same(lambda o: c.Rotate(o, v, i, 0), v))[0])
    b.output("own", b.lift([amounts, y], [1, 1], lambda b, i, r: b.same(lambda o: c.Rotate(o, r, i, 0), r))[0])
    graph = agree(b)
    assert [p.op for p in graph.phases if isinstance(p, LibraryPhase)] == [*["rotate"] * 3, "stack"] * 2


def test_folds() -> None:
    b, x, _ = start()
    cell = (F64, [b.shape(x)[1]])
    for kind in (c.CoreFold, c.FoldScan):
        with b.block(cell, cell) as (params, ops):
            body = b.scalar("sub", b.scalar("mul", params[0], params[0]), params[1])
        made = b.value(F64, b.shape(x) if kind is c.FoldScan else b.shape(x)[1:])
        b.emit(kind((made,), (x,), c.Block(tuple(params), tuple(ops), (body,))))
        b.output(kind.__name__, made)

        def rows(b: Build, r: c.ValueId, kind: object = kind) -> c.ValueId:
            with b.block((F64, []), (F64, [])) as (params, ops):
                body = b.scalar("sub", params[0], b.scalar("mul", params[1], b.literal(F64, [], [0.5])))
            made = b.value(F64, b.shape(r) if kind is c.FoldScan else [])
            b.emit(kind((made,), (r,), c.Block(tuple(params), tuple(ops), (body,))))  # type: ignore[operator]
            return made

        b.output(kind.__name__ + " of rows", b.lift([x], [1], rows)[0])
    agree(b)


def test_top_level_control_keeps_effects_in_order() -> None:
    b, _, v = start()
    b.print(v)
    total = b.reduce("add", v)
    then = b.branch(b.scalar("gt", total, b.literal(F64, [], [3.0])), lambda b: b.scalar("neg", v), lambda b: v)
    b.print(then)
    k = b.compress(b.scalar("gt", v, b.literal(F64, [], [15.0])), v)
    b.print(k)
    b.print(b.op(lambda r: c.Iota(r), I64, [b.shape(k)[0]]))
    graph = agree(b)
    assert any(isinstance(p, Structured) for p in graph.phases)
