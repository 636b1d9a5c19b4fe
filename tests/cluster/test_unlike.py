"""Workers that are unlike: each has its own cost tables and says how quick it is at present, or is what a profile declares."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rho import backend
from rho.backend.calibration.calibrate import Pace
from rho.backend.cluster import cluster_profile, worker
from rho.backend.cluster.client import ClusterClient
from rho.backend.cluster.cluster_profile import DeclaredDevices, Tables, profile_of, profile_of_members, threads_of
from rho.backend.cluster.cluster_transport import message_ns
from rho.backend.cluster.membership import ClusterMember, share_of_processors
from rho.backend.cluster.wire import SIZES
from rho.backend.devices.cost_functions import Ticks
from rho.backend.devices.phase_cost import with_messages
from rho.backend.devices.profile import CostTable, DeviceProfile, Profile
from rho.backend.devices.profile_toml import canonical, read_profile
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.phases import Structured
from rho.backend.schedule.plan.plan import DeviceId, ExecutionPlan, RunStep
from rho.backend.schedule.problem import Status
from rho.backend.schedule.program.plan_program import faults_of_stored, plan_program
from rho.backend.schedule.program_facts.partitioning import exchanged_values
from rho.lang.diagnostics.model import Refused
from rho.shell.execution.stored_plans import this_machine
from rho.tests.backend.test_programs_on_devices import same_bits
from rho.tests.cluster.residents import Some, Threads
from rho.tests.harness.tiers import checked

pytestmark = pytest.mark.long

TEXT = "input x : f64[n]\ny ← *1○x\noutput y\n"
ROWS = 1 << 20


class Unlike(Some):
    """Residents whose processors are others' business."""

    def __init__(self, threads: Threads, *cpus: tuple[int, ...], memory: int | None = 1 << 30) -> None:
        super().__init__(threads, len(cpus))
        self.cpus, self.memory = cpus, memory

    def members(self) -> list[ClusterMember]:
        return [replace(one, cpus=cpus, cores=8, memory=self.memory) for one, cpus in zip(super().members(), self.cpus,
            strict=True)]


@pytest.fixture
def paces(monkeypatch: pytest.MonkeyPatch) -> dict[int, Fraction]:
    """How slow processes are, by their threads; home has one thread."""
    paces: dict[int, Fraction] = {}
    for module in (worker, cluster_profile):
        monkeypatch.setattr(module, "pace", lambda device, _: Pace(paces.get(device.threads, Fraction(1))))
    return paces


def planned(profile: Profile, data: dict[str, Any], text: str = TEXT) -> tuple[ExecutionPlan, BoundGraph]:
    """A plan that the verifier accepts."""
    core = checked(text)
    assert core is not None
    bound = backend.load(core, data)
    plan = plan_program(core, bound, profile).plan
    assert faults_of_stored(plan, bound, core, profile) == []
    return plan, bound


def without_messages(device: DeviceProfile) -> dict[str, CostTable]:
    assert "message.u8" in device.ops
    return {name: table for name, table in device.ops.items() if name != "message.u8"}


def rows_of(plan: ExecutionPlan) -> dict[str, int]:
    rows: dict[str, int] = {}
    for queue in plan.main.queues:
        for step in queue.steps:
            if isinstance(step, RunStep) and step.box is not None:
                first, stop = step.box[0]
                rows[queue.device] = rows.get(queue.device, 0) + stop - first
    return rows


def test_processors_are_shared_by_those_who_may_use_them() -> None:
    one = ClusterMember("w0", "tcp://a:1", "a", 1, "", "m", 8, None, "")
    members = [replace(one, cpus=cpus) for cpus in ((0,), (1, 2), (3, 4, 5, 6), (3, 4, 5, 6))]
    assert [threads_of(members, member) for member in members] == [1, 2, 2, 2]
    assert [threads_of([one, one], one), threads_of([one], one)] == [4, 8], "where the system says nothing"
    assert threads_of([replace(members[2], cores=3)], replace(members[2], cores=3)) == 3, "a group's share may be less"


def test_equal_local_workers_are_alike_and_nobody_measures(threads: Threads, paces: dict[int, Fraction]) -> None:
    paces |= dict.fromkeys(range(9), Fraction(5))
    with ClusterClient(Some(threads, 3), this_machine()) as cluster:
        home, *workers = cluster.profile.devices
        assert {device.launch_ns for device in workers} == {home.launch_ns} == {this_machine().home.launch_ns}
        assert all(device.same_times(workers[0]) for device in workers), "messages too, whoever measured most"
        assert all(replace(device, ops=without_messages(device)).same_times(home) for device in workers)


