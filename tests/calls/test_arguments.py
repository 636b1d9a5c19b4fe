"""What the arguments of a call may be: each value is looked at in every call, whatever calls before it were given."""

from __future__ import annotations

import concurrent.futures
import copy
import multiprocessing
import pickle
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rho

MOST = 2**63 - 1
CALLS = 12
"""Beyond those after which a call is one of native code."""


def _strided(items: list[int]) -> Any:
    return np.repeat(np.array(items, np.uint64), 2)[::2]


@pytest.mark.parametrize("make", [
    lambda items: np.array(items, np.uint64), lambda items: np.array(items, ">u8"), _strided,
    lambda items: np.array(items, np.uint64).reshape(2, 1), lambda items: np.array(items[0], np.uint64), list,
    lambda items: np.uint64(items[0]), lambda items: int(items[0]), lambda items: [np.uint64(item) for item in items],
])  # fmt: skip
def test_integers_beyond_64_bits_are_refused_in_every_call(make: Any) -> None:
    function = rho.compile("{⍵+0}")
    for _ in range(CALLS):
        good = function(make([MOST, 5]))
        assert good.dtype == np.int64 and good.reshape(-1)[0] == MOST
        for bad in (MOST + 1, 2**64 - 1):
            with pytest.raises(TypeError, match=f"the argument holds {bad}, which is beyond i64"):
                function(make([bad, 5]))


@pytest.mark.parametrize("items", [[2**63, 1], [1, 2**63], [[1, 2], [-(2**63) - 1, 0]], [2**64, 1.5], [1j, 2**63], [2**200]])
def test_lists_are_not_rounded_to_floats(items: Any) -> None:
    with pytest.raises(TypeError, match="beyond i64"):
        rho.compile("{⍵}")(items)


def test_lists_of_integers_of_numpy_stay_exact() -> None:
    assert rho.compile("{⍵}")([np.uint64(2**53 + 1), -1]).tolist() == [2**53 + 1, -1]
    assert rho.compile("{⍵}")([1e300, 2.5]).tolist() == [1e300, 2.5]


@pytest.mark.parametrize("items", [[1, "a"], ["a", 1.5], [["a"], [True]], [1, None], [1.5, None]])
def test_lists_of_numbers_and_texts_are_neither(items: Any) -> None:
    with pytest.raises(TypeError, match="is a list, not an array of numbers or text"):
        rho.compile("{⍵}")(items)


@pytest.mark.parametrize("text", [
    "{⍵+1}", "f ← {⍵+1}\nf", "{⍵+1}¨", "{⍵+1}⍤1", "⍉{⍵+1}", "({⍵+1}+{⍵×2})", "{⍵+1}⍨", "{⍵}⍣2", "{⍵}∘≢", "{⍵+1}⍥≢", "{{⍺+⍵}/⍵}",
    "+⍤{⍵}", "{⍺+⍵}⍛{⍵}",
])  # fmt: skip
def test_an_argument_too_many_is_refused(text: str) -> None:
    function = rho.compile(text)
    for _ in range(2):
        with pytest.raises(TypeError, match="the function takes one argument, not 2"):
            function([1, 2], [3, 4])
    with pytest.raises(TypeError, match="takes one argument, not 2"):
        function.result_type("i64", "i64")


@pytest.mark.parametrize("text", ["{⍺+⍵}", "⊢", "⊣", "{⍺}", "({⍵+1}+⊣)", "{⍺←1 ⋄ ⍺+⍵}", "f ← {{⍺}⍨⍵}\n+∘{⍵}", "{⍵}⍛+", "⌽⍤+"])
def test_functions_of_two_arguments_take_two(text: str) -> None:
    assert rho.compile(text)([1, 2], [3, 4]).shape == (2,)


def test_functions_are_pickled_and_copied() -> None:
    scaled = rho.compile("half ← {⍵÷2}\n{⍺×half ⍵}")
    assert scaled(3, [2.0, 4]).tolist() == [3, 6]
    for again in (pickle.loads(pickle.dumps(scaled)), copy.copy(scaled), copy.deepcopy({"f": scaled})["f"]):
        assert again is not scaled and again(3, [2.0, 4]).tolist() == [3, 6] and repr(again) == repr(scaled)


def test_functions_go_to_other_processes() -> None:
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(rho.compile("{⍵×⍵}"), [2, 3])) == [4, 9]


