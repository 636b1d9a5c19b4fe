"""What is written comes back as it was: npy, npz, tables, text, JSON."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from rho.backend.io.columns import JsonLinesSink
from rho.backend.io.writing import prepare_table, write_together, write_values
from rho.backend.vm.values import Array, array, from_numpy, to_numpy
from rho.lang.tree.program import AS_WRITTEN, CellFormat, ColumnFormat
from rho.shell.main import main
from rho.tests.backend.files.loading import BOOL, C64, C128, CHAR, F32, F64, I32, I64, SPAN, U8, load, np
from rho.tests.harness.values import text

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
        ('"x, y",z\n1,2\n', F64, 2, (1.0, 2.0)), ("\n" * 3000 + "a\n" + "\n" * 2500 + "1\n\n2", F64, 1, (1.0, 2.0)),
        ("1," * 400_000 + "2\n", I64, 2, (*([1] * 400_000), 2)), ("1\r\n\r\n2\r\n", I64, 1, (1, 2)),
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


def test_a_missing_date_is_null_in_json_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("day,at,name\n2024-01-02,2024-01-02T03:04:05,a\n,,\n", encoding="utf-8")
    text = (
        'input day : date[n] ← "t.csv:day" missing ⎕nat\ninput at : time[n] ← "t.csv:at" missing ⎕nat\n'
        'input name : char[n w] ← "t.csv:name" missing ""\noutput a ← day\noutput b ← at\noutput c ← day as "%d.%m.%Y"\n'
        "output d ← name\n"
    )
    (tmp_path / "p.rho").write_text(text, encoding="utf-8")
    written = tmp_path / "o.jsonl"
    assert main(["run", str(tmp_path / "p.rho"), "--out", f"a,b,c,d={written}"]) == 0
    rows = [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]
    assert rows[0] == {"a": "2024-01-02", "b": "2024-01-02T03:04:05", "c": "02.01.2024", "d": "a"}
    assert rows[1] == {"a": None, "b": None, "c": None, "d": ""}
    back = 'input a : date[n] ← "o.jsonl:a" missing ⎕nat\ninput b : time[n] ← "o.jsonl:b" missing ⎕nat\na\nb\n'
    (tmp_path / "q.rho").write_text(back, encoding="utf-8")
    capsys.readouterr()
    assert main(["run", str(tmp_path / "q.rho")]) == 0
    assert capsys.readouterr().out == "2024-01-02 NaT\n2024-01-02T03:04:05 NaT\n"


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_wide_tables_are_written_in_blocks_of_bounded_memory(suffix: str, tmp_path: Path) -> None:
    """Blocks of as many rows as of one column took memory for each of the columns."""
    days, texts = np.arange(60_000).reshape(150, 400), np.full((300, 600), "a")
    outputs = [("d", days, I64, ColumnFormat(CellFormat.DATE))], [("t", texts, CHAR, AS_WRITTEN), ("s", texts, CHAR, AS_WRITTEN)]
    for table in outputs:
        prepared = prepare_table(str(tmp_path / f"t.{suffix}"), table, SPAN)
        tracemalloc.start()
        try:
            write_together([prepared])
            assert tracemalloc.get_traced_memory()[1] < JsonLinesSink.working_memory
        finally:
            tracemalloc.stop()
    lines = (tmp_path / f"t.{suffix}").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 300 + (suffix == "csv") and all(line.count("a" * 600) == 2 for line in lines[-300:])
