"""Tables in JSON, Arrow IPC, SQLite and Excel, datasets of HDF5, texts that are compressed: the values that were written, and bad
files by name."""

from __future__ import annotations

import datetime
import gzip
import json
import random
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import seeds

from rho.backend.io import sources_and_sinks
from rho.backend.io.formats import BY_SUFFIX, FORMATS, TEXTS
from rho.backend.io.reading import READABLE, InputSpec, read_shape, read_values, row_source, split_member
from rho.backend.io.sources_and_sinks import suffix_of
from rho.backend.io.writing import WRITABLE
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Span
from rho.lang.tree.program import AS_WRITTEN, CellFormat, ColumnFormat
from rho.typechecker.elements import Kind

DAY, TIME = ColumnFormat(CellFormat.DATE), ColumnFormat(CellFormat.TIME)
COLUMNS: dict[str, list[Any]] = {
    "price": [1.5, None, 3.0, -2.25], "units": [3, 4, 2**60, 0], "shop": ["Ulm", None, "Kiel é", ""],
    "ok": [True, False, None, True],
    "day": [datetime.date(2024, 1, 5), datetime.date(2024, 1, 6), None, datetime.date(1969, 12, 31)],
}  # fmt: skip
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


def read(path: Path, member: str, kind: Kind, reading: ColumnFormat = AS_WRITTEN, rank: int | None = None) -> Any:
    name = f"{path}:{member}" if member else str(path)
    wanted = InputSpec(kind, rank or (2 if kind is Kind.CHAR else 1), Span("p.rho", 0, 0), reading, path.name)
    return read_values(name, wanted, read_shape(name, wanted))


def texts(rows: Any) -> list[str]:
    return ["".join(row).rstrip() for row in rows.tolist()]


