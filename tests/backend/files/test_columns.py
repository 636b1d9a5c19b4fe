"""Columns of tables that are text: by name and place, dates, missing cells, quotes, and what is refused with line and column."""

from __future__ import annotations

import csv
import io
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import seeds

import rho
from rho.backend.io import cells
from rho.backend.io.cells import example_missing
from rho.backend.io.reading import InputSpec, read_shape, read_values
from rho.backend.io.writing import prepare_table, write_together
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Span
from rho.lang.tree.program import AS_WRITTEN, CellFormat, ColumnFormat
from rho.shell.main import main
from rho.typechecker.elements import Kind

SPAN = Span("<test>", 0, 0)
SALES = (
    'date,when,region,price,units,note\n2024-01-05,2024-01-05T10:00:00Z,north,1.5,3,"a, b"\n'
    '2024-01-06,2024-01-06 11:30:00,south,,4,"say ""hi"""\n2024-02-01,2024-02-01T00:00:00+02:00,NA,NA,5,"two\nlines"\n'
)


def column(path: Path, member: str, kind: Kind, reading: ColumnFormat = AS_WRITTEN, tables: Any = None) -> Any:
    rank = 2 if kind is Kind.CHAR else 1
    wanted = InputSpec(kind, rank, SPAN, reading, f"{path.name}:{member}", None, {} if tables is None else tables)
    name = f"{path}:{member}" if member else str(path)
    return read_values(name, wanted, read_shape(name, wanted))


def texts(array: Any) -> list[str]:
    return ["".join(row).rstrip(" ") for row in array.tolist()]


def refusal(path: Path, member: str, kind: Kind, reading: ColumnFormat = AS_WRITTEN) -> str:
    with pytest.raises(RhoError) as caught:
        column(path, member, kind, reading)
    (found,) = caught.value.diagnostics
    return " ".join([found.code, found.message, *found.notes])


