"""The standard library: every definition has a signature proved for all sizes, and a documentation line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rho
from rho.lang.syntax import parser
from rho.lang.syntax.source import Source
from rho.lang.tree import expressions, program as program_tree
from rho.shell.display.documentation import entries, modules
from rho.shell.pipeline import Session
from rho.shell.pipeline_types import Strictness

pytestmark = pytest.mark.long

STDLIB = Path(__file__).parents[2] / "stdlib"


def test_the_modules_are_here() -> None:
    assert modules() == [
        "dates", "group", "linalg", "missing", "nn", "optim", "polynomial", "probability", "random", "rolling", "series", "set",
        "signal", "solve", "sort", "stats", "table", "text",
    ]  # fmt: skip


OF_A_PATTERN = {("text", "search"), ("text", "spans")}
"""Functions whose automaton depends on the text of an argument, which each call has as a literal; they are elaborated there."""


@pytest.mark.parametrize("module", modules())
def test_every_function_is_proved_for_all_sizes(module: str) -> None:
    source = Source(str(STDLIB / f"{module}.rho"), (STDLIB / f"{module}.rho").read_text(encoding="utf-8"))
    result = Session(strictness=Strictness.STRICT).check(source)
    assert [f"{d.code}: {d.message}" for d in result.diagnostics] == []
    statements = parser.parse_program(source)[0].statements
    functions = [s.target.name for s in statements if isinstance(s, expressions.BindFunction)]
    functions = [name for name in functions if (module, name) not in OF_A_PATTERN]
    assert functions == [s.target.name for s in statements if isinstance(s, program_tree.Signature)]


def test_every_function_is_documented_with_an_example() -> None:
    bare = [entry.name for entry in entries() if ":" in entry.source.split("←")[0] and not (entry.doc and entry.examples)]
    assert bare == []


def test_callers_that_count_from_one_get_the_same_numbers_and_positions_from_one() -> None:
    for text, shift in (
        ("use set\n(keys code) ← set.classes 3 1 3 2 ⋄ code", 1), ("use sort\nsort.order 30 10 20", 1),
        ("use dates\ndates.weekday ⎕date 0 4", 1), ("use stats\nstats.median 3 1 2", 0), ("use set\nset.size 3 1 3 2", 0),
    ):  # fmt: skip
        np.testing.assert_array_equal(rho.eval(f"⎕IO ← 1\n{text}"), np.asarray(rho.eval(text)) + shift)


def test_numbers_that_a_signature_declares_are_counted_by_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "order.rho").write_text("order : f64[n] → i64[n]\norder ← {⍋⍵}\n", encoding="utf-8")
    (tmp_path / "main.rho").write_text("⎕IO ← 1\nuse \"./order.rho\"\noutput r ← order.order 3.0 1.0 2.0\n", encoding="utf-8")
    program = rho.load(tmp_path / "main.rho")
    np.testing.assert_array_equal(program.run()["r"], [1, 2, 0])
