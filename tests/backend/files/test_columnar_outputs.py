"""Parquet and zarr files as outputs: what pyarrow, zarr and Rho read from them is what was written."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rho.backend.io.parquet import ParquetSink
from rho.backend.io.writing import check_writable, prepare_table, prepare_values, write_together, write_values
from rho.backend.io.zarr import ZarrSink, chunks_of
from rho.backend.vm.values import to_numpy
from rho.lang.diagnostics.model import RunFailed
from rho.lang.tree.program import AS_WRITTEN, CellFormat, ColumnFormat
from rho.tests.backend.files.loading import C128, CHAR, F64, I32, I64, SPAN, load
from rho.tests.backend.files.test_round_trips import VALUES
from rho.typechecker.elements import Kind

zarr = pytest.importorskip("zarr")
parquet = pytest.importorskip("pyarrow.parquet")


def opened(path: Path) -> Any:
    return zarr.open_array(zarr.storage.ZipStore(path, mode="r"), mode="r")


@pytest.mark.parametrize("value", VALUES, ids=lambda v: v.kind.value)
def test_zarr_holds_every_kind(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.zarr.zip"
    write_values(str(path), value, value.kind, SPAN)
    assert repr(load(path, value.kind, value.rank)) == repr(value)
    stored, plain = opened(path), to_numpy(value)
    assert stored.dtype == plain.dtype and stored[:].tobytes() == plain.tobytes()
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("value", [v for v in VALUES if v.kind.value not in ("c64", "c128")], ids=lambda v: v.kind.value)
def test_parquet_holds_every_real_kind(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    write_values(str(path), value, value.kind, SPAN)
    assert repr(load(path, value.kind, value.rank)) == repr(value)
    plain, table = to_numpy(value), parquet.read_table(path)
    assert table.column_names == (["values"] if plain.ndim == 1 else [f"column{n}" for n in range(plain.shape[1])])
    assert all(table.column(n).to_numpy().dtype == plain.dtype for n in range(table.num_columns))


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (2, 0), (1, 1), (3, 4, 5), (2, 0, 3)])
def test_zarr_holds_any_shape(shape: tuple[int, ...], tmp_path: Path) -> None:
    path, values = tmp_path / "x.zarr.zip", np.arange(np.prod(shape, dtype=int)).reshape(shape)
    write_values(str(path), values, I64, SPAN)
    assert np.array_equal(to_numpy(load(path, I64, len(shape))), values)
    assert opened(path).shape == shape and np.array_equal(opened(path)[...], values)


@pytest.mark.parametrize("shape", [(70_001, 9), (3, 700_001), (2, 3, 400_000), (1_200_001,)])
def test_zarr_arrays_of_several_chunks(shape: tuple[int, ...], tmp_path: Path) -> None:
    path, values = tmp_path / "x.zarr.zip", np.random.default_rng(1).random(shape)
    write_values(str(path), values[..., ::-1], F64, SPAN)
    assert len(zipfile.ZipFile(path).namelist()) > 2
    assert np.array_equal(opened(path)[...], values[..., ::-1])
    assert np.array_equal(to_numpy(load(path, F64, len(shape))), values[..., ::-1])


def test_chunks_are_whole_rows_as_far_as_they_fit() -> None:
    assert chunks_of((10, 10), 8) == (10, 10)
    assert chunks_of((1_000_000, 8), 8) == (65_536, 8)
    assert chunks_of((5, 1_000_000), 8) == (1, 524_288)
    assert chunks_of((0, 0), 8) == (1, 1)


@pytest.mark.parametrize("suffix", ["parquet", "zarr.zip"])
def test_equal_values_give_equal_files_however_rows_come(suffix: str, tmp_path: Path) -> None:
    values, paths = np.random.default_rng(2).random((300_000, 3)), [tmp_path / f"{n}.{suffix}" for n in range(2)]
    write_values(str(paths[0]), values, F64, SPAN)
    sink = (ParquetSink if suffix == "parquet" else ZarrSink)(str(paths[1]), F64, values.shape, "values")
    sink.begin()
    for start in range(0, len(values), 7_777):
        sink.put(values[start : start + 7_777], 0, start)
    sink.end()
    write_together([prepare_values(str(paths[1]), sink, F64, SPAN)])
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_tables_of_text_dates_and_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    names = np.array([list("Ada "), list("Bób "), list("    ")], "U1")
    days, moments = np.array([0, -1, 20_000]), np.array([0, 1, 1_700_000_000_000_000_001])
    write_together([prepare_table(str(path), [
        ("name", names, CHAR, AS_WRITTEN), ("born", days, I64, ColumnFormat(CellFormat.DATE)), ("seen", moments, I64,
        ColumnFormat(CellFormat.TIME)),
        ("us", days, I64, ColumnFormat(CellFormat.DATE, "%m/%d/%Y")), ("n", np.arange(3, dtype=np.int32), I32, AS_WRITTEN),
    ], SPAN)])  # fmt: skip
    table = parquet.read_table(path)
    assert [str(type) for type in table.schema.types] == ["string", "date32[day]", "timestamp[ns, tz=UTC]", "string", "int32"]
    assert table.column("name").to_pylist() == ["Ada", "Bób", ""]
    assert str(table.column("born")[1]) == "1969-12-31" and table.column("us").to_pylist()[0] == "01/01/1970"
    assert load(f"{path}:born", I64, 1, reading=ColumnFormat(CellFormat.DATE)).data == (0, -1, 20_000)
    assert load(f"{path}:seen", I64, 1, reading=ColumnFormat(CellFormat.TIME)).data == tuple(moments)
    assert load(f"{path}:name", CHAR, 2).shape == (3, 3)


@pytest.mark.parametrize(("path", "values", "kind", "says"), [
    ("x.parquet", np.zeros((2, 2, 2)), F64, "a table has two"), ("x.parquet", np.zeros((2, 0)), F64, "has no columns"),
    ("x.parquet", np.zeros(2, complex), C128, "is complex"), ("x.parquet", np.array(list("abc")), CHAR, "is text of 1 axes"),
    ("x.zarr.zip", np.array(list("abc")), CHAR, "is text"), ("x.zarr", np.zeros(2), F64, "name it `x.zarr.zip`"),
])  # fmt: skip
def test_what_they_do_not_hold_is_refused(
    path: str, values: Any, kind: Kind, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunFailed) as caught:
        write_values(path, values, kind, SPAN)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E708" and says in " ".join([diagnostic.message, *diagnostic.notes])
    assert not os.listdir(tmp_path)


def test_dates_out_of_range_and_columns_of_two_lengths_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "x.parquet")
    with pytest.raises(RunFailed, match="not a date of the years 1 to 9999"):
        prepare_values(path, np.array([0, 10**9]), I64, SPAN, reading=ColumnFormat(CellFormat.DATE))
    with pytest.raises(RunFailed, match="two lengths"):
        prepare_table(path, [("a", np.zeros(2), F64, AS_WRITTEN), ("b", np.zeros(3), F64, AS_WRITTEN)], SPAN)
    with pytest.raises(RunFailed, match="cannot hold several outputs"):
        prepare_table(str(tmp_path / "x.zarr.zip"), [("a", np.zeros(2), F64, AS_WRITTEN)] * 2, SPAN)


def test_a_zarr_folder_is_refused_before_anything_runs(tmp_path: Path) -> None:
    check_writable(str(tmp_path / "x.zarr.zip"), SPAN)
    check_writable(str(tmp_path / "x.parquet"), SPAN)
    with pytest.raises(RunFailed, match=r"E708.*would be a folder"):
        check_writable(str(tmp_path / "x.zarr"), SPAN)


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("rho.backend.io.formats.find_spec", lambda name: None)
    with pytest.raises(RunFailed) as caught:
        check_writable(str(tmp_path / "x.parquet"), SPAN)
    assert "rho-lang[parquet]" in str(caught.value.diagnostics[0].notes)
