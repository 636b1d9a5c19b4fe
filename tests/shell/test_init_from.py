"""`rho init --from`: an `input` line for each column, which reads the table that it was made from."""

from __future__ import annotations

import csv
import datetime
import importlib.util
import random
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from share import seeds

from .conftest import Rho

MIXED = """date,when,shop,price,units,ok,note,note
2024-01-05,2024-01-05T10:00:00Z,"a, b",1.5,3,true,x,1
2024-01-06,2024-01-06 11:30:00,c,,4,false,,2
"""
EUROPEAN = "Tag;Preis in €;Menge\n31.12.2024;1,5;1\n;2,25;2\n"


def made(rho: Rho, folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(folder)
    (folder / "t.csv").write_text(text, encoding="utf-8")
    ran = rho("init", "--from", "t.csv")
    assert (ran.code, ran.err) == (0, ""), ran.err
    assert rho("run", "t.rho", "--verify").code == 0
    return [line.partition(" : ")[2] for line in (folder / "t.rho").read_text(encoding="utf-8").splitlines()[1:]]


def test_kinds_and_clauses(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made(rho, tmp_path, MIXED, monkeypatch) == [
        'date[n] ← "t.csv:date"', 'time[n] ← "t.csv:when"', 'char[n shop_w] ← "t.csv:shop"  ⍝ text: line 2 “a, b”',
        'f64[n] ← "t.csv:price" missing ⎕nan', 'i64[n] ← "t.csv:units"', 'bool[n] ← "t.csv:ok"',
        'char[n note_w] ← "t.csv:#7" missing ""  ⍝ text: line 2 “x”', 'i64[n] ← "t.csv:#8"',
    ]  # fmt: skip


def test_semicolons_and_commas(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made(rho, tmp_path, EUROPEAN, monkeypatch) == [
        'date[n] ← "t.csv:Tag" as "%d.%m.%Y" missing ⎕nat sep ";"', 'f64[n] ← "t.csv:Preis in €" decimal "," sep ";"',
        'i64[n] ← "t.csv:Menge" sep ";"',
    ]  # fmt: skip


DOUBTFUL = """date,day,price,qty,empty,amount,short
01/02/2024,13/02/2024,"1,080.89","1,234",,"1,234","12,5"
03/04/2024,01/02/2024,80.5,3,,12,"3,5"
"03/04/2024",01/02/2024,80.5,"n/a
",,12,
"""


def test_remarks(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made(rho, tmp_path, DOUBTFUL, monkeypatch) == [
        'date[n] ← "t.csv:date" as "%d/%m/%Y"  ⍝ or %m/%d/%Y: both fit', 'date[n] ← "t.csv:day" as "%d/%m/%Y"',
        'f64[n] ← "t.csv:price" group ","', 'char[n qty_w] ← "t.csv:qty"  ⍝ text: line 2 “1,234”',
        'char[n empty_w] ← "t.csv:empty" missing ""  ⍝ text: no cell is filled',
        'i64[n] ← "t.csv:amount" group ","  ⍝ or decimal ",": both fit', 'f64[n] ← "t.csv:short" missing ⎕nan decimal ","',
    ]  # fmt: skip


def test_the_cell_for_which_a_column_is_text(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = "a,b\n" + '"1\n",31.12.2024\n' * 20 + "x,31.12.2024\n2,31.13.2024\n"
    lines = made(rho, tmp_path, table, monkeypatch)
    assert [line.partition("⍝ ")[2] for line in lines] == ["text: line 42 “x”", "text: line 43 “31.13.2024”"]


def test_groups_beside_semicolons(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made(rho, tmp_path, "v;w;u\n18.204,25;1.234;1 234,5\n3,5;5.678;2,0\n", monkeypatch) == [
        'f64[n] ← "t.csv:v" group "." decimal "," sep ";"', 'f64[n] ← "t.csv:w" sep ";"  ⍝ or group "." decimal ",": both fit',
        'f64[n] ← "t.csv:u" group " " decimal "," sep ";"',
    ]  # fmt: skip


def test_a_comma_between_semicolons_is_a_decimal_sign(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column of 1,243 and 0,219 was read as thousands: a group of digits begins with no 0."""
    assert made(rho, tmp_path, "v;w;u\n1,243;1,234;1.234.567\n0,219;5,678;2.345.678\n", monkeypatch) == [
        'f64[n] ← "t.csv:v" decimal "," sep ";"', 'f64[n] ← "t.csv:w" decimal "," sep ";"  ⍝ or group ",": both fit',
        'i64[n] ← "t.csv:u" group "." decimal "," sep ";"',
    ]  # fmt: skip


def test_files_with_types(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file becomes a program that reads it."""
    monkeypatch.chdir(tmp_path)
    np.save("m.npy", np.zeros((3, 4), "f4"))
    np.savez("z.npz", a=np.arange(3), i=np.ones((2, 2)))
    (tmp_path / "t.json").write_text('[{"day": "2024-01-05", "x": 1, "s": "Ulm"}, {"day": null, "x": 2.5, "s": "12"}]', "utf-8")
    (tmp_path / "n.json").write_text("[[1, 2], [3, 4]]", "utf-8")
    with sqlite3.connect("d.db") as base:
        base.executescript("CREATE TABLE s (a); INSERT INTO s VALUES (1), (2); CREATE TABLE t (b); INSERT INTO t VALUES (NULL);")
    base.close()
    expected = {
        "m.npy": ['x : f32[n m] ← "m.npy"  ⍝ 3×4'],
        "z.npz": ['a : i64[a_n] ← "z.npz:a"  ⍝ 3', 'i : f64[i_n i_m] ← "z.npz:i"  ⍝ 2×2'],
        "t.json": [
            'day : date[n] ← "t.json:day" missing ⎕nat', 'x : f64[n] ← "t.json:x"',
            's : char[n s_w] ← "t.json:s"  ⍝ text: row 1 “Ulm”',
        ],
        "n.json": ['x : i64[n m] ← "n.json"'],
        "d.db": ['s_a : i64[n] ← "d.db:s.a"', 't_b : f64[t_n] ← "d.db:t.b" missing ⎕nan'],
    }  # fmt: skip
    if importlib.util.find_spec("pyarrow"):
        import pyarrow
        from pyarrow import parquet

        moments = [datetime.datetime(2024, 1, 5, 1), None]
        parquet.write_table(pyarrow.table({"when": moments, "k": [1, 2], "l": [[1], [2]]}), "p.parquet")
        expected["p.parquet"] = ['when : time[n] ← "p.parquet:when" missing ⎕nat', 'k : i64[n] ← "p.parquet:k"', ""]
    for name, lines in expected.items():
        program = f"{Path(name).stem}.rho"
        ran = rho("init", "--from", name)
        assert (ran.code, ran.err) == (0, ""), ran.err
        text = (tmp_path / program).read_text(encoding="utf-8").splitlines()[1:]
        assert [line.removeprefix("input ") if line.startswith("input") else "" for line in text] == lines
        assert rho("run", program).code == 0
        (tmp_path / program).unlink()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--from", "none.csv"], "does not exist"), (["--from", "empty.csv"], "is empty"),
        (["--from", "x.txt"], "does not exist"), (["--from", "x.doc"], "which is not a known format"),
        (["--from", "ragged.csv"], "line 3 has 1 cell"), ([], "needs DIR, or --from FILE"),
        (["--from", "good.csv", "there.rho"], "is there already; nothing was written"),
    ],
)  # fmt: skip
def test_what_is_refused(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"empty.csv": "", "ragged.csv": "a,b\n1,2\n3\n", "good.csv": "a\n1\n", "there.rho": ""}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    ran = rho("init", *words)
    assert ran.code == 2 and said in ran.err
    assert sorted(tmp_path.iterdir()) == before


WORDS = ["1", "-2.5", "x", "", "NA", "2024-01-05", "05.01.2024", "true", "9223372036854775807", "a, b", '"',
         "∞", "1e400", "use", "n", "é 1"]


@pytest.mark.parametrize("seed", seeds(60))
def test_any_table_gives_a_program_that_reads_it(
    rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    draw = random.Random(seed)
    columns = draw.randrange(2, 6)
    rows = [[draw.choice(WORDS) for _ in range(columns)] for _ in range(draw.randrange(1, 6))]
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[f"{word}" for word in draw.choices(WORDS, k=columns)], *rows])
    monkeypatch.chdir(tmp_path)
    assert rho("init", "--from", "t.csv").code == 0
    ran = rho("run", "t.rho")
    assert ran.code == 0, (tmp_path / "t.rho").read_text(encoding="utf-8") + ran.err
