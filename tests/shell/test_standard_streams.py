"""Standard streams that are closed, full or left by their reader, for every verb: a documented exit code, one line where it can
be said, no traceback, and no success where results were lost."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from share import share

from rho.shell.cli.arguments import VERBS
from rho.shell.console.process_exit import Exit
from rho.tests.shell.test_outcomes import FILES

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
BAD = "".join(f"x{number} ← 1 2+1 2 3\n" for number in range(400))
"""More messages than a pipe holds."""
MORE = {"many.rho": BAD, "wrong.md": "".join("```rho\n      1+1\n3\n```\n" for _ in range(4)), "out.rho": "output b ← ⍳3\n",
        "lines.txt": "1+1\n", "lines.rho": "1+1\n",        "fails.rho": 'param k ← 9\n⎕←1\n⎕←(⍳3)[k]\n'}  # fmt: skip
RESULTS = {
    "run ok.rho": 0, "run ok.rho --json": 0, "run out.rho --out b=-:npy": 0, "eval 1+1": 0, "eval --lines lines.txt": 0,
    "type +/1": 0, "plan ok.rho": 0, "plan ok.rho --format html": 0, "estimate ok.rho": 0, "devices": 0, "init NEW": 0,
    "kernel install --prefix NEW": 0, "explain E101": 0, "doc stats": 0, "search running sum": 0,
    "completion bash": 0, "info": 0, "repl lines.rho": 0, "check bad.rho": 3, "check many.rho": 3,
    "test wrong.md": 1, "fmt --diff plain.rho": 1, "--help": 0, "run --help": 0, "--version": 0, "fmt - <plain.rho": 0,
    "repl <lines.rho": 0,
}  # fmt: skip
"""Commands that print results, and how they end where somebody reads these."""
MESSAGES = {"run bad.rho": 3, "check ok.rho": 0, "fmt ok.rho": 0, "fmt --check plain.rho": 1, "eval 1+": 3, "zork": 2,
            "test ok.rho": 0, "lsp": 0, "search zork": 1, "run fails.rho": 1}  # fmt: skip
"""Commands that print none."""
LOST = re.compile(r"rho: standard output cannot be written: (it is closed|No space left on device)\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("streams")
    for name, text in {**FILES, **MORE}.items():
        (made / name).write_text(text, encoding="utf-8")
    return made


def ended(words: str, streams: str, folder: Path) -> tuple[int, str]:
    """The exit code and standard error of `rho WORDS`."""
    streams = streams.replace("<&-", "") if "<" in words else streams
    given = "" if "<" in words or "<" in streams else "</dev/null"
    new = str(folder / f"new{len(os.listdir(folder))}")
    words = re.sub(r"^eval (\S+)$", r"eval '\1'", words).replace("type +/1", "type '+/1'").replace("NEW", new)
    command = f"{sys.executable} -m rho.shell {words} {given} {streams}"
    if "|" in streams:
        command += "; exit ${PIPESTATUS[0]}"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stderr.decode()


WAYS = [">&-", ">/dev/full", ">/dev/full 2>/dev/full", "<&- >&- 2>&-", "| true", "2>&-", "2>/dev/full"]
CASES = [(words, streams) for words in [*RESULTS, *MESSAGES] for streams in WAYS]


@pytest.mark.parametrize(("words", "streams"), share(CASES, seed=71))
def test_a_stream_that_takes_nothing(words: str, streams: str, folder: Path) -> None:
    expected = {**RESULTS, **MESSAGES}[words]
    code, err = ended(words, streams, folder)
    assert "Traceback" not in err and "a bug in Rho" not in err and "Exception" not in err, err
    lost = words in RESULTS and (">/dev/full" in streams.split() or ">&-" in streams.split())
    assert code == (Exit.FAILED if lost else expected), err
    assert bool(LOST.search(err)) == (lost and "2>" not in streams), err


@pytest.mark.parametrize("words", share([*RESULTS, *MESSAGES], seed=72))
def test_closed_standard_input_is_empty(words: str, folder: Path) -> None:
    if "<" not in words:
        assert ended(words, "<&-", folder) == ended(words, "", folder)


def test_every_verb_is_asked() -> None:
    asked = {words.split()[0] for words in [*RESULTS, *MESSAGES]}
    assert {verb.name for verb in VERBS} <= asked
