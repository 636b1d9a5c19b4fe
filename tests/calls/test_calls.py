"""Programs × {NumPy, kernels as they come, as if used for long, always} × layouts × sizes × threads, called again and again.

The calls are made in processes of their own (`worker`): one that dies is a failure of the program that it was at, and the others
go on in another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from share import SHARE, share

from rho.tests.calls.cases import programs

TOGETHER = 12
"""Programs of a process."""
MODES = ["off", "auto", "warm", "always"]
REPEATS = 300 if SHARE >= 1 else 8
THREADS = 4
WATCHDOG = 900
NAMES = [program.name for program in programs()]
CASES = share([(mode, number) for mode in MODES for number in range(len(NAMES))], seed=11)
BATCHES = [
    (mode, tuple(own[start : start + TOGETHER]))
    for mode in MODES
    for own in [[number for other, number in CASES if other == mode]]
    for start in range(0, len(own), TOGETHER)
]


WORKER = ("-m", "rho.tests.calls.worker")
DYING = """import json, os, signal, sys
for number in map(int, sys.argv[3:]):
    print(json.dumps({"starts": number}), flush=True)
    if number == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    print(json.dumps({"ends": number, "problems": []}), flush=True)
"""


def problems_of(mode: str, numbers: tuple[int, ...], folder: Path, worker: tuple[str, str] = WORKER) -> list[str]:
    """What is wrong with these programs, by name."""
    found: list[str] = []
    left = list(numbers)
    kernels = {"RHO_KERNELS": mode, "RHO_KERNEL_CACHE": str(folder / "kernels")}
    while left:
        command = [sys.executable, *worker, str(REPEATS), str(THREADS), *map(str, left)]
        try:
            done = subprocess.run(
                command, env=os.environ | kernels, capture_output=True, text=True, timeout=WATCHDOG, cwd=folder, check=False
            )
            output, code, told = done.stdout, done.returncode, done.stderr
        except subprocess.TimeoutExpired as late:
            output, code, told = (late.stdout or b"").decode(), "too late", ""
        at = None
        for line in map(json.loads, output.splitlines()):
            if "starts" in line:
                at = line["starts"]
            else:
                left.remove(line["ends"])
                at = None
                found += [f"{NAMES[line['ends']]}: {problem}" for problem in line["problems"]]
        if code or at is not None:
            name = "before the first" if at is None else NAMES[at]
            found.append(f"{name}: the process ended ({code}): {told[-2000:]}")
            if at is None:
                break
            left.remove(at)
    return found


@pytest.mark.parametrize(("mode", "numbers"), BATCHES)
def test_calls(mode: str, numbers: tuple[int, ...], tmp_path: Path) -> None:
    problems = problems_of(mode, numbers, tmp_path)
    assert not problems, "\n".join(problems)


def test_a_process_that_dies_is_a_failure_of_its_program(tmp_path: Path) -> None:
    (problem,) = problems_of("off", (0, 1, 2), tmp_path, ("-c", DYING))
    assert problem.startswith(f"{NAMES[1]}: the process ended")
