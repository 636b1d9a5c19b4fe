"""What `rho plan` says of loops: one region, or phase by phase and why; `--loops` prints programs that can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from rho.backend.loopir.text import parse
from rho.backend.loopir.verifier import verify
from rho.backend.schedule.plan.plan_text import bytes_text

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


def test_what_no_iteration_changes_is_made_before_the_loop(tmp_path: Path, rho: Rho) -> None:
    """A transposition that a product reads is a view outside; one that is read item by item is none at all."""
    for body, outside in (("⍵+(⍉A)+.×⍵}⍣50 ⊢ A", True), ("⍵+(⍉A)[⍺;]}⍣(⍳30) ⊢ A[0;]", False)):
        (tmp_path / "p.rho").write_text(f"A ← 30 30⍴√⍳900\nr ← {{{body}\noutput r\n", encoding="utf-8")
        lines = rho("plan", str(tmp_path / "p.rho")).out.splitlines()
        views = [line for line in lines if " view " in line and " j<30" in line and " A " not in line]
        assert len(views) == outside and all(line.startswith("  #") for line in views), views


def test_there_is_one_figure_of_memory(tmp_path: Path, rho: Rho) -> None:
    """The peak of the plan, at the top and behind the formula; also where numbers changed what is fused."""
    text = "param n ← 7000\nx ← √⍳n\nr ← {⍵+2*⍺}⍣(⍳5) ⊢ x+1⌽x\noutput r\n"
    (tmp_path / "p.rho").write_text(text, encoding="utf-8")
    out = rho("plan", str(tmp_path / "p.rho")).out
    peak = out.split("peak ")[1].split(" on")[0]
    memory = next(line for line in out.splitlines() if line.startswith("memory"))
    assert "n" in memory and memory.endswith(" bytes at most")
    assert bytes_text(int(memory.split("for these sizes ")[1].split(" ")[0].replace(",", ""))) == peak
