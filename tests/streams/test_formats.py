"""Inputs of every format that comes some rows at a time: the same bits as whole, and what is wrong with them is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rho.backend.io.formats import FileTrouble
from rho.backend.io.reading import InputSpec, row_source
from rho.lang.diagnostics.model import Refused, RhoError
from rho.lang.syntax.source import Span
from rho.typechecker.elements import Kind

from .running import loaded, results, same_bits

pytestmark = pytest.mark.long

_M = "input m : f64[n 3] where n ≥ 8\n"
_X = "input x : f64[n] where n ≥ 8\n"
TEXTS = {
    "m": _M + "+⌿m\n⌈/,m\nz ← (1↓m)-¯1↓m\noutput z\nc ← (+⌿m)÷≢m\n+⌿(m-(⍴m)⍴c)*2",
    "x": _X + "+/x\nx⍳⌈/x\nz ← +\\x\noutput z\n+/(x-(+/x)÷≢x)*2\n⌈/|(1↓x)-¯1↓x",
}


def _fortran(path: Path, m: Any) -> str:
    np.save(path / "m.npy", np.asfortranarray(m))
    return "m.npy"


def _fortran_single(path: Path, m: Any) -> str:
    np.save(path / "m.npy", np.asfortranarray(m.astype(np.float32)))
    return "m.npy"


def _member(path: Path, m: Any) -> str:
    np.savez(path / "m.npz", a=np.arange(3), m=np.asfortranarray(m), z=np.arange(7))
    return "m.npz:m"


def _parquet(path: Path, m: Any) -> str:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({f"c{i}": m[:, i] for i in range(m.shape[1])}), path / "m.parquet", row_group_size=17_000)
    return "m.parquet" if m.shape[1] > 1 else "m.parquet:c0"


def _zarr(path: Path, m: Any, **settings: Any) -> str:
    zarr = pytest.importorskip("zarr")
    chunks = (17_000, 2)[: m.ndim]
    made = zarr.create_array(store=str(path / "m.zarr"), shape=m.shape, chunks=chunks, dtype=m.dtype, fill_value=0, **settings)
    made[:] = m
    return "m.zarr"


def _zarr_2(path: Path, m: Any) -> str:
    return _zarr(path, m, zarr_format=2)


def _sharded(path: Path, m: Any) -> str:
    return _zarr(path, m, zarr_format=3, shards=(34_000, 4))


def _csv(path: Path, m: Any) -> str:
    np.savetxt(path / "m.csv", m, delimiter=",", fmt="%.6g", header="a,b,c"[: 2 * m.shape[1] - 1], comments="")
    return "m.csv"


def _column(path: Path, m: Any) -> str:
    with open(path / "m.csv", "w", encoding="utf-8") as file:
        file.write("name,price\n")
        file.writelines(f'"a, ""{i}""\nb",{item!r}\n' for i, item in enumerate(m[:, 0].tolist()))
    return "m.csv:price"


def _same(text: str, store: Callable[[Path, Any], str], items: Any, folder: Path, limit: int) -> None:
    name, only = store(folder, items), text.split()[1]
    expected = results(loaded(text, folder, None, files={only: name}))
    program = loaded(text, folder, limit, files={only: name})
    assert program.plan.stores
    assert max(count for _, count in program.plan.main.peak) <= limit
    assert same_bits(results(program), expected)


@pytest.mark.parametrize(
    ("store", "rows", "limit"),
    [
        (_fortran, 150_000, 3_000_000),
        (_fortran_single, 200_000, 6_000_000),
        (_member, 150_000, 3_000_000),
        (_zarr, 200_000, 6_000_000),
        (_zarr_2, 200_000, 6_000_000),
        (_sharded, 200_000, 6_000_000),
        (_csv, 100_000, 8_000_000),
        (_parquet, 700_000, 22_000_000),
    ],
)
def test_a_matrix(store: Callable[[Path, Any], str], rows: int, limit: int, tmp_path: Path) -> None:
    _same(TEXTS["m"], store, np.random.default_rng(1).standard_normal((rows, 3)), tmp_path, limit)


@pytest.mark.parametrize(
    ("store", "rows", "limit"), [(_csv, 200_000, 8_000_000), (_column, 100_000, 8_000_000), (_parquet, 2_000_000, 22_000_000)]
)
def test_a_column(store: Callable[[Path, Any], str], rows: int, limit: int, tmp_path: Path) -> None:
    _same(TEXTS["x"], store, np.random.default_rng(1).standard_normal((rows, 1)), tmp_path, limit)


def test_text_is_read_backwards_from_places(tmp_path: Path) -> None:
    _same(_X + "z ← ⌽x\noutput z", _csv, np.random.default_rng(1).standard_normal((200_000, 1)), tmp_path, 8_000_000)
    _same(_X + "z ← ⌽x\noutput z", _column, np.random.default_rng(1).standard_normal((100_000, 1)), tmp_path, 8_000_000)


def test_text_whose_blocks_do_not_fit_is_advised_to_be_an_npy_file(tmp_path: Path) -> None:
    name = _csv(tmp_path, np.random.default_rng(1).standard_normal((100_000, 1)))
    with pytest.raises(Refused) as caught:
        loaded(_X + "+/x", tmp_path, 700_000, files={"x": name})
    notes = " ".join(caught.value.diagnostics[0].notes)
    assert "reading `x` takes 6,291,456; chunks, groups of rows and blocks of text are decoded whole" in notes
    np.save(tmp_path / "x.npy", np.loadtxt(tmp_path / name, skiprows=1))
    assert loaded(_X + "+/x", tmp_path, 700_000).streams


def test_a_cell_that_is_wrong_in_a_late_tile_is_said(tmp_path: Path) -> None:
    name = _column(tmp_path, np.random.default_rng(1).standard_normal((100_000, 1))).partition(":")[0]
    text = (tmp_path / name).read_text().splitlines()
    text[2 + 2 * 90_000] = 'b",no'
    (tmp_path / name).write_text("\n".join(text))
    program = loaded(_X + "+/x", tmp_path, 7_000_000, files={"x": f"{name}:price"})
    assert program.plan.stores
    with pytest.raises(RhoError) as caught:
        results(program)
    (found,) = caught.value.diagnostics
    assert found.code == "E705" and "line 180003, column 2 (price)" in found.message


def test_all_columns_of_a_group_of_rows_are_in_the_plan(tmp_path: Path) -> None:
    _parquet(tmp_path, np.random.default_rng(1).standard_normal((170_000, 6)))
    path, span = str(tmp_path / "m.parquet"), Span("p.rho", 0, 0)
    every = row_source(path, InputSpec(Kind.F64, 2, span), (170_000, 6))
    single = row_source(f"{path}:c0", InputSpec(Kind.F64, 1, span), (170_000,))
    assert every is not None
    assert single is not None
    assert every.working_memory - single.working_memory >= 2 * 5 * 17_000 * 8


def test_a_group_of_rows_that_does_not_fit_is_said(tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    x = np.random.default_rng(1).standard_normal(2_000_000)
    for rows, streams in ((2_000_000, False), (50_000, True)):
        parquet.write_table(pa.table({"c": x}), tmp_path / "x.parquet", row_group_size=rows)
        try:
            assert loaded(_X + "+/x", tmp_path, 22_000_000, files={"x": "x.parquet:c"}).streams == streams
        except Refused as refused:
            assert not streams
            notes = " ".join(refused.diagnostics[0].notes)
            assert "reading `x` takes" in notes
            assert "groups of rows and blocks of text are decoded whole: make them smaller" in notes


def test_members_of_archives_have_rows_if_they_are_not_compressed(tmp_path: Path) -> None:
    wanted, x = InputSpec(Kind.F64, 1, Span("p.rho", 0, 0)), np.arange(1_000.0)
    np.savez_compressed(tmp_path / "c.npz", x=x)
    assert row_source(str(tmp_path / "c.npz"), wanted, x.shape) is None
    np.savez(tmp_path / "x.npz", x=x)
    after = tmp_path / "after.npz"
    after.write_bytes(b"what is before an archive" + (tmp_path / "x.npz").read_bytes())
    for name in ("x.npz", "x.npz:x", "after.npz"):
        source, into = row_source(str(tmp_path / name), wanted, x.shape), np.empty(10)
        assert source is not None
        handle = source.open()
        source.read(handle, 700, into, 700)
        source.close(handle)
        assert into.tolist() == x[700:710].tolist()


def test_a_member_that_does_not_begin_as_it_should(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, x=np.arange(9.0))
    path.write_bytes(b"no" + path.read_bytes()[2:])
    with pytest.raises(FileTrouble, match="damaged member"):
        row_source(str(path), InputSpec(Kind.F64, 1, Span("p.rho", 0, 0)), (9,))
