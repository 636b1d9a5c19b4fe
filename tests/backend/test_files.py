"""Reading and writing files: round trips, headers alone, and files that are broken, missing or not what was declared."""

from __future__ import annotations

import contextlib
import json
import os
import random
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from rho.backend.run import files
from rho.backend.run.files import check_range, check_writable, read_shape, read_values, write_values
from rho.backend.run.values import Array, array, from_numpy, text, to_numpy
from rho.lang.diagnostics import Refused, RhoError, RunFailed
from rho.lang.source import Span
from rho.typechecker.elements import Kind

np = pytest.importorskip("numpy")
BOOL, U8, I32, I64, F32, F64, C64, C128, CHAR = Kind
SPAN = Span("test.rho", 3, 9)
ROUNDS = 150


def load(path: Path | str, kind: Kind, rank: int) -> Array:
    shape = read_shape(str(path), kind, rank, SPAN)
    values = read_values(str(path), kind, shape, SPAN)
    assert values.shape == shape
    return from_numpy(values)


# --------------------------------------------------------------------------- round trips

VALUES = [
    array(BOOL, (2, 2), [1, 0, 0, 1]), array(U8, (3,), [0, 7, 255]), array(I32, (2, 1), [-5, 2**31 - 1]),
    array(I64, (2, 2), [-(2**63), 2**63 - 1, 0, 1]), array(F32, (3,), [0.1, -1e30, 3]),
    array(F64, (2, 3), [0.1, -0.0, 1e300, 5e-324, float("inf"), 1 / 3]), array(C64, (2,), [0.1 + 2j, -1j]),
    array(C128, (2, 1), [1 / 3 + 1e-9j, complex(0, float("inf"))]),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda v: v.kind.value)
@pytest.mark.parametrize("suffix", [".npy", ".csv", ".tsv"])
@pytest.mark.parametrize("plain", [True, False])
def test_numbers_come_back_as_they_were(value: Array, suffix: str, plain: bool, tmp_path: Path) -> None:
    path = tmp_path / f"x{suffix}"
    write_values(str(path), value if plain else to_numpy(value), value.kind, SPAN)
    assert repr(load(path, value.kind, value.rank)) == repr(value)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (2, 0), (2, 3, 4)])
def test_npy_holds_any_shape(shape: tuple[int, ...], tmp_path: Path) -> None:
    value = from_numpy(np.arange(np.prod(shape, dtype=int)).reshape(shape))
    path = tmp_path / "x.npy"
    write_values(str(path), value, I64, SPAN)
    assert load(path, I64, len(shape)) == value
    assert np.load(path).shape == shape


