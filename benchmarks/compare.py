"""Compares the speed of two builds of Rho on the same rows.

    python benchmarks/compare.py OLD NEW [--rounds 31] [--only W1,W4] [--calls] [--write results/file.md]

OLD and NEW are commits of this repository or folders with a checkout.  Each build runs in its own process, in interleaved rounds
whose order alternates.  A time is the least of the rounds.  The rows are the workloads of NEW (`workloads.py`, prepared plans,
the largest size of each kind), with `--calls` also the small functions of `calls.py`; a row whose program OLD does not accept has
no ratio.  On two equal builds the geometric mean is 1.00 ± 0.02; check that first on a new machine.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import IO, Any

HERE = Path(__file__).resolve().parents[1]
LEAST_SECONDS = 0.01
"""The least duration of a round, which calls a row at least once."""


@dataclass(frozen=True)
class Row:
    """The seconds of a call in each build; None if the build cannot run it."""

    name: str
    old: float | None
    new: float | None

    def ratio(self) -> float | None:
        return None if self.old is None or self.new is None else self.new / self.old

    def markdown(self) -> str:
        old, new = ("" if seconds is None else f"{seconds * 1e3:.4g}" for seconds in (self.old, self.new))
        ratio = self.ratio()
        return f"| {self.name} | {old} | {new} | {'' if ratio is None else f'{ratio:.3f}'} |"


class Build:
    """A process that imports one build and times rows on request."""

    def __init__(self, folder: Path, rows: Path, links: Path) -> None:
        links.mkdir()
        (links / "rho").symlink_to(folder, target_is_directory=True)
        paths = os.pathsep.join([str(links), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = os.environ | {"PYTHONPATH": paths, "XDG_CACHE_HOME": str(links / "cache")}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--serve", str(rows)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def ask(self, *words: str) -> Any:
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None and answers is not None
        requests.write(json.dumps(words) + "\n")
        requests.flush()
        line = answers.readline()
        if not line:
            raise SystemExit(f"a build ended while it was asked {words}")
        return json.loads(line)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def serve(rows: Path, requests: IO[str], answers: IO[str]) -> None:
    """Answer the requests `["names"]`, `["prepare", row]` (null if it cannot run) and `["time", row]` (seconds), one a line."""
    known = _rows(rows)
    ready: dict[str, Any] = {}
    for line in requests:
        verb, *names = json.loads(line)
        answer: Any = [*known]
        if verb == "prepare":
            ready.clear()  # keep the arrays of one row only
            try:
                ready[names[0]] = _warmed(known[names[0]]())
                answer = True
            except Exception as error:  # the program may be invalid in another build
                print(f"{names[0]}: {error}", file=sys.stderr)
                answer = None
        elif verb == "time":
            answer = _seconds(ready[names[0]])
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _rows(benchmarks: Path) -> dict[str, Any]:
    """The rows that the newer build's scripts define, run with the build of this process."""
    import importlib.util

    import numpy as np

    def loaded(name: str) -> Any:
        spec = importlib.util.spec_from_file_location(f"rows_{name}", benchmarks / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module

    workloads, calls = loaded("workloads"), loaded("calls")

    def workload(work: Any, kind: str) -> Any:
        given = work.make(work.sizes[-1], np.float32 if kind == "f32" else np.float64, np.random.default_rng(1))
        return workloads.planned(work, kind, given, 2, True)

    def call(one: Any, size: int) -> Any:
        import rho

        function, given = rho.compile(one.text), one.make(size)
        return lambda: function(*given)

    rows: dict[str, Any] = {}
    for work in workloads.WORKLOADS:
        for kind in work.kinds:
            rows[f"{work.name} {kind} {work.sizes[-1]}"] = lambda work=work, kind=kind: workload(work, kind)
    for one in calls.CALLS:
        for size in one.sizes:
            rows[f"call {one.name} {size}"] = lambda one=one, size=size: call(one, size)
    return rows


def _warmed(run: Any) -> Any:
    """Call a row until all code that tiering compiles has been compiled."""
    import time

    start, calls = time.perf_counter(), 0
    while calls < 4 or (calls < 3000 and time.perf_counter() - start < 0.5):
        run()
        calls += 1
    return run


def _seconds(run: Any) -> float:
    import time

    run()
    start, calls = time.perf_counter(), 0
    while True:
        run()
        calls += 1
        passed = time.perf_counter() - start
        if passed >= LEAST_SECONDS:
            return passed / calls


def checkout(build: str, folder: Path) -> Path:
    """The folder of a build: the given one, or `folder` after extracting a commit into it."""
    if Path(build).is_dir():
        return Path(build).resolve()
    folder.mkdir()
    archive = subprocess.run(["git", "archive", build], cwd=HERE, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    return folder


def compared(old: Build, new: Build, names: list[str], rounds: int) -> Iterator[Row]:
    for name in names:
        accepted = {"old": old.ask("prepare", name), "new": new.ask("prepare", name)}
        times: dict[str, list[float]] = {"old": [], "new": []}
        for turn in range(rounds):
            for which, build in (("old", old), ("new", new))[:: 1 if turn % 2 else -1]:
                if accepted[which]:
                    times[which].append(build.ask("time", name))
        yield Row(name, min(times["old"], default=None), min(times["new"], default=None))


def summary(rows: list[Row]) -> str:
    ratios = [ratio for row in rows if (ratio := row.ratio()) is not None]
    if not ratios:
        return "no row ran in both builds"
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return f"{len(ratios)} rows: geometric mean of new ÷ old {mean:.3f}, slowest {max(ratios):.3f}, fastest {min(ratios):.3f}"


def main() -> None:
    if sys.argv[1:2] == ["--serve"]:
        serve(Path(sys.argv[2]), sys.stdin, sys.stdout)
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", help="a commit or a folder")
    parser.add_argument("new", help="a commit or a folder")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--only", default="", help="parts of the rows' names, separated by commas")
    parser.add_argument("--calls", action="store_true", help="small functions too")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        trees = checkout(options.old, scratch / "old"), checkout(options.new, scratch / "new")
        old, new = (Build(tree, trees[1] / "benchmarks", scratch / f"link{number}") for number, tree in enumerate(trees))
        wanted = options.only.split(",") if options.only else []
        names = [
            name for name in new.ask("names")
            if (options.calls or not name.startswith("call ")) and (not wanted or any(part in name for part in wanted))
        ]  # fmt: skip
        lines = [
            f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, milliseconds a call, "
            f"least of {options.rounds} rounds; {date.today()}, load average {os.getloadavg()[0]:.1f}; "
            f"old {options.old}, new {options.new}",
            "", "| row | old | new | new ÷ old |", "|---|---|---|---|",
        ]  # fmt: skip
        print("\n".join(lines), flush=True)
        rows = []
        for row in compared(old, new, names, options.rounds):
            rows.append(row)
            print(row.markdown(), flush=True)
        lines += [*(row.markdown() for row in rows), "", summary(rows)]
        print("\n" + lines[-1])
        old.close()
        new.close()
    if options.write:
        options.write.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
