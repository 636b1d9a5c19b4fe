"""One schedule in the making: phases are placed one by one, transfers and memory with them.  See `timing` for the rules.

Units: an output that is atomic or combined is counted in bytes, else in rows (`Prepared.spans`).
Neighbours: `prepared` (tables), `levels` (memory), `timing` (who calls).
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

from .claims import Claims, room_for
from .levels import FOREVER, Levels
from .pieces import Buffer, Demand, DoesNotFit, Output, gap
from .prepared import Decisions, Prepared, Sending
from .problem import Combine, CombineStep, DeviceIndex, PhaseIndex, PhaseTask, Schedule, Shard, Together, Transfer


class Layout(Claims):
    """One schedule in the making."""

    __slots__ = (
        "_combines", "_ends", "_firsts", "_modes", "_outputs", "_sending", "_shards", "_transfers", "makespan", "placed",
    )  # fmt: skip

    def __init__(self, prepared: Prepared, decisions: Decisions) -> None:
        super().__init__(prepared, decisions)
        self._modes = decisions.modes
        self._sending = decisions.sending
        self._outputs: dict[int, Output] = {}
        self._ends = [0] * len(self._modes)
        self._firsts = [0] * len(self._modes)
        self._shards: list[tuple[int, int, int, int, int, int]] = []
        self._combines: list[tuple[int, int, int]] = []
        self._transfers: list[tuple[int, int, int, int, int, int, int | None, int, int, int, bool]] = []
        self.makespan = 0
        self.placed = 0

    def place_all(self, order: Sequence[int], limit: int = FOREVER) -> None:
        """Place every phase, then send the copies that directives want; stops once the end is certain to be past `limit`."""
        tails = self._prepared.tails
        for phase in order:
            self._place(phase)
            if self._ends[phase] + tails[phase] > limit:
                raise DoesNotFit(-2, phase)
            self.placed += 1
        if self._prepared.wants_copies:
            for phase in order:
                self._send_all(phase)

    def schedule(self) -> Schedule:
        """The layout as data."""
        return Schedule(
            tuple(
                Shard(PhaseIndex(p), DeviceIndex(d), first, stop, start, end)
                for p, d, first, stop, start, end in sorted(self._shards, key=lambda s: (s[4], s[0], s[1]))
            ),
            tuple(CombineStep(PhaseIndex(p), a, b) for p, a, b in sorted(self._combines, key=lambda c: (c[1], c[0]))),
            tuple(
                Transfer(PhaseIndex(p), DeviceIndex(s), DeviceIndex(d), a, b, size, link, start, busy, arrive, partial)
                for p, s, d, a, b, size, link, start, busy, arrive, partial in sorted(
                    self._transfers, key=lambda t: (t[7], t[0], t[1], t[2], t[3])
                )
            ),
        )

    # ------------------------------------------------------------------------------ phases

    def _place(self, phase: int) -> None:
        """Place the shards of a phase whose predecessors are placed, and its combine."""
        prepared = self._prepared
        task = prepared.problem.phases[phase]
        earliest = task.ready
        for q in prepared.limits.after[phase]:
            earliest = max(earliest, self._ends[q])
        for q in prepared.limits.issued[phase]:
            earliest = max(earliest, self._firsts[q])
        if prepared.limits.glued:
            earliest = self._glue(phase, earliest)
        output = Output()
        first, opening, closing = 0, -1, earliest
        together = None if task.together is None else self._together(phase, task, task.together, output, earliest)
        for device, rows in self._modes[phase]:
            duration = prepared.ticks(phase, device, rows)
            if duration is None:
                raise DoesNotFit(-1, phase)
            start = together
            if start is None:
                start = self._shard(phase, task, output, device, first, first + rows, duration, earliest)
            end = start + duration
            self._shards.append((phase, device, first, first + rows, start, end))
            output.makers.append((device, first, first + rows, end))
            first += rows
            if opening < 0 or start < opening:
                opening = start
            if end > closing:
                closing = end
        if task.combine is not None:
            closing = self._combine(phase, task, task.combine, output)
            output.makers = [(prepared.home, 0, prepared.spans[phase], closing)]
        elif task.rows == 0 or task.is_gathered:
            device = prepared.home if task.rows else self._modes[phase][0][0]
            output.makers = [(device, 0, prepared.spans[phase], closing)]
        output.made = {maker: tick for maker, _, _, tick in output.makers}
        if len(output.makers) >= 4:
            output.begins = [begin for _, begin, _, _ in output.makers]
        self._firsts[phase] = max(opening, 0)
        self._ends[phase] = closing
        if closing > self.makespan:
            self.makespan = closing
        self._outputs[phase] = output
        self._demand(phase, output)
        if self._sending is Sending.EARLY:
            self._send_all(phase)

    def _glue(self, phase: int, earliest: int) -> int:
        """Nothing starts between two glued phases on the queues of either: what was placed there before starts before the
        first of them, what comes later after the second."""
        glued = self._prepared.limits.glued
        if phase in glued:
            queues = {device for p in (phase, glued[phase]) for device, _ in self._modes[p]}
            return max([earliest, *(start for _, device, _, _, start, _ in self._shards if device in queues)])
        for first, then in glued.items():
            if self._outputs.get(then) is not None:
                for device, _ in self._modes[first]:
                    self._free[device] = max(self._firsts[then], self._free.get(device, 0))
        return earliest

    def _shard(
        self, phase: int, task: PhaseTask, output: Output, device: int, first: int, stop: int, duration: int, earliest: int
    ) -> int:
        """Place one shard; its start."""
        start, used = self._operands(phase, output, device, first, stop, earliest)
        levels = self._levels.get(device)
        if levels is None:
            start = self._slot(device, start, duration)
        else:
            start = self._fit(phase, task, output, device, first, stop, duration, start, used, levels)
        self._occupy(device, start, start + duration)
        return start

    def _operands(
        self, phase: int, output: Output, device: int, first: int, stop: int, earliest: int
    ) -> tuple[int, list[Buffer]]:
        """The tick from which a shard has all that it reads, and where that lies."""
        prepared = self._prepared
        start = earliest
        levels = self._levels.get(device)
        used: list[Buffer] = []
        for index in prepared.incoming[phase]:
            source = prepared.sources[index]
            made = self._outputs[source]
            single = prepared.single[source]
            for maker, _, _, tick in made.makers if single else made.among(*prepared.part(index, first, stop)):
                if maker != device:
                    tick = self._send(source, (maker, device, prepared.keys[index]))
                if tick > start:
                    start = tick
                if levels is not None:
                    used.append(made.buffers[device, maker, -1 if maker == device else prepared.keys[index]])
        return start, used

    def _together(self, phase: int, task: PhaseTask, together: Together, output: Output, earliest: int) -> int:
        """Place all shards of a phase that devices run together, and keep its channels; their start.  See Note [Together]."""
        prepared = self._prepared
        start = max([earliest, *(self._ends[prepared.sources[index]] for index in prepared.incoming[phase])])
        placed: list[tuple[int, int, int, list[Buffer]]] = []  # device, bytes made, bytes meanwhile, operands
        first = duration = 0
        for (device, rows), scratch in zip(self._modes[phase], together.scratch, strict=True):
            ready, used = self._operands(phase, output, device, first, first + rows, earliest)
            made = prepared.made_bytes(phase, first, first + rows)
            if together.gathers:
                made = task.out_bytes if device == prepared.home else 0
            placed.append((device, prepared.grain(made), prepared.grain(scratch), used))
            start, first = max(start, ready), first + rows
            duration = prepared.ticks(phase, device, rows) or 0
        held = [(device, size, scratch) for device, size, scratch, _ in placed]
        start = self._claim(phase, self._kept(together), held, start, duration)
        for device, size, _, used in placed:
            for buffer in used:
                self._use(buffer, self._levels[device], start + duration)
            if device in self._levels and (not together.gathers or device == prepared.home):
                output.buffers[device, device, -1] = Buffer(size, start + duration)
        return start

    def _fit(
        self, phase: int, task: PhaseTask, output: Output, device: int, first: int, stop: int, duration: int, start: int,
        used: list[Buffer], levels: Levels,
    ) -> int:  # fmt: skip
        """Like `_slot`, where output and scratch fit as well; opens the output's buffer and counts the uses of operands."""
        prepared = self._prepared
        size = prepared.grain(prepared.made_bytes(phase, first, stop))
        scratch = prepared.grain(-(-task.scratch * (stop - first) // task.units))
        taken = None
        if task.inplace and size:
            taken = next((buffer for buffer in used if buffer.uses == 1 and buffer.size >= size), None)
        while True:
            start = self._slot(device, start, duration)
            if taken is not None and start >= taken.last:
                levels.add(-taken.size, start)
                later = room_for(levels, size, scratch, start, duration)
                levels.add(taken.size, start)
                if later == start:
                    break
            later = room_for(levels, size, scratch, start, duration)
            if later == start:
                taken = None
                break
            if later is None:
                raise DoesNotFit(device, phase)
            start = later
        end = start + duration
        for buffer in used:
            self._use(buffer, levels, start if buffer is taken else end)
        levels.add(scratch, start, end)
        levels.add(size, start)
        output.buffers[device, device, -1] = Buffer(size, end)
        return start

    def _combine(self, phase: int, task: PhaseTask, combine: Combine, output: Output) -> int:
        """Bring the partials home and combine them; the tick at which the output is there."""
        prepared = self._prepared
        home = prepared.home
        levels = self._levels.get(home)
        size = prepared.grain(combine.bytes)
        arrivals: list[int] = []
        copies = 0
        for device, first, stop, made in output.makers:
            if device == home:
                arrivals.append(made)
                continue
            link, start, busy, landed = self._carry(phase, device, home, made, combine.bytes, None if prepared.linked else 0)
            arrivals.append(landed + prepared.syncs[home])
            self._transfers.append((phase, device, home, first, stop, combine.bytes, link, start, busy, landed, True))
            if levels is not None:
                copies += size
                levels.add(size, start)
            source = self._levels.get(device)
            if source is not None:
                source.add(-size, landed)
        arrivals.sort()
        start = arrivals[-1] if combine.barrier else arrivals[0]
        grown = prepared.grain(task.out_bytes)
        while True:
            duration = combine.ticks_per_shard * len(arrivals)
            if not combine.barrier:
                duration = _merged(arrivals, start, combine.ticks_per_shard) - start
            later = self._slot(home, start, duration)
            if later == start:
                room = start if levels is None else levels.fits(grown, start)
                if room is None:
                    raise DoesNotFit(home, phase)
                if room == start:
                    break
                later = room
            start = later
        end = start + duration
        self._occupy(home, start, end)
        self._combines.append((phase, start, end))
        if levels is not None:
            if any(maker[0] == home for maker in output.makers):
                copies += size
            levels.add(-copies, end)
            levels.add(grown, start)
            output.buffers = {(home, home, -1): Buffer(grown, end)}
        return end

    # ---------------------------------------------------------------------------- transfers

    def _demand(self, phase: int, output: Output) -> None:
        """What each device will want of an output, from the modes of its consumers."""
        prepared = self._prepared
        single = prepared.single[phase]
        demands = output.demands
        local: dict[int, int] = {}
        for index in prepared.outgoing[phase]:
            key, size = prepared.keys[index], prepared.problem.edges[index].bytes
            first = 0
            for device, rows in self._modes[prepared.targets[index]]:
                low, high = prepared.part(index, first, first + rows)
                first += rows
                for maker, begin, end, _ in output.makers if single else output.among(low, high):
                    if maker == device:
                        local[device] = local.get(device, 0) + 1
                    elif single:
                        self._want(demands, (maker, device, key), low, high, size)
                    else:
                        self._want(demands, (maker, device, key), max(begin, low), min(end, high), size)
        if prepared.wants_copies:
            for device in sorted(prepared.copies(phase, self._modes)):
                for maker, begin, end, _ in output.makers:
                    if maker == device:
                        local[device] = local.get(device, 0) + 1
                    else:
                        self._want(demands, (maker, device, -1 if prepared.linked else 0), begin, end, None)
        relays: dict[int, int] = {}
        for maker, device, key in list(demands):
            if key < 0:
                path = prepared.routes.path(maker, device)
                if path is None:
                    raise DoesNotFit(-1, phase)
                if len(path) == 2:
                    demand = demands[maker, device, key]
                    for size in demand.sizes:
                        self._want(demands, (maker, prepared.home, -1), demand.low, demand.high, size)
                    demands[maker, prepared.home, -1].uses -= len(demand.sizes) - 1
                    relays[maker] = relays.get(maker, 0) + 1
        if self._levels:
            for maker, _, _ in demands:
                local[maker] = local.get(maker, 0) + 1
            for (device, _, _), buffer in output.buffers.items():
                buffer.uses = local.get(device, 0) - relays.get(device, 0)

    @staticmethod
    def _want(
        demands: dict[tuple[int, int, int], Demand], key: tuple[int, int, int], low: int, high: int, size: int | None
    ) -> None:
        """One more consumer of units [low, high)."""
        demand = demands.get(key)
        if demand is None:
            demand = demands[key] = Demand(low, high, None if key[2] < 0 else key[2])
        elif low < demand.low or high > demand.high:
            demand.low, demand.high = min(low, demand.low), max(high, demand.high)
        demand.sizes.add(size)
        demand.uses += 1

    def _send_all(self, phase: int) -> None:
        for key in list(self._outputs[phase].demands):
            self._send(phase, key)

    def _send(self, phase: int, key: tuple[int, int, int]) -> int:
        """Place the transfer of a demand, once; the tick from which its consumers may start."""
        output = self._outputs[phase]
        demand = output.demands[key]
        if demand.arrived >= 0:
            return demand.arrived
        prepared = self._prepared
        maker, device, ticks = key
        source, made = maker, output.made[maker]
        if demand.delay is None:
            path = prepared.routes.path(maker, device)
            if path is not None and len(path) == 2:
                self._send(phase, (maker, prepared.home, -1))
                source, made = prepared.home, output.demands[maker, prepared.home, -1].landed
        size = max(prepared.part_bytes(phase, demand.low, demand.high, whole) for whole in demand.sizes)
        link, start, busy, landed = self._carry(phase, source, device, made, size, demand.delay)
        demand.landed, demand.arrived = landed, landed + prepared.syncs[device]
        self._transfers.append((phase, source, device, demand.low, demand.high, size, link, start, busy, landed, False))
        if landed > self.makespan:
            self.makespan = landed
        levels = self._levels.get(device)
        if levels is not None:
            copy = Buffer(prepared.grain(size), landed, demand.uses)
            levels.add(copy.size, start)
            output.buffers[device, maker, ticks] = copy
        levels = self._levels.get(source)
        if levels is not None:
            self._use(output.buffers[source, maker, -1], levels, landed)
        return demand.arrived

    def _carry(
        self, phase: int, source: int, target: int, earliest: int, size: int, delay: int | None
    ) -> tuple[int | None, int, int, int]:
        """Claim a channel for `size` bytes: (link, start, busy, arrival)."""
        prepared = self._prepared
        levels = self._levels.get(target)
        if delay is not None:
            start = earliest if levels is None else levels.fits(prepared.grain(size), earliest)
            if start is None:
                raise DoesNotFit(target, phase)
            return None, start, start, start + delay
        path = prepared.routes.path(source, target)
        if path is None:
            raise DoesNotFit(-1, phase)
        hop = path[0]
        occupied = prepared.problem.links[hop.link].occupied(size)
        busy = None if hop.channel is None or occupied == 0 else self._channels.setdefault(hop.channel, [])
        start = earliest
        while True:
            if busy is not None:
                start = gap(busy, start, occupied)
            later = start if levels is None else levels.fits(prepared.grain(size), start)
            if later is None:
                raise DoesNotFit(target, phase)
            if later == start:
                break
            start = later
        if busy is not None:
            insort(busy, (start, start + occupied))
        return hop.link, start, start + occupied, start + occupied + hop.latency


def _merged(arrivals: Sequence[int], start: int, each: int) -> int:
    """When partials that are merged one after the other, as they arrive, from `start` on, are done."""
    time = start
    for arrival in arrivals:
        time = max(time, arrival) + each
    return time
