"""`rho type` and `rho check --json` say how often elements are read."""

from __future__ import annotations

from pathlib import Path

from .conftest import Rho


def test_a_mean_reads_each_element_once(rho: Rho) -> None:
    shown = rho("type", "mean ← {(+⌿⍵)÷≢⍵}").out.splitlines()
    assert shown == ["mean : 1 f64[n] → f64", "mean : 1 f64[n m] → f64[m]"]
    assert rho("type", "count ← {≢⍵}").out.splitlines()[0].startswith("count : 0 f64[n] → ")


def test_a_product_reads_its_left_argument_as_often_as_the_right_has_columns(rho: Rho) -> None:
    assert "matmul : m f64[n k] → n f64[k m] → f64[n m]" in rho("type", "matmul ← {⍺+.×⍵}").out.splitlines()


def test_a_loop_reads_its_captured_matrix_every_time(rho: Rho, tmp_path: Path) -> None:
    program = tmp_path / "walk.rho"
    program.write_text("input W : f64[n n]\ninput w : f64[n]\nparam p ← 9\noutput r ← {W+.×⍵}⍣p ⊢ w\n", encoding="utf-8")
    assert rho("type", str(program)).out.splitlines() == ["f64[n]", "W : p f64[n n]", "w : 1⌊n..1⌈n f64[n]", "r : 1 f64[n]"]


def test_functions_that_fit_no_sample_are_generic(rho: Rho) -> None:
    assert rho("type", "f ← {⍵.x}").code == 3
    assert rho("type", "f ← {⍺ ⍺⍴⍵}").out == "f : generic: checked at each use\n"


def test_what_a_function_needs_of_the_sizes(rho: Rho) -> None:
    assert rho("type", "half ← {2 _⍴⍵}").out.splitlines()[0] == "half : 1 f64[n] → f64[2 n÷2] where 2 ∣ n"


def test_check_carries_quantities_and_uses(rho: Rho, tmp_path: Path) -> None:
    program = tmp_path / "table.rho"
    program.write_text("input x : f64[n]\ninput y : f64[m]\noutput t ← x∘.×y\n", encoding="utf-8")
    names = {entry["name"]: entry for entry in rho("check", "--json", str(program)).json()["names"]}
    assert {name: entry["reads"] for name, entry in names.items()} == {"x": "m", "y": "n", "t": "1"}
    (use,) = names["x"]["uses"]
    assert (use["range"]["start"], use["reads"]) == ({"line": 2, "character": 12}, "m")
    assert use["why"] == "the function is lifted over ⟨n m⟩; this supplies only ⟨n⟩"


def test_type_as_json(rho: Rho) -> None:
    shown = rho("type", "--json", "x ← 1.5 2\nmean ← {(+⌿⍵)÷≢⍵}\nmean x").json()
    assert [(entry["name"], entry["reads"]) for entry in shown["names"]] == [("x", "1")]
    assert shown["functions"]["mean"][0] == "mean : 1 f64[n] → f64"


PROGRAM = "input x : f64[n]\nf ← {⌈/⍵}\ng ← {⍺+⍵}\nt ← (x ⋄ 1)\no ← {⍺⍺ ⍵}\n+/x\n"


def test_a_name_alone_is_described_with_what_it_needs(rho: Rho, tmp_path: Path) -> None:
    (tmp_path / "a.rho").write_text(PROGRAM, encoding="utf-8")
    ran = rho("type", str(tmp_path / "a.rho"), "f", "x", "t", "o")
    assert ran.out.splitlines() == [
        "f : 1 f64[n] → f64 where 1 ≤ n", "f : 1 f64[n m] → f64[n] where 1 ≤ m", "x : 1 f64[n]", "t : (f64[n] ⋄ i64)",
        "o : operator",
    ]  # fmt: skip
    assert rho("type", str(tmp_path / "a.rho"), "ff").code == 2
    names = rho("type", str(tmp_path / "a.rho"), "g", "--json").json()["names"]
    assert names["g"][0] == "g : 1 f64[n] → 1 f64[n] → f64[n]"


def test_check_json_has_inferred_signatures(rho: Rho, tmp_path: Path) -> None:
    (tmp_path / "a.rho").write_text(PROGRAM, encoding="utf-8")
    functions = rho("check", str(tmp_path / "a.rho"), "--json").json()["functions"]
    assert [entry["name"] for entry in functions] == ["f", "g"]
    assert functions[0]["signatures"][0].endswith("where 1 ≤ n")


def test_what_a_template_needs_is_discharged_at_each_use(rho: Rho, tmp_path: Path) -> None:
    (tmp_path / "a.rho").write_text("input x : f64[n]\nf ← {⌈/⍵}\nf x\nf 1,x\n", encoding="utf-8")
    found = rho("check", str(tmp_path / "a.rho"), "--json").json()["diagnostics"]
    assert [(entry["code"], entry["goal"]) for entry in found] == [("W201", "1 ≤ n")]
