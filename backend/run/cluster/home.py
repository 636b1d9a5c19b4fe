"""The home process of a cluster's runs: it acquires workers, sends plans, runs its own queues, and restarts after a loss.

When a worker is lost, home ends the run's epoch on the other workers.  It then plans for the workers that are left, and runs the
program again from its inputs, which home still has.  The results cannot differ, because the order of sums follows from shapes.

All homes acquire workers in the same order, so two homes never deadlock.

Neighbours: `membership` (who is there), `epoch` (one attempt of a run), `workers`, `seeing`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

from ....lang.diagnostics import RunFailed
from ....lang.listening import LISTENING
from ...devices.profile import Profile
from ...devices.tables import Table
from ...graph import BoundGraph
from ...schedule.facts.stores import lying_in, stores_of
from ...schedule.plan.model import Plan
from ..files.stored import StoredInput, StoredOutput
from ..machine import Observer, Results
from .calibrate import Measured, measure
from .epoch import Epoch
from .membership import Member, Members
from .profile import profile_of, with_store
from .shares import HOME, Process, Shares
from .shipping import given_up, require_same, shipment
from .wire import Kind, Lost, Message, connect
from .workers import Worker, WorkerFault

RESTARTS: Final = 3
Planner: TypeAlias = Callable[[Profile], Plan]
"""A plan, with its program, for the devices of a cluster."""


class Cluster:
    """Workers, and home as their first device.  Runs go one after the other; close it when it is not needed any more."""

    def __init__(
        self, membership: Members, own: Profile, restarts: int = RESTARTS, tell: Callable[[str], None] = lambda words: None
    ) -> None:
        """`own`: the profile of this machine; `tell` hears why a run begins again.  Plans are for home and then one device for
        each member, in order."""
        self.membership, self.own, self.restarts, self.tell = membership, own, restarts, tell
        self.members = [*membership.members()]
        self.measured: Measured | None = None
        self.is_measured = False
        self.reading: dict[str, Table] = {}
        self.lost: list[Lost] = []
        self.change = threading.Condition()
        self.workers: dict[str, Worker] = {}
        self.running: Epoch | None = None
        self.one_run = threading.Lock()

    @property
    def profile(self) -> Profile:
        """The devices of the members there are, with links that are measured the first time.  RunFailed: as `worker`."""
        if not self.is_measured:
            self.is_measured = True
            for member in self.members:
                require_same(member.address, member.version)
            with suppress(Lost):  # a run will notice
                self.measured = measure(self.members, self.membership.context)
        return profile_of(self.own, self.members, self.measured)

    def profile_for(self, values: Iterable[Any]) -> Profile:
        """The profile, with a store for those of the values that lie in files which all see (`seeing`)."""
        paths = sorted({one.file for one in values if isinstance(one, StoredInput | StoredOutput)})
        return with_store(self.profile, paths, self.reading) if paths else self.profile

    def close(self) -> None:
        for worker in self.workers.values():
            worker.connection.close()
        self.workers.clear()
        self.membership.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *about: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------ runs

    def run(
        self, plan: Plan, planner: Planner, bound: BoundGraph, inputs: Mapping[str, Any], without: frozenset[str] = frozenset(),
        observe: Observer | None = None,
    ) -> Results:  # fmt: skip
        """Run a plan for `profile`; after a loss, one that `planner` makes for the workers that are left.  RunFailed: as for any
        run, or E710: too many workers were lost."""
        with self.one_run:
            before = len(self.lost)
            for left in range(self.restarts, -1, -1):
                try:
                    return self.attempt(plan, bound, inputs, without, observe)
                except Lost as lost:
                    self.drop(lost)
                    if not left or not self.members:
                        raise given_up(self.lost[before:], bound) from None
                    self.tell(f"a worker was lost: {self.lost[-1].words}; the program runs again with {len(self.members)} left")
                    plan = planner(self.profile_for(inputs.values()))
            raise AssertionError("a run ends or is given up")

    def attempt(
        self, plan: Plan, bound: BoundGraph, inputs: Mapping[str, Any], without: frozenset[str], observe: Observer | None
    ) -> Results:  # fmt: skip
        at_home = plan.home, *stores_of(plan)
        away = [device.id for device in plan.devices if device.id not in at_home]
        where = dict.fromkeys(at_home, HOME) | {device: Process(at) for at, device in enumerate(away, 1)}
        shares = Shares(plan, where)
        epoch = Epoch(self, shares, [self.members[process - 1] for process in shares.processes if process != HOME])
        clean = False
        try:
            self.running = epoch
            epoch.take_workers()
            lying = {name: inputs[name] for name in lying_in(plan, bound)}
            epoch.outputs = {name: one for name, one in lying.items() if isinstance(one, StoredOutput)}
            for one in epoch.outputs.values():
                one.sink.came = 0
            stored = {name: one.facts() for name, one in lying.items()}
            epoch.ship(shipment(plan, without), stored, observed=observe is not None)
            results = epoch.execute(bound, inputs, observe)
            clean = True
            return results
        except RunFailed:
            clean = True
            raise
        finally:
            self.running = None
            epoch.leave(clean)

    def drop(self, lost: Lost) -> None:
        """A worker is not a member any more."""
        address = self.members[lost.process - 1].address
        gone = {address: lost.words if address in lost.words else f"{address}: {lost.words}"}
        gone |= {address: worker.lost.words for address, worker in self.workers.items() if worker.lost is not None}
        for address in gone:
            worker = self.workers.pop(address, None)
            if worker is not None:
                worker.connection.close()
        self.lost += [Lost(lost.process, words) for words in gone.values()]
        self.members = [member for member in self.members if member.address not in gone]

    # ------------------------------------------------------------------------------ what workers say

    def worker(self, member: Member, process: Process) -> Worker:
        """Connected to.  Lost."""
        found = self.workers.get(member.address)
        if found is not None and found.lost is None and not found.connection.closed:
            found.process = found.connection.process = process
            return found
        require_same(member.address, member.version)
        hello = {"token": member.token, "as": "home"}
        made = Worker(member, process, self, connect(member.host, member.port, process, hello, self.membership.context))
        self.workers[member.address] = made
        made.begin()
        return made

    def heed(self, worker: Worker, message: Message) -> None:
        facts, epoch = message.facts, self.running
        current = epoch is not None and facts.get("run") == epoch.name
        if message.kind in (Kind.DATA, Kind.FENCE):
            if epoch is not None and current:
                epoch.crossing.take(message)
            return
        with self.change:
            match message.kind:
                case Kind.GRANTED:
                    worker.granted, worker.held = True, facts
                case Kind.READY:
                    worker.programs.add(facts["digest"])
                case Kind.REFUSED:
                    worker.refused = facts
                case Kind.STATE:
                    worker.state = facts
                case Kind.SEEN:
                    worker.sight = facts
                case Kind.TIMES if current:
                    worker.seen.has_ended(facts, message.arrays)
                case Kind.DONE if current:
                    worker.done = facts
            self.change.notify_all()
        if epoch is not None and current:
            if message.kind is Kind.FAILED:
                epoch.failed()
            elif message.kind is Kind.LOST:
                other = next((w for w in epoch.workers if w.process == facts["lost"]), worker)
                self.miss(other, Lost(other.process, f"{other.member.address}: {facts['words']}"))
            elif message.kind is Kind.DONE and "fault" in facts:
                epoch.crossing.halt(WorkerFault(worker.member.address, f"failed: {facts['fault']}", facts))

    def miss(self, worker: Worker, lost: Lost) -> None:
        """A worker does not answer."""
        with self.change:
            if worker.lost is None:
                address = worker.member.address
                words = lost.words if address in lost.words else f"{address}: {lost.words}"
                worker.lost = Lost(worker.process, words)
            self.change.notify_all()
        worker.connection.close()
        epoch = self.running
        if epoch is not None and worker in epoch.workers:
            epoch.crossing.halt(worker.lost)

    def wait(self, workers: Sequence[Worker], ready: Callable[[Worker], bool]) -> None:
        """Until all are.  Lost: one of them is."""
        with self.change:
            while True:
                for worker in workers:
                    if worker.lost is not None:
                        raise worker.lost
                    if worker.refused:
                        raise WorkerFault(worker.member.address, f"refuses it: {worker.refused['because']}", worker.refused)
                if all(map(ready, workers)):
                    return
                self.change.wait(LISTENING)
