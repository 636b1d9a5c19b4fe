"""Runs programs one after another, as `rho eval` does, or commands in folders, and says of each how it ended; for `test_programs`
and `test_verbs`.

Each line of standard input is a program, or the words of a command and its folder, as JSON.  Each line of standard output is
`[exit code, what was printed, seconds]`, of a program that raised the traceback.  The memory of the process is limited.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import sys
import time
import traceback
from pathlib import Path
from unittest import mock

MOST_MEMORY = 3 << 30  # of address space; libraries reserve some that they never touch
WORDS = ("--max-time", "1", "--max-memory", "100MB")


def one(given: str | tuple[list[str], str]) -> tuple[object, str]:
    from rho.shell.main import main

    shown = io.StringIO()
    words = ["eval", given, *WORDS] if isinstance(given, str) else given[0]
    if not isinstance(given, str):
        os.chdir(given[1])
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown), open(os.devnull, encoding="utf-8") as nothing:
        try:
            with mock.patch.object(sys, "stdin", nothing):
                code: object = int(main(words))
        except BaseException:
            return "raised", traceback.format_exc()
    return code, shown.getvalue()


def peak_megabytes() -> int:
    """Of this process; `ru_maxrss` counts the process that started it too."""
    if not Path("/proc/self/status").exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    (line,) = [line for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) >> 10


def run() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    for line in sys.stdin.buffer.read().splitlines():
        start = time.process_time()
        code, text = one(json.loads(line))
        peak = peak_megabytes()
        print(json.dumps([code, text[-2000:], time.process_time() - start, peak]), flush=True)


if __name__ == "__main__":
    run()
