"""The resident of a worker process: a port, the programs that were sent to it, and its current run.

A connection with the resident's token is accepted, as home or as another worker of a run.  One home at a time leases the
resident, and others wait in a queue.  The lease ends with the connection, so nobody waits for a dead home.  A run ends when all
its queues have ended, when home stops it, or when home is lost.
"""

from __future__ import annotations

import hmac
import math
import os
import secrets
import select
import socket
import ssl
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from hashlib import sha256
from time import monotonic, perf_counter_ns, process_time_ns
from types import MappingProxyType
from typing import Any, Final

from ...lang.diagnostics.model import Code, Diagnostic, RhoError, RunFailed
from ...lang.support.processes import cores, doing, memory, model
from ...lang.support.records import dataclass, field, replace
from ..calibration.calibrate import Pace, pace
from ..cpu.backend import CpuBackend
from ..devices.profile import Profile
from ..devices.profile_toml import canonical
from ..devices.this_machine import HostFacts, machine_profile
from ..distributed.buffers import QueueClock
from ..distributed.queues import interrupt
from ..graph.bind_sizes import BoundGraph
from ..graph.phases import PhaseId, ValueId
from ..io.external_arrays import StoredInput, StoredOutput, fingerprint_of, from_facts
from ..io.reading import check_declared
from ..jit.compiler import compiling_apart
from ..jit.tiering import numpy_version, tier_name
from ..schedule.plan.plan import Device, DeviceId, ExecutionPlan, StreamStep
from ..schedule.plan.plan_text import label
from ..streams.stream_executor import StreamRun, TiledFiles, pass_of
from ..vm.check_failures import CheckFailed
from ..vm.executor import current_span, execute_plan
from ..vm.run_state import WATCHER, RunState
from .cluster_transport import HOME, ClusterTransport, ComputeTime, Drift, Held, Journal, Process, Shares
from .wire import (
    Connection,
    Lost,
    Message,
    MessageKind,
    TiledProgram,
    connect,
    failure_facts,
    link_table,
    rounded,
    unpack,
    unpack_stream,
)

# ---------------------------------------------------------------------------------------------------- connections
#
# The port of a resident, which admits a connection whose first message contains the token.
#
# Before that a peer is a stranger.  A stranger may start encryption and send one message of at most `LARGEST_HELLO` bytes without
# arrays, within `WELCOME` seconds; nothing larger is received or decoded, and any other action closes the connection.  At most
# `MOST_STRANGERS` may be pending: the oldest is dropped for the newest, so that silent peers cannot block others.

LARGEST_HELLO: Final = 512
"""The most bytes of facts in a stranger's message."""
WELCOME: Final = 5.0
MOST_STRANGERS: Final = 32
_EXHAUSTED_MS: Final = 100
"""Milliseconds before the next accept after the process ran out of descriptors or threads."""


