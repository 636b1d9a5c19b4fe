"""`%load_ext rho` in a Python notebook: `%rho EXPR` returns a value to Python, a `%%rho` cell runs statements in a Rho session.

`%%rho -i xs -o labels` copies Python's `xs` into the session and `labels` back.  The session lives as long as the notebook;
`%%rho --new` starts another.
"""

from __future__ import annotations

import sys
from typing import Any

from IPython.core.error import UsageError as MagicUsage
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.display import display

from ..console.process_exit import Exit, UsageError, did_you_mean, interruptible
from ..workspace.exchange import bind_value, fetch_value, result_of
from .notebook import CellFailure, CellText, Notebook

_HELP = "%%rho [-i NAME]… [-o NAME]… [--new]"


class RhoFailed(Exception):
    """A Rho cell failed; IPython shows its messages and no Python traceback."""

    def __init__(self, failure: CellFailure) -> None:
        super().__init__(failure.plain)
        self.failure = failure

    def _render_traceback_(self) -> list[str]:
        return list(self.failure.lines)


@magics_class
class RhoMagics(Magics):
    """The magic `rho` on one session."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.python: Any = shell
        self.notebook = Notebook()

    @no_var_expand
    @line_cell_magic
    def rho(self, line: str, cell: str | None = None) -> Any:
        """`%rho EXPR` is the value of an expression; a cell `%%rho -i xs -o labels` runs statements."""
        try:
            return self._value(line) if cell is None else self._cell(line, cell)
        except UsageError as error:
            raise MagicUsage(error.message + (f"\n  {error.hint}" if error.hint else "")) from None

    def _value(self, line: str) -> Any:
        if not line.strip():
            raise UsageError("an expression is needed", "for example: %rho +/⍳10")
        workspace = self.notebook.workspace
        try:
            entered, state = interruptible(lambda: workspace.evaluate(line, "<%rho>"))
        except KeyboardInterrupt:
            workspace.abandon()
            raise
        if entered.exit is not Exit.OK:
            raise RhoFailed(self.notebook.failure_of(entered))
        workspace.state = state
        return result_of(entered)

    def _cell(self, line: str, cell: str) -> None:
        inputs, outputs, new = _parse_options(line)
        if new:
            self.notebook = Notebook()
        for name in inputs:
            if name not in self.python.user_ns:
                guess = did_you_mean(name, [key for key in self.python.user_ns if not key.startswith("_")])
                raise UsageError(f"-i {name}: Python has no `{name}`{guess}")
            bind_value(self.notebook.workspace, name, self.python.user_ns[name])
        show: Any = display  # IPython has no type annotations
        done = self.notebook.execute(cell)
        for output in done.outputs:
            if isinstance(output, CellText):
                print(output.text, end="", file=sys.stderr if output.stream == "stderr" else sys.stdout)
            else:
                show(output.data, raw=True)
        if done.failure is not None:
            if done.failure.name == "KeyboardInterrupt":
                raise KeyboardInterrupt
            raise RhoFailed(done.failure)
        self.python.user_ns.update({name: fetch_value(self.notebook.workspace, name) for name in outputs})


def _parse_options(line: str) -> tuple[list[str], list[str], bool]:
    """The names after `-i` and `-o`, and whether `--new` starts a session.  UsageError: another option."""
    names_of: dict[str, list[str]] = {"-i": [], "-o": []}
    words = line.split()
    new = False
    while words:
        word = words.pop(0)
        if word == "--new":
            new = True
        elif word in names_of and words:
            names_of[word] += [name for name in words.pop(0).split(",") if name]
        else:
            raise UsageError(f"%%rho: `{word}` {'needs a name' if word in names_of else 'is not an option'}", _HELP)
    return names_of["-i"], names_of["-o"], new


def load_extension(ipython: Any) -> None:
    """Register the magics; called by `%load_ext rho`."""
    ipython.register_magics(RhoMagics)
