"""Params of any type: what they are set to on the command line, in Python and in a session."""

from __future__ import annotations

from pathlib import Path

import pytest

import rho
from rho.lang.syntax.source import Source
from rho.shell.pipeline import Session

from .conftest import Rho

PROGRAM = """param rate ← 0.1
param name ← "abc"
param fast ← 1=1
param weights ← 1 2.5 3
param shift ← ¯2
param letter ← 'x'
param k ← 3
x ← f32 1 2
y ← rate×x
output y
name,"!"
fast
weights×⍳3
shift+k
letter
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "p.rho"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def test_defaults(rho: Rho, program: Path) -> None:
    assert rho("run", str(program), "--verify").out == "abc!\n1\n0 2.5 6\n1\nx\n"


@pytest.mark.parametrize(
    ("setting", "printed"),
    [
        ("name=hello, world", "hello, world!\n1\n0 2.5 6\n1\nx\n"), ("name=é", "é!\n1\n0 2.5 6\n1\nx\n"),
        ("fast=0", "abc!\n0\n0 2.5 6\n1\nx\n"), ("fast=false", "abc!\n0\n0 2.5 6\n1\nx\n"),
        ("weights=1,-1 ¯2", "abc!\n1\n0 ¯1 ¯4\n1\nx\n"),
        ("shift=-9223372036854775808", "abc!\n1\n0 2.5 6\n¯9223372036854775805\nx\n"),
        ("letter=ü", "abc!\n1\n0 2.5 6\n1\nü\n"), ("k=9", "abc!\n1\n0 2.5 6\n7\nx\n"),
    ],
)  # fmt: skip
def test_set(rho: Rho, program: Path, setting: str, printed: str) -> None:
    assert rho("run", str(program), "--set", setting, "--verify").out == printed


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("rate=x", "“x” is not a number"), ("rate=1 2", "has 1 item, not 2"), ("fast=2", "“2” is not a bool"),
        ("weights=1 2", "has 3 items, not 2"), ("shift=1.5", "“1.5” is not an integer"),
        ("shift=9223372036854775808", "does not fit i64"), ("letter=ab", "“ab” is not one character"),
        ("k=-1", "a natural number such as 3"), ("nam=x", "did you mean `name`?"),
    ],
)  # fmt: skip
def test_set_to_what_is_not_of_the_type(rho: Rho, program: Path, setting: str, said: str) -> None:
    ran = rho("run", str(program), "--set", setting)
    assert (ran.code, ran.out) == (2, "") and said in ran.err


def test_python_gives_them_values(program: Path) -> None:
    loaded = rho.load(program)
    assert loaded.run(rate=2)["y"].tolist() == [2.0, 4.0]
    assert loaded.run(name="hi", weights=[1, 2, 3], fast=False, k=0).printed == ("hi!", "0", "0 2 6", "¯2", "x")
    with pytest.raises(rho.Refused) as caught:
        loaded.run(weights=[1.0, 2.0])
    assert caught.value.diagnostics[0].code == "E706"


def test_a_float_param_is_weak_as_a_literal_is(program: Path) -> None:
    checked = Session().check(Source("<test>", PROGRAM))
    assert checked.types["y"] == "f32[2]"


def test_a_session_keeps_them(rho: Rho) -> None:
    lines = 'param rate ← 0.5\nrate×2\nparam t ← "abc"\nt,"x"\nparam rate ← 3\n⍳rate\n'
    assert rho("repl", stdin=lines).out == "1\nabcx\n0 1 2\n"


@pytest.mark.parametrize(
    ("text", "code", "marked"),
    [
        ("param rate ← 0.5\nx : f64[rate] ← 1 2", "E403", "rate"), ("param t ← 'ab'\ninput x : f64[t]", None, ""),
        ("param r ← 1.5 where r ≥ 1", "E403", "r ≥ 1"), ("input x : f64[n]\nparam k ← +/x", "E302", "+/x"),
        ("param s ← ¯3\n⍳s", "E403", "⍳"),
    ],
)  # fmt: skip
def test_only_naturals_are_sizes(text: str, code: str | None, marked: str) -> None:
    found = Session().check(Source("<test>", text)).diagnostics
    assert [d.code for d in found] == ([code] if code else [])
    assert not code or text[found[0].span.start : found[0].span.end] == marked
