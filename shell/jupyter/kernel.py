"""The Jupyter kernel: messages in, `Notebook`'s answers out.

A cell is computed in a thread while the main thread waits for it, so that an interrupt (SIGINT) always gets away.
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

# ---------------------------------------------------------------------------------------------------- kernel

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

    def _show(self, output: CellText | CellValue) -> None:
        if isinstance(output, CellText):
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


# ---------------------------------------------------------------------------------------------------- kernelspec
#
# What `rho kernel install` puts in place: how the kernel is started, and its logo.

NAME: Final = "rho"
_LOGO: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
<rect width="64" height="64" rx="12" fill="#263256"/>
<g fill="none" stroke="#fff" stroke-width="7"><circle cx="34" cy="27" r="12.5"/><path d="M21.5 27V56" stroke-linecap="round"/></g>
</svg>
"""


@dataclass(frozen=True, slots=True)
class InstallLocation:
    """Where: for the user, under a prefix, or (neither) in the environment that Rho runs in."""

    user: bool = False
    prefix: str | None = None


def install(name: str, target: InstallLocation) -> str:
    """The folder it is in now.  OSError: it cannot be written."""
    from jupyter_client.kernelspec import KernelSpecManager

    with tempfile.TemporaryDirectory(prefix="rho-kernel-") as folder:
        Path(folder).chmod(0o755)
        write(Path(folder), name)
        prefix = None if target.user else target.prefix or sys.prefix
        installed: Any = KernelSpecManager().install_kernel_spec(folder, name, user=target.user, prefix=prefix)
    return str(installed)


def write(folder: Path, name: str) -> None:
    """The files of a kernelspec."""
    spec = {
        "argv": [sys.executable, "-Xfrozen_modules=off", "-m", "rho.shell.jupyter", "-f", "{connection_file}"],  # for ipykernel
        "display_name": "Rho" if name == NAME else f"Rho ({name})",
        "language": "rho",
        "interrupt_mode": "signal",
        "metadata": {"debugger": False},
    }
    (folder / "kernel.json").write_text(json.dumps(spec, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "logo-svg.svg").write_text(_LOGO, encoding="utf-8")
