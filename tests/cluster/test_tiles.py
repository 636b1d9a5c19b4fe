"""Programs larger than one memory in tiles on several workers: the bits of one device, within the limit of each."""

from __future__ import annotations

import errno
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.lib.format import write_array_header_1_0
from share import SEED, again, seeds, share

import rho
from rho.backend.cluster import worker
from rho.backend.cluster.client import TiledAttempt
from rho.backend.io import parquet
from rho.backend.io.columns import JsonLinesSink
from rho.backend.io.csv import TextSink
from rho.backend.schedule.plan.plan import DeviceId, StreamStep, TileShare
from rho.backend.schedule.streams.pass_checks import faults_of_streams
from rho.backend.schedule.streams.stream_planning import Stored, TileDevice, plan_streams
from rho.lang.diagnostics.model import Code, Refused, RhoError, RunFailed
from rho.lang.support import files
from rho.lang.syntax.source import Source
from rho.shell.display.plan_output import stream_lines, tile_lines
from rho.shell.execution.run_request import Limits, RunRequest
from rho.shell.execution.scheduling import PlanPurpose, Scheduling
from rho.shell.execution.streaming import InTiles, passes_of, require_sizes_known, stages_of
from rho.shell.pipeline import Session
from rho.shell.pipeline_types import LoadedProgram
from rho.tests.cluster.residents import Spawned, Threads, cluster_of
from rho.tests.streams.programs import CASES, Case, data
from rho.tests.streams.running import loaded, results, same_bits, store, unfinished
from rho.tests.streams.test_random_programs import LIMIT, ROWS, program, stored_vectors

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored_vectors(tmp_path_factory.mktemp("stored"), ROWS)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cases")
    for name, array in data(1_000_003).items():
        np.save(folder / f"{name}.npy", array)
    return folder


@pytest.fixture(scope="module")
def clusters(threads: Threads) -> Iterator[dict[int, rho.Cluster]]:
    made = {count: cluster_of(threads, count) for count in (1, 2, 3)}
    yield made
    for one in made.values():
        one.connection.cluster.close()


@pytest.fixture(autouse=True)
def _no_temporaries() -> Iterator[None]:
    """Runs whose plan is all that is asked for leave the files that they streamed unfinished."""
    yield
    files.remove_live()


def dealt(text: str, folder: Path, limit: int, cluster: rho.Cluster, suffix: str = "npy") -> LoadedProgram:
    """The program with its inputs from `folder`, its tiles dealt to the workers of a cluster with `limit` bytes each."""
    session, scheduling = Session(), Scheduling(PlanPurpose.RUN, cluster=cluster.connection)
    checked = session.check(Source("p.rho", text))
    assert checked.core is not None, checked.diagnostics
    inputs = {entry.name: str(folder / f"{entry.name}.npy") for entry in checked.core.data}
    outputs = {entry.name: str(folder / f"dealt-{entry.name}-{limit}.{suffix}") for entry in checked.core.outputs}
    return session.load(checked, RunRequest(inputs, {}, outputs, Limits(limit)), scheduling=scheduling)


def require_kept_to(planned: LoadedProgram, limit: int, tiles: dict[str, dict[str, int]]) -> None:
    """Each device has run the passes and tiles, and read the bytes, of its shares; nobody's memory is more than the limit."""
    assert max(count for _, count in planned.plan.main.peak) <= limit
    shares = [one for step in passes_of(planned.plan) for one in step.shares]
    for device in {one.device for one in shares} if not stages_of(planned) else ():
        mine, counted = [one for one in shares if one.device == device], tiles[str(device)]
        alone = [step for step in passes_of(planned.plan) if not step.shares and device == planned.plan.home]
        assert counted["read_bytes"] == sum(one.reads for one in mine) + sum(step.reads for step in alone)
        assert counted["passes"] == len(mine) + len(alone)


@pytest.mark.parametrize("seed", seeds(120, least=4))
def test_random_programs_have_the_bits_of_one_device(
    seed: int, folder: Path, clusters: dict[int, rho.Cluster]
) -> None:  # fmt: skip
    text, cluster = program(seed), clusters[1 + seed % 3]
    try:
        alone = loaded(text, folder, LIMIT)
    except Refused:
        return
    if not alone.streams:
        return
    planned = dealt(text, folder, LIMIT, cluster)
    print(again(f"{Path(__file__).name}::test_random_programs_have_the_bits_of_one_device"), text)
    ran = Session().run(planned)
    require_kept_to(planned, LIMIT, ran.plan.get("tiles", {}))
    assert same_bits(results(planned), results(alone)), (SEED, text)


