"""Grades of the worked examples and of the accepted programs of types.md, sections 4.3 and 8."""

from __future__ import annotations

import pytest

from rho.lang.source import Source
from rho.typechecker.check import check
from rho.typechecker.quantities.demand import Demands, demands_of
from rho.typechecker.quantities.grades import ANY, NONE, ONCE, Grade, exactly, up_to
from rho.typechecker.quantities.written import written
from rho.typechecker.sizes import Size, SizeOrigin, SizeVariable, maximum, number, variable

INPUTS = """\
input x : f64[n]
input z : f64[n]
input y : f64[m]
input A : f64[n m]
input B : f64[m k]
input C : f64[m n]
input W : f64[n n]
input s : f64
input c : bool
input b : bool[n]
input i : idx<n>[u]
input V : f64[n m k]
param p ← 3
"""


def demands(text: str, declarations: str = INPUTS) -> tuple[Demands, dict[str, str]]:
    result = check(Source("<test>", declarations + text))
    assert result.core is not None, [d.message for d in result.diagnostics]
    found = demands_of(result.core)
    return found, {name: str(found.grade(value)) for value, name in result.core.names.items()}


def grades(text: str, declarations: str = INPUTS) -> dict[str, str]:
    """The grades that are not 0."""
    return {name: grade for name, grade in demands(text, declarations)[1].items() if grade != "0"}


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        ("(+⌿x)÷≢x", {"x": "1"}),
        ("A+x", {"A": "1", "x": "m"}),
        ("A+.×B", {"A": "k", "B": "n"}),
        ("x∘.×y", {"x": "m", "y": "n"}),
        ("{⍵÷+/⍵}⍤1 ⊢ A", {"A": "2"}),
        ("t ← x×s\nt+t", {"x": "1", "s": "n", "t": "2"}),
        ("{c : x+z ⋄ x}⍬", {"c": "1", "x": "1", "z": "0..1"}),
        ("{W+.×⍵}⍣p ⊢ x", {"W": "p", "x": "1⌊n..1⌈n"}),
        ("{m ← ≢y ⋄ n ← ≢x ⋄ {{⍵×s}⍣n ⊢ ⍵}⍣m ⊢ x}⍬", {"s": "n×n×m", "x": "1"}),
        ("{⍺+⍵×s}/x", {"x": "1", "s": "0⌈n-1"}),
        ("{+/z×⍵}¨x", {"x": "n", "z": "n"}),
        ("x+⌽x", {"x": "2"}),
    ],
)
def test_worked_examples(program: str, wanted: dict[str, str]) -> None:
    assert grades(program) == wanted


@pytest.mark.parametrize(
    ("row", "program", "wanted"),
    [
        ("P02", "x+z", {"x": "1", "z": "1"}),
        ("P03", "x+x", {"x": "2"}),
        ("P05", "s×A", {"s": "n×m", "A": "1"}),
        ("P06", "+⌿x", {"x": "1"}),
        ("P07", "+/A", {"A": "1"}),
        ("P08", "+⌿A", {"A": "1"}),
        ("P13", "(⍉A)+C", {"A": "1", "C": "1"}),
        ("P14", "(⍉⍉A)+A", {"A": "2"}),
        ("P15", "((≢y) (≢x))⍴A", {"A": "1"}),
        ("P16", "((x,y),z)+x,y,z", {"x": "2", "y": "2", "z": "2"}),
        ("P18", "(1↓x)-¯1↓x", {"x": "0..2"}),
        ("P19", "p↑x", {"x": "0..1"}),
        ("P26", "x[⌽⍳≢x]", {"x": "0..n"}),
        ("P27", "(⍋x)⌷x", {"x": "2"}),
        ("P28", "(x>0)⌿x", {"x": "1..2"}),
        ("P29", "+⌿(x>0)⌿x", {"x": "1..2"}),
        ("P30", "t ← b⌿x\nt×t", {"b": "1", "x": "0..1", "t": "2"}),
        ("P34", "{⍵×s}⍣p ⊢ x", {"x": "1", "s": "n×p"}),
        ("P35", "+\\x", {"x": "1"}),
        ("P39", "{e ← *⍵-⌈/⍵,0 ⋄ e÷+/e}⍤1 ⊢ A", {"A": "2", "e": "2"}),
        ("P45", "V÷√+/V×V", {"V": "3"}),
        ("P48", "{W+.×⍵}⍣(+/b) ⊢ x", {"W": "0..n", "b": "1", "x": "1⌊n..1⌈n"}),
    ],
)
def test_rows_of_the_table(row: str, program: str, wanted: dict[str, str]) -> None:
    assert grades(program) == wanted, row


