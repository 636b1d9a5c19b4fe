"""Times the start of a session, and a keystroke in a workspace of 200 lines.

    python benchmarks/repl_latency.py

The start is measured in a pseudo-terminal up to the first prompt; a keystroke through the line editor's key processor, from the
key to the end of drawing, while the status line is computed.
"""

from __future__ import annotations

import asyncio
import io
import os
import pty
import statistics
import sys
import tempfile
import time

from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from rho.shell.console.standard_streams import Console
from rho.shell.execution.params import Permissions
from rho.shell.pipeline import Session
from rho.shell.repl.commands import CommandContext
from rho.shell.repl.status_line import ReplSettings
from rho.shell.repl.terminal import Terminal
from rho.shell.workspace.workspace import Workspace

TEXT = "v199 + fn198 v7 × v12[3] - +/v150 ⍝ what is typed"


def start() -> float:
    """The seconds from exec to the first drawn prompt."""
    began = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-m", "rho.shell"])
    seen = b""
    while b"\x1b[6n" not in seen:
        seen += os.read(terminal, 4096)
    spent = time.perf_counter() - began
    os.write(terminal, b"\x1b[2;1R\x04")
    os.close(terminal)
    os.waitpid(pid, 0)
    return spent


def filled() -> Workspace:
    """A workspace with two hundred values and a hundred functions."""
    workspace = Workspace(Session("", Permissions.of(["."], [])))
    workspace.enter("v0 ← 5000⍴1.5")
    for number in range(1, 200):
        workspace.enter(f"v{number} ← v{number - 1}+{number}" if number % 2 else f"fn{number} ← {{v{number - 1}+⍵×{number}}}")
        if number % 2 == 0:
            workspace.enter(f"v{number} ← v{number - 1}")
    return workspace


async def keystrokes(terminal: Terminal, pipe: object) -> list[float]:
    """The seconds from each key until it has been handled and drawn."""
    app, spent = terminal.editor.app, []
    running = asyncio.ensure_future(terminal.editor.prompt_async("      "))
    await asyncio.sleep(1)
    buffer = terminal.editor.default_buffer
    for character in TEXT:
        drawn = asyncio.Event()

        def note(_: object, drawn: asyncio.Event = drawn) -> None:
            drawn.set()

        before = len(buffer.text)
        app.after_render += note
        began = time.perf_counter()
        pipe.send_text(character)  # type: ignore[attr-defined]
        while len(buffer.text) == before:
            drawn.clear()
            await drawn.wait()
        spent.append(time.perf_counter() - began)
        app.after_render -= note
        await asyncio.sleep(0.08)
    running.cancel()
    return spent


def main() -> None:
    starts = sorted(start() for _ in range(5))
    print(f"start to prompt: median {statistics.median(starts) * 1000:.0f} ms, best {starts[0] * 1000:.0f} ms")
    began = time.perf_counter()
    workspace = filled()
    spent_entering, state = time.perf_counter() - began, workspace.state
    print(f"{len(state.log)} lines entered in {spent_entering:.1f} s, {len(state.items)} items, {state.bytes} bytes")
    with tempfile.TemporaryDirectory() as state, create_pipe_input() as pipe:
        console = Console(io.StringIO(), io.StringIO(), io.StringIO(), {"XDG_STATE_HOME": state})
        terminal = Terminal(CommandContext(workspace, console, ReplSettings()), pipe, DummyOutput())
        spent = sorted(asyncio.run(keystrokes(terminal, pipe)))
        terminal.close()
    print(f"keystroke: median {statistics.median(spent) * 1000:.1f} ms, p95 {spent[int(len(spent) * 0.95)] * 1000:.1f} ms, "
          f"worst {spent[-1] * 1000:.1f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
