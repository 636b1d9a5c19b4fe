"""10,000 statements and 10,000 edits: the work of each, counted in calls of functions, and the memory stay flat.

Work is counted, not timed: calls do not depend on what else the machine does.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType

import pytest
from share import repeats

from rho.shell.console.process_exit import Exit
from rho.shell.lsp.diagnostics import reports
from rho.shell.lsp.documents import OpenDocuments, Range, TextChange, TextPosition
from rho.shell.pipeline import Session
from rho.shell.workspace.workspace import Workspace

pytestmark = pytest.mark.long

TURNS = repeats(10_000)
SAMPLE = 60
MOST_GROWTH = 1.3
"""Of the calls of late turns over those of early ones."""
MOST_BLOCKS = 40
"""Of memory, some 60 bytes each, that a turn leaves behind: its text, for `)save` and messages, and entries of tables whose size
is limited."""
KINDS = ("v{k} ← {i} + √⍳{k}", "+/v{k}×{i}", "g{k} ← {{⍵×{i}}}", "g{k} v{k}", "x{k} ← {i}", "2 3⍴x{k} ⋄ y{k} ← 2×x{k}")


def calls_of(work: Callable[[], object]) -> int:
    """How many functions of Python `work` calls."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def flat(turn: Callable[[int], None], turns: int) -> None:
    """Early and late turns cost the same, and what lies between leaves nothing behind."""
    warm = max(SAMPLE, turns // 5)
    for number in range(warm):
        turn(number)
    early = calls_of(lambda: [turn(number) for number in range(warm, warm + SAMPLE)])
    gc.collect()
    first = sys.getallocatedblocks()
    for number in range(warm + SAMPLE, turns - SAMPLE):
        turn(number)
    gc.collect()
    left = (sys.getallocatedblocks() - first) / (turns - warm - 2 * SAMPLE)
    late = calls_of(lambda: [turn(number) for number in range(turns - SAMPLE, turns)])
    assert late <= MOST_GROWTH * early, f"{early} calls, later {late}"
    assert left <= MOST_BLOCKS, f"{left:.1f} blocks a turn"


def test_statements_of_a_session() -> None:
    workspace = Workspace(Session())

    def turn(number: int) -> None:
        k = number // len(KINDS) % 40
        line = KINDS[number % len(KINDS) if number % 600 else 0].format(k=k + 100, i=number)
        entered = workspace.enter(line)
        assert entered.exit is Exit.OK, (line, entered.diagnostics)

    flat(turn, TURNS)
    assert len(workspace.state.items) <= 200


def test_a_value_that_is_shadowed_is_given_back() -> None:
    workspace = Workspace(Session())
    for number in range(repeats(300)):
        assert workspace.enter(f"x ← (√⍳50000) + {number}").exit is Exit.OK
    assert workspace.state.bytes == 50_000 * 8


def test_edits_of_a_document() -> None:
    folder = OpenDocuments()
    text = "input x : f64[n]\nmean ← {(+/⍵)÷≢⍵}\nm ← mean 1+x\n⎕←m\n"
    folder.open("file:///soak.rho", 0, text + "last ← 0\n")
    line = text.count("\n")

    def turn(number: int) -> None:
        old = len(f"last ← {number - 1 if number else 0}")
        place = Range(TextPosition(line, 0), TextPosition(line, old))
        document = folder.change("file:///soak.rho", number + 1, [TextChange(place, f"last ← {number}")])
        assert document is not None
        reports(document)

    flat(turn, TURNS)
