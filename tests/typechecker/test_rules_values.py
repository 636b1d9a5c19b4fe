"""The core that the rules build gives APL's values (reference interpreter), and always values of the type they promised."""

from __future__ import annotations

import random

import pytest

from rho.backend.reference import interpret
from rho.backend.run.values import Array
from rho.lang.diagnostics import RhoError
from rho.lang.source import Source
from rho.typechecker.check import check
from rho.typechecker.elements import Kind


def value(expression: str, origin: int = 0) -> tuple[tuple[int, ...], list[object]]:
    result = check(Source("<test>", expression), index_origin=origin)
    assert result.core is not None, [f"{d.code}: {d.message}" for d in result.diagnostics]
    (printed,) = interpret(result.core, {}, {}).printed
    return printed.shape, list(printed.data)


VALUES = [
    ("param k ← 2\nk⌿2 2⍴⍳4", (4, 2), [0, 1, 0, 1, 2, 3, 2, 3]), ("param k ← 2\nk/2 2⍴⍳4", (2, 4), [0, 0, 1, 1, 2, 2, 3, 3]),
    ("param k ← 2\nk/[1]1 2 2⍴⍳4", (1, 4, 2), [0, 1, 0, 1, 2, 3, 2, 3]), ("param k ← 2\nk/5", (2,), [5, 5]),
    ("3 1 ¯2 2/6 7 8 9", (8,), [6, 6, 6, 7, 0, 0, 9, 9]), ("1 0 2⌿3 2⍴⍳6", (3, 2), [0, 1, 4, 5, 4, 5]),
    ("2 0 1/5", (3,), [5, 5, 5]), ("2 2⌿,5", (4,), [5, 5, 5, 5]), ("2/1 2", (4,), [1, 1, 2, 2]),
    ("2/2 2⍴⍳4", (2, 4), [0, 0, 1, 1, 2, 2, 3, 3]), ("¯2/1 2", (4,), [0, 0, 0, 0]),
    ("3 ¯2 4\\7 8", (9,), [7, 7, 7, 0, 0, 8, 8, 8, 8]), ("1 0 1 0 1\\'Hat'", (5,), list("H a t")),
    ("1 0 1\\5", (3,), [5, 0, 5]), ("(1 0 1=1)\\5 6", (3,), [5, 0, 6]), ("1 0⍀1 2⍴3 4", (2, 2), [3, 4, 0, 0]),
    ("(1 0 1=1)/4 5 6", (2,), [4, 6]), ("(1=1)/4 5", (2,), [4, 5]), ("(0=1)/4 5", (0,), []), ("(1 0=1)/7", (1,), [7]),
    ("⍸1 0 1=1", (2,), [0, 2]), ("⍸2 0 1", (3,), [0, 0, 2]), ("⍸0<2 2⍴1 0 0 1", (2, 2), [0, 0, 1, 1]),
    ("1 2 3∪3 4 4", (5,), [1, 2, 3, 4, 4]), ("1 2 3∩3 1", (2,), [1, 3]), ("1 2 3 2~2", (2,), [1, 3]),
    ("∪3 1 3 2 1", (3,), [3, 1, 2]), ("'abc'~'b'", (2,), ["a", "c"]), ("∪3 2⍴1 2 1 2 3 4", (2, 2), [1, 2, 3, 4]),
    ("1 2~'ab'", (2,), [1, 2]), ("(2 2⍴⍳4)~1 2⍴0 1", (1, 2), [2, 3]), ("5↑1 2 3", (5,), [1, 2, 3, 0, 0]),
    ("¯5↑1 2 3", (5,), [0, 0, 1, 2, 3]), ("¯2 3↑7", (2, 3), [0, 0, 0, 7, 0, 0]), ("2 ¯1↑3 3⍴⍳9", (2, 1), [2, 5]),
    ("3↑'a'", (3,), ["a", " ", " "]), ("4↓1 2 3", (0,), []), ("¯1↓1 2 3", (2,), [1, 2]), ("1 ¯1↓3 3⍴⍳9", (2, 2), [3, 4, 6, 7]),
    ("1↓5", (0,), []), ("2↑[1]2 3⍴⍳6", (2, 2), [0, 1, 3, 4]), ("(⍳0)↑5", (), [5]), ("(+/1 0 1=1)↑7 8 9", (2,), [7, 8]),
    ("(-+/1 0 1=1)↑7 8 9", (2,), [8, 9]), ("(2 2⍴⍳4),8 9", (2, 3), [0, 1, 8, 2, 3, 9]),
    ("8,2 2⍴⍳4", (2, 3), [8, 0, 1, 8, 2, 3]), ("(2 2⍴⍳4)⍪8", (3, 2), [0, 1, 2, 3, 8, 8]),
    ("1 2,[0.5]3 4", (2, 2), [1, 3, 2, 4]), ("1 2,[¯0.5]3", (2, 2), [1, 2, 3, 3]), ("1,2", (2,), [1, 2]), ("⍬,1", (1,), [1]),
    ("1,1.5", (2,), [1.0, 1.5]), ("1⌽1 2 3", (3,), [2, 3, 1]), ("0 1⌽2 2⍴⍳4", (2, 2), [0, 1, 3, 2]),
    ("0 1⊖2 2⍴⍳4", (2, 2), [0, 3, 2, 1]), ("(,1)⌽1 2 3", (3,), [2, 3, 1]), ("⍉2 3⍴⍳6", (3, 2), [0, 3, 1, 4, 2, 5]),
    ("0 0⍉2 3⍴⍳6", (2,), [0, 4]), ("1 0 0⍉2 2 2⍴⍳8", (2, 2), [0, 4, 3, 7]), ("2 2⍴⍳0", (2, 2), [0, 0, 0, 0]),
    ("2 3⍴''", (2, 3), [" "] * 6), ("5⍴1 2", (5,), [1, 2, 1, 2, 1]), ("⍬⍴7 8", (), [7]), ("0⍴5", (0,), []),
    ("2 3⍴⍳6", (2, 3), [0, 1, 2, 3, 4, 5]), ("⍳2 2", (2, 2, 2), [0, 0, 0, 1, 1, 0, 1, 1]), ("⍳⍬", (0,), []),
    ("(⌊7÷2)⍴1", (3,), [1, 1, 1]), ("(6÷2)⍴1", (3,), [1, 1, 1]), ("(⌈7÷2)⍴1", (4,), [1] * 4), ("1e1⍴1", (10,), [1] * 10),
    ("(2*3)⍴1", (8,), [1] * 8), ("(3|7)⍴9", (1,), [9]), ("5 6 7⍳7 9", (2,), [2, 3]), ("(2 2⍴⍳4)⍳2 3", (), [1]),
    ("'abc'⍳'cz'", (2,), [2, 3]), ("'abc'⍳1 2", (2,), [3, 3]), ("1 2∊'ab'", (2,), [False, False]),
    ("'a'=1 2", (2,), [False, False]), ("'a'≠1 2", (2,), [True, True]), ("'a'≡97", (), [False]), ("1 2≡1 2", (), [True]),
    ("1 2≡1 2.0", (), [True]), ("''≡⍬", (), [False]), ("1 2≢1 2 3", (), [True]), ("10 20⍸5 10 25", (3,), [-1, 0, 1]),
    ("(2 2⍴⍳4)⍷1 2 3", (3,), [False] * 3), ("2 2⊤5 6", (2, 2), [0, 1, 1, 0]), ("2⊥1 0 1", (), [5]),
    ("24 60 60⊥1 2 3", (), [3723]), ("2⊥2 2⍴1 0 1 1", (2,), [3, 1]), ("1 2⊥5", (), [15]), ("2↕1 2 3", (2, 2), [1, 2, 2, 3]),
    ("1⊃5 6 7", (), [6]), ("1 0⊃2 2⍴⍳4", (), [2]), ("2 0⌷5 6 7", (2,), [7, 5]), ("(2 2⍴1 0)⌷5 6", (2, 2), [6, 5, 6, 5]),
    ("1⌷[1]2 2⍴⍳4", (2,), [1, 3]), ("(1 0 1=1)¿(1 2 3⋄9)", (3,), [1, 9, 3]), ("⊃7 8", (), [7]), ("⌊2.7 ¯2.7", (2,), [2, -3]),
    ("2*¯1", (), [0.5]), ("2*10", (), [1024]), ("¯3|1 2 3", (3,), [-2, -1, 0]), ("0|7 ¯7", (2,), [7, -7]), ("12∨18", (), [6]),
    ("4∧6", (), [12]), ("1 0∧1 1", (2,), [True, False]), ("1 2○0.0", (2,), [0.0, 1.0]), ("1 2○0.0 0.0", (2,), [0.0, 1.0]),
    ("(u8 200)+50", (), [250]), ("(i32 1 2)×3", (2,), [3, 6]), ("i64 'az'", (2,), [97, 122]),
    ("char 72 105", (2,), ["H", "i"]), ("bool 0 1", (2,), [False, True]), ("~⍬", (0,), []), ("×/3 4", (), [12]),
    ("'ab'⍋'cab'", (3,), [1, 2, 0]), ("⍋3 1 2", (3,), [1, 2, 0]), ("≠3 1 3", (3,), [True, True, False]),
    ("≢⍸1 0 1=1", (), [2]),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "shape", "data"), VALUES)
