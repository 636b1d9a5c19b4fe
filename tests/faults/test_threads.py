"""The n-th thread cannot be started, for n = 1, 2, …: the same answer with fewer threads, or a clear error; no bug, no hang.

Each in a process of its own: threads are kept for later, and a forked process has none yet.
"""

from __future__ import annotations

import _thread
import io
import json
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from share import share

from rho.backend.distributed import queues
from rho.shell.console.error_boundary import report_uncaught
from rho.shell.console.process_exit import Exit
from rho.shell.console.standard_streams import Console
from rho.shell.main import main
from rho.tests.backend.test_threads import prepared, run
from rho.tests.interrupts.moments import NEVER, command, process

from .system_calls import in_child

pytestmark = pytest.mark.long

TEXTS = ["+/√⍳3000000", "+/⍋1○⍳1000000", "+/+⌿√3000 700⍴⍳2100000", "+/,{⍵+.×⍉⍵} √600 700⍴⍳2000", "+/{1○⍵}⍣20 ⊢ √⍳300000"]
MOST = 30
NO_THREAD = "can't start new thread"


def refuse(number: int) -> list[None]:
    """From now on the `number`-th thread of this process is refused, and all after it."""
    asked: list[None] = []
    start = threading.Thread.start

    def limited(thread: threading.Thread) -> None:
        asked.append(None)
        if len(asked) >= number:
            raise RuntimeError(NO_THREAD)
        start(thread)

    threading.Thread.start = limited  # type: ignore[method-assign]
    return asked


def refused(number: int, work: Callable[[], tuple[int, str, str]], folder: Path) -> tuple[int, str, str, int]:
    """What `work` says in a process whose threads are refused so, and how many it asked for."""
    told = folder / "told.json"

    def child() -> int:
        asked = refuse(number)
        code, out, err = work()
        told.write_text(json.dumps([code, out, err, len(asked)]))
        return 0

    assert in_child(child) == 0, number
    code, out, err, asked = json.loads(told.read_text())
    return code, out, err, asked


def evaluated(text: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return int(main(["eval", text], Console(out, err, io.StringIO(), {}))), out.getvalue(), err.getvalue()


@pytest.mark.parametrize("kernels", ["off", "always"])
@pytest.mark.parametrize("text", share(TEXTS, seed=41))
def test_a_program_does_its_work_with_the_threads_that_there_are(
    text: str, kernels: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RHO_KERNELS", kernels)
    expected = evaluated(text)
    assert expected[0] == 0, expected
    for number in range(1, MOST):
        *said, asked = refused(number, lambda: evaluated(text), tmp_path)
        assert tuple(said) == expected, (number, said)
        if asked < number:
            return
    raise AssertionError("it never stopped asking")


def test_queues_of_a_plan_say_what_they_lack(tmp_path: Path) -> None:
    """A thread each: without it they neither hang nor compute."""
    plan, bound, data = prepared(4, 0)

    def work() -> tuple[int, str, str]:
        err = io.StringIO()
        console = Console(io.StringIO(), err, io.StringIO(), {})
        try:
            run(plan, bound, data)
        except RuntimeError as error:
            return int(report_uncaught(error, ["run", "p.rho"], console)), "", err.getvalue()
        return 0, "", ""

    for number in range(1, MOST):
        code, _, said, asked = refused(number, work, tmp_path)
        if asked < number:
            assert (code, number > 1) == (0, True)
            return
        assert (code, said) == (Exit.FAILED, "rho: the system gives this process no more threads; nothing was saved\n"), number
    raise AssertionError("it never stopped asking")


def test_a_session_answers_without_threads(tmp_path: Path) -> None:
    class Typed(io.StringIO):
        def isatty(self) -> bool:
            return True

    def work() -> tuple[int, str, str]:
        out, err = Typed(), Typed()
        code = main(["repl"], Console(out, err, Typed("x ← √⍳5\n+/x×x\n"), {"TERM": "dumb"}))
        return int(code), out.getvalue(), err.getvalue()

    assert all("10\n" in refused(number, work, tmp_path)[1] for number in (1, 2, 3))


@pytest.mark.parametrize(("sent", "code", "said"), [(signal.SIGINT, 130, "interrupted\n"), (signal.SIGTERM, 143, "terminated\n")])
def test_a_process_without_the_thread_of_signals_hears_them(
    sent: signal.Signals, code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*asked: object) -> None:
        raise RuntimeError(NO_THREAD)

    monkeypatch.setattr(_thread, "start_new_thread", none)
    work = command(["eval", "+/√⍳1000"])
    whole = process(work, tmp_path, NEVER)
    assert whole.code == 0, whole
    for part in (2, 3, 5):
        ended = process(work, tmp_path, whole.calls // part, sent)
        assert (ended.code, ended.out, ended.err) == (code, "", said), (part, ended)


@pytest.mark.parametrize("number", range(1, 4))
def test_an_interrupt_between_the_taking_of_a_lock_and_its_block_stops_nobody(number: int) -> None:
    """All wait for that lock: a thread that leaves with it would hold them up for ever."""
    plan, bound, data = prepared(4, 0)

    class Interrupted(threading.Condition):
        entered = 0

        def __enter__(self) -> bool:
            taken = super().__enter__()
            if threading.current_thread() is threading.main_thread():
                self.entered += 1
                if self.entered == number:
                    raise KeyboardInterrupt
            return taken

    def work() -> int:
        gate = queues._FenceGate
        queues._FenceGate = lambda **facts: gate(change=Interrupted(), **facts)  # type: ignore[assignment, misc]
        try:
            run(plan, bound, data)
        except KeyboardInterrupt:
            return 3
        return 0

    assert in_child(work) == 3
