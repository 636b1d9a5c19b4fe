"""The home process of a cluster's runs: it acquires workers, sends plans, runs its own queues, and restarts after a loss.

When a worker is lost, home ends the run's epoch on the other workers.  It then plans for the workers that are left, and runs the
program again from its inputs, which home still has.  The results cannot differ, because the order of sums follows from shapes.

All homes acquire workers in the same order, so two homes never deadlock.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from fractions import Fraction
from time import sleep
from typing import Any, Final, TypeAlias, TypeVar

from ...lang.diagnostics.model import RhoError, RunFailed
from ...lang.support import files
from ...lang.support.records import cached_property, replace
from ...lang.syntax.source import Span
from ..devices.profile import CostTable, Profile
from ..distributed.buffers import QueueClock
from ..graph.bind_sizes import BoundGraph
from ..io.external_arrays import Fingerprint, StoredInput, StoredOutput, fingerprint_of
from ..io.sources_and_sinks import RowSink
from ..schedule.plan.plan import DeviceId, ExecutionPlan
from ..schedule.program_facts.partitioning import exchanged_values, stored_on, stores_of
from ..streams.stream_executor import SharedPass, States
from ..vm.executor import execute_plan
from ..vm.run_state import Observer, RunResults
from .cluster_profile import (
    DeclaredDevices,
    Measured,
    Tables,
    Unreachable,
    describe,
    measure,
    profile_of,
    profile_of_members,
    threads_of,
    with_store,
    worker_devices,
)
from .cluster_transport import (
    DRIFT_RUNS,
    HOME,
    ClusterTransport,
    ComputeTime,
    Drift,
    Journal,
    Process,
    ProcessJournal,
    Shares,
    message_ns,
    report_step_times,
)
from .membership import ClusterMember, Membership, Worker, WorkerFault, Workers, failed
from .wire import Connection, Lost, Message, MessageKind, failure_of, lost_workers_failure, shipment
from .worker import HERE, visible_files

# ---------------------------------------------------------------------------------------------------- attempt of a run
#
# One attempt of one run, from home: workers are acquired, receive their parts of the plan, and report how these ended.
#
# An attempt has a name, which all messages of the run carry.

ASKING: Final = 0.002


class RunAttempt:
    """One attempt of a run, as a context in which home has the workers; an unexpected exit disconnects them."""

    def __init__(self, every: Workers, membership: Membership, shares: Shares, members: Mapping[Process, ClusterMember]) -> None:
        """`members`: the workers that take part."""
        self.all_workers, self.membership, self.shares, self.members = every, membership, shares, members
        self.name = secrets.token_hex(8)
        self.workers: list[Worker] = []
        self.links: dict[Process, Connection] = {}
        self.transport = ClusterTransport(shares, HOME, self.name, self.links, self.failed)
        self.draining: threading.Thread | None = None
        self.forget: Callable[[], None] | None = None
        """Takes it from the dashboard."""
        self.has_ended = False
        self.computing: ComputeTime | None = None
        self.drifts: dict[str, Fraction] = {}
        """Of the workers whose tables were off in so many runs in a row, by how much their times are multiplied now."""

    def __enter__(self) -> RunAttempt:
        self.all_workers.running = self
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.all_workers.running, self.has_ended = None, True
        clean = error is None or isinstance(error, RunFailed)
        if self.forget is not None and not clean:
            self.forget()
        for worker in self.workers:
            if clean:
                with suppress(Lost):
                    worker.connection.send(MessageKind.RELEASE)
            elif worker.lost is None:
                self.all_workers.drop(worker.member.address)

    def begin(
        self, program: Mapping[str, Any], stored: Mapping[str, Any], interval: tuple[float, float],
        handled: Mapping[Process, int], *, observed: bool
    ) -> None:  # fmt: skip
        """Acquires the workers, in the order of their addresses, and sends each its part.  `program`: the facts of `shipment`;
        `interval`: the ratios of measured to predicted time that count as predicted; `handled`: `message_ns` of each."""
        digest = program["digest"]
        new: list[Worker] = []
        for process, member in sorted(self.members.items(), key=lambda one: one[1].address):
            worker = self.all_workers.connect(member, process)
            self.workers.append(worker)
            self.links[process] = worker.connection
            worker.done = None
            (has,) = self.all_workers.ask([worker], MessageKind.LEASE)
            if digest not in has["programs"]:
                new.append(worker)
            if has["holds_of"] == digest:
                self.transport.holds[str(process)] = has["holds"]
        self.all_workers.ask(new, MessageKind.LOAD, program)
        facts = {
            "run": self.name, "digest": digest, "where": self.shares.where, "holds": self.transport.holds, "inputs": stored,
            "peers": {str(worker.process): worker.member.door for worker in self.workers}, "observed": observed,
            "interval": interval,
        }  # fmt: skip
        for worker in self.workers:
            worker.seen = ProcessJournal(worker.member.address)
            worker.connection.send(MessageKind.RUN, facts | {"me": worker.process, "handled": handled.get(worker.process, 0)})

    def execute(
        self, bound: BoundGraph, inputs: Mapping[str, Any], outputs: Mapping[str, StoredOutput], observe: Observer | None
    ) -> RunResults:  # fmt: skip
        """Runs home's queues, then collects the workers' results.  `outputs`: files that workers write into."""
        backends = self.transport.backends()
        failures: list[tuple[tuple[int, ...], int, RunFailed]] = []
        results, journal = None, None if observe is None else Journal(self.shares)
        self.computing = ComputeTime.of(self.shares, HOME, journal)
        try:
            results = execute_plan(self.shares.plan, bound, inputs, backends, self.computing, pace=QueueClock.THREADS,
                others=self.transport)
        except RunFailed as failure:
            failures.append((*min(self.transport.failures, default=((0,), 0)), failure))
        self.all_workers.wait(self.workers, lambda one: one.done is not None)
        for worker in self.workers:
            said = worker.done or {}
            if "fault" in said:
                raise WorkerFault(worker.member.address, said)
            if "failure" in said:
                failures.append((tuple(said["start"]), said["queue"], failure_of(said["failure"], worker.member.label)))
            if "drift" in said:
                self.drifts[worker.member.address] = Fraction(*said["drift"])
            for name, came in said.get("written", {}).items():
                outputs[name].sink.came += came
        if failures:
            raise min(failures, key=lambda one: one[:2])[2]
        assert results is not None
        if observe is not None and journal is not None:
            report_step_times(observe, self.transport, [journal.seen, *(worker.seen for worker in self.workers)])
        return results

    def show(self) -> None:
        if self.forget is None:
            name = os.path.basename(self.shares.plan.program[0].name)
            self.forget = self.membership.show(name, self.name, [*self.members.values()])

    # ------------------------------------------------------------------------------ what workers say

    def handle(self, worker: Worker, message: Message) -> None:
        facts = message.facts
        match message.kind:
            case MessageKind.DATA | MessageKind.FENCE:
                self.transport.take(message)
            case MessageKind.FAILED:
                self.failed()
            case MessageKind.LOST:
                other = next((w for w in self.workers if w.process == facts["lost"]), worker)
                self.all_workers.miss(other, Lost(other.process, facts["words"]))
            case MessageKind.DONE:
                if "fault" in facts:
                    self.transport.halt(WorkerFault(worker.member.address, facts))
                elif message.arrays:
                    worker.seen.has_ended(facts, message.arrays)
                with self.all_workers.change:
                    worker.done = facts
                    self.all_workers.change.notify_all()

    def handle_loss(self, lost: Lost) -> None:
        self.transport.halt(lost)

    # ------------------------------------------------------------------------------ failures of the program

    def failed(self) -> None:
        """Handles the failure of a queue: the other queues continue as far as they can, then all are stopped."""
        with self.all_workers.change:
            if self.draining is not None:
                return
            self.draining = threading.Thread(target=self.stop_at_rest, daemon=True)
        self.draining.start()

    def stop_at_rest(self) -> None:
        """Stops all processes once the run is at rest (`cluster_transport`, Note [At rest])."""
        before = None
        with suppress(Lost):
            while not self.has_ended:
                states = [self.transport.state(), *self.all_workers.ask(self.workers, MessageKind.REST)]
                now = sum(state["sent"] for state in states), sum(state["received"] for state in states)
                if all(state["idle"] for state in states) and now[0] == now[1] and now == before:
                    break
                before = now
                sleep(ASKING)
            for worker in self.workers:
                worker.connection.send(MessageKind.STOP, {"run": self.name})
            self.transport.halt()


# ---------------------------------------------------------------------------------------------------- tiles on workers
#
# A run in tiles, from home: workers are acquired for the whole run.  In each pass of which they have a share they read their rows
# of the inputs and write theirs of the outputs, if all processes see these files.  Partial results, and rows for home's memory
# and temporary files, are sent as messages.

class TiledAttempt:
    """One attempt of a run in tiles, as a context in which home has the workers (`stream_executor.OtherDevices`).

    Raises Lost if a worker is lost.
    """

    def __init__(self, client: ClusterClient, title: str) -> None:
        """`title`: the program's title on the dashboard."""
        self.client, self.every, self.title = client, client.workers, title
        self.name = secrets.token_hex(8)
        self.workers: list[Worker] = []
        self.known: dict[str, set[str]] = {}
        """The programs that each worker has, by its address."""
        self.program: Mapping[str, Any] = {}
        self.stored: Mapping[str, StoredInput] = {}
        self.undivided: Collection[str] = ()
        self.shared: SharedPass | None = None
        self.working: list[Worker] = []
        """The workers of the present pass."""
        self.passes = 0
        self.error: RhoError | None = None
        """Why home could not take what came."""
        self.read: dict[DeviceId, tuple[int, int, int]] = {}
        """As `TiledFiles.read`, of the workers."""
        self.sinks: list[Mapping[str, RowSink]] = []
        """The outputs that each worker writes in the present pass, by name."""
        self.forget: Callable[[], None] | None = None

    def __enter__(self) -> TiledAttempt:
        self.client.one_run.acquire()
        self.every.running = self
        try:
            for process, member in sorted(enumerate(self.client.members, 1), key=lambda one: one[1].address):
                worker = self.every.connect(member, Process(process))
                self.workers.append(worker)
                (has,) = self.every.ask([worker], MessageKind.LEASE)
                self.known[member.address] = {*has["programs"]}
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.every.running = None
        clean = error is None or isinstance(error, RunFailed)
        if self.forget is not None and not clean:
            self.forget()
        for worker in self.workers:
            if clean:
                with suppress(Lost):
                    worker.connection.send(MessageKind.STOP, {"run": self.name})
                    worker.connection.send(MessageKind.RELEASE)
            elif worker.lost is None:
                self.every.drop(worker.member.address)
        self.client.one_run.release()

    def use(self, program: Mapping[str, Any], stored: Mapping[str, StoredInput], undivided: Collection[str]) -> None:
        """Sets the program of the passes that follow (`stream_shipment`) and the files of its inputs; `undivided`: the inputs and
        outputs that only home can reach."""
        self.program, self.stored, self.undivided = program, stored, undivided

    def begin(
        self, shared: SharedPass, sinks: Mapping[DeviceId, Mapping[str, RowSink]], states: Mapping[DeviceId, States] | None = None
    ) -> None:  # fmt: skip
        step, digest = shared.step, self.program["digest"]
        shares = [share for share in step.shares if share.device in self.client.devices]
        if states is None:  # no state continues from the last share
            shares = [share for share in shares if share is not step.shares[-1]]
        by_address = {worker.member.address: worker for worker in self.workers}
        self.working = [by_address[self.client.devices[share.device].address] for share in shares]
        if new := [worker for worker in self.working if digest not in self.known[worker.member.address]]:
            self.every.ask(new, MessageKind.LOAD, self.program)
            for worker in new:
                self.known[worker.member.address].add(digest)
        self.shared, self.error = shared, None
        self.passes += 1
        operands = shared.operands()
        facts = {
            "run": self.name, "pass": self.passes, "digest": digest, "phases": step.phases, "results": step.results,
            "rows": step.rows, "tiles": step.tiles, "depth": step.depth, "operands": [*operands],
            "inputs": {name: one.facts() for name, one in self.stored.items()},
        }  # fmt: skip
        self.sinks = []
        for worker, share in zip(self.working, shares, strict=True):
            worker.done = None
            threads = threads_of(self.client.members, worker.member)
            before = None if states is None else states.get(share.device, {})
            self.sinks.append({n: one for n, one in sinks.get(share.device, {}).items() if n not in self.undivided})
            outputs = {name: StoredOutput(one, NOWHERE, one.temporary).facts() for name, one in self.sinks[-1].items()}
            with_share = {**facts, "share": [share.first, share.stop], "device": share.device, "threads": threads,
                          "outputs": outputs, "states": None if before is None else [*before]}  # fmt: skip
            try:
                worker.connection.send(MessageKind.TILES, with_share, [*operands.values(), *(before or {}).values()])
            except Lost as lost:
                raise worker.explained(lost) from None

    def check(self) -> None:
        for worker in self.working:
            said = worker.done or {}
            if worker.lost is not None:
                raise worker.lost
            if "fault" in said:
                raise WorkerFault(worker.member.address, said)
            if "failure" in said:
                raise failure_of(said["failure"], worker.member.label)
        if self.error is not None:
            raise self.error

    def wait(self) -> None:
        self.every.wait(self.working, lambda one: one.done is not None or self.error is not None)
        self.check()
        for worker, sinks in zip(self.working, self.sinks, strict=True):
            said = worker.done or {}
            for device, (passes, tiles, reads) in said["read"].items():
                before = self.read.get(DeviceId(device), (0, 0, 0))
                self.read[DeviceId(device)] = before[0] + passes, before[1] + tiles, before[2] + reads
            for name, came in said["written"].items():
                sinks[name].came += came
        self.shared, self.working = None, []

    def show(self) -> None:
        if self.forget is None:
            self.forget = self.client.membership.show(self.title, self.name, [worker.member for worker in self.workers])

    def handle(self, worker: Worker, message: Message) -> None:
        facts, shared = message.facts, self.shared
        if facts["pass"] != self.passes or shared is None:
            return
        if message.kind is MessageKind.DATA:
            try:
                shared.take(facts["sink"], tuple(facts["rows"]), message.arrays, facts["value"])
            except RhoError as error:
                self.error = self.error or error
        elif message.kind is MessageKind.DONE:
            worker.done = facts
        with self.every.change:
            self.every.change.notify_all()

    def handle_loss(self, lost: Lost) -> None:
        """Nothing to do: threads that wait for the worker have already been notified."""