def test_npy_reads_what_numpy_writes(tmp_path: Path) -> None:
    for number, stored in enumerate(("?", "u1", "i1", ">i2", "<u2", ">i4", "u4", "f2", "f4", ">f8")):
        path = tmp_path / f"x{number}.npy"
        data = np.asfortranarray(np.array([[0, 1, 1], [1, 0, 1]]).astype(stored))
        np.save(path, data)
        assert load(path, F64, 2).data == (0.0, 1.0, 1.0, 1.0, 0.0, 1.0)
    np.save(tmp_path / "t.npy", np.array([["a", "é"], ["😀", " "]]))
    assert load(tmp_path / "t.npy", CHAR, 2).data == ("a", "é", "😀", " ")
    with open(tmp_path / "v3.npy", "wb") as file:
        np.lib.format.write_array(file, np.arange(3), version=(3, 0))
    assert load(tmp_path / "v3.npy", I64, 1).data == (0, 1, 2)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_members(save: Callable[..., None], tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    save(path, weights=np.arange(6.0).reshape(2, 3), bias=np.array([1, 2]))
    assert load(f"{path}:weights", F64, 2).shape == (2, 3)
    assert load(f"{path}:bias", I64, 1).data == (1, 2)
    save(path, only=np.arange(3))
    assert load(path, I64, 1).data == (0, 1, 2)


def test_tables_as_people_write_them(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for raw, kind, rank, expected in (
        ("a,b\n1,2\n\n3,4\n", F64, 2, (1.0, 2.0, 3.0, 4.0)), ("1,2\r\n3,4", I64, 2, (1, 2, 3, 4)),
        ("\ufeffn\n5\n6\n", I64, 1, (5, 6)), ("¯1.5,∞\n", F64, 1, (-1.5, float("inf"))), (' "1", 2 \n', I64, 2, (1, 2)),
        ("7\n", I64, 0, (7,)), ("1e3\n-.5\n", F64, 1, (1000.0, -0.5)), ("1J2,3\n", C128, 1, (1 + 2j, 3 + 0j)),
        ("true,0\nFALSE,1\n", BOOL, 2, (True, False, False, True)), ("a,b\n", F64, 2, ()),
        ("9007199254740993\n", I64, 0, (2**53 + 1,)),
        ('"x, y",z\n1,2\n', F64, 2, (1.0, 2.0)),
    ):  # fmt: skip
        path.write_bytes(raw.encode())
        assert load(path, kind, rank).data == expected, raw
    (tmp_path / "x.tsv").write_text("1\t2\n3\t4\n")
    assert load(tmp_path / "x.tsv", I64, 2).data == (1, 2, 3, 4)


def test_the_slow_reader_agrees_with_the_fast_one(tmp_path: Path) -> None:
    table = np.random.default_rng(1).normal(size=(50, 4)) * 1e3
    fast, slow = tmp_path / "fast.csv", tmp_path / "slow.csv"
    write_values(str(fast), table, F64, SPAN)
    slow.write_text(fast.read_text().replace("-", "¯"), encoding="utf-8")
    assert load(fast, F64, 2) == load(slow, F64, 2) == from_numpy(table)


def test_text_is_characters_or_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes("hé\n😀\n".encode())
    assert load(path, CHAR, 1) == text("hé\n😀\n")
    assert load(path, CHAR, 2).data == ("h", "é", "😀", " ")
    path.write_bytes(b"")
    assert load(path, CHAR, 1).shape == (0,) and load(path, CHAR, 2).shape == (0, 0)
    write_values(str(path), text("né"), CHAR, SPAN)
    assert path.read_bytes() == "né\n".encode()
    write_values(str(path), array(CHAR, (2, 2), "a b "), CHAR, SPAN)
    assert path.read_text() == "a \nb \n"
    write_values(str(path), array(I64, (2, 2, 2), range(8)), I64, SPAN)
    assert path.read_text() == "0 1\n2 3\n\n4 5\n6 7\n"


def test_json_holds_what_json_lacks(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_values(str(path), array(C128, (2,), [1 + 2j, complex(float("nan"), float("-inf"))]), C128, SPAN)
    assert json.loads(path.read_text()) == {"elem": "c128", "shape": [2], "data": [[1.0, 2.0], ["nan", "-inf"]]}
    write_values(str(path), array(CHAR, (2, 2), "abcd"), CHAR, SPAN)
    assert json.loads(path.read_text())["data"] == ["ab", "cd"]


# -------------------------------------------------------------------------------- PNG


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


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", len(content), name) + content + struct.pack(">I", zlib.crc32(name + content))


def png_file(header: bytes, data: bytes, extra: bytes = b"") -> bytes:
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def grey(width: int, height: int, *, depth: int = 8, colour: int = 0, interlace: int = 0) -> bytes:
    return struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)


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


# --------------------------------------------------------------- broken and missing files


def npy_bytes(header: str, data: bytes = b"", version: int = 1) -> bytes:
    raw = header.encode()
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(raw)) + raw + data


def npy_header(descr: str = "<f8", shape: str = "(3,)", fortran: str = "False") -> str:
    return f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"


GOOD = npy_bytes(npy_header(), b"\0" * 24)
FLAT = zlib.compress(b"\0" * 5 * 4)
BROKEN: list[tuple[str, bytes, Kind, int, str, str]] = [
    ("empty.npy", b"", F64, 1, "E705", "is empty"),
    ("text.npy", b"1,2,3\n", F64, 1, "E705", "not an npy file"),
    ("short.npy", b"\x93NUMPY\x01", F64, 1, "E705", "inside its header"),
    ("shorter.npy", b"\x93NUMPY\x01\x00\x10", F64, 1, "E705", "inside its header"),
    ("cut_header.npy", GOOD[:40], F64, 1, "E705", "inside its header"),
    ("truncated.npy", GOOD[:-1], F64, 1, "E705", "truncated"),
    ("trailing.npy", GOOD + b"x", F64, 1, "E705", "after its data"),
    ("version.npy", b"\x93NUMPY\x09\x00\x00\x00", F64, 1, "E705", "version 9"),
    ("pickled.npy", npy_bytes(npy_header("|O"), b"\0" * 24), F64, 1, "E706", "pickled"),
    ("records.npy", npy_bytes("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,), }"), F64, 1, "E706", "records"),
    ("dates.npy", npy_bytes(npy_header("<M8"), b"\0" * 24), F64, 1, "E706", "no element type"),
    ("words.npy", npy_bytes(npy_header("<U3"), b"\0" * 36), CHAR, 1, "E706", "no element type"),
    ("code.npy", npy_bytes("{'descr': __import__('os').system('true'), }"), F64, 1, "E705", "header"),
    ("giant.npy", npy_bytes(npy_header(shape="(999999999999, 999999999)")), F64, 2, "E705", "truncated"),
    ("negative.npy", npy_bytes(npy_header(shape="(-3,)")), F64, 1, "E705", "shape"),
    ("deep.npy", npy_bytes(npy_header(shape=f"({'1, ' * 40})")), F64, 1, "E705", "shape"),
    ("long_header.npy", npy_bytes(" " * 70000, version=2), F64, 1, "E705", "header of"),
    ("characters.npy", npy_bytes(npy_header("<U1", "(1,)"), b"\xff" * 4), CHAR, 1, "E705", "no characters"),
    ("wrong_rank.npy", GOOD, F64, 2, "E706", "2 axes"),
    ("narrow.npy", GOOD, F32, 1, "E706", "f64"),
    ("integers.npy", GOOD, I64, 1, "E706", "its declared type is i64"),
    ("numbers.npy", GOOD, CHAR, 1, "E706", "char"),
    ("not.npz", b"hello", F64, 1, "E705", "not an npz"),
    ("empty.npz", b"", F64, 1, "E705", "not an npz"),
    ("empty.csv", b"", F64, 2, "E705", "is empty"),
    ("blank.csv", b"\n \n\n", F64, 2, "E705", "is empty"),
    ("ragged.csv", b"1,2\n3,4\n5\n", F64, 2, "E705", "line 3 has 1 cell, line 1 has 2 cells"),
    ("word.csv", b"1,2\n3,x\n", F64, 2, "E705", "line 2, column 2: \u201cx\u201d is no number"),
    ("hole.csv", b"1,2\n3,\n", F64, 2, "E705", "line 2, column 2 is empty"),
    ("fraction.csv", b"1\n2.5\n", I64, 1, "E705", "line 2, column 1: \u201c2.5\u201d is no whole number"),
    ("large.csv", b"1\n256\n", U8, 1, "E705", "does not fit u8 (0 to 255)"),
    ("huge.csv", b"9223372036854775808\n", I64, 0, "E705", "does not fit i64"),
    ("underscore.csv", b"1_000\n2\n", F64, 1, "E705", "is no number"),
    ("semicolons.csv", b"1;2\n3;4\n", F64, 2, "E705", "is no number"),
    ("years.csv", b"place,2019\n1,2\n", F64, 2, "E705", "line 1, column 1"),
    ("two.csv", b"2\n", BOOL, 0, "E705", "is no bool"),
    ("latin.csv", b"1\n\xff\n", F64, 1, "E705", "not UTF-8: line 2"),
    ("nul.csv", b"1\0\n", F64, 1, "E705", "NUL"),
    ("quote.csv", b'1\n"2\n', F64, 1, "E705", "line 2"),
    ("square.csv", b"1,2\n3,4\n", F64, 1, "E706", "2 \u00d7 2"),
    ("cube.csv", b"1,2\n", F64, 3, "E706", "two axes"),
    ("text.csv", b"a,b\n", CHAR, 2, "E706", "char"),
    ("latin.txt", b"ab\ncaf\xe9\n", CHAR, 1, "E705", "byte 6 (line 2)"),
    ("numbers.txt", b"1 2\n", F64, 1, "E706", "is text"),
    ("scalar.txt", b"a", CHAR, 0, "E706", "one axis"),
    ("empty.png", b"", U8, 2, "E705", "is empty"),
    ("not.png", b"GIF89a..", U8, 2, "E705", "not a PNG"),
    ("cut.png", png_file(grey(4, 4), FLAT)[:-14], U8, 2, "E705", "truncated"),
    ("cut_chunk.png", png_file(grey(4, 4), FLAT)[:45], U8, 2, "E705", "truncated inside"),
    ("checksum.png", png_file(grey(4, 4), FLAT).replace(FLAT, FLAT[:-1] + b"?"), U8, 2, "E705", "checksum"),
    ("few.png", png_file(grey(4, 5), FLAT), U8, 2, "E705", "fewer pixels"),
    ("many.png", png_file(grey(4, 3), FLAT), U8, 2, "E705", "more pixels"),
    ("bomb.png", png_file(grey(60000, 60000), FLAT), U8, 2, "E705", "more than its"),
    ("interlaced.png", png_file(grey(4, 4, interlace=1), FLAT), U8, 2, "E706", "interlaced"),
    ("nothing.png", png_file(grey(0, 4), FLAT), U8, 2, "E705", "impossible size"),
    ("depth.png", png_file(grey(4, 4, depth=7), FLAT), U8, 2, "E705", "no pixel format"),
    ("palette.png", png_file(grey(4, 4, colour=3), FLAT), U8, 3, "E705", "palette"),
    ("colour.png", png_file(grey(3, 1, colour=3), zlib.compress(b"\0\0\0\1"), chunk(b"PLTE", b"abc")), U8, 3, "E705", "colour"),
    ("garbage.png", png_file(grey(4, 4), b"garbage"), U8, 2, "E705", "damaged pixels"),
    ("filter.png", png_file(grey(3, 1), zlib.compress(b"\x07abc")), U8, 2, "E705", "filter"),
    ("headless.png", b"\x89PNG\r\n\x1a\n" + chunk(b"IDAT", b""), U8, 2, "E705", "image header"),
    ("bits.png", png_file(grey(4, 2, depth=16), zlib.compress(b"\0" * 18)), U8, 2, "E706", "uint16"),
    ("colours.png", png_file(grey(4, 2, colour=2), zlib.compress(b"\0" * 26)), U8, 2, "E706", "[2 4 3]"),
    ("x.dat", b"1", F64, 1, "E704", "no known format"),
    ("x", b"1", F64, 1, "E704", "no suffix"),
]


@pytest.mark.parametrize(("name", "content", "kind", "rank", "code", "words"), BROKEN, ids=[b[0] for b in BROKEN])
def test_broken_files(name: str, content: bytes, kind: Kind, rank: int, code: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(RhoError) as caught:
        load(path, kind, rank)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code and diagnostic.span == SPAN and name in diagnostic.message
    assert words in diagnostic.message
    assert isinstance(caught.value, Refused if code == "E706" else RunFailed)


@pytest.mark.parametrize("suffix", [suffix for suffix in files.READABLE if suffix != ".zarr"])
def test_missing_files_and_folders(suffix: str, tmp_path: Path) -> None:
    kind = CHAR if suffix == ".txt" else U8
    (tmp_path / f"folder{suffix}").mkdir()
    (tmp_path / "file").write_text("")
    for path, words in (
        (f"absent{suffix}", "does not exist"), (f"folder{suffix}", "is a folder"), (f"file/x{suffix}", "does not exist"),
        (f"nul\0{suffix}", "is not a path"),
    ):  # fmt: skip
        with pytest.raises(RunFailed) as caught:
            load(f"{tmp_path}/{path}", kind, 1)
        assert caught.value.diagnostics[0].code == "E704" and words in caught.value.diagnostics[0].message


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.csv")
    with pytest.raises(RunFailed, match="no regular file"):
        load(tmp_path / "x.csv", F64, 1)


def test_permission_denied_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(GOOD)

    def refuse(*args: object, **more: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(RunFailed, match="permission denied"):
        load(path, F64, 1)


def test_npz_troubles(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, a=np.arange(3.0), b=np.arange(3.0))
    for member, code, words in ((":c", "E704", "no array named c"), ("", "E704", "several arrays")):
        with pytest.raises(RunFailed) as caught:
            load(f"{path}{member}", F64, 1)
        assert caught.value.diagnostics[0].code == code and words in caught.value.diagnostics[0].message
        assert "a, b" in caught.value.diagnostics[0].notes[0]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", GOOD + b"more")
        archive.writestr("o.npy", npy_bytes(npy_header("|O"), b"\0" * 24))
    with pytest.raises(RunFailed, match="promises"):
        load(f"{path}:a", F64, 1)
    with pytest.raises(Refused, match="pickled"):
        load(f"{path}:o", F64, 1)
    raw = bytearray(path.read_bytes())
    at = raw.index(b"\x93NUMPY") + len(GOOD) - 3
    raw[at] ^= 1
    path.write_bytes(raw)
    with pytest.raises(RhoError):
        load(f"{path}:a", F64, 1)


def test_a_damaged_member_fails_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, a=np.arange(3.0))
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"\x93NUMPY") + 130] ^= 1
    path.write_bytes(raw)
    with pytest.raises(RunFailed) as caught:
        load(f"{path}:a", F64, 1)
    assert caught.value.diagnostics[0].code == "E705"


