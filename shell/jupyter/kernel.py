"""The Jupyter kernel: messages in, `Notebook`'s answers out.

A cell is computed in a thread while the main thread waits for it, so that an interrupt (SIGINT) always gets away.

Neighbours: `notebook` (all the work), ipykernel (the protocol).
"""

from __future__ import annotations

import fnmatch
import os
from typing import Any

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

from ... import __version__
from .notebook import Notebook, Text, Value

MOST_HISTORY = 10_000


class RhoKernel(Kernel):
    """One session."""

    implementation = "rho"
    implementation_version = __version__
    banner = f"Rho {__version__}: type statements, )help for help"
    language_info = {  # noqa: RUF012 (ipykernel's own form)
        "name": "rho", "version": __version__, "mimetype": "text/x-rho", "file_extension": ".rho", "pygments_lexer": "rho",
        "codemirror_mode": "apl",
    }  # fmt: skip

    def __init__(self, **given: Any) -> None:
        start: Any = super().__init__  # ipykernel says no types
        start(**given)
        self.notebook = Notebook(environment=os.environ)
        self._entered: list[str] = []

    async def do_execute(
        self, code: str, silent: bool, store_history: bool = True, user_expressions: dict[str, str] | None = None,
        allow_stdin: bool = False, *, cell_meta: Any = None, cell_id: Any = None,
    ) -> dict[str, Any]:  # fmt: skip
        if not code.strip():
            return self._ok({})
        cell = self.notebook.execute(code, f"<cell {self.execution_count}>")
        if store_history and not silent:
            self._entered = [*self._entered[1 - MOST_HISTORY :], code]
        for output in cell.outputs if not silent else ():
            self._show(output)
        if cell.failure is not None:
            failure = cell.failure
            content = {"ename": failure.name, "evalue": failure.message, "traceback": list(failure.lines)}
            if not silent:
                self._tell("error", content)
            return {"status": "error", "execution_count": self.execution_count, **content}
        return self._ok({name: self._evaluated(text) for name, text in (user_expressions or {}).items()})

    def _ok(self, expressions: dict[str, Any]) -> dict[str, Any]:
        count = self.execution_count
        return {"status": "ok", "execution_count": count, "payload": [], "user_expressions": expressions}

    def _show(self, output: Text | Value) -> None:
        if isinstance(output, Text):
            self._tell("stream", {"name": output.stream, "text": output.text})
            return
        content: dict[str, Any] = {"data": output.data, "metadata": {}}
        if output.result:
            content["execution_count"] = self.execution_count
        self._tell("execute_result" if output.result else "display_data", content)

    def _tell(self, kind: str, content: dict[str, Any]) -> None:
        send: Any = self.send_response
        send(self.iopub_socket, kind, content)

    def _evaluated(self, text: str) -> dict[str, Any]:
        """A user expression: the session stays as it is."""
        state = self.notebook.workspace.state
        cell = self.notebook.execute(text, "<expression>")
        self.notebook.workspace.state = state
        if cell.failure is not None:
            failure = cell.failure
            return {"status": "error", "ename": failure.name, "evalue": failure.message, "traceback": list(failure.lines)}
        values = [output.data for output in cell.outputs if isinstance(output, Value)]
        return {"status": "ok", "data": values[-1] if values else {}, "metadata": {}}

    async def do_complete(self, code: str, cursor_pos: int) -> dict[str, Any]:
        found = self.notebook.complete(code, cursor_pos)
        types = [
            {"start": found.start, "end": found.end, "text": text, "type": about.split("  ")[0]} for text, about in found.matches
        ]
        return {
            "status": "ok", "matches": [text for text, _ in found.matches], "cursor_start": found.start, "cursor_end": found.end,
            "metadata": {"_jupyter_types_experimental": types},
        }  # fmt: skip

    async def do_inspect(self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Any = ()) -> dict[str, Any]:
        page = self.notebook.inspect(code, cursor_pos)
        return {"status": "ok", "found": page is not None, "data": page or {}, "metadata": {}}

    async def do_is_complete(self, code: str) -> dict[str, Any]:
        status, indent = self.notebook.is_complete(code)
        return {"status": status, **({"indent": indent} if status == "incomplete" else {})}

    async def do_history(
        self, hist_access_type: str, output: bool, raw: bool, session: Any = None, start: Any = None, stop: Any = None,
        n: Any = None, pattern: str | None = None, unique: bool = False,
    ) -> dict[str, Any]:  # fmt: skip
        """Of this session."""
        lines = list(enumerate(self._entered, 1))
        match hist_access_type:
            case "search":
                lines = [line for line in lines if fnmatch.fnmatchcase(line[1], pattern or "*")]
                if unique:
                    latest = {text: number for number, text in lines}
                    lines = sorted((number, text) for text, number in latest.items())
            case "range":
                lines = lines[max((start or 1) - 1, 0) : (stop - 1) if stop else None]
        if n:
            lines = lines[-n:]
        return {"status": "ok", "history": [(0, number, (text, None) if output else text) for number, text in lines]}

    async def do_shutdown(self, restart: bool) -> dict[str, Any]:
        return {"status": "ok", "restart": restart}


def main() -> None:
    IPKernelApp.launch_instance(kernel_class=RhoKernel)
