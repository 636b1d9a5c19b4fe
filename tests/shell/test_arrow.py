"""Columns that Python programs hand over by the Arrow interface, and parquet files that need it."""

from __future__ import annotations

import datetime
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rho
from rho.shell.main import main

pa: Any = pytest.importorskip("pyarrow")
DAY = datetime.date(2024, 1, 5)
MOMENT = datetime.datetime(2024, 1, 5, 1)
COLUMNS = [
    (lambda: pa.array([1, 2, 3]), "int64", [1, 2, 3]), (lambda: pa.array([1, 2], pa.int16()), "int32", [1, 2]),
    (lambda: pa.array([2**63 - 1, 2**53 + 1], pa.uint64()), "int64", [2**63 - 1, 2**53 + 1]),
    (lambda: pa.array([1.5], pa.float16()), "float32", [1.5]),
    (lambda: pa.array([True] * 9 + [False])[8:], "bool", [True, False]),
    (lambda: pa.array(["ab", "c", "é"]), "<U1", [["a", "b"], ["c", " "], ["é", " "]]),
    (lambda: pa.array(["a", "bb"], pa.large_string())[1:], "<U1", [["b", "b"]]),
    (lambda: pa.array(["a", "c" * 13], pa.string_view()), "<U1", [["a", *" " * 12], ["c"] * 13]),
    (lambda: pa.array(["x", "y", "x"]).dictionary_encode(), "<U1", [["x"], ["y"], ["x"]]),
    (lambda: pa.chunked_array([["a"], ["bc"], []], pa.string()), "<U1", [["a", " "], ["b", "c"]]),
    (lambda: pa.array([DAY]), "datetime64[D]", [DAY]), (lambda: pa.array([DAY], pa.date64()), "datetime64[D]", [DAY]),
    *[(lambda u=u: pa.array([MOMENT], pa.timestamp(u)), "datetime64[ns]", [1704416400_000000000])
      for u in ("s", "ms", "us", "ns")],
    (lambda: pa.array([1, 2, 3, 4])[1:3], "int64", [2, 3]), (lambda: pa.chunked_array([], pa.int64()), "int64", []),
    (lambda: pa.table({"a": [1, 2, 3], "b": [3.5, 4, 5]}).slice(1), "float64", [[2.0, 4.0], [3.0, 5.0]]),
    (lambda: pa.record_batch({"a": [1, 2]}), "int64", [[1], [2]]), (lambda: pa.array([], pa.string()), "<U1", []),
    (lambda: np.array(["2024-01-05"], "M8[D]"), "datetime64[D]", [DAY]),
    (lambda: np.datetime64("2024-01-05"), "datetime64[D]", DAY),
    (lambda: np.array([["2024-01-05", "NaT"]], "M8[D]"), "datetime64[D]", [[DAY, None]]),
    (lambda: np.array([2, "NaT"], "m8[h]"), "timedelta64[ns]", [2 * 3600 * 10**9, None]),
    (lambda: np.array([2], "m8[W]"), "timedelta64[D]", [datetime.timedelta(14)]),
    (lambda: ["ab", "c"], "<U1", [["a", "b"], ["c", " "]]),
    (lambda: np.array(["ab", "c"], object), "<U1", [["a", "b"], ["c", " "]]),
    *[(lambda t=t: np.array([1, 2], t), wide, [1, 2]) for t, wide in (
        ("i1", "int32"), ("i2", "int32"), ("u2", "int32"), ("u4", "int64"), ("u8", "int64"), ("f2", "float32"))],
    (lambda: np.ma.array([1.0, 2.0]), "float64", [1.0, 2.0]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "dtype", "items"), COLUMNS)
def test_columns_go_into_compiled_functions(make: Any, dtype: str, items: list[Any]) -> None:
    found = rho.compile("{⍵}")(make())
    assert (str(found.dtype), found.tolist()) == (dtype, items)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: pa.array([1, None]), "has 1 missing item, the first at 1"),
        (lambda: pa.array([2**63], pa.uint64()), "beyond 2⁶³-1"),
        (lambda: pa.array([[1]]), "Arrow's type `list<item: int64>`"), (lambda: pa.table({"a": ["x"]}), "has the text column a"),
        (lambda: pa.array([None]), "1 missing item"), (lambda: np.array([1], "m8[M]"), "differences of months"),
    ],
)  # fmt: skip
def test_columns_that_are_refused(make: Any, said: str) -> None:
    with pytest.raises(TypeError) as caught:
        rho.compile("{⍵}")(make())
    assert said in str(caught.value)


PROGRAM = """input day : date[n] ← "t.parquet:day"
input price : f64[n] ← "t.parquet:price" missing 0
input there : bool[n] ← "t.parquet:price" as present
input who : char[n w] ← "t.parquet:who" missing "?"
output day
output price
output there
output who
"""
TABLE = {"day": [MOMENT, datetime.datetime(1969, 12, 31)], "price": [1, None], "who": ["ab", None]}


@pytest.mark.parametrize("way", ["python", "parquet"])
def test_clauses_hold_for_columns_from_everywhere(tmp_path: Path, way: str) -> None:
    (tmp_path / "p.rho").write_text(PROGRAM, encoding="utf-8")
    table = pa.table(TABLE)
    given: dict[str, Any] = {name: table[name] for name in TABLE} | {"there": table["price"]}
    if way == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, tmp_path / "t.parquet")
        given = {}
    results = {name: value.tolist() for name, value in rho.load(tmp_path / "p.rho").run(**given).items()}
    days = [datetime.date(2024, 1, 5), datetime.date(1969, 12, 31)]
    assert results == {"day": days, "price": [1.0, 0.0], "there": [True, False], "who": [["a", "b"], ["?", " "]]}