def test_every_truncation_is_a_diagnostic(tmp_path: Path) -> None:
    whole = {".npy": GOOD, ".png": png_file(grey(4, 4), FLAT)}
    np.savez_compressed(tmp_path / "w.npz", a=np.arange(3.0))
    whole[".npz"] = (tmp_path / "w.npz").read_bytes()
    for suffix, content in whole.items():
        path = tmp_path / f"x{suffix}"
        for length in range(len(content)):
            path.write_bytes(content[:length])
            with pytest.raises(RhoError):
                load(path, U8 if suffix == ".png" else F64, 2 if suffix == ".png" else 1)


def test_a_file_that_changes_after_its_header_is_refused(tmp_path: Path) -> None:
    for name, before, after, kind, rank in (
        ("x.npy", GOOD, npy_bytes(npy_header(shape="(2,)"), b"\0" * 16), F64, 1), ("x.csv", b"1\n2\n", b"1\n", F64, 1),
        ("x.txt", b"abc", b"ab", CHAR, 1), ("x.png", png_file(grey(4, 4), FLAT), png_file(grey(3, 4), FLAT), U8, 2),
    ):  # fmt: skip
        path = tmp_path / name
        path.write_bytes(before)
        shape = read_shape(str(path), kind, rank, SPAN)
        path.write_bytes(after)
        with pytest.raises(RunFailed, match="changed"):
            read_values(str(path), kind, shape, SPAN)


