"""Files that are broken, missing or not what was declared, damaged at random."""

from __future__ import annotations

import contextlib
import os
import random
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
from share import drawing

from rho.backend.io.reading import READABLE, InputSpec, check_range, read_shape, read_values
from rho.backend.io.writing import write_values
from rho.lang.diagnostics.model import Refused, RhoError, RunFailed
from rho.tests.backend.files.loading import BOOL, CHAR, F32, F64, I64, ROUNDS, SPAN, U8, chunk, grey, load, np, png_file
from rho.typechecker.elements import Kind


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
    ("characters.npy", npy_bytes(npy_header("<U1", "(1,)"), b"\xff" * 4), CHAR, 1, "E705", "not characters"),
    ("wrong_rank.npy", GOOD, F64, 2, "E706", "2 axes"),
    ("narrow.npy", GOOD, F32, 1, "E706", "f64"),
    ("integers.npy", GOOD, I64, 1, "E706", "its declared type is i64"),
    ("numbers.npy", GOOD, CHAR, 1, "E706", "char"),
    ("not.npz", b"hello", F64, 1, "E705", "not an npz"),
    ("empty.npz", b"", F64, 1, "E705", "not an npz"),
    ("empty.csv", b"", F64, 2, "E705", "is empty"),
    ("blank.csv", b"\n \n\n", F64, 2, "E705", "is empty"),
    ("ragged.csv", b"1,2\n3,4\n5\n", F64, 2, "E705", "line 3 has 1 cell, line 1 has 2 cells"),
    ("word.csv", b"1,2\n3,x\n", F64, 2, "E705", "line 2, column 2: \u201cx\u201d is not a number"),
    ("hole.csv", b"1,2\n3,\n", F64, 2, "E705", "line 2, column 2 is empty"),
    ("fraction.csv", b"1\n2.5\n", I64, 1, "E705", "line 2, column 1: \u201c2.5\u201d is not an integer"),
    ("large.csv", b"1\n256\n", U8, 1, "E705", "does not fit u8 (0 to 255)"),
    ("huge.csv", b"9223372036854775808\n", I64, 0, "E705", "does not fit i64"),
    ("underscore.csv", b"1_000\n2\n", F64, 1, "E705", "is not a number"),
    ("semicolons.csv", b"1;2\n3;4\n", F64, 2, "E705", "is not a number"),
    ("years.csv", b"place,2019\n1,2\n", F64, 2, "E705", "line 1, column 1"),
    ("two.csv", b"2\n", BOOL, 0, "E705", "is not a bool"),
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
    ("x.dat", b"1", F64, 1, "E704", "not a known format"),
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


@pytest.mark.parametrize("suffix", [suffix for suffix in READABLE if suffix != ".zarr"])
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


def test_a_name_without_suffix_says_how_a_pipe_is_read() -> None:
    with pytest.raises(RunFailed) as caught:
        load("/dev/fd/63", F64, 1)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E704" and "`-:csv`" in diagnostic.notes[-1]


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.csv")
    with pytest.raises(RunFailed, match="not a regular file"):
        load(tmp_path / "x.csv", F64, 1)


def test_permission_denied_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(GOOD)

    def refuse(*args: object, **more: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", refuse)
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
        shape = read_shape(str(path), InputSpec(kind, rank, SPAN))
        path.write_bytes(after)
        with pytest.raises(RunFailed, match="changed"):
            read_values(str(path), InputSpec(kind, len(shape), SPAN), shape)


def test_declared_ranges_are_checked() -> None:
    check_range(np.array([0, 4]), 0, 4, "x.npy", SPAN)
    check_range(np.array([], dtype=int), 0, 4, "x.npy", SPAN)
    for values in ([5], [-1, 2]):
        with pytest.raises(Refused, match="allows 0 to 4"):
            check_range(np.array(values), 0, 4, "x.npy", SPAN)


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
    whole, chance = path.read_bytes(), drawing(suffix)
    for _ in range(ROUNDS):
        path.write_bytes(mutated(chance, whole))
        with contextlib.suppress(RhoError):
            load(path, kind, rank)


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_table_without_rows_comes_back(suffix: str, tmp_path: Path) -> None:
    for shape in ((0, 3), (0, 1), (0,)):
        path = str(tmp_path / f"empty{suffix}")
        write_values(path, np.zeros(shape), Kind.F64, SPAN)
        assert read_shape(path, InputSpec(Kind.F64, len(shape), SPAN)) == shape
        assert read_values(path, InputSpec(Kind.F64, len(shape), SPAN), shape).shape == shape
