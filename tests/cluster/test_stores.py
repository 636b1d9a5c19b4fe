"""Inputs that workers read from their files: the bits of one device, and its failures."""

from __future__ import annotations

import os
import random
import signal
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import share

import rho
from rho import backend
from rho.backend.devices.profile import STORE, Backend, DeviceProfile, LinkProfile, Profile
from rho.backend.reference import interpret
from rho.backend.run.cluster import resident
from rho.backend.run.cluster.shares import Process
from rho.backend.run.cluster.shipping import shipment
from rho.backend.run.cluster.wire import Lost
from rho.backend.run.files import Wanted, prepare_values, write_together, zarr_writing
from rho.backend.run.files.stored import StoredInput, mark_of, stored_input
from rho.backend.run.values import to_numpy
from rho.backend.schedule.facts.stores import written_as
from rho.backend.schedule.plan.model import Plan, TransferStep
from rho.backend.schedule.plan.parts import PlannedFile
from rho.backend.schedule.program.plan_of import plan_of
from rho.backend.schedule.program.problem_of import problem_of
from rho.backend.schedule.verify.plans import check_plan
from rho.lang.diagnostics import RhoError
from rho.lang.source import Source, Span
from rho.shell.cli.requests import Request
from rho.shell.execution.permissions import EVERYTHING
from rho.shell.execution.scheduling import Effort, Scheduling, Use
from rho.shell.execution.storing import writable
from rho.shell.session import Session
from rho.tests.backend.quick import split_evenly, with_modes
from rho.tests.backend.test_programs_on_devices import random_modes, same_bits, ticks_of, topology
from rho.tests.cluster.residents import Spawned, Threads, cluster_of, run_on
from rho.tests.graph.test_random import program
from rho.typechecker.elements import Kind

NOWHERE = Span("p.rho", 0, 0)


@pytest.fixture(scope="module")
def threads() -> Iterator[Threads]:
    made = Threads(4)
    yield made
    made.close()


@pytest.fixture
def cluster(threads: Threads) -> Iterator[rho.Cluster]:
    made = cluster_of(threads, 2)
    yield made
    made.attachment.cluster.close()


def with_files(profile: Profile) -> Profile:
    """The profile with a store that all devices read."""
    store = DeviceProfile("files", STORE, Backend.STORE, "", paths=("/",))
    links = [LinkProfile("files", device.name, latency_ns=1) for device in profile.devices]
    return replace(profile, devices=(*profile.devices, store), links=(*profile.links, *links))


def saved(folder: Path, data: dict[str, Any], kinds: dict[str, Kind]) -> dict[str, StoredInput]:
    """The arrays of a program that can be read in boxes, in files, in either order of the axes."""
    found: dict[str, StoredInput] = {}
    for place, (name, array) in enumerate(data.items()):
        path = str(folder / f"{name}.npy")
        if array.dtype.kind != "U":
            np.save(path, np.asfortranarray(array) if place % 2 else array)
            made = stored_input(path, Wanted(kinds[name], array.ndim, NOWHERE), array.shape)
            if made is not None:
                found[name] = made
    return found


@pytest.mark.parametrize("seed", share(range(100), seed=18))
def test_random_programs(threads: Threads, tmp_path: Path, seed: int) -> None:
    build, chance = program(seed), random.Random(seed)
    core, data = build.core(), {name: to_numpy(value) for name, value in build.data.items()}
    try:
        interpret(core, build.data, {})
    except RhoError:
        return
    bound = backend.load(core, data)
    alone = backend.execute(backend.plan(bound), bound, data)
    stored = saved(tmp_path, data, {entry.name: core.types[entry.value].element.kind for entry in core.inputs})
    endings = ["npy", "zarr.zip"]
    targets = {entry.name: str(tmp_path / f"{entry.name}-out.{chance.choice(endings)}") for entry in core.outputs}
    sinks = writable(core, bound, targets, EVERYTHING)
    there, given = replace(bound, lies=dict.fromkeys((*stored, *sinks), "files")), ticks_of(chance)
    here = lambda phase, group, cut, ns: None if group.id == "files" else given(phase, group, cut, ns)  # noqa: E731
    made = problem_of(there, with_files(topology(chance)), given=here)
    for answer in (split_evenly(made.problem), with_modes(made.problem, random_modes(made.problem, chance))):
        assert answer is not None
        plan = plan_of(made, answer)
        assert not check_plan(plan, there)
        begun = {name: one.anew() for name, one in sinks.items()}
        for one in begun.values():
            one.begin()
        found = run_on(threads, plan, there, data | stored | begun)
        outputs = {}
        for name, shown in found.outputs.items():
            one = begun.get(written_as(name))
            if one is not None:
                one.end()
                shown = shown._replace(value=one.sink.values())
            outputs[name] = shown
        assert same_bits(found._replace(outputs=outputs), alone)
        for one in begun.values():
            one.sink.discard()


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


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("files"), np.random.default_rng(5)
    x, m = rng.standard_normal(400_000), rng.standard_normal((3_000, 70))
    np.save(folder / "x.npy", x)
    np.save(folder / "m.npy", m)
    np.savez(folder / "a.npz", m=m, x=x)
    np.save(folder / "f.npy", np.asfortranarray(m))
    np.save(folder / "k.npy", np.arange(300_000, dtype=np.int32))
    zarr_folder(folder / "m.zarr", m)
    np.savetxt(folder / "m.csv", m, delimiter=",", fmt="%.5g")
    lines = [f'"a, ""{i}""\r\nb"; {item if i % 7 else ""}\r\n' for i, item in enumerate(x[:60_000].tolist())]
    (folder / "q.csv").write_text("name;price\r\n" + "".join(lines).rstrip(), encoding="utf-8", newline="")
    return folder


