"""A process that reads files in turn, and tells of each what came of it: `python worker.py < paths`.

Every line of standard input is the name of a reader and a path, as JSON; every line of standard output is what the reader did
(`read`, the code of its message, or `bug` and a traceback), the seconds of processor time it took, and the most bytes resident.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rho.backend.io.reading import InputSpec, read_shape, read_values
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Span
from rho.typechecker.elements import Kind

SPAN = Span("x", 0, 0)
DATA = {
    "npy": ("f64", 2), "npy text": ("char", 1), "npz": ("f64", 2), "csv": ("f64", 2), "csv i64": ("i64", 2), "tsv": ("c128", 2),
    "png": ("u8", 2), "png colour": ("u8", 3), "png palette": ("u8", 3), "parquet": ("f64", 2), "txt": ("char", 1),
    "txt lines": ("char", 2), "zarr 2": ("f64", 2), "zarr 3": ("f64", 2), "zarr shards": ("f64", 2), "zarr zip": ("f64", 2),
}  # fmt: skip


def data(name: str) -> Callable[[str], object]:
    kind, rank = Kind(DATA[name][0]), DATA[name][1]

    def read(path: str) -> object:
        shape = read_shape(path, InputSpec(kind, rank, SPAN))
        if len(shape) != rank or any(size < 0 for size in shape):
            raise AssertionError(f"a shape of another rank: {shape}")
        most = 1
        for size in shape:
            most *= max(1, size)
        if most > 50_000_000:  # what `--max-memory` is for
            return None
        values = read_values(path, InputSpec(kind, len(shape), SPAN), shape)
        if values.shape != shape:
            raise AssertionError(f"read {values.shape}, bound {shape}")
        return values

    return read


def plan(path: str) -> object:
    from rho.shell.execution.stored_plans import read_plan

    return read_plan(path)


def profile(path: str) -> object:
    from rho.backend.devices.this_machine import load_profile

    return load_profile(path)


def calibration(path: str) -> object:
    from rho.backend.devices import this_machine

    folder = Path(path).parent
    facts = this_machine.HostFacts(2, 1 << 30, "model")
    kept = this_machine.cache_file(this_machine.host_profile(facts, "numpy", {**facts.facts(), "numpy": "2"}), folder)
    os.replace(path, kept)
    return this_machine.machine_profile(facts, "numpy", "2", folder)


def instance(path: str) -> object:
    from rho.backend.schedule.instances.directive_resolution import DirectivesRejected
    from rho.backend.schedule.instances.solve_instance import read_instance
    from rho.lang.support.files import read_text

    with contextlib.suppress(DirectivesRejected, UnicodeDecodeError):
        return read_instance(path, read_text(path, 1 << 26), None if path.endswith(".json") else 2)
    return None


def devices(path: str) -> object:
    from rho.backend.schedule.instances.instance_json import requested_devices

    found = requested_devices(path)
    return found if isinstance(found, int) else found(1)


def session(path: str) -> object:
    from rho.shell.console.process_exit import UsageError
    from rho.shell.console.standard_streams import read_source
    from rho.shell.workspace.exchange import doctest_problems, statements_of_transcript

    with contextlib.suppress(UsageError):
        return doctest_problems(statements_of_transcript(read_source(path).text), path)
    return None


def settings(path: str) -> object:
    from rho.shell.repl import status_line as kept

    return kept.load_settings({"XDG_STATE_HOME": str(Path(path).parent.parent)})


def verdict(path: str) -> object:
    from rho.typechecker.proof import solver

    os.environ["XDG_CACHE_HOME"] = str(Path(path).parent)
    content = Path(path).read_bytes()
    solver.CACHE.write("question", content)  # as one of this user's runs would have
    return solver.read("question")


OTHERS: dict[str, Callable[[str], object]] = {
    "plan": plan, "profile": profile, "calibration": calibration, "instance": instance, "instance stg": instance,
    "instance dot": instance, "devices": devices, "session": session, "settings": settings, "verdict": verdict,
}  # fmt: skip
NAMES = (*DATA, *OTHERS)


def outcome(reader: Callable[[str], object], path: str) -> str:
    try:
        reader(path)
    except RhoError as error:
        return error.diagnostics[0].code
    except BaseException:
        return "bug " + traceback.format_exc()[-2000:]
    return "read"


def status(name: str) -> int:
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))


def reset() -> None:
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def main() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    readers: dict[str, Any] = {name: data(name) for name in DATA} | OTHERS
    for line in sys.stdin:
        name, path = json.loads(line)
        reset()
        start = time.process_time()
        found = outcome(readers[name], path)
        print(json.dumps([found, time.process_time() - start, status("VmHWM")]), flush=True)


if __name__ == "__main__":
    main()
