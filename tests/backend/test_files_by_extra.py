"""Inputs in formats that other packages read: parquet (pyarrow) and zarr."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rho.backend.io.reading import InputSpec, read_shape, read_values
from rho.lang.diagnostics.model import Refused, RhoError, RunFailed
from rho.lang.syntax.source import Span
from rho.typechecker.elements import Kind

BOOL, U8, I32, I64, F32, F64, C64, C128, CHAR = Kind
SPAN = Span("test.rho", 3, 9)
Write = Callable[..., str]


def load(path: str, kind: Kind, rank: int) -> Any:
    shape = read_shape(path, InputSpec(kind, rank, SPAN))
    values = read_values(path, InputSpec(kind, len(shape), SPAN), shape)
    assert values.shape == shape
    return values


def refused(path: str, kind: Kind, rank: int) -> tuple[str, str]:
    with pytest.raises(RhoError) as caught:
        load(path, kind, rank)
    (diagnostic,) = caught.value.diagnostics
    assert isinstance(caught.value, Refused if diagnostic.code == "E706" else RunFailed)
    return diagnostic.code, diagnostic.message


@pytest.fixture
def table(tmp_path: Path) -> Write:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    def write(**columns: Any) -> str:
        parquet.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=3)
        return str(tmp_path / "t.parquet")

    return write


def test_a_table_is_rows_by_columns(table: Write) -> None:
    path = table(a=[1.0, 2.0, 3.0, float("nan")], b=np.arange(4, dtype=np.int16).astype(np.float32))
    found = load(path, F64, 2)
    assert found.dtype == np.float64 and found.flags.c_contiguous
    np.testing.assert_array_equal(found, [[1, 0], [2, 1], [3, 2], [np.nan, 3]])
    np.testing.assert_array_equal(load(f"{path}:b", F32, 1), [0, 1, 2, 3])


@pytest.mark.parametrize("count", [0, 1, 10])
def test_one_column_is_a_vector_or_a_table(table: Write, count: int) -> None:
    path = table(m=np.arange(count) % 2 == 0)
    np.testing.assert_array_equal(load(path, BOOL, 1), np.arange(count) % 2 == 0)
    assert load(path, BOOL, 2).shape == (count, 1)


@pytest.mark.parametrize(
    ("columns", "member", "kind", "rank", "code", "words"),
    [
        ({"a": [1.5]}, "", I64, 1, "E706", "its declared type is i64"),
        ({"a": ["x"]}, "", F64, 1, "E706", "column `a` of string"),
        ({"a": [1, None, None]}, "", I64, 1, "E706", "missing values in column `a`"),
        ({"a": [1], "b": [2]}, "", I64, 1, "E706", "has shape [1 2]"),
        ({"a": [1], "b": [2]}, ":c", I64, 1, "E704", "no column named c"),
        ({"a": [[1, 2]]}, "", I64, 2, "E706", "no element type stores"),
    ],
)
def test_tables_that_disagree(
    table: Write, columns: dict[str, Any], member: str, kind: Kind, rank: int, code: str, words: str
) -> None:
    found, message = refused(table(**columns) + member, kind, rank)
    assert found == code and words in message


def test_damaged_parquet(table: Write, tmp_path: Path) -> None:
    whole = Path(table(a=np.arange(100.0))).read_bytes()
    for name, content in (
        ("cut", whole[: len(whole) // 2]),
        ("empty", b""),
        ("text", b"hello"),
        ("middle", whole[:40] + b"?" * 60 + whole[100:]),
    ):
        path = tmp_path / f"{name}.parquet"
        path.write_bytes(content)
        code, message = refused(str(path), F64, 1)
        assert code == "E705" and "not a valid parquet file" in message


@pytest.mark.parametrize("version", [2, 3])
def test_arrays_and_members_of_groups(tmp_path: Path, version: Any) -> None:
    zarr = pytest.importorskip("zarr")
    values = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    zarr.save_array(str(tmp_path / "a.zarr"), values, zarr_format=version)
    np.testing.assert_array_equal(load(str(tmp_path / "a.zarr"), F64, 3), values)
    group = zarr.open_group(str(tmp_path / "g.zarr"), mode="w", zarr_format=version)
    group.create_array("x", data=np.array([True, False]))
    group.create_array("empty", shape=(0, 3), dtype="i8")
    np.testing.assert_array_equal(load(f"{tmp_path}/g.zarr:x", BOOL, 1), [True, False])
    assert load(f"{tmp_path}/g.zarr:empty", I64, 2).shape == (0, 3)
    assert refused(f"{tmp_path}/g.zarr", BOOL, 1) == (
        "E704",
        f"`{tmp_path}/g.zarr` is a group of arrays, name one as `file.zarr:name`",
    )
    assert refused(f"{tmp_path}/g.zarr:y", BOOL, 1)[0] == "E704"
    assert refused(f"{tmp_path}/a.zarr:y", F32, 3)[0] == "E704"
    assert refused(f"{tmp_path}/a.zarr", I64, 3)[0] == "E706"
    assert refused(f"{tmp_path}/a.zarr", F64, 2)[0] == "E706"


def test_what_is_no_zarr(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    (tmp_path / "folder.zarr").mkdir()
    (tmp_path / "broken.zarr").mkdir()
    (tmp_path / "broken.zarr" / "zarr.json").write_text("{")
    (tmp_path / "file.zarr").write_text("hello")
    for name in ("folder", "broken", "file"):
        code, message = refused(str(tmp_path / f"{name}.zarr"), F64, 1)
        assert code == "E705" and "not a zarr" in message


@pytest.mark.parametrize(("name", "package"), [("x.parquet", "pyarrow"), ("x.zarr", "numcodecs")])
def test_a_package_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str) -> None:
    real = builtins.__import__

    def without(module: str, *rest: Any, **more: Any) -> Any:
        if module.split(".")[0] == package:
            raise ImportError(module)
        return real(module, *rest, **more)

    if package == "numcodecs":  # arrays that are not compressed, or by gzip, need no package
        pytest.importorskip("zarr").save_array(str(tmp_path / name), np.arange(3.0), zarr_format=2)
    else:
        (tmp_path / name).write_bytes(b"PAR1")
    monkeypatch.setattr(builtins, "__import__", without)
    code, message = refused(str(tmp_path / name), F64, 1)
    assert code == "E704" and f"is read by {package}, which is not installed" in message
