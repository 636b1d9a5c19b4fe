"""Tables from file to file: columns by header, standard input, several outputs as one table; clauses in the checker."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Rho

CSV = 'day,shop,price\n2024-01-05,"a, b",1.5\n2024-01-06,c,\n'
PROGRAM = """input day : i64[n] ← "sales.csv:day" as date
input shop : char[n w] ← "sales.csv:shop"
input price : f64[n] ← "sales.csv:price" missing 0
input there : bool[n] ← "sales.csv:price" as present
later ← day+1
output later as date
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
