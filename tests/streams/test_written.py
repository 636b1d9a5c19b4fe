"""Outputs written as they come: the bytes that the whole value gives, and nothing is left where that fails."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from rho.backend.io import csv
from rho.backend.io.csv import TextSink
from rho.backend.io.writing import sink_type
from rho.lang.diagnostics.model import Refused, RunFailed
from rho.lang.tree.program import AS_WRITTEN
from rho.shell.pipeline import Session
from rho.typechecker.elements import Kind

from .running import loaded, results, store, unfinished

pytestmark = pytest.mark.long

LIMIT = 10_000_000
_X = "input x : f64[n] where n ≥ 8\n"
_ENDINGS = "where its rows come in order FILE may also end in"
_TABLES = ".csv, .tsv, .parquet, .arrow, .feather, .jsonl, .ndjson"
_M = "input m : f64[n 12] where n ≥ 8\n"
TEXTS = {
    "a vector": _X + "z ← 1+x×x\noutput z\n+/z",
    "no numbers": _X + "z ← x÷0.0⌈x\noutput z",
    "truth": _M + "z ← m>0.5\noutput z",
    "whole numbers": _M + "z ← ⌊100×m\noutput z",
    "row sums": _M + "z ← 12 1⍴1.0\ny ← m+.×z\noutput y",
    "two files": _M + "z ← 2×m\noutput z\ny ← +\\+/m\noutput y",
    "reversed": _X + "z ← ⌽x\noutput z",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("stored")
    draw = np.random.default_rng(1)
    np.save(made / "x.npy", draw.standard_normal(500_003))
    np.save(made / "m.npy", draw.standard_normal((50_001, 12)))
    np.save(made / "days.npy", np.arange(500_003))
    return made


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("name", TEXTS)
def test_tables_are_those_of_the_whole_value(name: str, suffix: str, folder: Path) -> None:
    if (name, suffix) == ("no numbers", "jsonl"):  # JSON has no infinity
        (folder / f"out-z-{LIMIT}.jsonl").unlink(missing_ok=True)  # of another text
        with pytest.raises(RunFailed, match="cannot have the infinity in `z`"):
            Session().run(loaded(TEXTS[name], folder, LIMIT, suffix=suffix))
        assert not unfinished() and not (folder / f"out-z-{LIMIT}.jsonl").exists()
        return
    written = []
    for limit in (None, LIMIT):
        program = loaded(TEXTS[name], folder, limit, suffix=suffix)
        assert bool(program.plan.stores) == (limit is not None)
        assert all(count <= (limit or count) for _, count in program.plan.main.peak)
        store(program)
        written.append([Path(path).read_bytes() for path in program.request.outputs.values()])
    assert written[0] == written[1]
    assert not unfinished()


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "zarr.zip"])
def test_columns_and_chunks_are_those_of_the_whole_value(suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    draw, written = np.random.default_rng(2), []
    np.save(tmp_path / "x.npy", draw.random(6_000_000))
    np.save(tmp_path / "m.npy", draw.random((2_000_003, 3)))
    for limit in (None, 75_000_000):
        program = loaded("input x : f64[n] where n ≥ 8\ninput m : f64[r 3] where r ≥ 8\nz ← x×x\noutput z\ny ← m>0.5\noutput y",
                         tmp_path, limit, suffix=suffix)  # fmt: skip
        assert bool(program.plan.stores) == (limit is not None)
        store(program)
        written.append([Path(path).read_bytes() for path in program.request.outputs.values()])
    assert written[0] == written[1]
    assert not unfinished()


def test_chunks_are_written_in_any_order(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", np.random.default_rng(3).random((200_003, 7)))
    written = []
    for limit in (None, 4_000_000):
        program = loaded("input m : f64[r 7] where r ≥ 8\nz ← ⍉m\noutput z", tmp_path, limit, suffix="zarr.zip")
        assert bool(program.plan.stores) == (limit is not None)
        store(program)
        written.append(Path(program.request.outputs["z"]).read_bytes())
    assert written[0] == written[1]


def test_what_a_block_of_text_takes_is_in_the_plan(folder: Path) -> None:
    assert loaded(TEXTS["a vector"], folder, TextSink.working_memory // 2).plan.stores
    with pytest.raises(Refused, match="E702") as caught:
        loaded(TEXTS["a vector"], folder, TextSink.working_memory // 2, suffix="csv")
    assert "bytes for a tile of 4,096 rows" in " ".join(caught.value.diagnostics[0].notes)


@pytest.mark.parametrize(
    ("text", "suffix", "advice"),
    [
        (_M + "z ← ⍉m\noutput z", "csv", "write it with `--out z=FILE.npy`"),
        (_X + "z ← 1+x\noutput z", "json", f"z=FILE.npy`; {_ENDINGS} {_TABLES}, .zarr.zip"),
        ("input x : f64[n]\nz ← x×0J1\noutput z", "json", f"{_ENDINGS} .csv, .tsv, .zarr.zip"),
        (_X + "z ← x∘.+2 3⍴0.0\noutput z", "json", f"{_ENDINGS} .zarr.zip"),
        ('input days : date[n]\nz ← days+⎕days 1\noutput z as "%d.%m.%Y"', "npy", "without its format (`as`) it could"),
    ],
)
def test_a_file_that_takes_only_the_whole_is_told(text: str, suffix: str, advice: str, folder: Path) -> None:
    with pytest.raises(Refused) as caught:
        loaded(text, folder, 1_500_000, suffix=suffix)
    assert advice in " ".join(caught.value.diagnostics[0].notes)


def test_a_file_that_was_given_is_not_advised(folder: Path) -> None:
    with pytest.raises(Refused) as caught:
        loaded("input x : f64[n] where n ≥ 8\noutput x", folder, 400)
    (note,) = [note for note in caught.value.diagnostics[0].notes if "cannot stream" in note]
    assert "`output x` (line 2) needs" in note
    assert "--out" not in note


def test_the_axes_of_a_table(tmp_path: Path) -> None:
    np.save(tmp_path / "c.npy", np.random.default_rng(1).standard_normal((50_000, 3, 4)))
    program = loaded("input c : f64[n 3 4] where n ≥ 8\nz ← 2×c\noutput z", tmp_path, LIMIT, suffix="csv")
    with pytest.raises(RunFailed, match="a table has two"):
        Session().run(program)
    assert not unfinished()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.npy"]


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_of_a_table(failure: BaseException, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, count, put = loaded(TEXTS["a vector"], folder, 4_000_000, suffix="csv"), 0, TextSink.put
    Path(program.request.outputs["z"]).write_text("as it was")
    before = sorted(folder.iterdir())

    def failing(self: TextSink, slab: object, axis: int, first: int) -> None:
        nonlocal count
        count += 1
        if count == 3:
            raise failure
        put(self, slab, axis, first)

    monkeypatch.setattr(TextSink, "put", failing)
    with pytest.raises(RunFailed if isinstance(failure, OSError) else KeyboardInterrupt) as caught:
        results(program)
    assert "E708" in str(caught.value) or isinstance(failure, KeyboardInterrupt)
    assert sorted(folder.iterdir()) == before
    assert Path(program.request.outputs["z"]).read_text() == "as it was"
    assert not unfinished()


@pytest.mark.parametrize("suffix", ["npy", "csv", "tsv", "jsonl", "parquet", "arrow"])
def test_dates_and_differences_are_written_as_they_come(suffix: str, tmp_path: Path) -> None:
    """The same bytes as the whole value, missing ones too."""
    pytest.importorskip("pyarrow")
    outputs = {"npy": "tg", "csv": "tz", "tsv": "g", "jsonl": "tg", "parquet": "z", "arrow": "g"}[suffix]
    values = {"z": "d+⎕days 1", "t": "(⎕time d)+⎕duration 5", "g": "d-⎕date '2000-01-01'"}
    text = "input d : date[n] where n ≥ 8\n" + "".join(f"output {name} ← {values[name]}\n" for name in outputs)
    written = []
    count, limit = {"parquet": (4_000_000, 75_000_000), "arrow": (4_000_000, 75_000_000), "jsonl": (400_003, 12_000_000)}.get(
        suffix, (200_003, 6_000_000))
    days = np.random.default_rng(4).integers(-9000, 20000, count).astype("M8[D]")
    days[[7, count - 1]] = np.datetime64("NaT")
    np.save(tmp_path / "d.npy", days)
    for allowed in (None, limit):
        program = loaded(text, tmp_path, allowed, suffix=suffix)
        assert bool(program.plan.stores) == (allowed is not None)
        store(program)
        written.append([Path(path).read_bytes() for path in program.request.outputs.values()])
    assert written[0] == written[1]


def test_dates_beyond_the_calendar_are_refused_as_they_come(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.r_[np.arange(400_000), 10**8])
    program = loaded("input x : i64[n] where n ≥ 8\noutput z ← ⎕date x", tmp_path, 3_000_000, suffix="csv")
    assert program.plan.stores
    with pytest.raises(RunFailed, match="9999"):
        Session().run(program)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.npy"]


def test_text_has_no_rows_to_write() -> None:
    assert sink_type("z.csv", Kind.F64, AS_WRITTEN) is TextSink
    assert sink_type("z.CSV", Kind.CHAR, AS_WRITTEN) is None
    assert sink_type("z.png", Kind.F64, AS_WRITTEN) is None
    assert set(csv.DELIMITERS) == {".csv", ".tsv"}


def test_rows_out_of_order_or_missing_are_refused(tmp_path: Path) -> None:
    sink = TextSink(str(tmp_path / "z.csv"), Kind.F64, (4,), "z")
    sink.begin()
    sink.put(np.arange(2.0), 0, 0)
    with pytest.raises(Exception, match="in order"):
        sink.put(np.arange(1.0), 0, 3)
    with pytest.raises(Exception, match="not written whole"):
        sink.end()
    sink.discard()
    assert not os.listdir(tmp_path)
