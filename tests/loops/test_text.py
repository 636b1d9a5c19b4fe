"""Loop programs as text: what is printed is read back, and what is wrong is said with its line and column."""

from __future__ import annotations

import math
import struct

import pytest

from rho.backend.loopir.ir import ConstantStatement, Index, IndexStatement, LoopProgram
from rho.backend.loopir.text import TextError, parse, show, show_index
from rho.typechecker.elements import Kind

from .fixtures import ALL


@pytest.mark.parametrize("name", ALL)
def test_a_program_is_read_back(name: str) -> None:
    program = parse(ALL[name])
    assert parse(show(program)) == program
    assert show(parse(show(program))) == show(program)


def test_a_fixture_is_printed_as_it_is_written() -> None:
    assert show(parse(ALL["stencil"])) == ALL["stencil"].lstrip("\n")


FLOATS = [0.0, -0.0, 0.1, -1e-320, 5e-324, 1e308, math.inf, -math.inf, math.nan, 2.0**70, 1 / 3]


@pytest.mark.parametrize("value", FLOATS, ids=repr)
@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
def test_floats_keep_their_bits(value: float, kind: Kind) -> None:
    if kind is Kind.F64:
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    else:
        bits = struct.unpack("<I", struct.pack("<f", value if abs(value) < 1e38 or not math.isfinite(value) else 3.4028234e38))[0]
    for variant in (bits, bits ^ 1):
        program = LoopProgram("p", (), (), (ConstantStatement("c", kind, variant),))
        assert parse(show(program)) == program


CONSTANTS = [(Kind.BOOL, 1), (Kind.BOOL, 255), (Kind.I64, -(2**63)), (Kind.U8, 255), (Kind.CHAR, 955)]


@pytest.mark.parametrize(("kind", "bits"), CONSTANTS)
def test_other_constants_are_read_back(kind: Kind, bits: int) -> None:
    program = LoopProgram("p", (), (), (ConstantStatement("c", kind, bits),))
    assert parse(show(program)) == program


def test_affine_forms() -> None:
    assert show_index(Index((("i", -1), ("n", 2)), -1)) == "2*n - i - 1"
    assert show_index(Index((), -4)) == "-4"
    assert show_index(Index((("i", -3),), 0)) == "-3*i"
    body = parse("program p(i, n) { k = index 3 - i + 2*n - n + 1 - 0 z = index i - i }").body
    assert body == (IndexStatement("k", Index((("i", -1), ("n", 1)), 4)), IndexStatement("z", Index((), 0)))
    assert parse("program p(i) { k = index 1 - 2*(i - 3) }").body == (IndexStatement("k", Index((("i", -2),), 7)),)


WRONG = [
    ("program p() {\n  x = \n}", 3, 1, "expected a view"),
    ("program p() {\n  for i in 0..n quick { }\n}", 2, 17, "a kind of loop"),
    ("program p() {\n  c: f66 = 1\n}", 2, 6, "a kind"),
    ("program p() {\n  c: i64 = 1.5\n}", 2, 12, "expected a i64"),
    ("program p() {\n  $\n}", 2, 3, "no token"),
    ("program p() {\n  y[i] = \n", 3, 1, "the end"),
    ("program p() { } }", 1, 17, "expected the end"),
    ("program p() { input x f64[n] }", 1, 23, "expected :"),
    ("program p() { fail x if y }", 1, 20, "a whole number"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), WRONG)
def test_what_is_wrong_is_said_with_its_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(TextError, match=message) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