def test_value(expression: str, shape: tuple[int, ...], data: list[object]) -> None:
    assert value(expression) == (shape, data)


ORIGIN_ONE = [
    ("⍳3", (3,), [1, 2, 3]), ("5↑⍳3", (5,), [1, 2, 3, 0, 0]), ("⍸0 1 0 1=1", (2,), [2, 4]), ("5 6 7⍳7 9", (2,), [3, 4]),
    ("2⌷5 6 7", (), [6]), ("2⊃5 6 7", (), [6]), ("2 1⍉2 3⍴⍳6", (3, 2), [1, 4, 2, 5, 3, 6]), ("⍋3 1 2", (3,), [2, 3, 1]),
    ("(⍋3 1 2)⌷3 1 2", (3,), [1, 2, 3]), ("⍳2 2", (2, 2, 2), [1, 1, 1, 2, 2, 1, 2, 2]), ("⌽[1]2 2⍴⍳4", (2, 2), [3, 4, 1, 2]),
    ("10 20⍸5 15", (2,), [0, 1]), ("⍸2 2⍴0 1 1 0", (2, 2), [1, 2, 2, 1]), ("1 0 1⍀2 2⍴⍳4", (3, 2), [1, 2, 0, 0, 3, 4]),
    ("1+⍳3", (3,), [2, 3, 4]), ("(⍳3)=⍳3", (3,), [True] * 3), ("2|⍳3", (3,), [1, 0, 1]), ("(⍳3),9", (4,), [1, 2, 3, 9]),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "shape", "data"), ORIGIN_ONE)