class ConnectionListener:
    """Listens from its construction on; calls `admit` with each admitted connection and its facts, on a new thread."""

    def __init__(
        self, host: str, accepting: ssl.SSLContext | None, admit: Callable[[Connection, dict[str, Any]], None]
    ) -> None:  # fmt: skip
        self.token = secrets.token_hex(16)
        self.accepting, self.admit = accepting, admit
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.create_server((host, 0), family=family)
        self.listener.setblocking(False)
        self.host, self.port = host, int(self.listener.getsockname()[1])
        self.strangers: list[Connection] = []
        self._guard = threading.Lock()
        threading.Thread(target=self._accept, name="rho resident", daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for it
        self.listener.close()

    def _accept(self) -> None:
        coming, pausing = select.poll(), select.poll()
        coming.register(self.listener, select.POLLIN)
        while self.listener.fileno() != -1:
            coming.poll()
            try:
                sock, _ = self.listener.accept()
            except BlockingIOError:
                continue
            except OSError:
                pausing.poll(_EXHAUSTED_MS)
                continue
            try:
                stranger = self._stranger(sock)
                threading.Thread(target=self._welcome, args=(stranger,), daemon=True).start()
            except (OSError, ValueError, RuntimeError, MemoryError):
                sock.close()
                pausing.poll(_EXHAUSTED_MS)

    def _stranger(self, sock: socket.socket) -> Connection:
        if self.accepting is not None:
            sock = self.accepting.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
        stranger = Connection(sock, until=monotonic() + WELCOME)
        with self._guard:
            self.strangers.append(stranger)
            oldest = self.strangers[:-MOST_STRANGERS]
        for one in oldest:
            self._dismiss(one)
        return stranger

    def _dismiss(self, stranger: Connection) -> None:
        with self._guard:
            self.strangers = [one for one in self.strangers if one is not stranger]
        stranger.close()

    def _welcome(self, stranger: Connection) -> None:
        try:
            facts = self._facts_of(stranger)
        except Exception:  # whatever a stranger sends has no effect
            self._dismiss(stranger)
            return
        with self._guard:
            self.strangers = [one for one in self.strangers if one is not stranger]
        stranger.until = None
        self.admit(stranger, facts)

    def _facts_of(self, stranger: Connection) -> dict[str, Any]:
        """The facts of the first message.  Raises Lost if its sender does not know the token."""
        stranger.shake_hands()
        message = stranger.receive(LARGEST_HELLO, with_arrays=False)
        token = str(message.facts.pop("token", "")).encode("utf-8", "surrogatepass")
        if message.kind is not MessageKind.HELLO or not hmac.compare_digest(token, self.token.encode()):
            raise Lost(stranger.process, "it does not know the token")
        return message.facts


# ---------------------------------------------------------------------------------------------------- files that a worker sees
#
# Files of a process that are the same as home's, and the speed at which the process reads them.

HERE: Final = "here"
_PROBED: Final = (1 << 16, 2 << 20)
"""Approximate bytes read of a file, whatever they become in memory."""
_PLACES: Final = 4
"""Positions of a file that are probed, since data are faster to read a second time."""
_PROBE_SHARE: Final = 4 * _PLACES
"""The fraction 1/_PROBE_SHARE of a file is read at each position, so a quarter of it in all, since a server sends it to every
process."""


def visible_files(inputs: Sequence[StoredInput], marks: Sequence[Sequence[Any]] = (), *, probe: bool) -> dict[str, Any]:
    """The report of this process: which of the files are the same here, and the times of reading some of the largest.  `marks`:
    the fingerprints of further files."""
    same = [fingerprint_of(one.file) == one.fingerprint for one in inputs]
    there = [fingerprint_of(path) == tuple(mark) for path, mark in marks]
    largest = max((one for one, is_same in zip(inputs, same, strict=True) if is_same), key=_bytes, default=None)
    size, ns = ([], []) if largest is None or not probe else _probed(largest)
    return {"same": same, "there": there, "size": size, "ns": ns}


def _bytes(one: StoredInput) -> int:
    return math.prod(one.shape) * one.kind.bytes


def _probed(one: StoredInput) -> tuple[list[int], list[int]]:
    """The bytes of an array and the nanoseconds of reading them; nothing if they cannot be read."""
    row = math.prod(one.shape[1:]) * one.kind.bytes
    size: list[int] = []
    ns: list[int] = []
    try:
        stored = one.source.bytes
        for wanted in _PROBED:
            rows = max(1, one.shape[0] * min(wanted, stored // _PROBE_SHARE) // stored)
            times = []
            for number in range(_PLACES):
                first, start = number * (one.shape[0] - rows) // _PLACES, perf_counter_ns()
                one.window(((first, first + rows), *((0, n) for n in one.shape[1:]))).read()
                times.append(rounded(perf_counter_ns() - start))
            if not size or rows * row > size[-1]:
                size.append(rows * row)
                ns.append(max([min(times), *ns]))
    except RhoError:
        return [], []
    return size, ns


# ---------------------------------------------------------------------------------------------------- description of a worker
#
# The cost tables of this process's machine: its calibration, from the user's cache by the processor's fingerprint, or the default
# tables; and its current slowdown.

def machine() -> Profile:
    """The profile of this process's machine."""
    return machine_profile(HostFacts(cores(), memory(), model(), os.cpu_count() or 0), tier_name(), numpy_version())


def tables_digest(profile: Profile) -> str:
    """The digest of the tables and of their calibration: equal for machines with equal times and calibrations."""
    facts = replace(profile.calibration, facts={})
    home = replace(profile.home, threads=1, memory_bytes=None)
    return sha256(canonical(replace(profile, devices=(home,), calibration=facts)).encode()).hexdigest()


def description(threads: int, known: Collection[str], messages: Callable[[], Sequence[int]], *, paced: bool) -> dict[str, Any]:
    """The description of this process: the text of its profile, if its digest is not `known`; the processor time of both ends of
    `messages`; with `paced`, the current slowdown of a device with `threads` threads compared with its tables."""
    profile = machine()
    digest, text = tables_digest(profile), ""
    if digest not in known:
        text = canonical(profile)
    at_present = pace(replace(profile.home, threads=threads), PACED_NS) if paced else Pace()
    return {
        "digest": digest, "profile": text, "pace": at_present.slowdown.as_integer_ratio(),
        "messages": [rounded(round(ns * at_present.by_others)) for ns in messages()],
    }  # fmt: skip


PACED_NS: Final = 300_000_000
"""Nanoseconds over which the pace is measured, during which other programs may use the processor for a while."""

# ---------------------------------------------------------------------------------------------------- worker agent

MOST_PROGRAMS: Final = 16
PATIENT: Final = 0.2
"""Seconds for a run to stop by itself before its thread is interrupted."""
_INTERRUPTS: Final = 25
"""The most interrupts; after that the next home gets the worker anyway, since the remaining threads take no part in its run."""
MEETING: Final = 10.0
"""Seconds that workers of a run wait for each other's connections."""


class Resident:
    """The resident of a worker process: it accepts connections and leases itself to one home at a time."""

    def __init__(self, host: str, accepting: ssl.SSLContext | None = None, connecting: ssl.SSLContext | None = None) -> None:
        self.connecting = connecting
        self.programs: OrderedDict[str, tuple[ExecutionPlan, BoundGraph] | TiledProgram] = OrderedDict()
        self.held: Held = {}
        self.held_of = ""
        """The program of what is held."""
        self.running: WorkersRun | TiledRun | None = None
        self.drift = Drift()
        self.change = threading.Condition()
        self.waiting_clients: list[ClientConnection] = []
        self.peers: dict[tuple[str, int], Connection] = {}
        self.doorway = ConnectionListener(host, accepting, self.admit)
        self.host, self.port, self.token = host, self.doorway.port, self.doorway.token

    def messages(self) -> Sequence[int]:
        """The processor time of both ends of messages of this process to itself, by size; none if it cannot reach itself."""
        try:
            return link_table((self.host, self.port, self.token), self.connecting, clock=process_time_ns).ns
        except Lost:
            return ()

    def close(self) -> None:
        """Accept no more connections."""
        self.doorway.close()

    def admit(self, connection: Connection, facts: Mapping[str, Any]) -> None:
        """Serves a home until its connection ends, or keeps the connection of another worker of a run."""
        match facts:
            case {"as": "home"}:
                if facts.get("machine") == socket.gethostname():
                    connection.doing = partial(doing, int(facts["pid"]))
                ClientConnection(self, connection).serve()
            case {"as": "worker", "run": str(run), "from": int(process)}:
                with self.change:
                    self.peers[run, process] = connection
                    self.change.notify_all()
            case _:
                connection.close()

    # ------------------------------------------------------------------------------ one home at a time

    def enter(self, visit: ClientConnection) -> None:
        with self.change:
            self.waiting_clients.append(visit)
            first = self.waiting_clients[0]
        if first is visit:
            visit.grant_lease()

    def leave(self, visit: ClientConnection) -> None:
        with self.change:
            was_first = self.waiting_clients[:1] == [visit]
            self.waiting_clients = [one for one in self.waiting_clients if one is not visit]
            following = self.waiting_clients[:1] if was_first else []
        for one in following:
            one.grant_lease()

    def peer(self, run: WorkersRun, process: int) -> Connection:
        """The connection that another worker has opened for a run.  Raises Lost if there is none."""
        key = run.name, process
        with self.change:
            if not self.change.wait_for(lambda: run.ended or key in self.peers, MEETING) or run.ended:
                raise Lost(process, "it has not come")
            return self.peers.pop(key)

    def progress(self, run: str, every: float = 1.0) -> Iterator[dict[str, Any]]:
        """Yields the current phases of a run's queues every `every` seconds, and finally that the run has ended here."""

        while (running := self.running) is not None and running.name == run:
            yield {"at": running.current_phases(), "ended": False}
            with self.change:
                self.change.wait_for(lambda: self.running is not running, every)
        yield {"at": [], "ended": True}

    def keep(self, digest: str, program: tuple[ExecutionPlan, BoundGraph] | TiledProgram) -> None:
        with self.change:
            self.programs[digest] = program
            while len(self.programs) > MOST_PROGRAMS:
                self.programs.popitem(last=False)


@dataclass(slots=True, eq=False)
class ClientConnection:
    """The connection of a home, and its run."""

    resident: Resident
    connection: Connection
    run: WorkersRun | TiledRun | None = None
    lease: int = 0
    """The number of the home's request for the lease; the answer is sent when the lease is granted."""

    def serve(self) -> None:
        try:
            while True:
                self.handle(self.connection.receive())
        except Lost:
            pass
        finally:
            self.connection.close()
            self.release()

    def release(self) -> None:
        if self.run is not None:
            self.run.end()
            self.run = None
        self.resident.leave(self)

    def handle(self, message: Message) -> None:
        facts, run = message.facts, self.run
        match message.kind:
            case MessageKind.PING:
                self.connection.send(MessageKind.PONG)
            case MessageKind.LEASE:
                self.lease = facts["asked"]
                self.resident.enter(self)
            case MessageKind.LOAD | MessageKind.DESCRIBE | MessageKind.MEASURE | MessageKind.SEE:
                threading.Thread(target=self.handle_slow, args=(message,), daemon=True).start()
            case MessageKind.REST:
                at_rest = {"idle": True, "sent": 0, "received": 0}
                self.answer(facts["asked"], run.transport.state() if isinstance(run, WorkersRun) else at_rest)
            case MessageKind.RUN:
                self.run = self.resident.running = WorkersRun(self.resident, self.connection, facts)
                self.run.thread.start()
            case MessageKind.TILES:
                self.run = self.resident.running = TiledRun(self.resident, self.connection, facts, message.arrays)
                self.run.thread.start()
            case MessageKind.RELEASE:
                self.release()
            case MessageKind.DATA | MessageKind.FENCE | MessageKind.DROP:
                if isinstance(run, WorkersRun) and facts["run"] == run.name:
                    run.transport.take(message)
            case MessageKind.STOP if run is not None and facts["run"] == run.name:
                if isinstance(run, WorkersRun):
                    run.transport.halt()
                else:
                    threading.Thread(target=run.end, daemon=True).start()
            case _:
                pass

    def answer(self, asked: int, facts: Mapping[str, Any]) -> None:
        with suppress(Lost):
            self.connection.send(MessageKind.ANSWER, {**facts, "asked": asked})

    def grant_lease(self) -> None:
        resident = self.resident
        holds = {number: digest for number, (digest, _) in resident.held.items()}
        self.answer(self.lease, {"programs": [*resident.programs], "holds_of": resident.held_of, "holds": holds})

    def handle_slow(self, message: Message) -> None:
        """Answers a question that takes a while."""
        said: dict[str, Any] = {}
        facts = message.facts
        try:
            match message.kind:
                case MessageKind.LOAD:
                    self.resident.keep(facts["digest"], unpack_stream(facts) if "rewrites" in facts else unpack(facts))
                case MessageKind.DESCRIBE:
                    drift = self.resident.drift.factor
                    said = description(facts["threads"], facts["known"], self.resident.messages, paced=facts["paced"])
                    said["drift"] = [drift.numerator, drift.denominator]
                case MessageKind.MEASURE:
                    said = {"ns": link_table(facts["to"], self.resident.connecting).ns}
                case MessageKind.SEE:
                    inputs = [one for one in map(from_facts, facts["inputs"]) if isinstance(one, StoredInput)]
                    said = visible_files(inputs, facts["marks"], probe=facts["probe"])
        except Lost as lost:
            said = {"words": lost.words}
        except Exception as error:
            said = _fault_facts(error)
        self.answer(facts["asked"], said)


def _fault_facts(error: BaseException) -> dict[str, str]:
    """The facts of an internal error of Rho."""
    return {"fault": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}


def _end_thread(thread: threading.Thread) -> None:
    """Waits until a thread ends, which is interrupted meanwhile, for at most five seconds."""
    thread.join(PATIENT)
    for _ in range(_INTERRUPTS):
        if not thread.is_alive():
            return
        interrupt([thread])
        thread.join(PATIENT)


@dataclass(slots=True, eq=False)
class TiledRun:
    """The tiles of a pass that this process runs.  `facts`: those of `TiledAttempt.begin`; `operands`: the whole values that
    these name, in order."""

    resident: Resident
    home: Connection
    facts: dict[str, Any]
    operands: list[Any]
    name: str = field(init=False)
    thread: threading.Thread = field(init=False)
    ended: bool = False
    current: str = ""

    def __post_init__(self) -> None:
        self.name = self.facts["run"]
        self.thread = threading.Thread(target=self.run, name="rho tiles", daemon=True)

    def current_phases(self) -> list[str]:
        """The last phase of the pass."""
        return [self.current] if self.current else []

    def end(self) -> None:
        """Stops the pass because home ends it or is lost."""
        self.ended = True
        _end_thread(self.thread)

    def send_home(self, kind: MessageKind, facts: Mapping[str, Any], arrays: Sequence[Any] = ()) -> None:
        if not self.ended:
            self.home.send(kind, {**facts, "run": self.name, "pass": self.facts["pass"]}, arrays)

    def run(self) -> None:
        try:
            with ExitStack() as opened:
                files = self.files(opened)
                sinks = self.execute(files)
            read = {str(device): counts for device, counts in files.read.items()}
            self.send_home(MessageKind.DONE, {"read": read, "written": {name: sink.came for name, sink in sinks.items()}})
        except Lost:
            pass
        except RhoError as failure:
            self.report({"failure": failure_facts(RunFailed(failure.diagnostics))})
        except BaseException as error:
            self.report(_fault_facts(error))
        finally:
            with self.resident.change:
                if self.resident.running is self:
                    self.resident.running = None
                self.resident.change.notify_all()

    def report(self, facts: Mapping[str, Any]) -> None:
        with suppress(Lost):
            self.send_home(MessageKind.DONE, facts)

    def files(self, opened: ExitStack) -> TiledFiles:
        """The files that the pass reads and writes here; those that are written are opened."""
        program = self.program()
        stored = {name: from_facts(facts) for name, facts in self.facts["inputs"].items()}
        sinks = {}
        for name, facts in self.facts["outputs"].items():
            output = from_facts(facts)
            assert isinstance(output, StoredOutput), "an output"
            with output.writing():
                opened.enter_context(output.opened())
            sinks[name] = output.sink
        types = {entry.name: program.core.types[entry.value] for entry in program.core.data}
        inputs = {name: one for name, one in stored.items() if isinstance(one, StoredInput)}
        checks = {
            name: partial(check_declared, declared=types[name], sizes=program.bound.sizes, path=one.shown, span=one.span)
            for name, one in inputs.items()
        }
        return TiledFiles({name: one.source for name, one in inputs.items()}, sinks, checks)

    def program(self) -> TiledProgram:
        program = self.resident.programs[self.facts["digest"]]
        assert isinstance(program, TiledProgram), "it streams"
        return program

    def execute(self, files: TiledFiles) -> Mapping[str, Any]:
        """Runs the tiles; returns the sinks that were written here."""
        facts, program = self.facts, self.program()
        step = StreamStep(
            tuple(map(PhaseId, facts["phases"])), tuple(map(ValueId, facts["results"])), facts["rows"], facts["tiles"],
            facts["depth"], 0, 0,
        )  # fmt: skip
        device, graph = Device(DeviceId(facts["device"]), "cpu", facts["threads"]), program.bound.graph
        one = pass_of(program.flow, step)
        self.current = label(one.sinks[0].phase, graph)
        backend = CpuBackend(device.threads)
        phases = {phase.id: phase for phase in graph.phases}
        operands, states = facts["operands"], facts["states"]
        memory = dict(zip(map(ValueId, operands), self.operands[: len(operands)], strict=True))
        machine = RunState(
            graph.types, dict(program.bound.sizes), graph.guards, {device.id: backend}, {}, {device.id: memory}, phases,
            around=program.bound, stores=files,
        )  # fmt: skip
        machine.current = one.sinks[0].phase

        def deliver(sink: int, rows: tuple[int, int], arrays: Sequence[Any], value: int) -> None:
            self.send_home(MessageKind.DATA, {"sink": sink, "rows": rows, "value": value}, arrays)

        with backend.quiet(), compiling_apart():
            try:
                stream = StreamRun(machine, files, program.flow, one, step, device, memory, deliver=deliver)
                if states is None:
                    stream.leave(*facts["share"])
                else:
                    stream.states |= zip(states, self.operands[len(operands) :], strict=True)
                    stream.run_share(*facts["share"])
            except CheckFailed as failure:
                raise failure.at(current_span(machine)) from None
            except MemoryError:
                raise RunFailed([Diagnostic(Code.E702, "memory ran out", current_span(machine))]) from None
        return files.sinks


@dataclass(slots=True, eq=False)
class WorkersRun:
    """The part of a run in this process.  `facts`: those of home's `MessageKind.RUN`."""

    resident: Resident
    home: Connection
    facts: dict[str, Any]
    links: dict[Process, Connection] = field(default_factory=dict)
    name: str = field(init=False)
    plan: ExecutionPlan = field(init=False)
    bound: BoundGraph = field(init=False)
    transport: ClusterTransport = field(init=False)
    thread: threading.Thread = field(init=False)
    ended: bool = False
    journal: Journal | None = None
    machines: list[RunState] = field(default_factory=list)

    def __post_init__(self) -> None:
        facts = self.facts
        self.name, digest = facts["run"], facts["digest"]
        self.resident.programs.move_to_end(digest)
        program = self.resident.programs[digest]
        assert not isinstance(program, TiledProgram), "it has a plan of queues"
        self.plan, self.bound = program
        if self.resident.held_of != digest:
            self.resident.held, self.resident.held_of = {}, digest
        self.links[HOME] = self.home
        shares = Shares(self.plan, {DeviceId(device): Process(process) for device, process in facts["where"].items()})
        me, held = Process(facts["me"]), self.resident.held
        self.transport = ClusterTransport(shares, me, self.name, self.links, self.failed, held, facts["holds"])
        self.journal = Journal(shares) if facts["observed"] else None
        self.thread = threading.Thread(target=self.run, name="rho run", daemon=True)

    def current_phases(self) -> list[str]:
        """The phases at which its queues are."""
        current = [machine.current for machine in self.machines]
        return list(dict.fromkeys(label(phase, self.bound.graph) for phase in current if phase is not None))

    def end(self) -> None:
        """Stops the run because home ends it or is lost; returns when all its threads have ended, or after five seconds."""
        with self.resident.change:
            self.ended = True
            self.resident.change.notify_all()
        self.transport.halt(Lost(HOME, "home is gone"))
        for process, link in self.links.items():
            if process != HOME:
                link.close()
        _end_thread(self.thread)

    def send_home(self, kind: MessageKind, facts: Mapping[str, Any] = MappingProxyType({}), arrays: Sequence[Any] = ()) -> None:
        if not self.ended:
            with suppress(Lost):
                self.home.send(kind, {**facts, "run": self.name}, arrays)

    def run(self) -> None:
        WATCHER.set(self.machines.append)
        try:
            self.connect_peers()
            inputs = {name: from_facts(facts) for name, facts in self.facts["inputs"].items()}
            backends = self.transport.backends()
            computing = ComputeTime.of(self.transport.shares, self.transport.me, self.journal, self.facts["handled"])
            execute_plan(self.plan, self.bound, inputs, backends, computing, pace=QueueClock.THREADS, others=self.transport)
            drift = self.resident.drift
            drifted = {}
            if drift.add(computing.ratio, self.facts["interval"]):
                drifted = {"drift": [drift.factor.numerator, drift.factor.denominator]}
            written = {name: one.sink.came for name, one in inputs.items() if isinstance(one, StoredOutput) and one.sink.came}
            if self.journal is None:
                self.send_home(MessageKind.DONE, drifted | ({"written": written} if written else {}))
            else:
                facts = {"written": written, "span": self.journal.span, **drifted}
                self.send_home(MessageKind.DONE, facts, [self.journal.rows()])
        except RunFailed as failure:
            start, queue = min(self.transport.failures, default=((0,), 0))
            self.send_home(MessageKind.DONE, {"failure": failure_facts(failure), "start": start, "queue": queue})
        except Lost as lost:
            self.send_home(MessageKind.LOST, {"lost": lost.process, "words": lost.words})
        except BaseException as error:
            self.send_home(MessageKind.DONE, _fault_facts(error))
        finally:
            with self.resident.change:
                if self.resident.running is self:
                    self.resident.running = None
                self.resident.change.notify_all()

    def connect_peers(self) -> None:
        """Connects to the other workers of the run: each worker opens the connections to the workers before it."""
        me = self.transport.me
        for text, door in self.facts["peers"].items():
            process = Process(int(text))
            if process == me:
                continue
            if process < me:
                peer = connect(door, process, {"as": "worker", "run": self.name, "from": me}, self.resident.connecting)
            else:
                peer = self.resident.peer(self, process)
            peer.process, peer.patience = process, math.inf  # only home decides who is alive
            self.links[process] = peer
            threading.Thread(target=self.listen, args=(peer,), daemon=True).start()

    def listen(self, link: Connection) -> None:
        try:
            while True:
                self.transport.take(link.receive())
        except Exception as error:
            self.send_home(
                MessageKind.LOST, {"lost": link.process, "words": error.words if isinstance(error, Lost) else repr(error)}
            )

    def failed(self) -> None:
        self.send_home(MessageKind.FAILED)
