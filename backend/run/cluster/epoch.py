"""One attempt of one run, from home: workers are acquired, get their parts of the plan, and say how these ended.

An *epoch* has a name, which all messages of the run carry.

Neighbours: `home` (begins and ends them), `workers`, `resident` (the other end), `crossing`, `shipping`.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import sleep
from typing import Any, Final

from ....lang.diagnostics import RunFailed
from ...graph import BoundGraph
from ..distributed import Pace
from ..executor import execute_plan
from ..files.stored import StoredOutput
from ..machine import Observer, Results
from .crossing import Crossing
from .journal import Journal, Seen, tell
from .membership import Member, Membership
from .shares import HOME, Process, Shares
from .shipping import failure_of
from .wire import Connection, Kind, Lost, Message
from .workers import Worker, WorkerFault, Workers

ASKING: Final = 0.002


class Epoch:
    """See the module.  A block in which home has the workers: what does not end as it should cuts them off."""

    def __init__(self, every: Workers, membership: Membership, shares: Shares, members: Mapping[Process, Member]) -> None:
        """`members`: those that take part."""
        self.every, self.membership, self.shares, self.members = every, membership, shares, members
        self.name = secrets.token_hex(8)
        self.workers: list[Worker] = []
        self.links: dict[Process, Connection] = {}
        self.crossing = Crossing(shares, HOME, self.name, self.links, self.failed)
        self.settling: threading.Thread | None = None
        self.forget: Callable[[], None] | None = None
        """Takes it from the dashboard."""
        self.over = False

    def __enter__(self) -> Epoch:
        self.every.running = self
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.every.running, self.over = None, True
        clean = error is None or isinstance(error, RunFailed)
        if self.forget is not None and not clean:
            self.forget()
        for worker in self.workers:
            if clean:
                with suppress(Lost):
                    worker.connection.send(Kind.RELEASE)
            elif worker.lost is None:
                self.every.drop(worker.member.address)

    def begin(self, program: Mapping[str, Any], stored: Mapping[str, Any], *, observed: bool) -> None:
        """Acquire the workers, in the order of their addresses, and send each its part.  `program`: as `shipment`."""
        digest = program["digest"]
        new: list[Worker] = []
        for process, member in sorted(self.members.items(), key=lambda one: one[1].address):
            worker = self.every.connect(member, process)
            self.workers.append(worker)
            self.links[process] = worker.connection
            worker.done = None
            (has,) = self.every.ask([worker], Kind.LEASE)
            if digest not in has["programs"]:
                new.append(worker)
            if has["holds_of"] == digest:
                self.crossing.holds[str(process)] = has["holds"]
        self.every.ask(new, Kind.LOAD, program)
        facts = {
            "run": self.name, "digest": digest, "where": self.shares.where, "holds": self.crossing.holds, "inputs": stored,
            "peers": {str(worker.process): worker.member.door for worker in self.workers}, "observed": observed,
        }  # fmt: skip
        for worker in self.workers:
            worker.seen = Seen(worker.member.address)
            worker.connection.send(Kind.RUN, facts | {"me": worker.process})

    def execute(
        self, bound: BoundGraph, inputs: Mapping[str, Any], outputs: Mapping[str, StoredOutput], observe: Observer | None
    ) -> Results:  # fmt: skip
        """Home's own queues, and then what the workers say.  `outputs`: files that workers write into."""
        backends = self.crossing.backends()
        failures: list[tuple[tuple[int, ...], int, RunFailed]] = []
        results, journal = None, None if observe is None else Journal(self.shares)
        try:
            results = execute_plan(self.shares.plan, bound, inputs, backends, journal, pace=Pace.THREADS, others=self.crossing)
        except RunFailed as failure:
            failures.append((*min(self.crossing.failures, default=((0,), 0)), failure))
        self.every.wait(self.workers, lambda one: one.done is not None)
        for worker in self.workers:
            said = worker.done or {}
            if "fault" in said:
                raise WorkerFault(worker.member.address, said)
            if "failure" in said:
                failures.append((tuple(said["start"]), said["queue"], failure_of(said["failure"])))
            for name, came in said.get("written", {}).items():
                outputs[name].sink.came += came
        if failures:
            raise min(failures, key=lambda one: one[:2])[2]
        assert results is not None
        if observe is not None and journal is not None:
            tell(observe, self.crossing, [journal.seen, *(worker.seen for worker in self.workers)])
        return results

    def show(self) -> None:
        if self.forget is None:
            name = os.path.basename(self.shares.plan.program[0].name)
            self.forget = self.membership.show(name, self.name, [*self.members.values()])

    # ------------------------------------------------------------------------------ what workers say

    def heed(self, worker: Worker, message: Message) -> None:
        facts = message.facts
        match message.kind:
            case Kind.DATA | Kind.FENCE:
                self.crossing.take(message)
            case Kind.FAILED:
                self.failed()
            case Kind.LOST:
                other = next((w for w in self.workers if w.process == facts["lost"]), worker)
                self.every.miss(other, Lost(other.process, facts["words"]))
            case Kind.DONE:
                if "fault" in facts:
                    self.crossing.halt(WorkerFault(worker.member.address, facts))
                elif message.arrays:
                    worker.seen.has_ended(facts, message.arrays)
                with self.every.change:
                    worker.done = facts
                    self.every.change.notify_all()

    def miss(self, lost: Lost) -> None:
        self.crossing.halt(lost)

    # ------------------------------------------------------------------------------ failures of the program

    def failed(self) -> None:
        """A queue somewhere has ended: the others go on as far as they come."""
        with self.every.change:
            if self.settling is not None:
                return
            self.settling = threading.Thread(target=self.settle, daemon=True)
        self.settling.start()

    def settle(self) -> None:
        """Stop everybody once everything is at rest (`crossing`)."""
        before = None
        with suppress(Lost):
            while not self.over:
                states = [self.crossing.state(), *self.every.ask(self.workers, Kind.REST)]
                now = sum(state["sent"] for state in states), sum(state["received"] for state in states)
                if all(state["idle"] for state in states) and now[0] == now[1] and now == before:
                    break
                before = now
                sleep(ASKING)
            for worker in self.workers:
                worker.connection.send(Kind.STOP, {"run": self.name})
            self.crossing.halt()
