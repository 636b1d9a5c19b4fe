"""Runs programs one after another, as `rho eval` does, and says of each how it ended; for `test_programs`.

Each line of standard input is a program as JSON.  Each line of standard output is `[exit code, what was printed, seconds]`,
of a program that raised the traceback.  The memory of the process is limited.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sys
import time
import traceback

MOST_MEMORY = 3 << 30  # of address space; libraries reserve some that they never touch
WORDS = ("--max-time", "1", "--max-memory", "100MB")


def one(program: str) -> tuple[object, str]:
    from rho.shell.main import main

    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        try:
            code: object = int(main(["eval", program, *WORDS]))
        except BaseException:
            return "raised", traceback.format_exc()
    return code, shown.getvalue()


def run() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    for line in sys.stdin.buffer.read().splitlines():
        start = time.process_time()
        code, text = one(json.loads(line))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        print(json.dumps([code, text[-2000:], time.process_time() - start, peak]), flush=True)


if __name__ == "__main__":
    run()
