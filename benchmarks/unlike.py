"""Compares predicted with measured times on two workers that are unlike, planned for what they say they are, and cut evenly.

    python benchmarks/unlike.py [--rounds 7]

Each worker has one processor of its own.  Three pairs: both alone; a busy neighbour on the first one's processor; three of them.
Home computes nothing.  For each pair and program: the rows that the plan gives to each worker, predicted and measured time of
that plan and of the even split, how many times the even split is predicted to lose, and does.  The verifier judges every plan,
and the results have the bits of one process.  At a load of others, measured times mean nothing.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
from dataclasses import replace
from statistics import median
from time import perf_counter
from typing import Any, Final

import numpy as np

from rho import backend
from rho.backend.cluster.client import ClusterClient
from rho.backend.cluster.membership import ClusterMember
from rho.backend.cluster.wire import version
from rho.backend.devices.profile import Profile
from rho.backend.schedule.plan.plan import ExecutionPlan, RunStep
from rho.backend.schedule.program.plan_program import faults_of_stored, plan_program
from rho.backend.schedule.search.strategy import FAST
from rho.lang.syntax.source import Source
from rho.shell.execution.stored_plans import this_machine
from rho.tests.cluster.residents import Unseen
from rho.typechecker.check import check

WORKER: Final = (
    "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])}); from rho.backend.cluster.worker import Resident; "
    "r = Resident('127.0.0.1'); print(r.port, r.token, flush=True); sys.stdin.read()"
)
NEIGHBOUR: Final = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"
EVEN: Final = "schedule {{ split {0} rows 1:1 over w0 w1 }}\n"
PROGRAMS: Final = (
    ("y", "input x : f64[n]\ny ← *1○√*1○x\noutput y\n", 2_000_000),
    ("y", "input x : f64[n]\ny ← ⍟2+1○x×1○x×x\noutput y\n", 4_000_000),
)


class Pinned(Unseen):
    """A worker on each of the first two processors."""

    def __init__(self, processors: list[int]) -> None:
        self.processes, self.listed = [], list[ClusterMember]()
        for number, processor in enumerate(processors):
            one = subprocess.Popen([sys.executable, "-c", WORKER, str(processor)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)  # fmt: skip
            assert one.stdout is not None
            port, token = one.stdout.readline().split()
            self.processes.append(one)
            self.listed.append(ClusterMember(
                f"w{number}", f"tcp://127.0.0.1:{port}", "127.0.0.1", int(port), token, socket.gethostname(), 1, None, version(),
                True, (processor,),
            ))  # fmt: skip

    def members(self) -> list[ClusterMember]:
        return self.listed

    def close(self) -> None:
        for one in self.processes:
            one.kill()
            one.communicate()


def planned(text: str, profile: Profile, data: dict[str, Any]) -> tuple[ExecutionPlan, Any]:
    core = check(Source("<unlike>", text)).core
    assert core is not None
    bound = backend.load(core, data)
    plan = plan_program(core, bound, profile, budget=FAST).plan
    assert faults_of_stored(plan, bound, core, profile) == []
    return plan, bound


def rows(plan: ExecutionPlan) -> dict[str, int]:
    counts: dict[str, int] = {}
    for queue in plan.main.queues:
        for step in queue.steps:
            if isinstance(step, RunStep) and step.box:
                counts[queue.device] = counts.get(queue.device, 0) + step.box[0][1] - step.box[0][0]
    return counts


def measured(cluster: ClusterClient, plan: ExecutionPlan, bound: Any, data: dict[str, Any], rounds: int) -> float:
    alone = backend.execute(backend.plan(bound), bound, data).outputs["y"].value.tobytes()
    times = []
    for _ in range(rounds + 1):
        start = perf_counter()
        found = cluster.run(plan, lambda profile: plan, bound, data)
        times.append(perf_counter() - start)
        assert found.outputs["y"].value.tobytes() == alone
    return median(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    processors = sorted(os.sched_getaffinity(0))[:2]
    print(f"load {os.getloadavg()[0]:.1f}; tables {this_machine().calibration.calibrated or 'default'}")
    print("| neighbours | program | slower | rows | predicted | measured | × | even: predicted | measured | loses | did |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for neighbours in (0, 1, 3):
        busy = [subprocess.Popen([sys.executable, "-c", NEIGHBOUR, str(processors[0])]) for _ in range(neighbours)]
        workers = Pinned(processors)
        try:
            with ClusterClient(workers, this_machine()) as cluster:
                own = cluster.profile
                profile = replace(own, devices=tuple(one.slower(1000) if one.home else one for one in own.devices))
                paces = [float(cluster.tables[one.address].pace) for one in cluster.members]
                for name, text, size in PROGRAMS:
                    data = {"x": np.linspace(0.1, 0.9, size)}
                    figures: list[float] = []
                    plans = planned(text, profile, data), planned(text + EVEN.format(name), profile, data)
                    for plan, bound in plans:
                        assert plan.prediction is not None
                        figures += [plan.prediction.makespan * plan.tick_ns / 1e9, measured(cluster, plan, bound, data, rounds)]
                    count, (a, b, c, d) = rows(plans[0][0]), figures
                    shown = ":".join(f"{count.get(one, 0) / size:.0%}" for one in ("w0", "w1"))
                    print(f"| {neighbours} | {text.splitlines()[1]} | {paces[0]:.2f} {paces[1]:.2f} | {shown} "
                          f"| {a * 1e3:.1f} ms | {b * 1e3:.1f} ms | {b / a:.2f} | {c * 1e3:.1f} ms | {d * 1e3:.1f} ms "
                          f"| {c / a:.2f} | {d / b:.2f} |")  # fmt: skip
        finally:
            workers.close()
            for one in busy:
                one.kill()
                one.wait()


if __name__ == "__main__":
    main()
