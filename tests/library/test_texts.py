"""`text` beside Python's `str`, `dates` beside `datetime`, and cells of `set` and `linalg` beside NumPy."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
from beside import disagreements
from share import SEED

import rho


def characters(text: str) -> Any:
    return np.array(list(text), "U1").reshape(len(text))


def rows(texts: list[str]) -> Any:
    width = max(map(len, texts), default=0)
    return np.array([list(text.ljust(width)) for text in texts], "U1").reshape(len(texts), width)


def texts() -> dict[str, dict[str, Any]]:
    draw = np.random.default_rng(SEED)
    some = ["", "a", "ab", "aaaaa", "banana", "an", "  an  ", ",", ",,a,", "na,na,,", "1,080.89", "-12", "x"]
    some += ["".join(draw.choice(list("an, "), draw.integers(1, 30))) for _ in range(30)]
    return {repr(text): {"x": characters(text)} for text in some}


def plain(x: Any) -> str:
    return "".join(x)


def test_as_strings_of_python(tmp_path: Path) -> None:
    def of(method: str, *arguments: Any) -> Any:
        return lambda x: characters(getattr(plain(x), method)(*arguments))

    def split(by: str) -> Any:
        return lambda x: rows(plain(x).split(by))

    def number(x: Any) -> Any:
        try:
            return float(plain(x).replace(",", "").strip() or "no")
        except ValueError:
            return np.nan

    cases: dict[str, Any] = {
        "x text.split ','": split(","),
        'x text.split ","': split(","),
        "x text.split 'an'": split("an"),
        "x text.split 'aa'": split("aa"),
        "x text.substitute ('an' ⋄ 'XYZ')": of("replace", "an", "XYZ"),
        "x text.substitute ('aa' ⋄ 'b')": of("replace", "aa", "b"),
        "x text.substitute (',' ⋄ '')": of("replace", ",", ""),
        "x text.substitute ('banana' ⋄ 'b')": of("replace", "banana", "b"),
        "x text.contains 'an'": lambda x: "an" in plain(x),
        "+/x text.matches 'aa'": lambda x: plain(x).count("aa"),
        "9 text.pad x": lambda x: characters(plain(x).ljust(9)[:9]),
        "9 text.pad_left x": lambda x: characters(plain(x).rjust(9)[-9:]),
        "text.upper x": of("upper"),
        "text.trim x": of("strip", " "),
        "',.' text.grouped x": number,
        "',' text.join x text.split 'n'": lambda x: characters(",".join(part.rstrip(" ") for part in plain(x).split("n"))),
        "'' text.join text.flush x text.split ','": lambda x: characters(
            "".join(part.strip(" ") for part in plain(x).split(","))
        ),
        "x text.substitute ('' ⋄ 'b')": lambda x: x,
    }
    assert not disagreements(tmp_path, "use text\ninput x : char[n]\n", cases, texts())


def test_rows_of_text() -> None:
    assert rho.eval("use text ⋄ text.trim ↑' CASH ' '  a b' ''").tolist() == [[*"CASH"], [*"a b "], [*"    "]]
    for shape, trimmed in (("2 0", (2, 0)), ("0 3", (0, 0)), ("2 3", (2, 0)), ("2 1 3", (2, 1, 0))):
        assert np.shape(rho.eval(f"use text ⋄ text.trim {shape}⍴' '")) == trimmed
    assert np.shape(rho.eval("use text ⋄ text.trim 2 2 4⍴' ab '")) == (2, 2, 2)
    assert list(rho.eval("use text ⋄ ['banana' ⋄ 'cherry'] text.contains 'an'")) == [True, False]
    assert np.shape(rho.eval("use text ⋄ ', ' text.join 0 3⍴' '")) == (0,)
    assert "".join(rho.eval("use text ⋄ ', ' text.join ['ab' ⋄ '  ' ⋄ 'c ']")) == "ab, , c"


def test_days_as_datetime(tmp_path: Path) -> None:
    draw = np.random.default_rng(SEED)
    edges = [-719162, 2932896, 0, -1, 59, 789, 19782, 11016]
    days = np.concatenate([draw.integers(-719162, 2932897, 400), edges]).astype("M8[D]")
    dates = [datetime.date(1970, 1, 1) + datetime.timedelta(int(day)) for day in days.astype(int)]
    cases: dict[str, Any] = {
        "dates.text day": lambda day: np.array([list(date.isoformat()) for date in dates]),
        "dates.of (dates.year day ⋄ dates.month day ⋄ dates.day day)": lambda day: day,
        "dates.of (dates.year day ⋄ 1+0×i64 day ⋄ 1+0×i64 day)": lambda day: day.astype("M8[Y]").astype("M8[D]"),
        "dates.year_start day": lambda day: day.astype("M8[Y]").astype("M8[D]"),
        "⎕date dates.text day": lambda day: day,
    }
    assert not disagreements(tmp_path, "use dates\ninput day : date[n]\n", cases, {"days": {"day": days}})
    none = {"none": {"day": np.zeros(0, "M8[D]")}}
    cases = {"dates.text day": lambda day: np.zeros((0, 10), "U1")}
    assert not disagreements(tmp_path, "use dates\ninput day : date[n]\n", cases, none)


def test_cells(tmp_path: Path) -> None:
    draw = np.random.default_rng(SEED)
    data = {
        f"{n} {m}": {"x": draw.integers(0, 3, (n, 2)).astype(float), "y": draw.integers(0, 3, (m, 2)).astype(float)}
        for n, m in ((1, 0), (1, 3), (20, 30), (7, 1))
    }

    def nearest(x: Any, y: Any) -> Any:
        return ((y[:, None] - x[None]) ** 2).sum(-1).argmin(1)

    def unique(x: Any, y: Any) -> Any:
        return np.array(list(dict.fromkeys(map(tuple, x)))).reshape(-1, 2)

    cases = {"x linalg.nearest y": nearest, "set.unique x": unique, "set.size x": lambda x, y: len(unique(x, y))}
    head = "use linalg\nuse set\ninput x : f64[n 2] where n ≥ 1\ninput y : f64[m 2]\n"
    assert not disagreements(tmp_path, head, cases, data)


def test_texts_are_equal_but_for_blanks_at_their_ends(tmp_path: Path) -> None:
    given = ["Ulm", "Ulmen", "", " Ulm", "ulm", "Kiel", "Ulm"]
    (tmp_path / "shops.csv").write_text("shop,n\n" + "".join(f"{shop},{at}\n" for at, shop in enumerate(given)))
    for wanted in ("Ulm", "Ulm  ", "Ulmen and more", "", " "):
        program = f"use text\ninput shop : char[n w] ← 'shops.csv:shop' missing ''\noutput same ← shop text.equals ,'{wanted}'\n"
        (tmp_path / "p.rho").write_text(program)
        assert list(rho.load(tmp_path / "p.rho").run()["same"]) == [shop.strip() == wanted.rstrip() for shop in given]