def test_a_missing_item_without_a_clause_names_the_input(tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text("input price : f64[n]\noutput price\n", encoding="utf-8")
    with pytest.raises(rho.RunFailed) as caught:
        rho.load(tmp_path / "p.rho").run(price=pa.array([1.0, None, None]))
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E705", "the input price has 2 missing items, the first at 1")


class _Export:
    def __init__(self, column: Any) -> None:
        self.column = column

    def __arrow_c_stream__(self, schema: object = None) -> Any:
        return self.column.__arrow_c_stream__()


class _Shown(_Export):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.column.to_numpy()


def test_without_pyarrow_columns_come_as_numpy_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    column, total = pa.chunked_array([[1.5, 2.0]]), rho.compile("+/")
    assert total(_Export(column)) == total(_Shown(column)) == 3.5
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert total(_Shown(column)) == 3.5
    with pytest.raises(TypeError, match="is read by pyarrow, which is not installed"):
        total(_Export(column))


def test_a_stream_that_fails_is_told() -> None:
    def batches() -> Any:
        yield pa.record_batch({"a": [1.0]})
        raise ValueError("nobody is there")

    with pytest.raises(TypeError, match=r"cannot be read: .*nobody is there"):
        rho.compile("{⍵}")(pa.RecordBatchReader.from_batches(pa.schema([("a", pa.float64())]), batches()))


def test_structures_are_given_back() -> None:
    function, before = rho.compile("{+/⍵}"), pa.total_allocated_bytes()
    for _ in range(20):
        assert function(pa.chunked_array([np.ones(100_000), np.ones(50_000)])) == 150_000
    assert pa.total_allocated_bytes() <= before + 100_000


def test_no_arrow_library_is_imported() -> None:
    script = (
        "import sys, rho; rho.compile('{⍵}')([1.0, 2.0]);print([m for m in ('pyarrow', 'pandas', 'polars') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_masked_items_and_numbers_beyond_i64_are_refused() -> None:
    total = rho.compile("+/")
    for _ in range(3):
        with pytest.raises(TypeError, match="1 missing item, the first at 1"):
            total(np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]))
    with pytest.raises(TypeError, match=r"fill them with `\.filled"):
        total(np.ma.array([[1.0, 2.0]], mask=[[0, 1]]))
    with pytest.raises(TypeError, match="9223372036854775808, which is beyond i64"):
        total(np.array([2**63], np.uint64))


def test_a_result_is_a_data_frame(tmp_path: Path) -> None:
    text = (
        "input x : f64[n]\noutput day ← ⎕date ⍳≢x\noutput double ← 2×x\noutput m ← x∘.×1 10\noutput total ← +/x\n"
        "output name ← ((≢x) 2)⍴'ab'\noutput big ← x>1\n"
    )
    (tmp_path / "p.rho").write_text(text, encoding="utf-8")
    result = rho.load(tmp_path / "p.rho").run(x=np.array([1.0, 2.5]))
    table = pa.table(result.select("day", "double", "m", "name", "big"))
    assert table.to_pydict() == {
        "day": [datetime.date(1970, 1, 1), datetime.date(1970, 1, 2)], "double": [2.0, 5.0], "m0": [1.0, 2.5], "m1": [10.0, 25.0],
        "name": ["ab", "ab"], "big": [False, True],
    }  # fmt: skip
    again = rho.compile("{⍵+1}")(table["double"])
    assert again.tolist() == [3.0, 6.0]
    with pytest.raises(ValueError, match=r"cannot have `total` of shape \[\].*by `select`"):
        pa.table(result)
    with pytest.raises(KeyError):
        result.select("none")


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "npy", "csv"])
def test_differences_go_to_files_and_back(tmp_path: Path, suffix: str) -> None:
    """As durations where the format has them, with what is missing; days are seconds to Arrow, and any unit that fits is read."""
    day = np.array(["2024-03-01", "NaT", "1969-12-30"], "M8[D]")
    first = "input day : date[n]\noutput gap ← day-⎕date '2024-01-01'\noutput late ← (⎕time day)-⎕time ⎕date '2024-02-29'\n"
    (tmp_path / "p.rho").write_text(first, encoding="utf-8")
    np.save(tmp_path / "day.npy", day)
    wanted = [word for name in ("gap", "late") for word in ("--out", f"{name}={tmp_path / name}.{suffix}")]
    assert main(["run", str(tmp_path / "p.rho"), "--in", f"day={tmp_path / 'day.npy'}", *wanted]) == 0
    member = {"parquet": ":gap", "arrow": ":gap"}.get(suffix, "")
    missing = " missing ⎕nat" if suffix in ("parquet", "arrow") else ""
    second = "".join(
        f'input {name} : {type}[n] ← "{name}.{suffix}{member.replace("gap", name)}"{missing}\noutput {name}\n'
        for name, type in (("gap", "days"), ("late", "duration"))
    )
    (tmp_path / "q.rho").write_text(second, encoding="utf-8")
    result = rho.load(tmp_path / "q.rho").run()
    np.testing.assert_array_equal(result["gap"], day - np.datetime64("2024-01-01"))
    np.testing.assert_array_equal(result["late"], day - np.datetime64("2024-02-29T00", "ns"))
