"""On a terminal `rho run` ends with its outputs, each short, and names the files that it wrote; without one it is as it was."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from rho.shell.console.standard_streams import Console
from rho.shell.main import main
from rho.shell.plotting.figures import has_matplotlib


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(*words: str, columns: int = 72) -> tuple[int, str, str]:
    out, err = Terminal(), Terminal()
    code = main(["run", *words], Console(out, err, io.StringIO(), {"COLUMNS": str(columns), "TERM": "dumb"}))
    return int(code), out.getvalue(), err.getvalue()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


KEEP = "keep one with --out NAME=FILE\n"
SHOWN = [
    ("output total ← 3\noutput b ← ⍳20\n", "total  3\nb      i64[20]  0 1 2 … 19\n"),
    ("output b ← ⍳7\n", "b  i64[7]  0 1 2 3 4 5 6\n"),
    ("output b ← 0⍴1.5\n", "b  f64[0]\n"),
    ("output t ← 'Oslo'\n", "t  char[4]  Oslo\n"),
    ("output t ← 60⍴'ab'\n", "t  char[60]  " + "ab" * 19 + "a…\n"),
    ("output t ← char 27 91 65\n", "t  char[3]  ␛[A\n"),
    ("output c ← 'z'\n", "c  z\n"),
    ("output z ← 1J2 0J¯1\n", "z  c128[2]  1J2 0J¯1\n"),
    ("output m ← 2 2⍴1 2.5 10 4\n", "m  f64[2 2]\n   1 2.5\n  10 4\n"),
    ("output m ← 9 9⍴⍳81\n", "m  i64[9 9]\n   0  1  2 …  6  7  8\n"),
    ("output e ← 0 4⍴1\n", "e  i64[0 4]\n"),
    ("output r ← 2 3 4⍴⍳24\n", "r  i64[2 3 4]  0 1 2 … 23\n"),
    ("output d ← ⎕date 19000\noutput y ← ⎕date 1 2\n", "d  2022-01-08\ny  date[2]  1970-01-02 1970-01-03\n"),
    ("output d ← ⎕date 99999999\n", "d  99999999\n"),
    ("output d ← ⎕days 3 ¯1\noutput t ← 1⍴⎕nat-⎕duration 1\n", "d  days[2]      3d ¯1d\nt  duration[1]  NaT\n"),
    (
        "output shop ← ↑ 'Oslo' 'Berlin'\noutput total ← 3\noutput sold ← 12.5 300\noutput day ← ⎕date 0 ¯1 as \"%d.%m.%Y\"\n",
        "shop         sold         day\nchar[2 6]  f64[2]     date[2]\n"
        "Oslo         12.5  01.01.1970\nBerlin      300    31.12.1969\ntotal  3\n",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("program", "shown"), SHOWN)
def test_outputs_are_shown_short_with_their_types(folder: Path, program: str, shown: str) -> None:
    Path("p.rho").write_text(program, encoding="utf-8")
    code, out, err = run("p.rho")
    assert (code, err) == (0, KEEP)
    assert out.startswith(shown), out
    assert run("p.rho", "-q") == (0, "", "")


def test_a_long_table_is_cut_and_a_wide_one_folded(folder: Path) -> None:
    Path("p.rho").write_text("output i ← ⍳30\noutput square ← i×i\noutput cube ← i*3.0\n", encoding="utf-8")
    lines = run("p.rho")[1].splitlines()
    assert lines[:2] == ["      i   square     cube", "i64[30]  i64[30]  f64[30]"]
    assert lines[8].split() == ["⋮", "⋮", "⋮"] and lines[-1].split() == ["29", "841", "24389"] and len(lines) == 12
    narrow = run("p.rho", columns=20)[1].splitlines()
    assert len(narrow) == 24 and narrow[12].strip() == "cube" and max(map(len, narrow)) <= 20


def test_what_the_program_prints_is_not_shown_again(folder: Path) -> None:
    Path("p.rho").write_text("x ← ⍳3\noutput x\noutput y ← 4\nx\n", encoding="utf-8")
    assert run("p.rho") == (0, "0 1 2\ny  4\n", "")


def test_every_file_and_picture_is_named(folder: Path) -> None:
    Path("p.rho").write_text("x ← ⍳3\noutput x\noutput y ← 2×x\noutput z ← 5\n", encoding="utf-8")
    code, out, err = run("p.rho", "--out", "x,y=t.csv", "--out", "z=z.json")
    assert code == 0 and err == "wrote x, y to t.csv\nwrote z to z.json\n" and out.endswith("z  5\n")
    assert run("p.rho", "--out-dir", "all", "-q") == (0, "", "")
    assert "wrote z to all/z.npy" in run("p.rho", "--out-dir", "all")[2]
    if has_matplotlib():
        assert run("p.rho", "--plot", "x=x.png", "--trace", "t.json")[2] == "drew x.png\nwrote t.json\n"


def test_json_and_standard_output_hold_nothing_else(folder: Path) -> None:
    Path("p.rho").write_text("output x ← ⍳3\noutput z ← 5\n", encoding="utf-8")
    assert run("p.rho", "--json")[1].count("\n") == 1
    assert run("p.rho", "--out", "x=-:csv")[1] == "0\n1\n2\n"


def test_a_new_project_shows_something_and_a_silent_program_says_so(folder: Path) -> None:
    assert main(["init", "new"], Console(io.StringIO(), io.StringIO(), io.StringIO(), {})) == 0
    assert run("new/main.rho")[:2] == (0, "2 30\n2 50\n")
    Path("p.rho").write_text("x ← 3\n", encoding="utf-8")
    code, out, err = run("p.rho")
    assert (code, out) == (0, "") and "output NAME" in err


def test_a_terminal_that_prints_into_a_file_is_told_of_files_only(folder: Path) -> None:
    Path("p.rho").write_text("output x ← ⍳3\n", encoding="utf-8")
    out, err = io.StringIO(), Terminal()
    assert main(["run", "p.rho", "--out", "x=x.npy"], Console(out, err, io.StringIO(), {"TERM": "dumb"})) == 0
    assert (out.getvalue(), err.getvalue()) == ("", "wrote x to x.npy\n")


def test_a_fix_is_explained_where_it_is_shown(folder: Path) -> None:
    Path("p.rho").write_text("x ← 1 2\ny ← sum(x)\noutput y\n", encoding="utf-8")
    says = "`rho check --fix p.rho` applies what is marked [fix]\n"
    assert run("p.rho")[2].endswith(says)
    out, err = Terminal(), Terminal()
    assert main(["check", "p.rho"], Console(out, err, io.StringIO(), {"TERM": "dumb"})) == 3 and err.getvalue().endswith(says)
    assert main(["check", "--fix", "p.rho"], Console(out, err, io.StringIO(), {"TERM": "dumb"})) == 0
    assert run("p.rho")[:2] == (0, "y  3\n")
