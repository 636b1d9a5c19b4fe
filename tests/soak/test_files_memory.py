"""What a process takes while a file is read or written, beside what is planned, for each format; and a whole run under
`--max-memory`.

Each case is a process of its own, which has read or written a small file of the format before.  Linux only: the highest
resident size can be set back there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from share import share

from rho.tests.soak.values import made

MB = 1 << 20
SLACK = 5 * MB
"""What the interpreter, its allocator and NumPy's own buffers take now and then."""

WORKER = """
import json, sys
from rho.backend.io import records
from rho.backend.io.reading import InputSpec, read_shape, read_values, reading_bytes, writing_bytes
from rho.backend.io.writing import write_values
from rho.lang.syntax.source import Span
from rho.typechecker.elements import Kind
from rho.tests.soak.values import made

def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))

what, path, small, kind, shape = json.loads(sys.argv[1])
span, kind, shape = Span("x", 0, 0), Kind(kind), tuple(shape)
def read(path):
    found = read_shape(path, InputSpec(kind, len(shape), span))
    return read_values(path, InputSpec(kind, len(found), span), found)
records._compiled(1 << 30)  # loads LLVM where the cache lacks the code, as kernels do
if what == "read":
    read(small)
else:
    values = made(kind, shape)
    write_values(small, made(kind, tuple(min(4, size) for size in shape)), kind, span)
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = status("VmRSS")
if what == "read":
    values = read(path)
    planned = values.nbytes + reading_bytes(path, kind, values.shape, span)
else:
    write_values(path, values, kind, span)
    planned = writing_bytes(path, kind, shape)
print(json.dumps([status("VmHWM") - before, planned, values.nbytes]))
"""

pytestmark = [
    pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="needs /proc/self/clear_refs"),
    pytest.mark.long,
]

NUMBERS, MATRIX, PICTURE = (1_500_000,), (150_000, 10), (2000, 2500, 3)
WRITTEN = [
    (".npy", "f64", NUMBERS), (".csv", "f64", NUMBERS), (".csv", "i64", MATRIX), (".tsv", "c128", (300_000, 2)),
    (".txt", "f64", (300_000,)), (".txt", "f64", (30_000, 10)), (".txt", "char", (8_000_000,)), (".txt", "char", (80_000, 100)),
    (".json", "f64", NUMBERS), (".json", "char", (80_000, 100)), (".png", "u8", PICTURE), (".png", "f64", (2000, 2000)),
]  # fmt: skip
READ = [
    (".npy", "f64", NUMBERS), (".npy F", "f64", MATRIX), (".npy f4", "f64", NUMBERS), (".npz", "f64", NUMBERS),
    (".csv", "f64", NUMBERS), (".csv", "i64", MATRIX), (".csv wide", "f64", (2, 750_000)), (".csv", "u8", (300_000, 2)),
    (".txt", "char", (8_000_000,)), (".txt", "char", (80_000, 100)), (".png", "u8", PICTURE), (".png Paeth", "u8", (1500, 2000)),
    (".parquet", "f64", MATRIX), (".parquet", "f64", (1_500_000, 1)), (".zarr", "f64", MATRIX), (".zarr shards", "f64", MATRIX),
    (".zarr gzip", "f64", MATRIX),
]  # fmt: skip


def stored(path: Path, sort: str, kind: str, shape: tuple[int, ...]) -> str:
    """A file of that sort, and what it is called as an input."""
    values = made(kind, shape)
    suffix, _, how = sort.partition(" ")
    match suffix:
        case ".npy":
            np.save(path, np.asfortranarray(values) if how == "F" else values.astype("f4") if how == "f4" else values)
        case ".npz":
            np.savez_compressed(path, a=values)
        case ".parquet":
            pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
            parquet.write_table(pa.table({f"c{at}": values[:, at] for at in range(shape[1])}), path)
        case ".zarr":
            zarr = pytest.importorskip("zarr")
            more = {"shards": (50_000, 10)} if how == "shards" else {"compressors": zarr.codecs.GzipCodec()} if how else {}
            chunks = (5_000, 10) if how == "shards" else (50_000, 10)
            array = zarr.create_array(str(path), shape=shape, chunks=chunks, dtype="f8", **more)
            array[...] = values
        case ".csv":
            np.savetxt(path, values, delimiter=",", fmt="%d" if kind in ("u8", "i64") else "%.17g")
        case ".txt":
            rows = values.reshape(-1, shape[-1]) if values.ndim > 1 else values.reshape(1, -1)
            path.write_text("\n".join("".join(row) for row in rows))
        case _:
            path.write_bytes(paeth(values) if how else plain(values))
    return str(path)


