"""Which lines of a table are records, which is its header, and which cells are there."""

from __future__ import annotations

import io
from datetime import date
from pathlib import Path

import numpy as np
import pytest

import rho
from rho.backend.io.writing import write_values
from rho.lang.syntax.source import Span
from rho.shell.main import main
from rho.typechecker.elements import Kind

NAN = float("nan")


def _run(folder: Path, type: str, path: str, text: str, clauses: str = "", name: str = "a.csv") -> list[object]:
    (folder / name).write_bytes(text.encode())
    (folder / "p.rho").write_text(f'input x : {type} ← "{name}{path}"{clauses}\noutput x\n', encoding="utf-8")
    values = rho.load(folder / "p.rho").run()["x"]
    rows = values.tolist()
    return ["".join(row) for row in rows] if values.dtype.kind == "U" else rows


ONE_COLUMN = 'a\n1\n""\n\n   \n3\n'


@pytest.mark.parametrize(
    ("type", "path", "clauses", "items"),
    [
        ("f64[n]", ":a", " missing 9", [1, 9, 3]),
        ("i64[n]", ":#1", " missing 9", [1, 9, 3]), ("f64[n]", "", " missing 9", [1, 9, 3]),
        ("bool[n]", ":a", " as present", [True, False, True]), ("char[n w]", ":a", "", ["1", " ", "3"]),
        ("char[n w]", ":a", ' missing "?"', ["1", "?", "3"]), ("f64[n m]", "", " missing 9", [[1], [9], [3]]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_an_empty_cell_is_a_record_and_a_blank_line_is_none(
    tmp_path: Path, type: str, path: str, clauses: str, items: list[object], name: str
) -> None:
    assert _run(tmp_path, type, path, ONE_COLUMN, clauses, name) == items


def test_an_empty_record_is_refused_where_nothing_stands_for_it(tmp_path: Path) -> None:
    for type, path in (("f64[n]", ":a"), ("f64[n]", ""), ("i64[n]", ":#1")):
        with pytest.raises(rho.RunFailed, match=r"line 3, column 1( .a.)? is empty"):
            _run(tmp_path, type, path, ONE_COLUMN)


@pytest.mark.parametrize("source", ["file", "standard input", "tiles"])
def test_empty_records_count_from_everywhere(
    tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    count = 90_000
    text = "a\n" + '2\n""\n' * count
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    (tmp_path / "p.rho").write_text('input x : f64[n] ← "a.csv:a" missing 0.5\n⎕←+/x\n⎕←≢x\n', encoding="utf-8")
    extra = {"file": [], "standard input": ["--in", "x=-:csv:a"], "tiles": ["--max-memory", "8MB"]}[source]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["run", str(tmp_path / "p.rho"), *extra]) == 0
    assert capsys.readouterr().out.split() == [str(count * 2 + count // 2), str(2 * count)]


CELLS = ["", "NA", " NA", "NA ", '"', '""', ',""', '\n""\n', '"",""', "a\n\nb", '\n"NA"\n', 'x"NA"', "\r", "1", "-"]


@pytest.mark.parametrize("cell", CELLS)
def test_texts_are_read_back(tmp_path: Path, cell: str) -> None:
    texts = ["ab", cell, "c", cell]
    width = max(map(len, texts))
    values = np.array([list(text.ljust(width)) for text in texts], "U1")
    for name in ("r.csv", "r.tsv"):
        write_values(str(tmp_path / name), values, Kind.CHAR, Span("p", 0, 0))
        (tmp_path / "p.rho").write_text(f'input x : char[n w] ← "{name}:#1"\noutput x\n', encoding="utf-8")
        rows = rho.load(tmp_path / "p.rho").run()["x"].tolist()
        assert ["".join(row).rstrip(" ") for row in rows] == [text.rstrip(" ") for text in texts]


@pytest.mark.parametrize(
    ("text", "column", "items"),
    [
        ('"","2-9","10-19"\n"Regular",43,16\n', ":#2", [43]), ("name,1st\nab,1\n", ":#2", [1]), ("a,20+\nx,1\n", ":#2", [1]),
        ("+,-\n1,2\n", ":#2", [2]), (".5a,(b)\n1,2\n", ":#1", [1]), ("3D,¯x\n1,2\n", ":#1", [1]),
        ("Ulm,3\nKiel,4\n", ":#2", [3, 4]), ("x,¯3\ny,4\n", ":#2", [-3, 4]), ("x,1e3\ny,4\n", ":#2", [1000, 4]),
        ("nan,inf\n1,2\n", ":#2", [float("inf"), 2]), ("x,1J2\ny,4\n", ":#1", None), ("2024-01-05,x\n", ":#1", None),
    ],
)  # fmt: skip
def test_a_first_line_without_a_number_is_a_header(tmp_path: Path, text: str, column: str, items: list[float] | None) -> None:
    if items is None:
        with pytest.raises(rho.RunFailed, match=r"line 1, column 1: .* is not a number"):
            _run(tmp_path, "f64[n]", column, text)
        return
    assert _run(tmp_path, "f64[n]", column, text) == items
    assert len(_run(tmp_path, "char[n w]", ":#1", text)) == len(items)


@pytest.mark.parametrize(
    ("type", "clauses", "text", "items"),
    [
        ("date[n]", "", "1970-01-02,a\n1970-01-03,b\n", [date(1970, 1, 2), date(1970, 1, 3)]),
        ("date[n]", ' as "%d|%m|%Y"', "02|01|1970,a\n03|01|1970,b\n", [date(1970, 1, 2), date(1970, 1, 3)]),
        ("time[n]", "", "1970-01-01T00:00:01,a\n", [10**9]),
        ("f64[n]", ' sep ";" decimal ","', "1,5;a\n2,5;b\n", [1.5, 2.5]),
        ("bool[n]", "", "true,a\nfalse,b\n", [True, False]), ("c128[n]", "", "1J2,a\n", [1 + 2j]),
    ],
)  # fmt: skip
def test_a_first_line_of_the_type_is_data(tmp_path: Path, type: str, clauses: str, text: str, items: list[object]) -> None:
    assert _run(tmp_path, type, ":#1", text, clauses) == items


def test_a_whole_table_with_such_a_header(tmp_path: Path) -> None:
    assert _run(tmp_path, "f64[n m]", "", "2-9,1st\n1,2\n") == [[1, 2]]
    assert _run(tmp_path, "bool[n m]", "", "true,false\nfalse,true\n") == [[True, False], [False, True]]


def test_years_as_headers_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "y.csv").write_text("name,2019,2020\nUlm,3,4\n", encoding="utf-8")
    (tmp_path / "p.rho").write_text('input x : f64[n] ← "y.csv:#2"\nx\n', encoding="utf-8")
    assert main(["run", str(tmp_path / "p.rho")]) == 0
    told = capsys.readouterr()
    assert told.out == "2019 3\n" and "line 1 (name, 2019, 2020) is read as data" in told.err and "`:2020`" in told.err
    (tmp_path / "p.rho").write_text('input x : f64[n] ← "y.csv:2019"\nx\n', encoding="utf-8")
    assert main(["run", str(tmp_path / "p.rho")]) == 0
    assert capsys.readouterr() == ("3\n", "")
    (tmp_path / "p.rho").write_text('input x : f64[n m] ← "y.csv"\nx\n', encoding="utf-8")
    assert main(["run", str(tmp_path / "p.rho")]) == 1
    assert "a first line with numbers is no header; read columns by name" in capsys.readouterr().err
    assert main(["init", "--from", str(tmp_path / "y.csv"), str(tmp_path / "made.rho")]) == 0
    assert 'y.csv:2019"' in (tmp_path / "made.rho").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["a,b\r1,2\r3,4\r", "a,b\n1,2\r3,4\n", '"a",b\r\n1,2\r3,4\r\n', "1,2\r3,4", "1,2\r" * 200_000])
def test_a_carriage_return_alone_is_refused_with_a_cure(tmp_path: Path, text: str) -> None:
    for type, path in (("f64[n m]", ""), ("f64[n]", ":#1")):
        with pytest.raises(rho.RunFailed, match=r"line [12]: a carriage return stands where no line ends") as caught:
            _run(tmp_path, type, path, text)
        assert any("tr '\\r' '\\n'" in note for one in caught.value.diagnostics for note in one.notes)


def test_carriage_returns_in_quotes_and_at_the_end_are_read(tmp_path: Path) -> None:
    assert _run(tmp_path, "char[n w]", ":a", 'a\r\n"x\ry"\r\nz\r') == ["x\ry", "z  "]
