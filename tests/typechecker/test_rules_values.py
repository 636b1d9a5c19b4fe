"""The core that the rules build gives values of the type they promised (values.md: which values)."""

from __future__ import annotations

import pytest
from share import drawing, repeats

from rho.backend.reference.interpreter import interpret
from rho.backend.vm.values import Array
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.elements import Kind

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
    pick = drawing(rows, columns)

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


CONDITIONS = ("∨/b", "s>0", "0=≢x", "1<≢x", "2>≢x", "s≤≢x")
JOINING = (
    "{{{c} : {one} ⋄ {other}}} 0", "({c}) ¿ ({one} ⋄ {other})", "[{one} ⋄ {other}]", "({one}),{other}",
    "y ← {one} ⋄ y[0] ← {other} ⋄ y", "({other})@b ⊢ {one}", "{{{c} : {one} ⋄ ⍵ : {other} ⋄ 0}}¨b",
    "{{{c} : ⊃⍸⍵ ⋄ {one}}} b", "{{{c} : {one} ⋄ ≢⍵⌿x}} b", "{{⍵ : {one} ⋄ {other}}}¨b", "+/(({c}) ¿ ({one} ⋄ {other}))⌊≢x",
    "{{y ← {{{c} : {one} ⋄ {other}}} 0 ⋄ (y×2)-≢x}} 0",
)  # fmt: skip
"""Values that come from one of several."""
SIZED = ("(¯1+≢x)", "((≢x)-2)", "(⊃⍋x)", "(0⌈s)", "((≢x)⌊0⌈s)", "0", "(1+≢x)", "((≢x)×≢u)", "(⍳≢b⌿x)", "(≢b⌿v)", "(⍸A>0)",
         "(⊢/⍸A>0)", "(⍸A>0)[;1]", "(1+(⍸A>0)[;1])")


def test_values_that_come_from_one_of_several_have_the_types_that_were_promised() -> None:
    pick, ran, arguments = drawing("one of several"), 0, [*ARGUMENTS, *SIZED]
    for form in JOINING * repeats(80):
        text = form.format(c=pick.choice(CONDITIONS), one=pick.choice(arguments), other=pick.choice(arguments))
        ran += runs(f"{INPUTS}{text}", 0) + runs(f"{INPUTS}{text}", 1)
    assert ran


def runs(text: str, origin: int) -> int:
    """How many of some sizes a program runs with; only run-time checks may fail."""
    result, count = check(Source("<test>", text), index_origin=origin), 0
    if result.core is None:
        assert any(d.is_error for d in result.diagnostics)
        return 0
    for sizes in ((0, 0), (1, 1), (3, 2)):
        try:
            interpret(result.core, data(*sizes), {})
            count += 1
        except RhoError as error:
            assert error.diagnostics[0].code in ("E701", "E703", "E310", "E403", "E200", "E201"), text
        except AssertionError as error:
            raise AssertionError(text, origin, sizes) from error
    return count


@pytest.mark.parametrize("glyph", [*MONADIC, *(f"_{g}" for g in DYADIC)])
def test_values_have_the_types_that_were_promised(glyph: str) -> None:
    """The interpreter verifies kind, shape, range and index bound of every value; only run-time checks may fail."""
    pairs = [(a, c) for a in ARGUMENTS for c in ARGUMENTS] if glyph.startswith("_") else [("", c) for c in ARGUMENTS]
    chosen = drawing(glyph).sample(pairs, min(40, len(pairs)))
    ran = 0
    for left, right in chosen:
        for origin in (0, 1):
            ran += runs(f"{INPUTS}{left}{glyph.removeprefix('_')}{right}", origin)
    assert ran