def zarr_folder(path: Path, array: Any) -> None:
    """Version 2, in chunks of 500 rows that are not compressed."""
    path.mkdir()
    rows, columns = array.shape
    (path / ".zarray").write_text(
        f'{{"zarr_format": 2, "shape": [{rows}, {columns}], "chunks": [500, {columns}], "dtype": "<f8", "compressor": null,'
        '"fill_value": 0, "order": "C", "filters": null}'
    )
    for place in range(0, rows, 500):
        (path / f"{place // 500}.0").write_bytes(np.ascontiguousarray(array[place : place + 500]).tobytes())


def loaded(folder: Path, text: str) -> rho.Program:
    (folder / "p.rho").write_text(text, encoding="utf-8")
    return rho.load(folder / "p.rho")


def cluster_plan(program: Any) -> Plan:
    (found,) = [plan for key, (_, plan) in program._plans.items() if len(key) == 3]
    return found


def readers(plan: Plan) -> set[str]:
    """Who reads from the store."""
    steps = [step for queue in plan.main.queues for step in queue.steps if isinstance(step, TransferStep)]
    return {str(step.target) for step in steps if step.source == "files"}


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




SHARED = "input x : f64[n] ← \"x.npy\"\noutput y ← √1+x×x\nschedule {\n  split y rows 1:1 over w0 w1\n}\n"  # fmt: skip


def by_name(result: Any) -> dict[str, bytes]:
    return {key: value.tobytes() for key, value in result.items()}


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

    monkeypatch.setattr(resident, "sight", blind)
    program = loaded(files, SHARED)
    assert by_name(program.run(cluster=cluster)) == by_name(program.run())
    assert not readers(cluster_plan(program))


def test_a_file_that_changes_after_it_was_seen_is_told(cluster: rho.Cluster, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(50_000.0))
    program = loaded(tmp_path, SHARED)
    program.run(cluster=cluster)
    home = cluster.attachment.cluster
    attempt = home.attempt

    def late(*given: Any) -> Any:
        os.utime(tmp_path / "x.npy", (1, 1))
        return attempt(*given)

    home.attempt = late
    with pytest.raises(rho.RunFailed, match=r"`x.npy` changed while it was read, or is another file for a worker"):
        program.run(cluster=cluster)


def failure(run: Callable[[], object]) -> list[tuple[str, str]]:
    with pytest.raises(rho.RhoError) as raised:
        run()
    return [(str(one.code), one.message) for one in raised.value.diagnostics]


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
    mark = mark_of(str(path))
    assert mark is not None and mark == mark_of(str(path))
    (path.parent / "link.npy").symlink_to(path)
    assert mark_of(str(path.parent / "link.npy")) is None
    assert mark_of(str(path.parent / "none.npy")) is None
    time = path.stat().st_mtime_ns
    np.save(path, np.arange(3.0) + 1)
    os.utime(path, ns=(time, time))
    assert mark_of(str(path)) != mark
    zarr_folder(path.parent / "m.zarr", np.ones((1_000, 2)))
    folder = mark_of(str(path.parent / "m.zarr"))
    (path.parent / "m.zarr" / "1.0").write_bytes(b"")
    assert folder is not None and mark_of(str(path.parent / "m.zarr")) != folder


def test_a_plan_is_written_once() -> None:
    plan = backend.plan(backend.load(program(3).core(), {name: to_numpy(value) for name, value in program(3).data.items()}))
    plan = replace(plan, program=(PlannedFile("p.rho", ""),))
    assert shipment(plan, ["fuse"]) is shipment(plan, {"fuse"}) is not shipment(plan, ())


