"""Transformations of modes: shards in chunks.

Chunks let transfers overlap with computation, and let a device run a shard that its memory cannot hold at once.  They are
introduced after the search: into the modes of its best plan, and of the best plans for unlimited memory and for infinite
bandwidth (Note [Chunks] of `problem`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, islice, pairwise, permutations, product
from typing import Final

from ....lang.support.records import replace
from ..problem import (
    Decisions,
    LimitMemory,
    Mode,
    PhaseTask,
    Problem,
    Schedule,
    directive_constraints,
)
from ..timeline.serial_sgs import ScheduleDecoder, decisions_of
from .list_scheduling import at_home, best_timing
from .strategy import MOST_DEVICES, Budget, SearchContext, Strategy

# ---------------------------------------------------------------------------------------------------- pipelined chunks

COUNTS: Final = (2, 4, 8, 16, 32)
MOST_PHASES: Final = 64
"""Phases up to which chunks are tried: they gain most where there are few long steps."""
STARTS: Final = 5
"""How many plans are cut into chunks."""
SEARCH: Final = Budget(200, 0, without=frozenset(("fewer-devices", "slivers")))
"""The budget of the plans without limits."""
MOST_ORDERED: Final = 4
MOST_ROWS: Final = 5
MOST_TRIED: Final = 1_000
"""The most phases, rows of a phase, and plans for which all cuts and orders are tried where equal chunks give no schedule."""
MOST_PLACED: Final = 30
"""The most device choices per phase that are tried in that case."""
SHARE: Final = 5
"""Chunks are tried where transfers take at least 1/SHARE of the makespan."""


def chunkable_phases(problem: Problem) -> frozenset[int]:
    """The phases that may have chunks.  See Note [Chunks] of `problem`."""
    constraints = directive_constraints(problem)
    return frozenset(
        p
        for p, task in enumerate(problem.phases)
        if problem.chunks > 1
        and task.rows > 1
        and task.distributed is None
        and any(table.at(task.rows) for table in task.ticks.values())
        and p not in constraints.fixed_modes
        and p not in constraints.undivided
    )


def may_help(problem: Problem, schedule: Schedule | None) -> bool:
    """May chunks improve the best schedule of whole shards (None: there is none)?"""
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
    """Can every device hold each phase that can be cut, undivided and with its operands?"""
    needed = [task.out_bytes + task.scratch for task in problem.phases]
    for edge in problem.edges:
        needed[edge.target] += problem.phases[edge.source].out_bytes if edge.bytes is None else edge.bytes
    caps = directive_constraints(problem).memory_limits
    kinds = [group.kind for group in problem.devices for _ in range(group.count)]
    return not any(
        cap is not None and size > cap and kind in task.ticks
        for task, size in zip(problem.phases, needed, strict=True) if task.rows > 1
        for kind, cap in zip(kinds, caps, strict=True)
    )  # fmt: skip


def _starts(context: SearchContext) -> Iterator[Decisions]:
    """The plans to cut into chunks: the incumbent, the best away from home, with unlimited memory and with infinite bandwidth,
    and the baselines."""
    problem, incumbent = context.problem, context.incumbent
    if incumbent.schedule is not None:
        yield decisions_of(problem, incumbent.schedule)
    roomy = replace(
        problem, chunks=1, devices=tuple(replace(group, memory=None) for group in problem.devices),
        directives=tuple(one for one in problem.directives if not isinstance(one, LimitMemory)),
    )  # fmt: skip
    instant = replace(roomy, links=tuple(replace(link, bytes_per_tick=None) for link in problem.links))
    for relaxed in (_away_from_home(roomy), roomy, instant):
        planned = None if context.solve_subproblem is None else context.solve_subproblem(relaxed, SEARCH).schedule
        if planned is not None:
            yield decisions_of(problem, planned)
    for one in context.ranked():
        yield one.decisions


def _away_from_home(problem: Problem) -> Problem:
    """The problem with home's phases there and all others elsewhere, where its class is home alone: copies overlap with work."""
    home = next(group for group in problem.devices if group.home)
    if home.count > 1 or any(group.kind == home.kind for group in problem.devices if group is not home):
        return problem

    def elsewhere(task: PhaseTask) -> PhaseTask:
        ticks = {kind: table for kind, table in task.ticks.items() if kind != home.kind}
        return replace(task, ticks=ticks) if ticks and not task.home else task

    return replace(problem, phases=tuple(map(elsewhere, problem.phases)))


