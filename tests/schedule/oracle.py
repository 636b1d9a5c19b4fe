"""Brute force: the shortest makespan of a small problem with given modes, by placing steps one after the other in every order of
their starts, each as early as it can be.  Independent of the planners; for problems with at most one link a pair of devices.

With starts in order, what holds memory at a start is known when it is placed, and starting earlier never hurts: so the
enumeration is complete.
"""

from __future__ import annotations

from itertools import product
from math import ceil

from rho.backend.devices.cost_functions import Duplex
from rho.backend.schedule.problem import Contention, Problem

Mode = tuple[tuple[int, int], ...]


class Step:
    def __init__(self, name, phase, ticks, queue=None, device=-1, after=(), delay=0, size=0, holder=-1, scratch=0):
        self.name, self.phase, self.ticks, self.queue, self.device = name, phase, ticks, queue, device
        self.after = list(after)  # (name, extra ticks after its end)
        self.delay, self.size, self.scratch = delay, size, scratch
        self.holder = device if holder < 0 else holder
        self.uses: list[tuple[str, int]] = []  # who reads the buffer that this step makes, and ticks after its end


def link_of(problem: Problem, names, source, target):
    for link in problem.links:
        if (link.source, link.target) == (names[source], names[target]):
            return link
    for link in problem.links:
        if link.duplex is not Duplex.SIMPLEX and (link.target, link.source) == (names[source], names[target]):
            return link
    return None


def channel(problem: Problem, link, names, source):
    if problem.contention is Contention.OFF or link.bytes_per_tick is None:
        return None
    direction = (names[source] == link.source) if link.duplex is Duplex.FULL else True
    return ("link", link.group or link.id, direction)