@pytest.mark.parametrize(
    ("data", "page"),
    [
        ("Preis €\n1\n".encode("cp1252"), "cp1252"), ("Größe\n1\n".encode("latin1"), "cp1252"),
        ("für\n1\n".encode("cp850"), "cp850"), ("Ý,é\n1,2\n".encode() + "€,1\n".encode("cp1252"), "cp1252"),
    ],
)  # fmt: skip
def test_code_pages_are_named(tmp_path: Path, data: bytes, page: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(data)
    assert f"`iconv -f {page} -t utf-8 old.csv > new.csv`" in refusal(path, "#1", Kind.F64)


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    path = tmp_path / "sales.csv"
    path.write_text(SALES, encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["lf", "crlf", "mark", "padded"])
def test_columns_of_every_kind(tmp_path: Path, form: str) -> None:
    text = {"lf": SALES, "crlf": SALES.replace("\n", "\r\n"), "mark": "\ufeff" + SALES, "padded": SALES.replace(",", ", ")}[form]
    path = tmp_path / "sales.csv"
    path.write_bytes(text.encode())
    tables: Any = {}
    assert column(path, "date", Kind.I64, ColumnFormat(CellFormat.DATE), tables).tolist() == [19727, 19728, 19754]
    seconds = [1704448800, 1704540600, 1706738400]
    assert column(path, "when", Kind.I64, ColumnFormat(CellFormat.TIME), tables).tolist() == [s * 10**9 for s in seconds]
    assert texts(column(path, "region", Kind.CHAR, ColumnFormat(missing="none"), tables)) == ["north", "south", "none"]
    np.testing.assert_array_equal(column(path, "price", Kind.F64, ColumnFormat(missing=np.nan), tables), [1.5, np.nan, np.nan])
    assert column(path, "price", Kind.BOOL, ColumnFormat(CellFormat.PRESENT), tables).tolist() == [True, False, False]
    assert column(path, "units", Kind.I64, tables=tables).tolist() == [3, 4, 5]
    assert column(path, "#5", Kind.I32, tables=tables).dtype == np.int32
    lines = "two\r\nlines" if form == "crlf" else "two\nlines"
    comma = "a,  b" if form == "padded" else "a, b"
    assert texts(column(path, "note", Kind.CHAR, tables=tables)) == [comma, 'say "hi"', lines]
    assert len(tables) == 1


def test_a_header_longer_than_a_piece(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    names = [f"c{at}" for at in range(100_000)]
    path.write_text(",".join(names) + "\n", encoding="utf-8")
    wanted = InputSpec(Kind.F64, 2, SPAN)
    assert read_values(str(path), wanted, read_shape(str(path), wanted)).shape == (0, 100_000)
    path.write_text(",".join(names) + "\n" + ",".join(map(str, range(100_000))) + "\n", encoding="utf-8")
    assert column(path, "c98765", Kind.I64).tolist() == [98765]
    assert column(path, "#98765", Kind.F64).tolist() == [98764.0]


def test_integers_digit_for_digit(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    numbers = [2**63 - 1, -(2**63), 2**53 + 1, 0, -1, 1700000000123]
    path.write_text("a,b\n" + "".join(f"{n},x\n" for n in numbers), encoding="utf-8")
    assert column(path, "a", Kind.I64).tolist() == numbers
    assert column(path, "a", Kind.I64, ColumnFormat(missing=0)).tolist() == numbers


def test_other_signs(tmp_path: Path) -> None:
    path = tmp_path / "eu.csv"
    path.write_text("tag;preis\n31.12.2024;1,5\n01.02.2025 ; -2,25\n", encoding="utf-8")
    reading = ColumnFormat(separator=";", decimal=",")
    assert column(path, "preis", Kind.F64, reading).tolist() == [1.5, -2.25]
    assert column(path, "tag", Kind.I64, replace(reading, form=CellFormat.DATE, pattern="%d.%m.%Y")).tolist() == [20088, 20120]
    assert "line 2, column 2 (preis): “1,5” is not a number" in refusal(path, "preis", Kind.F64, ColumnFormat(separator=";"))
    path.write_text("a;b\n1;2,5\n", encoding="utf-8")
    wanted = InputSpec(Kind.F64, 2, SPAN, replace(reading, pattern=""))
    assert read_values(str(path), wanted, read_shape(str(path), wanted)).tolist() == [[1.0, 2.5]]


@pytest.mark.parametrize(
    ("text", "kind", "reading"),
    [
        ("a,b\n2024-02-30,2\n", Kind.I64, ColumnFormat(CellFormat.DATE)),
        ("a,b\nx,2\n", Kind.F64, AS_WRITTEN),
        ("a,b\n1.5,2\n", Kind.I64, AS_WRITTEN),
        ("a,b\n1.234.5,2\n", Kind.F64, AS_WRITTEN),
        ('a,b\n"1,234,5",2\n', Kind.F64, AS_WRITTEN),
        ("a,b\n1,2\n3\n", Kind.F64, AS_WRITTEN),
    ],
)
def test_no_clause_is_named_that_would_not_help(tmp_path: Path, text: str, kind: Kind, reading: ColumnFormat) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    said = refusal(path, "a", kind, reading)
    assert "clause" not in said and "`input`" not in said and "written" not in said


def test_a_column_of_a_table_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("1,ab\n2,c\n", encoding="utf-8")
    assert column(path, "#1", Kind.F64).tolist() == [1.0, 2.0]
    assert texts(column(path, "#2", Kind.CHAR)) == ["ab", "c"]


@pytest.mark.parametrize(
    ("text", "member", "kind", "reading", "said"),
    [
        ("a,b\n1,2\n", "c", Kind.F64, AS_WRITTEN, "E704 `x.csv:c` has no column named c"),
        ("price,b\n1,2\n", "prize", Kind.F64, AS_WRITTEN, "did you mean `price`?"),
        ("a,b,a\n1,2,3\n", "a", Kind.F64, AS_WRITTEN, "E705 `x.csv:a` has two columns named a: columns 1 and 3"),
        ("a,b\n1,2\n", "#3", Kind.F64, AS_WRITTEN, "E704 `x.csv:#3` has no column 3: it has 2"),
        ("a,b\n1,2\n3\n", "a", Kind.F64, AS_WRITTEN, "line 3 has 1 cell, line 1 has 2 cells"),
        ("a,b\n1,\"x\ny\"\n3,4,5\n", "a", Kind.F64, AS_WRITTEN, "line 4 has 3 cells"),
        ("a,b\n1,2\nx,3\n", "a", Kind.F64, AS_WRITTEN, "line 3, column 1 (a): “x” is not a number"),
        ("a,b\n1,2\n1.5,3\n", "a", Kind.I64, AS_WRITTEN, "line 3, column 1 (a): “1.5” is not an integer"),
        ("a,b\n1,2\n1_0,3\n", "a", Kind.I64, AS_WRITTEN, "“1_0” is not an integer"),
        ("a,b\n1,2\n١,3\n", "a", Kind.F64, AS_WRITTEN, "“١” is not a number"),
        ("a,b\n1,2\n9223372036854775808,3\n", "a", Kind.I64, AS_WRITTEN, "does not fit i64"),
        ("a,b\n1,2\n,3\n", "a", Kind.F64, AS_WRITTEN, "line 3, column 1 (a) is empty say what stands for it: `missing ⎕nan`"),
        ("a,b\n1,2\nNA,3\n", "a", Kind.I64, AS_WRITTEN, "line 3, column 1 (a) is NA say what stands for it: `missing 0`"),
        ("a,b\nx,2\n,3\n", "a", Kind.CHAR, AS_WRITTEN, 'line 3, column 1 (a) is empty say what stands for it: `missing ""`'),
        ("a,b\n2024-02-30,2\n", "a", Kind.I64, ColumnFormat(CellFormat.DATE), "“2024-02-30” is not a date such as 2024-12-31"),
        ("a,b\n20240101,2\n", "a", Kind.I64, ColumnFormat(CellFormat.DATE), "is not a date"),
        ("a,b\n1.2.24,2\n", "a", Kind.I64, ColumnFormat(CellFormat.DATE, "%d.%m.%Y"), "is not a date such as %d.%m.%Y"),
        ("a,b\n25:00,2\n", "a", Kind.I64, ColumnFormat(CellFormat.TIME), "is not a time"),
        ("a,b\n31.12.2024,2\n", "a", Kind.I64, ColumnFormat(CellFormat.DATE),
        'this reads it: `as "%d.%m.%Y"`'),
        ("a,b\n31.12.2024,2\n", "a", Kind.I64, AS_WRITTEN, 'not an integer this reads it: `date[n]` with `as "%d.%m.%Y"`'),
        ("a,b\n01/02/2024,2\n", "a", Kind.I64, ColumnFormat(CellFormat.DATE), '`as "%d/%m/%Y"` or `as "%m/%d/%Y"`'),
        ("a,b\n2024-01-04 10:00,2\n", "a", Kind.I64, ColumnFormat(CellFormat.DATE), "this reads it: `time[n]`"),
        ("a,b\n4 Jan 24,2\n", "a", Kind.I64, ColumnFormat(CellFormat.DATE), 'say how it is written, as in `as "%d.%m.%Y"`'),
        ('a,b\n"1,000",2\n', "a", Kind.F64, AS_WRITTEN, 'reads it: `group ","` or `decimal ","`'),
        ('a,b\n"1,000,000",2\n', "a", Kind.I64, AS_WRITTEN, 'this clause of the `input` reads it: `group ","`'),
        ('a,b\n"1,5",2\n', "a", Kind.F64, AS_WRITTEN, '“1,5” is not a number this clause of the `input` reads it: `decimal ","`'),
        ("a;b\n1,5;2\n", "a", Kind.F64, AS_WRITTEN, 'line 2 has 2 cells, line 1 has 1 cell its cells seem'),
        ("a;b\n1,5;2\n", "a", Kind.F64, AS_WRITTEN, 'say so in the `input`: `sep ";"`'),
        ("a\tb\n1\t2\n", "a", Kind.F64, AS_WRITTEN, 'its columns: a?b its cells seem to be separated by something else'),
        ("a\tb\n1\t2\n", "a", Kind.F64, AS_WRITTEN, '`sep "\\t"`'),
        ("a,b\n1,2\n", "a", Kind.F64, ColumnFormat(separator=";"), '`sep ","`'),
        ("a,b\n1,\"x\n3,4\n", "a", Kind.F64, AS_WRITTEN, "line 2: a quoted cell is not closed"),
        ("a,b\n1,\"x\"y\n", "a", Kind.F64, AS_WRITTEN, "line 2: text follows a closing quote"),
        ("a,b\n1,\0\n", "a", Kind.F64, AS_WRITTEN, "line 2 holds a NUL character"),
        ("", "a", Kind.F64, AS_WRITTEN, "E705 `x.csv:a` is empty"),
        ("a,b\n1,2\n", "a", Kind.BOOL, ColumnFormat(missing=0), None),
        ("a,b\n2,2\n", "a", Kind.BOOL, AS_WRITTEN, "“2” is not a bool"),
    ],
)  # fmt: skip
def test_bad_tables(tmp_path: Path, text: str, member: str, kind: Kind, reading: ColumnFormat, said: str | None) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    if said is None:
        assert column(path, member, kind, reading).tolist() == [True]
    else:
        assert said in refusal(path, member, kind, reading)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("a,b\n1,ü\n".encode("latin-1"), "line 2 has the byte 0xfc"), ("a,b\n1,2\n".encode("utf-16"), "is UTF-16, not UTF-8"),
        (b"a,b\n1,\xed\xa0\x80\n", "is not UTF-8: line 2"),
    ],
)  # fmt: skip
def test_other_encodings(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(data)
    assert said in refusal(path, "a", Kind.F64)


def test_the_place_of_a_bad_cell_late_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1,2\n" * 30_000 + "1,two\n" + "1,2\n" * 10, encoding="utf-8")
    assert "line 30002, column 2 (b): “two” is not a number" in refusal(path, "b", Kind.F64)


SIGNS = ["a", "7", " ", ",", '"', "\n", ";", "é", "'", "\t", "¯", "-"]


@pytest.mark.parametrize("seed", seeds(100))
def test_what_is_written_reads_back(tmp_path: Path, seed: int) -> None:
    """Random texts, numbers and dates: a table written by Rho is the same to Rho and to Python's own reader."""
    draw = random.Random(seed)
    rows = draw.randrange(1, 40)
    words = ["".join(draw.choices(SIGNS, k=draw.randrange(7))).strip(" ") or "x" for _ in range(rows)]
    words = [word if word.strip() else "x" for word in words]
    floats = [draw.choice([0.1, -1e300, 2.5, 1e-310, float(draw.randrange(10**6))]) for _ in words]
    whole = [draw.choice([2**63 - 1, -(2**63), draw.randrange(-(10**12), 10**12)]) for _ in words]
    days = [draw.randrange(-700_000, 2_900_000) for _ in words]
    width = max(map(len, words))
    characters = np.array([list(word.ljust(width)) for word in words], "U1").reshape(rows, width)
    outputs = [
        ("word", characters, Kind.CHAR, AS_WRITTEN), ("f", np.array(floats), Kind.F64, AS_WRITTEN),
        ("i", np.array(whole), Kind.I64, AS_WRITTEN), ("day", np.array(days), Kind.I64, ColumnFormat(CellFormat.DATE)),
    ]  # fmt: skip
    path = tmp_path / ("t.tsv" if seed % 3 == 0 else "t.csv")
    write_together([prepare_table(str(path), outputs, SPAN)])
    assert texts(column(path, "word", Kind.CHAR)) == [word.rstrip(" ") for word in words]
    assert column(path, "f", Kind.F64).tolist() == floats
    assert column(path, "i", Kind.I64).tolist() == whole
    assert column(path, "day", Kind.I64, ColumnFormat(CellFormat.DATE)).tolist() == days
    read = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline=""), delimiter="\t" if seed % 3 == 0 else ","))
    assert [row[0] for row in read[1:]] == [word.rstrip(" ") for word in words]


