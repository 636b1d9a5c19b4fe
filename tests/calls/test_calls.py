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


def problems_of(mode: str, numbers: tuple[int, ...], folder: Path) -> list[str]:
    """What is wrong with these programs, by name."""
    found: list[str] = []
    left = list(numbers)
    kernels = {"RHO_KERNELS": mode, "RHO_KERNEL_CACHE": str(folder / "kernels")}
    while left:
        command = [sys.executable, "-m", "rho.tests.calls.worker", str(REPEATS), str(THREADS), *map(str, left)]
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
    if mode in ("warm", "always"):
        pytest.importorskip("llvmlite")
    problems = problems_of(mode, numbers, tmp_path)
    assert not problems, "\n".join(problems)
