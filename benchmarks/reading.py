"""Measures the bytes that are read of an input's file: in tiles, by the workers of `local:2`, and from a server on the loopback.

    python benchmarks/reading.py [--rows 4000000] [--write results/reading.md]

For files it is `rchar` in `/proc/PID/io` (the bytes read by system calls) of this process and its descendants in a second run;
for the server the bytes of bodies that it sent in a cold run, with all requests about the file.  Texts are read once more to
count their lines.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

import rho
from rho.shell.console.standard_streams import Console
from rho.shell.main import main as run_command

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "harness"))
from serving import serving

TILES: Final = "input x : f64[n] ← {}\nz ← √1+x×x\noutput z\n+/x\n"
SHARED: Final = "input x : f64[n] ← {}\ny ← √1+x×x\noutput z ← +/y\nschedule {{\n  split y rows 1:1 over w0 w1\n}}\n"


def write_files(folder: Path, x: Any) -> list[str]:
    """Write one column in every format, in groups and chunks that do not divide it evenly."""
    import pyarrow
    import pyarrow.parquet
    import zarr

    np.save(folder / "x.npy", x)
    np.savez(folder / "x.npz", x=x)
    np.savetxt(folder / "x.csv", x, header="x", comments="")
    pyarrow.parquet.write_table(pyarrow.table({"x": x}), folder / "x.parquet", row_group_size=len(x) // 37)
    zarr.create_array(store=str(folder / "x.zarr"), data=x, chunks=(len(x) // 41,), compressors=None)
    return ["x.npy", "x.npz", "x.csv:x", "x.parquet:x", "x.zarr"]


def size_of(path: Path) -> int:
    return sum(one.stat().st_size for one in path.rglob("*")) if path.is_dir() else path.stat().st_size


def below(own: int) -> Iterator[int]:
    """A process and all its descendants."""
    yield own
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(entry.read_text().rpartition(")")[2].split()[1]) == own:
                yield from below(int(entry.parent.name))
        except OSError:
            continue


def read_so_far() -> dict[int, int]:
    return {pid: int(Path(f"/proc/{pid}/io").read_text().split()[1]) for pid in below(os.getpid())}


def second(run: Callable[[], object]) -> int:
    """The bytes that a second run reads, without those of the measurement."""
    run()
    looking = -sum(read_so_far().values()) + sum(read_so_far().values())
    before = read_so_far()
    run()
    return sum(count - before.get(pid, 0) for pid, count in read_so_far().items()) - looking


def command(folder: Path, *words: str) -> None:
    out, err = io.StringIO(), io.StringIO()
    code = run_command(["run", str(folder / "p.rho"), *words], Console(out, err, io.StringIO(), {}))
    assert not code and "streams" in err.getvalue(), err.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    lines = [
        f"`python benchmarks/reading.py --rows {options.rows}`: bytes read ÷ bytes of the file.", "",
        "| file | MB | in tiles | by two workers | in tiles, by http | by two workers, by http |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as made, rho.Cluster("local:2") as cluster:
        folder = Path(made)
        with serving(folder) as served:
            for name in write_files(folder, np.random.default_rng(1).standard_normal(options.rows)):
                size, file = size_of(folder / name.partition(":")[0]), name.partition(":")[0]
                shares = []
                for where in ("", served.url("")):
                    for text, workers in ((TILES, False), (SHARED, True)):
                        if where and file.endswith(".zarr"):
                            continue
                        (folder / "p.rho").write_text(text.format(f'"{where}{name}"'), encoding="utf-8")
                        served.sent.clear()
                        if workers:
                            program = rho.load(folder / "p.rho")
                            run = lambda program=program: program.run(cluster=cluster)  # noqa: E731
                        else:
                            limit = str(max(26_000_000, 4 * options.rows))
                            given = ("--max-memory", limit, "--out", f"z={folder}/z.npy", "--allow-read", served.address)
                            run = lambda given=given: command(folder, *given)  # noqa: E731
                        if where:
                            run()
                        read = served.sent[file] if where else second(run)
                        shares.append(f"{read / size:.3f}")
                lines.append(f"| `{name}` | {size / 1e6:.0f} | {' | '.join(shares + ['–'] * (4 - len(shares)))} |")
                print(lines[-1], flush=True)
    if options.write is not None:
        options.write.write_text("# Bytes that are read of an input\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
