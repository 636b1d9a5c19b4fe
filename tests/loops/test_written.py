"""Loop programs that are written out: well formed, read as they are printed, and right by the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from rho.backend.cpu.numpy_reductions import combine_tree, scan_axis
from rho.backend.loopir import verifier
from rho.backend.loopir.templates import (
    CombinePartials,
    CountTrue,
    GpuScanForm,
    KeyedReductionForm,
    LatestState,
    LoopTemplate,
    PhiloxUniforms,
    ScanForm,
    ScanTemplate,
    Scatter,
    SelectionForm as Selected,
    SelectTemplate,
    expanded,
    gpu_keyed_reduction,
    gpu_scan,
)
from rho.backend.loopir.text import parse, show
from rho.backend.lower.loop_order import VectorStride
from rho.backend.scalar.function_table import REDUCTIONS
from rho.tests.harness.share import share
from rho.tests.loops import interpreter
from rho.tests.loops.running import meaning
from rho.typechecker.elements import Kind, is_ordered

WRITTEN = (
    PhiloxUniforms(), CountTrue(), LatestState(Kind.U8), CombinePartials("add", Kind.F64),
    Scatter("add", Kind.I64, 4, True, VectorStride.UNIT), Scatter("max", Kind.F32, 1, False, VectorStride.NONE),
    Scatter("mul", Kind.F64, 1, True, VectorStride.STRIDED, True),
    ScanTemplate("add", Kind.F64, ScanForm.LINES), ScanTemplate("max", Kind.I32, ScanForm.LINES, False), ScanTemplate("eq",
    Kind.BOOL,
    ScanForm.COLUMNS),
    SelectTemplate(Selected.ITEMS, Kind.I32, 1), SelectTemplate(Selected.ITEMS, Kind.I64, 2, True),
    SelectTemplate(Selected.CELLS, Kind.U8),
    SelectTemplate(Selected.PLACES), SelectTemplate(Selected.PAIRS),
)  # fmt: skip


@pytest.mark.parametrize("written", WRITTEN, ids=str)
def test_well_formed(written: LoopTemplate) -> None:
    program = written.program()
    verifier.verify(program)
    assert parse(show(program)) == program


KINDS = [(function, kind) for function in sorted(REDUCTIONS) for kind in (Kind.U8, Kind.I32, Kind.I64, Kind.F32, Kind.F64)
         if function not in ("and", "or") and not (kind.is_float and function in ("band", "bor", "bxor"))]  # fmt: skip
KINDS += [(function, Kind.BOOL) for function in ("and", "or", "ne", "eq")]


@pytest.mark.parametrize(("function", "kind"), share(KINDS), ids=str)
def test_every_function_and_kind_is_well_formed(function: str, kind: Kind) -> None:
    """What a template leaves out or repeats for some values is well formed for all of them."""
    programs = [ScanTemplate(function, kind, form, form is ScanForm.COLUMNS, True).program() for form in ScanForm]
    programs += [gpu_scan(function, kind, form) for form in GpuScanForm]
    programs += [Scatter(function, kind, 1, unit, step, runs).program()
                 for unit in (False, True) for step in VectorStride for runs in (False, True)]  # fmt: skip
    are_exact = not is_ordered(function, kind) and function in REDUCTIONS
    programs += [gpu_keyed_reduction(function, kind, form, checked=checked) for checked in (False, True)
                 for form in KeyedReductionForm if are_exact or form is KeyedReductionForm.GROUPED]  # fmt: skip
    for program in (*programs, CombinePartials(function, kind).program()):
        verifier.verify(program)
        assert parse(show(program)) == program


def test_directives() -> None:
    text = "%macro add to by\n%if twice\n$to = $by $by\n%else twice\n$to = $by\n%end twice\n%end add\n"
    text += "%for items\n%add x$k; $n + $k\n%end items\n"
    values = {"items": [{"k": 1}, {"k": 2}], "n": "y"}
    assert expanded(text, {**values, "twice": False}) == "x1 = y + 1\nx2 = y + 2\n"
    assert expanded(text, {**values, "twice": True}) == "x1 = y + 1 y + 1\nx2 = y + 2 y + 2\n"
    with pytest.raises(KeyError):
        expanded("$absent", {})


@pytest.mark.parametrize("written", [w for w in WRITTEN if isinstance(w, Scatter) and not w.runs], ids=str)
def test_a_checked_key_is_proved_to_be_inside(written: Scatter) -> None:
    assert not verifier.problems(written.program())


def test_counting() -> None:
    for count in (0, 1, 127, 128, 129, 700):
        mask = np.random.default_rng(count).random(count) < 0.7
        arrays = {"mask": mask.view(np.uint8), "count": np.zeros((), np.int64)}
        assert interpreter.run(CountTrue().program(), {"items": count}, arrays, meaning) is None
        assert arrays["count"] == np.count_nonzero(mask)
    assert not verifier.problems(CountTrue().program())


@pytest.mark.parametrize("form", list(Selected))
@pytest.mark.parametrize("share", [0.0, 0.1, 0.8, 1.0])
def test_selecting(form: Selected, share: float) -> None:
    """What NumPy selects, and nothing behind what is due, though the mask holds more."""
    random, tables, items, cell = np.random.default_rng(4), 3, 29, 3
    code = SelectTemplate(form, unit=True) if form is Selected.ITEMS else SelectTemplate(form)
    mask = random.random((tables, items)) < share
    source = random.integers(0, 99, (tables, items, cell) if form is Selected.CELLS else (tables, items))
    numbers = np.argwhere(mask) + np.array([7, 0])
    selected = {Selected.PLACES: numbers[:, 1] + 7, Selected.PAIRS: numbers.reshape(-1)}.get(form)
    want = source[mask] if selected is None else selected
    words = np.zeros((tables, items), np.int64)
    words[:, : items // 8] = mask[:, : items // 8 * 8].copy().view(np.int64)
    for due in {len(numbers), len(numbers) // 2, max(0, len(numbers) - 9)}:
        result = np.full(want[: due * (2 if form is Selected.PAIRS else 1)].shape, -1)
        arrays = {"mask": mask.view(np.uint8), "words": words, "source": source, "result": result}
        sizes = {"tables": tables, "items": items, "due": due, "first": 7, "cell": cell}
        assert interpreter.run(code.program(), sizes, arrays, meaning) is None
        assert np.array_equal(result, want[: len(result)])


def test_joining_is_the_tree_of_sums() -> None:
    for count in (1, 2, 3, 7, 12):
        rows = np.random.default_rng(count).standard_normal((count, 5))
        want = combine_tree(np.add, rows.copy())
        arrays = {"rows": rows, "result": np.zeros(5)}
        assert interpreter.run(CombinePartials("add", Kind.F64).program(), {"count": count, "cells": 5}, arrays, meaning) is None
        assert arrays["result"].tobytes() == want.tobytes(), count


@pytest.mark.parametrize(("lines", "length"), [(1, 150), (2, 70), (9, 70), (9, 5)])
def test_scans_have_the_order_of_scans(lines: int, length: int) -> None:
    items = np.random.default_rng(lines + length).standard_normal((lines, length))
    want = scan_axis("add", Kind.F64, items, 1)
    arrays = {"source": items, "result": np.zeros_like(items), "carry": np.array([-0.0, 0.0])}
    program = ScanTemplate("add", Kind.F64, ScanForm.LINES).program()
    assert interpreter.run(program, {"lines": lines, "length": length}, arrays, meaning) is None
    assert arrays["result"].tobytes() == want.tobytes()
    arrays = {"source": items.T.reshape(1, length, lines), "result": np.zeros((1, length, lines))}
    program = ScanTemplate("add", Kind.F64, ScanForm.COLUMNS).program()
    assert interpreter.run(program, {"tables": 1, "length": length, "cells": lines}, arrays, meaning) is None
    assert arrays["result"][0].T.tobytes() == want.tobytes()


@pytest.mark.parametrize(("function", "name"), [("and", np.logical_and), ("or", np.logical_or), ("ne", np.not_equal),
                                                ("eq", np.equal)])  # fmt: skip
def test_scans_of_truth_values(function: str, name: np.ufunc) -> None:
    program = ScanTemplate(function, Kind.BOOL, ScanForm.LINES).program()
    for length in (3, 30):
        items = np.random.default_rng(length).random((2, length)) < {"and": 0.9, "or": 0.1}.get(function, 0.5)
        arrays = {"source": items.astype(np.uint8), "result": np.zeros((2, length), np.uint8),
                  "carry": np.array([function in ("and", "eq"), False], np.uint8)}  # fmt: skip
        assert interpreter.run(program, {"lines": 2, "length": length}, arrays, meaning) is None
        assert arrays["result"].astype(bool).tolist() == name.accumulate(items, 1).tolist()


def test_scattering_and_what_ends_it() -> None:
    keys, items = np.array([2, 2, 0, 1, 2, 0, 2]), np.arange(7)
    for tables in (1, 4):
        program = Scatter("add", Kind.I64, tables, True, VectorStride.UNIT).program()
        for last, check_number in ((2, None), (3, 0), (-1, 0)):
            keys[-1] = last
            arrays = {"keys": keys, "items": items, "tables": np.zeros((tables, 3), np.int64)}
            record = interpreter.run(program, {"count": 7, "entries": 3}, arrays, meaning)
            assert (None if record is None else record.check) == check_number
            if record is None:
                assert arrays["tables"].sum(0).tolist() == [items[keys == key].sum() for key in range(3)]
    runs = Scatter("add", Kind.I64, 1, True, VectorStride.UNIT, True).program()
    for ascending, check_number in (([0, 0, 1, 2, 2], None), ([0, 2, 1, 1, 1], 1), ([0, 0, 1, 1, 3], 0)):
        arrays = {"keys": np.array(ascending), "items": np.arange(5), "tables": np.zeros((1, 3), np.int64)}
        record = interpreter.run(runs, {"count": 5, "entries": 3}, arrays, meaning)
        assert (None if record is None else record.check) == check_number
        if record is None:
            assert arrays["tables"].tolist() == [[1, 2, 7]]
