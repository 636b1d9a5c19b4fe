"""Files of every format that is read, and ways to damage them."""

from __future__ import annotations

import io
import json
import random
import shutil
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rho

ROOT = Path(rho.__file__).parent
SUFFIXES = {
    "npy text": ".npy", "csv i64": ".csv", "png colour": ".png", "png palette": ".png", "txt lines": ".txt", "zarr 2": ".zarr",
    "zarr 3": ".zarr", "zarr shards": ".zarr", "zarr zip": ".zarr", "plan": ".json", "profile": ".toml", "calibration": ".toml",
    "instance": ".json", "instance stg": ".stg", "instance dot": ".dot", "devices": ".json", "session": ".md",
    "settings": "rho/repl.json", "verdict": ".json",
}  # fmt: skip
NASTY = (
    -1, 0, 1, 2, 255, 2**31, 2**53, 2**63, 2**64, 10**18, -(2**63), 0.5, -0.0, 1e308, None, True, False, "", "x", "../x",
    "pickle", "numcodecs.pickle", "json2", "blosc", "gzip", "bytes", "<f8", "|O", "\x00", "é" * 300, [], [0], [-1], [[]], {},
    {"id": "pickle"}, {"name": "numcodecs.pickle"}, {"id": "zlib", "level": "x"}, [1] * 40, "NaN", "0x7ff8", "9" * 5000,
)  # fmt: skip

INSTANCE = {
    "schema": "instance/1", "devices": [{"id": "a", "class": "cpu", "home": True}, {"id": "b", "class": "gpu", "mem": 1000}],
    "links": [{"src": "a", "dst": "b", "latency": 3, "bytes_per_tick": [1, 2]}],
    "phases": [{"id": "p", "ticks": {"cpu": 5, "gpu": 2}}, {"id": "q", "ticks": {"cpu": 5}}],
    "edges": [{"from": "p", "to": "q", "bytes": 8}], "directives": ["place p on a"],
}  # fmt: skip
SESSION = "# A session\n\n```rho\nx ← 1 2 3\n+/x\n```\n```\n6\n```\n\nText.\n\n```rho\n>>> 1+1\n2\n```\n"


def whole(name: str, folder: Path) -> list[tuple[str, bytes]]:
    """A sound file of the format: names below the path it is read by (`""`: itself), and their contents."""
    table = np.arange(24.0).reshape(6, 4) / 3
    made = io.BytesIO()
    match name:
        case "npy":
            np.save(made, table)
        case "npy text":
            np.save(made, np.array(list("héllo")))
        case "npz":
            np.savez_compressed(made, a=table)
        case "csv" | "tsv" | "csv i64":
            rows = ["a,b,c,d", *(",".join(str(int(x) if "i64" in name else x) for x in row) for row in table.tolist())]
            made.write("\n".join(rows).replace(",", "\t" if name == "tsv" else ",").encode())
        case "png" | "png colour" | "png palette":
            made.write(picture(name))
        case "parquet":
            pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
            parquet.write_table(pa.table({f"column {at}": table[:, at] for at in range(4)}), made, row_group_size=4)
        case "txt" | "txt lines":
            made.write("hé\r\n😀x\n\nabc".encode())
        case "zarr 2" | "zarr 3" | "zarr shards" | "zarr zip":
            return store(name, folder, table)
        case "plan" | "profile" | "calibration" | "instance" | "devices" | "session" | "settings" | "verdict":
            made.write(text(name, folder).encode())
        case "instance stg":
            made.write(b"3\n0 0 0\n1 5 1 0\n2 7 1 0\n3 4 2 1 2\n4 0 1 3\n")
        case _:
            found = sorted((ROOT / "tests" / "corpora" / "data" / "schedules" / "auckland").glob("*.dot"))[0]
            made.write(found.read_bytes())
    return [("", made.getvalue())]


def picture(name: str) -> bytes:
    from rho.tests.backend.files.loading import chunk, png_file

    palette = chunk(b"PLTE", bytes(range(256)) * 3)
    colour, step, extra = {"png": (0, 1, b""), "png colour": (2, 3, b""), "png palette": (3, 1, palette)}[name]
    rows = b"".join(bytes([kind, *[(kind * 7 + at) % 20 for at in range(6 * step)]]) for kind in (1, 2, 3, 4, 0))
    return png_file(struct.pack(">IIBBBBB", 6, 5, 8, colour, 0, 0, 0), zlib.compress(rows), extra)