def test_windows_read_as_often_as_they_overlap() -> None:
    declarations = "input x : f64[n]\ninput w : f64[k] where 1 ≤ k, k ≤ n\n"
    assert grades("(≢w)↕x", declarations) == {"x": "0..k"}
    assert grades("{⍵+.×w}⍤1 ⊢ (≢w)↕x", declarations) == {"x": "0..k", "w": "(n+1)-k"}


def test_at_least_one_trip_copies_nothing() -> None:
    declarations = "input W : f64[n n]\ninput w : f64[n]\nparam p ← 3 where p ≥ 1\n"
    assert grades("{W+.×⍵}⍣p ⊢ w", declarations) == {"W": "p", "w": "n"}


def test_complementary_takes_join() -> None:
    assert grades("(p↑x),p↓x") == {"x": "1"}
    assert grades("(p↑A)⍪p↓A") == {"A": "1"}
    assert grades("(p↑x),p↑x") == {"x": "0..2"}
    assert grades("(p↑x),(p↓x)+p↓x") == {"x": "1..2"}
    halves = "input x : f64[n] where 2 ∣ n\nparam p ← 1\nh ← ⌊(≢x)÷2\n(h↑x)+h↓x"
    assert grades(halves, "") == {"x": "1"}


def test_shapes_read_nothing() -> None:
    assert grades("≢x") == {}
    assert grades("⍴A") == {}
    assert grades("⍳≢x") == {}
    assert grades("t ← x+z\n≢t") == {}, "a value of which only the shape is used is not made"


def test_a_value_nobody_needs_is_not_made() -> None:
    assert grades("t ← +/x\nu ← t+1\ny") == {"y": "1"}


def test_uses_say_what_multiplies() -> None:
    found, _ = demands("x∘.×y")
    result = check(Source("<test>", INPUTS + "x∘.×y"))
    assert result.core is not None
    x = next(entry.value for entry in result.core.inputs if entry.name == "x")
    (use,) = found.uses_of(x)
    assert str(use.grade) == "m"
    assert use.why == "the function is lifted over ⟨n m⟩; this supplies only ⟨n⟩"


# ------------------------------------------------------------------------------- arithmetic

N, M = (SizeVariable(name, id, SizeOrigin.INPUT) for id, name in enumerate("nm"))
K = SizeVariable("k", 2, SizeOrigin.RUNTIME, variable(N))


def size(which: SizeVariable) -> Size:
    return variable(which)


def test_zero_times_omega_is_zero() -> None:
    assert NONE.times(ANY) == NONE
    assert ANY.times(NONE) == NONE
    assert ANY.times(exactly(2)) == ANY


def test_sums_products_and_joins() -> None:
    n = exactly(size(N))
    assert str(n.plus(ONCE)) == "n+1"
    assert str(n.times(exactly(2)).plus(up_to(1))) == "2×n..(2×n)+1"
    assert str(n.join(NONE)) == "0..n"
    assert str(n.join(n.plus(ONCE))) == "n..n+1"


def test_sizes_known_when_run_count_up_to_their_cap() -> None:
    assert str(exactly(size(K))) == "0..n"
    assert str(exactly(size(K) * 2 + 1)) == "1..(2×n)+1"
    assert str(exactly(size(N) - size(K))) == "0..n"


def test_large_formulas_are_given_up() -> None:
    variables = [variable(SizeVariable(f"v{i}", 10 + i, SizeOrigin.INPUT)) for i in range(70)]
    total = NONE
    for one in variables:
        total = total.plus(exactly(one))
    assert total.high is None
    assert len(total.low.terms) <= 64


