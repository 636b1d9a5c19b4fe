"""The kernel through Jupyter's own client: messages, interrupts, a notebook run headless."""

from __future__ import annotations

import io
import json
import queue
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rho.shell.console.standard_streams import Console
from rho.shell.main import main

pytestmark = pytest.mark.long

SECONDS = 60


def rho(*words: str) -> tuple[int, str]:
    """A command's exit code and what it printed."""
    out = io.StringIO()
    return main(words, Console(out, io.StringIO(), io.StringIO(), {})), out.getvalue()


class Front:
    """A front end that waits for replies and collects what cells show."""

    def __init__(self, client: Any, manager: Any) -> None:
        self.client, self.manager = client, manager

    def execute(self, code: str, **options: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The reply's content, and the content of what was shown, with its message type."""
        return self.collect(self.client.execute(code, **options))

    def collect(self, sent: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        shown = []
        while True:
            message = self.client.get_iopub_msg(timeout=SECONDS)
            if message["parent_header"].get("msg_id") != sent:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
            if message["msg_type"] not in ("status", "execute_input"):
                shown.append({"type": message["msg_type"], **message["content"]})
        return self.reply(sent), shown

    def reply(self, sent: str) -> dict[str, Any]:
        while True:
            message = self.client.get_shell_msg(timeout=SECONDS)
            if message["parent_header"].get("msg_id") == sent:
                content: dict[str, Any] = message["content"]
                return content


@pytest.fixture(scope="module")
def front(jupyter: Path) -> Iterator[Front]:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="rho", cwd=str(jupyter), startup_timeout=SECONDS)
    try:
        yield Front(client, manager)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_what_kernel_it_is(front: Front) -> None:
    info = front.reply(front.client.kernel_info())
    assert info["implementation"] == "rho" and info["language_info"]["file_extension"] == ".rho"
    assert info["language_info"]["pygments_lexer"] == "rho"


def test_values_are_shown_and_the_last_is_the_result(front: Front) -> None:
    reply, shown = front.execute("x ← 2 3⍴⍳6\n⎕←x\n+/x")
    assert reply["status"] == "ok"
    assert [one["type"] for one in shown] == ["display_data", "execute_result"]
    assert "<table" in shown[0]["data"]["text/html"]
    assert shown[1]["data"]["text/plain"] == "i64[2]\n3 12" and shown[1]["execution_count"] == reply["execution_count"]
    assert front.execute("y ← x")[1] == []
    assert front.execute("1+1", silent=True)[1] == []


def test_errors_are_rendered_diagnostics(front: Front) -> None:
    reply, shown = front.execute("1 2+1 2 3")
    assert reply["status"] == "error" and reply["ename"] == "E101"
    assert shown[0]["type"] == "error" and "do not line up" in shown[0]["evalue"]
    assert any("\x1b[" in line for line in shown[0]["traceback"])
    assert "Traceback" not in "\n".join(shown[0]["traceback"])


def test_expressions_of_the_front_end_change_nothing(front: Front) -> None:
    reply, _ = front.execute("k ← 7", user_expressions={"a": "k×6", "b": "1 2+1 2 3", "c": "k ← 9"})
    found = reply["user_expressions"]
    assert found["a"]["data"]["text/plain"] == "42" and found["b"]["status"] == "error" and found["c"]["status"] == "ok"
    assert front.execute("k")[1][0]["data"]["text/plain"] == "7"


def test_completion_inspection_and_completeness(front: Front) -> None:
    found = front.reply(front.client.complete("1+`iot", 6))
    assert found["matches"] == ["⍳", "⍸"] and (found["cursor_start"], found["cursor_end"]) == (2, 6)
    page = front.reply(front.client.inspect("⍋x", 0))
    assert page["found"] and "grade up" in page["data"]["text/plain"]
    assert not front.reply(front.client.inspect("12", 0))["found"]
    assert front.reply(front.client.is_complete("f ← {")) == {"status": "incomplete", "indent": "  "}
    assert front.reply(front.client.is_complete("1+1"))["status"] == "complete"


def test_history(front: Front) -> None:
    front.execute("hidden ← 1", store_history=False)
    front.execute("seen ← 1")
    found = front.reply(front.client.history(hist_access_type="tail", n=1))["history"]
    assert found[0][2] == "seen ← 1"
    found = front.reply(front.client.history(hist_access_type="search", pattern="*hidden*"))["history"]
    assert found == []


def _is_idle(front: Front, request: str) -> bool:
    """Has the kernel said that it is done with a request?"""
    idle = False
    while True:
        try:
            message = front.client.get_iopub_msg(timeout=0)
        except queue.Empty:
            return idle
        idle = idle or (message["parent_header"].get("msg_id") == request and message["content"].get("execution_state") == "idle")


def test_an_interrupt_stops_the_cell_and_keeps_the_session(front: Front) -> None:
    front.execute("kept ← 11")
    cell = "kept ← 12\nx ← {⍵+1}⍣1000000000000 ⊢ 0.5\nx"
    sent = front.client.execute(cell)
    while front.client.get_iopub_msg(timeout=SECONDS)["msg_type"] != "execute_input":
        pass
    reply = None
    while reply is None:  # a signal between two instructions of the kernel's own may be lost
        front.manager.interrupt_kernel()
        try:
            message = front.client.get_shell_msg(timeout=10)
            reply = message["content"] if message["parent_header"].get("msg_id") == sent else None
        except queue.Empty:
            if _is_idle(front, sent):  # it was interrupted before the cell began, and answers nothing
                sent = front.client.execute(cell)
    assert reply["status"] == "error" and reply["ename"] == "KeyboardInterrupt"
    again: dict[str, Any] = {}
    while again.get("status") != "ok":  # or it comes late, and stops this cell
        again, shown = front.execute("kept")
    assert shown[0]["data"]["text/plain"] == "11"


def test_a_notebook_runs_headless(jupyter: Path, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    cells = ["mean ← {(+⌿⍵)÷≢⍵}", "mean 3 2⍴⍳6", ")plot 1○(⍳40)÷5", "⍝ nothing"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    NotebookClient(notebook, kernel_name="rho", timeout=SECONDS, resources={"metadata": {"path": str(tmp_path)}}).execute()
    first, second, third, fourth = (cell["outputs"] for cell in notebook["cells"])
    assert first == [] and fourth == []
    assert second[0]["output_type"] == "execute_result" and second[0]["data"]["text/plain"] == "f64[2]\n2 3"
    assert "image/png" in third[0]["data"]
    nbformat.validate(notebook)


def test_the_kernel_is_installed_where_it_is_asked_for(jupyter: Path, tmp_path: Path) -> None:
    code, out = rho("kernel", "install", "--prefix", str(tmp_path), "--name", "Rho-2")
    folder = tmp_path / "share" / "jupyter" / "kernels" / "rho-2"
    assert code == 0 and str(folder) in out
    spec = json.loads((folder / "kernel.json").read_text(encoding="utf-8"))
    assert (
        spec["language"] == "rho" and spec["argv"][2:4] == ["-m", "rho.shell.jupyter"] and spec["display_name"] == "Rho (rho-2)"
    )
    assert (folder / "logo-svg.svg").read_text(encoding="utf-8").startswith("<svg")
    assert rho("kernel", "install", "--prefix", str(tmp_path), "--name", "a b")[0] == 2
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert rho("kernel", "install", "--prefix", str(tmp_path / "file"))[0] == 2