def steps_of(problem: Problem, modes: list[Mode]) -> dict[str, Step] | None:
    names = problem.device_names()
    kinds = [g.kind for g in problem.devices for _ in range(g.count)]
    syncs = [g.sync for g in problem.devices for _ in range(g.count)]
    home = int(problem.home)
    steps: dict[str, Step] = {}
    rows: list[dict[int, tuple[int, int]]] = []
    for p, task in enumerate(problem.phases):
        first = 0
        mine = {}
        for device, count in modes[p]:
            if kinds[device] not in task.ticks:
                return None
            units = task.units
            size = -(-task.out_bytes * (first + count) // units) - -(-task.out_bytes * first // units)
            name = f"{p}@{device}"
            steps[name] = Step(
                name,
                p,
                task.ticks[kinds[device]].at(count),
                ("device", device),
                device,
                size=size,
                scratch=-(-task.scratch * count // units),
            )
            mine[device] = (first, first + count)
            first += count
        rows.append(mine)
        if task.combine is not None:
            raise ValueError("combines are tested by hand")

    def send(p, maker, device, low, high, whole):
        task = problem.phases[p]
        span = task.rows or task.out_bytes
        size = -(-task.out_bytes * high // span) - -(-task.out_bytes * low // span)
        wanted[p, maker, device] = (
            min(low, wanted.get((p, maker, device), (low, high))[0]),
            max(high, wanted.get((p, maker, device), (low, high))[1]),
        )
        return size

    wanted: dict[tuple[int, int, int], tuple[int, int]] = {}
    readers: list[tuple[int, int, int, int]] = []  # (p, maker, q, device)
    for edge in problem.edges:
        p, q = int(edge.source), int(edge.target)
        source, target = problem.phases[p], problem.phases[q]
        for device, (a, b) in rows[q].items():
            span = source.rows or source.out_bytes
            if edge.whole or not target.rows:
                low, high = 0, span
            else:
                low, high = a * span // target.rows, -(-b * span // target.rows)
                if source.rows:
                    low, high = max(0, low - edge.halo), min(span, high + edge.halo)
            for maker, (c, d) in rows[p].items():
                if source.rows and (c >= high or d <= low):
                    continue
                readers.append((p, maker, q, device))
                if maker != device:
                    if source.rows:
                        send(p, maker, device, max(c, low), min(d, high), edge.whole)
                    else:
                        send(p, maker, device, low, high, edge.whole)
    if problem.links:
        for (p, maker, device), (low, high) in list(wanted.items()):
            if link_of(problem, names, maker, device) is None:
                if home in (maker, device):
                    return None
                send(p, maker, home, low, high, False)
        for (p, maker, device), (low, high) in wanted.items():
            task = problem.phases[p]
            span = task.rows or task.out_bytes
            size = -(-task.out_bytes * high // span) - -(-task.out_bytes * low // span) if span else 0
            source, link, before = maker, link_of(problem, names, maker, device), (f"{p}@{maker}", 0)
            if link is None:
                source, link = home, link_of(problem, names, home, device)
                first = link_of(problem, names, maker, home)
                if link is None or first is None:
                    return None
                before = (f"{p}:{maker}>{home}", first.latency)
            name = f"{p}:{maker}>{device}"
            lies = size >= task.out_bytes or (link.least_row is not None and size / task.pieces >= link.least_row)
            ticks = link.occupied(size) + (ceil(size * task.packing) if link.bytes_per_tick and not lies else 0)
            steps[name] = Step(name, p, ticks, channel(problem, link, names, source), device, [before], link.latency, size)
            if not steps[name].ticks:
                steps[name].queue = None
        for (p, maker, device), _ in wanted.items():
            step = steps[f"{p}:{maker}>{device}"]
            steps[step.after[0][0]].uses.append((step.name, step.delay))
    for edge_index, edge in enumerate(problem.edges):
        del edge_index
        for p, maker, q, device in readers:
            if (p, q) != (int(edge.source), int(edge.target)):
                continue
            reader = steps[f"{q}@{device}"]
            if maker == device:
                reader.after.append((f"{p}@{maker}", 0))
                steps[f"{p}@{maker}"].uses.append((reader.name, 0))
            elif problem.links:
                sent = steps[f"{p}:{maker}>{device}"]
                reader.after.append((sent.name, sent.delay + syncs[device]))
                sent.uses.append((reader.name, 0))
            else:
                reader.after.append((f"{p}@{maker}", (edge.ticks or 0) + syncs[device]))
    return steps


def shortest(problem: Problem, choices: list[list[Mode]], ceiling: int = 1 << 40) -> int | None:
    """The least makespan over all choices of modes and all orders; None if nothing fits."""
    best: list[int] = [ceiling]
    caps = [g.memory for g in problem.devices for _ in range(g.count)]
    for modes in product(*choices):
        steps = steps_of(problem, list(modes))
        if steps is not None:
            _place(problem, steps, caps, best)
    return None if best[0] == ceiling else best[0]


def _place(problem: Problem, steps: dict[str, Step], caps, best: list[int]) -> None:
    rest = {name: step.ticks for name, step in steps.items()}
    for _ in steps:
        for step in steps.values():
            for name, extra in step.after:
                rest[name] = max(rest[name], steps[name].ticks + extra + rest[step.name])
    started: dict[str, int] = {}
    free: dict[object, int] = {}

    def released(step: Step) -> int | None:
        if not step.uses or any(name not in started for name, _ in step.uses):
            return None
        ends = [started[name] + steps[name].ticks + extra for name, extra in step.uses]
        return max([*ends, started[step.name] + step.ticks])

    def fits(step: Step, tick: int) -> bool:
        cap = caps[step.holder]
        if cap is None:
            return True
        level = step.size + step.scratch
        for name, begin in started.items():
            other = steps[name]
            if other.holder != step.holder:
                continue
            end = released(other)
            if end is None or end > tick:
                level += other.size
            if begin + other.ticks > tick:
                level += other.scratch
        return level <= cap

    def go(now: int, longest: int) -> None:
        if len(started) == len(steps):
            best[0] = min(best[0], longest)
            return
        for name, step in steps.items():
            if name in started or any(other not in started for other, _ in step.after):
                continue
            start = max(
                [now, free.get(step.queue, 0) if step.queue else 0, problem.phases[step.phase].ready if "@" in name else 0]
                + [started[other] + steps[other].ticks + extra for other, extra in step.after]
            )
            ticks = sorted(
                {start}
                | {t for t in (released(steps[o]) for o in started) if t is not None and t > start}
                | {started[o] + steps[o].ticks for o in started if started[o] + steps[o].ticks > start}
            )
            start = next((tick for tick in ticks if fits(step, tick)), -1)
            if start < 0 or start + rest[name] >= best[0]:
                continue
            before = free.get(step.queue, 0)
            started[name] = start
            if step.queue:
                free[step.queue] = start + step.ticks
            go(start, max(longest, start + step.ticks + step.delay))
            del started[name]
            free[step.queue] = before

    go(0, 0)
