"""Programs on tables that are wrong in some way: one message with its place, no output, no traceback."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from share import seeds, share

from rho.shell.main import main

PROGRAM = """input day : date[n] ← "t.csv:day"
input shop : char[n w] ← "t.csv:shop"
input price : f64[n] ← "t.csv:price"
output day
output twice ← 2×price
shop
"""
GOOD = 'day,shop,price\n2024-01-05,"a, b",1.5\n2024-01-06,c,2\n'
WRONG: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"), "blank": (b"\n \n\n", "is empty"), "header alone": (b"day,shop,prize\n", "did you mean `prize`?"),
    "another header": (GOOD.replace("price", "cost").encode(), "has no column named price"),
    "no header": (GOOD.partition("\n")[2].encode(), "has no column named day"),
    "two of one name": (GOOD.replace("shop", "price").encode(), "has two columns named price"),
    "a short line": (GOOD.encode() + b"2024-01-07,x\n", "line 4 has 2 cells, line 1 has 3 cells"),
    "a long line": (GOOD.encode() + b"2024-01-07,x,1,\n", "line 4 has 4 cells"),
    "a word": (GOOD.replace(",2\n", ",two\n").encode(), "line 3, column 3 (price): “two” is not a number"),
    "an empty cell": (GOOD.replace(",2\n", ",\n").encode(), "line 3, column 3 (price) is empty"),
    "no such day": (GOOD.replace("01-06", "02-30").encode(), "line 3, column 1 (day): “2024-02-30” is not a date"),
    "NUL": (GOOD.replace("c,", "\0,").encode(), "line 3 holds a NUL"),
    "latin-1": (GOOD.replace("c,", "ü,").encode("latin-1"), "line 3 has the byte 0xfc"),
    "UTF-16": (GOOD.encode("utf-16"), "is UTF-16"),
    "an open quote": (GOOD.replace('b"', "b").encode(), "line 2: a quoted cell is not closed"),
    "another separator": (GOOD.replace(",", ";").encode(), "has no column named"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(50), "t.csv"),
}  # fmt: skip


def run(folder: Path, data: bytes, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    (folder / "p.rho").write_text(PROGRAM, encoding="utf-8")
    (folder / "t.csv").write_bytes(data)
    code = main(["run", str(folder / "p.rho"), "--out", f"day,twice={folder / 'r.csv'}"])
    found = capsys.readouterr()
    assert "Traceback" not in found.err and "a bug in Rho" not in found.err
    if code:
        assert code in (1, 4) and found.out == "" and sorted(p.name for p in folder.iterdir()) == ["p.rho", "t.csv"]
    return code, found.err


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_table(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, said = WRONG[name]
    code, text = run(tmp_path, data, capsys)
    assert code != 0 and said in text
    if "column" not in said and name != "a picture":
        assert text.count("error[") == 1


@pytest.mark.parametrize("form", ["as it is", "mark", "returns", "no end", "blank lines"])
def test_a_good_table(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forms = {"mark": "\ufeff" + GOOD, "returns": GOOD.replace("\n", "\r\n"), "no end": GOOD.rstrip("\n"),
             "blank lines": GOOD.replace("\n", "\n\n")}  # fmt: skip
    assert run(tmp_path, forms.get(form, GOOD).encode(), capsys) == (0, "")
    assert (tmp_path / "r.csv").read_text() == "day,twice\n2024-01-05,3\n2024-01-06,4\n"


@pytest.mark.parametrize("at", share(list(range(len(GOOD.encode()))), seed=3))
def test_a_table_that_ends_anywhere(at: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, GOOD.encode()[:at], capsys)


@pytest.mark.parametrize("seed", seeds(200))
def test_any_damage(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(seed)
    data = bytearray(GOOD.encode())
    for _ in range(draw.randrange(1, 5)):
        at = draw.randrange(len(data))
        data[at : at + draw.randrange(3)] = bytes(draw.choices(b'",\n\r\0\xff\xc3;x9- ', k=draw.randrange(4)))
    run(tmp_path, bytes(data), capsys)
