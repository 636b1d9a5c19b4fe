"""The kernel under signals: cells are interrupted while they are checked, compiled and run, in a queue; it is killed, restarted.

What waits, waits for messages: an interrupt is sent when the kernel has said that it has the cell, and again until there is an
answer, as a signal between two instructions of the kernel's own may be lost."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from share import share

from .test_kernel import SECONDS, Front

pytestmark = pytest.mark.long

PATIENCE = 10
CELLS = {
    "checking": "g0 ← {⍵+1}\n" + "\n".join(f"g{at + 1} ← {{g{at} g{at} ⍵}}" for at in range(24)) + "\nkept ← g24 1",
    "compiling": "\n".join(f"a{at} ← +/√{{1○⍵×{at}}}⍣3 ⊢ (⍳{5000 + at})÷{at + 1}" for at in range(120)) + "\nkept ← 9",
    "a compiled loop": "kept ← {⍵+1}⍣1000000000000 ⊢ 0.5",
    "a loop of arrays": "kept ← {⌽1○⍵}⍣1000000000000 ⊢ √⍳1000",
    "statements before it": "kept ← 12\nother ← 5\nkept ← {⍵+1}⍣1000000000000 ⊢ 0.5",
    "a product": "kept ← {⍵+.×⍵÷2}⍣1000000000000 ⊢ 300 300⍴⍳7",
    "a command": "kept ← 12\n)type {⍵+1}⍣3 ⊢ 2\nkept ← {⍵+1}⍣1000000000000 ⊢ 0.5",
}


@pytest.fixture(scope="module")
def front(jupyter: Path) -> Iterator[Front]:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="rho", cwd=str(jupyter), startup_timeout=SECONDS)
    try:
        yield Front(client, manager)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def begun(front: Front, sent: str) -> None:
    """Wait until the kernel says that it has a cell."""
    while True:
        message = front.client.get_iopub_msg(timeout=SECONDS)
        if message["msg_type"] == "execute_input" and message["parent_header"].get("msg_id") == sent:
            return


def answer(front: Front, sent: str) -> dict[str, Any] | None:
    """The reply to a cell that is interrupted until there is one; None where the kernel dropped the cell unanswered."""
    while True:
        front.manager.interrupt_kernel()
        try:
            message = front.client.get_shell_msg(timeout=PATIENCE)
        except queue.Empty:
            if is_idle(front, sent):
                return None
            continue
        if message["parent_header"].get("msg_id") == sent:
            content: dict[str, Any] = message["content"]
            return content


def is_idle(front: Front, sent: str) -> bool:
    idle = False
    while True:
        try:
            message = front.client.get_iopub_msg(timeout=0)
        except queue.Empty:
            return idle
        idle |= message["parent_header"].get("msg_id") == sent and message["content"].get("execution_state") == "idle"


def shown(front: Front, cell: str) -> str:
    """What a cell shows; one that a late interrupt stops is sent again."""
    while True:
        reply, found = front.execute(cell)
        if reply["status"] == "ok":
            return "".join(one["data"]["text/plain"] for one in found if "data" in one)
        assert reply.get("ename") in ("KeyboardInterrupt", None), reply


@pytest.mark.parametrize("cell", share(list(CELLS), seed=81))
def test_a_cell_is_interrupted(front: Front, cell: str) -> None:
    assert shown(front, "kept ← 11") == ""
    sent = front.client.execute(CELLS[cell])
    begun(front, sent)
    reply = answer(front, sent)
    if reply is not None and reply["status"] == "ok":  # it was over
        assert cell in ("checking", "compiling"), reply
        return
    assert reply is None or reply.get("ename", "KeyboardInterrupt") == "KeyboardInterrupt", reply
    assert reply is None or "Traceback" not in "".join(reply.get("traceback", [])), reply
    assert shown(front, "kept") == "11"
    assert shown(front, "+/⍳10") == "45"


def test_a_queue_of_cells_is_interrupted(front: Front) -> None:
    """What waits behind the cell that is stopped is aborted; what is sent later runs."""
    shown(front, "kept ← 11")
    first = front.client.execute(CELLS["a compiled loop"])
    rest = [front.client.execute(text) for text in ("kept ← 13", "kept ← 14")]
    begun(front, first)
    reply = answer(front, first)
    assert reply is None or reply["status"] == "error", reply
    replies = [front.reply(sent)["status"] for sent in rest]
    assert set(replies) <= {"aborted", "ok", "error"}, replies
    expected = {"aborted": "11", "error": "11", "ok": "14"}[replies[-1]]
    assert shown(front, "kept") == expected or (replies[0] == "ok" and replies[1] != "ok" and shown(front, "kept") == "13")


@pytest.mark.parametrize("how", ["restarted", "killed"])
def test_a_kernel_that_is_restarted_begins_anew(how: str, jupyter: Path) -> None:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="rho", cwd=str(jupyter), startup_timeout=SECONDS)
    front = Front(client, manager)
    try:
        assert shown(front, "kept ← 11") == ""
        begun(front, client.execute(CELLS["a compiled loop"]))
        if how == "killed":
            manager.signal_kernel(9)
        manager.restart_kernel(now=True)
        client.wait_for_ready(timeout=SECONDS)
        reply, _ = front.execute("kept")
        assert (reply["status"], reply["ename"]) == ("error", "E001")
        assert shown(front, "+/√1+⍳1000") != "" and shown(front, "kept ← 3\nkept") == "3"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
