"""Outputs that workers write into their files: the bytes that home writes, and what failures leave."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.cluster import worker
from rho.backend.cluster.cluster_transport import Process
from rho.backend.cluster.wire import Lost
from rho.backend.io import zarr
from rho.backend.io.writing import prepare_values, write_together
from rho.backend.schedule.plan.plan import ExecutionPlan
from rho.lang.syntax.source import Source
from rho.shell.execution.run_request import RunRequest
from rho.shell.execution.scheduling import PlanningEffort, PlanPurpose, Scheduling
from rho.shell.pipeline import Session
from rho.tests.cluster.stored import NOWHERE, SHARED, readers, writers

pytestmark = pytest.mark.long


def saved_by(cluster: rho.Cluster, folder: Path, text: str, target: Path, in_place: bool = True) -> ExecutionPlan:
    """Run a program on a cluster and write its output `y`; the plan."""
    session = Session()
    (folder / "p.rho").write_text(text, encoding="utf-8")
    request = RunRequest({}, {}, {"y": str(target)})
    scheduling = Scheduling(PlanPurpose.RUN, cluster=cluster.connection, in_place=in_place, effort=PlanningEffort.FAST)
    ready = session.load(session.check(Source(str(folder / "p.rho"), text)), request, scheduling=scheduling)
    outcome = session.run(ready)
    with outcome.discarding_unsaved():
        shown = outcome.outputs["y"]
        write_together([prepare_values(str(target), shown.value, shown.kind, NOWHERE)])
    return ready.plan


@pytest.mark.parametrize("suffix", ["npy", "zarr.zip"])
@pytest.mark.parametrize(
    "text",
    [SHARED, SHARED.replace("√1+x×x", "x>0"), SHARED.replace("√1+x×x", "⌊x×100")]
    + [f'input m : f64[r c] ← "m.npy"\noutput y ← {y}\n' for y in ("⍉m", "m+1", "+/m", "m[⍋+/m;]")],
)  # fmt: skip
def test_outputs_are_written_where_they_are_made(
    cluster: rho.Cluster, files: Path, tmp_path: Path, text: str, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zarr, "CHUNK", 1 << 18)
    made = saved_by(cluster, files, text, tmp_path / f"there.{suffix}")
    alone = saved_by(cluster, files, text, tmp_path / f"home.{suffix}", in_place=False)
    assert writers(made) and not writers(alone)
    if text.startswith(SHARED[:12]):
        assert writers(made) == {"w0", "w1"}
    assert (tmp_path / f"there.{suffix}").read_bytes() == (tmp_path / f"home.{suffix}").read_bytes()
    assert suffix == "npy" or zipfile.ZipFile(tmp_path / "there.zarr.zip").testzip() is None
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"home.{suffix}", f"there.{suffix}"]


def test_an_output_that_is_an_input_is_written_at_home(cluster: rho.Cluster, files: Path, tmp_path: Path) -> None:
    """Found by random programs: what lies in a store is read from there or written there, not both."""
    text = 'input x : f64[n] ← "x.npy"\ny ← x\noutput y\n⎕←+/x\n'
    assert not writers(saved_by(cluster, files, text, tmp_path / "y.npy"))
    assert np.array_equal(np.load(tmp_path / "y.npy"), np.load(files / "x.npy"))


def test_a_run_that_fails_leaves_the_old_file_and_no_temporary(cluster: rho.Cluster, files: Path, tmp_path: Path) -> None:
    (tmp_path / "y.npy").write_bytes(b"old")
    text = 'input k : i64[n] ← "k.npy"\ny ← 100÷k-7\noutput y\n'
    with pytest.raises(rho.RhoError):
        saved_by(cluster, files, text.replace("100÷k-7", "(k+1)[k+1]"), tmp_path / "y.npy")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("y.npy", b"old")]


def test_outputs_in_a_folder_that_a_worker_does_not_see_are_written_at_home(
    cluster: rho.Cluster, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sight = worker.visible_files

    def blind(inputs: Any, marks: Any, *, probe: bool) -> dict[str, Any]:
        return sight(inputs, marks, probe=probe) | {"there": [False for _ in marks]}

    monkeypatch.setattr(worker, "visible_files", blind)
    made = saved_by(cluster, files, SHARED, tmp_path / "y.npy")
    assert readers(made) == {"w0", "w1"} and not writers(made)
    x = np.load(files / "x.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), np.sqrt(1 + x * x))


@pytest.mark.parametrize("suffix", ["npy", "zarr.zip"])
def test_outputs_are_written_anew_by_those_who_are_left(cluster: rho.Cluster, files: Path, tmp_path: Path, suffix: str) -> None:
    home, told = cluster.connection.cluster, list[str]()
    attempt, home.tell = home.attempt, told.append

    def lost(*given: Any) -> Any:
        home.attempt = attempt
        attempt(*given)
        raise Lost(Process(1), "it was lost when all was written")

    text = 'input m : f64[r c] ← "m.npy"\noutput y ← m+1\n'
    saved_by(cluster, files, text, tmp_path / f"home.{suffix}", in_place=False)
    home.attempt = lost
    assert writers(saved_by(cluster, files, text, tmp_path / f"there.{suffix}"))
    assert len(told) == 1
    assert (tmp_path / f"there.{suffix}").read_bytes() == (tmp_path / f"home.{suffix}").read_bytes()
