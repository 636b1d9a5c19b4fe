"""`rho` end to end in a pseudo-terminal: keys in, a screen out."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

pexpect = pytest.importorskip("pexpect")

WAIT = 60


def seen(text: str) -> str:
    """A pattern for text on the screen, whatever escape sequences stand between its characters."""
    return r"(?:\x1b\[[0-9;?]*[A-Za-z])*".join(re.escape(character) for character in text)


@pytest.fixture
def rho(tmp_path: Path) -> Iterator[object]:
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "TERM": "xterm", "NO_COLOR": "1", "LANG": "C.UTF-8"}
    child = pexpect.spawn(
        sys.executable, ["-m", "rho.shell"], env=environment, cwd=str(tmp_path), encoding="utf-8", timeout=WAIT,
        dimensions=(30, 100),
    )  # fmt: skip
    child.expect("leave\\.")
    child.expect(r"\x1b\[6n")
    child.send("\x1b[2;1R")  # where the cursor is, which a real terminal says
    yield child
    child.close(force=True)


def test_a_session(rho: pexpect.spawn, tmp_path: Path) -> None:
    rho.send("x `[ `iota 5\r")
    rho.send("x×1.5\r")
    rho.expect(seen("f64[5]"))
    rho.expect("0 1.5 3 4.5 6")
    rho.send("f ← {\r⍵+100\r}\r")
    rho.send("f 7\r")
    rho.expect("107")
    rho.send("1 2 + 1 2 3\r")
    rho.expect("E101")
    rho.send(")save s\r")
    rho.expect("saved in s.md")
    rho.send(")quit\r")
    rho.expect(pexpect.EOF)
    rho.close()
    assert rho.exitstatus == 0
    assert "⍝ → 107" in (tmp_path / "s.md").read_text(encoding="utf-8")


def test_history_comes_back(rho: pexpect.spawn) -> None:
    rho.send("600+66\r")
    rho.expect("666\r")
    rho.send("\x1b[A")
    rho.expect(seen("600+66"))
    rho.send("1\r")
    rho.expect("1261\r")


def test_the_language_bar_and_the_line_appear(rho: pexpect.spawn) -> None:
    rho.send("`")
    rho.expect(seen("i ⍳"))
    rho.send("iot")
    rho.expect(seen("⍳ iota"))
    rho.send("a 5000")
    rho.expect(seen("idx<5000>[5000]"))


def test_control_c_comes_back_to_the_prompt(rho: pexpect.spawn) -> None:
    rho.send("a ← 41\r")
    rho.send("a\r")
    rho.expect("41\r")
    rho.send("a + (")
    rho.expect(seen("a + ("))
    rho.send("\x03")
    rho.send("+/{1○⍵}⍣100000 ⊢ 100000⍴0.5\r")
    rho.expect(r"\x1b\[\?2004l")
    for _ in range(100):  # the line is given up only once the terminal is out of its editing mode
        rho.sendintr()
        if rho.expect(["interrupted", pexpect.TIMEOUT], timeout=0.5) == 0:
            break
    rho.send("a+1\r")
    rho.expect("42\r")


def test_a_closed_terminal_ends_it(rho: pexpect.spawn) -> None:
    rho.send("\x04")
    rho.expect(pexpect.EOF)
    rho.close()
    assert rho.exitstatus == 0
