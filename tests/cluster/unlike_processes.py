"""Two workers in processes, the second one slowed: plans a program for what they say, runs it, and prints what was planned.

    python -m rho.tests.cluster.unlike_processes quota     # a hundredth of a processor, by a cgroup
    unshare -n python -m rho.tests.cluster.unlike_processes link     # behind a link of 40 Mbit/s, by `tc tbf`

The line is JSON: by device the rows and the nanoseconds of a step, by worker those of a message, predicted and measured ns, and
whether the results are those of one process.  A machine without the rights is a line `skip: why`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter_ns

import numpy as np

from rho import backend
from rho.backend.cluster.client import ClusterClient
from rho.backend.cluster.membership import ClusterMember
from rho.backend.schedule.plan.plan import RunStep
from rho.backend.schedule.program.plan_program import faults_of_stored, plan_program
from rho.backend.schedule.search.strategy import FAST
from rho.shell.execution.stored_plans import this_machine
from rho.tests.cluster.residents import Unseen, member
from rho.tests.harness.tiers import checked

WORKER = (
    "import json, sys; print(flush=True); address = sys.stdin.readline().strip();"
    "from rho.backend.cluster.membership import share_of_processors;"
    "from rho.backend.cluster.worker import Resident; r = Resident(address);"
    "print(json.dumps([r.port, r.token, share_of_processors()]), flush=True); sys.stdin.read()"
)
TEXT = "input x : f64[n]\ny ← *1○√*1○x\noutput y\n"
ROWS = 400_000
HERE, THERE = "10.99.0.1", "10.99.0.2"
_GROUPS = ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup")


class Unable(Exception):
    """This machine cannot do it, and why."""


class Two(Unseen):
    def __init__(self, listed: list[ClusterMember]) -> None:
        self.listed = listed

    def members(self) -> list[ClusterMember]:
        return self.listed

    def close(self) -> None:
        pass


def run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unable(f"{' '.join(command)}: {(getattr(error, 'stderr', '') or str(error)).strip()[:200]}") from None


def slowed_by_quota(process: int, opened: ExitStack) -> None:
    """Put a process in a group that has a hundredth of a processor."""
    root = next((Path(one) for one in _GROUPS if Path(one, "cgroup.procs").exists()), None)
    if root is None:
        raise Unable("there are no control groups of processors")
    group, home = root / f"rho-test-{process}", root / "cgroup.procs"
    try:
        group.mkdir()
        opened.callback(group.rmdir)
        if (group / "cpu.max").exists():
            (group / "cpu.max").write_text("1000 100000", encoding="ascii")
        else:
            (group / "cpu.cfs_quota_us").write_text("1000", encoding="ascii")
        (group / "cgroup.procs").write_text(str(process), encoding="ascii")
        opened.callback(lambda: home.write_text(str(process), encoding="ascii"))
    except OSError as error:
        raise Unable(f"{group}: {error.strerror}") from None


def linked_slowly(process: int) -> None:
    """Give the network of a process one slow link to ours, which is a namespace of its own."""
    inside = ("nsenter", "-t", str(process), "-n")
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "va", "type", "veth", "peer", "name", "vb")
    run("ip", "link", "set", "vb", "netns", str(process))
    run("ip", "addr", "add", f"{HERE}/24", "dev", "va")
    run("ip", "link", "set", "va", "up")
    run(*inside, "ip", "addr", "add", f"{THERE}/24", "dev", "vb")
    run(*inside, "ip", "link", "set", "vb", "up")
    for before, device in (((), "va"), (inside, "vb")):
        run(*before, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", "40mbit", "burst", "32k", "latency", "100ms")


def main(slowed_by: str) -> None:
    with ExitStack() as opened:
        processes, is_linked = list[subprocess.Popen[str]](), slowed_by == "link"
        for apart in ([], ["unshare", "-n"] if is_linked else []):
            command = [*apart, sys.executable, "-c", WORKER]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None
            opened.callback(process.communicate)
            opened.callback(process.kill)
            process.stdout.readline()  # its network is its own now
            processes.append(process)
        if is_linked:
            linked_slowly(processes[1].pid)
        hosts = (HERE, THERE) if is_linked else ("127.0.0.1",) * 2
        listed = [listening(process, number, hosts[number]) for number, process in enumerate(processes)]
        if not is_linked:
            slowed_by_quota(processes[1].pid, opened)
        print(json.dumps(planned_and_run(Two(listed))))


def listening(process: subprocess.Popen[str], number: int, host: str) -> ClusterMember:
    """The member that a process is when it listens at this address."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(host + "\n")
    process.stdin.flush()
    port, token, share = json.loads(process.stdout.readline())
    one = member(f"w{number}", host, port, token)
    return replace(one, machine=f"m{number}", is_here=False, cpus=tuple(share["cpus"]), group=f"{share['group']} {number}")


def planned_and_run(two: Two) -> dict[str, object]:
    core, data = checked(TEXT), {"x": np.linspace(0, 1, ROWS)}
    assert core is not None
    bound = backend.load(core, data)
    with ClusterClient(two, this_machine()) as cluster:
        profile = cluster.profile
        plan = plan_program(core, bound, profile, budget=FAST).plan
        assert not faults_of_stored(plan, bound, core, profile)
        steps = [(queue.device, step) for queue in plan.main.queues for step in queue.steps if isinstance(step, RunStep)]
        rows = {str(device): 0 for device in ("home", "w0", "w1")}
        for device, step in steps:
            rows[str(device)] += ROWS if step.box is None else step.box[0][1] - step.box[0][0]
        start = perf_counter_ns()
        results = cluster.run(plan, lambda again: plan, bound, data)
        measured = perf_counter_ns() - start
        alone = backend.execute(backend.plan(bound), bound, data)
        links = {link.target: link.table.at(1 << 20) >> 16 for link in profile.links if link.source == "home" and link.table}
        return {
            "rows": rows, "launch_ns": {one.name: one.launch_ns for one in profile.devices}, "message_ns": links,
            "predicted_ns": plan.prediction.makespan * plan.tick_ns if plan.prediction else 0, "measured_ns": measured,
            "same": results.outputs["y"].value.tobytes() == alone.outputs["y"].value.tobytes(),
        }  # fmt: skip


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Unable as reason:
        print(f"skip: {reason}")
    with suppress(OSError):
        sys.stdout.flush()
    os._exit(0)
