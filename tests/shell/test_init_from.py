"""`rho init --from`: an `input` line for each column, which reads the table that it was made from."""

from __future__ import annotations

import csv
import random
from pathlib import Path

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
        'i64[n] ← "t.csv:date" as date', 'i64[n] ← "t.csv:when" as time', 'char[n shop_w] ← "t.csv:shop"',
        'f64[n] ← "t.csv:price" missing ⎕nan', 'i64[n] ← "t.csv:units"', 'bool[n] ← "t.csv:ok"',
        'char[n note_w] ← "t.csv:#7" missing ""', 'i64[n] ← "t.csv:#8"',
    ]  # fmt: skip


def test_semicolons_and_commas(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made(rho, tmp_path, EUROPEAN, monkeypatch) == [
        'i64[n] ← "t.csv:Tag" as "%d.%m.%Y" missing 0 sep ";"', 'f64[n] ← "t.csv:Preis in €" decimal "," sep ";"',
        'i64[n] ← "t.csv:Menge" sep ";"',
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--from", "none.csv"], "does not exist"), (["--from", "empty.csv"], "is empty"),
        (["--from", "x.txt"], "a csv or a tsv file"),
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
