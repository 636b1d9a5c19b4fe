"""Files that are small and promise much: each makes its file in a folder, and says what the input is declared (none: the program
has no input) and the command that reads it."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rho.tests.backend.files.loading import chunk, grey, png_file

Bomb = Callable[[Path], tuple[str, tuple[str, ...]]]
BOMBS: dict[str, Bomb] = {}


def bomb(name: str) -> Callable[[Bomb], Bomb]:
    def put(made: Bomb) -> Bomb:
        BOMBS[name] = made
        return made

    return put


def reading(file: str) -> tuple[str, ...]:
    return ("run", "p.rho", "--in", f"x={file}", "--max-memory", "400MB")


def rows_of(height: int, width: int, filter: int) -> bytes:
    engine = zlib.compressobj(9)
    row = bytes([filter]) + b"\0" * width
    return b"".join([*(engine.compress(row) for _ in range(height)), engine.flush()])


@bomb("png of one row of twenty million pixels")
def png_row(folder: Path) -> tuple[str, tuple[str, ...]]:
    (folder / "x.png").write_bytes(png_file(grey(20_000_000, 1), rows_of(1, 20_000_000, 4)))
    return "u8[n m]", reading("x.png")


@bomb("png of few rows of a million pixels")
def png_rows(folder: Path) -> tuple[str, tuple[str, ...]]:
    (folder / "x.png").write_bytes(png_file(grey(1_000_000, 60), rows_of(60, 1_000_000, 4)))
    return "u8[n m]", reading("x.png")


@bomb("png of a million rows of one pixel, fine")
def png_column(folder: Path) -> tuple[str, tuple[str, ...]]:
    (folder / "x.png").write_bytes(png_file(grey(1, 1_000_000), rows_of(1_000_000, 1, 4)))
    return "u8[n m]", reading("x.png")


@bomb("png of a million chunks")
def png_chunks(folder: Path) -> tuple[str, tuple[str, ...]]:
    (folder / "x.png").write_bytes(png_file(grey(4, 4), b"", chunk(b"teXt", b"") * 1_500_000))
    return "u8[n m]", reading("x.png")


@bomb("npy of more items than there are, which is fine where only its shape is read")
def npy_items(folder: Path) -> tuple[str, tuple[str, ...]]:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    with open(folder / "x.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.truncate(10 + len(header) + 8 * 10**12)
    return "f64[n]", reading("x.npy")


@bomb("npy without items whose axes no array can have")
def npy_axes(folder: Path) -> tuple[str, tuple[str, ...]]:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 999999999999999999, 999999999999999999), }"
    (folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    return "f64[a b c]", reading("x.npy")


@bomb("npz of zeros")
def npz_zeros(folder: Path) -> tuple[str, tuple[str, ...]]:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000,), }"
    with zipfile.ZipFile(folder / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.npy", "w") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        for _ in range(100):
            file.write(b"\0" * 8_000_000)
    return "f64[n]", reading("x.npz")


@bomb("npz of many members")
def npz_members(folder: Path) -> tuple[str, tuple[str, ...]]:
    with zipfile.ZipFile(folder / "x.npz", "w") as archive:
        for number in range(100_000):
            archive.writestr(f"{number:060}.npy", b"")
    return "f64[n]", reading("x.npz")


@bomb("npz with a name that is no text")
def npz_name(folder: Path) -> tuple[str, tuple[str, ...]]:
    made = io.BytesIO()
    np.savez(made, aaaa=np.arange(3.0))
    content = made.getvalue()
    at = content.index(b"aaaa.npy")
    (folder / "x.npz").write_bytes(content[:at] + b"\xff" + content[at + 1 :])
    return "f64[n]", reading("x.npz")


def csv(line: bytes, count: int) -> Bomb:
    def made(folder: Path) -> tuple[str, tuple[str, ...]]:
        (folder / "x.csv").write_bytes(line * count)
        return "f64[n m]", reading("x.csv")

    return made


BOMBS["csv of one line of empty cells, fine where only its shape is read"] = csv(b"1,,,,", 12_000_000)
BOMBS["csv of blank lines"] = csv(b"\n", 20_000_000)
BOMBS["csv of quotes"] = csv(b'"",', 20_000_000)
BOMBS["csv of one heading, fine"] = csv(b"a,", 30_000_000)
BOMBS["csv of one cell"] = csv(b"1", 60_000_000)


@bomb("txt of one long line and many short ones")
def txt_lines(folder: Path) -> tuple[str, tuple[str, ...]]:
    (folder / "x.txt").write_bytes(b"a" * 1_000_000 + b"\n" * 1_000_000)
    return "char[n m]", reading("x.txt")


@bomb("parquet of one value repeated, fine where only its shape is read")
def parquet_rows(folder: Path) -> tuple[str, tuple[str, ...]]:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    with parquet.ParquetWriter(folder / "x.parquet", pa.schema([("a", pa.float64())])) as writer:
        table = pa.table({"a": np.zeros(4_000_000)})
        for _ in range(25):
            writer.write_table(table)
    return "f64[n]", reading("x.parquet")


@bomb("parquet whose footer promises more rows than its pages have")
def parquet_footer(folder: Path) -> tuple[str, tuple[str, ...]]:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"a": np.arange(3000.0)}), folder / "x.parquet", compression="none", use_dictionary=False)
    content = bytearray((folder / "x.parquet").read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    said = b"\xf0\x2e"  # 3000 as thrift writes it
    while (at := content.find(said, footer)) != -1:
        content[at : at + 2] = b"\xf0\x7f"
    (folder / "x.parquet").write_bytes(content)
    return "f64[n]", reading("x.parquet")


def zarr_2(chunk: Callable[[], bytes] | None = None, **changed: object) -> Bomb:
    def made(folder: Path) -> tuple[str, tuple[str, ...]]:
        said = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<f8", "fill_value": 0.0, "order": "C"}
        (folder / "x.zarr").mkdir()
        (folder / "x.zarr" / ".zarray").write_text(json.dumps({**said, "compressor": None, "filters": None, **changed}))
        if chunk is not None:
            (folder / "x.zarr" / "0").write_bytes(chunk())
        return "f64[n]", reading("x.zarr")

    return made


def gzip(size: int) -> bytes:
    engine = zlib.compressobj(9, wbits=31)
    return b"".join([*(engine.compress(b"\0" * 1_000_000) for _ in range(size // 1_000_000)), engine.flush()])


BOMBS["zarr of a million chunks, fine"] = zarr_2(shape=[1_000_000], chunks=[1])
BOMBS["zarr of 10^17 chunks whose shape alone is asked, fine"] = zarr_2(shape=[10**17], chunks=[1])
BOMBS["zarr whose one chunk is large"] = zarr_2(chunks=[10**12])
BOMBS["zarr whose chunk inflates to more"] = zarr_2(lambda: gzip(2_000_000_000), compressor={"id": "gzip"})
MORE = {
    "blosc": struct.pack("<4sIII", b"\2\1\0\x08", 2**31, 1, 20) + b"\0" * 8,
    "lz4": struct.pack("<I", 2**31 - 1) + b"\0" * 8,
    "zstd": bytes.fromhex("28b52ffde0") + struct.pack("<Q", 2**40) + b"\1\0\0",
}
for codec, promise in MORE.items():
    BOMBS[f"zarr whose {codec} chunk promises more"] = zarr_2(lambda promise=promise: promise, compressor={"id": codec})
SILENT = bytes.fromhex("28b52ffd0038") + b"\2\0\x10\0" * 16383 + b"\3\0\x10\0"  # 2 GiB of zeros, and no word of how many
BOMBS["zarr whose zstd chunk becomes more than it says"] = zarr_2(lambda: SILENT, compressor={"id": "zstd"})


@bomb("zarr whose metadata are a device")
def zarr_device(folder: Path) -> tuple[str, tuple[str, ...]]:
    (folder / "x.zarr").mkdir()
    (folder / "x.zarr" / "zarr.json").symlink_to("/dev/zero")
    return "f64[n]", reading("x.zarr")


@bomb("zarr whose metadata are a pipe")
def zarr_pipe(folder: Path) -> tuple[str, tuple[str, ...]]:
    (folder / "x.zarr").mkdir()
    os.mkfifo(folder / "x.zarr" / ".zarray")
    return "f64[n]", reading("x.zarr")


@bomb("zarr whose chunk is a pipe")
def zarr_chunk_pipe(folder: Path) -> tuple[str, tuple[str, ...]]:
    found = zarr_2()(folder)
    os.mkfifo(folder / "x.zarr" / "0")
    return found


@bomb("zarr whose chunk is a link")
def zarr_chunk_link(folder: Path) -> tuple[str, tuple[str, ...]]:
    found = zarr_2()(folder)
    (folder / "secret").write_bytes(b"\0" * 32)
    (folder / "x.zarr" / "0").symlink_to(folder / "secret")
    return found


@bomb("zarr with a name that leads out of it")
def zarr_name(folder: Path) -> tuple[str, tuple[str, ...]]:
    zarr_2()(folder)
    (folder / "g.zarr").mkdir()
    (folder / "g.zarr" / ".zgroup").write_text('{"zarr_format": 2}')
    return "f64[n]", reading("g.zarr:../x.zarr")


def file(name: str, content: Callable[[], bytes], *words: str) -> Bomb:
    def made(folder: Path) -> tuple[str, tuple[str, ...]]:
        (folder / name).write_bytes(content())
        return "", words

    return made


DEVICES = ("plan", "p.rho", "--devices")
INSTANCE = ("plan", "--instance")
BOMBS["plan of lists"] = file("p.json", lambda: b"[" * 30_000_000, "run", "p.rho", "--plan", "p.json")
BOMBS["plan of objects"] = file("p.json", lambda: b"[" + b"{}," * 20_000_000 + b"{}]", "run", "p.rho", "--plan", "p.json")
BOMBS["plan that is too large"] = file("p.json", lambda: b" " * 300_000_000, "run", "p.rho", "--plan", "p.json")
BOMBS["profile of dots"] = file("d.toml", lambda: b"a" + b".a" * 100_000 + b"=1", *DEVICES, "d.toml")
BOMBS["profile of brackets"] = file("d.toml", lambda: b"a=" + b"[" * 1_000_000, *DEVICES, "d.toml")
BOMBS["profile that is too large"] = file("d.toml", lambda: b"#" * 100_000_000, *DEVICES, "d.toml")
BOMBS["instance of lists"] = file("i.json", lambda: b"[" + b"[]," * 20_000_000 + b"1]", *INSTANCE, "i.json")
BOMBS["instance of blank lines"] = file("i.stg", lambda: b"\n" * 60_000_000, *INSTANCE, "i.stg", "--devices", "2")
BOMBS["instance of braces"] = file("i.dot", lambda: b"digraph{" + b"a->b{" * 10_000_000, *INSTANCE, "i.dot", "--devices", "2")
BOMBS["devices of objects"] = file(
    "d.json", lambda: b"[" + b"{}," * 20_000_000 + b"{}]", "plan", "--instance", "d.json", "--devices", "d.json"
)
BOMBS["program that is too large"] = file("q.rho", lambda: b"1\n" * 100_000_000, "run", "q.rho")
BOMBS["lines that are too many"] = file("q.txt", lambda: b"1\n" * 100_000_000, "eval", "--lines", "q.txt")