def test_workers_who_are_left_keep_their_names_and_read_files(files: Path) -> None:
    spawned = Spawned(2)
    try:
        lossy = cluster_of(spawned, 2)
        home, told = lossy.attachment.cluster, list[str]()
        attempt, home.tell = home.attempt, told.append

        def killed(*given: Any) -> Any:
            home.attempt = attempt
            spawned.signal(0, signal.SIGKILL)
            return attempt(*given)

        home.attempt = killed
        lost, left = (loaded(files, SHARED.replace("split y rows 1:1 over w0 w1", f"place y on {name}")) for name in ("w0", "w1"))
        code, message = failure(lambda: lost.run(cluster=lossy))[0]
        assert code == "SCH107" and "w0" in message
        assert len(told) == 1 and [one.name for one in home.members] == ["w1"]
        assert by_name(left.run(cluster=lossy)) == by_name(left.run())
        assert readers(cluster_plan(left)) == {"w1"}
        home.close()
    finally:
        spawned.close()


def test_a_value_from_a_file_may_stay_on_a_worker(cluster: rho.Cluster, files: Path) -> None:
    program = loaded(files, SHARED.replace("split y rows 1:1 over w0 w1", "place y on w0\n  keep x on w0"))
    for _ in range(2):
        assert by_name(program.run(cluster=cluster)) == by_name(program.run())
    assert readers(cluster_plan(program)) == {"w0"}


def saved_by(cluster: rho.Cluster, folder: Path, text: str, target: Path, in_place: bool = True) -> Plan:
    """Run a program on a cluster and write its output `y`; the plan."""
    session = Session()
    (folder / "p.rho").write_text(text, encoding="utf-8")
    request = Request({}, {}, {"y": str(target)})
    scheduling = Scheduling(Use.RUN, cluster=cluster.attachment, in_place=in_place, effort=Effort.FAST)
    ready = session.load(session.check(Source(str(folder / "p.rho"), text)), request, scheduling=scheduling)
    outcome = session.run(ready)
    with outcome.kept_or_discarded():
        shown = outcome.outputs["y"]
        write_together([prepare_values(str(target), shown.value, shown.kind, NOWHERE)])
    return ready.plan


def writers(plan: Plan) -> set[str]:
    steps = [step for queue in plan.main.queues for step in queue.steps if isinstance(step, TransferStep)]
    return {str(step.source) for step in steps if step.target == "files"}


@pytest.mark.parametrize("suffix", ["npy", "zarr.zip"])
@pytest.mark.parametrize(
    "text",
    [SHARED, SHARED.replace("√1+x×x", "x>0"), SHARED.replace("√1+x×x", "⌊x×100")]
    + [f'input m : f64[r c] ← "m.npy"\noutput y ← {y}\n' for y in ("⍉m", "m+1", "+/m", "m[⍋+/m;]")],
)  # fmt: skip
def test_outputs_are_written_where_they_are_made(
    cluster: rho.Cluster, files: Path, tmp_path: Path, text: str, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zarr_writing, "CHUNK", 1 << 18)
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
    sight = resident.sight

    def blind(inputs: Any, marks: Any, *, probe: bool) -> dict[str, Any]:
        return sight(inputs, marks, probe=probe) | {"there": [False for _ in marks]}

    monkeypatch.setattr(resident, "sight", blind)
    made = saved_by(cluster, files, SHARED, tmp_path / "y.npy")
    assert readers(made) == {"w0", "w1"} and not writers(made)
    x = np.load(files / "x.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), np.sqrt(1 + x * x))


@pytest.mark.parametrize("suffix", ["npy", "zarr.zip"])
def test_outputs_are_written_anew_by_those_who_are_left(cluster: rho.Cluster, files: Path, tmp_path: Path, suffix: str) -> None:
    home, told = cluster.attachment.cluster, list[str]()
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


def test_a_block_that_names_a_lost_worker_says_that_it_was_lost(cluster: rho.Cluster, files: Path) -> None:
    home = cluster.attachment.cluster
    attempt = home.attempt

    def lost(*given: Any) -> Any:
        home.attempt = attempt
        raise Lost(Process(2), "it does not answer")

    home.attempt, home.tell = lost, lambda words: None
    for _ in range(2):
        with pytest.raises(rho.RhoError) as raised:
            loaded(files, SHARED).run(cluster=cluster)
        (one,) = raised.value.diagnostics
        assert one.code == "SCH107" and "it does not answer; those that are left are w0" in one.notes[-1]