@pytest.mark.parametrize("seed", seeds(300))
def test_any_bytes_are_read_or_refused(tmp_path: Path, seed: int) -> None:
    """A damaged table is read as it stands, or refused with a code; nothing else is raised."""
    draw = random.Random(seed)
    data = bytearray(SALES.encode() * draw.randrange(1, 4))
    for _ in range(draw.randrange(1, 6)):
        at = draw.randrange(len(data))
        data[at : at + draw.randrange(3)] = bytes(draw.choices(b'",\n\r\0\xff\xc3;x9-', k=draw.randrange(4)))
    path = tmp_path / "x.csv"
    path.write_bytes(bytes(data))
    for member, kind, reading in [
        ("price", Kind.F64, ColumnFormat(missing=np.nan)), ("note", Kind.CHAR, AS_WRITTEN), ("#1", Kind.I64,
        ColumnFormat(CellFormat.DATE)),
        ("units", Kind.I64, AS_WRITTEN), ("", Kind.F64, ColumnFormat(missing=0)),
    ]:  # fmt: skip
        try:
            column(path, member, kind, reading)
        except RhoError as error:
            assert {d.code for d in error.diagnostics} <= {"E704", "E705", "E706"}


@pytest.mark.parametrize("cell", ["", "NA", "x", "1.5", "2024-01-01"])
@pytest.mark.parametrize("suffix", ["", "-:csv"])
def test_a_cell_is_reported_at_the_input_of_its_column(
    tmp_path: Path, capsys: Any, monkeypatch: Any, cell: str, suffix: str
) -> None:
    """All columns of a file are read together when the first of them is asked for."""
    text = f"a,b,c\n1,2,3\n4,{cell},6\n"
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    (tmp_path / "p.rho").write_text("input a : i64[n]\ninput b : i64[n]\ninput c : i64[n]\noutput d ← a+b+c\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    file = suffix or "data.csv"
    assert main(["run", "p.rho", *[part for name in "abc" for part in ("--in", f"{name}={file}:{name}")]]) == 1
    said = capsys.readouterr().err
    assert f"`{file}:b` line 3, column 2 (b)" in said and "p.rho:2:1" in said
    assert ("`missing 0` at the end of its `input`" in said) is (cell in ("", "NA"))
    assert ("`char[n w]`" in said) is (cell == "x")


@pytest.mark.parametrize(("kind", "missing"), [(kind, example_missing(kind)) for kind in Kind])
def test_the_missing_value_of_a_message_is_accepted(kind: Kind, missing: str) -> None:
    shape = "n w" if kind is Kind.CHAR else "n"
    assert not rho.check(f'input b : {kind.value}[{shape}] ← "x.csv:b" missing {missing}\n').diagnostics


@pytest.mark.parametrize(
    ("kind", "missing", "note"),
    [
        ("i64", "⎕nan", "i64 takes a whole number: `missing 0`, or declare it `f64`"),
        ("u8", "256", "u8 takes a whole number from 0 to 255: `missing 0`"),
        ("bool", "0.5", "bool takes a whole number from 0 to 1: `missing 0`, or declare it `f64`"),
        ("f64", '""', "numbers take a number: `missing 0`, or `missing ⎕nan` in `f64`"),
        ("char", "0", 'text takes a text: `missing ""`'),
    ],
)
def test_a_missing_value_of_another_type_has_a_cure(kind: str, missing: str, note: str) -> None:
    shape = "n w" if kind == "char" else "n"
    [error] = rho.check(f'input b : {kind}[{shape}] ← "x.csv:b" missing {missing}\n').diagnostics
    assert error.code.name == "E300" and note in error.notes


def test_a_cell_of_a_whole_table_is_reported_with_the_header_of_its_column(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,x\n", encoding="utf-8")
    wanted = InputSpec(Kind.F64, 2, SPAN)
    with pytest.raises(RhoError, match=r"line 3, column 2 \(b\): “x” is not a number"):
        read_values(str(tmp_path / "x.csv"), wanted, read_shape(str(tmp_path / "x.csv"), wanted))


def test_what_a_message_on_missing_items_of_parquet_offers_is_accepted(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    parquet.write_table(arrow.table({"a": [1, 2], "b": arrow.array([1, None])}), path)
    with pytest.raises(RhoError, match="column `b`") as refused:
        read_values(str(path), InputSpec(Kind.I64, 2, SPAN), (2, 2))
    [note] = refused.value.diagnostics[0].notes
    assert "`:b`" in note and "`missing 0`" in note
    wanted = InputSpec(Kind.I64, 1, SPAN, ColumnFormat(missing=0))
    assert read_values(f"{path}:b", wanted, (2,)).tolist() == [1, 0]


def test_a_date_that_occurs_often_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "days.csv"
    path.write_text("day\n" + '05.01.2024\n\n" 06.01.2024"\n 05.01.2024\nNA\n' * 50)
    asked: list[str] = []
    original = cells.number_of
    monkeypatch.setenv("RHO_KERNELS", "off")  # else C reads them
    monkeypatch.setattr(cells, "number_of", lambda cell, reading: asked.append(cell) or original(cell, reading))
    days = column(path, "day", Kind.I64, ColumnFormat(form=CellFormat.DATE, pattern="%d.%m.%Y", missing=-1))
    assert days.tolist() == [19727, 19728, 19727, -1] * 50 and sorted(asked) == ["05.01.2024", "06.01.2024"]
