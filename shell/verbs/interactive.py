"""`rho repl`, `rho lsp`, `rho kernel`, `rho init` and `rho completion`.

`rho repl [FILE]` is an interactive session (`shell.repl`, `shell.workspace`).  Piped lines run without prompts and stop at the
first error with its exit code.  On a terminal it has colours, completion and a status line (docs/repl.md).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..cli.arguments import COMMON, VERBS, Arguments, Option, Takes
from ..console.process_exit import Exit, NotWritten, UsageError, did_you_mean, raise_pending_signal, release_interrupts
from ..console.standard_streams import Console, save_text
from ..execution.params import Permissions
from ..repl import status_line
from ..repl.commands import CommandContext, PlainEntryReader, load_file, run_session

if TYPE_CHECKING:
    from ..workspace.workspace import Workspace

# ---------------------------------------------------------------------------------------------------- repl

def repl_command(arguments: Arguments, console: Console) -> Exit:
    def workspace() -> Workspace:
        from ..pipeline import Session
        from ..pipeline_types import Strictness
        from ..workspace.workspace import Workspace

        strictness = Strictness.STRICT if arguments.has("--strict") else Strictness.GUARDED
        permissions = Permissions.of([".", *arguments.values("--allow-read")], arguments.positional)
        return Workspace(Session("", permissions, strictness))

    chosen = status_line.load_settings(console.environment) if console.interactive else status_line.ReplSettings()
    context = CommandContext(workspace, console, chosen)
    if arguments.positional:
        code = load_file(arguments.positional[0], context, show_values=True)
        if code is not Exit.OK:
            return code
    if not console.interactive:
        return run_session(PlainEntryReader(console), context)
    release_interrupts()
    if console.environment.get("TERM") == "dumb" or find_spec("prompt_toolkit") is None:
        hint = "" if find_spec("prompt_toolkit") else "  (pip install prompt_toolkit adds colours, completion and history)"
        console.note(f"Rho: type statements; )help for help, )quit to leave.{hint}")
        return run_session(PlainEntryReader(console, edited=bool(hint)), context)
    from ..repl.terminal import Terminal

    console.note("Rho: type statements; )help for help, )quit to leave.")
    terminal = Terminal(context)
    try:
        return run_session(terminal.entries(), context)
    finally:
        terminal.close()


# ---------------------------------------------------------------------------------------------------- lsp
#
# `rho lsp`: the language server on standard input and output.  All other output of the process goes to standard error.

def lsp_command(arguments: Arguments, console: Console) -> Exit:
    try:
        from ..lsp.server import create
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UsageError("rho lsp needs pygls 2", "pip install 'rho-lang[lsp]'") from None
    requests = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server = create()
    server.start_io(requests, answers)
    raise_pending_signal()
    return Exit.FAILED if server.exited_early else Exit.OK


# ---------------------------------------------------------------------------------------------------- kernel
#
# `rho kernel install`: registers Rho's kernel with Jupyter.

def kernel_command(arguments: Arguments, console: Console) -> Exit:
    action = arguments.positional[0]
    if action != "install":
        hint = "rho kernel install tells Jupyter about Rho"
        raise UsageError(f"rho kernel: there is no `{action}`{did_you_mean(action, ['install'])}", hint)
    if arguments.has("--user") and arguments.has("--prefix"):
        raise UsageError("rho kernel install: --user and --prefix are two places", "give one of them")
    if find_spec("ipykernel") is None or find_spec("jupyter_client") is None:
        raise UsageError("rho kernel needs ipykernel", "pip install 'rho-lang[jupyter]'")
    from ..jupyter.kernel import NAME, InstallLocation, install_kernelspec

    name = arguments.value("--name") or NAME
    if re.fullmatch(r"[A-Za-z0-9._-]+", name) is None:
        raise UsageError(f"--name {name}: a kernel's name has letters, digits, dots, hyphens and underscores")
    target = InstallLocation(arguments.has("--user"), arguments.value("--prefix"))
    try:
        folder = install_kernelspec(name.lower(), target)
    except OSError as error:
        where = "" if error.filename is None else f" `{error.filename}`"
        hint = "--user and --prefix DIR choose another place"
        raise UsageError(f"the kernel cannot be installed:{where} {error.strerror}", hint) from error
    console.print(f"installed in {folder}; open a notebook with `jupyter lab`, or `jupyter console --kernel {name.lower()}`")
    return Exit.OK


# ---------------------------------------------------------------------------------------------------- init
#
# `rho init DIR`: a project small enough to read at once, with data, a program, a module and a test that pass.
#
# `rho init --from sales.csv`: a program with an `input` line for each column.

FILES = {
    "main.rho": """\
⍝ Mean and spread of each column of a table.
use "./columns.rho"
input table : f64[n m] ← "data.csv" where n ≥ 1

mean ← columns.mean table
spread ← columns.spread table
output mean
mean
spread
""",
    "columns.rho": """\
⍝ Functions on the columns of a table.

⍝ >>> columns.mean 2 2⍴1 2 3 6
⍝ 2 4
mean : f64[n m] → f64[m]
mean ← {(+⌿⍵)÷≢⍵}

