"""The workers that home is connected to, and what each has said.

Neighbours: `home` (has them), `epoch` (the run that hears what they say of it), `resident` (the other end).
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from time import sleep
from types import MappingProxyType
from typing import Any, Protocol

from ....lang.listening import LISTENING
from .journal import Seen
from .membership import Member
from .shares import Process
from .shipping import require_same
from .wire import PULSE, Connection, Kind, Lost, Message, connect


class WorkerFault(Exception):
    """A worker reports what is a mistake in Rho; its own trace is a note of it, which reports of bugs have."""

    def __init__(self, address: str, facts: Mapping[str, Any]) -> None:
        super().__init__(f"worker {address} failed: {facts['fault']}")
        if "trace" in facts:
            self.add_note(f"on {address}:\n{facts['trace']}")


@dataclass(slots=True, eq=False)
class Worker:
    """A connection to the resident of a member, with what it has said."""

    member: Member
    process: Process
    every: Workers
    connection: Connection
    answers: dict[int, dict[str, Any]] = field(default_factory=dict)
    """To questions, by their numbers."""
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
        self.questions = count()

    def connect(self, member: Member, process: Process) -> Worker:
        """The worker of a member, connected to.  Lost."""
        found = self.connected.get(member.address)
        if found is not None and found.lost is None and not found.connection.closed:
            found.process = found.connection.process = process
            return found
        require_same(member.address, member.version)
        made = Worker(member, process, self, connect(member.door, process, {"as": "home"}, self.context))
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

    def ask(
        self, workers: Sequence[Worker], question: Kind, facts: Mapping[str, Any] = MappingProxyType({})
    ) -> list[dict[str, Any]]:  # fmt: skip
        """What each answers.  Lost: one of them is."""
        asked = next(self.questions)
        for worker in workers:
            worker.connection.send(question, {**facts, "asked": asked})
        self.wait(workers, lambda one: asked in one.answers)
        said = [worker.answers.pop(asked) for worker in workers]
        for worker, answer in zip(workers, said, strict=True):
            if "fault" in answer:
                raise WorkerFault(worker.member.address, answer)
        return said

    def heed(self, worker: Worker, message: Message) -> None:
        run = self.running
        if message.kind is Kind.ANSWER:
            with self.change:
                worker.answers[message.facts["asked"]] = message.facts
                self.change.notify_all()
        elif run is not None and message.facts.get("run") == run.name:
            run.heed(worker, message)

    def miss(self, worker: Worker, lost: Lost) -> None:
        """A worker does not answer."""
        with self.change:
            worker.lost = worker.lost or Lost(worker.process, lost.words)
            self.change.notify_all()
        worker.connection.close()
        run = self.running
        if run is not None and worker in run.workers:
            run.miss(worker.lost)

    def wait(self, workers: Sequence[Worker], ready: Callable[[Worker], bool]) -> None:
        """Until all are.  Lost: one of them is."""
        with self.change:
            while not all(map(ready, workers)):
                for worker in workers:
                    if worker.lost is not None:
                        raise worker.lost
                self.change.wait(LISTENING)
