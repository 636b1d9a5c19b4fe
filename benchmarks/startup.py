"""Times `rho run` of each example, as its second run and later ones, compared with `python -c 'import numpy'`.

Processor time of the process (user and system).  Each program runs in a copy of `examples/`, with a cache folder that only these
runs fill: `WARMING` runs first, then `--rounds` measured ones, each beside a run of the import.  A program's ratio is the median
of those of its pairs, so that a change of the machine's speed affects both.  Run:

    python benchmarks/startup.py                all, a minute
    python benchmarks/startup.py kmeans sales   these
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
NUMPY = (sys.executable, "-c", "import numpy")
WARMING = 3
LIMIT = 4.0  # times the import of NumPy


def processor_seconds(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> float:
    """User and system time of a command, which must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(names: Sequence[str], rounds: int) -> dict[str, tuple[float, float, float]]:
    """By name of an example: the median seconds of a run, those of the imports beside it, and the median ratio."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "examples")
        shutil.copytree(EXAMPLES, folder)
        environment = {**os.environ, "XDG_CACHE_HOME": str(Path(temporary, "cache"))}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        commands = {name: (sys.executable, "-m", "rho.shell", "run", f"{name}.rho") for name in names}
        for command in (NUMPY, *commands.values()):
            for _ in range(WARMING):
                processor_seconds(command, folder, environment)
        pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
        for _ in range(rounds):
            for name, command in commands.items():
                numpy = processor_seconds(NUMPY, folder, environment)
                pairs[name].append((processor_seconds(command, folder, environment), numpy))
    return {
        name: (
            statistics.median(run for run, _ in times),
            statistics.median(numpy for _, numpy in times),
            statistics.median(run / numpy for run, numpy in times),
        )
        for name, times in pairs.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=sorted(path.stem for path in EXAMPLES.glob("*.rho")))
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    ratios = {}
    print(f"machine  {platform.platform()}, {os.cpu_count()} processors; Python {platform.python_version()}")
    print(f"{'example':<16}  rho run  import numpy  ratio")
    for name, (run, numpy, ratio) in measure(options.names, options.rounds).items():
        ratios[name] = ratio
        print(f"{name:<16} {run * 1000:5.0f} ms {numpy * 1000:10.0f} ms {ratio:6.2f}")
    slow = [name for name, ratio in ratios.items() if ratio > LIMIT]
    print(f"{len(ratios) - len(slow)} of {len(ratios)} at most {LIMIT} × import numpy; not: {', '.join(slow) or 'none'}")
    print(json.dumps(ratios))
    return 0 if not slow else 1


if __name__ == "__main__":
    sys.exit(main())
