"""LF, CR LF and CR end a line; other characters that some systems take for a line's end are refused."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import rho
from rho.lang.syntax.formatter import format_source
from rho.lang.syntax.source import Source
from rho.shell.console.standard_streams import Console
from rho.shell.lsp.documents import TextLines
from rho.shell.main import main
from rho.typechecker.check import check

PROGRAM = "a ← +/1 2 3 ⍝ six\nf ← {\n  b ← ⍵\n  b×2\n}\nf a 5\n4 5\n"
ENDS = {"LF": "\n", "CR LF": "\r\n", "CR": "\r", "CR CR LF": "\r\r\n"}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_the_same_program(end: str) -> None:
    text = PROGRAM.replace("\n", end)
    written, wanted = format_source(Source("<test>", text)), format_source(Source("<test>", PROGRAM))
    assert format_source(Source("<test>", written)) == written
    assert [line for line in written.split("\n") if line] == [line for line in wanted.split("\n") if line]
    assert np.array_equal(rho.eval(text), [4, 5])
    assert np.array_equal(rho.eval(f"+/1 2 3{end}4 5{end}"), [4, 5])


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_places_are_those_of_editors(end: str) -> None:
    """A message points at the line and column that an editor counts."""
    text = f"a ← 1 2{end}b ← 1 2 3{end}a+b{end}"
    source = Source("<test>", text)
    (diagnostic,) = [d for d in check(source).diagnostics if d.is_error]
    assert source.position(diagnostic.span.start) == tuple(TextLines(text).position(diagnostic.span.start))
    assert source.line(source.position(diagnostic.span.start)[0]).rstrip("\r") == "a+b"


@pytest.mark.parametrize("character", ["\v", "\x85", "\u2028", "\u2029", "\x1c"])
def test_no_other_character_joins_statements(character: str) -> None:
    assert [d.code for d in check(Source("<test>", f"+/1 2 3{character}4 5")).diagnostics if d.is_error]


def test_a_text_does_not_go_on_past_a_return() -> None:
    assert [d.code for d in check(Source("<test>", "'ab\rcd'")).diagnostics if d.is_error]


def test_fmt_writes_line_feeds(tmp_path: Path) -> None:
    path = tmp_path / "a.rho"
    path.write_bytes(b"1+1\r2+2\r")
    assert main(("fmt", str(path)), Console(io.StringIO(), io.StringIO(), io.StringIO(), {})) == 0
    assert path.read_bytes() == b"1+1\n2+2\n"