def plain(values: np.ndarray) -> bytes:
    import io

    from rho.backend.io import png

    file = io.BytesIO()
    png.write(file, values.shape, 8, lambda first, last: values[first:last])
    return file.getvalue()


def paeth(values: np.ndarray) -> bytes:
    """The bytes as they are, with the filter that takes most."""
    from rho.tests.backend.files.loading import grey, png_file

    rows = np.concatenate([np.full((len(values), 1), 4, "u1"), values], axis=1)
    import zlib

    return png_file(grey(values.shape[1], values.shape[0]), zlib.compress(rows.tobytes(), 1))


def compared(what: str, path: str, small: str, kind: str, shape: tuple[int, ...]) -> None:
    case = json.dumps([what, path, small, kind, shape])
    ran = subprocess.run([sys.executable, "-c", WORKER, case], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    taken, planned, array = json.loads(ran.stdout)
    assert taken <= planned + SLACK, f"{what} {path}: took {taken:,} bytes, {planned:,} are planned, of {array:,}"


def name(case: tuple[object, ...]) -> str:
    return " ".join(map(str, case))


@pytest.mark.parametrize("case", share(WRITTEN, 5), ids=name)
def test_writing_takes_what_is_planned(case: tuple[str, str, tuple[int, ...]], tmp_path: Path) -> None:
    suffix, kind, shape = case
    compared("write", f"{tmp_path}/x{suffix}", f"{tmp_path}/small{suffix}", kind, shape)


@pytest.mark.parametrize("case", share(READ, 6), ids=name)
def test_reading_takes_what_is_planned(case: tuple[str, str, tuple[int, ...]], tmp_path: Path) -> None:
    sort, kind, shape = case
    suffix = sort.partition(" ")[0]
    small = tuple(min(10, size) if at < 2 else size for at, size in enumerate(shape))
    if suffix == ".parquet" or suffix == ".zarr":
        small = (10, shape[1])
    less = "" if "shards" in sort else sort.partition(" ")[2]
    first = stored(tmp_path / f"small{suffix}", f"{suffix} {less}".strip(), kind, small)
    compared("read", stored(tmp_path / f"x{suffix}", sort, kind, shape), first, kind, shape)


RUN = """
import resource, subprocess, sys
code = subprocess.call([sys.executable, "-m", "rho.shell", *sys.argv[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def ran(folder: Path, *words: str) -> tuple[int, int]:
    """The exit code of `rho`, and the most it had resident."""
    found = subprocess.run([sys.executable, "-c", RUN, *words], cwd=folder, capture_output=True, text=True, timeout=300)
    code, most = found.stdout.split()
    return int(code), int(most)


@pytest.mark.parametrize("suffix", share([".csv", ".json", ".npy", ".txt"], 7))
def test_a_run_takes_what_is_planned_with_its_output(suffix: str, tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text("param n ← 4\noutput x ← √⍳n\n")
    code, usual = ran(tmp_path, "run", "p.rho", "--set", "n=2000000", "--max-memory", "25MB")
    assert code == 0
    code, most = ran(tmp_path, "run", "p.rho", "--set", "n=2000000", "--out", f"x=x{suffix}", "--max-memory", "27MB")
    assert code == 0 and most - usual <= 6 * MB + 2 * SLACK, (code, most - usual)
    code, most = ran(tmp_path, "run", "p.rho", "--set", "n=2000000", "--out", f"x=y{suffix}", "--max-memory", "20MB")
    assert code == 4 and not (tmp_path / f"y{suffix}").exists()