# ---------------------------------------------------------------------------------------------------- client

NOWHERE: Final = Span("", 0, 0)
RESTARTS: Final = 3
_Result = TypeVar("_Result")
Planner: TypeAlias = Callable[[Profile], ExecutionPlan]
"""Makes a plan for the devices of a profile."""


class ClusterClient:
    """The workers of a cluster, with home as the first device.  Runs go one after the other; the caller closes it."""

    def __init__(
        self, membership: Membership, host: Profile, restarts: int = RESTARTS, tell: Callable[[str], None] = lambda words: None,
        declared: DeclaredDevices | None = None,
    ) -> None:  # fmt: skip
        """`host`: the profile of this machine; `tell`: is called with the reason why a run is repeated; `declared`: the devices
        of a declared profile.  Plans are for home, followed by one device per member.  Raises Refused E705 if the members do not
        match the declared devices."""
        self.membership, self.host_profile, self.restarts, self.tell = membership, host, restarts, tell
        self.members = [*membership.members()]
        for address, words in membership.silent.items():
            tell(f"a worker does not answer: {address}: {words}; the program runs on the {len(self.members)} that do")
        self.declared = None if declared is None else declared.profile
        self.devices = {member.name: member for member in self.members} if declared is None else declared.matched(self.members)
        """The workers by the names of their devices."""
        for idle in [member.label for member in self.members if member not in self.devices.values()]:
            tell(f"worker {idle} is no device of the profile: it takes no part")
        self.members = [*self.devices.values()]
        self.reading: dict[str, CostTable] = {}
        self.tables: dict[str, Tables] = {}
        """Of home and the workers, by address."""
        self.drift, self.learned = Drift(), 0
        """Of home; and how often tables were found to be off, so that plans are made anew."""
        self.handled: tuple[ExecutionPlan | None, Mapping[Process, int]] = None, {}
        """`message_ns` of the processes of the last plan."""
        self.lost: list[Lost] = []
        self.workers = Workers(membership.context, membership.doing)
        self.one_run = threading.Lock()

    def connected(self) -> list[Worker]:
        """Connects to all members.  Raises Lost, and RunFailed as `require_same`."""
        return [self.workers.connect(member, Process(at)) for at, member in enumerate(self.members, 1)]

    @cached_property
    def measured(self) -> Measured | None:
        """The measured times of messages; reports and drops workers that are lost during the measurement, and sets the `tables`
        of all processes.  None if two workers cannot reach each other, which a run will report.

        Raises RunFailed as `require_same`, or with E710 if no worker remains, since a plan without workers would silently run at
        home."""
        before = len(self.lost)
        while self.members:
            try:
                self.describe()
                return measure(self.connected())
            except Unreachable:
                return None
            except Lost as lost:
                self.drop(lost)
                if self.members:
                    self.tell(f"a worker was lost: {self.lost[-1].words}; the program runs on the {len(self.members)} left")
        raise failed("no worker of the cluster takes part", [lost.words for lost in self.lost[before:]][:3])

    def describe(self) -> None:
        """Asks all processes for their `tables`, once, and reports those that were off in earlier runs.  Raises Lost."""
        if all(member.address in self.tables for member in self.members):
            return
        self.tables = {**describe(self.connected(), self.host_profile), **self.tables}
        for name, member in self.devices.items():
            if (drift := self.tables[member.address].drift) != 1:
                self.tell(f"{name} is planned with {float(drift):.2g} times its tables, as measured in earlier runs")

    @property
    def profile(self) -> Profile:
        """The profile of the current members, with links that are measured on first use.  Raises RunFailed as `require_same`."""
        if self.declared is not None:
            return profile_of_members(self.declared, self.devices, self.tables)
        measured = self.measured  # may drop members
        return profile_of(self.host_profile, self.members, measured, self.tables)

    def profile_for(self, values: Iterable[Any]) -> Profile:
        """The profile, with a store for those values that are in files which all processes see."""
        paths = sorted({one.file for one in values if isinstance(one, StoredInput | StoredOutput)})
        profile = self.profile
        return with_store(profile, paths, self.reading, self.devices) if paths and not profile.has_stores else profile

    def close(self) -> None:
        self.workers.close()
        self.membership.close()

    def __enter__(self) -> ClusterClient:
        return self

    def __exit__(self, *about: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------ runs

    def run_in_tiles(self, title: str, run: Callable[[TiledAttempt], _Result]) -> _Result:
        """Runs a program whose tiles workers run; after a loss again with the remaining workers, for which `run` makes a new
        plan.

        Raises RunFailed as any run, or with E710 if too many workers were lost.
        """
        before = len(self.lost)
        for left in range(self.restarts, -1, -1):
            try:
                with TiledAttempt(self, title) as attempt:
                    return run(attempt)
            except Lost as lost:
                self.drop(lost)
                if not left or not self.members:
                    words = tuple(one.words for one in self.lost[before:])
                    raise failed("workers were lost while the program ran", words[-3:]) from None
                self.tell(f"a worker was lost: {self.lost[-1].words}; the program runs again with {len(self.members)} left")
        raise AssertionError("a run ends or is given up")

    def run(
        self, plan: ExecutionPlan, planner: Planner, bound: BoundGraph, inputs: Mapping[str, Any],
        without: frozenset[str] = frozenset(),
        observe: Observer | None = None,
    ) -> RunResults:  # fmt: skip
        """Runs a plan for `profile`; after a loss, a new plan by `planner` for the remaining workers.  Raises RunFailed as any
        run, or with E710 if too many workers were lost."""
        with self.one_run:
            before = len(self.lost)
            for left in range(self.restarts, -1, -1):
                try:
                    return self.attempt(plan, bound, inputs, without, observe)
                except Lost as lost:
                    self.drop(lost)
                    if not left or not self.members:
                        raise lost_workers_failure(self.lost[before:], bound) from None
                    self.tell(f"a worker was lost: {self.lost[-1].words}; the program runs again with {len(self.members)} left")
                    plan = planner(self.profile_for(inputs.values()))
            raise AssertionError("a run ends or is given up")

    def attempt(
        self, plan: ExecutionPlan, bound: BoundGraph, inputs: Mapping[str, Any], without: frozenset[str], observe: Observer | None
    ) -> RunResults:  # fmt: skip
        away, names = worker_devices(plan), [*self.devices]
        order = {device: names.index(device) if {*away} <= {*names} else at for at, device in enumerate(away)}
        where = dict.fromkeys((plan.home, *stores_of(plan)), HOME)
        where |= {device: Process(at + 1) for device, at in order.items()}
        shares = Shares(plan, where)
        members = {process: self.members[process - 1] for process in shares.processes if process != HOME}
        lying = {name: inputs[name] for name in stored_on(plan, bound)}
        outputs = {name: one for name, one in lying.items() if isinstance(one, StoredOutput)}
        for one in outputs.values():
            one.sink.came = 0
        with RunAttempt(self.workers, self.membership, shares, members) as epoch:
            stored = {name: one.facts() for name, one in lying.items()}
            if self.handled[0] is not plan:
                exchanged, profile = exchanged_values(bound), self.profile
                self.handled = plan, {where[device]: message_ns(plan, exchanged, device, profile) for device in away}
            handled = self.handled[1]
            epoch.begin(shipment(plan, without), stored, self.interval, handled, observed=observe is not None)
            results = epoch.execute(bound, inputs, outputs, observe)
        self.learn(epoch)
        return results

    @property
    def interval(self) -> tuple[float, float]:
        """The ratios of measured to predicted time that count as predicted, according to the residuals of all calibrations."""
        calibrations = [self.host_profile.calibration, *(one.calibration for one in self.tables.values())]
        below, above = (max(getattr(one, name) for one in calibrations) for name in ("residual_p10", "residual_p90"))
        return float(1 - below), float(1 + above)

    def learn(self, epoch: RunAttempt) -> None:
        """Adopts, and reports, the drift of processes whose tables were off in the last `DRIFT_RUNS` runs."""
        if epoch.computing is not None and self.drift.add(epoch.computing.ratio, self.interval):
            epoch.drifts[HERE] = self.drift.factor
        for address, factor in epoch.drifts.items():
            name = next((name for name, member in self.devices.items() if member.address == address), "home")
            known = self.tables.get(address, Tables(self.host_profile.calibration, self.host_profile.home))
            self.tables[address] = replace(known, drift=factor)
            self.tell(f"{name} was not as predicted in {DRIFT_RUNS} runs in a row: the next run is planned with what was "
                      f"measured, {float(factor):.2g} times its tables")  # fmt: skip
        self.learned += bool(epoch.drifts)

    def drop(self, lost: Lost) -> None:
        """Removes lost workers from the members."""
        gone = {self.members[lost.process - 1].address: lost.words} | self.workers.lost()
        for address, words in gone.items():
            self.workers.drop(address)
            self.lost.append(Lost(lost.process, words if address in words else f"{address}: {words}"))
        self.devices = {name: member for name, member in self.devices.items() if member.address not in gone}
        self.members = [*self.devices.values()]


# ---------------------------------------------------------------------------------------------------- files that workers see
#
# Files that are the same for every process of a cluster, and the speed at which each process reads them.

def commonly_visible(
    cluster: ClusterClient, inputs: Mapping[str, StoredInput], folders: Collection[str] = ()
) -> tuple[dict[str, StoredInput], set[str]]:
    """The inputs whose file is the same for every worker, and the folders in which all workers see the files that home writes;
    none if a worker does not answer, which a run will report.

    Raises RunFailed as `ClusterClient.connected`."""
    with ExitStack() as stack:
        marks = {folder: stack.enter_context(_written_in(folder)) for folder in folders}
        return _seen(cluster, inputs, {folder: mark for folder, mark in marks.items() if mark is not None})


@contextmanager
def _written_in(folder: str) -> Iterator[tuple[str, Fingerprint] | None]:
    """Yields the path and fingerprint of a temporary file that exists within the context; None if it cannot be written."""
    try:
        path, handle = files.create(folder, "seen")
    except OSError:
        yield None
        return
    try:
        mark = None
        with suppress(OSError):  # the disk may be full
            os.write(handle, secrets.token_bytes(32))
            mark = fingerprint_of(path)
        yield None if mark is None else (path, mark)
    finally:
        files.discard(path)
        with suppress(OSError):
            os.close(handle)


def _seen(
    cluster: ClusterClient, inputs: Mapping[str, StoredInput], written: Mapping[str, tuple[str, Fingerprint]]
) -> tuple[dict[str, StoredInput], set[str]]:  # fmt: skip
    if not inputs and not written:
        return {}, set()
    addresses = [HERE, *(member.address for member in cluster.members)]
    probe = not {*addresses} <= cluster.reading.keys()
    marks = [*written.values()]
    facts = {"inputs": [one.facts() for one in inputs.values()], "marks": marks, "probe": probe}
    try:
        sights = cluster.workers.ask(cluster.connected(), MessageKind.SEE, facts)
    except Lost:
        return {}, set()
    sights.insert(0, visible_files([*inputs.values()], marks, probe=probe))
    same = {name: one for at, (name, one) in enumerate(inputs.items()) if all(report["same"][at] for report in sights)}
    if same and probe:
        read = zip(addresses, sights, strict=True)
        tables = ((address, CostTable(tuple(report["size"]), tuple(report["ns"]))) for address, report in read if report["ns"])
        cluster.reading = dict(tables)
    return same, {folder for at, folder in enumerate(written) if all(report["there"][at] for report in sights)}
