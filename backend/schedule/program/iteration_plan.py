"""One iteration of a distributed loop as a scheduling problem: its schedule, and the ticks of the loop that follow from it.

Each state of the loop is cut along an axis, or is whole at home, before and after every iteration.  An iteration is planned as a
program of its own (`graph.partial_graphs`): its entries have the states in place and take no time, its other phases are cut in
the proportion of the mode or run at home, and the next states are produced where the iteration found them.  Values that the body
reads from around the loop are transferred before the loop starts.

Note [Period].  All devices begin an iteration together, so the period is the makespan of its schedule; the loop takes the number
of iterations times that, plus the compilation of kernels before and the epilogue, which brings states home, after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final, TypeAlias

from ....lang.diagnostics.model import Refused, Rejected
from ....lang.support.records import dataclass, replace
from ...devices.cost_functions import Ticks
from ...graph import traverse
from ...graph.bind_sizes import BoundGraph
from ...graph.partial_graphs import (
    LoopIteration,
    StateAxes,
    divisions,
    exit_graph,
    in_form,
    iteration_of,
    speculable_branches,
    speculated_branches,
)
from ...graph.phases import Branch, Input, Loop, Phase, PhaseId, SubGraph, ValueId
from ..plan.plan import LoopPartition
from ..problem import (
    Answer,
    Before,
    BoundCertificate,
    Decisions,
    DeviceGroup,
    Directive,
    InsertionPolicy,
    IssueBefore,
    Keep,
    Mode,
    Objective,
    PhaseIndex,
    PlaceDirective,
    Problem,
    Replicate,
    Speculate,
    Split,
    Status,
    TransferPolicy,
)
from ..program_facts.partitioning import Cut, cuts_of, shape_of
from ..search.axis_search import lower_bound, without_axes
from ..search.strategy import FAST, Budget, Planner
from ..timeline.serial_sgs import ScheduleDecoder
from .axis_choice import AxisChoice, PhaseCut
from .distributed_loop import CostContext, DistributedLoop, PlannedIteration, ProgramProblem
from .plan_from_schedule import sub_plan_of
from .problem_from_program import cuts_of_fewest_bytes, iteration_problem

# ---------------------------------------------------------------------------------------------------- one iteration

def proportional(mode: Mode, rows: int) -> Mode:
    """`rows` rows in the proportion of a mode, the bounds of shards rounded to the nearest row."""
    total = sum(share for _, share in mode)
    shares: list[tuple[int, int]] = []
    at = last = 0
    for device, share in mode:
        at += share
        stop = (2 * at * rows + total) // (2 * total)
        if stop > last:
            shares.append((device, stop - last))
            last = stop
    return tuple(shares)


@dataclass(frozen=True, slots=True)
class IterationTemplate:
    """An iteration with its cuts, before devices are chosen: the `rows` that a mode distributes, `tables` of ticks by phase and
    class."""

    bound: BoundGraph
    partition: LoopPartition
    iteration: LoopIteration
    cuts: AxisChoice
    rows: int
    context: CostContext
    tables: tuple[Mapping[str, Ticks | None], ...]

    @property
    def first_run_overhead(self) -> int:
        return max(self.context.first_run_overhead(self.iteration.bound.graph.phases, group) for group in self.context.groups)

    def unscheduled(self) -> PlannedIteration:
        """The iteration as a problem, not yet scheduled."""
        return PlannedIteration(self.iteration, iteration_problem(self.iteration, self.cuts, self.tables, self.context))

    def device_ticks(self, group: DeviceGroup, rows: int) -> int | None:
        """The ticks of computing `rows` rows of an iteration on a device, without waiting; None: it cannot take part."""
        total = 0
        for phase, table, cut in zip(self.iteration.bound.graph.phases, self.tables, self.cuts.cut_of, strict=True):
            ticks = table[group.kind]
            if ticks is None:
                return None
            if cut is not None:
                total += ticks.at(max(1, min(cut.rows, -(-rows * cut.rows // self.rows))))
            elif group.home and phase.id not in self.iteration.wraparounds:
                total += ticks.at(1)
        return total


def iteration_template(bound: BoundGraph, loop: Loop, axes: StateAxes, context: CostContext) -> IterationTemplate | None:
    """The template of a loop whose states are cut along these axes; None: nothing can be distributed."""
    iteration = iteration_of(bound, loop, axes)
    cuts, rows = _iteration_axes(iteration, context)
    if rows < 2:
        return None
    return IterationTemplate(
        bound, LoopPartition(loop.id, axes), iteration, cuts, rows, context, _tables(iteration, cuts, context)
    )


def _tables(iteration: LoopIteration, cuts: AxisChoice, context: CostContext) -> tuple[Mapping[str, Ticks | None], ...]:
    """Ticks by phase and class; entry phases take none, since the states are already there."""
    return tuple(
        {
            group.kind: Ticks(((1, 0),)) if index < len(iteration.axes) else context.ticks(phase, group, cut, iteration.bound)
            for group in context.groups
        }
        for index, (phase, cut) in enumerate(zip(iteration.bound.graph.phases, cuts.cut_of, strict=True))
    )


def distributed_loop_of(one: IterationTemplate, mode: Mode) -> DistributedLoop | None:
    """The loop on the devices of a mode; None where a route is missing that they need to exchange data."""
    body = _planned_iteration(one.unscheduled(), mode)
    leave = _planned_iteration(gather_iteration(one), mode) if None in one.iteration.axes else None
    if body is None or (leave is None and None in one.iteration.axes):
        return None
    return DistributedLoop(one.partition, mode, body, leave, one.first_run_overhead)


def gather_iteration(one: IterationTemplate) -> PlannedIteration:
    """The epilogue: it gathers the last states at home; not yet scheduled."""
    context, last = one.context, exit_graph(one.bound, one.iteration.loop, one.iteration)
    forced = {phase.id: PhaseCut(None) for phase in last.bound.graph.phases} | _fixed_axes(last, {})
    cuts = cuts_of_fewest_bytes(last.bound, forced, context)
    unsplit = replace(cuts, cut_of=(None,) * len(cuts.cut_of))
    return PlannedIteration(last, iteration_problem(last, cuts, _tables(last, unsplit, context), context))


def _planned_iteration(empty: PlannedIteration, mode: Mode) -> PlannedIteration | None:
    """The best schedule of an iteration whose cut phases have rows in the proportion of the mode."""
    iteration, problem = empty.iteration, empty.problem
    modes = _modes(problem, mode)
    decoder, order = ScheduleDecoder(problem), tuple(range(len(modes)))
    schedules = [
        decoder.decode(Decisions(modes, order, queueing, sending)) for queueing in InsertionPolicy for sending in TransferPolicy
    ]
    best = min((one for one in schedules if one is not None), key=lambda schedule: schedule.makespan, default=None)
    if best is None:
        return None
    return replace(empty, schedule=best, plan=sub_plan_of(empty.program, best, iteration.live_out))


def _modes(problem: Problem, mode: Mode) -> tuple[Mode, ...]:
    """The modes of an iteration: cut phases in the proportion of the mode; phases that take wrapped-around rows on the device
    that has them; other phases at home."""
    modes: list[Mode] = []
    for index, task in enumerate(problem.phases):
        edge = next((e for e in problem.edges if e.target == index and e.only is not None), None)
        if task.rows:
            modes.append(proportional(mode, task.rows))
        elif edge is None or edge.only is None or not problem.phases[edge.source].rows:
            modes.append(((int(problem.home), 1),))
        else:
            modes.append(((_owner(modes[edge.source], edge.only[0]), 1),))
    return tuple(modes)


def _owner(mode: Mode, row: int) -> int:
    at = 0
    for device, rows in mode:
        at += rows
        if row < at:
            return device
    raise IndexError(row)


# --------------------------------------------------------------------------------------------- axes of an iteration


def _fixed_axes(iteration: LoopIteration, makers: Mapping[ValueId, Phase]) -> dict[PhaseId, PhaseCut]:
    """The fixed axes of phases that provide the iteration's states, produce the next ones, or take wrapped-around edge rows."""
    types = iteration.bound.graph.types
    fixed: dict[PhaseId, PhaseCut] = {}
    for phase, axis in zip(iteration.bound.graph.phases, iteration.axes, strict=False):
        (value,) = traverse.results(phase)
        shape = shape_of(value, types) or ()
        fixed[phase.id] = PhaseCut(None if axis is None else Cut(axis, shape[axis]), {value: axis or 0})
    for value, axis in zip(iteration.next, iteration.axes, strict=True):
        maker = makers.get(value)
        if maker is None:
            continue
        shape = shape_of(value, types) or ()
        others = [cut for cut in cuts_of(maker, types) if cut.combines] if axis is None else []
        cut = min(others, key=lambda cut: cut.axis, default=None) if axis is None else Cut(axis, shape[axis])
        fixed[maker.id] = PhaseCut(cut, {} if cut is None or cut.combines else dict.fromkeys(traverse.results(maker), axis or 0))
    if iteration.stop is not None and iteration.stop in makers and makers[iteration.stop].id not in fixed:
        maker = makers[iteration.stop]
        fixed[maker.id] = PhaseCut(next((cut for cut in cuts_of(maker, types) if cut.combines), None))
    return fixed


