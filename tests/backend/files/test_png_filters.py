"""PNG: the filters of rows beside another program's and beside each other; palettes with transparency."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from share import SEED

from rho.backend.io import png
from rho.backend.vm.values import to_numpy
from rho.tests.backend.files.loading import U8, load, np, png_file

SHAPES = [(1, 1, 1), (3, 5, 1), (50, 90, 1), (90, 50, 3), (100, 17, 4), (17, 100, 2), (70, 70, 4), (1, 90, 1), (90, 1, 1)]


@pytest.mark.parametrize(("height", "width", "step"), SHAPES)
def test_filters_are_undone_as_by_another_program(height: int, width: int, step: int, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    random = np.random.default_rng(SEED)
    rows = random.integers(0, 256, (height, 1 + width * step)).astype("u1")
    rows[:, 0] = random.integers(0, 5, height)
    colour = {1: 0, 2: 4, 3: 2, 4: 6}[step]
    path = tmp_path / "x.png"
    path.write_bytes(png_file(struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0), zlib.compress(rows.tobytes())))
    assert (to_numpy(load(path, U8, 2 if step == 1 else 3)) == np.asarray(image.open(path))).all(), SEED


@pytest.mark.parametrize(("height", "width", "step"), [*SHAPES, (300, 7, 8), (7, 300, 6)])
def test_diagonals_and_single_bytes_are_the_same(height: int, width: int, step: int) -> None:
    random = np.random.default_rng(SEED)
    for filters in (random.integers(0, 5, height), np.full(height, 3), np.full(height, 4)):
        rows = random.integers(0, 256, (height, width * step)).astype("u1")
        above = random.integers(0, 256, width * step).astype("u1")
        functions = png._restore_bytes, png._restore_diagonals
        ways = [way(rows, filters.astype("u1"), step, above) for way in functions]
        assert (ways[0] == ways[1]).all(), SEED


def test_a_thin_picture_is_read(tmp_path: Path) -> None:
    raw = np.zeros((210_000, 3), "u1")
    raw[:, 0], raw[0, 1:] = 4, 9
    path = tmp_path / "x.png"
    path.write_bytes(png_file(struct.pack(">IIBBBBB", 2, 210_000, 8, 0, 0, 0, 0), zlib.compress(raw.tobytes())))
    assert to_numpy(load(path, U8, 2))[[0, -1]].tolist() == [[9, 18], [9, 18]]


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
@pytest.mark.parametrize("alpha", [b"\0", b"\x80\x40"])
def test_palettes_are_opaque_where_their_transparency_ends(depth: int, alpha: bytes, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    colours = min(1 << depth, 5)
    palette = bytes(range(3 * colours))
    picture = np.arange(4 * 8).reshape(4, 8) % colours
    bits = (picture[:, :, None] >> np.arange(depth - 1, -1, -1)) & 1
    rows = np.packbits(bits.reshape(4, -1).astype("u1"), axis=1)
    raw = zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows))
    path = tmp_path / "x.png"
    with path.open("wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        about = struct.pack(">IIBBBBB", 8, 4, depth, 3, 0, 0, 0)
        for name, content in ((b"IHDR", about), (b"PLTE", palette), (b"tRNS", alpha), (b"IDAT", raw), (b"IEND", b"")):
            file.write(struct.pack(">I4s", len(content), name) + content + struct.pack(">I", zlib.crc32(name + content)))
    found = to_numpy(load(path, U8, 3))
    expected = [[*palette[3 * at : 3 * at + 3], [*alpha, *[255] * colours][at]] for at in range(colours)]
    assert found.tolist() == [[expected[at] for at in row] for row in picture.tolist()]
    assert (found == np.asarray(image.open(path).convert("RGBA"))).all()
