"""The resident of a worker process: a port, the programs that were sent to it, and its current run.

A connection with the resident's token is accepted, as home or as another worker of a run.  One home at a time leases the
resident, and others wait in a queue.  The lease ends with the connection, so nobody waits for a dead home.  A run ends when all
its queues have ended, when home stops it, or when home is lost.

Neighbours: `membership` (starts one in every worker), `home` (the other end), `crossing`.
"""

from __future__ import annotations

import hmac
import math
import os
import secrets
import socket
import ssl
import threading
import traceback
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from ....lang.diagnostics import RunFailed
from ....lang.opening import read_text
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
from .crossing import Crossing
from .holding import Held, holds_of
from .journal import Journal
from .probing import link_table
from .shares import HOME, Process, Shares
from .shipping import Unfit, failure_facts, unpacked
from .sights import sight
from .wire import Connection, Kind, Lost, Message, connect

_MOST_BYTES: Final = 16 << 20
"""Of what the system says of its processors."""
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
        self.token = secrets.token_hex(16)
        self.accepting, self.connecting = accepting, connecting
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.create_server((host, 0), family=family)
        self.host, self.port = host, int(self.listener.getsockname()[1])
        self.programs: OrderedDict[str, tuple[Plan, BoundGraph]] = OrderedDict()
        self.held = Held()
        self.running: WorkersRun | None = None
        self.change = threading.Condition()
        self.line: list[Visit] = []
        self.peers: dict[tuple[str, int], Connection] = {}
        threading.Thread(target=self.accept, name="rho resident", daemon=True).start()

    def accept(self) -> None:
        while True:
            with suppress(OSError):
                sock, _ = self.listener.accept()
                threading.Thread(target=self.welcome, args=(sock,), daemon=True).start()

    def welcome(self, sock: socket.socket) -> None:
        """Let in who knows the token."""
        try:
            if self.accepting is not None:
                sock.settimeout(MEETING)
                sock = self.accepting.wrap_socket(sock, server_side=True)
            connection = Connection(sock)
            message = connection.receive()
        except (Lost, OSError):
            sock.close()
            return
        facts = message.facts
        if message.kind is not Kind.HELLO or not hmac.compare_digest(str(facts.get("token")), self.token):
            connection.close()
        elif facts.get("as") == "home":
            Visit(self, connection).serve()
        else:
            with self.change:
                self.peers[str(facts.get("run")), int(facts.get("from", -1))] = connection
                self.change.notify_all()

    # ------------------------------------------------------------------------------ one home at a time

    def enter(self, visit: Visit) -> None:
        with self.change:
            self.line.append(visit)
            first = self.line[0] is visit
        if first:
            visit.granted()

    def leave(self, visit: Visit) -> None:
        with self.change:
            first = self.line[:1] == [visit]
            if visit in self.line:
                self.line.remove(visit)
            following = self.line[0] if first and self.line else None
        if following is not None:
            following.granted()

    def peer(self, run: WorkersRun, process: int) -> Connection:
        """The connection that another worker has made for a run.  Lost: it has not."""
        key = str(run.facts["run"]), process
        with self.change:
            if not self.change.wait_for(lambda: run.ended or key in self.peers, MEETING) or run.ended:
                raise Lost(process, "it has not come")
            return self.peers.pop(key)

    def progress(self, run: str, every: float = 1.0) -> Iterator[dict[str, Any]]:
        """What the queues of a run are at, each second, and then that it has ended here."""

        def going_on() -> WorkersRun | None:
            return self.running if self.running is not None and self.running.facts["run"] == run else None

        while (running := going_on()) is not None:
            yield {"at": running.at(), "ended": False}
            with self.change:
                self.change.wait_for(lambda: going_on() is None, every)
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

    def serve(self) -> None:
        try:
            while True:
                self.heed(self.connection.receive())
        except Lost:
            pass
        finally:
            self.connection.close()
            if self.run is not None:
                self.run.end()
            self.resident.leave(self)

    def granted(self) -> None:
        with suppress(Lost):
            self.connection.send(Kind.GRANTED, self.resident.held.facts())

    def heed(self, message: Message) -> None:
        facts = message.facts
        match message.kind:
            case Kind.PING:
                self.connection.send(Kind.PONG)
            case Kind.SEE:
                threading.Thread(target=self.see, args=(facts,), daemon=True).start()
            case Kind.MEASURE:
                self.connection.send(Kind.MEASURED, self.measured(*facts["to"]))
            case Kind.LEASE:
                self.resident.enter(self)
            case Kind.RELEASE:
                if self.run is not None:
                    self.run.end()
                    self.run = None
                self.resident.leave(self)
            case Kind.LOAD:
                threading.Thread(target=self.load, args=(facts,), daemon=True).start()
            case Kind.RUN:
                if self.run is not None:
                    self.run.end()
                program = self.resident.programs.get(facts["digest"])
                if program is None:
                    self.connection.send(Kind.REFUSED, {"because": "the program is not known any more"})
                    return
                self.resident.programs.move_to_end(facts["digest"])
                if self.resident.held.program != facts["digest"]:
                    self.resident.held = Held(facts["digest"])
                self.run = WorkersRun(self.resident, self.connection, facts, *program)
                self.resident.running = self.run
                self.run.thread.start()
            case Kind.DATA | Kind.FENCE | Kind.DROP if self.run is not None and self.run.is_of(message):
                self.run.crossing.take(message)
            case Kind.ASK:
                state = {"idle": True, "sent": 0, "received": 0} if self.run is None else self.run.crossing.state()
                self.connection.send(Kind.STATE, {"asked": facts["asked"], **state})
            case Kind.STOP if self.run is not None and self.run.is_of(message):
                self.run.crossing.halt()
            case _:
                pass

    def see(self, facts: dict[str, Any]) -> None:
        inputs = [one for one in map(from_facts, facts["inputs"]) if isinstance(one, StoredInput)]
        with suppress(Lost):
            self.connection.send(Kind.SEEN, {"asked": facts["asked"], **sight(inputs, facts["marks"], probe=facts["probe"])})

    def measured(self, host: str, port: int, token: str) -> dict[str, Any]:
        try:
            return {"ns": link_table(host, port, token, self.resident.connecting).ns}
        except Lost as lost:
            return {"words": lost.words}

    def load(self, facts: dict[str, Any]) -> None:
        try:
            if facts["digest"] not in self.resident.programs:
                self.resident.keep(facts["digest"], unpacked(facts))
            answer = Kind.READY, {"digest": facts["digest"]}
        except Unfit as error:
            answer = Kind.REFUSED, {"because": str(error)}
        except Exception as error:
            answer = Kind.REFUSED, {"because": _named(error), "trace": traceback.format_exc()}
        with suppress(Lost):
            self.connection.send(*answer)


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