def _iteration_axes(iteration: LoopIteration, context: CostContext) -> tuple[AxisChoice, int]:
    """The partition axis of each phase of an iteration, and the rows to distribute: the states', else those of the longest
    axis."""
    graph = iteration.bound.graph
    makers = {value: phase for phase in graph.phases for value in traverse.results(phase)}
    fixed = _fixed_axes(iteration, makers)
    fixed |= {phase.id: PhaseCut(None) for phase in graph.phases if phase.id in iteration.wraparounds}
    outside = dict.fromkeys(value for phase in graph.phases for value in traverse.uses(phase) if value not in makers)
    number = 1 + max((int(phase.id) for phase in graph.phases), default=0)
    span = iteration.loop.span
    inputs = tuple(Input(PhaseId(number + index), span, f"outer {index}", value) for index, value in enumerate(outside))
    around = replace(iteration.bound, graph=replace(graph, phases=(*inputs, *graph.phases)))

    def cuts_with(fixed: Mapping[PhaseId, PhaseCut]) -> AxisChoice:
        cuts = cuts_of_fewest_bytes(around, fixed, context)
        return replace(cuts, cut_of=cuts.cut_of[len(inputs) :])

    cuts = cuts_with(fixed)
    sizes = [cut.size for cut in cuts.cut_of[: len(iteration.axes)] if cut is not None]
    rows = sizes[0] if sizes else max((cut.size for cut in cuts.cut_of if cut is not None), default=0)
    small = {
        phase.id: PhaseCut(None) for phase, cut in zip(graph.phases, cuts.cut_of, strict=True)
        if cut is not None and 2 * cut.size < rows
    }  # fmt: skip
    return (cuts_with(fixed | small) if small else cuts), rows