def test_value_with_index_origin_one(expression: str, shape: tuple[int, ...], data: list[object]) -> None:
    assert value(expression, 1) == (shape, data)


# ------------------------------------------------------- every pairing keeps its declared type

INPUTS = """input x : f64[n]
input v : i64[n]
input b : bool[n]
input A : f64[n m]
input t : char[n]
input s : i64
input C : i32[m n]
input u : u8[m]
param k ← 2
"""
ARGUMENTS = (
    (
        "x v b A t s C u k 3 ¯1 (b⌿v) (⍳≢x) (⍳+/b) (≢x) (⍴A) (1↓x) (⍋x) (⌊(≢x)÷2) (⍸b) (∪v) (2,3)⍴v (3|v) (x>0) (-+/b) (10⌊0⌈s) "
        "(v⍳s) (k⍴1.5) (,A) '' 3J4 (1,0,1)"
    )
    .replace("(2,3)⍴v", "((2,3)⍴v)")
    .split(" ")
)
MONADIC = "+-×÷*⌊⌈|~≠≢⍴,⍪⌽⊖⍉↑↓⊃⍳⍸⍋⍒∪⍕"
DYADIC = "+-×÷*⌊⌈|∧∨<=≡~⍴,⍪⌽⊖↑↓↕⊃⌷⍳⍸∊⍷∪∩/⌿\\⍀⊥⊤?"


