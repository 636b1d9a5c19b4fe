"""The home process of a cluster's runs: it acquires workers, sends plans, runs its own queues, and restarts after a loss.

When a worker is lost, home ends the run's epoch on the other workers.  It then plans for the workers that are left, and runs the
program again from its inputs, which home still has.  The results cannot differ, because the order of sums follows from shapes.

All homes acquire workers in the same order, so two homes never deadlock.

Neighbours: `membership` (who is there), `epoch` (one attempt of a run), `workers`, `seeing`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeAlias

from ....lang.properties import cached_property
from ...devices.profile import Profile
from ...devices.tables import Table
from ...graph import BoundGraph
from ...schedule.facts.stores import lying_in, stores_of
from ...schedule.plan.model import Plan
from ..files.stored import StoredInput, StoredOutput
from ..machine import Observer, Results
from .calibrate import Measured, measure
from .epoch import Epoch
from .membership import Membership
from .profile import profile_of, with_store
from .shares import HOME, Process, Shares
from .shipping import given_up, shipment
from .wire import Lost
from .workers import Worker, Workers

RESTARTS: Final = 3
Planner: TypeAlias = Callable[[Profile], Plan]
"""A plan, with its program, for the devices of a cluster."""


class Cluster:
    """Workers, and home as their first device.  Runs go one after the other; close it when it is not needed any more."""

    def __init__(
        self, membership: Membership, own: Profile, restarts: int = RESTARTS, tell: Callable[[str], None] = lambda words: None
    ) -> None:
        """`own`: the profile of this machine; `tell` hears why a run begins again.  Plans are for home and then one device for
        each member, in order."""
        self.membership, self.own, self.restarts, self.tell = membership, own, restarts, tell
        self.members = [*membership.members()]
        for address, words in membership.silent.items():
            tell(f"a worker does not answer: {address}: {words}; the program runs on the {len(self.members)} that do")
        self.reading: dict[str, Table] = {}
        self.lost: list[Lost] = []
        self.workers = Workers(membership.context)
        self.one_run = threading.Lock()

    def connected(self) -> list[Worker]:
        """To all members.  Lost; RunFailed: as `require_same`."""
        return [self.workers.connect(member, Process(at)) for at, member in enumerate(self.members, 1)]

    @cached_property
    def measured(self) -> Measured | None:
        """What messages take; None: a worker does not answer, which a run will notice.  RunFailed: as `require_same`."""
        with suppress(Lost):
            return measure(self.connected())
        return None

    @property
    def profile(self) -> Profile:
        """The devices of the members there are, with links that are measured the first time.  RunFailed: as `require_same`."""
        return profile_of(self.own, self.members, self.measured)

    def profile_for(self, values: Iterable[Any]) -> Profile:
        """The profile, with a store for those of the values that lie in files which all see (`seeing`)."""
        paths = sorted({one.file for one in values if isinstance(one, StoredInput | StoredOutput)})
        return with_store(self.profile, paths, self.reading) if paths else self.profile

    def close(self) -> None:
        self.workers.close()
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
        members = {process: self.members[process - 1] for process in shares.processes if process != HOME}
        lying = {name: inputs[name] for name in lying_in(plan, bound)}
        outputs = {name: one for name, one in lying.items() if isinstance(one, StoredOutput)}
        for one in outputs.values():
            one.sink.came = 0
        with Epoch(self.workers, self.membership, shares, members) as epoch:
            stored = {name: one.facts() for name, one in lying.items()}
            epoch.begin(shipment(plan, without), stored, observed=observe is not None)
            return epoch.execute(bound, inputs, outputs, observe)

    def drop(self, lost: Lost) -> None:
        """A worker is not a member any more."""
        gone = {self.members[lost.process - 1].address: lost.words} | self.workers.lost()
        for address, words in gone.items():
            self.workers.drop(address)
            self.lost.append(Lost(lost.process, words if address in words else f"{address}: {words}"))
        self.members = [member for member in self.members if member.address not in gone]