def test_within_is_decided_by_the_sizes() -> None:
    assert ONCE.within(Grade(Size({}), size(N) + 1), ())
    assert not exactly(size(N)).within(ONCE, ())


def test_grades_as_a_signature_states_them() -> None:
    assert written(exactly(size(N) * 2 + size(M))) == "(2×n)+m"
    assert written(up_to(1)) == "0..1"
    assert written(ANY) == "ω"
    assert written(exactly(maximum(size(N), size(M)))) == "n⌈m"
    assert written(exactly(size(N) - size(M) + 1)) == "(n+1)-m"


@pytest.mark.parametrize("quantity", ["(2×n)+m", "0..1", "(n+1)-m", "n⌈m", "0..(n⌈1)", "ω", "((2×n)+1)-m"])
def test_written_quantities_parse(quantity: str) -> None:
    program = f"f : {quantity} f64[n] → ω f64[m] → i64 where m ≤ n\nf ← {{≢⍺}}"
    assert {d.code for d in check(Source("<test>", program)).diagnostics} <= {"E503"}


CALLED = [
    ("f : 0..2 f64[n] → f64\nf ← {+/⍵}\nf x", {"x": "0..2"}),
    ("f : 0..2 f64[n] → f64\nf ← {+/⍵}\nf A", {"A": "0..2"}),
    ("f : 0 f64[n] → i64\nf ← {≢⍵}\nf x", {}),
    ("f : f64[n] → f64\nf ← {+/⍵}\nf x", {"x": "1"}),
    ("f : 1 f64[n] → 1..3 f64[n] → f64[n]\nf ← {⍺+⍵}\nx f z", {"x": "1", "z": "1..3"}),
    ("f : 1 f64[n] → 1..3 f64[n] → f64[n]\nf ← {⍺+⍵}\nx f x", {"x": "2..4"}),
    ("f : m f64[n] → f64[m] → f64[n m]\nf ← {⍺∘.×⍵}\nx f y", {"x": "m", "y": "n"}),
    ("f : 0..2 f64 → f64[n] → f64[n]\nf ← {⍵+⍺×s+s}\nt ← s\nt f x", {"s": "0..3", "x": "1"}),
    ("f : 0..2 f64[n] → f64[n]\nf ← {1+⍵}\ng : 0..5 f64[n] → f64[n]\ng ← {2×f ⍵}\ng x", {"x": "0..5"}),
    ("f : 1 f64[n] → f64[n]\nf ← {⌽⍵}\nt ← f x\nt+t", {"x": "1..2", "t": "2"}),
    ("f : 0..2 f64[n] → f64[n]\nf ← {1+⍵}\n{f ⍵}⍣p ⊢ x", {"x": "0..2"}),
    ("f : 0..2 f64[n] → f64\nf ← {+/⍵}\nt ← f x\n1", {}),
]  # fmt: skip


@pytest.mark.parametrize(("program", "wanted"), CALLED)
def test_a_call_reads_what_its_signature_states(program: str, wanted: dict[str, str]) -> None:
    found = {name: grade for name, grade in grades(program).items() if name in "sxyzAt"}
    assert found == wanted


def test_a_caller_must_allow_what_the_called_states() -> None:
    text = "f : 0..2 f64[n] → f64\nf ← {+/⍵}\ng : 1 f64[n] → f64\ng ← {f ⍵}\n"
    (found,) = check(Source("<test>", text)).diagnostics
    assert (found.code, found.message) == ("E500", "`⍵` is declared `1` (each element read once) but is read 0..2 times")
    assert text[found.span.start : found.span.end] == "⍵"


def test_what_a_result_is_does_not_leak_from_the_body() -> None:
    text = "f : i64[n] → i64\nf ← {3}\n(f 1 2 3 4)↑1 2 3 4"
    assert [d.code for d in check(Source("<test>", text)).diagnostics] == ["E403"]


def test_a_grade_that_holds_two_is_unbounded_if_one_is() -> None:
    bounded, unbounded = Grade(number(1), number(2)), Grade(number(1), None)
    assert bounded.join(unbounded).high is None
    assert unbounded.join(bounded).high is None
    assert bounded.join(Grade(number(0), number(5))) == Grade(number(0), number(5))