def test_declared_ranges_are_checked() -> None:
    check_range(np.array([0, 4]), 0, 4, "x.npy", SPAN)
    check_range(np.array([], dtype=int), 0, 4, "x.npy", SPAN)
    for values in ([5], [-1, 2]):
        with pytest.raises(Refused, match="allows 0 to 4"):
            check_range(np.array(values), 0, 4, "x.npy", SPAN)


# ---------------------------------------------------------------------- writing whole or not


def refused(path: Path | str, value: Array) -> str:
    with pytest.raises(RunFailed) as caught:
        write_values(str(path), value, value.kind, SPAN)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E708" and diagnostic.span == SPAN
    return diagnostic.message


def test_what_a_format_cannot_hold_is_refused(tmp_path: Path) -> None:
    vector, words, cube = array(I64, (2,), [1, 2]), text("ab"), array(I64, (1, 1, 5), range(5))
    assert "no picture" in refused(tmp_path / "x.png", vector)
    assert "no picture" in refused(tmp_path / "x.png", cube)
    assert "at least one pixel" in refused(tmp_path / "x.png", array(I64, (0, 3), ()))
    assert "char" in refused(tmp_path / "x.png", words)
    assert "text" in refused(tmp_path / "x.csv", words)
    assert "3 axes" in refused(tmp_path / "x.csv", cube)
    assert "no known format" in refused(tmp_path / "x.dat", vector)
    assert "no suffix" in refused(tmp_path / "x", vector)
    assert "no character of UTF-8" in refused(tmp_path / "x.txt", text("\ud800"))
    assert "its folder does not exist" in refused(tmp_path / "none" / "x.npy", vector)
    assert "not a path" in refused(f"{tmp_path}/\0.npy", vector)
    (tmp_path / "d.npy").mkdir()
    assert "is a folder" in refused(tmp_path / "d.npy", vector)
    os.mkfifo(tmp_path / "p.npy")
    assert "no regular file" in refused(tmp_path / "p.npy", vector)
    assert sorted(os.listdir(tmp_path)) == ["d.npy", "p.npy"]


