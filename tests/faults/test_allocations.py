"""The n-th allocation of Python's memory fails, for n = 3, 4, …: the answer, or a clear error; no bug, no crash, no hang."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from share import share

pytestmark = pytest.mark.long

pytest.importorskip("_testcapi")

TEXTS = ["+/√⍳3000", "x÷+/x←*(⍳5)÷3.0", "⍋⌽⍳50"]
WATCHDOG = 20
CHILDREN = """
import _testcapi, io, json, os, signal, sys
import rho.shell.console.error_boundary
from rho.shell.console.standard_streams import Console
from rho.shell.main import main

text, numbers = json.loads(sys.argv[1])

def run(console):
    return int(main(["eval", text], console))

for _ in range(2):
    console = Console(io.StringIO(), io.StringIO(), io.StringIO(), {})
    expected = run(console), console.out.getvalue()
found = []
for number in numbers:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(int(sys.argv[2]))
        console, code = Console(io.StringIO(), io.StringIO(), io.StringIO(), {}), 99
        try:
            _testcapi.set_nomemory(number, number + 1)
            try:
                code = run(console)
            finally:
                _testcapi.remove_mem_hooks()
            os.write(writing, json.dumps([console.out.getvalue(), console.err.getvalue()]).encode())
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        said = file.read()
    found.append([number, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), *(json.loads(said) if said else ["", ""])])
print(json.dumps([expected, found]))
"""


@pytest.mark.parametrize("text", TEXTS)
def test_an_allocation_fails(text: str) -> None:
    """By one process that forks: each failure is one of a program that has run before."""
    numbers = share([*range(3, 400), *range(400, 8000, 40)], seed=len(text))
    done = subprocess.run(
        [sys.executable, "-c", CHILDREN, json.dumps([text, numbers]), str(WATCHDOG)], capture_output=True, text=True, timeout=900,
        check=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    (code, out), found = json.loads(done.stdout)
    assert code == 0 and len(found) == len(numbers)
    for number, ended, printed, said in found:
        assert ended in (0, 1), (number, ended, said)
        assert "a bug in Rho" not in said and (printed == out if ended == 0 else "E70" in said), (number, ended, printed, said)
