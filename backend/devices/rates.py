"""Looks tables of a device up by operation and element type, with what stands in for a missing one.

Neighbours: `keys` (names and substitutes), `structured`, `library` (what is asked for).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...typechecker.core_blocks import CoreGuard
from ...typechecker.elements import Kind
from ..graph.phases import PhaseId, ValueId
from ..graph.steps import NOTHING_KNOWN, KnownValues
from .keys import BY_WORK, kinds_near
from .profile import DeviceProfile
from .tables import Grains, Table

OPERANDS: Final = 3
"""Items that an operation touches, of those whose tables are by bytes: two operands and a result."""


@dataclass(frozen=True, slots=True)
class Around:
    """What else a program does: `total` bytes go round before a phase runs again, `since[v]` were touched since value v was;
    `unknown`: are there sizes that only a run knows?  `alike`: are all operands the same value, but for their indices?
    `handed`: did one thread of a library phase make one of them?  `before`: bytes of the phase that ran
    just before, which push the executor's own data out of the caches; none before the first phase of a program.  `apart`: bytes
    of all other phases, which push out what only this one needs.  `binary`: are the bases it encodes by powers of two?"""

    total: int = 0
    since: Mapping[ValueId, int] = field(default_factory=dict)
    unknown: bool = False
    alike: bool = False
    handed: bool = False
    before: int = 0
    apart: int = 0
    binary: bool = False


class NoTable(Exception):
    """The device has no table for `operation`: it cannot run the phase."""

    def __init__(self, operation: str) -> None:
        super().__init__(operation)
        self.operation = operation


class Rates:
    """One device's tables.  `reuses`: results are written where an operand was, so that no fresh memory is touched."""

    def __init__(
        self, device: DeviceProfile, *, reuses: bool = False, around: Mapping[PhaseId, Around] | None = None,
        guards: Sequence[CoreGuard] = (), known: KnownValues = NOTHING_KNOWN,
    ) -> None:  # fmt: skip
        self.device = device
        self.guards, self.known = guards, known
        self.reuses = reuses
        self.around = around or {}
        self.measured = "step.f64" in device.ops
        self.kernels = "row.add.f64" in device.ops
        self._found: dict[tuple[tuple[str, ...], Kind], Table | None] = {}

    def reusing(self) -> Rates:
        return self if self.reuses else self._with(self.around, reuses=True)

    def _with(self, around: Mapping[PhaseId, Around], *, reuses: bool) -> Rates:
        return Rates(self.device, reuses=reuses, around=around, guards=self.guards, known=self.known)

    def gathering(self, one: PhaseId, members: Sequence[PhaseId]) -> Rates:
        """`one` stands for all these phases together."""
        known = [self.around[member] for member in members if member in self.around]
        since = {value: size for around in reversed(known) for value, size in around.since.items()}
        unknown = any(each.unknown for each in known)
        handed = any(each.handed for each in known)
        before = known[0].before if known else 0
        apart = min((each.apart for each in known), default=0)
        around = Around(max((each.total for each in known), default=0), since, unknown, handed=handed, before=before, apart=apart)
        return self._with({**self.around, one: around}, reuses=self.reuses)

    def table(self, stems: Iterable[str], kind: Kind) -> Table | None:
        """The first that exists: exact kind and name before near kinds, those before wider names."""
        key = (tuple(stems), kind)
        if key not in self._found:
            names = (f"{stem}.{near.value}" for stem in key[0] for near in kinds_near(kind))
            self._found[key] = next((self.device.ops[name] for name in names if name in self.device.ops), None)
        return self._found[key]

    def whole(self, stems: Iterable[str], kind: Kind) -> Table | None:
        """The table of a whole phase: of a declared device without one, what its roofline says."""
        wanted = tuple(stems)
        found, roof = self.table(wanted, kind), self.device.roofline
        if found is not None or roof is None or self.measured:
            return found
        if wanted[0].partition(".")[0] in BY_WORK:
            return Table.of_rate(roof.flops)
        return Table.of_rate(min(roof.bandwidth, roof.flops * OPERANDS * kind.bytes))

    def require(self, stems: Iterable[str], kind: Kind) -> Table:
        wanted = tuple(stems)
        found = self.whole(wanted, kind)
        if found is None:
            raise NoTable(f"{wanted[0]}.{kind.value}")
        return found

    def grains(self, stems: Iterable[str], kind: Kind, size: int) -> Grains:
        """The time of `size`; NoTable."""
        return self.require(stems, kind).at(size)