def test_outputs_are_checked_before_anything_runs(tmp_path: Path) -> None:
    check_writable(str(tmp_path / "x.npy"), SPAN)
    for path in (tmp_path / "x.dat", tmp_path / "none" / "x.npy"):
        with pytest.raises(RunFailed):
            check_writable(str(path), SPAN)


@pytest.mark.parametrize("step", ["os.fsync", "os.replace", "os.chmod", "tempfile.mkstemp", "os.fdopen"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    step: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("old")

    def fail(*args: object, **more: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(step, fail)
        with pytest.raises(KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else RunFailed):
            write_values(str(path), array(I64, (1,), [1]), I64, SPAN)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["x.csv"]


def test_permissions_and_links_are_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "x.csv", tmp_path / "link.csv"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_values(str(link), array(I64, (1,), [1]), I64, SPAN)
    assert link.is_symlink() and path.read_text() == "1\n" and stat.S_IMODE(path.stat().st_mode) == 0o640


# ------------------------------------------------------------------------------------ fuzzing


def mutated(chance: random.Random, content: bytes) -> bytes:
    """A few random changes: bytes replaced, removed, doubled."""
    raw = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(raw)) if raw else 0
        match chance.randrange(4):
            case 0:
                raw[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del raw[at : at + chance.randint(1, 8)]
            case 2:
                raw[at:at] = raw[at : at + chance.randint(1, 8)]
            case _:
                raw[at : at + 1] = chance.choice([b"\0", b"\xff", b"9", b"-", b"\n", b",", b"(", b"'", b'"', b"e"])
    return bytes(raw)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".tsv", ".png", ".txt"])
def test_damage_is_read_or_refused(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{suffix}"
    kind, rank = {".txt": (CHAR, 2), ".png": (U8, 3)}.get(suffix, (F64, 2))
    if suffix == ".npz":
        np.savez_compressed(path, a=np.arange(6.0).reshape(2, 3))
    elif suffix == ".txt":
        path.write_bytes("hé\n😀x\n".encode())
    else:
        shape, stored = ((2, 4, 3), "u1") if rank == 3 else ((6, 4), "f8")
        write_values(str(path), np.arange(24).reshape(shape).astype(stored), kind, SPAN)
    whole, chance = path.read_bytes(), random.Random(suffix)
    for _ in range(ROUNDS):
        path.write_bytes(mutated(chance, whole))
        with contextlib.suppress(RhoError):
            load(path, kind, rank)


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_table_without_rows_comes_back(suffix: str, tmp_path: Path) -> None:
    for shape in ((0, 3), (0, 1), (0,)):
        path = str(tmp_path / f"empty{suffix}")
        write_values(path, np.zeros(shape), Kind.F64, SPAN)
        assert read_shape(path, Kind.F64, len(shape), SPAN) == shape
        assert read_values(path, Kind.F64, shape, SPAN).shape == shape
