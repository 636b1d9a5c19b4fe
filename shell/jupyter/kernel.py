"""The Jupyter kernel: passes messages to `Notebook` and sends back its outputs; installs the kernelspec.

A cell runs in a thread while the main thread waits, so that an interrupt (SIGINT) always takes effect at once.
"""

from __future__ import annotations

import fnmatch
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

from ... import __version__
from ...lang.support.records import dataclass
from .notebook import CellText, CellValue, Notebook

MOST_HISTORY = 10_000


class RhoKernel(Kernel):
    """The kernel of one session."""

    implementation = "rho"
    implementation_version = __version__
    banner = f"Rho {__version__}: type statements, )help for help"
    language_info = {  # noqa: RUF012 (ipykernel's own form)
        "name": "rho", "version": __version__, "mimetype": "text/x-rho", "file_extension": ".rho", "pygments_lexer": "rho",
        "codemirror_mode": "apl",
    }  # fmt: skip

    def __init__(self, **options: Any) -> None:
        start: Any = super().__init__  # ipykernel has no type annotations
        start(**options)
        self.notebook = Notebook(environment=os.environ)
        self._history: list[str] = []

    async def do_execute(
        self, code: str, silent: bool, store_history: bool = True, user_expressions: dict[str, str] | None = None,
        allow_stdin: bool = False, *, cell_meta: Any = None, cell_id: Any = None,
    ) -> dict[str, Any]:  # fmt: skip
        if not code.strip():
            return self._ok({})
        cell = self.notebook.execute(code, f"<cell {self.execution_count}>")
        if store_history and not silent:
            self._history = [*self._history[1 - MOST_HISTORY :], code]
        for output in cell.outputs if not silent else ():
            self._show(output)
        if cell.failure is not None:
            failure = cell.failure
            content = {"ename": failure.name, "evalue": failure.message, "traceback": list(failure.lines)}
            if not silent:
                self._send("error", content)
            return {"status": "error", "execution_count": self.execution_count, **content}
        return self._ok({name: self._evaluate_expression(text) for name, text in (user_expressions or {}).items()})

    def _ok(self, expressions: dict[str, Any]) -> dict[str, Any]:
        count = self.execution_count
        return {"status": "ok", "execution_count": count, "payload": [], "user_expressions": expressions}

    def _show(self, output: CellText | CellValue) -> None:
        if isinstance(output, CellText):
            self._send("stream", {"name": output.stream, "text": output.text})
            return
        content: dict[str, Any] = {"data": output.data, "metadata": {}}
        if output.result:
            content["execution_count"] = self.execution_count
        self._send("execute_result" if output.result else "display_data", content)

    def _send(self, kind: str, content: dict[str, Any]) -> None:
        send: Any = self.send_response
        send(self.iopub_socket, kind, content)

    def _evaluate_expression(self, text: str) -> dict[str, Any]:
        """Evaluate a user expression of the protocol; the session stays as it is."""
        state = self.notebook.workspace.state
        cell = self.notebook.execute(text, "<expression>")
        self.notebook.workspace.state = state
        if cell.failure is not None:
            failure = cell.failure
            return {"status": "error", "ename": failure.name, "evalue": failure.message, "traceback": list(failure.lines)}
        values = [output.data for output in cell.outputs if isinstance(output, CellValue)]
        return {"status": "ok", "data": values[-1] if values else {}, "metadata": {}}

    async def do_complete(self, code: str, cursor_pos: int) -> dict[str, Any]:
        completions = self.notebook.complete(code, cursor_pos)
        types = [
            {"start": completions.start, "end": completions.end, "text": text, "type": about.split("  ")[0]} for text,
            about in completions.matches
        ]
        return {
            "status": "ok", "matches": [text for text, _ in completions.matches], "cursor_start": completions.start,
            "cursor_end": completions.end,
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
        """The history of this session."""
        lines = list(enumerate(self._history, 1))
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


# ---------------------------------------------------------------------------------------------------- kernelspec
#
# The files that `rho kernel install` installs: how to start the kernel, and its logo.

NAME: Final = "rho"
_LOGO: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
<rect width="64" height="64" rx="12" fill="#263256"/>
<g fill="none" stroke="#fff" stroke-width="7"><circle cx="34" cy="27" r="12.5"/><path d="M21.5 27V56" stroke-linecap="round"/></g>
</svg>
"""


@dataclass(frozen=True, slots=True)
class InstallLocation:
    """The target of an installation: the user, a prefix, or (neither) the environment that Rho runs in."""

    user: bool = False
    prefix: str | None = None


def install_kernelspec(name: str, target: InstallLocation) -> str:
    """Install the kernelspec; returns its folder.  OSError: it cannot be written."""
    from jupyter_client.kernelspec import KernelSpecManager

    with tempfile.TemporaryDirectory(prefix="rho-kernel-") as folder:
        Path(folder).chmod(0o755)
        write_kernelspec(Path(folder), name)
        prefix = None if target.user else target.prefix or sys.prefix
        installed: Any = KernelSpecManager().install_kernel_spec(folder, name, user=target.user, prefix=prefix)
    return str(installed)


def write_kernelspec(folder: Path, name: str) -> None:
    """Write the files of a kernelspec into a folder."""
    spec = {
        "argv": [sys.executable, "-Xfrozen_modules=off", "-m", "rho.shell.jupyter", "-f", "{connection_file}"],  # for ipykernel
        "display_name": "Rho" if name == NAME else f"Rho ({name})",
        "language": "rho",
        "interrupt_mode": "signal",
        "metadata": {"debugger": False},
    }
    (folder / "kernel.json").write_text(json.dumps(spec, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "logo-svg.svg").write_text(_LOGO, encoding="utf-8")
