"""Inputs that workers read from their files: the bits of one device, and its failures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.cluster import worker
from rho.backend.io.external_arrays import StoredInput, fingerprint_of
from rho.tests.cluster.stored import SHARED, by_name, cluster_plan, failure, loaded, readers, zarr_folder

pytestmark = pytest.mark.long

PROGRAMS = {
    "a sum": "input x : f64[n] ← \"x.npy\"\ny ← +/√1+x×x\noutput y\n",
    "turns of a stencil": "input x : f64[n] ← \"x.npy\"\noutput y ← {⍵+0.1×(1⌽⍵)+(¯1⌽⍵)-2×⍵}⍣30 ⊢ x\n",
    "columns": "input m : f64[r c] ← \"m.npy\"\noutput y ← +⌿m\noutput z ← +/m\n",
    "columns that lie one after the other": "input m : f64[r c] ← \"f.npy\"\noutput y ← +⌿m\noutput z ← +/m\n",
    "whole numbers that become floats": "input k : f64[n] ← \"k.npy\"\noutput y ← +/k×k\n",
    "an array of an archive": "input m : f64[r c] ← \"a.npz:m\"\noutput y ← +/√m×m\n",
    "chunks": "input m : f64[r c] ← \"m.zarr\"\noutput y ← +/√m×m\n",
    "groups of rows": "input x : f64[n] ← \"t.parquet:x\"\noutput y ← +/√1+x×x\n",
    "lines of text": "input m : f64[r c] ← \"m.csv\"\noutput y ← +⌿m\noutput z ← +/m\n",
    "cells of a column": "input x : f64[n] ← \"q.csv:price\" missing 0 sep \";\"\noutput y ← +/√1+x×x\n",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_workers_read(cluster: rho.Cluster, files: Path, name: str) -> None:
    if name == "groups of rows":
        parquet = pytest.importorskip("pyarrow.parquet")
        table = pytest.importorskip("pyarrow").table({"x": np.load(files / "x.npy")})
        parquet.write_table(table, files / "t.parquet", row_group_size=90_000)
    program = loaded(files, PROGRAMS[name])
    alone = program.run()
    apart = program.run(cluster=cluster)
    assert {key: value.tobytes() for key, value in apart.items()} == {key: value.tobytes() for key, value in alone.items()}
    assert readers(cluster_plan(program))


def test_a_worker_reads_its_part_of_a_file(cluster: rho.Cluster, files: Path) -> None:
    program = loaded(files, SHARED)
    assert by_name(program.run(cluster=cluster)) == by_name(program.run())
    assert readers(cluster_plan(program)) == {"w0", "w1"}
    given = loaded(files, SHARED)
    x = np.load(files / "x.npy")
    assert by_name(given.run(x=x, cluster=cluster)) == by_name(program.run())
    assert not readers(cluster_plan(given))


def test_a_file_that_one_worker_does_not_see_goes_through_home(
    cluster: rho.Cluster, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blind(inputs: list[StoredInput], marks: list[Any], *, probe: bool) -> dict[str, Any]:
        return {"same": [False for _ in inputs], "there": [False for _ in marks], "size": [], "ns": []}

    monkeypatch.setattr(worker, "visible_files", blind)
    program = loaded(files, SHARED)
    assert by_name(program.run(cluster=cluster)) == by_name(program.run())
    assert not readers(cluster_plan(program))


def test_a_file_that_changes_after_it_was_seen_is_told(cluster: rho.Cluster, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(50_000.0))
    program = loaded(tmp_path, SHARED)
    program.run(cluster=cluster)
    home = cluster.connection.cluster
    attempt = home.attempt

    def late(*given: Any) -> Any:
        os.utime(tmp_path / "x.npy", (1, 1))
        return attempt(*given)

    home.attempt = late
    with pytest.raises(rho.RunFailed, match=r"`x.npy` changed while it was read, or is another file for a worker"):
        program.run(cluster=cluster)


BROKEN = 'input k : i64[n] ← "k.npy"\ninput m : f64[r c] ← "m.zarr"\noutput y ← 100÷k-3\noutput z ← +/m\n'


def test_a_broken_file_fails_before_the_program_does(cluster: rho.Cluster, tmp_path: Path) -> None:
    np.save(tmp_path / "k.npy", np.arange(9))
    zarr_folder(tmp_path / "m.zarr", np.ones((2_000, 30)))
    (tmp_path / "m.zarr" / "2.0").write_bytes(b"short")
    program = loaded(tmp_path, BROKEN)
    alone = failure(program.run)
    assert failure(lambda: program.run(cluster=cluster)) == alone
    assert alone[0][0] == "E705"


@pytest.mark.parametrize("text", ["2,no", "2,3,4", '2,"3'], ids=["a cell", "a record", "a quote"])
def test_a_broken_line_of_a_worker_is_named_as_at_home(cluster: rho.Cluster, tmp_path: Path, text: str) -> None:
    lines = [f"{at},{at * 0.5}" for at in range(60_000)]
    lines[50_000] = text
    (tmp_path / "m.csv").write_text("a,b\n" + "\n".join(lines), encoding="utf-8")
    program = loaded(tmp_path, 'input x : f64[n] ← "m.csv:b"\noutput y ← +/√1+x×x\n')
    alone = failure(program.run)
    assert "line 50002" in alone[0][1]
    assert failure(lambda: program.run(cluster=cluster)) == alone


def test_what_is_declared_of_all_items_is_checked_at_home(cluster: rho.Cluster, tmp_path: Path) -> None:
    np.save(tmp_path / "k.npy", np.array([0, 5, 2]))
    program = loaded(tmp_path, 'input k : int<0..4>[n] ← "k.npy"\noutput y ← +/k\n')
    assert failure(lambda: program.run(cluster=cluster)) == failure(program.run)


def test_marks(tmp_path: Path) -> None:
    """Another size, time or beginning is another file; a link is not a file."""
    path = tmp_path.resolve() / "x.npy"
    np.save(path, np.arange(3.0))
    mark = fingerprint_of(str(path))
    assert mark is not None and mark == fingerprint_of(str(path))
    (path.parent / "link.npy").symlink_to(path)
    assert fingerprint_of(str(path.parent / "link.npy")) is None
    assert fingerprint_of(str(path.parent / "none.npy")) is None
    time = path.stat().st_mtime_ns
    np.save(path, np.arange(3.0) + 1)
    os.utime(path, ns=(time, time))
    assert fingerprint_of(str(path)) != mark
    zarr_folder(path.parent / "m.zarr", np.ones((1_000, 2)))
    folder = fingerprint_of(str(path.parent / "m.zarr"))
    (path.parent / "m.zarr" / "1.0").write_bytes(b"")
    assert folder is not None and fingerprint_of(str(path.parent / "m.zarr")) != folder


def test_a_value_from_a_file_may_stay_on_a_worker(cluster: rho.Cluster, files: Path) -> None:
    program = loaded(files, SHARED.replace("split y rows 1:1 over w0 w1", "place y on w0\n  keep x on w0"))
    for _ in range(2):
        assert by_name(program.run(cluster=cluster)) == by_name(program.run())
    assert readers(cluster_plan(program)) == {"w0"}