def split_into_chunks(decoder: ScheduleDecoder, modes: Sequence[Mode], count: int, phases: Sequence[int]) -> tuple[Mode, ...]:
    """The modes with `count` equal chunks for each shard of these phases."""
    chunked = list(modes)
    for p in phases:
        rows, parts, first = decoder.problem.phases[p].rows, [], 0
        for device, row_count in modes[p]:
            cuts = [first + row_count * i // count for i in range(count + 1)]
            parts += [(device, stop - start) for start, stop in pairwise(cuts) if stop > start]
            first += row_count
        chunked[p] = tuple(parts)
        assert sum(row_count for _, row_count in parts) == rows, "chunks are of all rows"
    return tuple(chunked)


def _cuttable(decoder: ScheduleDecoder, modes: Sequence[Mode]) -> Iterator[tuple[int, ...]]:
    """Sets of phases to cut: those with shards away from home, then all that are not fixed to home, then all."""
    every = [p for p in sorted(chunkable_phases(decoder.problem)) if not decoder.problem.phases[p].effect]
    able = [p for p in every if not decoder.problem.phases[p].home]
    away = [p for p in able if any(device != decoder.home for device, _ in modes[p])]
    yield from (phases for phases in dict.fromkeys((tuple(away), tuple(able), tuple(every))) if phases)


def _in_chunks(context: SearchContext) -> None:
    decoder, incumbent = context.decoder, context.incumbent
    different: dict[tuple[Mode, ...], Decisions] = {}
    for start in _starts(context):
        if len(different) < STARTS:
            different.setdefault(start.modes, start)
    for start in different.values():
        _cut(context, start)
    for candidate in at_home(context.costs) if incumbent.schedule is None else ():
        _cut(context, candidate.decisions)
    if incumbent.schedule is None:
        _cut_anywhere(context, tuple(different.values()))
    if incumbent.schedule is not None and len(incumbent.schedule.shards) > len(decoder.problem.phases):
        _merge_chunks(context, decisions_of(decoder.problem, incumbent.schedule))


def _cut(context: SearchContext, start: Decisions) -> None:
    """Increase the number of chunks as long as the makespan falls."""
    for phases in _cuttable(context.decoder, start.modes):
        if context.incumbent.schedule is not None and any(context.problem.phases[p].home for p in phases):
            break  # home's phases are cut only to save memory
        best: int | None = None
        for count in counts(context.decoder.problem):
            makespan = _decode_in_chunks(context, start, count, phases)
            if makespan is not None and best is not None and makespan >= best:
                break
            best = makespan if makespan is not None else best


def _cut_anywhere(context: SearchContext, starts: Sequence[Decisions]) -> None:
    """Where equal chunks do not fit: enumerate all cuts of few rows and all orders of few phases, up to the first schedule; then
    with the last rows of some phases first."""
    decoder, incumbent = context.decoder, context.incumbent
    phases = range(len(decoder.problem.phases))
    able = [p for p in sorted(chunkable_phases(decoder.problem)) if not decoder.problem.phases[p].effect]
    if len(phases) > MOST_ORDERED or any(decoder.problem.phases[p].rows > MOST_ROWS for p in able):
        return
    costs = context.costs
    devices = [[costs.members[one][0] for one in costs.allowed_classes[p]] for p in phases]
    undivided = (
        tuple(costs.undivided_mode(p, device) for p, device in enumerate(chosen))
        for chosen in islice(product(*devices), MOST_PLACED)
    )  # fmt: skip
    modes = dict.fromkeys((*(one.modes for one in (*starts, *(home.decisions for home in at_home(costs)))), *undivided))
    cuts = [
        cut for mode in modes
        for cut in islice(product(*(_cuts(mode[p], decoder.problem.chunks if p in able else 1) for p in phases)), MOST_TRIED)
    ]  # fmt: skip
    in_row_order = ((cut, order, ()) for cut in cuts for order in permutations(phases))
    others = (
        (cut, order, last_first)
        for count in range(1, len(able) + 1) for last_first in combinations(able, count)
        for cut in cuts if all(len(cut[p]) > 1 for p in last_first) for order in permutations(phases)
    )  # fmt: skip
    for cut, order, last_first in chain(islice(in_row_order, MOST_TRIED), islice(others, MOST_TRIED)):
        decisions = Decisions(cut, order, last_rows_first=frozenset(last_first))
        incumbent.offer(best_timing(decoder, "chunks of any rows", decisions).schedule)
        if incumbent.schedule is not None:
            return


def _cuts(mode: Mode, most: int) -> list[Mode]:
    """A mode with each shard in one to `most` chunks, the fewest first."""
    options: list[list[Mode]] = []
    for device, row_count in mode:
        places = [cut for count in range(min(most, row_count)) for cut in combinations(range(1, row_count), count)]
        options.append([tuple((device, stop - start) for start, stop in pairwise((0, *cut, row_count))) for cut in places])
    return sorted((tuple(chain(*parts)) for parts in product(*options)), key=len)


def counts(problem: Problem) -> list[int]:
    """The numbers of chunks to try, up to the largest that makes a difference."""
    most = min(problem.chunks, max(task.rows for task in problem.phases))
    return [*(count for count in COUNTS if count < most), most]


def _decode_in_chunks(context: SearchContext, start: Decisions, count: int, phases: Sequence[int]) -> int | None:
    decisions = replace(start, modes=split_into_chunks(context.decoder, start.modes, count, phases))
    candidate = best_timing(context.decoder, f"{count} chunks", decisions)
    context.incumbent.offer(candidate.schedule)
    return candidate.ticks


def _merge_chunks(context: SearchContext, best: Decisions) -> None:
    """Undoes chunking phase by phase where the makespan does not grow."""
    decoder, incumbent = context.decoder, context.incumbent
    for p, mode in enumerate(best.modes):
        together: dict[int, int] = {}
        for device, rows in mode:
            together[device] = together.get(device, 0) + rows
        if len(together) == len(mode) or incumbent.schedule is None:
            continue
        decisions = replace(best, modes=(*best.modes[:p], tuple(together.items()), *best.modes[p + 1 :]))
        candidate = best_timing(decoder, "fewer chunks", decisions)
        if candidate.schedule is not None and candidate.schedule.makespan <= incumbent.schedule.makespan:
            incumbent.schedule, best = candidate.schedule, candidate.decisions


IN_CHUNKS: Final = Strategy(
    "chunks", "chunks in sequence: whole shards cut into equal parts, of which copies overlap with the work of others",
    _in_chunks, lambda context: context.problem.chunks > 1, supports_chunks=True,
)  # fmt: skip
