"""The two tables of scalar functions: the same names, no fact in both, every meaning where its row says, and what it means."""

from __future__ import annotations

import dataclasses
import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rho.backend.codegen.gpu_scalars import Functions, apply as card_apply
from rho.backend.codegen.gpu_targets import CUDA
from rho.backend.codegen.llvm_builder import IrBuilder
from rho.backend.codegen.llvm_scalars import Vectors, apply as vectors_apply
from rho.backend.cpu.numpy_scalars import series_machine
from rho.backend.cpu.views import DTYPES
from rho.backend.loopir.ir import Apply
from rho.backend.reference.scalars import evaluate
from rho.backend.scalar import elementary, function_table
from rho.typechecker import elements
from rho.typechecker.elements import FUNCTIONS, Kind


def test_the_same_names() -> None:
    assert FUNCTIONS.keys() == function_table.VOCABULARY
    assert not (function_table.ROWS.keys() - function_table.VOCABULARY) & FUNCTIONS.keys()


def test_no_fact_in_both() -> None:
    of_checker = {field.name for field in dataclasses.fields(elements.ScalarFunction)}
    assert of_checker & {field.name for field in dataclasses.fields(function_table.ScalarRow)} == {"name"}


def test_the_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """`docs/contributing.md`: each place that it names exists, and a row with a meaning is all that machines want."""
    root = Path(function_table.__file__).parents[2]
    recipe = (root / "docs" / "contributing.md").read_text().split("**A new scalar function**")[1].split("\n\n")[0]
    places = re.findall(r"`([a-z_/]+\.py)`", recipe)
    assert len(places) > 6
    assert all((root / place).exists() or (root / "backend/scalar" / place).exists()
               or (root / "backend/reference" / place).exists() for place in places), places  # fmt: skip
    made = function_table.ScalarRow("middle", weight=3, meanings={0: function_table.Meaning("elementary.middle")})
    monkeypatch.setitem(function_table.ROWS, "middle", made)
    monkeypatch.setattr(elementary, "middle", lambda x, y, m: (x + y) * 0.5, raising=False)
    node = Apply("", Kind.F64, "middle", (), Kind.F64)
    v = Vectors(IrBuilder(), 4)
    assert vectors_apply(v, node, ["%x", "%y"]) and "fmul <4 x double>" in "".join(v.w.lines)
    assert card_apply(Functions(CUDA), node, ["x", "y"]) == "(x + y) * 0x1.0000000000000p-1"
    steps, meaning = series_machine(Kind.F64), function_table.definition("middle", 0, Kind.F64)
    assert meaning is not None and meaning.compute(np.float64(1), np.float64(4), steps) == 2.5


@pytest.mark.parametrize("name", sorted(function_table.ROWS))
def test_a_row(name: str) -> None:
    """Its ufunc is one, with as many operands; its meanings are there."""
    row = function_table.ROWS[name]
    if row.numpy:
        ufunc = getattr(np, row.numpy)
        assert isinstance(ufunc, np.ufunc) and ufunc.nin == FUNCTIONS[name].arity
    for parameter, meaning in row.meanings.items():
        for kind in (Kind.F64, Kind.F32):
            assert function_table.definition(name, parameter, kind) is not None
        assert meaning.series == (meaning.within is not None)
    assert (name == "circular") == (len(row.meanings) > 1)


def test_derived_sets() -> None:
    """A light function is one that reductions and recomputed phases may hold; what is many operations is not."""
    assert {"add", "mul", "min", "max", "and", "or", "band", "bor", "bxor"} == function_table.REDUCTIONS
    assert not function_table.LIGHT & function_table.TRANSCENDENTAL
    assert not any(FUNCTIONS[name].partial for name in function_table.MODERATE)
    assert function_table.LIGHT < function_table.MODERATE


HARD: dict[Kind, list[Any]] = {
    Kind.BOOL: [False, True],
    Kind.U8: [0, 1, 2, 3, 7, 8, 127, 128, 200, 254, 255],
    Kind.I64: [0, 1, -1, 2, -2, 7, -8, 63, 64, -65, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63)],
    Kind.F64: [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 5e-324, -1e-310, 1e300, -1e300, np.inf, -np.inf, np.nan],
}
IN_PLACE = [
    (name, kind) for name, row in sorted(FUNCTIONS.items()) for kind in HARD
    if kind in row.kinds and not row.partial and name not in ("convert", "circular") and function_table.matches_numpy(name, 0)
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), IN_PLACE, ids=lambda case: case if isinstance(case, str) else case.value)
def test_meanings_on_single_items(name: str, kind: Kind) -> None:
    """What a row means, run step by step on hard values, is what the reference says."""
    row = FUNCTIONS[name]
    result = row.result_kind(kind)
    steps = series_machine(kind)
    meaning = function_table.definition(name, 0, kind)
    assert meaning is not None and result is not None
    if steps is None:
        pytest.skip("no C library")
    scalar = DTYPES[kind].type
    sides = [HARD[Kind.BOOL] if name == "select" and place == 0 else HARD[kind] for place in range(row.arity)]
    for items in itertools.product(*sides):
        operands = [(np.bool_ if isinstance(item, bool) else scalar)(item) for item in items]
        with np.errstate(all="ignore"):
            made = DTYPES[result].type(meaning.compute(*operands, steps))
        wanted = DTYPES[result].type(evaluate(name, kind, items, result))
        assert made.tobytes() == wanted.tobytes() or (made != made and wanted != wanted), (items, made, wanted)
