"""Code lenses: what they say, without running anything."""

from __future__ import annotations

import re
from pathlib import Path

from rho.shell.lsp.hints import PROGRAM, lens_text, lenses

from .texts import document


def test_lenses() -> None:
    opened = document("⍝ c\ninput x : f64[n] where n ≥ 2\nf ← {+/⍵×⍵}\nf x\n")
    found = lenses(opened)
    assert [(lens.range.start.line, lens.name) for lens in found] == [(1, PROGRAM), (2, "f")]
    program, function = (lens_text(opened, lens.name) for lens in found)
    assert "memory" in program and "1 fact checked when loaded" in program and "~" not in program
    assert "work" in function and "memory" in function
    assert re.search(r" · ~[0-9.]+ (ns|µs|ms) at n=1000$", function)
    assert lenses(document("x ← nosuch\n")) == [] and lens_text(document("x ← nosuch\n"), PROGRAM) == "rejected"


def test_a_program_takes_the_time_of_its_data(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1\n2\n3\n", encoding="utf-8")
    text = 'input x : f64[n] ← "x.csv" where n ≥ {least}\nparam k ← 2\n+/x×k\n'
    fits = document(text.replace("{least}", "2"), (tmp_path / "main.rho").as_uri())
    assert re.search(r" · ~[0-9.]+ (ns|µs) with .*n=3", lens_text(fits, PROGRAM)) and "k=2" in lens_text(fits, PROGRAM)
    for broken in (text.replace("{least}", "9"), text.replace("{least}", "2").replace("x.csv", "away.csv")):
        assert "~" not in lens_text(document(broken, (tmp_path / "main.rho").as_uri()), PROGRAM)
    assert "~" in lens_text(document("+/÷1+⍳100\n"), PROGRAM)
