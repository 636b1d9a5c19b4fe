"""The workers that home is connected to, and what each has said.

Neighbours: `home` (has them), `epoch` (the run that hears what they say of it), `resident` (the other end).
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import sleep
from typing import Any, Protocol

from ....lang.listening import LISTENING
from .journal import Seen
from .membership import Member
from .shares import Process
from .shipping import require_same
from .wire import PULSE, Connection, Kind, Lost, Message, connect


class WorkerFault(Exception):
    """A worker reports what is a mistake in Rho; its own trace is a note of it, which reports of bugs have."""

    def __init__(self, address: str, what: str, facts: Mapping[str, Any]) -> None:
        super().__init__(f"worker {address} {what}")
        if "trace" in facts:
            self.add_note(f"on {address}:\n{facts['trace']}")


@dataclass(slots=True, eq=False)
class Worker:
    """A connection to the resident of a member, with what it has said."""

    member: Member
    process: Process
    every: Workers
    connection: Connection
    granted: bool = False
    held: dict[str, Any] = field(default_factory=dict)
    """What it says it holds (`holding`)."""
    programs: set[str] = field(default_factory=set)
    refused: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    sight: dict[str, Any] = field(default_factory=dict)
    done: dict[str, Any] | None = None
    lost: Lost | None = None
    seen: Seen = field(default_factory=Seen)

    def begin(self) -> None:
        for work in (self.listen, self.pulse):
            threading.Thread(target=work, name=f"rho {self.member.address}", daemon=True).start()

    def listen(self) -> None:
        try:
            while True:
                self.every.heed(self, self.connection.receive())
        except Lost as lost:
            self.every.miss(self, lost)
        except Exception as error:
            self.every.miss(self, Lost(self.process, f"it says what nobody understands ({error!r})"))

    def pulse(self) -> None:
        """Home lives, as long as the connection does; a run that lasts until a pulse is shown."""
        with suppress(Lost):
            while not self.connection.closed:
                self.connection.send(Kind.PING)
                run = self.every.running
                if run is not None and self in run.workers[:1]:
                    run.show()
                sleep(PULSE)


class Run(Protocol):
    """A run that workers take part in, and hears what they say of it."""

    name: str
    workers: list[Worker]

    def heed(self, worker: Worker, message: Message) -> None: ...

    def miss(self, lost: Lost) -> None: ...

    def show(self) -> None: ...


class Workers:
    """All that home is connected to, by their addresses.  `change` guards what they have said."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        """`context`: of TLS, if connections are by it."""
        self.context = context
        self.change = threading.Condition()
        self.connected: dict[str, Worker] = {}
        self.running: Run | None = None

    def connect(self, member: Member, process: Process) -> Worker:
        """The worker of a member, connected to.  Lost."""
        found = self.connected.get(member.address)
        if found is not None and found.lost is None and not found.connection.closed:
            found.process = found.connection.process = process
            return found
        require_same(member.address, member.version)
        hello = {"token": member.token, "as": "home"}
        made = Worker(member, process, self, connect(member.host, member.port, process, hello, self.context))
        self.connected[member.address] = made
        made.begin()
        return made

    def drop(self, address: str) -> None:
        worker = self.connected.pop(address, None)
        if worker is not None:
            worker.connection.close()

    def close(self) -> None:
        for address in [*self.connected]:
            self.drop(address)

    def lost(self) -> dict[str, str]:
        """The addresses of those that do not answer, and why."""
        return {address: worker.lost.words for address, worker in self.connected.items() if worker.lost is not None}

    def heed(self, worker: Worker, message: Message) -> None:
        run = self.running
        current = run is not None and message.facts.get("run") == run.name
        if message.kind not in (Kind.DATA, Kind.FENCE):
            self.note(worker, message, current)
        if run is not None and current:
            run.heed(worker, message)

    def note(self, worker: Worker, message: Message, current: bool) -> None:
        """What a worker says of itself; `current`: of the run that runs."""
        facts = message.facts
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

    def miss(self, worker: Worker, lost: Lost) -> None:
        """A worker does not answer."""
        with self.change:
            if worker.lost is None:
                address = worker.member.address
                words = lost.words if address in lost.words else f"{address}: {lost.words}"
                worker.lost = Lost(worker.process, words)
            self.change.notify_all()
        worker.connection.close()
        run = self.running
        if run is not None and worker in run.workers:
            run.miss(worker.lost)

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
