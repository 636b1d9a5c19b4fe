"""Whole core programs through the reference interpreter: control flow, run-time sizes, checks, binding, verification."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rho.backend.reference.arrays import InternalError
from rho.backend.reference.interpreter import interpret
from rho.backend.vm.values import Array, Results, array
from rho.lang.diagnostics.model import Code, Refused, RunFailed
from rho.lang.syntax.source import Span
from rho.tests.harness.values import text
from rho.typechecker.core import operations as c
from rho.typechecker.core.operations import Block, Core, CoreGuard, CoreInput, CoreOutput, CoreParam, ValueId
from rho.typechecker.elements import ArrayType, Element, Kind
from rho.typechecker.proof.obligations import Obligation, Relation, SizeFact
from rho.typechecker.sizes.polynomials import Size, SizeOrigin, SizeVariable, as_size, number, variable

BOOL, I64, F64, CHAR = Kind.BOOL, Kind.I64, Kind.F64, Kind.CHAR
SPAN = Span("test.rho", 0, 1)


class Program:
    """Collects ops and types; blocks are made with `block`."""

    def __init__(self) -> None:
        self.types: dict[ValueId, ArrayType] = {}
        self.ops: list[c.Op] = []
        self.inputs: list[CoreInput] = []
        self.params: list[CoreParam] = []
        self.guards: list[CoreGuard] = []
        self.sizes = 0

    def size(self, name: str, origin: SizeOrigin = SizeOrigin.INPUT, cap: Size | None = None) -> SizeVariable:
        self.sizes += 1
        return SizeVariable(name, self.sizes, origin, cap)

    def new(self, kind: Kind, *shape: Size | int, element: Element | None = None, permutation: bool = False) -> ValueId:
        which = ValueId(len(self.types))
        self.types[which] = ArrayType(element or Element(kind), tuple(map(as_size, shape)), permutation)
        return which

    def add(self, make: Callable[[ValueId], c.Op], kind: Kind, *shape: Size | int) -> ValueId:
        which = self.new(kind, *shape)
        self.ops.append(make(which))
        return which

    def literal(self, kind: Kind, data: list[object], *shape: int) -> ValueId:
        return self.add(lambda r: c.Literal(r, tuple(data)), kind, *shape)  # type: ignore[arg-type]

    def scalar(self, function: str, kind: Kind, args: list[ValueId], *shape: Size | int) -> ValueId:
        return self.add(lambda r: c.Scalar(r, function, tuple(args)), kind, *shape)

    def input(self, name: str, kind: Kind, *shape: Size | int) -> ValueId:
        which = self.new(kind, *shape)
        self.inputs.append(CoreInput(name, which, None, SPAN))
        return which

    def block(self, params: list[ValueId], fill: Callable[[], list[ValueId]]) -> Block:
        outer, self.ops = self.ops, []
        results = fill()
        inner, self.ops = self.ops, outer
        return Block(tuple(params), tuple(inner), tuple(results))

    def run(self, *outputs: ValueId, inputs: dict[str, Array] | None = None, params: dict[str, int] | None = None) -> Results:
        core = Core(
            Block((), tuple(self.ops), ()), tuple(self.inputs), tuple(self.params),
            tuple(CoreOutput(f"r{i}", v, SPAN) for i, v in enumerate(outputs)), tuple(self.guards), self.types,
            dict.fromkeys(self.types, SPAN), {}, (), (),
        )  # fmt: skip
        return interpret(core, inputs or {}, params or {})


def ints(*items: int) -> Array:
    return array(I64, (len(items),), items)


def test_print_and_scalar_frames() -> None:
    p = Program()
    m = p.literal(I64, [1, 2, 3, 4, 5, 6], 2, 3)
    v = p.literal(I64, [10, 20], 2)
    total = p.scalar("add", I64, [m, v], 2, 3)
    p.ops.append(c.CorePrint(total))
    results = p.run(total)
    assert results.printed[0].data == (11, 12, 13, 24, 25, 26)
    assert results.outputs["r0"] == results.printed[0]


def test_a_lift_runs_its_body_on_every_cell() -> None:
    p = Program()
    n = p.size("n")
    m = p.input("m", I64, variable(n), 3)
    v = p.input("v", I64, variable(n))
    row, item = p.new(I64, 3), p.new(I64)
    result = p.new(I64, variable(n))

    def body() -> list[ValueId]:
        total = p.add(lambda r: c.Reduce(r, "add", row, 0), I64)
        return [p.scalar("mul", I64, [total, item])]

    p.ops.append(c.MapCells((result,), (m, v), (1, 1), (variable(n),), p.block([row, item], body)))
    data = {"m": array(I64, (2, 3), range(6)), "v": ints(2, 3)}
    assert p.run(result, inputs=data).outputs["r0"].data == (6, 36)
    empty = {"m": array(I64, (0, 3), ()), "v": ints()}
    assert p.run(result, inputs=empty).outputs["r0"].shape == (0,)


def test_a_lift_replicates_the_cells_of_a_shorter_frame() -> None:
    p = Program()
    a, b = p.literal(I64, [1, 2], 2), p.literal(I64, [1, 2, 3, 4], 2, 2)
    x, y, result = p.new(I64), p.new(I64), p.new(I64, 2, 2, 2)
    body = p.block([x, y], lambda: [p.add(lambda r: c.Stack(r, (x, y)), I64, 2)])
    p.ops.append(c.MapCells((result,), (a, b), (1, 2), (number(2), number(2)), body))
    assert p.run(result).outputs["r0"].data == (1, 1, 1, 2, 2, 3, 2, 4)


def test_loops_stop_early_and_keep_states() -> None:
    for keep, until, expected in ((False, True, (8,)), (True, False, (1, 2, 4, 8, 16, 32)), (False, False, (32,))):
        p = Program()
        start, ten = p.literal(I64, [1]), p.literal(I64, [5])
        state, new, old = p.new(I64), p.new(I64), p.new(I64)
        body = p.block([state], lambda p=p, state=state: [p.scalar("add", I64, [state, state])])  # type: ignore[misc]
        stop = p.block([new, old], lambda p=p, new=new, ten=ten: [p.scalar("gt", BOOL, [new, ten])])  # type: ignore[misc]
        result = p.new(I64, *([6] if keep else []))
        p.ops.append(c.CoreLoop((result,), (start,), number(5), body, stop if until else None, keep))
        assert p.run(result).outputs["r0"].data == expected


def test_a_loop_of_a_run_time_trip_count() -> None:
    p = Program()
    trips = p.size("t", SizeOrigin.RUNTIME, number(4))
    count, start = p.input("count", I64), p.literal(I64, [1])
    p.ops.append(c.BindSize(count, trips))
    state, result = p.new(I64), p.new(I64)
    body = p.block([state], lambda: [p.scalar("add", I64, [state, state])])
    p.ops.append(c.CoreLoop((result,), (start,), variable(trips), body, None, False))
    assert p.run(result, inputs={"count": array(I64, (), [3])}).outputs["r0"].item == 8
    for bad in (-1, 5):
        with pytest.raises(RunFailed) as caught:
            p.run(result, inputs={"count": array(I64, (), [bad])})
        assert caught.value.diagnostics[0].code == "E403" and caught.value.diagnostics[0].span == SPAN


def test_folds_go_right_to_left_and_fold_scans_left_to_right() -> None:
    p = Program()
    n = p.size("n")
    v = p.input("v", I64, variable(n))
    item, acc = p.new(I64), p.new(I64)
    folded, scanned = p.new(I64), p.new(I64, variable(n))
    p.ops.append(c.CoreFold((folded,), (v,), p.block([item, acc], lambda: [p.scalar("sub", I64, [item, acc])])))
    before, now = p.new(I64), p.new(I64)
    body = p.block([before, now], lambda: [p.scalar("sub", I64, [before, now])])
    p.ops.append(c.FoldScan((scanned,), (v,), body))
    results = p.run(folded, scanned, inputs={"v": ints(1, 2, 3, 4)}).outputs
    assert results["r0"].item == 1 - (2 - (3 - 4)) and results["r1"].data == (1, -1, -4, -8)
    with pytest.raises(RunFailed) as caught:
        p.run(folded, inputs={"v": ints()})
    assert caught.value.diagnostics[0].code == "E204"


def test_a_fold_of_a_tuple_moves_in_step() -> None:
    p = Program()
    v, w = p.literal(I64, [3, 1, 2], 3), p.literal(I64, [0, 1, 2], 3)
    a0, a1, w0, w1 = (p.new(I64) for _ in range(4))
    least, place = p.new(I64), p.new(I64)

    def body() -> list[ValueId]:
        less = p.scalar("lt", BOOL, [a0, w0])
        return [p.scalar("select", I64, [less, a0, w0]), p.scalar("select", I64, [less, a1, w1])]

    p.ops.append(c.CoreFold((least, place), (v, w), p.block([a0, a1, w0, w1], body)))
    results = p.run(least, place).outputs
    assert (results["r0"].item, results["r1"].item) == (1, 1)


def test_branches_define_the_sizes_that_differ() -> None:
    p = Program()
    k = p.size("k", SizeOrigin.RUNTIME, number(3))
    condition = p.input("c", BOOL)
    then = p.block([], lambda: [p.literal(I64, [1, 2], 2)])
    otherwise = p.block([], lambda: [p.literal(I64, [1, 2, 3], 3)])
    result = p.new(I64, variable(k))
    p.ops.append(c.CoreBranch((result,), condition, then, otherwise, ((k, number(2), number(3)),)))
    total = p.add(lambda r: c.SizeVector(r, (variable(k),), True), I64)
    for chosen, length in ((True, 2), (False, 3)):
        results = p.run(result, total, inputs={"c": array(BOOL, (), [chosen])}).outputs
        assert results["r0"].shape == (length,) and results["r1"].item == length


def test_compress_where_and_format_define_their_sizes() -> None:
    p = Program()
    mask = p.literal(BOOL, [True, False, True, True], 4)
    v = p.literal(F64, [0.5, 2, -3, 4], 4)
    k, j, f = (p.size(name, SizeOrigin.RUNTIME, number(40)) for name in "kjf")
    kept = p.add(lambda r: c.Compress(r, mask, v, 0, k), F64, variable(k))
    where = p.add(lambda r: c.Where(r, mask, j), I64, variable(j))
    shown = p.add(lambda r: c.Format(r, kept, f), CHAR, variable(f))
    results = p.run(kept, where, shown).outputs
    assert results["r0"].data == (0.5, -3.0, 4.0) and results["r1"].data == (0, 2, 3)
    assert results["r2"] == text("0.5 ¯3 4")


def test_random_is_a_function_of_its_key() -> None:
    p = Program()
    key, pair = p.literal(I64, [42]), p.literal(I64, [42, 0], 2)
    a = p.add(lambda r: c.library_op(r, "random", key), F64, 2, 3)
    b = p.add(lambda r: c.library_op(r, "random", pair), F64, 6)
    results = p.run(a, b).outputs
    assert results["r0"].data == results["r1"].data and len(set(results["r0"].data)) == 6


def test_run_time_checks_carry_the_span_of_the_op() -> None:
    p = Program()
    v, i = p.literal(I64, [1, 2, 3], 3), p.input("i", I64, 1)
    result = p.add(lambda r: c.Gather(r, v, i, 0, True), I64, 1)
    with pytest.raises(RunFailed) as caught:
        p.run(result, inputs={"i": ints(3)})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E310" and diagnostic.span == SPAN and "3" in diagnostic.message


def test_library_results_match_their_types() -> None:
    p = Program()
    a = p.literal(F64, [4.0, 0.0, 0.0, 9.0], 2, 2)
    w, v = p.new(F64, 2), p.new(F64, 2, 2)
    p.ops.append(c.Library((w, v), "eigh", (a,)))
    assert p.run(w).outputs["r0"].data == (4.0, 9.0)


# --------------------------------------------------------------------------- binding


def codes(problem: pytest.ExceptionInfo[Refused]) -> list[str]:
    return [d.code for d in problem.value.diagnostics]


def test_inputs_bind_sizes_and_must_agree() -> None:
    p = Program()
    n, m = p.size("n"), p.size("m")
    p.input("a", I64, variable(n) * 2 + 1, variable(m))
    p.input("b", I64, variable(n))
    sizes = p.add(lambda r: c.SizeVector(r, (variable(n), variable(m)), False), I64, 2)
    good = {"a": array(I64, (7, 2), range(14)), "b": ints(1, 2, 3)}
    assert p.run(sizes, inputs=good).outputs["r0"].data == (3, 2)
    with pytest.raises(Refused) as caught:
        p.run(sizes, inputs={**good, "b": ints(1)})
    assert codes(caught) == ["E701"] and caught.value.diagnostics[0].labels
    with pytest.raises(Refused) as caught:
        p.run(sizes, inputs={**good, "a": array(I64, (6, 2), range(12))})
    assert "E706" in codes(caught)
    with pytest.raises(Refused) as caught:
        p.run(sizes, inputs={**good, "a": ints(1)})
    assert codes(caught) == ["E706"]
    with pytest.raises(Refused) as caught:
        p.run(sizes, inputs={"a": good["a"]})
    assert codes(caught) == ["E704"]


def test_params_are_overridden_and_guards_checked() -> None:
    p = Program()
    k = p.size("k", SizeOrigin.PARAM)
    p.params.append(CoreParam("k", k, 3, SPAN))
    fact = SizeFact(Relation.AT_MOST, number(2), variable(k))
    p.guards.append(CoreGuard(fact, Obligation(fact, Code.E201, SPAN, "k is at least 2")))
    v = p.add(lambda r: c.Iota(r), I64, variable(k))
    assert p.run(v).outputs["r0"].data == (0, 1, 2)
    assert p.run(v, params={"k": 2}).outputs["r0"].data == (0, 1)
    with pytest.raises(Refused) as caught:
        p.run(v, params={"k": 1})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E701" and diagnostic.counterexample == {"k": 1} and "k=1" in diagnostic.message
    with pytest.raises(Refused):
        p.run(v, params={"k": -1})


# ---------------------------------------------------------------------- verification


def test_a_wrong_type_is_an_internal_error() -> None:
    for kind, shape in ((F64, (2,)), (I64, (3,))):
        p = Program()
        v = p.literal(I64, [1, 2], 2)
        p.types[v] = ArrayType(Element(I64), (number(2),))
        r = p.add(lambda r, v=v: c.Reverse(r, v, 0), kind, *shape)  # type: ignore[misc]
        with pytest.raises(InternalError):
            p.run(r)


def test_ranges_positions_and_permutations_are_verified() -> None:
    for element, permutation in (
        (Element(I64, low=0, high=1), False), (Element(I64, index_bound=number(2)), False),
        (Element(I64, index_bound=number(3)), True),
    ):  # fmt: skip
        p = Program()
        r = p.new(I64, 2, element=element, permutation=permutation)
        p.ops.append(c.Literal(r, (1, 2)))
        with pytest.raises(InternalError):
            p.run(r)


def test_unbound_sizes_and_values_are_internal_errors() -> None:
    p = Program()
    v = p.add(lambda r: c.Iota(r), I64, variable(p.size("lost")))
    with pytest.raises(InternalError):
        p.run(v)
    p = Program()
    early = p.new(I64, 1)
    r = p.add(lambda r: c.Reverse(r, early, 0), I64, 1)
    with pytest.raises(InternalError):
        p.run(r)


def test_deep_nesting_runs() -> None:
    p = Program()
    start = p.literal(I64, [0])
    one = p.literal(I64, [1])

    def level(depth: int, value: ValueId) -> ValueId:
        if depth == 0:
            return p.scalar("add", I64, [value, one])
        state, result = p.new(I64), p.new(I64)
        body = p.block([state], lambda: [level(depth - 1, state)])
        p.ops.append(c.CoreLoop((result,), (value,), number(1), body, None, False))
        return result

    assert p.run(level(250, start)).outputs["r0"].item == 1
