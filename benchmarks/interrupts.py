"""Times how long programs of every kind of phase take to stop after Ctrl-C and `--max-time`, as a command and called from Python.

    python benchmarks/interrupts.py [NAME…]

The limit is 0.5 s after the signal, or 0.5 s and a tenth of the time limit after that of `--max-time` (from the start of the
process, without its start-up time).  Without names it writes benchmarks/results/interrupts.md.  Measure on an idle machine.
"""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "interrupts"))

from programs import PROGRAMS  # noqa: E402

COMMAND = ["-m", "rho.shell", "eval"]
CALL = ["-c", "import rho, sys; rho.eval(sys.argv[1])"]
MOMENTS = (1.0, 2.0, 3.0)
LIMIT = 2.0
MOST = 60.0
BAR = 0.5


def stopped(words: list[str], after: float, folder: str) -> float | None:
    """The seconds from an interrupt, `after` so many seconds, to the end of the process; None if it had ended before."""
    process = subprocess.Popen([sys.executable, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(after)
        return None
    except subprocess.TimeoutExpired:
        pass
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        process.wait(MOST)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return time.monotonic() - sent


def limited(program: str, start: float, folder: str) -> float:
    """The seconds beyond the limit of `--max-time`."""
    begun = time.monotonic()
    words = [sys.executable, *COMMAND, program, "--max-time", f"{LIMIT:g}"]
    subprocess.run(words, cwd=folder, capture_output=True, timeout=LIMIT + MOST, check=False)
    return max(0.0, time.monotonic() - begun - start - LIMIT)


def shown(seconds: float | None, bar: float) -> str:
    return "-" if seconds is None else f"{seconds:.2f}" + (" ✗" if seconds > bar else "")


def main() -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # background jobs of a shell and their children ignore it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    names = sys.argv[1:] or list(PROGRAMS)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        subprocess.run([sys.executable, *COMMAND, "+/√⍳100000"], cwd=folder, capture_output=True, check=False)
        start = time.monotonic() - begun
        lines = [
            "# Interrupts", "",
            f"`python benchmarks/interrupts.py`, {platform.machine()}, {os.cpu_count()} processors, load {load:.1f}. "
            f"Seconds until the process is gone: the longest of Ctrl-C after {MOMENTS[0]:g} to {MOMENTS[-1]:g} s, and beyond "
            f"`--max-time {LIMIT:g}`. ✗: above {BAR} s. Inside a call of a library Python hears nothing until it returns.", "",
            "| program | command, Ctrl-C | command, limit | call from Python, Ctrl-C |", "|---|---|---|---|",
        ]  # fmt: skip
        print(*lines, sep="\n")
        for name in names:
            program = PROGRAMS[name]
            row = []
            for words in (COMMAND, CALL):
                found = [seconds for after in MOMENTS if (seconds := stopped([*words, program], after, folder)) is not None]
                row.append(shown(max(found, default=None), BAR))
            row.insert(1, shown(limited(program, start, folder), BAR + LIMIT / 10))
            lines.append(f"| {name} | {' | '.join(row)} |")
            print(lines[-1], flush=True)
    if len(sys.argv) == 1:
        (ROOT / "benchmarks" / "results" / "interrupts.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
