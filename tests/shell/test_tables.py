"""Tables from file to file: columns by header, standard input, several outputs as one table; clauses in the checker."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .conftest import Rho

CSV = 'day,shop,price\n2024-01-05,"a, b",1.5\n2024-01-06,c,\n'
PROGRAM = """input day : date[n] ← "sales.csv:day"
input shop : char[n w] ← "sales.csv:shop"
input price : f64[n] ← "sales.csv:price" missing 0
input there : bool[n] ← "sales.csv:price" as present
output later ← day+⎕days 1
output shop
output total ← +/price
output half ← price÷2
there
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sales.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "p.rho").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def test_several_outputs_are_one_table(rho: Rho, folder: Path) -> None:
    ran = rho("run", str(folder / "p.rho"), "--out", f"later,shop,half={folder / 'r.csv'}", "--verify")
    assert (ran.code, ran.out) == (0, "1 0\n")
    assert (folder / "r.csv").read_text() == 'later,shop,half\n2024-01-06,"a, b",0.75\n2024-01-07,c,0\n'


def test_columns_of_standard_input_and_a_table_on_standard_output(rho: Rho, folder: Path) -> None:
    inputs = [word for name in ("day", "shop", "price") for word in ("--in", f"{name}=-:csv:{name}")]
    ran = rho("run", str(folder / "p.rho"), *inputs, "--in", "there=-:csv:price", "--out", "shop,half=-:csv", stdin=CSV * 1)
    assert (ran.code, ran.out) == (0, 'shop,half\n"a, b",0.75\nc,0\n')


MATRIX = """output month ← ⎕date 19723 19754
output total ← 2 3⍴1.5 2 ⎕nan 4 5 6
output region ← ↑'north' 'south' 'mid'
output year ← 2022 2023 2024
"""


def test_json_lines_through_standard_streams(rho: Rho, tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text("input x : f64[n]\ninput s : char[n w]\noutput s\noutput y ← 2×x\n", encoding="utf-8")
    lines = '{"x": 1.5, "s": "Ulm"}\n{"x": 2, "s": "é"}\n'
    given = ["--in", "x=-:jsonl:x", "--in", "s=-:jsonl:s"]
    ran = rho("run", str(tmp_path / "p.rho"), *given, "--out", "s,y=-:jsonl", stdin=lines)
    assert (ran.code, ran.out) == (0, '{"s": "Ulm", "y": 3.0}\n{"s": "é", "y": 4.0}\n'), ran.err


@pytest.mark.parametrize(
    ("out", "text"),
    [
        ("month,total:region=r.csv", "month,north,south,mid\n2024-01-01,1.5,2,nan\n2024-02-01,4,5,6\n"),
        ("total:year=r.tsv", "2022\t2023\t2024\n1.5\t2\tnan\n4\t5\t6\n"),
        ("total,month=r.csv", "total0,total1,total2,month\n1.5,2,nan,2024-01-01\n4,5,6,2024-02-01\n"),
        ("month,total:region=r.jsonl",
         '{"month": "2024-01-01", "north": 1.5, "south": 2.0, "mid": null}\n'
         '{"month": "2024-02-01", "north": 4.0, "south": 5.0, "mid": 6.0}\n'),
        ("region=r.jsonl", '{"region": "north"}\n{"region": "south"}\n{"region": "mid"}\n'),
    ],
)  # fmt: skip
def test_a_matrix_is_columns(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.rho").write_text(MATRIX, encoding="utf-8")
    ran = rho("run", "p.rho", "--out", out)
    assert ran.code == 0, ran.err
    assert (tmp_path / out.partition("=")[2]).read_text(encoding="utf-8") == text


def test_an_output_in_several_files(rho: Rho, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    files = ("later=a.csv", "later,shop=b.csv", "later=-:csv", "later=c.jsonl")
    ran = rho("run", "p.rho", *(word for file in files for word in ("--out", file)))
    assert ran.code == 0 and ran.out == "later\n2024-01-06\n2024-01-07\n", ran.err
    assert (folder / "a.csv").read_text() == ran.out
    assert (folder / "b.csv").read_text().startswith("later,shop\n2024-01-06,")
    assert (folder / "c.jsonl").read_text() == '{"later": "2024-01-06"}\n{"later": "2024-01-07"}\n'
    refused = rho("run", "p.rho", "--out", "later=-:csv", "--out", "later=-:npy")
    assert refused.code == 2 and "standard output is --out later's already" in refused.err


def test_an_output_in_several_files_is_whole_in_memory(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.arange(100_000.0))
    (tmp_path / "p.rho").write_text('input x : f64[n] ← "x.npy"\noutput z ← x+1\n', encoding="utf-8")
    within = ("--max-memory", "1MB")
    assert rho("run", "p.rho", "--out", "z=z.npy", *within).code == 0
    refused = rho("run", "p.rho", "--out", "z=z.npy", "--out", "z=w.npy", *within)
    assert refused.code == 4 and "needs" in refused.err
    assert rho("run", "p.rho", "--out", "z=z.npy", "--out", "z=w.npy").code == 0
    assert (tmp_path / "z.npy").read_bytes() == (tmp_path / "w.npy").read_bytes()


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("total:month=r.csv", "has 2 names in `month` for the 3 columns of `total`"),
        ("total:area=r.csv", "has no output `area`"),
        ("month:region=r.csv", "`month` is no matrix"), ("total:region=r.json", "files that are tables: .csv"),
        ("month=r.csv.gz", "is not written compressed"), ("year,total:year,total:year=r.csv", "names `total` twice"),
    ],
)  # fmt: skip
def test_matrices_that_are_no_columns(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str, said: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.rho").write_text(MATRIX, encoding="utf-8")
    ran = rho("run", "p.rho", "--out", out)
    assert ran.code in (1, 2) and said in ran.err, ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["p.rho"]


def test_arrow_files_read_back(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.rho").write_text(MATRIX, encoding="utf-8")
    assert rho("run", "p.rho", "--out", "month,total:region=r.arrow", "--out", "region=n.feather").code == 0
    reader = 'input m : date[n] ← "r.arrow:month"\ninput s : f64[n] ← "r.arrow:south"\n'
    reader += 'input r : char[k w] ← "n.feather:region"\n'
    (tmp_path / "q.rho").write_text(reader + "m\ns\nr\n", encoding="utf-8")
    assert rho("run", "q.rho").out == "2024-01-01 2024-02-01\n2 5\nnorth\nsouth\nmid  \n"


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("later,total=r.csv", "a column is `[n]`"), ("later,shop=r.npy", "cannot hold several outputs"),
        ("later,later=r.csv", "names `later` twice"), ("later,latter=r.csv", "has no output `latter`"),
        ("later,shop=sales.csv", "that file is read as input"),
    ],
)  # fmt: skip
def test_tables_that_are_refused(rho: Rho, folder: Path, monkeypatch: pytest.MonkeyPatch, out: str, said: str) -> None:
    monkeypatch.chdir(folder)
    ran = rho("run", "p.rho", "--out", out)
    assert ran.code in (1, 2) and ran.out == "" and said in ran.err
    assert sorted(path.name for path in folder.iterdir()) == ["p.rho", "sales.csv"]


def test_dates_are_text_in_every_format(rho: Rho, folder: Path) -> None:
    for suffix, wanted in (("txt", "2024-01-06\n2024-01-07\n"), ("csv", "later\n2024-01-06\n2024-01-07\n")):
        rho("run", str(folder / "p.rho"), "--out", f"later={folder}/d.{suffix}")
        assert (folder / f"d.{suffix}").read_text() == wanted