def test_ranges_of_inputs_are_looked_at_in_every_run(tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text("input x : int<0..9>[n]\ninput p : perm<n>\noutput y ← x[p]\n", encoding="utf-8")
    program = rho.load(tmp_path / "p.rho")
    for _ in range(CALLS):
        assert program.run(x=[5, 9], p=[1, 0])["y"].tolist() == [9, 5]
        for wrong in ({"x": [5, 10], "p": [1, 0]}, {"x": [5, 9], "p": [1, 1]}, {"x": [5, 9], "p": [2, 0]}):
            with pytest.raises(rho.Refused):
                program.run(**wrong)


def test_a_permutation_with_axes_is_no_quiet_index(tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text("input p : perm<n>[n]\noutput p\n", encoding="utf-8")
    with pytest.raises(rho.Rejected, match="is a vector of n items already"):
        rho.load(tmp_path / "p.rho")


class _Missing:
    """A column of a library that has a missing item of its own, and gives NumPy NaN for it."""

    dtype = "Int64"

    def isna(self) -> Any:
        return np.array([False, True])

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([1.0, np.nan])


class _MissingForArrow(_Missing):
    def __arrow_array__(self, type: Any = None) -> Any:
        import pyarrow

        return pyarrow.array([1, None])


def test_missing_items_of_columns_are_no_nan(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="the argument has missing items"):
        rho.compile("{⍵}")(_Missing())
    pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match="the argument has 1 missing item, the first at 1\n"):
        rho.compile("{⍵}")(_MissingForArrow())
    (tmp_path / "p.rho").write_text('input x : f64[n] ← "x.csv:x" missing 7\noutput x\n', encoding="utf-8")
    assert rho.load(tmp_path / "p.rho").run(x=_MissingForArrow())["x"].tolist() == [1, 7]


def test_a_missing_item_of_a_table_names_its_column() -> None:
    pa: Any = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match="has 1 missing item, the first at 0 of column `b`"):
        rho.compile("{⍵}")(pa.table({"a": [1, 2], "b": [None, 1]}))


UNITS = {"W": 7, "D": 1, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}


def counts_of(array: np.ndarray[Any, Any]) -> list[int]:
    """The numbers of days or nanoseconds of dates and times."""
    return np.asarray(array).astype(np.int64).tolist()


