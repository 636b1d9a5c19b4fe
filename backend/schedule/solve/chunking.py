"""Chunks in sequence: shards that are there already are cut into equal chunks, so that copies overlap with work.

What whole shards cannot hold, a device may take in parts; where copies take long beside the rest, they are hidden.  So chunks are
put in after the search: into the modes of its best plan, and of the best for devices without limits of memory and for links that
carry at once (Note [Chunks] of `problem`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, islice, pairwise, permutations, product
from typing import Final

from ..answer import Decisions, Mode, Schedule
from ..constraints import restrictions
from ..problem import LimitMemory, Problem
from ..timeline.timing import Timer, decisions_of
from .budget import Budget
from .heuristics import at_home, retime
from .strategy import MOST_DEVICES, Context, Strategy

COUNTS: Final = (2, 4, 8, 16, 32)
MOST_PHASES: Final = 64
"""Phases up to which chunks are tried: what they hide is a part of few long steps."""
STARTS: Final = 4
"""Plans whose shards are cut."""
SEARCH: Final = Budget(200, 0, without=frozenset(("fewer-devices", "slivers")))
"""For the plans without limits."""
MOST_ORDERED: Final = 4
MOST_ROWS: Final = 5
MOST_TRIED: Final = 1_000
"""Phases, rows of a phase, and plans up to which every cut and every order is tried where equal chunks lead to no schedule."""
SHARE: Final = 5
"""Chunks are tried where copies take one part in so many of the schedule."""


def chunked(problem: Problem) -> frozenset[int]:
    """The phases that may have chunks.  See Note [Chunks] of `problem`."""
    limits = restrictions(problem)
    return frozenset(
        p for p, task in enumerate(problem.phases) if problem.chunks > 1 and task.rows > 1 and task.together is None
        and any(table.at(task.rows) for table in task.ticks.values()) and p not in limits.fixed and p not in limits.unsplit
    )  # fmt: skip


def pays(problem: Problem, schedule: Schedule | None) -> bool:
    """May chunks be of use to a problem whose best schedule of whole shards is this (None: there is none)?"""
    if problem.chunks == 1 or len(problem.phases) > MOST_PHASES or not any(task.rows > 1 for task in problem.phases):
        return False
    if sum(group.count for group in problem.devices) > MOST_DEVICES:
        return False
    if schedule is None or not _fits(problem):
        return True
    copied: dict[tuple[int, int], int] = defaultdict(int)
    for moved in schedule.transfers:
        copied[moved.source, moved.target] += moved.busy - moved.start
    return max(copied.values(), default=0) * SHARE >= schedule.makespan


def _fits(problem: Problem) -> bool:
    """May every device hold any phase that can be cut, whole, with what it reads?"""
    needed = [task.out_bytes + task.scratch for task in problem.phases]
    for edge in problem.edges:
        needed[edge.target] += problem.phases[edge.source].out_bytes if edge.bytes is None else edge.bytes
    caps = restrictions(problem).caps
    kinds = [group.kind for group in problem.devices for _ in range(group.count)]
    return not any(
        cap is not None and size > cap and kind in task.ticks
        for task, size in zip(problem.phases, needed, strict=True) if task.rows > 1
        for kind, cap in zip(kinds, caps, strict=True)
    )  # fmt: skip


def _starts(context: Context) -> Iterator[Decisions]:
    """The best that is known, that of devices and links without limits, and the baselines."""
    problem, found = context.problem, context.found
    if found.schedule is not None:
        yield decisions_of(problem, found.schedule)
    roomy = replace(
        problem, chunks=1, devices=tuple(replace(group, memory=None) for group in problem.devices),
        directives=tuple(one for one in problem.directives if not isinstance(one, LimitMemory)),
    )  # fmt: skip
    instant = replace(roomy, links=tuple(replace(link, bytes_per_tick=None) for link in problem.links))
    for relaxed in (roomy, instant):
        planned = None if context.plan_other is None else context.plan_other(relaxed, SEARCH).schedule
        if planned is not None:
            yield decisions_of(problem, planned)
    for one in context.ranked():
        yield one.decisions


def in_chunks(timer: Timer, modes: Sequence[Mode], count: int, phases: Sequence[int]) -> tuple[Mode, ...]:
    """The modes with `count` equal chunks for each shard of these phases."""
    made = list(modes)
    for p in phases:
        rows, parts, first = timer.problem.phases[p].rows, [], 0
        for device, own in modes[p]:
            cuts = [first + own * i // count for i in range(count + 1)]
            parts += [(device, stop - start) for start, stop in pairwise(cuts) if stop > start]
            first += own
        made[p] = tuple(parts)
        assert sum(own for _, own in parts) == rows, "chunks are of all rows"
    return tuple(made)


def _cuttable(timer: Timer, modes: Sequence[Mode]) -> Iterator[tuple[int, ...]]:
    """Phases to be cut: those with shards away from home, then all but those that are tied to it, then these too."""
    every = [p for p in sorted(chunked(timer.problem)) if not timer.problem.phases[p].effect]
    able = [p for p in every if not timer.problem.phases[p].home]
    away = [p for p in able if any(device != timer.home for device, _ in modes[p])]
    yield from (phases for phases in dict.fromkeys((tuple(away), tuple(able), tuple(every))) if phases)


def _in_chunks(context: Context) -> None:
    timer, found = context.timer, context.found
    different: dict[tuple[Mode, ...], Decisions] = {}
    for start in _starts(context):
        if len(different) < STARTS:
            different.setdefault(start.modes, start)
    for start in different.values():
        _cut(context, start)
    for candidate in at_home(context.costs) if found.schedule is None else ():
        _cut(context, candidate.decisions)
    if found.schedule is None:
        _cut_anywhere(context, tuple(different.values()))
    if found.schedule is not None and len(found.schedule.shards) > len(timer.problem.phases):
        _mend(context, decisions_of(timer.problem, found.schedule))


def _cut(context: Context, start: Decisions) -> None:
    """More and more chunks, as long as that is better."""
    for phases in _cuttable(context.timer, start.modes):
        if context.found.schedule is not None and any(context.problem.phases[p].home for p in phases):
            break  # what is at home anyway is cut for the memory alone
        best: int | None = None
        for count in counts(context.timer.problem):
            made = _laid_out(context, start, count, phases)
            if made is not None and best is not None and made >= best:
                break
            best = made if made is not None else best


def _cut_anywhere(context: Context, starts: Sequence[Decisions]) -> None:
    """Where equal chunks do not fit: any cuts of few rows, other ones in each phase, in any order of few phases, up to the first
    schedule."""
    timer, found = context.timer, context.found
    phases = range(len(timer.problem.phases))
    able = [p for p in sorted(chunked(timer.problem)) if not timer.problem.phases[p].effect]
    if len(phases) > MOST_ORDERED or any(timer.problem.phases[p].rows > MOST_ROWS for p in able):
        return
    modes = dict.fromkeys(one.modes for one in (*starts, *(home.decisions for home in at_home(context.costs))))
    tried = (
        Decisions(tuple(cut), order)
        for whole in modes
        for cut in product(*(_cuts(whole[p], timer.problem.chunks if p in able else 1) for p in phases))
        for order in permutations(phases)
    )
    for decisions in islice(tried, MOST_TRIED):
        found.offer(retime(timer, "chunks of any rows", decisions).schedule)
        if found.schedule is not None:
            return


def _cuts(mode: Mode, most: int) -> list[Mode]:
    """A mode with each shard in one to `most` chunks, the fewest first."""
    ways: list[list[Mode]] = []
    for device, own in mode:
        places = [cut for count in range(min(most, own)) for cut in combinations(range(1, own), count)]
        ways.append([tuple((device, stop - start) for start, stop in pairwise((0, *cut, own))) for cut in places])
    return sorted((tuple(chain(*parts)) for parts in product(*ways)), key=len)


def counts(problem: Problem) -> list[int]:
    """Numbers of chunks to try; the most that make a difference among them."""
    most = min(problem.chunks, max(task.rows for task in problem.phases))
    return [*(count for count in COUNTS if count < most), most]


def _laid_out(context: Context, start: Decisions, count: int, phases: Sequence[int]) -> int | None:
    decisions = replace(start, modes=in_chunks(context.timer, start.modes, count, phases))
    candidate = retime(context.timer, f"{count} chunks", decisions)
    context.found.offer(candidate.schedule)
    return candidate.ticks


def _mend(context: Context, best: Decisions) -> None:
    """Whatever phase is no worse whole, is whole."""
    timer, found = context.timer, context.found
    for p, mode in enumerate(best.modes):
        together: dict[int, int] = {}
        for device, rows in mode:
            together[device] = together.get(device, 0) + rows
        if len(together) == len(mode) or found.schedule is None:
            continue
        whole = replace(best, modes=(*best.modes[:p], tuple(together.items()), *best.modes[p + 1 :]))
        made = retime(timer, "fewer chunks", whole)
        if made.schedule is not None and made.schedule.makespan <= found.schedule.makespan:
            found.schedule, best = made.schedule, made.decisions


IN_CHUNKS: Final = Strategy(
    "chunks", "chunks in sequence: whole shards cut into equal parts, of which copies overlap with the work of others",
    _in_chunks, lambda context: context.problem.chunks > 1, of_chunks=True,
)  # fmt: skip