@pytest.mark.parametrize("case", share(CASES), ids=lambda case: case.name)
def test_programs_that_stream_have_the_bits_of_one_device(
    case: Case, cases: Path, clusters: dict[int, rho.Cluster]
) -> None:  # fmt: skip
    planned = dealt(case.text, cases, case.limit, clusters[1 + len(case.name) % 3])
    assert max(count for _, count in planned.plan.main.peak) <= case.limit
    assert same_bits(results(planned), results(loaded(case.text, cases, case.limit)))


KEYED = "input x : f64[n] where n ≥ 8\ninput k : idx<9>[n]\n9 {} (k ⋄ {})"


@pytest.mark.parametrize("text", ["+⌸", "×⌸", "∨⌸"])
def test_tables_by_key_that_are_exact_in_any_order_are_joined(text: str, folder: Path, clusters: dict[int, rho.Cluster]) -> None:
    items = {"+⌸": "k×⌊x×1e6", "×⌸": "1+2×⌊x×9", "∨⌸": "x>0.5"}[text]
    source = KEYED.format(text, items)
    planned = dealt(source, folder, LIMIT, clusters[2])
    assert {len(step.shares) for step in passes_of(planned.plan)} == {3}
    assert same_bits(results(planned), results(loaded(source, folder, LIMIT)))
    for other in (KEYED.format("+⌸", "x"), KEYED.replace("\n9 ", "\n5000 ").format(text, items)):  # rounded, and large
        planned = dealt(other, folder, LIMIT, clusters[2])
        assert [step.undivided for step in passes_of(planned.plan)] == ["each tile continues from the one before"]
        assert same_bits(results(planned), results(loaded(other, folder, LIMIT)))


SCANS = (
    "z ← ⌈\\x\noutput z\n+/k=⌊\\9-k", "+/8|+\\k\nz ← +\\k×3\noutput z", "z ← ∨\\x>0.9999\noutput z\n+/z",
    "z ← ⌊⍀(x+k) ⍪⍤0 ⊢ x\noutput z", "z ← +\\x-0.5\noutput z\n⌈/+\\x×k", "z ← +⍀(x+k) ⍪⍤0 ⊢ x\noutput z",
    "z ← 1÷1+⌊+\\x×0.5\noutput z\n⌈/×\\1+k", "z ← +\\1e300×x-0.5\noutput z", "(+/+\\9↓x)+1×⌈/+\\k",
    "z ← ×\\0.5+x\noutput z", "z ← ×\\1e200*3>|x\noutput z\n⌈/×\\x", "z ← ×⍀(0.5+x) ⍪⍤0 ⊢ k-4\noutput z",
    "z ← +\\f32 x\noutput z", "z ← +\\(⌊n÷2)↑x\noutput z\n+/x×2",
)  # fmt: skip


@pytest.mark.parametrize("text", share(SCANS, 1))
def test_scans_take_two_rounds(text: str, folder: Path, clusters: dict[int, rho.Cluster]) -> None:
    """What devices leave is where the next begins; all but the last read their rows twice."""
    source = f"input x : f64[n] where n ≥ 8\ninput k : idx<9>[n]\n{text}"
    for count in (1, 2, 3):
        planned = dealt(source, folder, LIMIT, clusters[count])
        dealt_passes = [step for step in passes_of(planned.plan) if len(step.shares) == count + 1]
        assert dealt_passes and all(step.shares[0].reads > step.shares[-1].reads for step in dealt_passes)
        assert same_bits(results(planned), results(loaded(source, folder, LIMIT)))
        ran = Session().run(planned).plan["tiles"]
        assert {name: counted["read_bytes"] for name, counted in ran.items()} == {
            str(one.device): sum(step.shares[at].reads for step in dealt_passes) for at, one in enumerate(dealt_passes[0].shares)
        }  # fmt: skip


@pytest.mark.parametrize("text", ["z ← +\\+\\k\noutput z", "z ← +\\k-⌊\\k\noutput z", "z ← ⌈\\x-+\\x\noutput z"])
def test_a_scan_of_what_follows_a_scan_stays_on_one_device(text: str, folder: Path, clusters: dict[int, rho.Cluster]) -> None:
    """What the second one leaves depends on where the first one begins."""
    source = f"input x : f64[n] where n ≥ 8\ninput k : idx<9>[n]\n{text}"
    planned = dealt(source, folder, LIMIT, clusters[2])
    assert [step.undivided for step in passes_of(planned.plan)] == ["each tile continues from the one before"]
    assert same_bits(results(planned), results(loaded(source, folder, LIMIT)))


