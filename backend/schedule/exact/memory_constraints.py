"""Memory constraints as formulas: at the start of each step, the live buffers of its device fit its memory, in bytes.

A buffer is live at a tick unless it has not begun, lies inside an operand of its shard, or all its uses are over; these are
literals that imply difference constraints.  They are created lazily for one event (a step and a device), when a model exceeds the
limit there.  A use is over at the earliest a tick after the start of the reader (Note [Memory] of `problem`).
"""

from __future__ import annotations

from ....lang.support.records import dataclass, field
from ..timeline.step_graph import COMBINE, PARTIAL, SEND, SHARD, Key
from .formulation import Formulation
from .variables import OptionalTransfer, TimePoint
from .z3_solver import negation


@dataclass(slots=True)
class BufferUse:
    """A use of a buffer: if all of `guards` hold, it lasts until the last of `ends`."""

    guards: tuple[str, ...]
    ends: list[TimePoint]
    phase: int  # the reader; -1: a transfer
    start: str = ""  # of the reader


@dataclass(slots=True)
class BufferVariable:
    """A buffer that may be on a device: for each (literal, bytes) it has so many bytes if the literal and all of `guards`
    hold."""

    phase: int
    sizes: list[tuple[str, int]]
    guards: tuple[str, ...]
    start: str
    uses: list[BufferUse] = field(default_factory=list)
    is_retained: str = "false"
    scratch: bool = False
    copied: bool = False
    merged: bool = False
    """Is it the output of a combine?"""