def store(name: str, folder: Path, table: np.ndarray) -> list[tuple[str, bytes]]:
    zarr = pytest.importorskip("zarr")
    path = folder / "made.zarr"
    shutil.rmtree(path, ignore_errors=True)
    if name == "zarr 2":
        numcodecs = pytest.importorskip("numcodecs")
        array = zarr.create_array(
            str(path), shape=table.shape, chunks=(4, 3), dtype="f8", zarr_format=2, filters=[numcodecs.Shuffle(8)], order="F",
            compressors=numcodecs.Blosc(),
        )  # fmt: skip
    else:
        more = {"shards": (4, 4)} if name == "zarr shards" else {}
        array = zarr.create_array(str(path), shape=table.shape, chunks=(2, 2), dtype="f8", zarr_format=3, **more)
    array[...] = table
    parts = [(str(one.relative_to(path)), one.read_bytes()) for one in sorted(path.rglob("*")) if one.is_file()]
    if name != "zarr zip":
        return parts
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for part, content in parts:
            archive.writestr(part, content)
    return [("", made.getvalue())]


def text(name: str, folder: Path) -> str:
    if name == "plan":
        (folder / "p.rho").write_text("x ← (⍳3000)÷7\n+/x×x\n⌈/x\n")
        words = [sys.executable, "-m", "rho.shell", "plan", "p.rho", "--json"]
        return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=200, check=True).stdout
    if name in ("profile", "calibration"):
        return (ROOT / "backend" / "devices" / "shipped" / "workstation.toml").read_text(encoding="utf-8")
    return {
        "instance": json.dumps(INSTANCE), "devices": json.dumps({key: INSTANCE[key] for key in ("devices", "links")}),
        "session": SESSION, "settings": '{"prefix": "`", "pause": 500, "digits": 10, "types": true, "preview": true}',
        "verdict": '{"format": 2, "question": "question", "verdict": "proved", "solver": "z3"}',
    }[name]  # fmt: skip


# --------------------------------------------------------------------------------- damage


def flipped(chance: random.Random, content: bytes) -> bytes:
    """Some bytes replaced, removed, doubled, moved."""
    raw = bytearray(content)
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(raw)) if raw else 0
        match chance.randrange(6):
            case 0:
                raw[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del raw[at : at + chance.randint(1, 12)]
            case 2:
                raw[at:at] = raw[at : at + chance.randint(1, 12)]
            case 3:
                raw[at : at + 1] = chance.choice([b"\0", b"\xff", b"9", b"-", b"\n", b",", b"(", b"'", b'"', b"e", b"[", b"{"])
            case 4:
                raw[at : at + 4] = chance.choice([b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x80" * 4])
            case _:
                del raw[at:]
    return bytes(raw)


def restructured(chance: random.Random, content: bytes) -> bytes:
    """JSON with a value replaced, removed or doubled."""
    try:
        value = json.loads(content)
    except ValueError:
        return flipped(chance, content)
    places: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        one = pending.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else []
        for key in keys:
            places.append((one, key))
            pending.append(one[key])
    for _ in range(chance.randint(1, 2)):
        if not places:
            break
        where, key = chance.choice(places)
        try:
            match chance.randrange(4):
                case 0:
                    del where[key]
                case 1 if isinstance(where, dict):
                    where[chance.choice(("id", "name", "extra", "codecs", "shape", str(key)))] = chance.choice(NASTY)
                case _:
                    where[key] = chance.choice(NASTY)
        except (KeyError, IndexError):
            continue
    return json.dumps(value).encode("utf-8", "surrogatepass")


def sealed(content: bytes) -> bytes:
    """A PNG whose checksums are right again, so that what is in it is looked at."""
    out, at = content[:8], 8
    while at + 12 <= len(content):
        length = int.from_bytes(content[at : at + 4], "big")
        body = content[at + 4 : at + 8 + length]
        if at + 12 + length > len(content):
            break
        out += content[at : at + 4] + body + struct.pack(">I", zlib.crc32(body))
        at += 12 + length
    return out + content[at:]


def damaged(name: str, parts: list[tuple[str, bytes]], chance: random.Random) -> list[tuple[str, bytes]]:
    """One part of a file damaged."""
    which = chance.randrange(len(parts))
    part, content = parts[which]
    is_json = content[:1] == b"{" and chance.random() < 0.7
    how: Callable[[random.Random, bytes], bytes] = restructured if is_json else flipped
    content = how(chance, content)
    if name.startswith("png") and chance.random() < 0.8:
        content = sealed(content)
    return [*parts[:which], (part, content), *parts[which + 1 :]]


def put(path: Path, parts: list[tuple[str, bytes]]) -> None:
    """The file, or the folder, as it is read."""
    for part, content in parts:
        target = path / part if part else path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
