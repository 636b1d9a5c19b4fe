"""Verbs over damaged files: programs, modules, data, plans, devices, instances, pages and sessions.

Each command of `COMMANDS` succeeds in a folder of sound files.  Each case damages one of the files that it reads, in bytes or in
tokens: the command then ends with a documented exit code and words, never a traceback, and leaves neither a temporary file nor,
where it fails, a part of a result.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from share import seeds, share

from rho.shell.console.standard_streams import Console
from rho.shell.main import main
from rho.tests.bad_input import damage
from rho.tests.bad_input.test_programs import _PIECES, _TOKEN, failures

BATCHES, IN_A_BATCH = 20, 100
DATA = 'input a : f64[n m] ← "a.csv"\ninput k : i64[n] ← "k.npy"\nparam p ← 2\nuse "lib.rho"\n⎕←lib.twice +/a\noutput b ← p×a+k\n'
FILES = {
    "p.rho": "⍝ A program.\nx ← (⍳300)÷7\nf : f64[n] → f64\nf ← {+/⍵×⍵}\n⎕←f x\noutput y ← x[⍒x]\n",
    "data.rho": DATA, "lib.rho": "⍝ Twice.\n⍝ >>> twice 1 2\n⍝ 2 4\ntwice ← {⍵+⍵}\n",
    "a.csv": "u,v\n1,2.5\n3,4\n-5,6e1\n", "page.md": damage.SESSION,
    "session.md": damage.SESSION.partition("Text.")[0], "lines.txt": "1+1\n+/⍳4\n'a',\"b\"\n",
    "i.json": json.dumps(damage.INSTANCE), "i.stg": "3\n0 0 0\n1 5 1 0\n2 7 1 0\n3 4 2 1 2\n4 0 1 3\n",
    "d.json": json.dumps({key: damage.INSTANCE[key] for key in ("devices", "links")}),
}  # fmt: skip
LIMITS = "--max-memory 100MB --max-time 1"
PLANS = "--budget 0.2"
COMMANDS = {
    f"run p.rho --out y=y.npy {LIMITS}": ("p.rho",),
    f"run data.rho --out b=b.csv --json {LIMITS}": ("data.rho", "lib.rho", "a.csv", "k.npy"),
    f"run data.rho --in a=k2.npy --set p=3 --verify --out b=b.npy {LIMITS}": ("data.rho", "lib.rho", "k.npy", "k2.npy"),
    f"run p.rho --devices w.toml --simulate {PLANS} {LIMITS}": ("p.rho", "w.toml"),
    f"run --plan plan.json {LIMITS}": ("plan.json", "p.rho"),
    f"run p.rho --plan plan.json {LIMITS}": ("plan.json", "p.rho"),
    f"plan data.rho --devices w.toml {PLANS}": ("data.rho", "lib.rho", "a.csv", "k.npy", "w.toml"),
    f"plan p.rho --format html -o plan.html {PLANS}": ("p.rho",),
    "plan --check plan.json": ("plan.json",),
    f"plan p.rho --diff plan.json {PLANS}": ("plan.json", "p.rho"),
    f"plan --instance i.json {PLANS}": ("i.json",),
    f"plan --instance i.stg --devices d.json --json {PLANS}": ("i.stg", "d.json"),
    "plan p.rho --loops": ("p.rho",),
    "estimate data.rho": ("data.rho", "lib.rho", "a.csv", "k.npy"),
    "check data.rho lib.rho --json": ("data.rho", "lib.rho"),
    "check p.rho --fix": ("p.rho",),
    "check p.rho --devices w.toml": ("p.rho", "w.toml"),
    "fmt p.rho": ("p.rho",),
    "fmt --diff --ascii data.rho": ("data.rho",),
    "test lib.rho page.md": ("lib.rho", "page.md"),
    "repl session.md": ("session.md",),
    f"eval --lines lines.txt --json {LIMITS}": ("lines.txt",),
    "type data.rho --cost": ("data.rho", "lib.rho"),
    "devices --devices w.toml": ("w.toml",),
}  # fmt: skip
"""Commands, and the files that each reads."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which every command succeeds."""
    folder = tmp_path_factory.mktemp("sound")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    np.save(folder / "k.npy", np.arange(3))
    np.save(folder / "k2.npy", np.arange(6.0).reshape(3, 2))
    (folder / "w.toml").write_text(damage.text("profile", folder), encoding="utf-8")
    words = [sys.executable, "-m", "rho.shell", "plan", "p.rho", "--json", "-o", "plan.json"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=200)
    return folder


def damaged(chance: random.Random, name: str, content: bytes) -> bytes:
    """The content of a file with one to four changes: of tokens of a program or page, else of bytes or of values of JSON."""
    if not name.endswith((".rho", ".md", ".txt", ".toml")) or chance.random() < 0.3:
        is_json = name.endswith(".json") and chance.random() < 0.7
        return (damage.restructured if is_json else damage.flipped)(chance, content)
    tokens = _TOKEN.findall(content.decode())
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(tokens) + 1)
        match chance.randrange(5):
            case 0:
                del tokens[at : at + chance.choice((1, 1, 3))]
            case 1:
                tokens[at:at] = tokens[at : at + chance.choice((1, 2, 8))]
            case 2:
                tokens.insert(at, chance.choice(_PIECES))
            case 3:
                tokens[at : at + 1] = [chance.choice(tokens or [""])]
            case _:
                del tokens[at + chance.randrange(40) :]
    return "".join(tokens).encode()


def case(chance: random.Random, sound: Path, folder: Path) -> tuple[list[str], str]:
    """A command and its folder, in which one file is damaged."""
    command = chance.choice(list(COMMANDS))
    name = chance.choice(COMMANDS[command])
    shutil.copytree(sound, folder)
    (folder / name).write_bytes(damaged(chance, name, (sound / name).read_bytes()))
    return command.split(), str(folder)


@pytest.mark.parametrize("command", share(list(COMMANDS), seed=31))
def test_a_command_succeeds_on_sound_files(command: str, sound: Path, tmp_path: Path) -> None:
    shutil.copytree(sound, tmp_path / "folder")
    before, out, err = os.getcwd(), io.StringIO(), io.StringIO()
    os.chdir(tmp_path / "folder")
    try:
        words = command.replace("--max-time 1", "--max-time 60").split()  # a loaded machine may need more than a second
        assert int(main(words, Console(out, err, io.StringIO(), {}))) in (0, 1), out.getvalue() + err.getvalue()
    finally:
        os.chdir(before)


@pytest.mark.parametrize("batch", seeds(BATCHES))
def test_damaged_files(batch: int, sound: Path, tmp_path: Path) -> None:
    chance = random.Random(f"verbs {batch}")
    cases = [case(chance, sound, tmp_path / str(number)) for number in range(IN_A_BATCH)]
    assert failures(cases) == []
    for words, folder in cases:
        left = {path.name for path in Path(folder).iterdir()} - {path.name for path in sound.iterdir()}
        assert left <= {word.split("=")[-1] for word in words}, f"{words} in {folder} leaves {left}"