def data(rows: int, columns: int) -> dict[str, Array]:
    pick = random.Random(rows * 7 + columns)

    def some(kind: Kind, shape: tuple[int, ...], items: list[object]) -> Array:
        count = 1
        for length in shape:
            count *= length
        return Array(kind, shape, tuple(pick.choice(items) for _ in range(count)))  # type: ignore[arg-type]

    return {
        "x": some(Kind.F64, (rows,), [-1.5, 0.0, 2.0, 3.25]), "v": some(Kind.I64, (rows,), [-2, 0, 1, 2, 5]),
        "b": some(Kind.BOOL, (rows,), [True, False]), "A": some(Kind.F64, (rows, columns), [-1.5, 0.0, 2.0]),
        "t": some(Kind.CHAR, (rows,), ["a", "b", " "]), "s": some(Kind.I64, (), [-1, 0, 1, 2]),
        "C": some(Kind.I32, (columns, rows), [-3, 0, 4]), "u": some(Kind.U8, (columns,), [0, 1, 255]),
    }  # fmt: skip


@pytest.mark.parametrize("glyph", [*MONADIC, *(f"_{g}" for g in DYADIC)])
def test_values_have_the_types_that_were_promised(glyph: str) -> None:
    """The interpreter verifies kind, shape, range and index bound of every value; only run-time checks may fail."""
    pairs = [(a, c) for a in ARGUMENTS for c in ARGUMENTS] if glyph.startswith("_") else [("", c) for c in ARGUMENTS]
    chosen = random.Random(glyph).sample(pairs, min(40, len(pairs)))
    ran = 0
    for left, right in chosen:
        for origin in (0, 1):
            result = check(Source("<test>", f"{INPUTS}{left}{glyph.removeprefix('_')}{right}"), index_origin=origin)
            if result.core is None:
                assert any(d.is_error for d in result.diagnostics)
                continue
            for sizes in ((0, 0), (1, 1), (3, 2)):
                try:
                    interpret(result.core, data(*sizes), {})
                    ran += 1
                except RhoError as error:
                    assert error.diagnostics[0].code in ("E701", "E703", "E310", "E403", "E200", "E201")
    assert ran


MATRICES = "A←3 3⍴4 1 0 1 3 1 0 1 2.0\nB←3 2⍴1 2 3 4 5 7.0\nx←1 2 3 4.0\n"
LIBRARY = [
    ("⎕det A", 18), ("C←⎕cholesky A ⋄ ⌈/,|A-C+.×⍉C", 0), ("(q r)←⎕qr B ⋄ ⌈/,|B-q+.×r", 0),
    ("(u s v)←⎕svd B ⋄ ⌈/,|B-(u×⍤1⊢s)+.×v", 0),
    ("(w V)←⎕eigh A ⋄ ⌈/,|(A+.×V)-V×⍤1⊢w", 0), ("⌈/|x-⎕ifft ⎕fft x", 0), ("⌈/|x-⎕irfft ⎕rfft x", 0), ("⌈/,|(⌹A)+.×A", 1),
    ("⌈/|1 2 3-A+.×1 2 3⌹A", 0), ("*⎕lgamma 4.0", 6), ("⎕lgamma 1", 0), ("(⎕erf 0.5)+⎕erfc 0.5", 1),
    ("(⎕expm1 ⎕log1p 0.5)", 0.5),
    ("(⎕digamma 2.0)-⎕digamma 1.0", 1), ("⎕det 1 2 2⍴2 1 1 3", 5), ("⌈/|3-⎕det⍤2⊢4 2 2⍴2 1 1 2", 0),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), LIBRARY, ids=[program for program, _ in LIBRARY])
def test_functions_of_whole_cells(program: str, expected: float) -> None:
    result = check(Source("<test>", MATRICES + program))
    assert result.core is not None, [d.message for d in result.diagnostics]
    for number in interpret(result.core, {}, {}).printed[-1].data:
        assert number == pytest.approx(expected, abs=1e-12)