def test_a_program_of_python_runs_in_tiles(folder: Path, clusters: dict[int, rho.Cluster], tmp_path: Path) -> None:
    """From its files, where it takes more than the session allows; what is given as an array does not stream."""
    script = tmp_path / "sum.rho"
    script.write_text(f'param f ← 2\ninput x : f64[n] ← "{folder / "x.npy"}"\noutput s ← +/f×x\n⌈/¯∞,2↑x\n', encoding="utf-8")
    wanted, few = rho.load(script).run(f=3), rho.load(script, rho.Session(max_memory=LIMIT))
    got = few.run(cluster=clusters[2], f=3)
    assert got["s"].tobytes() == wanted["s"].tobytes() and got.printed == wanted.printed
    for given in ({}, {"cluster": clusters[2], "x": np.load(folder / "x.npy")}):
        with pytest.raises(rho.Refused) as refused:
            few.run(**given)
        assert refused.value.diagnostics[0].code == "E702"


SUM = "input x : f64[n] where n ≥ 8\ninput k : idx<9>[n]\nz ← x×2\noutput z\n+/x×0.0+k"


def test_shares_are_printed_before_and_after_the_run(folder: Path, clusters: dict[int, rho.Cluster]) -> None:
    planned = dealt(SUM, folder, LIMIT, clusters[2])
    (step,) = passes_of(planned.plan)
    assert {str(one.device) for one in step.shares} == {"home", "w0", "w1"}
    tiles = [one.stop - one.first for one in step.shares]
    assert max(tiles) <= 2 * min(tiles), "processes of one machine that are alike have alike shares"
    head, *lines = stream_lines(planned)
    assert "in 1 pass of" in head and [line.split(":")[0].strip() for line in lines] == ["home", "w0", "w1"]
    ran = Session().run(planned)
    assert [line.split(" in ")[1] for line in tile_lines(ran.plan)] == [line.split(" in ")[1].split(",")[0] for line in lines]
    require_kept_to(planned, LIMIT, ran.plan["tiles"])
    with pytest.raises(Refused, match="dealt to the workers"):
        require_sizes_known(planned, "a plan that is kept")


@pytest.mark.parametrize(
    ("text", "suffix", "why"),
    [
        ("input x : f64[n]\ninput k : idx<9>[n]\n9 +⌸ (k ⋄ x)", "npy", "each tile continues from the one before"),
        ("input x : f64[n]\nz ← x[⍋x]\noutput z", "npy", "it reads a temporary file of home"),
    ],
)
def test_why_one_device_runs_a_pass_is_said(
    text: str, suffix: str, why: str, folder: Path, clusters: dict[int, rho.Cluster]
) -> None:  # fmt: skip
    planned = dealt(text, folder, 3_000_000, clusters[2], suffix)
    assert why in [step.undivided for step in passes_of(planned.plan)]


