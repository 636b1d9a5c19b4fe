"""Which stored types a declaration takes, as docs/files.md says: nothing is narrowed, and `uint64` is i64 where it fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rho.backend.io.reading import InputSpec, read_shape, read_values
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Span
from rho.typechecker.elements import Kind

SPAN = Span("p.rho", 0, 0)


def _stored(folder: Path, format: str, items: Any) -> str:
    path = folder / f"x.{format}"
    if format == "npy":
        np.save(path, items)
    elif format == "npz":
        np.savez_compressed(path, x=items)
    elif format == "zarr":
        zarr: Any = pytest.importorskip("zarr")
        zarr.save_array(str(path), items, zarr_format=2)
    else:
        pa: Any = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pa.table({"x": items}), path)
    return str(path)


def _read(path: str, kind: Kind) -> Any:
    wanted = InputSpec(kind, 1, SPAN)
    return read_values(path, wanted, read_shape(path, wanted))


@pytest.mark.parametrize("format", ["npy", "npz", "zarr", "parquet"])
def test_unsigned_integers_are_i64_where_they_fit(format: str, tmp_path: Path) -> None:
    good = np.array([0, 2**53 + 1, 2**63 - 1], "u8")
    assert _read(_stored(tmp_path, format, good), Kind.I64).tolist() == good.tolist()
    (folder := tmp_path / "bad").mkdir()
    path = _stored(folder, format, np.array([0, 2**63], "u8"))
    with pytest.raises(RhoError, match="holds 9223372036854775808, which does not fit i64") as caught:
        _read(path, Kind.I64)
    assert [one.code for one in caught.value.diagnostics] == ["E705"]
    assert _read(path, Kind.F64).tolist() == [0, 2.0**63]


@pytest.mark.parametrize("format", ["npy", "npz", "zarr", "parquet"])
@pytest.mark.parametrize(
    ("stored", "kind"), [("i8", Kind.I32), ("i8", Kind.BOOL), ("f8", Kind.I64), ("u8", Kind.I32), ("u1", Kind.BOOL)]
)
def test_nothing_is_narrowed(format: str, stored: str, kind: Kind, tmp_path: Path) -> None:
    with pytest.raises(RhoError, match="its declared type is") as caught:
        _read(_stored(tmp_path, format, np.array([0, 1], stored)), kind)
    assert [one.code for one in caught.value.diagnostics] == ["E706"]


@pytest.mark.parametrize("version", [2, 3])
def test_chunks_that_are_missing_where_nothing_fills_them_are_zeros(version: int, tmp_path: Path) -> None:
    folder = tmp_path / "z.zarr"
    folder.mkdir()
    about: dict[str, Any] = {
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<f8", "compressor": None, "fill_value": None, "order": "C",
        "filters": None,
    } if version == 2 else {
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "float64", "fill_value": 0, "codecs": ["bytes"],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}, "chunk_key_encoding": {"name": "default"},
    }  # fmt: skip
    if version == 3:
        about["codecs"] = [{"name": "bytes", "configuration": {"endian": "little"}}]
    (folder / (".zarray" if version == 2 else "zarr.json")).write_text(json.dumps(about), encoding="utf-8")
    last = folder / ("1" if version == 2 else "c/1")
    last.parent.mkdir(exist_ok=True)
    last.write_bytes(np.array([1.5, 2.5]).tobytes())
    assert _read(str(folder), Kind.F64).tolist() == [0, 0, 1.5, 2.5]


def test_a_fill_value_beyond_i64_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "z.zarr"
    folder.mkdir()
    about = {
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<u8", "compressor": None, "fill_value": 2**63, "order": "C",
        "filters": None,
    }  # fmt: skip
    (folder / ".zarray").write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(RhoError, match="holds 9223372036854775808, which does not fit i64"):
        _read(str(folder), Kind.I64)


def test_a_whole_number_with_a_point_is_no_integer_in_text(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("x\n1.0\n2\n", encoding="utf-8")
    with pytest.raises(RhoError, match=r"line 2, column 1 \(x\): “1.0” is not an integer"):
        _read(str(tmp_path / "x.csv"), Kind.I64)
    assert _read(str(tmp_path / "x.csv"), Kind.F64).tolist() == [1, 2]
