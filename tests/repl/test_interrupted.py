"""What is interrupted while it is shown was not entered: what the session then says is true."""

from __future__ import annotations

import _thread
import signal
import sys
import threading

import pytest

from rho.shell.console.process_exit import drop_lost_interrupts, interruptible
from rho.shell.console.standard_streams import Console
from rho.shell.pipeline import Session
from rho.shell.repl.commands import CommandContext, PlainEntryReader, run_session
from rho.shell.repl.status_line import ReplSettings
from rho.shell.workspace.exchange import CONTINUATION
from rho.shell.workspace.workspace import Workspace

from .conftest import Tty


class Interrupted(Tty):
    """A terminal whose user presses Ctrl-C when a text is written."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def write(self, text: str) -> int:
        if self._text in text:
            self._text = "never again"
            raise KeyboardInterrupt
        return super().write(text)


def test_a_session_is_as_it_was_before() -> None:
    out, err = Interrupted("17"), Tty()
    console = Console(out, err, Tty("x ← 7\nx ← x+10 ⋄ x\n2×x\n"), {"TERM": "dumb"})
    assert run_session(PlainEntryReader(console), CommandContext(Workspace(Session()), console, ReplSettings())) == 0
    assert "interrupted; the session is as it was before" in err.getvalue()
    assert "14" in out.getvalue() and "34" not in out.getvalue()


def test_an_interrupt_at_the_prompt_drops_what_was_typed_of_an_entry() -> None:
    out = Interrupted(CONTINUATION)
    console = Console(out, Tty(), Tty("{1+\n+/2 3\n"), {"TERM": "dumb"})
    assert run_session(PlainEntryReader(console), CommandContext(Workspace(Session()), console, ReplSettings())) == 0
    assert "5" in out.getvalue()


def test_an_interrupt_in_a_destructor_is_heard_after_it(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    class Destroyed:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    never, turns = threading.Event(), iter(range(5_000))
    for module, hook in ((sys, "unraisablehook"), (threading, "excepthook")):
        monkeypatch.setattr(module, hook, getattr(module, hook))
    drop_lost_interrupts()
    with pytest.raises(KeyboardInterrupt):
        one = Destroyed()
        del one
        while next(turns, None) is not None:
            never.wait(0.001)
    assert next(turns, None) is not None, "nobody heard it"
    thread = threading.Thread(target=signal.default_int_handler, args=(0, None))
    thread.start()
    thread.join()
    assert capfd.readouterr().err == ""


def test_an_interrupt_that_ends_no_wait_of_the_system_is_heard() -> None:
    """As one that comes just before the wait begins: `interrupt_main` wakes nobody."""
    never, turns = threading.Event(), iter(range(5_000))

    def endless() -> None:
        _thread.interrupt_main()
        while next(turns, None) is not None:
            never.wait(0.001)

    with pytest.raises(KeyboardInterrupt):
        interruptible(endless)
    assert next(turns, None) is not None, "nobody heard it"
