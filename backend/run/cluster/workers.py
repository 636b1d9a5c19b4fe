"""A worker as home sees it: the connection to its resident, and what it has said.

Neighbours: `home` (hears what they say), `epoch` (what a run asks of them), `resident` (the other end).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import sleep
from typing import TYPE_CHECKING, Any

from .journal import Seen
from .membership import Member
from .shares import Process
from .wire import PULSE, Connection, Kind, Lost

if TYPE_CHECKING:
    from .home import Cluster


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
    cluster: Cluster
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
                self.cluster.heed(self, self.connection.receive())
        except Lost as lost:
            self.cluster.miss(self, lost)
        except Exception as error:
            self.cluster.miss(self, Lost(self.process, f"it says what nobody understands ({error!r})"))

    def pulse(self) -> None:
        """Home lives, as long as the connection does; a run that lasts until a pulse is shown."""
        with suppress(Lost):
            while not self.connection.closed:
                self.connection.send(Kind.PING)
                epoch = self.cluster.running
                if epoch is not None and self in epoch.workers[:1]:
                    epoch.show()
                sleep(PULSE)
