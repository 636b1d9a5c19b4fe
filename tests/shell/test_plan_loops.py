"""What `rho plan` says of loops: one region, or phase by phase and why; `--loops` prints programs that can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from rho.backend.loops.check import verify
from rho.backend.loops.text import parse

from .conftest import Rho

CASES = [
    ("r ← {s←⍵ ⋄ s[0]←s[0]+1 ⋄ s}⍣5 ⊢ ⍳30", "compiled", "line 1: r ← loop: one region, the state in place"),
    ("(r q) ← {(a b) ← ⍵ ⋄ t ← 2×a+b ⋄ (a+t ⋄ b-t)}⍣5 ⊢ (⍳30 ⋄ ⍳30)", "compiled", "the state in place"),
    ("r ← {⍵[⌽⍳30]+¯1⌽⍵}⍣5 ⊢ ⍳30", "compiled", "the state in two buffers"),
    ("r ← {(⍺+⍵)÷9}\\1.0×⍳30", "compiled", "every state where it is kept"),
    ("r ← {x←⍵ ⋄ {(x+⍵)÷2}⍣(30⋄{0.1>|⍵-⍺}) ⊢ 5.0}¨⍳9", "compiled", "cells on all threads"),
    ("r ← {0.1×⍵+.×⍵}⍣5 ⊢ 5 5⍴0.5", "compiled", "one region, the state in two buffers; it calls `contract`"),
    ("r ← {0.1×⍵[⍋⍵]}⍣5 ⊢ 1.0×⍳30", "compiled", "one region, the state in two buffers; it calls `sort`"),
]


@pytest.mark.parametrize(("text", "word", "says"), CASES, ids=[says[-30:] for _, _, says in CASES])
def test_lines(text: str, word: str, says: str, tmp_path: Path, rho: Rho) -> None:
    (tmp_path / "p.rho").write_text(f"{text}\noutput r\n", encoding="utf-8")
    plain = rho("plan", str(tmp_path / "p.rho"))
    line = next(line for line in plain.out.splitlines() if line.startswith((word, "compiled", "phases   ")))
    assert line.startswith(word) and says in line, line
    shown = rho("plan", str(tmp_path / "p.rho"), "--loops").out
    assert ("program " in shown) == (word == "compiled")
    if word == "compiled":
        start = shown.index("program ")
        verify(parse(shown[start : shown.index("\n}\n", start) + 3]))