⍝ >>> columns.spread 2 2⍴1 2 3 6
⍝ 2 4
spread : f64[n m] → f64[m] where n ≥ 1
spread ← {(⌈⌿⍵)-⌊⌿⍵}
""",
    "data.csv": "1,10\n2,20\n3,60\n",
    "README.md": """\
# A Rho project

    rho run main.rho                         # with the data beside it
    rho run main.rho --out mean=mean.csv     # and save the output
    rho test .                               # run the examples in the comments and below

```rho
+/⍳10
⍝ → 45
```
""",
}


def init_command(arguments: Arguments, console: Console) -> Exit:
    table = arguments.value("--from")
    if table is not None:
        return _from_table(table, arguments, console)
    if not arguments.positional:
        raise UsageError("rho init: needs DIR, or --from FILE", "for example: rho init waves, rho init --from sales.csv")
    folder = Path(arguments.positional[0])
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"`{folder}` is a file; name a folder to make")
    taken = sorted(name for name in FILES if (folder / name).exists())
    if taken:
        raise UsageError(f"`{folder}` already has {', '.join(taken)}; nothing was written", "name a new folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotWritten(f"`{folder}` cannot be made: {error.strerror}") from error
    for name, text in FILES.items():
        save_text(folder / name, text)
    console.print(f"made {folder}: try `rho run {folder / 'main.rho'}` and `rho test {folder}`")
    return Exit.OK


def _from_table(table: str, arguments: Arguments, console: Console) -> Exit:
    """Write a program with an input for every column of a table, or every array of a file."""
    from ...backend.io.formats import FileTrouble, system_errors
    from ..execution.loading import starter_program

    target = Path(arguments.positional[0]) if arguments.positional else Path(Path(table).name.partition(".")[0] + ".rho")
    if target.exists():
        raise UsageError(f"`{target}` is there already; nothing was written", f"name another: rho init --from {table} NAME.rho")
    try:
        with system_errors():
            text = starter_program(table, str(target.parent))
    except FileTrouble as trouble:
        raise UsageError(f"--from {table}: the file {trouble.message}", *trouble.notes[:1]) from None
    save_text(target, text)
    console.print(f"made {target}: add what to compute, then `rho run {target}`")
    return Exit.OK


# ---------------------------------------------------------------------------------------------------- completion
#
# `rho completion SHELL`: a script that completes verbs, options, their choices and file names, from the table of verbs.

_BASH = """\
# rho completion bash: put `eval "$(rho completion bash)"` into ~/.bashrc
_rho() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "%(verbs)s" -- "$word"))
    return
  fi
  case "${COMP_WORDS[1]} $before" in
%(choices)s
  esac
  case "$word" in -*) ;; *) COMPREPLY=($(compgen -f -- "$word")); return ;; esac
  case "${COMP_WORDS[1]}" in
%(options)s
  esac
}
complete -o filenames -F _rho rho
"""
_ZSH = """\
# rho completion zsh: put `eval "$(rho completion zsh)"` into ~/.zshrc
autoload -U +X bashcompinit && bashcompinit
"""


def completion_command(arguments: Arguments, console: Console) -> Exit:
    shell = arguments.positional[0]
    script = _SHELLS.get(shell)
    if script is None:
        guess = did_you_mean(shell, list(_SHELLS))
        raise UsageError(f"rho completion: there is no completion for `{shell}`{guess}", f"one of {', '.join(_SHELLS)}")
    console.out.write(script())
    return Exit.OK


def _options(options: Iterable[Option]) -> list[Option]:
    return [*options, *COMMON]


def _bash() -> str:
    choices = [
        f'    "{verb.name} {spelling}") COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$word")); return ;;'
        for verb in VERBS for option in _options(verb.options) if option.choices for spelling in option.spellings
    ]  # fmt: skip
    options = [
        f'    {verb.name}) COMPREPLY=($(compgen -W "{" ".join(s for o in _options(verb.options) for s in o.spellings)}" '
        f'-- "$word")) ;;'
        for verb in VERBS
    ]
    names = " ".join(verb.name for verb in VERBS)
    return _BASH % {"verbs": names, "choices": "\n".join(choices), "options": "\n".join(options)}


def _zsh() -> str:
    return _ZSH + _bash().partition("\n")[2]


def _fish() -> str:
    lines = ["# rho completion fish: rho completion fish > ~/.config/fish/completions/rho.fish"]
    for verb in VERBS:
        lines.append(f"complete -c rho -n __fish_use_subcommand -a {verb.name} -d {_quoted(verb.summary)}")
        for option in _options(verb.options):
            spelt = " ".join(f"-l {s[2:]}" if s.startswith("--") else f"-s {s[1:]}" for s in option.spellings)
            choices = f" -x -a {_quoted(' '.join(option.choices))}" if option.choices else " -r"
            value = "" if option.takes is Takes.NOTHING else choices
            lines.append(
                f"complete -c rho -n '__fish_seen_subcommand_from {verb.name}' {spelt}{value} -d {_quoted(option.doc)}"
            )
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
