"""An interrupt while a library writes: nothing is written later, into a closed file or another, and nothing is said."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rho.backend.io.csv import TextSink
from rho.backend.io.parquet import ParquetSink, _RowGroups
from rho.backend.io.writing import prepare_values, write_together
from rho.lang.syntax.source import Span
from rho.typechecker.elements import Kind

pytestmark = pytest.mark.long

SPAN = Span("p.rho", 0, 0)
ITEMS = np.arange(1_200_000, dtype="f8")


@pytest.fixture(autouse=True)
def _nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> Any:
    said: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    yield
    gc.collect()
    assert not [(one.exc_type, one.exc_value) for one in said]


@pytest.mark.parametrize("call", [1, 2, 3])
def test_parquet_interrupted_beside_other_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int) -> None:
    pytest.importorskip("pyarrow")
    original, calls = _RowGroups.write, [0]

    def write(self: Any, parts: Any) -> None:
        calls[0] += 1
        if calls[0] == call:
            raise KeyboardInterrupt
        original(self, parts)

    monkeypatch.setattr(_RowGroups, "write", write)
    files = [prepare_values(str(tmp_path / name), ITEMS, Kind.F64, SPAN) for name in ("a.npy", "b.parquet", "c.csv")]
    with pytest.raises(KeyboardInterrupt):
        write_together(files)
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("type", [ParquetSink, TextSink])
def test_rows_that_are_discarded_go_nowhere(tmp_path: Path, type: Any) -> None:
    if type is ParquetSink:
        pytest.importorskip("pyarrow")
    suffix = ".parquet" if type is ParquetSink else ".csv"
    sink = type(str(tmp_path / f"x{suffix}"), Kind.F64, ITEMS.shape, "x")
    sink.begin()
    sink.put(ITEMS[:600_000], 0, 0)
    sink.discard()
    other = os.open(tmp_path / "other", os.O_WRONLY | os.O_CREAT)
    assert other == sink.handle
    del sink
    gc.collect()
    os.close(other)
    assert [(path.name, path.stat().st_size) for path in tmp_path.iterdir()] == [("other", 0)]
