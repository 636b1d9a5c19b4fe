"""The Python side of the playground: the output of Rho's commands for a program, in the browser's worker or under node."""

from __future__ import annotations

import contextlib
import io
import json
import os
import time
from pathlib import Path

PROGRAM = "program.rho"
COMMANDS = {
    "check": ("check", PROGRAM), "type": ("type", PROGRAM), "cost": ("type", "--cost", PROGRAM), "plan": ("plan", PROGRAM),
    "values": ("run", PROGRAM), "fmt": ("fmt", PROGRAM),
}  # fmt: skip


os.environ["NO_COLOR"] = "1"


class Terminal(io.StringIO):
    """A text stream that claims to be a terminal, so that `rho run` shows every output with its type."""

    def isatty(self) -> bool:
        return True


def source_of(text: str) -> str:
    """The program in a text; for a session, its typed lines, which begin with six blanks."""
    typed = [line[6:] for line in text.splitlines() if line.startswith(" " * 6)]
    is_session = any(line.startswith(" " * 6) for line in text.splitlines()[:1])
    return "\n".join(typed) + "\n" if is_session else text


def answer(commands: str, text: str) -> str:
    """A JSON object with the text, exit code and milliseconds of each command; only of `check`, if that fails."""
    from rho.shell.main import main

    Path(PROGRAM).write_text(source_of(text), encoding="utf-8")
    answers = {}
    for command in commands.split():
        printed, start = Terminal() if command == "values" else io.StringIO(), time.perf_counter()
        messages = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(messages):
            code = main([*COMMANDS[command]])
        took = round(1000 * (time.perf_counter() - start), 1)
        answers[command] = {"text": printed.getvalue() + messages.getvalue(), "exit": int(code or 0), "ms": took}
        if code and command == "check":
            break
    if "fmt" in answers and answers["fmt"]["exit"] == 0:
        answers["fmt"]["text"] = Path(PROGRAM).read_text(encoding="utf-8")
    return json.dumps(answers)
