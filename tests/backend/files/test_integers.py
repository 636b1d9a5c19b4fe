"""Integers to 2*63-1, digit for digit: every format that is read, every format that is written, literals and display."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.io.reading import InputSpec, read_shape, read_values
from rho.backend.io.writing import write_values
from rho.lang.syntax.source import Span
from rho.typechecker.elements import Kind

SPAN = Span("<test>", 0, 0)
NUMBERS = [2**63 - 1, -(2**63), 2**63 - 2, 2**53, 2**53 + 1, -(2**53) - 1, 10**18, 10**18 + 1, 1700000000123, 2**31, -1, 0]
ITEMS = np.array(NUMBERS)


def made(path: Path) -> str:
    """A file of the numbers that other programs wrote; the name to read it by."""
    match path.suffix:
        case ".npy":
            np.save(path, ITEMS)
        case ".npz":
            np.savez_compressed(path, x=ITEMS)
            return f"{path}:x"
        case ".parquet":
            pa: Any = pytest.importorskip("pyarrow")
            from pyarrow import parquet

            parquet.write_table(pa.table({"x": NUMBERS}), path)
            return f"{path}:x"
        case ".zarr":
            zarr: Any = pytest.importorskip("zarr")
            zarr.save_array(str(path), ITEMS)
        case ".tsv":
            path.write_text("x\ty\n" + "".join(f"{n}\t1\n" for n in NUMBERS))
            return f"{path}:x"
        case _:
            path.write_text("".join(f"{n}\n" for n in NUMBERS))
    return str(path)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".npy", ".npz", ".parquet", ".zarr"])
def test_read(tmp_path: Path, suffix: str) -> None:
    name = made(tmp_path / f"x{suffix}")
    wanted = InputSpec(Kind.I64, 1, SPAN)
    assert read_values(name, wanted, read_shape(name, wanted)).tolist() == NUMBERS


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".npy", ".json", ".txt"])
def test_written(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    write_values(str(path), ITEMS, Kind.I64, SPAN)
    match suffix:
        case ".npy":
            found = np.load(path).tolist()
        case ".json":
            found = json.loads(path.read_text())["data"]
        case _:
            found = [int(word.replace("¯", "-")) for word in path.read_text().split()]
    assert found == NUMBERS


def test_literals_and_display() -> None:
    text = " ".join(str(n).replace("-", "¯") for n in NUMBERS)
    assert rho.eval(text).tolist() == NUMBERS
    assert "".join(rho.eval(f"⍕{text}").tolist()) == text
    assert rho.compile("{⍵}")(ITEMS).tolist() == NUMBERS
