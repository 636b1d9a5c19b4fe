"""Ctrl-C at any call of a function: in every command that reads, computes, shows, checks, plans and writes; in a session that
somebody types; in the language server.  What is cut off leaves nothing, a session goes on, and no traceback is seen."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from share import SEED, share

from rho.shell.console.process_exit import drop_lost_interrupts
from rho.shell.console.standard_streams import Console
from rho.shell.main import main
from rho.tests.faults import commands
from rho.tests.faults.commands import COMMANDS, contents, left_over, make, make_old, require_sound

from .moments import NEVER, Ended, command, process

pytestmark = pytest.mark.long

MOMENTS, TOGETHER = 30, 5
"""Of each command, session and server; so many moments are one case."""
FIRST = 5
"""Before this call Rho has not said that it hears interrupts: it is the fourth."""
LAST = 60
"""Calls at the end, of which every fourth moment is one: what is said last, and the end of the process."""
SENT = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # nothing here cuts the power
    make(folder)
    return folder


def moments(name: str, calls: int, turns: Iterable[int]) -> list[tuple[int, int]]:
    """By its number, the call at which a turn is interrupted."""
    chosen = []
    for turn in turns:
        draw = random.Random(f"{SEED} {name} {turn}")
        chosen.append((turn, calls - draw.randrange(LAST) if turn % 4 == 0 else draw.randint(FIRST, calls)))
    return chosen


def cases(names: Sequence[str], seed: int) -> list[tuple[str, range]]:
    """Names, each with some of its moments."""
    return share([(name, range(at, at + TOGETHER)) for name in names for at in range(0, MOMENTS, TOGETHER)], seed=seed)


@pytest.mark.parametrize(("name", "turns"), cases(sorted(COMMANDS), seed=31))
def test_a_command_is_interrupted_at_any_call(name: str, turns: range, project: Path) -> None:
    asked = COMMANDS[name]
    work, typed = command(asked.words), asked.typed.encode()
    commands.run(asked)  # what is imported and made once
    make_old(project)
    old = contents(project, asked)
    whole = process(work, project, NEVER, typed=typed)
    assert whole.code == 0 and "Traceback" not in whole.err, whole
    new = contents(project, asked)
    for turn, number in moments(name, whole.calls, turns):
        sent = signal.SIGTERM if turn % 8 in (3, 4) else signal.SIGINT
        make_old(project)
        ended = process(work, project, number, sent, typed)
        code, said = SENT[sent]
        what = (name, turn, number, whole.calls, ended)
        if ended.code == 0:  # it was over, or all but
            assert ended.out == whole.out or asked.writes, what
            assert not ended.err.startswith(said), what
        elif not (sent is signal.SIGTERM and ended.code == -signal.SIGTERM):  # before Rho hears it nothing has been begun
            assert ended.code == code and ended.err.endswith(f"{said}\n"), what
            assert ended.err.count("\n") <= 1 + whole.err.count("\n"), what
        assert "Traceback" not in ended.err and "a bug in Rho" not in ended.err, what
        assert left_over(project) == [], what
        require_sound(project, asked, old, new, what)


# ------------------------------------------------------------------------------------------------ a session


class _Typed:
    """Standard streams of a session that somebody types."""

    def __init__(self, stream: object) -> None:
        self._stream = stream

    def isatty(self) -> bool:
        return True

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


LINES = ["x ← ⍳4", "y ← √x+⍳4", "f ← {⍵×2}", "z ← +/f y ⋄ z", "x ← x+10 ⋄ x", ")type x", "x ← x×2", "⍉2 2⍴x", ")names", "z×+/x"]
ASKED = ["'begin'", "2+2", "x", "'end'"]
"""Typed after them: all that is not interrupted is answered."""
TYPE = re.compile(r"\w+(<.*>)?\[.*\]")
MAY_BE = {"0 1 2 3", "10 11 12 13", "0 2 4 6", "20 22 24 26"}
"""What x is in the end, whichever statement was not entered; or it is not there."""


def session() -> int:
    streams = [_Typed(stream) for stream in (sys.stdout, sys.stderr, sys.stdin)]
    console = Console(*streams, {"TERM": "dumb", "COLUMNS": "80"})  # type: ignore[arg-type]
    drop_lost_interrupts()  # as the process of a session does
    return int(main(["repl"], console))


@pytest.mark.parametrize(("part", "turns"), cases(["one", "two", "three"], seed=32))
def test_a_session_is_interrupted_at_any_call(part: str, turns: range, project: Path) -> None:
    typed = "\n".join([*LINES, *ASKED, ""]).encode()
    whole = process(session, project, NEVER, typed=typed)
    assert whole.code == 0 and "20 22 24 26" in whole.out, whole
    for turn, number in moments(f"session {part}", whole.calls, turns):
        ended = process(session, project, number, typed=typed)
        require_goes_on(ended, whole.out, (turn, number, whole.calls, ended))


def require_goes_on(ended: Ended, whole: str, what: object) -> None:
    """What was typed after the interrupt was answered."""
    assert "Traceback" not in ended.err and "a bug in Rho" not in ended.err, what
    if ended.code == 130 and ended.out in ("", whole):  # it had not begun, or was over
        return
    assert ended.code == 0 and ended.err.count("interrupted; the session is as it was before") <= 1, what
    shown = [line.strip() for line in ended.out.split("\n") if not TYPE.fullmatch(line.strip())]
    answered = [line for line in ("begin", "4", "end") if line in shown]
    assert len(answered) >= 2, what
    last = shown[shown.index("4") + 1] if "4" in shown and "end" in shown else ""
    assert last in MAY_BE | {"", "end"}, what


# ------------------------------------------------------------------------------------- the language server


def message(**parts: object) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **parts}, ensure_ascii=False).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def asked_of_a_server() -> bytes:
    uri = "file:///moments.rho"
    at = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 4}}
    text = "mean ← {(+/⍵)÷≢⍵}\nm ← mean 1+⍳5\n⎕←m\n"
    requests = [
        ("initialize", {"processId": None, "rootUri": None, "capabilities": {}}), ("textDocument/hover", at),
        ("textDocument/completion", at), ("textDocument/documentSymbol", {"textDocument": {"uri": uri}}),
        ("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}}),
        ("textDocument/definition", at), ("shutdown", None),
    ]  # fmt: skip
    opened = {"textDocument": {"uri": uri, "languageId": "rho", "version": 1, "text": text}}
    sent = b""
    for number, (method, params) in enumerate(requests):
        sent += message(id=number, method=method, params=params)
        if number == 0:
            sent += message(method="initialized", params={}) + message(method="textDocument/didOpen", params=opened)
    return sent + message(method="exit", params=None)


@pytest.mark.parametrize(("part", "turns"), cases(["one", "two"], seed=35))
def test_the_language_server_is_interrupted_at_any_call(part: str, turns: range, project: Path) -> None:
    pytest.importorskip("pygls")
    import rho.shell.lsp.server  # before the fork

    assert rho.shell.lsp.server
    typed = asked_of_a_server()
    whole = process(command(["lsp"]), project, NEVER, typed=typed)
    assert whole.code == 0 and whole.out.count("Content-Length") >= 7, whole
    for turn, number in moments(f"server {part}", whole.calls, turns):
        ended = process(command(["lsp"]), project, number, typed=typed)
        what = (turn, number, whole.calls, ended)
        assert "Traceback" not in ended.err, what
        assert (ended.code, ended.err) in ((130, "interrupted\n"), (0, whole.err)), what
