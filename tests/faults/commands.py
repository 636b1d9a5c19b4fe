"""Commands that read and write, each in a small project of its own, and what must hold whatever goes wrong in them.

A project has old files where the command writes.  After it, whatever failed, each is the old or the new one, all of a command
alike; there is no temporary once another command has written there; and the exit code is one that `shell.console.process_exit`
documents.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from rho.lang.support.files import recover
from rho.shell.console.process_exit import Exit
from rho.shell.console.standard_streams import Console
from rho.shell.main import main

OLD: Final = b"old\n"
PROGRAM: Final = """\
use "./m.rho"
input x : f64[n] ← "x.npy"
input w : f64[m] ← "w.csv"
y ← m.twice x
z ← +/y×+/w
output y
output z
"""
INSTANCE: Final = (
    '{"schema": "instance/1", "devices": [{"id": "a", "class": "c", "home": true}], '
    '"phases": [{"id": "p", "ticks": {"c": 3}}]}'
)


@dataclass(frozen=True)
class Command:
    """What is typed, what it writes (relative paths), and what it reads from standard input."""

    words: tuple[str, ...]
    writes: tuple[str, ...] = ()
    typed: str = ""


COMMANDS: Final[dict[str, Command]] = {
    "run": Command(("run", "p.rho")),
    "one output": Command(("run", "p.rho", "--out", "y=y.npy"), ("y.npy",)),
    "two outputs": Command(("run", "p.rho", "--out", "y=y.csv", "--out", "z=z.json"), ("y.csv", "z.json")),
    "two folders": Command(("run", "p.rho", "--out", "y=a/y.txt", "--out", "z=b/z.npy"), ("a/y.txt", "b/z.npy")),
    "trace": Command(("run", "p.rho", "--trace", "t.json"), ("t.json",)),
    "plan": Command(("plan", "p.rho", "--format", "json", "-o", "plan.json"), ("plan.json",)),
    "instance": Command(("plan", "--instance", "i.json", "--json", "-o", "answer.json"), ("answer.json",)),
    "devices": Command(("devices", "--devices", "laptop", "-o", "d.toml"), ("d.toml",)),
    "fmt": Command(("fmt", "ugly.rho"), ("ugly.rho",)),
    "check": Command(("check", "p.rho")),
    "type": Command(("type", "p.rho")),
    "test": Command(("test", "m.rho")),
    "lines": Command(("eval", "--lines", "lines.txt")),
    "save": Command(("repl",), ("s.md",), "x ← ⍳4\n+/x\n)save s.md\n"),
    "load": Command(("repl", "session.rho"), (), "+/x\n"),
}


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def make(folder: Path) -> None:
    """The project, with old files."""
    for name in ("a", "b"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "p.rho").write_text(PROGRAM, encoding="utf-8")
    (folder / "m.rho").write_text("⍝ >>> twice 2\n⍝ 4\ntwice ← {2×⍵}\n", encoding="utf-8")
    (folder / "session.rho").write_text("x ← ⍳4\n", encoding="utf-8")
    (folder / "lines.txt").write_text("+/⍳4\n2+3\n", encoding="utf-8")
    (folder / "i.json").write_text(INSTANCE, encoding="utf-8")
    (folder / "w.csv").write_text("1\n2\n3\n")
    np.save(folder / "x.npy", np.arange(5.0))
    make_old(folder)


def make_old(folder: Path) -> None:
    for command in COMMANDS.values():
        for name in command.writes:
            (folder / name).write_bytes(OLD)
    (folder / "ugly.rho").write_text("x←1+2\n", encoding="utf-8")


def run(command: Command) -> Ran:
    """The command in this process and folder."""
    out, err = io.StringIO(), io.StringIO()
    code = main(command.words, Console(out, err, io.StringIO(command.typed), {}))
    return Ran(int(code), out.getvalue(), err.getvalue())


def contents(folder: Path, command: Command) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in command.writes}


def left_over(folder: Path) -> list[str]:
    return sorted(name for root, _, names in os.walk(folder) for name in names if ".rho-" in name)


def require_sound(folder: Path, command: Command, old: Mapping[str, bytes], new: Mapping[str, bytes], what: object) -> None:
    """Every file old, or every file new, and no temporary once the folder has been written into again."""
    for name in ("a", "b", "", "a"):
        recover(str(folder / name))
    found = contents(folder, command)
    assert all(same_kind(found[name], old[name]) for name in found) or all(
        same_kind(found[name], new[name]) for name in found
    ), (what, found)  # fmt: skip
    assert left_over(folder) == [], what


def same_kind(one: bytes, other: bytes) -> bool:
    """Equal, but for the times that traces, plans and answers hold: those are as long as each other, about."""
    return one == other or (one != OLD and other != OLD and one[:1] == other[:1] == b"{" and one[-2:] == other[-2:])


def require_clear(ran: Ran, what: object) -> None:
    """A documented exit code, a message where it failed, no traceback, no bug."""
    assert ran.code in (*[int(code) for code in Exit if code is not Exit.BUG],), (what, ran)
    assert "Traceback" not in ran.err and "a bug in Rho" not in ran.err, (what, ran)
    assert ran.code == 0 or ran.err.strip(), (what, ran)
