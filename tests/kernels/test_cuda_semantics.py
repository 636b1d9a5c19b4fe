"""What CUDA text means: kernels compiled for the host give the bits of the CPU back end, on every function, layout and length."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from share import seeds

from rho.backend.cpu.views import DTYPES
from rho.backend.gpu.launch import compile_structured, to_host
from rho.backend.graph.phases import ApplyNode, ConstantNode, Structured, ValueId
from rho.backend.jit import tiering
from rho.backend.lower.body import legalize
from rho.backend.vm.check_failures import CheckFailed
from rho.tests.backend import cuda_stub
from rho.tests.kernels import cuda_host
from rho.tests.kernels.phases import KINDS, apply, data, node_kind, phase, projection, read, run, same_bits
from rho.tests.kernels.test_functions import EXACT, ORDER, elementwise
from rho.tests.kernels.test_layouts import body_of, operand, spaces
from rho.typechecker.elements import FUNCTIONS, Kind

pytestmark = pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler")
CARD = cuda_stub.card().card
FLOATS = (Kind.F32, Kind.F64)


def on_card(made: Structured, arrays: list[Any], overwrite: Any = None) -> list[Any]:
    kinds = {ValueId(i): KINDS[a.dtype.num] for i, a in enumerate(arrays)}
    kinds |= {r.value: node_kind(made.body, r.node) for r in made.results}

    def on_host(values: Any, target: Any) -> Any:
        return run(made, arrays, tiering.Mode.OFF)

    kernel = compile_structured(CARD, made, kinds.__getitem__, lambda size: size.evaluate({}), on_host)
    assert kernel is not None
    memory = {ValueId(i): cuda_stub.over(np.require(a, requirements="A")) for i, a in enumerate(arrays)}
    return [to_host(CARD, value) for value in kernel(memory, overwrite)]


def agree(made: Structured, arrays: list[Any]) -> None:
    wanted = run(made, arrays, tiering.Mode.OFF)
    for got, want in zip(on_card(made, arrays), wanted, strict=True):
        assert same_bits(got, np.asarray(want)), (made, got, want)


def together(cases: list[tuple[str, Kind]]) -> list[tuple[Structured, list[Any]]]:
    """One phase a kind, with a result for every function, as one text is compiled faster than many."""
    found = []
    for kind in ORDER:
        names = [name for name, k in cases if k is kind and legalize(elementwise(name, kind, 3)) is not None]
        if names:
            body = [read(0, kind), read(1, kind), *(apply(n, range(FUNCTIONS[n].arity), kind) for n in names)]
            count = 333
            made = phase([count], [projection([count], [count], [0])] * 2, body, range(2, len(body)))
            found.append((made, [data(kind, count, 1), data(kind, count, 2)]))
    return found


def test_functions() -> None:
    cases = [(name, kind) for name, kind in EXACT if name not in ("floor", "ceil")]
    made = together(cases)
    assert sum(len(p.results) for p, _ in made) > 90
    for one, arrays in made:
        agree(one, arrays)


@pytest.mark.parametrize("kind", FLOATS)
def test_mathematics(kind: Kind) -> None:
    """Far angles are in this range too: the host has one C library."""
    count = 2000
    some = np.random.default_rng(1).standard_normal(count // 2) * 30
    x = np.concatenate([data(kind, count // 2, 3), some]).astype(DTYPES[kind])
    body = [read(0, kind), *(apply(f, (0,), kind) for f in ("exp", "ln", "erf", "expm1", "log1p")),
            *(apply("circular", (0,), kind, k) for k in range(-10, 13)),
            *(apply(f, (0, 0), kind) for f in ("pow", "log", "root", "atan2")), ConstantNode(kind, 10.0)]  # fmt: skip
    body.append(apply("log", (len(body) - 1, 0), kind))
    made = [place for place, node in enumerate(body) if isinstance(node, ApplyNode)]
    agree(phase([count], [projection([count], [count], [0])], body, made), [x])


def test_select_and_conversions() -> None:
    count = 200
    one = projection([count], [count], [0])
    for kind in ORDER:
        body = [read(0, Kind.BOOL), read(1, kind), read(2, kind), apply("select", (0, 1, 2), kind)]
        agree(phase([count], [one] * 3, body, [3]), [data(Kind.BOOL, count, 1), data(kind, count, 2), data(kind, count, 3)])
    for source in ORDER:
        targets = []
        for target in ORDER:
            body = [read(0, source), apply("convert_checked", (0,), source, to=target)]
            if legalize(phase([count], [one], body, [1])) is not None:
                targets.append(target)
        body = [read(0, source), *(apply("convert_checked", (0,), source, to=target) for target in targets)]
        fits = (np.arange(count) % 2).astype(DTYPES[source])
        agree(phase([count], [one], body, range(1, len(body))), [fits])


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("function", ["floor", "ceil", "convert_checked"])
def test_checks_fail_as_on_the_host(function: str, kind: Kind) -> None:
    count = 300
    made = phase([count], [projection([count], [count], [0])], [read(0, kind), apply(function, (0,), kind, to=Kind.I64)], [1])
    good = np.arange(count).astype(DTYPES[kind])
    agree(made, [good if function == "convert_checked" else good / 7])
    for bad in (np.nan, np.inf, -1e30, 2.0**63):
        spoilt = good.copy()
        spoilt[217] = bad
        with pytest.raises(CheckFailed) as told:
            on_card(made, [spoilt])
        with pytest.raises(CheckFailed) as wanted:
            run(made, [spoilt], tiering.Mode.OFF)
        assert told.value.message == wanted.value.message


@pytest.mark.parametrize("seed", seeds(12, least=4))
def test_maps(seed: int) -> None:
    draw = random.Random(seed)
    space, kind = spaces(draw), draw.choice((Kind.BOOL, Kind.U8, Kind.I32, Kind.I64, *FLOATS))
    pairs = [operand(draw, space, kind) for _ in range(draw.randrange(1, 4))]
    body = body_of(draw, [kind] * len(pairs), space)
    agree(phase(space, [p for _, p in pairs], body, sorted({len(body) - 1, len(pairs)})), [a for a, _ in pairs])


@pytest.mark.parametrize("seed", seeds(16, least=4))
def test_reductions(seed: int) -> None:
    draw = random.Random(1000 + seed)
    space = [*spaces(draw), draw.choice((1, 2, 15, 31, 255, 256, 257, 300, 1000))]
    space = space if np.prod(space[:-1]) <= 250 else space[-2:]
    kind = draw.choice((Kind.BOOL, Kind.U8, Kind.I32, Kind.I64, *FLOATS))
    reduction = draw.choice(("and", "or") if kind is Kind.BOOL else ("add", "mul", "min", "max"))
    pairs = [operand(draw, space, kind) for _ in range(draw.randrange(1, 3))]
    body = body_of(draw, [kind] * len(pairs), space)
    made = phase(space, [p for _, p in pairs], body, sorted({len(body) - 1, 0}), reduction)
    agree(made, [a for a, _ in pairs])


@pytest.mark.parametrize("kind", FLOATS)
def test_order_of_sums(kind: Kind) -> None:
    """Whole vectors, rows and columns, of one block and of many."""
    for count, columns in itertools.product((1, 3, 300, 4096, 4097, 12289, 45000), (1, 7)):
        x = np.random.default_rng(count).standard_normal((count, columns)).astype(DTYPES[kind])
        space = [columns, count]
        agree(phase(space, [projection(space, x.shape, [1, 0])], [read(0, kind)], [0], "add"), [x])
        rows = np.ascontiguousarray(x.T)
        agree(phase(space, [projection(space, rows.shape, [0, 1])], [read(0, kind)], [0], "add"), [rows])


def test_negative_zeros() -> None:
    for count in (1, 5, 256, 300, 5000):
        made = phase([count], [projection([count], [count], [0])], [read(0, Kind.F64)], [0], "add")
        assert np.signbit(on_card(made, [np.full(count, -0.0)])[0])


def test_overwriting() -> None:
    """The first result goes over an operand that is nobody else's."""
    count = 1000
    made = phase([count], [projection([count], [count], [0])], [read(0, Kind.F64), apply("mul", (0, 0), Kind.F64)], [1])
    x = np.arange(count, dtype=float)
    own = x.copy()
    target = cuda_stub.over(own)
    kinds = {ValueId(0): Kind.F64, made.results[0].value: Kind.F64}
    kernel = compile_structured(CARD, made, kinds.__getitem__, lambda s: s.evaluate({}), lambda v, o: ())
    assert kernel is not None
    kernel({ValueId(0): target}, target)
    assert np.array_equal(own, x * x)
