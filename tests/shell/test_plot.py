"""`rho run --plot` and the plots behind it."""

from __future__ import annotations

import io
import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rho.shell.console.standard_streams import Console
from rho.shell.main import main
from rho.shell.plotting import figures
from rho.shell.plotting.charts import Picture, axis_number, normalised, picture_lines

from .conftest import Rho

PROGRAM = """\
x ← 1○(⍳200)÷10
grid ← (⍳4)∘.×⍳6
t ← ⎕fft c128 ⍳8
cube ← 2 3 4⍴⍳24
bad ← 1 2 0÷0
none ← 0⍴1.5
name ← 'abc'
pair ← (1 ⋄ 2)
f ← {⍵+1}
+/x
output grid
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.rho").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def picture(values: Any) -> Picture:
    array = np.asarray(values, float)
    finite = np.isfinite(array)
    return Picture("x", np.where(finite, array, np.nan), int((~finite).sum()))


def dots(lines: list[str]) -> int:
    """How many dots of braille are set."""
    return sum(bin(ord(c) - 0x2800).count("1") for line in lines for c in line if 0x2800 <= ord(c) <= 0x28FF)


def test_a_vector_and_a_matrix_are_drawn_after_what_is_printed(project: Path, rho: Rho) -> None:
    ran = rho("run", "p.rho", "--plot", "x", "--plot", "grid")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[1] == "x : f64[200]" and "┤" in lines[2] and any(line.startswith("grid : ") for line in lines)
    assert "█" in ran.out and "\x1b" not in ran.out
    assert max(map(len, lines)) <= 80


def test_json_stays_one_object_without_the_values_that_were_only_drawn(project: Path, rho: Rho) -> None:
    ran = rho("run", "p.rho", "--plot", "x", "--json")
    assert [value["name"] for value in ran.json()["values"]] == ["", "grid"]
    assert "┤" in ran.err


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("grd", "did you mean `grid`?"), ("f", "is a function"), ("pair", "is a tuple"), ("name", "text is not drawn"), ("cube",
        "rank 3"),
        ("t", "magnitude"), ("x=", "NAME=FILE"), ("x=out.gif", ".png or .svg"), ("x=no/such/out.png", "folder"), ("=a.png",
        "NAME=FILE"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused_before_it_runs(project: Path, rho: Rho, asked: str, said: str) -> None:
    ran = rho("run", "p.rho", "--plot", asked)
    assert ran.code == (1 if said == "folder" else 2) and said in ran.err and ran.out == ""
    assert sorted(path.name for path in project.iterdir()) == ["p.rho"]


def test_a_stored_plan_keeps_outputs_only(project: Path, rho: Rho) -> None:
    assert rho("plan", "p.rho", "-o", "p.json").code == 0
    assert "grid : " in rho("run", "p.rho", "--plan", "p.json", "--plot", "grid").out
    ran = rho("run", "p.rho", "--plan", "p.json", "--plot", "x")
    assert ran.code == 2 and "output x" in ran.err


def test_nan_infinities_and_empty_arrays(project: Path, rho: Rho) -> None:
    assert "3 of 3" not in rho("run", "p.rho", "--plot", "none").out
    assert "it is empty" in rho("run", "p.rho", "--plot", "none").out
    assert "no element is a finite number" in rho("run", "p.rho", "--plot", "bad").out
    drawn = picture_lines(picture([1, math.nan, 3, math.inf]), 40, 6, colour=False)
    assert drawn[-1].strip() == "2 of 4 elements are NaN or infinite and left out"
    assert dots(drawn) == 2


@pytest.mark.parametrize(
    "values",
    [[5], [2, 2, 2], [1e308, -1e308], [5e-324, 0], list(range(5000)), [0, 1] * 300, [-1, 0, 1], [[1]], [[1, 2]], [[math.nan, 1]],
     np.zeros((300, 3)), np.ones((3, 300)), np.eye(50), [[1e308, -1e308]], np.arange(12).reshape(3, 4)],
)  # fmt: skip
@pytest.mark.parametrize("width", [20, 79])
@pytest.mark.parametrize("colour", [False, True])
def test_drawings_fit_the_window(values: Any, width: int, colour: bool) -> None:
    lines = picture_lines(picture(values), width, 10, colour=colour)
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    legend = plain.pop() if np.ndim(values) == 2 else ""
    assert all(len(line) <= max(width, len(legend)) for line in plain)
    assert 3 <= len(lines) <= 15


def test_a_line_is_where_its_values_are() -> None:
    lines = picture_lines(picture([0, 1]), 20, 4, colour=False)[1:5]
    places = [[at for at, c in enumerate(line) if 0x2800 < ord(c) <= 0x28FF] for line in lines]
    assert [min(place) for place in places] == sorted((min(place) for place in places), reverse=True)
    assert lines[0].startswith("  1 ┤") and lines[3].startswith("  0 ┤")


def test_shades_are_where_their_values_are() -> None:
    lines = picture_lines(picture([[0, 1], [1, 0]]), 13, 2, colour=False)
    assert lines[1:3] == ["0   ██", "1 ██"]


def test_numbers_of_any_size_are_scaled() -> None:
    assert normalised(np.array([1e308, 0.0, -1e308]), -1e308, 1e308).tolist() == [1.0, 0.5, 0.0]
    assert normalised(np.array([0.0, 5e-324]), 0.0, 5e-324).tolist() == [0.0, 1.0]
    assert [axis_number(x) for x in (-1.5, 0.0, 1e6, 1e-7)] == ["¯1.5", "0", "1e6", "1e¯7"]


def test_colours_only_on_a_terminal_that_wants_them(project: Path) -> None:
    class Tty(io.StringIO):
        def isatty(self) -> bool:
            return True

    for environment, coloured in (
        ({"COLUMNS": "60", "LINES": "24"}, True),
        ({"COLUMNS": "60", "LINES": "24", "NO_COLOR": "1"}, False),
    ):
        out = Tty()
        assert main(["run", "p.rho", "--plot", "grid"], Console(out, io.StringIO(), io.StringIO(), environment)) == 0
        assert ("\x1b[" in out.getvalue()) is coloured


@pytest.mark.skipif(not figures.has_matplotlib(), reason="needs matplotlib: the extra `plot`")
def test_files(project: Path, rho: Rho) -> None:
    assert rho("run", "p.rho", "--plot", "x=x.png", "--plot", "grid=g.svg").code == 0
    assert (project / "x.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (project / "g.svg").read_text(encoding="utf-8")
    assert figures.figure(picture([]), "png") and figures.figure(picture([[1, 2]]), "svg") == figures.figure(
        picture([[1, 2]]), "svg"
    )
    ran = rho("run", "p.rho", "--plot", "x=y.png", "--allow-write", str(project / ".."), "--max-memory", "1")
    assert ran.code == 4 and not (project / "y.png").exists()


def test_without_matplotlib_a_file_is_refused_with_advice(project: Path, rho: Rho, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    ran = rho("run", "p.rho", "--plot", "x=x.png")
    assert ran.code == 2 and "rho-lang[plot]" in ran.err


CHARTS = """\
city ← ['Oslo  ' ⋄ 'Berlin' ⋄ 'Rome  ']
sales ← 12.5 30 7.25
loss ← ¯3 2 ¯8
x ← (⍳60)÷10
y ← 1○x
z ← 2○x
few ← 1 2
grid ← 2 3⍴⍳6
"""


@pytest.fixture
def charts(project: Path) -> Path:
    (project / "c.rho").write_text(CHARTS, encoding="utf-8")
    return project


def test_bars_have_their_labels_and_the_longest_is_the_largest(charts: Path, rho: Rho) -> None:
    lines = rho("run", "c.rho", "--plot", "bars:city,sales").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["Oslo", "Berlin", "Rome"]
    lengths = [line.count("█") for line in lines[1:]]
    assert lengths[1] > lengths[0] > lengths[2] > 0 and [line.split()[-1] for line in lines[1:]] == ["12.5", "30", "7.25"]
    both = rho("run", "c.rho", "--plot", "bars:city,sales,loss").out.splitlines()
    assert both[0] == "sales, loss" and len(both) == 7 and both[2].split()[0] == "loss" and both[2].endswith("¯3")


def test_a_histogram_counts_every_number(charts: Path, rho: Rho) -> None:
    lines = rho("run", "c.rho", "--plot", "hist:y").out.splitlines()
    assert sum(int(line.split()[-1]) for line in lines[1:]) == 60


def test_points_and_several_lines(charts: Path, rho: Rho) -> None:
    lines = rho("run", "c.rho", "--plot", "scatter:x,y", "--plot-size", "60x8").out.splitlines()
    assert len(lines) == 11 and max(map(len, lines)) <= 60 and lines[-1].split() == ["0", "x", "5.9"]
    assert dots(lines) <= 60 < dots(rho("run", "c.rho", "--plot", "x,y", "--plot-size", "60x8").out.splitlines())
    plain = rho("run", "c.rho", "--plot", "x,y,z").out
    assert plain.splitlines()[-1] == "  • y  + z" and plain.count("•") > 20 < plain.count("+") and plain.count("┤") == 3
    coloured = rho("run", "c.rho", "--plot", "x,y,z", "--color", "always").out
    assert "\x1b[36m●\x1b[0m y" in coloured and "•" not in coloured and coloured.count("┤") == 3


def test_a_matrix_is_a_line_for_each_column(charts: Path, rho: Rho) -> None:
    lines = rho("run", "c.rho", "--plot", "line:grid", "--plot-size", "60x8").out.splitlines()
    assert lines[-1] == "  • grid[;0]  + grid[;1]  × grid[;2]" and sum(line.count("┤") for line in lines) == 3
    assert rho("run", "c.rho", "--plot", "few,grid").out.splitlines()[-2].split() == ["1", "few", "2"]
    named = rho("run", "c.rho", "--plot", "line:few,grid:city", "--plot-size", "60x8").out.splitlines()
    assert named[-1] == "  • Oslo  + Berlin  × Rome" and named[-2].split() == ["1", "few", "2"]
    assert rho("run", "c.rho", "--plot", "line:grid:sales").out.splitlines()[-1] == "  • 12.5  + 30  × 7.25"
    assert "x axis has 3 items" in rho("run", "c.rho", "--plot", "sales,grid").err
    (charts / "wide.rho").write_text("m ← 2 13⍴⍳26\n", encoding="utf-8")
    assert "at most 12 are drawn" in rho("run", "wide.rho", "--plot", "line:m").err


def test_dates_are_dates_on_axes(charts: Path, rho: Rho) -> None:
    table = "day,time,v\n2024-01-01,2024-01-01T10:00:00,1\n2024-03-01,2024-01-02T12:30:00,-2\n"
    (charts / "d.csv").write_text(table, encoding="utf-8")
    program = (
        'input day : date[n] ← "d.csv:day"\ninput time : time[n] ← "d.csv:time"\ninput v : i64[n] ← "d.csv:v"\n'
        'output late ← day+⎕days 1 as "%d.%m.%Y"\n'
    )
    (charts / "d.rho").write_text(program, encoding="utf-8")
    for x, first, last in (
        ("day", "2024-01-01", "2024-03-01"), ("late", "02.01.2024", "02.03.2024"),
        ("time", "2024-01-01T10:00:00", "2024-01-02T12:30:00"),
    ):  # fmt: skip
        assert rho("run", "d.rho", "--plot", f"line:{x},v").out.splitlines()[-1].split() == [first, x, last]
    bars = rho("run", "d.rho", "--plot", "bars:day,v").out.splitlines()
    assert [line.split()[0] for line in bars[1:]] == ["2024-01-01", "2024-03-01"]


def test_bars_below_zero_and_beside_large_ones_are_seen(charts: Path, rho: Rho) -> None:
    (charts / "b.rho").write_text("v ← 13400 ¯2.5 7.8 12000000 0\nlow ← ¯1 ¯2000000\n", encoding="utf-8")
    bars = [line.split(maxsplit=1)[1].rsplit(maxsplit=1) for line in rho("run", "b.rho", "--plot", "bars:v").out.splitlines()[1:]]
    assert [bool(bar[:-1]) for bar in bars] == [True, True, True, True, False]
    assert [bar[-1] for bar in bars] == ["13,400", "¯2.5", "7.8", "1.2e7", "0"]
    assert all("█" in line for line in rho("run", "b.rho", "--plot", "bars:low").out.splitlines()[1:])


@pytest.mark.skipif(not figures.has_matplotlib(), reason="needs matplotlib: the extra `plot`")
def test_long_labels_and_foreign_letters_warn_of_nothing(
    charts: Path, rho: Rho, capfd: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    text = "shop ← ↑ 'a name that is very long indeed, and longer' 'b'\nsold ← 3 ¯4\ncity ← ['\U00012000 ' ⋄ 'x ']\n"
    (charts / "f.rho").write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rho("run", "f.rho", "--plot", "bars:shop,sold=a.png", "--plot", "line:shop,sold=b.svg").err == ""
        said = rho("run", "f.rho", "--plot", "bars:city,sold=c.png").err
    assert said in ("", "c.png: no font here has \U00012000, which is drawn as boxes\n")
    assert capfd.readouterr() == ("", "")
    lines = rho("run", "f.rho", "--plot", "bars:shop,sold", "--plot-size", "60x8").out.splitlines()
    assert "…" in lines[1] and max(map(len, lines)) <= 60


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("pie:x", "there is no chart `pie`"), ("bars:few,sales", "one length"), ("hist:x,y", "one vector"),
        ("scatter:city,sales", "text is not drawn"), ("bars:grid", "a matrix is not drawn as bars"), ("x,,y", "NAME=FILE"),
        ("x,yy", "did you mean `y`"), ("line:grid:few", "2 names are given for 3 columns"), ("line:grid:", "NAME=FILE"),
        ("plain:grid:city", "the lines of a matrix have names"), ("line:grid:cty", "did you mean `city`"),
        ("line:grid:city,x", "NAME=FILE"), ("line:grid:grid", "names are rows of text, or a vector"),
    ],
)  # fmt: skip
def test_charts_that_cannot_be(charts: Path, rho: Rho, asked: str, said: str) -> None:
    ran = rho("run", "c.rho", "--plot", asked)
    assert ran.code == 2 and said in ran.err and ran.out == ""


def test_sizes_are_widths_and_heights(charts: Path, rho: Rho) -> None:
    for wrong in ("10", "0x10", "axb", "3x3"):
        assert rho("run", "c.rho", "--plot", "y", "--plot-size", wrong).code == 2


@pytest.mark.skipif(not figures.has_matplotlib(), reason="needs matplotlib")
@pytest.mark.parametrize("asked", ["bars:city,sales,loss", "hist:y", "scatter:x,y", "x,y,z", "bars:sales"])
def test_charts_go_into_files(charts: Path, rho: Rho, asked: str) -> None:
    ran = rho("run", "c.rho", "--plot", f"{asked}=out.png", "--plot-size", "600x300")
    assert ran.code == 0, ran.err
    data = (charts / "out.png").read_bytes()
    assert (int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")) == (600, 300)


def test_charts_in_a_session(rho: Rho) -> None:
    lines = "x ← ⍳5\n)plot bars x\n)plot scatter x ⋄ 2×x\n)plot hist x\n)plot x ⋄ x×x\nbars ← 1 2\n)plot bars\n"
    ran = rho("repl", stdin=lines)
    assert ran.code == 0 and ran.err == "" and "█" in ran.out and ran.out.count("└") == 3