# ---------------------------------------------------------------------------------------------------- forms
#
# The forms of a program: with scans and sorts in one pass or in two, of which two can be cut, and with branches as selects: the
# planner chooses which arms run before their condition is known.
#
# All scans have one form, and all sorts; a form that directives do not allow is left out, as are two passes of which one device
# alone can run both: one pass is as quick there.  The bound is the least over the forms.
#
# A branch is early, with its arms outside as phases of their own, or late: then it has the cost of one step of the program, which
# takes as long as its longer arm.  Arms are early where this is better, or where a directive speaks of them (`speculate`).
# All forms have the same tick.

MOST_TOGETHER: Final = 2
"""Branches of which every combination is planned."""
MOST_TRIED: Final = 12
"""Branches of more that are tried one after the other; further ones stay late."""

ProblemFactory: TypeAlias = Callable[[BoundGraph], ProgramProblem]
"""Builds the problem of a bound graph with its directives."""


@dataclass(frozen=True, slots=True)
class BranchForm:
    """The form chosen for a program, and its answer."""

    program: ProgramProblem
    answer: Answer


def bound_in_form(bound: BoundGraph, chosen: Iterable[PhaseId]) -> BoundGraph:
    """The graph in which the arms of these branches are outside them, as phases of their own, and these phases in two passes."""
    return replace(bound, graph=in_form(bound.graph, frozenset(chosen)))


