"""Members of a cluster that no Dask launches: residents in this process, which differ from others in nothing but that."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import rho
from rho.backend.cluster.client import ClusterClient, Planner
from rho.backend.cluster.membership import ClusterMember, Membership, share_of_processors
from rho.backend.cluster.wire import shipment, version
from rho.backend.cluster.worker import Resident
from rho.backend.devices.profile import DeviceProfile, Profile
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.schedule.plan.plan import ExecutionPlan, PlannedFile, decode_plan, encode_plan
from rho.backend.vm.run_state import Observer, RunResults
from rho.shell.execution.clusters import ClusterConnection
from rho.shell.execution.stored_plans import this_machine

OWN = Profile((DeviceProfile("cpu0", "cpu", home=True),))


def member(name: str, host: str, port: int, token: str, pid: int = 0) -> ClusterMember:
    address, machine, here = f"tcp://{host}:{port}", socket.gethostname(), share_of_processors()
    return ClusterMember(name, address, host, port, token, machine, 2, 1 << 30, version(), True, **here, pid=pid)


class Unseen(Membership):
    """Members without a dashboard, whose connections are not encrypted."""

    context = None
    dashboard = ""
    silent: ClassVar[dict[str, str]] = {}

    def show(self, name: str, run: str, members: Sequence[ClusterMember]) -> Callable[[], None]:
        return lambda: None


class Threads(Unseen):
    """So many residents of this process."""

    def __init__(self, count: int) -> None:
        self.residents = [Resident("127.0.0.1") for _ in range(count)]

    def members(self) -> list[ClusterMember]:
        return [member(f"w{at}", one.host, one.port, one.token) for at, one in enumerate(self.residents)]

    def close(self) -> None:
        for resident in self.residents:
            resident.close()


class Some(Unseen):
    """The first members of others, which go on when a cluster is closed."""

    def __init__(self, others: Membership, count: int) -> None:
        self.others, self.count = others, count

    def members(self) -> list[ClusterMember]:
        return self.others.members()[: self.count]

    def close(self) -> None:
        pass


def run_on(
    threads: Threads, plan: ExecutionPlan, bound: BoundGraph, data: Mapping[str, Any], planner: Planner | None = None,
    observe: Observer | None = None,
) -> RunResults:  # fmt: skip
    """A plan of any devices on as many residents as it has beside home.  They know the program; what is shipped is tried
    elsewhere."""
    plan = replace(plan, program=(PlannedFile("known.rho", ""),))
    for resident in threads.residents:
        resident.keep(shipment(plan, ())["digest"], (decode_plan(encode_plan(plan)), bound))

    def never(profile: Profile) -> ExecutionPlan:
        raise AssertionError("no worker was lost")

    with ClusterClient(Some(threads, len(plan.devices) - 1), OWN) as cluster:
        return cluster.run(plan, planner or never, bound, data, observe=observe)


class Spawned(Unseen):
    """Residents in processes of their own, which end with the test's."""

    PROGRAM = (
        "import sys; from rho.backend.cluster.worker import Resident; r = Resident('127.0.0.1');"
        "print(r.port, r.token, flush=True); sys.stdin.read()"
    )

    def __init__(self, count: int) -> None:
        self.processes: list[tuple[subprocess.Popen[str], ClusterMember]] = []
        self.fill(count)

    def fill(self, count: int) -> None:
        """As many as these that live."""
        self.processes = [(process, one) for process, one in self.processes if process.poll() is None]
        started = [
            subprocess.Popen([sys.executable, "-c", self.PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(count - len(self.processes))
        ]
        for process in started:
            assert process.stdout is not None
            port, token = process.stdout.readline().split()
            self.processes.append((process, member("", "127.0.0.1", int(port), token, process.pid)))

    def members(self) -> list[ClusterMember]:
        return [replace(one, name=f"w{at}") for at, (_, one) in enumerate(self.processes)]

    def signal(self, which: int, number: int) -> None:
        self.processes[which][0].send_signal(number)

    def close(self) -> None:
        for process, _ in self.processes:
            process.kill()
            process.communicate()


def cluster_of(others: Membership, count: int) -> rho.Cluster:
    """So many of them, as `rho.Cluster` has them."""
    made = rho.Cluster.__new__(rho.Cluster)
    made.connection = ClusterConnection("residents of this process")
    made.connection.__dict__["cluster"] = ClusterClient(Some(others, count), this_machine())
    return made
