"""`rho repl [FILE]`: an interactive session.  Piped lines run without prompts and stop at the first error with its exit code.

On a terminal with prompt_toolkit the session has colours, completion and the rest of `docs/repl.md`; without it lines are
read plainly.  The work is in `shell.repl` and `shell.workspace`.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..cli.arguments import Arguments
from ..cli.console import Console
from ..cli.ending import release
from ..cli.exits import Exit
from ..execution.permissions import Permissions
from ..repl import settings
from ..repl.commands import Desk, load
from ..repl.loop import PlainEntries, serve
from ..repl.settings import Settings

if TYPE_CHECKING:
    from ..workspace.workspace import Workspace


def run(arguments: Arguments, console: Console) -> Exit:
    def workspace() -> Workspace:
        from ..session import Session
        from ..stages import Strictness
        from ..workspace.workspace import Workspace

        strictness = Strictness.STRICT if arguments.has("--strict") else Strictness.GUARDED
        permissions = Permissions.of([".", *arguments.values("--allow-read")], arguments.positional)
        return Workspace(Session("", permissions, strictness))

    chosen = settings.load(console.environment) if console.interactive else Settings()
    desk = Desk(workspace, console, chosen)
    if arguments.positional:
        code = load(arguments.positional[0], desk, show_values=True)
        if code is not Exit.OK:
            return code
    if not console.interactive:
        return serve(PlainEntries(console), desk)
    release()
    if console.environment.get("TERM") == "dumb" or find_spec("prompt_toolkit") is None:
        hint = "" if find_spec("prompt_toolkit") else "  (pip install 'rho-lang[repl]' adds colours, completion and history)"
        console.note(f"Rho: type statements; )help for help, )quit to leave.{hint}")
        return serve(PlainEntries(console, edited=bool(hint)), desk)
    from ..repl.terminal import Terminal

    console.note("Rho: type statements; )help for help, )quit to leave.")
    terminal = Terminal(desk)
    try:
        return serve(terminal.entries(), desk)
    finally:
        terminal.close()