def divided_forms(bound: BoundGraph, build_problem: ProblemFactory) -> list[tuple[tuple[PhaseId, ...], ProgramProblem]]:
    """The forms that directives allow and devices can run, by the ids of the phases in two passes, with their problems.

    Raises Rejected if directives allow none.  Refused: no device can run some phase in any."""
    forms, refused = list[tuple[tuple[PhaseId, ...], ProgramProblem]](), list[Rejected | Refused]()
    phases = {phase.id for phase in bound.graph.phases}
    inputs = {phase.id for phase in bound.graph.phases if isinstance(phase, Input)}
    for divided in divisions(bound.graph):
        if forms and not inputs.intersection(divided) <= {*forms[0][1].broadcasts}:
            continue
        try:
            program = build_problem(bound_in_form(bound, divided))
        except (Rejected, Refused) as error:
            refused.append(error)
            continue
        if not forms or any(phase.id not in phases and _has_choice(program, p) for p, phase in enumerate(program.phases)):
            forms.append((divided, program))
    if not forms:
        raise next((error for error in refused if isinstance(error, Refused)), refused[-1])
    return forms


def _has_choice(program: ProgramProblem, p: int) -> bool:
    """Can more than one device run a phase?"""
    problem = program.problem
    return sum(group.count for group in problem.devices if group.kind in problem.phases[p].ticks) > 1


def plan_forms(bound: BoundGraph, build_problem: ProblemFactory, budget: Budget, plan: Planner) -> BranchForm:
    """The best form of the program with its plan."""
    forms = divided_forms(bound, build_problem)
    best, chosen = _plan_branches(bound, *forms[0], build_problem, budget, plan), forms[0]
    others, worse = list[tuple[Problem, Answer | None]](), list[Problem]()
    for number, (divided, program) in enumerate(forms[1:]):
        known, least = best.answer, _any_form(bound, divided, program, build_problem)
        if number and chosen is forms[0]:  # what does not pay together is not planned apart
            others.append((least, None))
            continue
        if known.is_usable and _least(least, known, budget, program.problem.chunks) >= known.values[0]:
            worse.append(least)
            continue
        other = _plan_branches(bound, divided, program, build_problem, FAST, plan)
        if not known.is_usable or (other.answer.is_usable and other.answer.values < known.values):
            others += [(_any_form(bound, *chosen, build_problem), known), *((one, None) for one in worse)]
            worse.clear()
            longer = _plan_branches(bound, divided, program, build_problem, budget, plan)
            is_sooner = other.answer.is_usable and not (longer.answer.is_usable and longer.answer.values <= other.answer.values)
            best, chosen = other if is_sooner else longer, (divided, program)  # more effort may find a later plan
        else:
            others.append((least, other.answer))
    for problem, answer in others:
        best = _bounded_by_form(best, problem, answer, budget)
    return best


def _any_form(
    bound: BoundGraph, divided: tuple[PhaseId, ...], program: ProgramProblem, build_problem: ProblemFactory
) -> Problem:
    """The problem along any axes with these phases in two passes; a relaxation of every form of its branches, if it has any."""
    if speculable_branches(bound.graph):
        return relaxed(bound_in_form(bound, divided), build_problem)
    return without_axes(program.problem)