def refusal(path: Path, member: str, kind: Kind, reading: ColumnFormat = AS_WRITTEN, rank: int | None = None) -> str:
    with pytest.raises(RhoError) as caught:
        read(path, member, kind, reading, rank)
    (one,) = caught.value.diagnostics
    return " ".join([one.code, one.message, *one.notes])


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    """Write a table in the format of the suffix; what comes before the names of its columns."""
    plain = [{name: str(item) if isinstance(item, datetime.date) else item for name, item in row.items()} for row in rows]
    match path.suffix:
        case ".json":
            path.write_text(json.dumps(plain), encoding="utf-8")
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in plain), encoding="utf-8")
        case ".arrow":
            pyarrow = pytest.importorskip("pyarrow")
            table = pyarrow.Table.from_pylist(rows)
            with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=2)
        case ".db":
            with sqlite3.connect(path) as base:
                base.execute(f"CREATE TABLE sales ({', '.join(rows[0])})")
                marks = ", ".join("?" * len(rows[0]))
                base.executemany(f"INSERT INTO sales VALUES ({marks})", [[*row.values()] for row in plain])
            base.close()
            return "sales."
        case ".xlsx":
            openpyxl = pytest.importorskip("openpyxl")
            book = openpyxl.Workbook()
            book.active.append([*rows[0]])
            for row in rows:
                book.active.append([min(item, 2**53) if isinstance(item, int) else item for item in row.values()])  # its digits
            book.save(path)
    return ""


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".arrow", ".db", ".xlsx"])
def test_columns_of_every_kind(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    before = write(path, ROWS)
    np.testing.assert_array_equal(read(path, f"{before}price", Kind.F64, ColumnFormat(missing=np.nan)), [1.5, np.nan, 3, -2.25])
    units = [3, 4, 2**53 if suffix == ".xlsx" else 2**60, 0]
    assert read(path, f"{before}units", Kind.I64).tolist() == units
    missing = ColumnFormat(missing="?")
    assert texts(read(path, f"{before}shop", Kind.CHAR, missing))[:3] == ["Ulm", "?", "Kiel é"]
    assert read(path, f"{before}price", Kind.BOOL, ColumnFormat(CellFormat.PRESENT)).tolist() == [True, False, True, True]
    days = [19727, 19728, -9, -1]
    assert read(path, f"{before}day", Kind.I64, ColumnFormat(CellFormat.DATE, missing=-9)).tolist() == days
    assert "has 1 missing item, the first at 1" in refusal(path, f"{before}price", Kind.F64)
    assert "E706" in refusal(path, f"{before}price", Kind.I64, ColumnFormat(missing=0))
    assert "E706" in refusal(path, f"{before}shop", Kind.F64, ColumnFormat(missing="x"))
    assert "E706" in refusal(path, f"{before}price", Kind.CHAR, ColumnFormat(missing=""))
    assert "has no column" in refusal(path, f"{before}prize", Kind.F64)


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".arrow", ".db", ".xlsx"])
def test_a_column_that_lacks_everything(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    before = write(path, [{"x": None, "y": 1}, {"x": None, "y": 2}])
    assert read(path, f"{before}x", Kind.F64, ColumnFormat(missing=0)).tolist() == [0, 0]
    assert texts(read(path, f"{before}x", Kind.CHAR, ColumnFormat(missing="?"))) == ["?", "?"]
    assert read(path, f"{before}x", Kind.I64, ColumnFormat(CellFormat.DATE, missing=3)).tolist() == [3, 3]


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.arrow", "x.db", "x.xlsx", "x.h5", "x.csv.gz", "x.csv.zst"])
@pytest.mark.parametrize("seed", seeds(40, 18950001))
def test_damage_is_read_or_refused(tmp_path: Path, name: str, seed: int) -> None:
    package, _ = BY_SUFFIX[suffix_of(name)].package
    pytest.importorskip("zstandard" if name.endswith(".zst") else package or "json")
    path, chance = tmp_path / name, random.Random(seed)
    if name.endswith((".gz", ".zst")):
        squeeze = gzip.compress if name.endswith(".gz") else pytest.importorskip("zstandard").ZstdCompressor().compress
        path.write_bytes(squeeze(b"price,units\n" + b"1.5,2\n" * 50))
    elif name == "x.h5":
        with pytest.importorskip("h5py").File(path, "w") as file:
            file.create_dataset("price", data=np.arange(60.0), chunks=(7,), compression="gzip")
            file["units"] = ["x", "yy"]
    before = write(path, ROWS) if not name.endswith((".gz", ".zst", ".h5")) else ""
    data = bytearray(path.read_bytes())
    for _ in range(6):
        bad = data[: chance.randrange(len(data))] if chance.random() < 0.3 else data[:]
        for _ in range(chance.choice([1, 2, 8]) if bad else 0):
            bad[chance.randrange(len(bad))] = chance.choice([0, 255, chance.randrange(256)])
        path.write_bytes(bad)
        for member, kind in (("price", Kind.F64), ("units", Kind.I64), ("units", Kind.CHAR)):
            try:
                read(path, before + member, kind)
            except RhoError as error:
                assert error.diagnostics[0].code in ("E704", "E705", "E706")


@pytest.mark.parametrize("block", [64, 1 << 20])
def test_a_heap_that_the_library_would_read_forever(tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A length that became 0 turns a text into objects, of which one is free space of no length."""
    monkeypatch.setattr("rho.backend.io.hdf5._BLOCK", block)
    path, like = tmp_path / "x.h5", tmp_path / "like.h5"
    for one, items in ((path, ["x", "yy"]), (like, ["GCOL\x01ab" * 9, "GCOL\x01"])):
        with pytest.importorskip("h5py").File(one, "w") as file:
            file["shop"] = items
        assert texts(read(one, "shop", Kind.CHAR)) == items
    data = bytearray(path.read_bytes())
    heap = data.index(b"GCOL\x01\0\0\0")
    assert data[heap + 16 : heap + 34] == b"\1" + bytes(7) + b"\2" + bytes(7) + b"yy"
    data[heap + 24] = 0
    path.write_bytes(data)
    assert "free space of a global heap is empty" in refusal(path, "shop", Kind.CHAR)


@pytest.mark.parametrize("seed", seeds(30))
@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".arrow", ".db"])
def test_random_columns(tmp_path: Path, suffix: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in parts, of which some lack everything, give what was written."""
    monkeypatch.setattr("rho.backend.io.columns._TOGETHER", 4)
    chance = random.Random(seed)
    kind = chance.choice([Kind.F64, Kind.I64, Kind.CHAR])
    makers = {Kind.F64: lambda: chance.choice([0.5, -1e300, 3.0]), Kind.I64: lambda: chance.randint(-(2**63), 2**63 - 1)}
    make = makers.get(kind, lambda: chance.choice(["a", "é𝄞", ""]))
    column = [None if chance.random() < 0.3 else make() for _ in range(chance.randint(1, 14))]
    path = tmp_path / f"t{suffix}"
    before = write(path, [{"x": item, "other": 1} for item in column])
    if not any(item is not None for item in column):
        return
    values = read(path, f"{before}x", kind, ColumnFormat(missing="" if kind is Kind.CHAR else 0))
    expected = [("" if kind is Kind.CHAR else 0) if item is None else item for item in column]
    assert (texts(values) if kind is Kind.CHAR else values.tolist()) == expected


@pytest.mark.parametrize(
    ("text", "kind", "rank", "items"),
    [
        ("[1, 2, 3]", Kind.I64, 1, [1, 2, 3]), ("[[1, 2.5], [3, 4]]", Kind.F64, 2, [[1, 2.5], [3, 4]]),
        ('{"elem": "f64", "shape": [2], "data": [1, "nan"]}', Kind.F64, 1, [1, float("nan")]),
        ('{"elem": "c128", "shape": [1], "data": [[1, 2]]}', Kind.C128, 1, [1 + 2j]),
        ('{"elem": "char", "shape": [2, 2], "data": ["ab", "cd"]}', Kind.CHAR, 2, [["a", "b"], ["c", "d"]]),
        ('[{"a": {"b": 1}}, {"a": {"b": 2}}]', Kind.I64, 2, [[1], [2]]),
        ('{"a": [1, 2], "b": [3, 4]}', Kind.I64, 2, [[1, 3], [2, 4]]),
    ],
)  # fmt: skip
def test_json_that_is_an_array(tmp_path: Path, text: str, kind: Kind, rank: int, items: list[Any]) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    np.testing.assert_array_equal(read(path, "", kind, rank=rank), np.array(items))


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("x.json", b'[{"a": 1}, {"a": ', "is not valid JSON: line 1, column 18"), ("x.json", b"[1, [2]]", "a number"),
        ("x.json", b"[[1, 2], [3]]", "lists of several lengths (1, 2)"), ("x.json", b"[" * 200_000, "is nested too deeply"),
        ("x.json", b'[{"a": 1}, {"a": "two"}]', "has a text in row 2 of column `a`, and a number before it"),
        ("x.json", b'[{"a": %s}]' % (b"9" * 30), "does not fit i64"), ("x.json", b"[%s]" % (b"9" * 6000), "is not valid JSON"),
        ("x.json", b'{"a": [1], "b": [1, 2]}', "columns of several lengths: a 1, b 2"), ("x.json", b'"\xff"', "is not UTF-8"),
        ("x.json", b'[{"a": 1, "a": 2}]', "an object has two items `a`"),
        ("x.json", b'{"a": ["\\ud800"]}', "half character '\\ud800'"),
        ("x.jsonl", b'{"a": 1}\n{"a": 1, "b": 3, "a": 2}', "line 2: an object has two items `a`"),
        ("x.jsonl", b'{"a.b": 1, "a": {"b": 2}}', "two items `a.b` in one object"),
        ("x.jsonl", b'{"a": "\\uD83D\\uDE00"}\n{"a": "b\\uDE00"}', "line 2 has the half character '\\ude00' alone"),
        ("x.jsonl", b"{\"a\": %s}" % (b"9" * 6000), "line 1: Exceeds the limit"),
        ("x.jsonl", b'{"a": 1}\n{"a" 2}\n', "line 2, column 6"), ("x.jsonl", b'{"a": 1}\n3\n', "line 2 is no object"),
        ("x.arrow", b"ARROW1\0\0 and no more", "is not a valid Arrow file"), ("x.arrow", b"", "is not a valid Arrow file"),
        ("x.db", b"SQLite format 3\0 and no more", "cannot be read"), ("x.db", b"", "is empty"),
        ("x.xlsx", b"PK\3\4 and no more", "is not an Excel file"),
        ("x.h5", b"\x89HDF\r\n\x1a\n and no more", "is not a valid HDF5 file"),
        ("x.csv.gz", gzip.compress(b"a\n1\n2\n", mtime=0)[:-9], "is not a valid gzip file"),
        ("x.csv.gz", b"a\n1\n", "is not a valid gzip file"),
        ("x.csv.zst", b"a\n1\n", "is not a valid zstd file"),
    ],
)  # fmt: skip
def test_bad_files(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    package, _ = BY_SUFFIX[suffix_of(name)].package
    pytest.importorskip("zstandard" if name.endswith(".zst") else package or "json")
    path = tmp_path / name
    path.write_bytes(data)
    answer = refusal(path, "" if name.endswith((".h5", ".gz", ".zst")) else "a", Kind.I64)
    assert said in answer or ("[1, [2]]" in data.decode("latin1") and "has no column" in answer), answer


def test_queries_read_and_do_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    write(path, ROWS)
    before = path.read_bytes()
    assert read(path, "SELECT units FROM sales WHERE price > 0 ORDER BY units", Kind.I64).tolist() == [3, 2**60]
    removes = "with a as (delete from sales) select 1"
    wrong = ("SELECT price, units FROM sales", "SELECT 1 FROM nowhere", removes, "sales.none", "units")
    for query in wrong:
        assert "E70" in refusal(path, query, Kind.F64)
    for query in ("SELECT load_extension('x')", "WITH a AS (SELECT 1) INSERT INTO sales SELECT 1,1,1,1,1"):
        assert "cannot be read" in refusal(path, query, Kind.F64)
    assert path.read_bytes() == before and [one.name for one in tmp_path.iterdir()] == ["t.db"]
    assert "its tables: sales" in refusal(path, "shops.price", Kind.F64) and "bytes" in refusal(path, "SELECT x'00'", Kind.F64)


def test_formulas_and_errors_of_excel(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    book = openpyxl.Workbook()
    for row in (["a", "b", "c", None], [1, 2, 1.5], [None, None, None], ["=A2+1", 3, "#DIV/0!"]):
        book.active.append(row)
    book.create_sheet("more").append(["a"])
    book["more"].append([datetime.datetime(2024, 1, 5, 12)])
    book.save(path)
    assert "a formula without a value in cell A4 of sheet `Sheet`: =A2+1" in refusal(path, "a", Kind.I64, ColumnFormat(missing=0))
    assert read(path, "b", Kind.I64, ColumnFormat(missing=0)).tolist() == [2, 0, 3]
    assert "the error #DIV/0! in cell C4" in refusal(path, "c", Kind.F64, ColumnFormat(missing=0))
    assert read(path, "more!a", Kind.I64, TIME).tolist() == [1704456000000000000]


def test_datasets_of_hdf5(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "t.h5"
    matrix = np.arange(60_000.0).reshape(20_000, 3)
    with h5py.File(path, "w") as file:
        file.create_dataset("a/m", data=matrix, chunks=(700, 2), compression="gzip")
        file["names"], file["truth"], file["one"] = ["x", "é yy"], np.array([True, False]), np.float32(2.5)
        file["big"] = np.arange(3, dtype=">i4")
        file["pairs"] = np.zeros(2, [("x", "i4"), ("y", "f8")])
        file["away"], file["near"] = h5py.ExternalLink("other.h5", "/x"), h5py.SoftLink("/big")
        layout = h5py.VirtualLayout((3,), "i4")
        layout[:] = h5py.VirtualSource("other.h5", "x", (3,))
        file.create_virtual_dataset("virtual", layout)
    np.testing.assert_array_equal(read(path, "a/m", Kind.F64, rank=2), matrix)
    assert texts(read(path, "names", Kind.CHAR)) == ["x", "é yy"] and read(path, "truth", Kind.BOOL).tolist() == [True, False]
    assert read(path, "big", Kind.I64).tolist() == [0, 1, 2]
    assert "records in pairs (fields x, y)" in refusal(path, "pairs", Kind.I64)
    assert "in other files" in refusal(path, "virtual", Kind.I64)
    assert "its datasets: a/m, big, names" in refusal(path, "away", Kind.I64)
    wanted = InputSpec(Kind.F64, 2, Span("p.rho", 0, 0), AS_WRITTEN, "t.h5")
    source = row_source(f"{path}:a/m", wanted, matrix.shape)
    assert source is not None
    handle, part = source.open(), np.empty((50, 3))
    for first in (19_950, 0, 1_390):
        source.read(handle, first, part, first)
        np.testing.assert_array_equal(part, matrix[first : first + 50])
    source.close(handle)


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_compressed_texts(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    zstandard = pytest.importorskip("zstandard") if suffix == "zst" else None
    squeeze = gzip.compress if zstandard is None else zstandard.ZstdCompressor().compress
    text = "a,b\n" + "".join(f"{at},{at / 7}\n" for at in range(40_000))
    path = tmp_path / f"t.CSV.{suffix}"
    path.write_bytes(squeeze(text[:9].encode()) + squeeze(text[9:].encode()))
    assert read(path, "b", Kind.F64).tolist() == [at / 7 for at in range(40_000)]
    source = row_source(f"{path}:b", InputSpec(Kind.F64, 1, Span("p.rho", 0, 0), AS_WRITTEN, "t"), (40_000,))
    assert source is not None
    handle, part = source.open(), np.empty(10)
    for first in (30_000, 5):
        source.read(handle, first, part, first)
        assert part.tolist() == [at / 7 for at in range(first, first + 10)]
    source.close(handle)
    monkeypatch.setattr(sources_and_sinks, "_LEAST_LIMIT", 1000)
    path.write_bytes(squeeze(b"a\n" + b"1\n" * 3_000_000))
    assert "inflates to more than 200 times its size, which is refused" in refusal(path, "a", Kind.I64)


def test_the_table_of_formats() -> None:
    assert len(BY_SUFFIX) == sum(len(format.suffixes) for format in FORMATS)
    assert {*READABLE} == {*BY_SUFFIX} and {suffix.replace(".zarr.zip", ".zarr") for suffix in WRITABLE} <= {*BY_SUFFIX}
    for format in FORMATS:
        assert not (format.table and not format.writes)
        for suffix in format.suffixes:
            assert split_member(f"x{suffix}:a") == ((f"x{suffix}", "a") if format.members else (f"x{suffix}:a", ""))
    assert split_member("x.csv.gz:a:b") == ("x.csv.gz", "a:b") and suffix_of("x.npy.gz") == ".gz" and {*TEXTS} <= {*BY_SUFFIX}
