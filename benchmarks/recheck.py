"""Times checking a 300-line script with 60 annotated definitions again, in process, after one definition has changed.

The scripts are those of `definitions.py` with 0 and 20 definitions that need the solver.  `whole` checks a version alone,
`edited` with a `Checker` that has checked the version before; every edit changes the length of another definition, so that all
text below it moves. The results are medians of `REPEATS` edits in milliseconds.  Run:

    python benchmarks/recheck.py
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable

from definitions import script

from rho.lang.syntax.source import Source
from rho.typechecker.check import Checker, CheckResult, check

REPEATS = 40
LIMIT = 50.0  # milliseconds


def version(text: str, at: int) -> Source:
    """The script with definition `at` changed."""
    lines = text.splitlines()
    line = next(i for i, line in enumerate(lines) if line.startswith(f"fn{at} ← "))
    lines[line] = lines[line].replace("{", "{unused ← 1 ⋄ ", 1)
    return Source("script.rho", "\n".join(lines) + "\n")


def measure(text: str, run: Callable[[Source], CheckResult]) -> tuple[float, float]:
    """(median, maximum) milliseconds over edits of one definition after another."""
    taken = []
    for at in range(REPEATS):
        source = version(text, at)
        started = time.perf_counter()
        run(source)
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken), max(taken)


def main() -> None:
    os.environ["RHO_VERDICTS"] = "off"
    found: dict[str, object] = {"python": platform.python_version(), "machine": platform.machine(), "limit": LIMIT}
    for name, hard in (("easy", 0), ("hard", 20)):
        text = script(hard)
        checker = Checker()
        checker.check(Source("script.rho", text))
        whole, edited = measure(text, check), measure(text, checker.check)
        found[name] = {
            "whole": {"median": round(whole[0], 1), "slowest": round(whole[1], 1)},
            "edited": {"median": round(edited[0], 1), "slowest": round(edited[1], 1)},
        }
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