def test_rows_follow_what_workers_measure_and_the_plan_is_verified(threads: Threads, paces: dict[int, Fraction]) -> None:
    paces[1] = Fraction(3)  # home and w0, which have one thread, w1 has two
    data = {"x": np.linspace(0, 1, ROWS)}
    with ClusterClient(Unlike(threads, (0,), (1, 2)), this_machine()) as cluster:
        home, slow, quick = cluster.profile.devices
        assert (slow.threads, quick.threads) == (1, 2) and slow.launch_ns == home.launch_ns == 3 * quick.launch_ns
        slower = {name: CostTable(one.size, tuple(3 * ns for ns in one.ns)) for name, one in without_messages(quick).items()}
        assert without_messages(slow) == slower
        links = [replace(link, table=CostTable((1 << 20,), (1,)), latency_ns=1) for link in cluster.profile.links]
        plan, bound = planned(replace(cluster.profile, links=tuple(links)), data)
        rows = rows_of(plan)
        assert sum(rows.values()) == ROWS and rows["w1"] > 2 * rows["w0"] > 0
        assert plan.prediction is not None and plan.prediction.status in (Status.OPTIMAL, Status.GAP)
        outputs = cluster.run(plan, lambda profile: plan, bound, data)
        assert same_bits(outputs, backend.execute(backend.plan(bound), bound, data))


def test_a_worker_has_the_tables_of_its_own_calibration(threads: Threads, monkeypatch: pytest.MonkeyPatch) -> None:
    local = this_machine()
    other = replace(local, devices=(replace(local.home, launch_ns=4321),), calibration=replace(local.calibration,
        residual_p10=Fraction(7, 10)))
    told = itertools.cycle([other, local])
    monkeypatch.setattr(worker, "machine", lambda: next(told))
    with ClusterClient(Some(threads, 2), local) as cluster:
        profile = cluster.profile
        assert sorted(device.launch_ns for device in profile.devices[1:]) == sorted([4321, local.home.launch_ns])
        assert profile.calibration.residual_p10 == Fraction(7, 10), "what holds for all"
        assert len({*profile.calibration.facts} - {"cpu", "threads", "version", "numpy", "kernels"}) == 0