@pytest.mark.parametrize("unit", [*UNITS, "25s", "7D"])
def test_dates_beyond_64_bits_are_refused(unit: str) -> None:
    function = rho.compile("{⍵}")
    name = unit.lstrip("0123456789")
    count = UNITS[name] * int(unit.removesuffix(name) or 1)
    edges = [-(MOST // count), -1, 0, MOST // count]
    for wrong in {MOST // count + 1, -(MOST // count) - 2} if count > 1 else ():
        assert counts_of(function(np.array(edges, "i8").view(f"M8[{unit}]"))) == [edge * count for edge in edges]
        with pytest.raises(TypeError, match=r"\(item 1\) that no 64-bit number of (days|nanoseconds) reaches"):
            function(np.array([0, wrong], "i8").view(f"M8[{unit}]"))


def test_months_and_years_are_days_or_refused() -> None:
    function = rho.compile("{⍵}")
    years = np.array(["0001", "1969", "1970", "1977", "9970"], "M8[Y]")
    assert counts_of(function(years)) == [date(year, 1, 1).toordinal() - 719163 for year in (1, 1969, 1970, 1977, 9970)]
    assert counts_of(function(np.array([4 * 10**12], "i8").view("M8[Y]"))) == [146097 * 10**10]
    assert counts_of(function(np.array([-4800, 4800], "i8").view("M8[M]"))) == [-146097, 146097]
    for unit in ("M", "Y", "3M"):
        for wrong in (MOST, -MOST, 10**18):
            with pytest.raises(TypeError, match="that no 64-bit number of days reaches"):
                function(np.array([wrong], "i8").view(f"M8[{unit}]"))


@pytest.mark.parametrize(("unit", "parts"), [("ps", 10**3), ("fs", 10**6), ("as", 10**9), ("30ps", 10**3)])
def test_parts_of_nanoseconds_are_rounded_down(unit: str, parts: int) -> None:
    counts, each = [-MOST, -1, 0, 1, 1999, MOST], 30 if unit == "30ps" else 1
    found = rho.compile("{⍵}")(np.array(counts, "i8").view(f"M8[{unit}]"))
    assert counts_of(found) == [count * each // parts for count in counts]


def test_dates_and_differences_without_a_unit_are_refused() -> None:
    for array, said in ((np.array([5], "i8").view("M8"), "without a unit"), (np.array([5], "m8"), "without a unit")):
        with pytest.raises(TypeError, match=said):
            rho.compile("{⍵}")(array)


def test_times_of_arrow_beyond_64_bits_are_refused() -> None:
    pa: Any = pytest.importorskip("pyarrow")
    function = rho.compile("{⍵}")
    for unit, count in (("s", 10**9), ("ms", 10**6), ("us", 1000), ("ns", 1)):
        most = MOST // count
        assert counts_of(function(pa.array([most, -most]).cast(pa.timestamp(unit)))) == [most * count, -most * count]
        for wrong in (most + 1, -most - 2) if count > 1 else ():
            with pytest.raises(TypeError, match="64-bit number of nanoseconds"):
                function(pa.array([0, wrong]).cast(pa.timestamp(unit)))
    days = pa.array([-1, 5, MOST]).cast(pa.date64())
    assert counts_of(function(days)) == [-1, 0, MOST // 86_400_000]


def loaded(tmp_path: Path, text: str) -> rho.Program:
    path = tmp_path / "program.rho"
    path.write_text(text, "utf-8")
    return rho.load(path)


def test_a_program_that_runs_again_checks_what_it_is_given(tmp_path: Path) -> None:
    """Runs of the same types go through native code at once; others, and what types say of values, as before."""
    program = loaded(tmp_path, "input x : f64[n]\ninput y : f64[n]\noutput sum ← x+y\noutput least ← ⌊/x\n")
    x, y = np.arange(5.0), np.ones(5)
    for _ in range(6):
        result = program.run(x=x, y=y)
        assert list(result) == ["sum", "least"] and result["sum"].tolist() == [1, 2, 3, 4, 5] and result["least"] == 0
    assert program.run(x=[1, 2], y=np.ones(2, np.int32))["sum"].tolist() == [2, 3]
    assert program.run(y=np.ones(7)[::-1], x=np.arange(7.0))["sum"].shape == (7,)
    with pytest.raises(rho.Refused):
        program.run(x=x, y=np.ones(4))
    with pytest.raises(TypeError, match="no value for y"):
        program.run(x=x)
    with pytest.raises(TypeError, match="z"):
        program.run(x=x, y=y, z=y)
    ranged = loaded(tmp_path, "input x : int<0..9>[n]\noutput y ← x+1\n")
    for _ in range(6):
        assert ranged.run(x=np.arange(5))["y"].tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(rho.RhoError, match="holds 10"):
        ranged.run(x=np.array([10]))


def test_params_of_a_run_are_not_those_of_the_next(tmp_path: Path) -> None:
    program = loaded(tmp_path, "input x : f64[n]\nparam k ← 2\noutput y ← x×k\n")
    for _ in range(6):
        assert program.run(x=np.ones(3))["y"].tolist() == [2, 2, 2]
        assert program.run(x=np.ones(3), k=5)["y"].tolist() == [5, 5, 5]


def test_a_check_that_fails_in_a_later_run_names_its_line(tmp_path: Path) -> None:
    program = loaded(tmp_path, "input x : f64[n]\ninput i : i64[k]\noutput y ← x[i]\n")
    for _ in range(6):
        assert program.run(x=np.arange(5.0), i=np.array([4, 0]))["y"].tolist() == [4, 0]
    with pytest.raises(rho.RunFailed, match="output y") as failure:
        program.run(x=np.arange(5.0), i=np.array([4, 5]))
    assert "index 5" in str(failure.value)


@pytest.mark.parametrize("kind", [list, tuple])
def test_arrays_of_unlike_shapes_are_refused_with_a_cure(kind: Any, tmp_path: Path) -> None:
    """Arrays of one shape are stacked, as by NumPy; of several the message says what to do, and that works."""
    weights, bias = np.ones((2, 3)), np.zeros(2)
    (tmp_path / "p.rho").write_text("input x : f64[n m]\noutput s ← +/x\n", encoding="utf-8")
    calls = (rho.compile("{⍵+1}"), rho.grad("{+/,⍵}"), lambda value: rho.load(tmp_path / "p.rho").run(x=value))
    for call in calls:
        for wrong in (kind([weights, bias]), kind([bias, bias, weights]), kind([bias, np.zeros(3)])):
            with pytest.raises(TypeError, match=r"one array is needed: join their items by .* an input for each"):
                call(wrong)
        for wrong in ([[1.0, 2.0], [3.0]], [1, [1, [2, 3]]]):
            with pytest.raises(TypeError, match=r" is not a rectangular array: its items have different shapes$"):
                call(wrong)
        assert np.shape(call(kind([bias, bias])) if call is not calls[2] else call(kind([bias, bias]))["s"])[:1] == (2,)
    taken_apart = rho.grad("{w ← 2 3⍴6↑⍵ ⋄ b ← 6↓⍵ ⋄ (+/,w*2)+3×+/b}")(np.concatenate([weights.ravel(), bias]))
    assert taken_apart.tolist() == [2] * 6 + [3] * 2
