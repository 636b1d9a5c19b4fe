"""Compares Rho in tiles with dask.array and python-blosc2 on files larger than memory.

    pip install --target PEERS 'dask[array]' blosc2
    python benchmarks/streams.py [--size 1GB] [--limit 64MB] [--rounds 3] [--peers PEERS] [--cold] [--write results/streams.md]

Every measurement is a separate process with two threads; the sides alternate.  It runs the program on a small file first, so that
imports are not counted, then on the large one; the kernels have been compiled by an earlier process of Rho.  Seconds, the least
of the rounds, are from opening the files, with Rho's check and plan.  Memory is the growth of the peak (`VmHWM`, the most of the
rounds, with mapped pages of files).  Bytes are those read by Rho's system calls (`rchar`), and those of its plan, which counts
the most that masks can select.  Rho and dask read the same `.npy` files, which dask maps, as in its documentation; blosc2 reads
its own arrays (`.b2nd`, with default compression).  `--cold` drops the files from the page cache before each measurement.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

COLUMNS: Final = 16
BINS: Final = 100
CHUNK: Final = 16 << 20
"""The bytes of a chunk of dask."""


@dataclass(frozen=True)
class Case:
    """A program, and its equivalents in dask and blosc2 (None if there is none)."""

    name: str
    inputs: tuple[str, ...]
    program: str
    dask: Callable[[Any, dict[str, Any], Path], Any] | None = None
    blosc2: Callable[[Any, dict[str, Any]], Any] | None = None
    writes: bool = False


_X = "input x : f64[n]\n"
_M = f"input m : f64[n {COLUMNS}]\n"
_MEANS: Final = f"""nearest ← {{⊃⍋⍵}}⍤1
step ← {{l ← nearest {{+/(m (-⍤1⍤1 2) ⍵)*2}} ⍵ ⋄ (4 +⌸ (l ⋄ m))÷1⌈4 +⌸ (l ⋄ 1)}}
step⍣3 ⊢ (4 {COLUMNS})⍴⍳{4 * COLUMNS}"""


def _transposed(da: Any, given: dict[str, Any], folder: Path) -> None:
    m = given["m"].T
    file = np.lib.format.open_memmap(folder / "dask.npy", "w+", m.dtype, m.shape)
    da.store(m, file, lock=False)
    file.flush()


CASES: Final = (
    Case(
        "map and reduce", ("x",), _X + "+/(1+x×x)*0.5",
        lambda da, given, folder: da.sqrt(1 + given["x"] * given["x"]).sum().compute(),
        lambda b2, given: b2.sum(b2.sqrt(1 + given["x"] * given["x"])),
    ),
    Case(
        "column means", ("m",), _M + "(+⌿m)÷≢m",
        lambda da, given, folder: given["m"].mean(axis=0).compute(),
        lambda b2, given: b2.mean(given["m"], axis=0),
    ),
    Case("scan", ("x",), _X + "⌈/+\\x", lambda da, given, folder: da.cumsum(given["x"], axis=0).max().compute()),
    Case(
        "keyed sums", ("x", "k"), _X + f"input k : idx<{BINS}>[n]\n{BINS} +⌸ (k ⋄ x)",
        lambda da, given, folder: da.bincount(given["k"], weights=given["x"], minlength=BINS).compute(),
    ),
    Case(
        "columns multiplied", ("m",), _M + "(⍉m)+.×m",
        lambda da, given, folder: (given["m"].T @ given["m"]).compute(),
    ),
    Case(
        "filter", ("x",), _X + "y ← (x>0.5)/x\n+/y×y",
        lambda da, given, folder: (given["x"][given["x"] > 0.5] ** 2).sum().compute(),
    ),
    Case("sort", ("x",), _X + "z ← x[⍋x]\noutput z", writes=True),
    Case("k-means, 3 turns", ("m",), _M + _MEANS),
    Case("transposition", ("m",), _M + "z ← ⍉m\noutput z", _transposed, writes=True),
)  # fmt: skip


# ------------------------------------------------------------------------------------ one measurement


def _status(word: str) -> int:
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(word))


def _read() -> int:
    with open("/proc/self/io", encoding="ascii") as file:
        return int(file.readline().split()[1])


def _forget(folder: Path) -> None:
    for path in folder.iterdir():
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _rho(case: Case, folder: Path, limit: int) -> tuple[Callable[[], Any], dict[str, float]]:
    from rho.backend.io.writing import prepare_values, write_together
    from rho.lang.syntax.source import Source, Span
    from rho.shell.execution.run_request import Limits, RunRequest
    from rho.shell.execution.streaming import passes_of, plans_of, predicted_seconds
    from rho.shell.pipeline import Session

    session = Session()
    checked = session.check(Source("benchmark.rho", case.program))
    inputs = {name: str(folder / f"{name}.npy") for name in case.inputs}
    outputs = {"z": str(folder / "rho.npy")} if case.writes else {}
    loaded = session.load(checked, RunRequest(inputs, {}, outputs, Limits(limit)))
    assert loaded.plan.stores, f"{case.name} is run in tiles"
    steps = [step for plan in plans_of(loaded) for step in passes_of(plan)]

    def run() -> None:
        outcome, span = Session().run(loaded), Span("benchmark.rho", 0, 0)
        write_together([prepare_values(outputs[name], one.value, one.kind, span) for name, one in outcome.outputs.items()])

    return run, {"predicted": predicted_seconds(loaded), "passes": len(steps), "planned": sum(step.reads for step in steps)}


def _dask(case: Case, folder: Path, limit: int) -> tuple[Callable[[], Any], dict[str, float]]:
    import dask
    import dask.array as da

    dask.config.set(scheduler="threads", num_workers=2)
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in case.inputs}
    chunks = {name: (max(1, CHUNK * len(one) // one.nbytes), *one.shape[1:]) for name, one in arrays.items()}
    if len(chunks) > 1:
        chunks = dict.fromkeys(chunks, min(chunks.values()))
    given = {name: da.from_array(one, chunks=chunks[name], name=False) for name, one in arrays.items()}
    compute = case.dask
    assert compute is not None
    return lambda: compute(da, given, folder), {}


def _blosc2(case: Case, folder: Path, limit: int) -> tuple[Callable[[], Any], dict[str, float]]:
    import blosc2

    blosc2.set_nthreads(2)
    given = {name: blosc2.open(str(folder / f"{name}.b2nd"), mode="r") for name in case.inputs}
    assert case.blosc2 is not None
    compute = case.blosc2
    return lambda: compute(blosc2, given), {}


SIDES: Final = {"rho": _rho, "dask": _dask, "blosc2": _blosc2}


def measure(side: str, case: Case, small: Path, large: Path, limit: int, *, cold: bool) -> dict[str, float]:
    """Measure one side in this process."""
    run, _ = SIDES[side](case, small, limit // 4)
    run()
    if cold:
        _forget(large)
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")
    memory, read, start = _status("VmHWM"), _read(), time.perf_counter()
    run, more = SIDES[side](case, large, limit)
    run()
    return {"seconds": time.perf_counter() - start, "memory": _status("VmHWM") - memory, "read": _read() - read, **more}


# ------------------------------------------------------------------------------------ all of them


def _store(folder: Path, bytes_: int, names: set[str], *, blosc: bool) -> Path:
    folder.mkdir(exist_ok=True)
    draw, n = np.random.default_rng(1), bytes_ // 8
    rows = n // COLUMNS
    shapes = {"x": (n,), "m": (rows, COLUMNS), "k": (n,)}
    for name in sorted(names):
        shape = shapes[name]
        kind = np.int64 if name == "k" else np.float64
        file = np.lib.format.open_memmap(folder / f"{name}.npy", "w+", kind, shape)
        step = max(1, CHUNK * len(file) // file.nbytes)
        for first in range(0, len(file), step):
            part = file[first : first + step]
            part[...] = draw.integers(0, BINS, part.shape) if name == "k" else draw.standard_normal(part.shape)
        file.flush()
        if blosc and name != "k":
            import blosc2

            blosc2.asarray(file, urlpath=str(folder / f"{name}.b2nd"), mode="w")
        del file
    return folder


def _bytes(text: str) -> int:
    units = {"KB": 10**3, "MB": 10**6, "GB": 10**9}
    return int(float(text[:-2]) * units[text[-2:].upper()])


def _has(name: str) -> bool:
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def _again(side: str, case: Case, folder: Path, options: argparse.Namespace) -> dict[str, float]:
    """Measure one side in a separate process."""
    code = [sys.executable, __file__, "--one", f"{side}:{case.name}", "--folder", str(folder), "--limit", options.limit]
    code += ["--peers", options.peers, *(["--cold"] if options.cold else [])]
    made = subprocess.run(code, capture_output=True, text=True, check=False)
    if made.returncode:
        raise SystemExit(made.stderr)
    found: dict[str, float] = json.loads(made.stdout.splitlines()[-1])
    return found


def _row(case: Case, found: dict[str, list[dict[str, float]]], limit: int) -> str:
    least = {side: min(one["seconds"] for one in runs) for side, runs in found.items()}
    most = {side: max(one["memory"] for one in runs) for side, runs in found.items()}
    rho = found["rho"][0]
    read = sum(one["read"] for one in found["rho"]) / len(found["rho"]) / rho["planned"]
    cells = [case.name, f"{least['rho']:.2f}", *(f"{least[s]:.2f}" if s in least else "—" for s in ("dask", "blosc2"))]
    cells += [f"{most['rho'] / 1e6:.0f}", *(f"{most[s] / 1e6:.0f}" if s in most else "—" for s in ("dask", "blosc2"))]
    cells += [f"{most['rho'] / limit:.2f}", f"{read:.3f}", f"{rho['predicted'] / least['rho']:.2f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="1GB", help="of each file")
    parser.add_argument("--limit", default="64MB", help="memory that Rho may take")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="parts of the cases' names")
    parser.add_argument("--peers", default="", help="a folder that dask and blosc2 were installed to")
    parser.add_argument("--folder", default="", help="for the files; a temporary one if not given")
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peers:
        sys.path.append(options.peers)
    limit, size = _bytes(options.limit), _bytes(options.size)
    if options.one:
        side, _, name = options.one.partition(":")
        (case,) = [case for case in CASES if case.name == name]
        small, large = Path(options.folder) / "small", Path(options.folder) / "large"
        print(json.dumps(measure(side, case, small, large, limit, cold=options.cold)))
        return
    sides = ["rho", *(side for side in ("dask", "blosc2") if _has(side))]
    cases = [case for case in CASES if any(part in case.name for part in options.only.split(","))]
    names = {name for case in cases for name in case.inputs}
    with tempfile.TemporaryDirectory(dir=options.folder or None) as name:
        folder = Path(name)
        _store(folder / "small", limit // 2, names, blosc="blosc2" in sides)
        _store(folder / "large", size, names, blosc="blosc2" in sides)
        asked = f"--size {options.size} --limit {options.limit} --rounds {options.rounds}{' --cold' if options.cold else ''}"
        asked += f" --only '{options.only}'" if options.only else ""
        lines = [
            f"`python benchmarks/streams.py {asked}`, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}.",
            "Each file has that size, and Rho that limit; `benchmarks/streams.py` says what is measured. —: nothing for it.",
            "",
            "| program | Rho, s | dask, s | blosc2, s | Rho, MB | dask, MB | blosc2, MB | MB ÷ limit | read ÷ plan | said ÷ s |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        print("\n".join(lines), flush=True)
        for case in cases:
            none = {"dask": case.dask is None, "blosc2": case.blosc2 is None}
            own = [side for side in sides if not none.get(side)]
            found: dict[str, list[dict[str, float]]] = {side: [] for side in own}
            _again("rho", case, folder, options)  # compiles the kernels into the cache
            for _ in range(options.rounds):
                for side in own:
                    found[side].append(_again(side, case, folder, options))
            lines.append(_row(case, found, limit))
            print(lines[-1], flush=True)
    if options.write:
        options.write.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