def _least(problem: Problem, known: Answer, budget: Budget, chunks: int) -> int:
    """A lower bound of plans with so many chunks."""
    return lower_bound(replace(problem, chunks=chunks), known.values[0], budget)


def _bounded_by_form(best: BranchForm, other: Problem, answer: Answer | None, budget: Budget) -> BranchForm:
    """The best form, with a bound that also holds for another form, which has that answer (None: it was not planned)."""
    known = best.answer
    if not known.is_usable:
        return best
    least = _least(other, known, budget, known.chunks)
    if answer is not None and answer.is_usable and answer.every_axis and answer.chunks >= known.chunks:
        least = max(least, answer.lower_bound)
    if least >= known.lower_bound:
        return best
    return replace(best, answer=known.bounded(replace(known.proof, method="bound" if least else "none", lower_bound=least)))


def _plan_branches(
    bound: BoundGraph, divided: tuple[PhaseId, ...], program: ProgramProblem, build_problem: ProblemFactory, budget: Budget,
    plan: Planner,
) -> BranchForm:  # fmt: skip
    """The best form of the program's branches with its plan, with these phases in two passes."""
    branches = speculable_branches(bound.graph)
    if not branches:
        answer = plan(program.problem, budget)
        places = tuple(PhaseIndex(p) for p, phase in enumerate(program.phases) if phase.id in divided)
        return BranchForm(program.along(answer.axes), replace(answer, speculated=places))
    bound = bound_in_form(bound, divided)
    full = build_problem(bound_in_form(bound, branches))
    arms = {full.phases[p].id: (p, frozenset(phases)) for p, phases in arms_by_branch(bound, full).items()}
    early = {branch for branch in branches if _must_run_both(full.problem, *arms[branch])}
    free = [branch for branch in branches if branch not in early]

    def best_of(sets: Iterable[set[PhaseId]], budget: Budget) -> tuple[set[PhaseId], ProgramProblem, Answer]:
        """The best of the forms in which the arms of these branches are outside, with a bound of all."""
        programs = [(chosen, build_problem(bound_in_form(bound, chosen))) for chosen in sets]
        planned = [(chosen, program, plan(program.problem, budget)) for chosen, program in programs]
        possible = [one for one in planned if one[2].status is not Status.IMPOSSIBLE]
        usable = [one for one in planned if one[2].is_usable]
        if not usable:
            return (possible or planned)[0]
        chosen, program, answer = min(usable, key=lambda one: one[2].values)
        least = min(one[2].lower_bound for one in possible)
        return chosen, program, answer.bounded(replace(answer.proof, lower_bound=least))

    if len(branches) <= MOST_TOGETHER:
        choices = product((False, True), repeat=len(free))
        early, program, answer = best_of(
            [early | {branch for branch, is_early in zip(free, choice, strict=True) if is_early} for choice in choices], budget
        )
    else:
        for branch in free[:MOST_TRIED]:
            early, *_ = best_of([early, early | {branch}], FAST)
        early, program, answer = best_of([early], budget)
        if answer.is_usable:
            answer = answer.bounded(BoundCertificate("none", 0))
        if full.problem.objectives[:1] == (Objective.LATENCY,):
            answer = _bounded(answer, plan(relaxed(bound, build_problem), FAST))
    apart = speculated_branches(bound.graph, early)
    places = tuple(PhaseIndex(index) for index, phase in enumerate(program.phases) if phase.id in (*apart, *divided))
    return BranchForm(program.along(answer.axes), replace(answer, speculated=places))