@dataclass(slots=True, eq=False)
class WorkersRun:
    """The part of a run that this process has."""

    resident: Resident
    home: Connection
    facts: dict[str, Any]
    plan: Plan
    bound: BoundGraph
    links: dict[Process, Connection] = field(default_factory=dict)
    crossing: Crossing = field(init=False)
    ended: bool = False
    thread: threading.Thread = field(init=False)
    journal: Journal | None = None
    machines: list[Machine] = field(default_factory=list)

    def __post_init__(self) -> None:
        where = {DeviceId(device): Process(process) for device, process in self.facts["where"].items()}
        self.links[HOME] = self.home
        me = Process(self.facts["me"])
        shares = Shares(self.plan, where)
        links, holds = self.links, holds_of(self.facts["holds"])
        self.crossing = Crossing(shares, me, self.facts["run"], links, self.failed, self.resident.held, holds)
        self.journal = Journal(shares) if self.facts["observed"] else None
        self.thread = threading.Thread(target=self.take_part, name="rho run", daemon=True)

    def is_of(self, message: Message) -> bool:
        return bool(message.facts.get("run") == self.facts["run"])

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
        self.close()
        self.thread.join(PATIENT)
        for _ in range(_INTERRUPTS):
            if not self.thread.is_alive():
                return
            interrupt([self.thread])
            self.thread.join(PATIENT)

    def close(self) -> None:
        for process, link in self.links.items():
            if process != HOME:
                link.close()

    def take_part(self) -> None:
        WATCHER.set(self.machines.append)
        try:
            self.work()
        finally:
            with self.resident.change:
                if self.resident.running is self:
                    self.resident.running = None
                self.resident.change.notify_all()

    def work(self) -> None:
        said: dict[str, Any] = {"run": self.facts["run"]}
        try:
            self.meet()
            inputs = {name: from_facts(facts) for name, facts in self.facts["inputs"].items()}
            backends = self.crossing.backends()
            execute_plan(self.plan, self.bound, inputs, backends, self.journal, pace=Pace.THREADS, others=self.crossing)
            outputs = {name: one.sink.came for name, one in inputs.items() if isinstance(one, StoredOutput) and one.sink.came}
            said |= {"written": outputs} if outputs else {}
            if self.journal is not None:
                self.home.send(Kind.TIMES, {"run": self.facts["run"], "span": self.journal.span}, [self.journal.rows()])
        except RunFailed as failure:
            start, queue = min(self.crossing.failures, default=((0,), 0))
            said |= {"failure": failure_facts(failure), "start": start, "queue": queue}
        except Lost as lost:
            said |= {"lost": lost.process, "words": lost.words}
        except BaseException as error:
            said |= {"fault": _named(error), "trace": traceback.format_exc()}
        if not self.ended:
            with suppress(Lost):
                self.home.send(Kind.LOST if "lost" in said else Kind.DONE, said)

    def meet(self) -> None:
        """Connections to the other workers of the run: each makes those to the ones before it."""
        me, run = self.crossing.me, self.facts["run"]
        for text, (host, port, token) in self.facts["peers"].items():
            process = Process(int(text))
            if process < me:
                hello = {"token": token, "as": "worker", "run": run, "from": me}
                made = connect(host, port, process, hello, self.resident.connecting)
            elif process > me:
                made = self.resident.peer(self, process)
            else:
                continue
            made.process, made.patience = process, math.inf  # home judges who is alive
            self.links[process] = made
            threading.Thread(target=self.listen, args=(made,), daemon=True).start()

    def listen(self, link: Connection) -> None:
        try:
            while True:
                self.crossing.take(link.receive())
        except Exception as error:
            if not self.ended:
                words = error.words if isinstance(error, Lost) else repr(error)
                with suppress(Lost):
                    self.home.send(Kind.LOST, {"run": self.facts["run"], "lost": link.process, "words": words})

    def failed(self) -> None:
        with suppress(Lost):
            self.home.send(Kind.FAILED, {"run": self.facts["run"]})


def processor() -> str:
    with suppress(OSError, ValueError):
        for line in read_text("/proc/cpuinfo", _MOST_BYTES).splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return "processor"


def cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