def test_only_the_newest_of_equal_tables_are_sent(threads: Threads, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    before = worker.description

    def description(*given: Any, **more: Any) -> dict[str, Any]:
        said = before(*given, **more)
        sent.append(said["profile"])
        return said

    monkeypatch.setattr(worker, "description", description)
    with ClusterClient(Some(threads, 3), this_machine()) as cluster:
        assert len(cluster.profile.devices) == 4 and sent == [""] * 3


def test_a_profile_that_a_worker_cannot_have_is_refused_with_its_line(threads: Threads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "canonical", lambda profile: canonical(profile).replace("launch_ns = ", "launch_ns = -1 #"))
    bad = replace(this_machine(), devices=(replace(this_machine().home, launch_ns=4321),))
    monkeypatch.setattr(worker, "machine", lambda: bad)
    with ClusterClient(Some(threads, 1), this_machine()) as cluster, pytest.raises(Refused) as refused:
        cluster.profile  # noqa: B018
    (one,) = refused.value.diagnostics
    assert one.span.file.startswith("<profile of w0") and "launch_ns: must be a whole number from 0, not -1" in one.message


# ---------------------------------------------------------------------------------------------------- declared devices

HEAD = 'schema = "device-profile/1"\n'
FLOPS = "roofline = { flops = 1_000_000_000, bandwidth = 1_000_000_000 }\n"


def device(name: str, *lines: str) -> str:
    return "\n".join(('[[device]]', f'name = "{name}"', 'class = "cpu"', *lines, FLOPS))


def declared(tmp_path: Path, *devices: str) -> DeclaredDevices:
    path = tmp_path / "f.toml"
    path.write_text(HEAD + "".join(devices), encoding="utf-8")
    return DeclaredDevices.read(str(path))


def members(count: int) -> list[ClusterMember]:
    one = ClusterMember("", "", "h", 1, "", "m", 2, 1 << 30, "")
    return [replace(one, name=f"w{at}", address=f"tcp://10.0.0.{at}:99") for at in range(count)]


def names(matched: dict[str, ClusterMember]) -> dict[str, str]:
    return {name: member.name for name, member in matched.items()}


def test_devices_are_workers_by_name_address_or_order(tmp_path: Path) -> None:
    home, big, node = device("head", "home = true"), 'worker = "10.0.0.2:99"', "count = 2"
    there = declared(tmp_path, home, device("node", node), device("big", big), device("last", 'worker = "w0"'))
    assert names(there.matched(members(5))) == {"node[0]": "w1", "node[1]": "w3", "big": "w2", "last": "w0"}
    listed = declared(tmp_path, home, device("node", node, 'worker = ["w1", "tcp://10.0.0.0:99"]'))
    assert names(listed.matched(members(2))) == {"node[0]": "w1", "node[1]": "w0"}
    assert names(declared(tmp_path, device("cpu0", "count = 3")).matched(members(2))) == {"cpu0[1]": "w0", "cpu0[2]": "w1"}


WRONG: dict[str, tuple[Sequence[str], str, str]] = {
    "too few": ([device("a"), device("b", "count = 3")], "`b[2]` has no worker: it has 3 devices beside home, and the cluster",
                "[[device]]"),
    "no such worker": ([device("a"), device("b", 'worker = "w7"')], 'no worker is "w7"', "worker"),
    "taken": ([device("a"), device("b", 'worker = "w0"'), device("c", 'worker = "10.0.0.0:99"')], "is another device already",
              "worker"),
    "a card": ([device("a"), device("b", 'backend = "cuda"')], "`b` is for cuda, and workers are processors", "backend"),
    "home": ([device("a", 'worker = "w0"')], "`a` has no worker, as home is this process, and this names 1", "worker"),
    "a list": ([device("a"), device("b", "count = 2", 'worker = ["w0"]')], "`b` has 2 workers, one for each device, and this",
               "worker"),
    "a number": ([device("a"), device("b", "worker = 3")], "`b` has 1 workers, one for each device, and this names 0", "worker"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", sorted(WRONG))
def test_devices_that_do_not_match_are_refused_with_their_line(tmp_path: Path, wrong: str) -> None:
    devices, message, line = WRONG[wrong]
    there = declared(tmp_path, *devices)
    with pytest.raises(Refused, match=re.escape(message)) as refused:
        there.matched(members(2))
    for one in refused.value.diagnostics:
        assert one.code.value == "E705"
        assert (tmp_path / "f.toml").read_text(encoding="utf-8")[one.span.start :].startswith(line)


def test_a_declared_profile_has_the_devices_and_memory_that_workers_have(tmp_path: Path) -> None:
    link = '[[link]]\nfrom = "a"\nto = "node"\n[[link]]\nfrom = "a"\nto = "b"\n'
    there = declared(tmp_path, device("a", "home = true"), device("node", "count = 3", "memory_bytes = 1000"), device("b"), link)
    matched = there.matched(members(4))
    profile = profile_of_members(there.profile, matched)
    assert [(one.name, one.count, one.memory) for one in profile.devices] == [("a", 1, None), ("node", 3, 1000),
        ("b", 1, int((1 << 30) * Fraction(3, 5)))]
    del matched["node[1]"], matched["b"]
    left = profile_of_members(there.profile, matched)
    assert [(one.name, one.count) for one in left.devices] == [("a", 1), ("node", 2)] and len(left.links) == 1
    assert read_profile("again", canonical(left)) == left


@pytest.fixture
def unequal(tmp_path: Path) -> DeclaredDevices:
    quick = FLOPS.replace("1_000", "4_000")
    link = "".join(f'[[link]]\nfrom = "a"\nto = "{to}"\nlatency_ns = 10\n' for to in ("slow", "quick"))
    return declared(tmp_path, device("a", "home = true"), device("slow", "memory_bytes = 100_000_000"),
                    device("quick").replace(FLOPS, quick), link)  # fmt: skip


def test_a_program_runs_on_cluster_profile_and_again_without_one(threads: Threads, unequal: DeclaredDevices) -> None:
    data, told = {"x": np.linspace(0, 1, 10_000)}, list[str]()
    with ClusterClient(Some(threads, 3), this_machine(), tell=told.append, declared=unequal) as cluster:
        assert len(told) == 1 and "w2" in told[0] and "is no device of the profile" in told[0]
        plan, bound = planned(cluster.profile, data)
        rows = rows_of(plan)
        assert rows["quick"] > 3 * rows["slow"] > 0
        alone = backend.execute(backend.plan(bound), bound, data)
        assert same_bits(cluster.run(plan, lambda profile: plan, bound, data), alone)
        cluster.members[1] = replace(cluster.members[1], token="gone")
        cluster.workers.drop(cluster.members[1].address)
        again: Iterator[Profile] = iter(())

        def planner(profile: Profile) -> ExecutionPlan:
            nonlocal again
            again = iter([profile])
            return planned(profile, data)[0]

        assert same_bits(cluster.run(plan, planner, bound, data), alone)
        assert [one.name for one in next(again).devices] == ["a", "slow"] and "runs again with 1 left" in told[-1]


def test_this_process_shares_its_processors_with_itself() -> None:
    assert share_of_processors() == share_of_processors()
    assert Tables(this_machine().calibration, this_machine().home).pace == 1
    assert profile_of(this_machine(), members(1)).devices[1].threads == 2
    assert DeviceProfile("a", "cpu", launch_ns=10, ops={"add.f64": CostTable((8,), (5,))}).slower(Fraction(3, 2)).ops == {
        "add.f64": CostTable((8,), (8,))
    }


# ---------------------------------------------------------------------------------------------------- processor time of messages

def test_messages_take_the_processors_of_both_ends_where_home_has_them_too() -> None:
    local = this_machine()
    said = {"tcp://10.0.0.0:99": (100, 200, 4000), "tcp://10.0.0.1:99": (90, 300, 2000), "tcp://10.0.0.2:99": (10, 10, 30)}
    here = [replace(one, is_here=True, cpus=(at // 2,)) for at, one in enumerate(members(3))]
    for listed, ends in ((here, 2), ([replace(one, is_here=False) for one in here], 1)):
        tables = {address: Tables(local.calibration, local.home, messages=CostTable(SIZES, ns)) for address, ns in said.items()}
        home, *workers = profile_of(local, listed, None, tables).devices
        assert "message.u8" not in home.ops
        shared = tuple(ns * ends // 2 for ns in (100, 300, 4000))
        assert [one.ops["message.u8"].ns for one in workers] == [shared, shared, tuple(ns * ends // 2 for ns in (10, 10, 30))]
    assert all("message.u8" not in one.ops for one in profile_of(local, here).devices)


def test_a_worker_computes_nothing_while_it_receives_and_sends() -> None:
    """Found by measuring: plans cut into sixteen chunks to hide messages that took the processors of those that computed."""
    data = {"x": np.linspace(0, 1, ROWS)}
    listed = [replace(one, is_here=True, cpus=(at,), cores=1) for at, one in enumerate(members(2))]
    local = this_machine()
    made, sizes = [], []
    for ns in (None, (50_000, 60_000, 1_000_000)):
        messages = None if ns is None else CostTable(SIZES, ns)
        tables = {one.address: Tables(local.calibration, local.home, messages=messages) for one in listed}
        profile = profile_of(local, listed, None, tables)
        home = replace(profile.devices[0].slower(Fraction(1000)), home=True)
        plan, bound = planned(replace(profile, devices=(home, *profile.devices[1:])), data)
        assert plan.prediction is not None
        made.append(plan.prediction.makespan * plan.tick_ns)
        (phase,) = (p for p in bound.graph.phases if isinstance(p, Structured))
        steps = [step for queue in plan.main.queues for step in queue.steps if isinstance(step, RunStep)]
        sizes.append(sum(step.phase == phase.id for step in steps))
        told = [message_ns(plan, exchanged_values(bound), DeviceId(one.name), profile) for one in listed]
        assert [told[0] > 3_000_000, told[1] > 3_000_000] == [ns is not None] * 2, "4 MB in and 4 MB out take 4 ms"
    handled = 2 * 8 * ROWS / 2  # each worker receives and sends half of 8 MB
    assert made[1] - made[0] > 0.5 * handled / 2_097_152 * 1_000_000
    assert sizes[1] < sizes[0], "fewer chunks"


def test_messages_are_counted_by_rows_and_threads() -> None:
    device = DeviceProfile("w0", "cpu", threads=2, ops={"message.u8": CostTable((100, 1000), (10, 100))})
    ticks = Ticks(((1, 7), (50, 7), (100, 107)))
    both = with_messages(ticks, [1000, 100], device, 100)
    assert [both.at(rows) - ticks.at(rows) for rows in (1, 10, 100)] == [10, 10, 55]
    assert with_messages(ticks, [], device, 100) is ticks and with_messages(ticks, [8], replace(device, ops={}), 100) is ticks
    assert with_messages(Ticks(((1, 7),)), [1000], device, 1).points == ((1, 57),)


def test_profiles_with_messages_are_written_and_read() -> None:
    """`rho devices --cluster … -o FILE` wrote a table that `--devices FILE` refused."""
    local, (one,) = this_machine(), [replace(members(1)[0], is_here=True)]
    nine = CostTable(SIZES, (9, 9, 9))
    made = profile_of(local, [one], None, {one.address: Tables(local.calibration, local.home, messages=nine)})
    read = read_profile("p.toml", canonical(made))
    assert read.devices[1].ops["message.u8"] == nine == made.devices[1].ops["message.u8"]