def _must_run_both(problem: Problem, branch: PhaseIndex, arms: frozenset[PhaseIndex]) -> bool:
    """Must both arms run: because a directive holds only then, or because no class of devices can run all of the branch?"""
    kinds = (problem.phases[p].ticks.keys() for p in arms)
    if not set(problem.phases[branch].ticks).intersection(*kinds):
        return True
    for directive in problem.directives:
        match directive:
            case Speculate(_, phase) | Split(_, phase):
                required = phase in arms or phase == branch
            case Replicate(_, phase) | Keep(_, phase):
                required = phase in arms
            case Before(_, first, then) | IssueBefore(_, first, then):
                required = not {*arms, branch}.isdisjoint(first) and not arms.isdisjoint(then)
            case _:
                required = False
        if required:
            return True
    return False


def _bounded(answer: Answer, least: Answer) -> Answer:
    """The answer of one form, with the lower bound of a relaxation of all forms."""
    if not answer.is_usable or least.schedule is None:
        return answer
    return answer.bounded(replace(answer.proof, method="bound", lower_bound=least.lower_bound))


def relaxed(bound: BoundGraph, build_problem: ProblemFactory) -> Problem:
    """A relaxation of every form along any axes: without arms, and of each branch only the select, once its condition is ready.

    A schedule of any form, without the steps of arms, is a schedule of this problem; so its bounds hold for all forms."""
    branches = speculable_branches(bound.graph)
    late, full = (
        replace(program, problem=without_axes(program.problem))
        for program in (build_problem(bound), build_problem(bound_in_form(bound, branches)))
    )
    chosen = {phase.id: task for phase, task in zip(full.phases, full.problem.phases, strict=True) if phase.id in branches}
    phases = tuple(chosen.get(phase.id, task) for phase, task in zip(late.phases, late.problem.phases, strict=True))
    conditions = {
        index: phase.condition for index, phase in enumerate(late.phases) if isinstance(phase, Branch) and phase.id in chosen
    }
    edges = tuple(
        edge for edge in late.problem.edges
        if edge.target not in conditions or conditions[edge.target] in traverse.results(late.phases[edge.source])
    )  # fmt: skip
    return replace(late.problem, phases=phases, edges=edges)


def every_form(bound: BoundGraph) -> list[tuple[PhaseId, ...]]:
    """By form of the branches, the ids of those whose arms are outside; empty if there are too many forms to plan."""
    branches = speculable_branches(bound.graph)
    if len(branches) > MOST_TOGETHER:
        return []
    sets = [[b for index, b in enumerate(branches) if number >> index & 1] for number in range(1 << len(branches))]
    return list(dict.fromkeys(speculated_branches(bound.graph, chosen) for chosen in sets))


def arms_by_branch(bound: BoundGraph, program: ProgramProblem) -> dict[PhaseIndex, tuple[PhaseIndex, ...]]:
    """By branch whose arms are outside it, the phases of its arms."""
    index_of = {phase.id: PhaseIndex(at) for at, phase in enumerate(program.phases)}
    branch_of = {phase.id: phase for phase in traverse.all_phases(bound.graph) if isinstance(phase, Branch)}
    return {
        index_of[branch.id]: tuple(
            index_of[inner.id] for arm in traverse.subgraphs(branch) for inner in _arm_phases(arm, index_of)
        )
        for branch in branch_of.values()
        if branch.id in index_of
    }


def with_arms(directives: Sequence[Directive], arms: Mapping[PhaseIndex, Sequence[PhaseIndex]]) -> Iterator[Directive]:
    """The directives extended to arms: arms are placed with their branch, and what precedes it precedes them."""

    def all_of(phases: Sequence[PhaseIndex]) -> tuple[PhaseIndex, ...]:
        return tuple(dict.fromkeys(each for phase in phases for each in (*arms.get(phase, ()), phase)))

    for directive in directives:
        match directive:
            case PlaceDirective():
                yield replace(directive, phases=all_of(directive.phases))
            case Before() | IssueBefore():
                yield replace(directive, then=all_of(directive.then))
            case _:
                yield directive


def _arm_phases(arm: SubGraph, index_of: dict[PhaseId, PhaseIndex]) -> list[Phase]:
    return sorted((p for p in traverse.all_phases(arm) if p.id in index_of), key=lambda p: index_of[p.id])
