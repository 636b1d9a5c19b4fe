"""The resident of a worker process: a port, the programs that were sent to it, and its current run.

A connection with the resident's token is accepted, as home or as another worker of a run.  One home at a time leases the
resident, and others wait in a queue.  The lease ends with the connection, so nobody waits for a dead home.  A run ends when all
its queues have ended, when home stops it, or when home is lost.

Neighbours: `doorway` (who comes in), `membership` (starts one in every worker), `home` (the other end), `crossing`.
"""

from __future__ import annotations

import math
import ssl
import threading
import traceback
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from ....lang.diagnostics import RunFailed
from ...graph import BoundGraph
from ...schedule.plan.describe import label
from ...schedule.plan.model import Plan
from ...schedule.plan.parts import DeviceId
from ..distributed import Pace
from ..executor import execute_plan
from ..files.stored import StoredInput, StoredOutput, from_facts
from ..machine import Machine
from ..threads import interrupt
from ..watching import WATCHER
from .crossing import Crossing, Held
from .doorway import Doorway
from .journal import Journal
from .probing import link_table
from .shares import HOME, Process, Shares
from .shipping import failure_facts, unpacked
from .sights import sight
from .wire import Connection, Kind, Lost, Message, connect

MOST_PROGRAMS: Final = 16
PATIENT: Final = 0.2
"""Seconds in which a run is to hear that it is over, before its thread is interrupted."""
_INTERRUPTS: Final = 25
"""How often; after that the next home gets the worker all the same, since nothing that is left takes part in its run."""
MEETING: Final = 10.0
"""Seconds that workers of a run wait for each other's connections."""


class Resident:
    """One a process."""

    def __init__(self, host: str, accepting: ssl.SSLContext | None = None, connecting: ssl.SSLContext | None = None) -> None:
        self.connecting = connecting
        self.programs: OrderedDict[str, tuple[Plan, BoundGraph]] = OrderedDict()
        self.held: Held = {}
        self.held_of = ""
        """The program of what is held."""
        self.running: WorkersRun | None = None
        self.change = threading.Condition()
        self.line: list[Visit] = []
        self.peers: dict[tuple[str, int], Connection] = {}
        self.doorway = Doorway(host, accepting, self.admit)
        self.host, self.port, self.token = host, self.doorway.port, self.doorway.token

    def close(self) -> None:
        """Nobody comes in any more."""
        self.doorway.close()

    def admit(self, connection: Connection, facts: Mapping[str, Any]) -> None:
        """A home, for as long as its visit lasts, or another worker of a run."""
        match facts:
            case {"as": "home"}:
                Visit(self, connection).serve()
            case {"as": "worker", "run": str(run), "from": int(process)}:
                with self.change:
                    self.peers[run, process] = connection
                    self.change.notify_all()
            case _:
                connection.close()

    # ------------------------------------------------------------------------------ one home at a time

    def enter(self, visit: Visit) -> None:
        with self.change:
            self.line.append(visit)
            first = self.line[0]
        if first is visit:
            visit.granted()

    def leave(self, visit: Visit) -> None:
        with self.change:
            was_first = self.line[:1] == [visit]
            self.line = [one for one in self.line if one is not visit]
            following = self.line[:1] if was_first else []
        for one in following:
            one.granted()

    def peer(self, run: WorkersRun, process: int) -> Connection:
        """The connection that another worker has made for a run.  Lost: it has not."""
        key = run.name, process
        with self.change:
            if not self.change.wait_for(lambda: run.ended or key in self.peers, MEETING) or run.ended:
                raise Lost(process, "it has not come")
            return self.peers.pop(key)

    def progress(self, run: str, every: float = 1.0) -> Iterator[dict[str, Any]]:
        """What the queues of a run are at, each second, and then that it has ended here."""

        while (running := self.running) is not None and running.name == run:
            yield {"at": running.at(), "ended": False}
            with self.change:
                self.change.wait_for(lambda: self.running is not running, every)
        yield {"at": [], "ended": True}

    def keep(self, digest: str, program: tuple[Plan, BoundGraph]) -> None:
        with self.change:
            self.programs[digest] = program
            while len(self.programs) > MOST_PROGRAMS:
                self.programs.popitem(last=False)


@dataclass(slots=True, eq=False)
class Visit:
    """A home that is connected, and its run."""

    resident: Resident
    connection: Connection
    run: WorkersRun | None = None
    lease: int = 0
    """The number of the question of which the answer is that this home has the resident."""

    def serve(self) -> None:
        try:
            while True:
                self.heed(self.connection.receive())
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

    def heed(self, message: Message) -> None:
        facts, run = message.facts, self.run
        match message.kind:
            case Kind.PING:
                self.connection.send(Kind.PONG)
            case Kind.LEASE:
                self.lease = facts["asked"]
                self.resident.enter(self)
            case Kind.LOAD | Kind.MEASURE | Kind.SEE:
                threading.Thread(target=self.consider, args=(message,), daemon=True).start()
            case Kind.REST:
                self.answer(facts["asked"], {"idle": True, "sent": 0, "received": 0} if run is None else run.crossing.state())
            case Kind.RUN:
                self.run = self.resident.running = WorkersRun(self.resident, self.connection, facts)
                self.run.thread.start()
            case Kind.RELEASE:
                self.release()
            case Kind.DATA | Kind.FENCE | Kind.DROP if run is not None and facts["run"] == run.name:
                run.crossing.take(message)
            case Kind.STOP if run is not None and facts["run"] == run.name:
                run.crossing.halt()
            case _:
                pass

    def answer(self, asked: int, facts: Mapping[str, Any]) -> None:
        with suppress(Lost):
            self.connection.send(Kind.ANSWER, {**facts, "asked": asked})

    def granted(self) -> None:
        resident = self.resident
        holds = {number: digest for number, (digest, _) in resident.held.items()}
        self.answer(self.lease, {"programs": [*resident.programs], "holds_of": resident.held_of, "holds": holds})

    def consider(self, message: Message) -> None:
        """Answer a question that takes a while."""
        said: dict[str, Any] = {}
        facts = message.facts
        try:
            match message.kind:
                case Kind.LOAD:
                    self.resident.keep(facts["digest"], unpacked(facts))
                case Kind.MEASURE:
                    said = {"ns": link_table(facts["to"], self.resident.connecting).ns}
                case Kind.SEE:
                    inputs = [one for one in map(from_facts, facts["inputs"]) if isinstance(one, StoredInput)]
                    said = sight(inputs, facts["marks"], probe=facts["probe"])
        except Lost as lost:
            said = {"words": lost.words}
        except Exception as error:
            said = _fault(error)
        self.answer(facts["asked"], said)