@pytest.mark.parametrize("at", ["a worker's rows", "the last of them", "joining"])
def test_a_disk_that_is_full_leaves_nothing(
    at: str, tmp_path: Path, clusters: dict[int, rho.Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(TextSink, "working_memory", 1 << 14)
    planned = dealt("input x : f64[n]\nz ← x×2\noutput z", stored_vectors(tmp_path, 90_003), 700_000, clusters[2], "csv")
    (path,) = planned.request.outputs.values()
    Path(path).write_text("as it was")
    name = {"a worker's rows": "append", "the last of them": "suspend", "joining": "join"}[at]
    usual = getattr(TextSink, name)

    def failing(sink: TextSink, *rows: object) -> None:
        if sink.first or at == "joining":
            raise OSError(errno.ENOSPC, "No space left on device")
        usual(sink, *rows)

    monkeypatch.setattr(TextSink, name, failing)
    with pytest.raises(RunFailed) as failed:
        store(planned)
    (one,) = failed.value.diagnostics
    assert one.code == Code.E708 and path in one.message and "No space left" in one.message
    assert Path(path).read_text() == "as it was" and not [*tmp_path.glob(".*")]


TABLES = {
    "x": "z ← x×2\noutput z", "k": "z ← k\noutput z\ny ← ⌽x\noutput y", "m": "z ← (x+k) ⍪⍤0 ⊢ x\noutput z\n⌈/+\\x",
    "s": "z ← +\\x-0.5\noutput z", "f": "z ← f32 x\noutput z ← z\nw ← (⌊n÷3)↑x\noutput w",
}  # fmt: skip


SUFFIXES = ("csv", "tsv", "jsonl", "parquet", "arrow")


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize(("name", "suffix"), share([(name, suffix) for name in TABLES for suffix in SUFFIXES], 2))
def test_rows_of_tables_are_joined_in_order(
    name: str, suffix: str, seen: bool, tmp_path: Path, clusters: dict[int, rho.Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """Each device writes its part beside the file, or sends its rows where it does not see that folder; the bytes are those of
    one device."""
    if suffix in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(parquet, "_GROUP", 1 << 13)
    for sink in (TextSink, JsonLinesSink, parquet.ParquetSink):
        monkeypatch.setattr(sink, "working_memory", 1 << 14)
    if not seen:
        hide(monkeypatch, "seen")
    folder, limit = stored_vectors(tmp_path, 90_003), 700_000
    text = f"input x : f64[n] where n ≥ 8\ninput k : idx<9>[n]\n{TABLES[name]}"
    alone = loaded(text, folder, None, suffix=suffix)
    store(alone)
    planned = dealt(text, folder, limit, clusters[2], suffix)
    assert {len(step.shares) for step in passes_of(planned.plan)} == {3}
    store(planned)
    for output, path in planned.request.outputs.items():
        assert Path(path).read_bytes() == Path(alone.request.outputs[output]).read_bytes()
    assert not unfinished() and not [*folder.glob(".*")]


def hide(monkeypatch: pytest.MonkeyPatch, hidden: str) -> None:
    """Nobody sees files whose paths have this in them."""
    usual = worker.fingerprint_of
    monkeypatch.setattr(worker, "fingerprint_of", lambda path: None if hidden in path else usual(path))


def test_a_file_that_workers_do_not_see_is_read_by_home_alone(
    folder: Path, clusters: dict[int, rho.Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    alone = results(loaded(SUM, folder, LIMIT))
    for hidden, shared in (("x.npy", False), ("seen", True)):
        hide(monkeypatch, hidden)
        planned = dealt(SUM, folder, LIMIT, clusters[2])
        (step,) = passes_of(planned.plan)
        assert bool(step.shares) is shared and ("`x`" in step.undivided) is not shared
        assert same_bits(results(planned), alone)  # rows of what workers cannot write are sent to home
        monkeypatch.undo()


def test_rows_follow_speed_and_memory(folder: Path, clusters: dict[int, rho.Cluster]) -> None:
    """A worker that is four times as quick as home has four times its tiles, and one with too little memory for a tile none."""
    planned = dealt("input x : f64[n]\n+/x*2", folder, LIMIT, clusters[2])
    assert isinstance(planned.run, InTiles)
    streaming = planned.run.streaming
    times = {"home": 4_000_000, "w0": 1_000_000, "w1": 8_000_000}
    home, quick, slow = streaming.devices
    unlike = [TileDevice(one.device, lambda tile, read, ns=times[str(one.device.id)]: ns) for one in (home, quick, slow)]
    replanned, _ = plan_streams(replace(streaming, devices=tuple(unlike)), planned.plan.devices[0])
    (step,) = passes_of(replanned)
    tiles = {str(one.device): one.stop - one.first for one in step.shares}
    assert 3 < tiles["w0"] / tiles["home"] < 5 and 1 < tiles["home"] / tiles["w1"] < 4
    poor = TileDevice(replace(quick.device, memory=1000), quick.ns)
    without, _ = plan_streams(replace(streaming, devices=(home, poor, slow)), planned.plan.devices[0])
    assert [str(one.device) for one in passes_of(without)[0].shares] == ["home", "w1"]


@pytest.mark.parametrize("text", ["+/x*2", "+/1=⌈\\x"])
def test_forged_shares_are_found(text: str, folder: Path, clusters: dict[int, rho.Cluster]) -> None:
    planned = dealt(f"input x : f64[n]\n{text}", folder, LIMIT, clusters[2])
    (step,), stored = passes_of(planned.plan), {"x": Stored((folder / "x.npy").stat().st_size - 128)}
    first, second, third = step.shares

    def faults(*shares: TileShare) -> list[str]:
        plan, (queue,) = planned.plan, planned.plan.main.queues
        steps = [replace(one, shares=shares) if isinstance(one, StreamStep) else one for one in queue.steps]
        plan = replace(plan, main=replace(plan.main, queues=(replace(queue, steps=tuple(steps)),)))
        return faults_of_streams(plan, planned.bound, stored, LIMIT)

    assert not faults(first, second, third)
    for forged in (
        (first, third), (first, replace(second, first=second.first + 1), third), (second, first, third),
        (first, second, replace(third, stop=third.stop + 1)), (first, replace(second, device=first.device), third),
        (first, replace(second, device=DeviceId("w9")), third), (first, replace(second, reads=second.reads + 8), third),
        (first, replace(second, memory=LIMIT), third),
    ):  # fmt: skip
        assert faults(*forged), forged


def test_a_row_that_fails_fails_as_on_one_device(tmp_path: Path, clusters: dict[int, rho.Cluster]) -> None:
    """A key outside its bins is in the last rows, which a worker reads; another one is in home's."""
    stored_vectors(tmp_path, ROWS)
    keys = np.zeros(ROWS, np.int64)
    for bad in ([ROWS - 5], [ROWS - 5, 7]):
        keys[bad] = 9 + np.arange(len(bad))
        np.save(tmp_path / "k.npy", keys)
        said = []
        for planned in (loaded(SUM, tmp_path, LIMIT), dealt(SUM, tmp_path, LIMIT, clusters[3])):
            with pytest.raises(RhoError) as failed:
                Session().run(planned)
            (one,) = failed.value.diagnostics
            said.append((one.code, one.message, one.span, one.notes))
        assert said[0] == said[1] and said[0][0] == Code.E706
    assert not list(tmp_path.glob("dealt-*"))


@pytest.fixture(scope="module")
def spawned() -> Iterator[Spawned]:
    made = Spawned(2)
    yield made
    made.close()


def memory_of(process: int) -> int:
    """The most bytes that a process has held since its counter was cleared."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's accounts of a process")
def test_a_sparse_file_in_the_memory_of_each_process(tmp_path: Path, spawned: Spawned) -> None:
    """A file of 30 times the limit, of zeros that take no disk, is read by three processes that keep to the limit each."""
    limit, text, grown = 8_000_000, "input x : f64[n] where n ≥ 8\nz ← +/(1+x×x)*0.5\nz\n⌈/x", []
    cluster = cluster_of(spawned, 2)
    for rows in (3_000_000, 30_000_000):
        with open(tmp_path / "x.npy", "wb") as file:
            write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (rows,)})
            file.truncate(file.tell() + 8 * rows)
        planned = dealt(text, tmp_path, limit, cluster)
        processes = [process.pid for process, _ in spawned.processes]
        for process in processes:
            Path(f"/proc/{process}/clear_refs").write_text("5", encoding="ascii")
        before = list(map(memory_of, processes))
        ran = Session().run(planned)
        assert [float(np.asarray(one.value)) for one in ran.printed] == [rows, 0.0]
        require_kept_to(planned, limit, ran.plan["tiles"])
        assert {*ran.plan["tiles"]} == {"home", "w0", "w1"}
        grown = [after - first for after, first in zip(map(memory_of, processes), before, strict=True)]
    cluster.connection.cluster.close()
    assert max(grown) <= limit + (1 << 20), grown


@pytest.mark.parametrize("suffix", ["npy", "csv"])
def test_a_lost_worker_is_made_up_for(suffix: str, tmp_path: Path, spawned: Spawned, monkeypatch: pytest.MonkeyPatch) -> None:
    spawned.fill(2)
    folder, cluster, said = stored_vectors(tmp_path, ROWS), cluster_of(spawned, 2), list[str]()
    cluster.connection.cluster.tell = said.append
    monkeypatch.setattr(TextSink, "working_memory", 1 << 14)
    alone = loaded(SUM, folder, LIMIT, suffix=suffix)
    planned, usual = dealt(SUM, folder, LIMIT, cluster, suffix), TiledAttempt.check

    def check(attempt: TiledAttempt) -> None:
        if not said and spawned.processes[1][0].poll() is None:
            spawned.signal(1, signal.SIGKILL)
            spawned.processes[1][0].wait()
        usual(attempt)

    monkeypatch.setattr(TiledAttempt, "check", check)
    assert same_bits(store(planned), store(alone))
    assert Path(planned.request.outputs["z"]).read_bytes() == Path(alone.request.outputs["z"]).read_bytes()
    assert any("runs again with 1 left" in words for words in said)
    assert [name.name for name in folder.glob("*") if name.name.startswith(".")] == []
    cluster.connection.cluster.close()
