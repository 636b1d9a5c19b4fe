"""What a kernel is compiled under: equal work of other phases is one kernel, and a constant's bits are part of it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from rho.backend.graph.phases import ApplyNode, ConstantNode, SizeNode
from rho.backend.lower.body import Kernel, build_kernel, legalize
from rho.backend.lower.loop_order import plan_nest
from rho.lang.syntax.source import Span
from rho.tests.kernels.phases import apply, phase, projection, read
from rho.typechecker.elements import Kind
from rho.typechecker.sizes.polynomials import SizeOrigin, SizeVariable, variable

NAN = math.nan
VALUES = [0.0, -0.0, 1.0, NAN, math.copysign(NAN, -1.0), math.inf, math.pi]


def kernel(*nodes: object, kind: Kind = Kind.F64) -> Kernel:
    made = phase([40], [projection([40], [40], [0])], [read(0, kind), *nodes], [len(nodes)])  # type: ignore[list-item]
    body = legalize(made, complexes=True)
    assert body is not None
    return build_kernel(body, plan_nest((40,), False, [(kind.bytes,)], body.coordinates), [kind])


def test_a_constant_has_its_bits() -> None:
    """Also two zeros, and numbers that are none, as keys in this process (equality) and of files (`repr`)."""
    nodes = [ConstantNode(Kind.F64, value) for value in VALUES] + [ConstantNode(Kind.C128, complex(v, 0.0)) for v in VALUES]
    nodes += [ConstantNode(Kind.BOOL, True), ConstantNode(Kind.I64, 1), ConstantNode(Kind.CHAR, "1"), ConstantNode(Kind.F32, 0.0)]
    for i, one in enumerate(nodes):
        for j, other in enumerate(replace(node) for node in nodes):
            assert (one == other, repr(one) == repr(other)) == (i == j, i == j), (one, other)
            assert i != j or hash(one) == hash(other)
    assert ConstantNode(Kind.F64, 1.0) != 1.0
    kernels = [kernel(ConstantNode(Kind.F64, value), apply("add", (0, 1), Kind.F64)) for value in VALUES]
    again = [kernel(ConstantNode(Kind.F64, math.copysign(value, value)), apply("add", (0, 1), Kind.F64)) for value in VALUES]
    assert len(set(kernels)) == len(set(map(repr, kernels))) == len(VALUES)
    assert kernels == again and list(map(repr, kernels)) == list(map(repr, again))


@pytest.mark.parametrize("kind", [Kind.F64, Kind.C128])
def test_equal_work_is_one_kernel(kind: Kind) -> None:
    """Whatever its sizes are called, and wherever it is written."""
    sizes = [variable(SizeVariable(name, number, SizeOrigin.PARAM)) for number, name in ((7, "n"), (8, "m"), (900, "n"))]

    def made(first: int, second: int, line: int) -> Kernel:
        span = None if line < 0 else Span("a.rho", line, line + 1)
        checked = ApplyNode("convert_checked", (1,), Kind.I32, span=span)
        total, wide = apply("add", (1, 3), Kind.I64), apply("convert", (4,), Kind.I64, to=kind)
        product = apply("mul", (0, 5), kind)
        return kernel(SizeNode(sizes[first]), checked, SizeNode(sizes[second]), total, wide, product, kind=kind)

    one = made(0, 1, 5)
    assert one == made(1, 2, 90) == made(2, 0, -1) and repr(one) == repr(made(1, 2, 90)) and hash(one) == hash(made(2, 0, -1))
    assert one != made(0, 0, 5) and repr(one) != repr(made(0, 0, 5))