def _fault(error: BaseException) -> dict[str, str]:
    """What is a mistake in Rho."""
    return {"fault": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}


@dataclass(slots=True, eq=False)
class WorkersRun:
    """The part of a run that this process has.  `facts`: as home's `Kind.RUN` has them."""

    resident: Resident
    home: Connection
    facts: dict[str, Any]
    links: dict[Process, Connection] = field(default_factory=dict)
    name: str = field(init=False)
    plan: Plan = field(init=False)
    bound: BoundGraph = field(init=False)
    crossing: Crossing = field(init=False)
    thread: threading.Thread = field(init=False)
    ended: bool = False
    journal: Journal | None = None
    machines: list[Machine] = field(default_factory=list)

    def __post_init__(self) -> None:
        facts = self.facts
        self.name, digest = facts["run"], facts["digest"]
        self.resident.programs.move_to_end(digest)
        self.plan, self.bound = self.resident.programs[digest]
        if self.resident.held_of != digest:
            self.resident.held, self.resident.held_of = {}, digest
        self.links[HOME] = self.home
        shares = Shares(self.plan, {DeviceId(device): Process(process) for device, process in facts["where"].items()})
        me, held = Process(facts["me"]), self.resident.held
        self.crossing = Crossing(shares, me, self.name, self.links, self.failed, held, facts["holds"])
        self.journal = Journal(shares) if facts["observed"] else None
        self.thread = threading.Thread(target=self.take_part, name="rho run", daemon=True)

    def at(self) -> list[str]:
        """The phases that its queues are at."""
        found = [machine.current for machine in self.machines]
        return list(dict.fromkeys(label(phase, self.bound.graph) for phase in found if phase is not None))

    def end(self) -> None:
        """Home does not want it any more, or is gone; back when nothing of it runs, or after five seconds."""
        with self.resident.change:
            self.ended = True
            self.resident.change.notify_all()
        self.crossing.halt(Lost(HOME, "home is gone"))
        for process, link in self.links.items():
            if process != HOME:
                link.close()
        self.thread.join(PATIENT)
        for _ in range(_INTERRUPTS):
            if not self.thread.is_alive():
                return
            interrupt([self.thread])
            self.thread.join(PATIENT)

    def tell(self, kind: Kind, facts: Mapping[str, Any] = MappingProxyType({}), arrays: Sequence[Any] = ()) -> None:
        if not self.ended:
            with suppress(Lost):
                self.home.send(kind, {**facts, "run": self.name}, arrays)

    def take_part(self) -> None:
        WATCHER.set(self.machines.append)
        try:
            self.meet()
            inputs = {name: from_facts(facts) for name, facts in self.facts["inputs"].items()}
            backends = self.crossing.backends()
            execute_plan(self.plan, self.bound, inputs, backends, self.journal, pace=Pace.THREADS, others=self.crossing)
            written = {name: one.sink.came for name, one in inputs.items() if isinstance(one, StoredOutput) and one.sink.came}
            if self.journal is None:
                self.tell(Kind.DONE, {"written": written} if written else {})
            else:
                self.tell(Kind.DONE, {"written": written, "span": self.journal.span}, [self.journal.rows()])
        except RunFailed as failure:
            start, queue = min(self.crossing.failures, default=((0,), 0))
            self.tell(Kind.DONE, {"failure": failure_facts(failure), "start": start, "queue": queue})
        except Lost as lost:
            self.tell(Kind.LOST, {"lost": lost.process, "words": lost.words})
        except BaseException as error:
            self.tell(Kind.DONE, _fault(error))
        finally:
            with self.resident.change:
                if self.resident.running is self:
                    self.resident.running = None
                self.resident.change.notify_all()

    def meet(self) -> None:
        """Connections to the other workers of the run: each makes those to the ones before it."""
        me = self.crossing.me
        for text, door in self.facts["peers"].items():
            process = Process(int(text))
            if process == me:
                continue
            if process < me:
                made = connect(door, process, {"as": "worker", "run": self.name, "from": me}, self.resident.connecting)
            else:
                made = self.resident.peer(self, process)
            made.process, made.patience = process, math.inf  # home judges who is alive
            self.links[process] = made
            threading.Thread(target=self.listen, args=(made,), daemon=True).start()

    def listen(self, link: Connection) -> None:
        try:
            while True:
                self.crossing.take(link.receive())
        except Exception as error:
            self.tell(Kind.LOST, {"lost": link.process, "words": error.words if isinstance(error, Lost) else repr(error)})

    def failed(self) -> None:
        self.tell(Kind.FAILED)
