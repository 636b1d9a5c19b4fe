"""Times the latency from a keystroke in an editor to its diagnostics, hover and completion, with `rho lsp` in another process.

The scripts are those of `definitions.py`: 300 lines with 0 and 20 of 60 definitions that need the solver, and 1,000 lines with
200 definitions.  In each of `DEFINITIONS` definitions a statement is typed key by key, each key after the diagnostics of the
one before; most texts in between are malformed.  `keystroke` is the time from sending the edit to its diagnostics; `hover`,
`hints`, `completion` and `colours` are requests after one more key each.  The results are medians and maxima in milliseconds;
`processor` is the server's processor time for a keystroke, which depends less on other load.  Run:

    python benchmarks/editor.py [easy|hard|large …]
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "lsp"))
from client import Client
from definitions import script

DEFINITIONS = 6
TYPED = "twice ← 2×⍵ ⋄ "
LIMIT = 50.0  # milliseconds
SCRIPTS = {"easy": (0, 60), "hard": (20, 60), "large": (0, 200)}
"""(the definitions that need the solver, all definitions) of each script."""
URI = "untitled:script"


class Typist:
    """An editor with one document."""

    def __init__(self, text: str) -> None:
        self.client = Client()
        self.lines = text.splitlines()
        self.version = 1
        started = time.perf_counter()
        self.client.open(URI, text)
        self.client.diagnostics(URI, 1)
        self.opened = (time.perf_counter() - started) * 1000

    def key(self, line: int, column: int, text: str) -> float:
        """Type one key; the milliseconds until its diagnostics arrive."""
        self.version += 1
        at = {"line": line, "character": column}
        started = time.perf_counter()
        self.client.change(URI, self.version, {"range": {"start": at, "end": at}, "text": text})
        self.client.diagnostics(URI, self.version)
        return (time.perf_counter() - started) * 1000

    def processor(self) -> float:
        """The processor time of the server so far, in milliseconds (Linux)."""
        stat = Path(f"/proc/{self.client.process.pid}/stat")
        if not stat.exists():
            return float("nan")
        fields = stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def body(self, definition: int) -> tuple[int, int]:
        """The position just inside the braces of a definition."""
        line = next(i for i, line in enumerate(self.lines) if line.startswith(f"fn{definition} ← "))
        return line, self.lines[line].index("{") + 1


def timed(ask: Callable[[], object]) -> float:
    started = time.perf_counter()
    ask()
    return (time.perf_counter() - started) * 1000


def measure(hard: int, definitions: int) -> dict[str, object]:
    typist = Typist(script(hard, definitions))
    keys: list[float] = []
    before = typist.processor()
    for definition in range(0, definitions, definitions // DEFINITIONS):
        line, column = typist.body(definition)
        keys += [typist.key(line, column + offset, key) for offset, key in enumerate(TYPED)]
    processor = (typist.processor() - before) / len(keys)
    asked: dict[str, list[float]] = {"hover": [], "hints": [], "completion": [], "colours": []}
    for definition in range(0, definitions, definitions // DEFINITIONS):
        line, column = typist.body(definition)
        shown = {"start": {"line": max(line - 25, 0), "character": 0}, "end": {"line": line + 25, "character": 0}}
        typist.key(line, column, " ")
        asked["hover"].append(timed(lambda at=(line, 1): typist.client.ask("hover", URI, at)))
        asked["hints"].append(timed(lambda shown=shown: typist.client.ask("inlayHint", URI, range=shown)))
        asked["completion"].append(timed(lambda at=(line, column): typist.client.ask("completion", URI, at)))
        asked["colours"].append(timed(lambda: typist.client.ask("semanticTokens/full", URI)))
    typist.client.close()
    return {
        "opened": round(typist.opened, 1),
        "keystroke": {**summary(keys), "processor": round(processor, 1)},
        **{name: summary(found) for name, found in asked.items()},
    }


def summary(found: list[float]) -> dict[str, float | int]:
    ordered = sorted(found)
    return {
        "median": round(statistics.median(found), 1),
        "p95": round(ordered[int(len(ordered) * 0.95)], 1),
        "slowest": round(ordered[-1], 1),
        "count": len(found),
    }


def main() -> None:
    found: dict[str, object] = {"python": platform.python_version(), "machine": platform.machine(), "limit": LIMIT}
    for name in sys.argv[1:] or SCRIPTS:
        found[name] = measure(*SCRIPTS[name])
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
