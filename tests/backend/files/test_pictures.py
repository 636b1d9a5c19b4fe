"""PNG: round trips, pictures of other programs, filters."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from rho.backend.io.writing import write_values
from rho.backend.vm.values import array, to_numpy
from rho.tests.backend.files.loading import BOOL, F64, I32, I64, SPAN, U8, load, np, png_file


@pytest.mark.parametrize(
    ("shape", "stored"), [((5, 7), "u1"), ((4, 3, 3), "u1"), ((2, 9, 4), "u1"), ((3, 2, 2), "u1"), ((6, 5), "u2")]
)
def test_pictures_come_back_as_they_were(shape: tuple[int, ...], stored: str, tmp_path: Path) -> None:
    data = np.random.default_rng(2).integers(0, np.iinfo(stored).max, shape).astype(stored)
    path = tmp_path / "x.png"
    kind = U8 if stored == "u1" else I32
    write_values(str(path), data.astype("u1" if kind is U8 else "i4"), kind, SPAN)
    assert (to_numpy(load(path, kind, len(shape))) == data).all()
    image = pytest.importorskip("PIL.Image")
    assert (np.asarray(image.open(path)) == data).all()


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA", "P", "1", "I;16"])
def test_pictures_of_other_programs(mode: str, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    y, x = np.mgrid[0:40, 0:61]
    if mode == "I;16":
        picture = image.fromarray((x * 700 + y * 13).astype("u2"))
    else:
        smooth = np.stack([x * 4, y * 6, x + y, 255 - x], axis=2).astype("u1")
        picture = image.fromarray(smooth, "RGBA").convert("RGB" if mode in ("P", "1") else mode).convert(mode)
    path = tmp_path / "x.png"
    picture.save(path, optimize=True)
    expected = np.asarray(picture.convert("RGB") if mode == "P" else picture.convert("L") if mode == "1" else picture)
    kind = I32 if mode == "I;16" else U8
    assert (to_numpy(load(path, kind, expected.ndim)) == expected).all()


@pytest.mark.parametrize("filtering", range(5))
def test_each_filter_is_undone(filtering: int, tmp_path: Path) -> None:
    rows = np.random.default_rng(3).integers(0, 256, (6, 12)).astype(int)
    step, coded = 3, []
    for y in range(6):
        line = [filtering]
        for i in range(12):
            a = rows[y, i - step] if i >= step else 0
            b = rows[y - 1, i] if y else 0
            c = rows[y - 1, i - step] if y and i >= step else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line.append(int(rows[y, i] - (0, a, b, (a + b) // 2, paeth)[filtering]) % 256)
        coded.append(bytes(line))
    path = tmp_path / "x.png"
    path.write_bytes(png_file(struct.pack(">IIBBBBB", 4, 6, 8, 2, 0, 0, 0), zlib.compress(b"".join(coded))))
    assert load(path, U8, 3).data == tuple(rows.ravel().tolist())


def test_values_become_pixels(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    for value, expected in (
        (array(BOOL, (1, 2), [0, 1]), (0, 255)), (array(F64, (1, 3), [0, 0.5, 1]), (0, 128, 255)),
        (array(I64, (1, 2), [3, 200]), (3, 200)),
        (array(F64, (1, 3), [-1e308, 0, 1e308]), (0, 128, 255)), (array(I64, (1, 3), [-10, 0, 10]), (0, 128, 255)),
        (array(F64, (1, 3), [float("nan"), 2, 4]), (0, 0, 255)), (array(F64, (1, 2), [7, 7]), (0, 0)),
    ):  # fmt: skip
        write_values(str(path), value, value.kind, SPAN)
        assert load(path, U8, 2).data == expected
