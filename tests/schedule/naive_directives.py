"""What a schedule does against its directives, homes and effects (V8)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from rho.backend.schedule.problem import (
    Before,
    Deadline,
    IssueBefore,
    Keep,
    LimitMachines,
    NoSplit,
    PlaceDirective,
    Replicate,
    Split,
)

from .naive_parts import Parts


class Directives(Parts):
    def disobeyed(self) -> Iterator[bool]:
        for s in self.schedule.shards:
            task = self.problem.phases[s.phase]
            yield task.home and s.device != self.home
            yield self.groups[s.device].kind not in task.ticks
        effects = [phase for phase, task in enumerate(self.problem.phases) if task.effect]
        yield from (self.opens(b) < self.done(a) for a, b in pairwise(effects))
        for directive in self.problem.directives:
            yield from self.against(directive)

    def opens(self, phase: int) -> int:
        return min(s.start for s in self.shards(phase))

    def done(self, phase: int) -> int:
        end = self.combine_end(phase)
        return max(s.end for s in self.shards(phase)) if end is None else end

    def against(self, directive: object) -> Iterator[bool]:
        used = {int(s.device) for s in self.schedule.shards}
        match directive:
            case PlaceDirective():
                allowed = self.devices_called(directive.device)
                yield from (s.device not in allowed for phase in directive.phases for s in self.shards(phase))
            case Before():
                yield from (self.opens(b) < self.done(a) for a in directive.first for b in directive.then)
            case IssueBefore():
                for a, b in ((a, b) for a in directive.first for b in directive.then):
                    yield self.opens(a) > self.opens(b)
                    for early in self.shards(a):
                        yield from ((early.start, early.end) > (late.start, late.end) for late in self.shards(b, early.device))
            case Split():
                parts = directive.parts or (1,) * len(directive.devices)
                named = [self.names.index(name) for name in directive.devices]
                rows = self.problem.phases[directive.phase].units
                share = [Fraction(rows * part, sum(parts)) for part in parts]
                count = [int(one) for one in share]
                while sum(count) < rows:  # one row more for the first of those that lack most
                    count[max(range(len(share)), key=lambda place: (share[place] - count[place], -place))] += 1
                has = {int(s.device): s.stop - s.first for s in self.shards(directive.phase)}
                yield has != {d: own for d, own in zip(named, count, strict=True) if own}
            case NoSplit():
                yield len(self.shards(directive.phase)) > 1
            case Replicate():
                yield not all(self.holds(directive.phase, d) for d in used)
            case Keep():
                yield not any(self.holds(directive.phase, d) for d in self.devices_called(directive.device))
            case LimitMachines():
                yield len(used) > directive.count
            case Deadline():
                yield self.schedule.makespan > directive.ticks