class MemoryConstraints:
    """The buffers that a formulation may have on each device, and the events constrained so far."""

    def __init__(self, formulation: Formulation) -> None:
        self.formulation = formulation
        self.shape = formulation.shape
        self._held: dict[int, list[BufferVariable]] = {}
        self._stated: set[tuple[int, str]] = set()
        self._inside: dict[tuple[int, int], str] = {}

    # ----------------------------------------------------------------------------- buffers

    def buffers_on(self, device: int) -> list[BufferVariable]:
        if device not in self._held:
            result: list[BufferVariable] = []
            for p in range(self.shape.count):
                result += self._of_phase(p, device)
            self._held[device] = result
        return self._held[device]

    def _of_phase(self, p: int, device: int) -> list[BufferVariable]:
        formulation, shape = self.formulation, self.shape
        decoder = shape.decoder
        task = shape.problem.phases[p]
        result: list[BufferVariable] = []
        if device in shape.devices[p]:
            sizes: list[tuple[str, int]] = []
            scratch: list[tuple[str, int]] = []
            for literal, pieces in zip(formulation.mode_literals[p], shape.pieces[p], strict=True):
                for piece in pieces:
                    if piece.device == device:
                        sizes.append((literal, decoder.grain(decoder.shard_bytes(p, piece.first, piece.stop))))
                        scratch.append((literal, decoder.grain(-(-task.scratch * (piece.stop - piece.first) // task.units))))
            start = formulation.start(p, device)
            ends = self._release_points(p, device)
            if any(size for _, size in scratch):
                result.append(BufferVariable(p, scratch, (), start, [BufferUse((), ends, p, start)], scratch=True))
            output = BufferVariable(p, sizes, (), start)
            output.uses.append(BufferUse((), ends, p, start))
            if shape.combined[p]:
                if device == shape.home:
                    output.uses.append(BufferUse((), self._combine_release_points(p), -1))
                else:
                    sent = formulation.transfers.get((p, -2 - device, shape.home))
                    if sent is not None:
                        output.uses.append(BufferUse((), self._arrival(sent, device), -1))
            else:
                self._reads(output, p, device, device)
                self._sends(output, p, device)
                self._retain(output, p, device)
            result.append(output)
        if shape.combined[p] and device == shape.home:
            combine = task.combine
            assert combine is not None
            start = formulation.solver.integer(f"c{p}")
            output = BufferVariable(
                p,
                [("true", decoder.grain(task.out_bytes))],
                (),
                start,
                [BufferUse((), self._combine_release_points(p), -1)],
                merged=True,
            )
            self._reads(output, p, device, device)
            self._sends(output, p, device)
            self._retain(output, p, device)
            result.append(output)
            for remote in shape.devices[p]:
                sent = formulation.transfers.get((p, -2 - remote, device))
                if sent is not None and combine.bytes:
                    size = decoder.grain(combine.bytes)
                    read = [BufferUse((), self._combine_release_points(p), -1)]
                    result.append(BufferVariable(p, [("true", size)], (sent.present,), sent.start, read, merged=True))
        for sent in [*formulation.transfers.values(), *formulation.delayed.values()]:
            if sent.phase == p and sent.target == device and not sent.partial:
                result.append(self._copy(sent))
        return result

    def _copy(self, sent: OptionalTransfer) -> BufferVariable:
        """The copy that a transfer makes, with a lower bound of its size (decoding computes the exact size)."""
        formulation, shape = self.formulation, self.shape
        p, device = sent.phase, sent.target
        makers = [route.producer for route in sent.routes]
        sizes_by_maker = formulation.sizes(p, makers, device, sent.key)
        every = [size for options in sizes_by_maker.values() for _, size in options]
        grain = shape.decoder.grain
        least = grain(min(every, default=0))
        copy = BufferVariable(p, [("true", least)], (sent.present,), sent.start, copied=True)
        bigger: dict[tuple[str, ...], int] = {}
        for maker, options in sizes_by_maker.items():
            for guards, size in options:
                if grain(size) > least:
                    key = (*guards, formulation.is_made_on(p, maker))
                    bigger[key] = max(bigger.get(key, 0), grain(size))
        if bigger:
            steps = sorted(set(bigger.values()))
            copy.sizes = [("true", least)] if least else []
            low = least
            for size in steps:
                literal = formulation.solver.fresh("big")
                for key, other in bigger.items():
                    if other >= size:
                        formulation.solver.clause((*map(negation, key), literal))
                copy.sizes.append((literal, size - low))
                low = size
        for maker in makers:
            self._reads(copy, p, maker, device, sent.key)
            for onward in formulation.transfers.values():
                if onward.phase == p and onward.target != device and device == shape.home and not onward.partial:
                    for route in onward.routes:
                        if route.producer == maker and route.hop is not None and route.hop.source == device and maker != device:
                            copy.uses.append(BufferUse((onward.present, route.here), self._arrival(onward, maker), -1))
        self._retain(copy, p, device)
        return copy

    def _reads(self, held: BufferVariable, p: int, maker: int, device: int, key: int = -1) -> None:
        """Add the uses by shards on `device` that read what was produced on `maker`."""
        formulation, shape = self.formulation, self.shape
        for edge in shape.decoder.outgoing[p]:
            if maker != device and shape.decoder.edge_keys[edge] != key:
                continue
            q = int(shape.problem.edges[edge].target)
            for guards in formulation.accesses(edge).get((maker, device), []):
                held.uses.append(BufferUse(guards, self._release_points(q, device), q, formulation.start(q, device)))

    def _sends(self, held: BufferVariable, p: int, device: int) -> None:
        for sent in self.formulation.transfers.values():
            if sent.phase == p and not sent.partial:
                for route in sent.routes:
                    if route.producer == device and route.hop is not None and route.hop.source == device:
                        held.uses.append(BufferUse((sent.present, route.here), self._arrival(sent, device), -1))
        for late in self.formulation.delayed.values():
            if late.phase == p:
                for route in late.routes:
                    if route.producer == device:
                        held.uses.append(BufferUse((late.present, route.here), self._arrival(late, device), -1))

    def _arrival(self, sent: OptionalTransfer, maker: int) -> list[TimePoint]:
        result: list[TimePoint] = []
        for route in sent.routes:
            if route.producer == maker:
                moment = sent.busy_moments(route)
                latency = route.hop.latency if route.hop is not None else route.delay
                result.append(TimePoint(moment.guards, moment.base, moment.ticks + latency))
        return [*result, TimePoint((), sent.start, 1)]

    def _release_points(self, p: int, device: int) -> list[TimePoint]:
        """The points at which a shard releases memory."""
        formulation = self.formulation
        return [*formulation.shard_ends(p, device), TimePoint((formulation.runs_on(p, device),), formulation.start(p, device), 1)]

    def _combine_release_points(self, p: int) -> list[TimePoint]:
        """The points at which a combine releases memory."""
        return [*self.formulation.combine_ends(p), TimePoint((), self.formulation.solver.integer(f"c{p}"), 1)]

    def _retain(self, held: BufferVariable, p: int, device: int) -> None:
        constraints = self.shape.decoder.constraints
        if not self.shape.decoder.outgoing[p] or device in constraints.required_copies.get(p, ()):
            held.is_retained = "true"
        elif p in constraints.replicated:
            held.is_retained = self.formulation.is_used(device)

    # ------------------------------------------------------------------------------ events

    def event_of(self, key: Key) -> tuple[int, str, str] | None:
        """(phase, start variable, literal that it happens) of a step; None if the formulation has no such step."""
        formulation = self.formulation
        if key[0] == SHARD:
            return key[1], formulation.start(key[1], key[2]), formulation.runs_on(key[1], key[2])
        if key[0] == COMBINE:
            return -1, f"c{key[1]}", "true"
        if key[0] == SEND and key[4] >= 0:
            late = formulation.delayed.get((key[1], key[2] if self.shape.scattered[key[1]] else -1, key[3], key[4]))
            return None if late is None else (-1, late.start, late.present)
        where = (key[1], -2 - key[2], self.shape.home) if key[0] == PARTIAL else (
            key[1], key[2] if self.shape.scattered[key[1]] else -1, key[3]
        )  # fmt: skip
        sent = formulation.transfers.get(where) if key[0] in (PARTIAL, SEND) else None
        return None if sent is None else (-1, sent.start, sent.present)

    def add_memory_constraint(self, device: int, key: Key, guard: str = "true") -> bool:
        """Assert that the buffers on `device` fit at the start of the step; False if that was asserted already."""
        event = self.event_of(key)
        cap = self.shape.decoder.memory_limits[device]
        if event is None or cap is None:
            return False
        phase, tick, happens = event
        if (device, tick) in self._stated:
            return False
        self._stated.add((device, tick))
        return self._add_constraint(device, phase, tick, happens, cap, guard)

    def _add_constraint(self, device: int, phase: int, tick: str, happens: str, cap: int, guard: str) -> bool:
        formulation, shape = self.formulation, self.shape
        weighted: list[tuple[str, int]] = []
        for held in self.buffers_on(device):
            if not any(size for _, size in held.sizes):
                continue
            if phase >= 0 and held.phase != phase and held.phase in shape.precedes[phase] and not held.copied:
                continue
            if phase >= 0 and held.copied and held.phase in shape.precedes[phase]:
                continue
            allocated = held.start == tick
            later = "false"
            if not allocated:
                later = formulation.solver.fresh("l")
                formulation.solver.clause((negation(later), f"(>= (- {held.start} {tick}) 1)"))
            live = formulation.solver.fresh("m")
            alive = False
            base = [live, later, self._lies_in_operand(held, tick, device), *map(negation, held.guards), negation(happens)]
            if held.is_retained != "false":
                formulation.solver.clause((*base, negation(held.is_retained)))
                alive = True
            for use in held.uses:
                if use.phase >= 0 and phase >= 0 and phase in shape.precedes[use.phase]:
                    continue
                alive = True
                formulation.solver.clause(
                    (*base, *map(negation, use.guards), self._use_is_over(held, use, tick, allocated=allocated))
                )
            if not alive:
                continue
            for literal, size in held.sizes:
                if size:
                    if literal == "true":
                        weighted.append((live, size))
                    else:
                        both = formulation.solver.fresh("w")
                        formulation.solver.clause((both, negation(literal), negation(live)))
                        weighted.append((both, size))
        total = sum(size for _, size in weighted)
        if total > cap:
            weighted += [(literal, total - cap) for literal in (happens, guard) if literal != "true"]
            extra = sum(1 for literal in (happens, guard) if literal != "true")
            formulation.solver.at_most(weighted, cap + extra * (total - cap))
        return True

    def _use_is_over(self, held: BufferVariable, use: BufferUse, tick: str, *, allocated: bool) -> str:
        """A literal that implies that the use is over at `tick`; "false" where none does."""
        if use.start == tick or (allocated and use.start == held.start):
            return "false"
        done = self.formulation.solver.fresh("d")
        for moment in use.ends:
            clause = (negation(done), *map(negation, moment.guards), f"(>= (- {tick} {moment.base}) {moment.ticks})")
            self.formulation.solver.clause(clause)
        return done

    def _lies_in_operand(self, held: BufferVariable, tick: str, device: int) -> str:
        """A literal that implies that a result lies inside an operand at `tick`, since its shard still runs."""
        if held.scratch or held.copied or held.merged or not self.shape.problem.phases[held.phase].inplace:
            return "false"
        inside = self._overwrites_operand(held, device)
        if inside == "false" or held.start == tick:
            return inside
        solver = self.formulation.solver
        hidden, running = solver.fresh("h"), []
        for moment in self._release_points(held.phase, device):
            running.append(solver.fresh("h"))
            for guard in moment.guards:
                solver.clause((negation(running[-1]), guard))
            solver.clause((negation(running[-1]), f"(>= (- {moment.base} {tick}) {1 - moment.ticks})"))
        solver.clause((negation(hidden), inside))
        solver.clause((negation(hidden), *running))
        return hidden

    def _overwrites_operand(self, result: BufferVariable, device: int) -> str:
        """The literal that some operand is present inside which the in-place result of a shard can lie."""
        key = (result.phase, device)
        if key not in self._inside:
            choices = [
                literal for operand in self.buffers_on(device) if not operand.scratch and operand is not result
                for use in operand.uses if use.phase == result.phase
                for literal in (self._is_overwritable(operand, use, result),) if literal != "false"
            ]  # fmt: skip
            self._inside[key] = self.formulation.solver.fresh("i") if choices else "false"
            if choices:
                self.formulation.solver.clause((negation(self._inside[key]), *choices))
        return self._inside[key]

    def _is_overwritable(self, operand: BufferVariable, use: BufferUse, result: BufferVariable) -> str:
        """The literal that an operand is present, is as large as the result, and has no other use when the reader starts."""
        solver = self.formulation.solver
        largest = max((size for _, size in operand.sizes), default=0) if not operand.copied else sum(s for _, s in operand.sizes)
        if operand.is_retained == "true" or not any(0 < size <= largest for _, size in result.sizes):
            return "false"
        literal = solver.fresh("i")
        for guard in (*operand.guards, *use.guards):
            solver.clause((negation(literal), guard))
        if operand.is_retained != "false":
            solver.clause((negation(literal), negation(operand.is_retained)))
        for mode, size in result.sizes:
            if not operand.copied:
                solver.clause((negation(literal), negation(mode), *(have for have, bytes_ in operand.sizes if bytes_ >= size)))
            elif size > largest:
                solver.clause((negation(literal), negation(mode)))
        for other in operand.uses:
            if other is not use and other.start != use.start:
                for moment in other.ends:
                    guards = (literal, *other.guards, *moment.guards)
                    solver.clause((*map(negation, guards), f"(>= (- {use.start} {moment.base}) {moment.ticks})"))
        return literal
