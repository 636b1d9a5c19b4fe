"""`rho type --cost`: formulas of programs and definitions (plans.md: numbers once sizes are known)."""

from __future__ import annotations

from pathlib import Path

from .conftest import Rho


def costs(lines: list[str]) -> dict[str, str]:
    return {line.split()[0]: line.split(maxsplit=1)[1] for line in lines if len(line.split()) > 1}


def test_an_expression(rho: Rho) -> None:
    found = costs(rho("type", "+/2×⍳100000", "--cost").out.splitlines()[1:])  # short ones are folded
    assert found["work"].startswith("200,000 operations")
    assert found["span"] == "18 dependent steps"


def test_definitions_cost_in_the_sizes_of_their_arguments(rho: Rho) -> None:
    lines = rho("type", "matmul ← {⍺+.×⍵}", "--cost").out.splitlines()
    at = lines.index("matmul : m f64[n k] → n f64[k m] → f64[n m]")
    found = costs(lines[at + 1 : at + 6])
    assert found["work"] == "2·n·k·m operations (gemm)"
    assert found["span"] == "(⌈2⍟k)+1 dependent steps"
    assert found["reads"] == "8·n·k+8·k·m bytes"
    assert found["writes"] == "8·n·m bytes"
    assert found["memory"].startswith("8·n·k+8·n·m+8·k·m+")


def test_a_signature_gives_the_sizes(rho: Rho) -> None:
    lines = rho("type", "--cost", "twice : f64[rows] → f64[rows]\ntwice ← {⍵+⍵}").out.splitlines()
    assert any(line.strip() == "work    rows operations (add)" for line in lines)


def test_generic_definitions_cost_at_each_use(rho: Rho) -> None:
    assert "f : generic: costs at each use" in rho("type", "f ← {⍺ ⍺⍴⍵}", "--cost").out.splitlines()


def test_as_json(rho: Rho) -> None:
    shown = rho("type", "--json", "--cost", "mean ← {(+⌿⍵)÷≢⍵}\nmean 1.5 2").json()
    assert shown["cost"]["work"] == "3"
    (vector, _) = shown["costs"]["mean"]
    assert vector["signature"] == "mean : 1 f64[n] → f64"
    assert vector["operations"] == {"cast": "1", "divide": "1", "reduce": "n"}


def test_a_loop_costs_its_trips(rho: Rho, tmp_path: Path) -> None:
    program = tmp_path / "walk.rho"
    program.write_text("input W : f64[n n]\ninput w : f64[n]\nparam p ← 9\noutput r ← {W+.×⍵}⍣p ⊢ w\n", encoding="utf-8")
    found = costs(rho("type", str(program), "--cost").out.splitlines())
    assert found["work"] == "2·n·n·p operations (gemm)"
    assert found["span"] == "(⌈2⍟n)·p+p dependent steps"


def test_products_are_regrouped_unless_exact(rho: Rho, tmp_path: Path) -> None:
    program = tmp_path / "rows.rho"
    program.write_text("A ← 40 40⍴⍳1600\nB ← 1÷1+40 40⍴⍳1600\noutput r ← +/(A÷9)+.×B\n", encoding="utf-8")
    shown = rho("plan", str(program)).out
    assert "rewritten  line 3: regrouped: 27× fewer operations" in shown
    work = next(line for line in shown.splitlines() if line.startswith("work"))
    assert "139,200 operations" in work and work.endswith(" as written, 14,400 as regrouped"), work
    assert "regrouped" not in rho("plan", str(program), "--exact").out
    assert rho("run", str(program), "--exact").code == 0


def test_the_costs_of_one_function_of_a_file(rho: Rho, tmp_path: Path) -> None:
    program = tmp_path / "p.rho"
    program.write_text("mean ← {(+⌿⍵)÷≢⍵}\nfirst ← {⊃⍵}\ny ← mean 1.5 2\n", encoding="utf-8")
    every = rho("type", str(program), "--cost").out
    one = rho("type", str(program), "mean", "--cost")
    assert one.out and one.out in every and "  work " in one.out and "first" not in one.out and not one.err
    shown = rho("type", str(program), "mean", "--cost", "--json").json()
    assert [row["signature"] for row in shown["costs"]["mean"]] == shown["names"]["mean"]
    of_value = rho("type", str(program), "y", "--cost")
    assert of_value.code == 0 and of_value.out.startswith("y : ") and "`y` is a value" in of_value.err
