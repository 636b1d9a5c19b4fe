"""Integers compare with floats exactly, whatever their size (language.md, Numbers: comparisons are exact)."""

from __future__ import annotations

import math
import operator
from fractions import Fraction

import numpy
import pytest
from hypothesis import given, settings, strategies as st

from rho.backend import bind_shapes, execute, plan
from rho.backend.reference.interpreter import interpret
from rho.backend.schedule.plan.plan import Device
from rho.backend.vm.values import Array
from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.core.operations import Core
from rho.typechecker.elements import Kind

RELATIONS = {"<": operator.lt, "≤": operator.le, "=": operator.eq, "≥": operator.ge, ">": operator.gt, "≠": operator.ne}
INPUTS = "input x : i64[n]\ninput y : f64[n]\n"


def core_of(text: str) -> Core:
    result = check(Source("<test>", text))
    assert result.core is not None, result.diagnostics
    return result.core


def exactly(symbol: str, x: int, y: float) -> bool:
    if math.isnan(y):
        return symbol == "≠"
    return RELATIONS[symbol](x, y if math.isinf(y) else Fraction(y))


@pytest.mark.parametrize("symbol", RELATIONS)
def test_the_example_of_the_language(symbol: str) -> None:
    for text, x, y in (("9007199254740993{}9007199254740992.0", 9007199254740993, 9007199254740992.0),
                       ("9223372036854775807{}9223372036854775808.0", 2**63 - 1, 2.0**63),
                       ("(9007199254740993 3 4){}9007199254740992.0 3 4.5", 9007199254740993, 9007199254740992.0)):  # fmt: skip
        core = core_of(text.format(symbol))
        (printed,) = interpret(core, {}, {}).printed
        assert printed.data[0] is exactly(symbol, x, y)


bases = st.sampled_from([2**53, -(2**53), 2**62, -(2**62), 2**63 - 2000, 0])
near = st.builds(lambda base, step: base + step, bases, st.integers(-1025, 1025))
integers = st.one_of(near, st.integers(-(2**63), 2**63 - 1)).filter(lambda v: -(2**63) <= v < 2**63)
special = st.sampled_from([math.inf, -math.inf, math.nan, 2.0**63, -(2.0**63), 0.0, 0.5])
floats = st.one_of(special, st.floats(), near.map(float))
pairs = st.lists(st.one_of(st.tuples(integers, floats), integers.map(lambda v: (v, float(v)))), min_size=1, max_size=20)
PROGRAM = "\n".join(f"output r{i} ← x{s}y\noutput t{i} ← y{s}x" for i, s in enumerate(RELATIONS))


@settings(max_examples=60, deadline=None)
@given(pairs)
def test_arrays_of_integers_and_floats(found: list[tuple[int, float]]) -> None:
    core = core_of(INPUTS + PROGRAM)
    xs, ys = [x for x, _ in found], [y for _, y in found]
    arrays = {"x": Array(Kind.I64, (len(xs),), tuple(xs)), "y": Array(Kind.F64, (len(ys),), tuple(ys))}
    reference = interpret(core, arrays, {}).outputs
    bound = bind_shapes(core, {"x": (len(xs),), "y": (len(ys),)}, {})
    given_values = {"x": numpy.array(xs, numpy.int64), "y": numpy.array(ys, numpy.float64)}
    planned = execute(plan(bound, Device("cpu0", "cpu", 1)), bound, given_values).outputs
    for i, symbol in enumerate(RELATIONS):
        wanted = [exactly(symbol, x, y) for x, y in found]
        turned = [exactly({"<": ">", ">": "<", "≤": "≥", "≥": "≤"}.get(symbol, symbol), x, y) for x, y in found]
        assert list(reference[f"r{i}"].data) == wanted
        assert list(reference[f"t{i}"].data) == turned
        assert planned[f"r{i}"].value.tolist() == wanted
        assert planned[f"t{i}"].value.tolist() == turned


@settings(max_examples=40, deadline=None)
@given(integers, floats.filter(math.isfinite), st.sampled_from(list(RELATIONS)))
def test_numbers_of_the_program(x: int, y: float, symbol: str) -> None:
    text = repr(y).replace("e+", "e").replace("-", "¯")
    core = core_of(f"input x : i64[n]\noutput r ← x{symbol}{text}")
    found = interpret(core, {"x": Array(Kind.I64, (1,), (x,))}, {}).outputs["r"]
    assert list(found.data) == [exactly(symbol, x, y)]


def test_small_integers_cost_nothing_more() -> None:
    for text in ("input x : i32[n]\nx=2.5 3.5⌷⍨0", "input x : i64[n]\n(⍳≢x)=1.5+⍳≢x", "input x : i64[n]\nx≥3.0"):
        kinds = [op.function for op in core_of(text).block.ops if hasattr(op, "function")]
        assert "select" not in kinds
