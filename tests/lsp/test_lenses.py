"""Code lenses: what they say, without running anything."""

from __future__ import annotations

import re
from pathlib import Path

from rho.shell.lsp.hints import PROGRAM, lens_text, lenses
from rho.shell.lsp.hover import cost_of

from .texts import document


def test_lenses() -> None:
    opened = document("⍝ c\ninput x : f64[n] where n ≥ 2\nf ← {+/⍵×⍵}\nf x\n")
    found = lenses(opened)
    assert [(lens.range.start.line, lens.name) for lens in found] == [(1, PROGRAM), (2, "f")]
    program, function = (lens_text(opened, lens.name) for lens in found)
    line = r"~[0-9.]+ (ns|µs|ms), 2,?[0-9]+ operations, [0-9.]+ kB at n=1000"
    assert re.fullmatch(line, function) and re.fullmatch(line + " · 1 fact checked when loaded", program)
    assert lenses(document("x ← nosuch\n")) == [] and lens_text(document("x ← nosuch\n"), PROGRAM) == "rejected"


def test_a_program_takes_the_time_of_its_data(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1\n2\n3\n", encoding="utf-8")
    text = 'input x : f64[n] ← "x.csv" where n ≥ {least}\nparam k ← 2\n+/x×k\n'
    fits = document(text.replace("{least}", "2"), (tmp_path / "main.rho").as_uri())
    assert re.match(r"~[0-9.]+ (ns|µs), .* with .*n=3", lens_text(fits, PROGRAM)) and "k=2" in lens_text(fits, PROGRAM)
    for broken in (text.replace("{least}", "9"), text.replace("{least}", "2").replace("x.csv", "away.csv")):
        assert " with " not in lens_text(document(broken, (tmp_path / "main.rho").as_uri()), PROGRAM)
    assert "~" in lens_text(document("+/÷1+⍳100\n"), PROGRAM)


def test_a_hover_has_one_line_of_cost_and_a_link_if_the_editor_has_the_command() -> None:
    opened = document("mean ← {(+⌿⍵)÷≢⍵}\nmean 1 2\n")
    shown = cost_of(opened, "mean")
    assert re.match(r"~.* at n=1000  \n", shown) and shown.endswith("mean --cost`") and shown.count("\n") == 1
    opened._folder.has_commands = True
    linked = cost_of(opened, "mean")
    assert re.search(r"\(\[formulas\]\(command:rho\.costs\?%5B", linked) and "\n" not in linked
    assert cost_of(document("f ← {⍺⍺ ⍵}\ng ← {⍵}\n"), "g")
