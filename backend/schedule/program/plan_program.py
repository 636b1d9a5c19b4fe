"""Plans a program on the devices of a profile in one call: problem, directives, answer, plan, and both verifiers.

Every returned plan has passed the rules V1 to V10 as a schedule (`schedule_checks`) and as a plan (`plan_checks`).  If there is
no plan, the error names a minimal set of contradicting facts, at their source lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import isqrt
from typing import Final, TypeAlias

from ....lang.bind.directives import NUMBERED, PRINT, DirectiveReader
from ....lang.diagnostics.model import Code, Diagnostic, Label, Refused, Rejected, RhoError, RunFailed, Severity
from ....lang.support.records import dataclass, replace
from ....lang.syntax.source import Source, Span
from ....lang.tree.program import Directive as Words, DirectiveWord, ScheduleBlock
from ....typechecker.core.operations import Core, CorePrint, ValueId, blocks_of, captured, operands_of, results_of
from ...devices.cost_functions import Ticks
from ...devices.profile import Profile
from ...devices.profile_toml import fingerprint
from ...graph.bind_sizes import BoundGraph
from ...graph.partial_graphs import divisible_phases, speculable_branches
from ...graph.phases import PhaseId
from ..bounds.head_tail_bounds import Costs
from ..exact.infeasibility import order_conflict, placement_conflict
from ..instances.directive_resolution import DirectiveScope, NamedPhase, resolve
from ..instances.instance_json import to_devices
from ..plan.plan import DeviceId, ExecutionPlan, PlannedFile
from ..plan.plan_text import amount, plans_text, time_text
from ..problem import (
    Answer,
    Baseline,
    BoundCertificate,
    Conflict,
    Deadline,
    DeviceGroup,
    Directive,
    Edge,
    Objective,
    PhaseIndex,
    PhaseTask,
    Problem,
    Schedule,
    SourceLine,
    Speculate,
    Status,
    directive_constraints,
)
from ..program_facts.partitioning import stored_on
from ..search.list_scheduling import baselines
from ..search.strategy import DEFAULT, Budget, Planner, StrategyFailure, tolerate_failures
from ..timeline.fence_insertion import synchronise
from ..timeline.objective_values import objective_value, objective_values
from ..timeline.serial_sgs import ScheduleDecoder
from ..verify.judge import Rule
from ..verify.plan_checks import check_plan
from ..verify.schedule_checks import verify
from .axis_choice import Axes
from .distributed_loop import DistributedLoop, ProgramProblem, TicksOf
from .distributed_loop_search import bound_with_distributed_loops, distributable_loops, plan_distributed_loops
from .iteration_plan import BranchForm, arms_by_branch, bound_in_form, divided_forms, every_form, plan_forms, relaxed, with_arms
from .plan_from_schedule import assembled_operands, plan_of
from .problem_from_program import (
    CHUNKS,
    along_only,
    axes_in,
    cost_context_of,
    cuts_in,
    is_narrowed,
    names_in,
    problem_of,
    with_broadcasts,
)
from .schedule_from_plan import (
    PlanMismatch,
    answer_of,
    chunks_of_bound,
    description_faults,
    distributed_loops_of,
    iteration_faults,
    iteration_memory_faults,
    label_faults,
    program_faults,
    single_device_faults,
)

# ---------------------------------------------------------------------------------------------------- planning

ProblemFactory: TypeAlias = Callable[..., ProgramProblem]
"""The problem of a form of the program, given edges whose target needs the full operand, and the distributed loops."""


@dataclass(frozen=True, slots=True)
class PlannedProgram:
    """A verified plan, its problem and answer, and warnings about directives.  `floor`: a lower bound of the first objective over
    the plans within the deadline of the search."""

    plan: ExecutionPlan
    program: ProgramProblem
    answer: Answer
    diagnostics: tuple[Diagnostic, ...] = ()
    floor: int = 0


@dataclass(frozen=True, slots=True)
class SearchDeadline:
    """A deadline for the search alone, in nanoseconds.  The plan is one of the program without it, so its bound is that of
    `unconstrained`, the answer without the deadline."""

    ns: int
    unconstrained: Answer

    @property
    def line(self) -> SourceLine:
        """Its source line: the option of the command."""
        return SourceLine(0, f"--deadline {time_text(self.ns)}")

    def constrain(self, program: ProgramProblem) -> ProgramProblem:
        problem = program.problem
        deadline = Deadline(self.line, self.ns // problem.tick_ns)
        return replace(program, problem=replace(problem, directives=(*problem.directives, deadline)))

    def unconstrain(self, formed: BranchForm) -> BranchForm:
        problem, schedule = formed.program.problem, formed.answer.schedule
        if schedule is None:
            return formed
        remaining = tuple(one for one in problem.directives if one.line != self.line)
        program = replace(formed.program, problem=replace(problem, directives=remaining))
        free = self.unconstrained
        answer = replace(formed.answer, values=objective_values(program.problem, schedule), baselines=free.baselines)
        return BranchForm(program, replace(_bounded_by(free, answer), status=Status.GAP))


def texts_of(core: Core) -> tuple[PlannedFile, ...]:
    """The program's files: its own text first, then what it uses."""
    return tuple(PlannedFile(source.name, source.text) for source in core.sources)


def plan_program(
    core: Core,
    bound: BoundGraph,
    profile: Profile,
    *,
    objectives: Sequence[Objective] = (),
    budget: Budget = DEFAULT,
    planner: Planner | None = None,
    ticks_of: TicksOf | None = None,
    search_deadline: SearchDeadline | None = None,
    axes: Axes | None = None,
) -> PlannedProgram:
    """Plans a program with sizes: tries several planners, the most ambitious first, and returns the first plan that both
    verifiers accept.

    `objectives` go before those of its schedule blocks; `ticks_of`: ticks from elsewhere; `search_deadline`: a deadline for the
    search alone; `axes`: along which phases are cut, where that is not to be chosen.

    Raises Rejected: directives without a meaning or that cannot be obeyed.  Refused: SCH104.  RunFailed: E709, the solver was
    stopped."""
    warnings: tuple[Diagnostic, ...] = ()

    def build_problem(
        form: BoundGraph,
        unaligned: frozenset[tuple[int, int]] = frozenset(),
        distributed_loops: Mapping[PhaseId, DistributedLoop] | None = None,
    ) -> ProgramProblem:
        nonlocal warnings
        chunks = 1 if speculable_branches(bound.graph) else CHUNKS  # bounds of forms are compared
        built = problem_of(
            form, profile, unaligned=unaligned, ticks_of=ticks_of, distributed_loops=distributed_loops, chunks=chunks, axes=axes
        )
        program, warnings = with_directives(built, core, objectives, bound)
        return program if search_deadline is None else search_deadline.constrain(program)

    best = planner or (_best if axes is None else _along_given_axes)
    failures: list[StrategyFailure] = []
    formed: BranchForm | None = None
    with tolerate_failures("plan of every form", failures):
        formed = plan_forms(bound, build_problem, budget, best)
    attempts: list[tuple[str, Callable[[], BranchForm]]] = []
    if formed is not None:
        given_form = _with_baselines_of_one_pass(formed, bound, core, profile, objectives, ticks_of)
        if planner is None:
            attempts.append(
                ("loops together", lambda: _with_distributed_loops(given_form, bound, build_problem, profile, ticks_of, budget))
            )
        attempts.append(("plan", lambda: given_form))
    attempts.append(("plan without search", lambda: _without_search(build_problem(bound))))
    for name, attempt in attempts:
        with tolerate_failures(name, failures):
            planned = _planned(attempt(), core, bound, build_problem, budget, best, search_deadline)
            notes = (*planned.answer.failures, *map(str, failures))
            return replace(planned, diagnostics=(*warnings, *_failed(notes, core)))
    raise AssertionError("a plan that Rho made is wrong: " + "; ".join(map(str, failures[:4])))


def _with_baselines_of_one_pass(
    formed: BranchForm, bound: BoundGraph, core: Core, profile: Profile, objectives: Sequence[Objective], ticks_of: TicksOf | None
) -> BranchForm:
    """The form with baselines that make one pass where it makes two: one device does so."""
    places = [formed.program.phases[p].id for p in formed.answer.speculated]
    branches = [id for id in places if id in speculable_branches(bound.graph)]
    if len(branches) == len(places):
        return formed
    program = _undivided(bound, branches, core, profile, objectives, ticks_of)
    return formed if program is None else replace(formed, answer=replace(formed.answer, baselines=_baselines_of(program)))


def _undivided(
    bound: BoundGraph,
    branches: Sequence[PhaseId],
    core: Core,
    profile: Profile,
    objectives: Sequence[Objective],
    ticks_of: TicksOf | None = None,
) -> ProgramProblem | None:
    """The program in one pass, with these branches hoisted, along the axes that move the fewest bytes.

    None: directives refuse it."""
    program = problem_of(bound_in_form(bound, branches), profile, ticks_of=ticks_of).along()
    try:
        return with_directives(program, core, objectives, bound)[0]
    except Rejected:
        return None


def _baselines_of(program: ProgramProblem) -> tuple[Baseline, ...]:
    return tuple(Baseline(one.name, one.ticks) for one in baselines(Costs(ScheduleDecoder(program.problem))))


def _with_distributed_loops(
    formed: BranchForm,
    bound: BoundGraph,
    build_problem: ProblemFactory,
    profile: Profile,
    ticks_of: TicksOf | None,
    budget: Budget,
) -> BranchForm:
    """The form with distributed loops, if they make the plan better."""
    from ..search.portfolio import plan_objectives

    bare = replace(formed.program, problem=replace(formed.program.problem, chunks=formed.answer.chunks))
    context = cost_context_of(bare, profile, ticks_of)
    loops = distributable_loops(bare, context)
    if not loops and not speculable_branches(bound.graph) and not divisible_phases(bound.graph):
        return BranchForm(bare, formed.answer)
    forms = _every_form(bound, build_problem)
    every = [replace(form, problem=replace(form.problem, chunks=formed.answer.chunks)) for form in forms]
    program, answer = plan_distributed_loops(
        bare,
        formed.answer,
        context,
        lambda distributed_loops: build_problem(bare.bound, distributed_loops=distributed_loops).along(),
        budget,
        plan_objectives,
        every,
    )
    answer = replace(answer, speculated=formed.answer.speculated, every_axis=formed.answer.every_axis)
    return BranchForm(replace(program, shared_loops=loops), answer)


def _every_form(bound: BoundGraph, build_problem: Callable[[BoundGraph], ProgramProblem]) -> list[ProgramProblem]:
    """Every form of a program, along any axes; of its branches their relaxation where there are too many."""
    from ..search.axis_search import without_axes

    every: list[ProgramProblem] = []
    for divided, program in divided_forms(bound, build_problem):
        form = bound_in_form(bound, divided)
        if chosen := every_form(form):
            forms = (build_problem(bound_in_form(form, one)) for one in chosen)
            every += [replace(one, problem=without_axes(one.problem)) for one in forms]
        else:
            every.append(replace(program, problem=relaxed(form, build_problem)))
    return every


def _without_search(program: ProgramProblem) -> BranchForm:
    """The best baseline, in whole shards, without a bound."""
    program = program.along()
    program = replace(program, problem=replace(program.problem, chunks=1))
    costs = Costs(ScheduleDecoder(program.problem))
    compared = baselines(costs)
    schedules = [one.schedule for one in compared if one.schedule is not None]
    if not schedules:
        return BranchForm(program, Answer(Status.ABORTED, None, 0, (), BoundCertificate("none", 0)))
    schedule = min(schedules, key=lambda one: one.makespan)
    said = tuple(Baseline(one.name, one.ticks) for one in compared)
    return BranchForm(
        program, Answer(Status.GAP, schedule, 0, objective_values(program.problem, schedule), BoundCertificate("none", 0), said)
    )


def _planned(
    formed: BranchForm,
    core: Core,
    bound: BoundGraph,
    build_problem: ProblemFactory,
    budget: Budget,
    best: Planner,
    search_deadline: SearchDeadline | None = None,
) -> PlannedProgram:
    """The plan of an answer.  Raises AssertionError if a verifier rejects it."""
    if not formed.answer.is_usable:
        raise _without_plan(formed.answer, core, formed.program)
    if is_narrowed(formed.program):
        formed = replace(formed, answer=replace(formed.answer, every_axis=False))
    known, floor = formed.answer, formed.answer.lower_bound
    formed = formed if search_deadline is None else search_deadline.unconstrain(formed)
    program, answer = formed.program, formed.answer
    assert answer.schedule is not None
    texts = texts_of(core)
    plan = plan_of(program, answer, texts)
    faults = check_plan(plan, bound)
    if any(fault.code is Rule.V4 for fault in faults):
        places = frozenset((int(edge.source), int(edge.target)) for edge in program.problem.edges)
        program = build_problem(
            program.bound, places, {distributed.loop.id: distributed for distributed in program.distributed_loops.values()}
        ).along(program.problem.chosen)
        answer = replace(best(program.problem, budget), speculated=answer.speculated, baselines=known.baselines)
        if answer.schedule is None:
            raise _without_plan(replace(answer, status=Status.ABORTED), core, program)
        answer = _bounded_by(known, answer)  # plans without edges that need full operands may be better than these
        if search_deadline is not None:
            formed = search_deadline.unconstrain(BranchForm(program, answer))
            program, answer = formed.program, formed.answer
        plan = plan_of(program, answer, texts)
        faults = check_plan(plan, bound)
    if _excess(plan, program.problem):
        answer = _refitted(program, answer, known, best, budget)
        if answer.schedule is None:
            raise _without_plan(answer, core, program, _ASSEMBLED)
        plan = plan_of(program, answer, texts)
        faults = check_plan(plan, bound)
    wrong = [*map(str, faults), *_violations(program, answer)]
    if wrong:
        raise AssertionError("a plan that Rho made is wrong: " + "; ".join(wrong[:4]))
    return PlannedProgram(plan, program, answer, floor=floor)


MOST_TIGHTENED: Final = 5
_ASSEMBLED: Final = "operands that come in pieces are put together, which takes memory beside what is said here"


def _excess(plan: ExecutionPlan, problem: Problem) -> dict[str, int]:
    """By device, the bytes of a plan's peak above its limit.

    Searches count buffers and scratch, but not operands that a step assembles from several pieces (`plan_of`)."""
    peaks = dict(plan.main.peak)
    limited = zip(problem.device_names(), directive_constraints(problem).memory_limits, strict=True)
    over = {name: peaks.get(DeviceId(name), 0) - cap for name, cap in limited if cap is not None}
    return {name: size for name, size in over.items() if size > 0}


def _refitted(program: ProgramProblem, answer: Answer, known: Answer, best: Planner, budget: Budget) -> Answer:
    """An answer that fits in memory.  Searches again with assembled operands counted as scratch of their readers, then with
    limits lowered by the excess; else returns the best baseline that fits, or no schedule."""
    for next_problem in (_with_assembled, _with_less_memory):
        problem, refitted = program.problem, answer
        for _ in range(MOST_TIGHTENED):
            excess = _excess(plan_of(program, refitted), program.problem)
            if not excess:
                return _or_baseline(program, known, refitted)
            assert refitted.schedule is not None
            before, problem = problem, next_problem(problem, program, refitted.schedule, excess)
            if problem == before:
                break
            refitted = replace(best(problem, budget), speculated=answer.speculated, baselines=known.baselines)
            if refitted.schedule is None:
                break
    return _or_baseline(program, known, replace(known, status=Status.ABORTED, schedule=None, values=()))


def _or_baseline(program: ProgramProblem, known: Answer, answer: Answer) -> Answer:
    """The best baseline that fits, if it is better than the answer, else the answer; better ones that do not fit have no time."""
    unchunked, unfit = replace(program.problem, chunks=1), set[str]()
    for one in sorted(baselines(Costs(ScheduleDecoder(unchunked))), key=lambda one: one.ticks or 0):
        if one.schedule is not None:
            candidate = replace(known, schedule=one.schedule, values=objective_values(unchunked, one.schedule))
            if answer.schedule is not None and candidate.values >= answer.values:
                continue
            if not _excess(plan_of(program, candidate), program.problem):
                answer = candidate
                break
            unfit.add(one.name)
    table = tuple([replace(one, ticks=None) if one.name in unfit else one for one in known.baselines])
    answer = replace(answer, baselines=table)
    return answer if answer.schedule is None else _bounded_by(known, answer)


def _with_assembled(problem: Problem, program: ProgramProblem, schedule: Schedule, excess: Mapping[str, int]) -> Problem:
    sizes = assembled_operands(program, schedule)
    phases = (
        phase if phase.distributed is not None else replace(phase, scratch=max(phase.scratch, known.scratch + sizes.get(p, 0)))
        for p, (phase, known) in enumerate(zip(problem.phases, program.problem.phases, strict=True))
    )
    return replace(problem, phases=tuple(phases))


def _with_less_memory(problem: Problem, program: ProgramProblem, schedule: Schedule, excess: Mapping[str, int]) -> Problem:
    limits = dict(zip(problem.device_names(), directive_constraints(problem).memory_limits, strict=True))
    groups: list[DeviceGroup] = []
    for group in problem.devices:
        less = [(limits[name] or 0) - excess[name] for name in group.names() if name in excess]
        groups.append(replace(group, memory=max(0, min(less))) if less else group)
    return replace(problem, devices=tuple(groups))


def _bounded_by(known: Answer, answer: Answer) -> Answer:
    """The answer with the bound of `known`, which holds for as many chunks as `known` has; an answer with more chunks gets bound
    0."""
    if known.chunks < answer.chunks:
        return answer.bounded(BoundCertificate("none", 0))
    proof = replace(known.proof, lower_bound=known.lower_bound)
    return replace(answer.bounded(proof), chunks=known.chunks, every_axis=known.every_axis)


def _failed(failures: Sequence[str], core: Core) -> Iterator[Diagnostic]:
    """A warning for each planner stage that failed: the plan is valid, but a better one may exist."""
    if failures:
        span = core.schedules[0].span if core.schedules else Span(core.sources[0].name if core.sources else "", 0, 0)
        message = "a part of the planner failed and was left out; the plan is valid, but a better one may be missed"
        yield Diagnostic(Code.SCH303, message, span, Severity.WARNING, notes=tuple(failures[:4]))


def _best(problem: Problem, budget: Budget) -> Answer:
    from ..search.axis_search import plan_axes

    return plan_axes(problem, budget)


def _along_given_axes(problem: Problem, budget: Budget) -> Answer:
    from ..search.portfolio import plan_objectives

    return plan_objectives(problem.along(problem.chosen), budget)


def _violations(program: ProgramProblem, answer: Answer) -> list[str]:
    """The violations of a new answer with its inserted fences (those of stored plans are checked by `plan_checks`)."""
    sync = None if answer.schedule is None else synchronise(program.problem, answer.schedule)
    return [str(one) for one in verify(program.problem, answer, sync) if one.code is not Rule.V7]


# --------------------------------------------------------------------------------------- directives


def with_directives(
    program: ProgramProblem, core: Core, objectives: Sequence[Objective], bound: BoundGraph
) -> tuple[ProgramProblem, tuple[Diagnostic, ...]]:
    """The problem with what the program's schedule blocks ask for.  Rejected: SCH1xx, SCH2xx.

    Names refer to the graph `bound`; the problem's graph may have arms of branches as additional phases."""
    program = with_broadcasts(program, bound)
    if not core.schedules:
        return _with_objectives(program, objectives, ()), ()
    spans = {p: phase.span for p, phase in enumerate(bound.graph.phases)}
    place_of = {phase.id: PhaseIndex(p) for p, phase in enumerate(program.phases)}
    moved = [place_of[phase.id] for phase in bound.graph.phases]
    names = {name: [NamedPhase(moved[p], spans[p]) for p in places] for name, places in names_in(bound).items()}
    names |= {f"#{id}": [NamedPhase(p)] for id, p in place_of.items()}
    axes = {PhaseIndex(p): [one.cut.axis for one in cuts if one.cut is not None] for p, cuts in enumerate(program.options)}
    cut: dict[PhaseIndex, int] = {}
    arms = arms_by_branch(bound, program)
    main = core.sources[0] if core.sources else Source("<program>", "")
    texts = {source.name: source for source in core.sources}
    directives = list(program.problem.directives)
    asked: list[Objective] = []
    diagnostics: list[Diagnostic] = []
    for block in core.schedules:
        source = texts.get(block.span.file, main)
        resolved = resolve(block.directives, DirectiveScope(program.problem, names, axes), source)
        cut |= resolved.axes
        directives += with_arms(resolved.directives, arms)
        asked += resolved.objectives
        diagnostics += (*resolved.diagnostics, *_unspeculable(resolved.directives, bound, program, block.span.file))
        diagnostics += _overridden_objectives(block, resolved.objectives, objectives)
    if any(diagnostic.is_error for diagnostic in diagnostics):
        raise Rejected(diagnostics)
    directed = along_only(replace(program, problem=replace(program.problem, directives=tuple(directives))), cut)
    return _with_objectives(directed, objectives, asked), tuple(diagnostics)


def _unspeculable(directives: Sequence[Directive], bound: BoundGraph, program: ProgramProblem, file: str) -> Iterator[Diagnostic]:
    """Errors for `speculate` of a phase that is no select, or whose arms may not both run."""
    able = frozenset(speculable_branches(bound.graph))
    for directive in directives:
        if isinstance(directive, Speculate) and program.phases[directive.phase].id not in able:
            line = directive.line
            message = f"`{line.text}`: only a choice whose arms cannot fail or print, and make no sizes, can run both"
            yield Diagnostic(Code.SCH102, message, Span(file, line.start, line.end))


def _overridden_objectives(block: ScheduleBlock, asked: Sequence[Objective], first: Sequence[Objective]) -> Iterator[Diagnostic]:
    """Warnings for each `minimize` that the objectives of the caller override."""
    if not first or not asked or tuple(asked) == tuple(first):
        return
    for directive in block.directives:
        words = [word.text for word in directive.words if isinstance(word, DirectiveWord)]
        if words[:1] in (["minimize"], ["minimise"]):
            wanted = " ".join(objective.value for objective in first)
            message = f"`{' '.join(words)}` gives way to what was asked for: {wanted}"
            yield Diagnostic(Code.SCH204, message, directive.span, Severity.NOTE)


def _with_objectives(program: ProgramProblem, first: Sequence[Objective], asked: Sequence[Objective]) -> ProgramProblem:
    wanted = tuple(dict.fromkeys(first or asked)) or (Objective.LATENCY,)
    return replace(program, problem=replace(program.problem, objectives=wanted))


def _without_plan(answer: Answer, core: Core, program: ProgramProblem, *said: str) -> Rejected | RunFailed:
    """The error that says why there is no plan; `said`: additional facts to state."""
    span = core.schedules[0].span if core.schedules else Span(core.sources[0].name if core.sources else "", 0, 0)
    tick_ns = program.problem.tick_ns
    if answer.status is Status.ABORTED or answer.conflict is None:
        message, hint = "the planner was stopped before it had a plan", "search longer with `--budget SECONDS`"
        if any(directive.line.number for directive in program.problem.directives):
            message = "no plan that obeys all directives was found within the budget, nor a proof that there is none"
            hint += ", or ask for less"
        notes: tuple[str, ...] = (hint,)
        if any(isinstance(directive, Deadline) for directive in program.problem.directives):
            from ..exact.infeasibility import certified_bound

            narrow = _has_other_axes(program) and not answer.every_axis
            bounded = "certain is that none" + (" along the axes that were chosen" if narrow else "")
            notes = (f"{bounded} is shorter than {time_text(certified_bound(program.problem) * tick_ns)}", hint)
        return RunFailed([Diagnostic(Code.E709, message, span, notes=(*notes, *said))])
    if answer.conflict.phase is not None and not any(one.line.number for one in answer.conflict.directives):
        span = program.phases[answer.conflict.phase].span
    diagnostic = conflict_diagnostic(answer.conflict, span, tick_ns)
    diagnostic = replace(diagnostic, notes=(*diagnostic.notes, *said))
    if _has_other_axes(program) and not answer.every_axis and diagnostic.code in (Code.SCH103, Code.SCH106):
        diagnostic = replace(diagnostic, notes=(*diagnostic.notes,
            "this is so of plans along the axes that move the fewest bytes; the few others that were tried had no plan"))
    return Rejected([diagnostic])


def _has_other_axes(program: ProgramProblem) -> bool:
    """Could a phase be cut along another axis than the chosen one?"""
    return any(one.is_chosen for one in cuts_in(program))


_TICKS: Final = re.compile(r"(\d+) ticks( or fewer)?")


def _in_time(words: str, tick_ns: int) -> str:
    """The words with ticks converted to time."""
    return _TICKS.sub(lambda match: time_text(int(match[1]) * tick_ns) + (" or less" if match[2] else ""), words)


def conflict_diagnostic(conflict: Conflict, elsewhere: Span, tick_ns: int) -> Diagnostic:
    """The diagnostic of a conflict, located at the first source line of its facts."""
    lines = [directive.line for directive in conflict.directives]
    spans = [Span(elsewhere.file, line.start, line.end) for line in lines if line.start >= 0]
    said = [f"`{' '.join(line.text.split())}`" + (f" (line {line.number})" if line.number else "") for line in lines]
    message = "these cannot all hold: " + "; ".join((*said, *(_in_time(fact, tick_ns) for fact in conflict.facts)))
    labels = tuple(Label(span, "and this") for span in spans[1:])
    written = {line for line in lines if line.number}
    hint = conflict.hint or ("leave out one of these lines" if len(written) > 1 else "leave out this line" if written else "")
    notes = (_in_time(hint, tick_ns),) if hint else ()
    return Diagnostic(conflict.code, message, spans[0] if spans else elsewhere, labels=labels, notes=notes)


# ------------------------------------------------------------------------------------- stored plans


def require_current(plan: ExecutionPlan, core: Core, bound: BoundGraph, profile: Profile | None, where: str) -> None:
    """Raises Refused SCH301 if the plan is of another program, other sizes or another profile."""
    stale: list[str] = []
    said, texts = [file.text for file in plan.program], [source.text for source in core.sources]
    if said[:1] != texts[:1] or sorted(said) != sorted(texts):
        stale.append("it was made for another program text")
    sizes = {variable.name: number for variable, number in bound.sizes.items()}
    changed = [f"{name} is {sizes.get(name)} and was {number}" for name, number in plan.sizes if sizes.get(name) != number]
    if changed or len(sizes) != len(plan.sizes):
        stale.append("sizes differ: " + (", ".join(changed) or "their names"))
    if profile is not None and plan.profile != fingerprint(profile):
        stale.append("its device profile has another fingerprint")
    if stale:
        message = "the plan is out of date: " + "; ".join(stale)
        raise Refused([Diagnostic(Code.SCH301, message, Span(where, 0, 0), notes=("plan again with `rho plan … -o PLAN`",))])


def faults_of_stored(plan: ExecutionPlan, bound: BoundGraph, core: Core, profile: Profile | None) -> list[str]:
    """The faults that both verifiers find in a stored plan; without a profile, only faults that need none."""
    if len(plan.devices) == 1 and plan.prediction is None:
        return single_device_faults(plan, bound)
    bound = replace(bound, stores=stored_on(plan, bound))
    faults = list(map(str, check_plan(plan, bound))) or program_faults(plan, bound)
    if faults or profile is None:
        return faults or label_faults(plan, bound)
    form = bound_in_form(bound, plan.form)
    try:
        axes = axes_in(plan)
        bare = problem_of(form, profile, axes=axes).along()
        context = cost_context_of(bare, profile)
        distributed_loops = distributed_loops_of(plan, bare, context)
        compared, _ = with_directives(bare, core, _objectives(plan), bound)
        chunks = min(CHUNKS, chunks_of_bound(plan))
        built = problem_of(form, profile, distributed_loops=distributed_loops, chunks=chunks, axes=axes).along()
        program, _ = with_directives(built, core, _objectives(plan), bound)
        program = replace(program, shared_loops=distributable_loops(compared, context) if plan.space.dealt else ())
        answer = answer_of(plan, program)
        wrong = [*iteration_faults(distributed_loops), *_violations(program, answer)]
        if plan.divided:
            compared = _undivided(bound, plan.speculated, core, profile, _objectives(plan)) or compared
        return wrong or [*description_faults(plan, program, answer, compared), *iteration_memory_faults(distributed_loops)]
    except PlanMismatch as problem:
        return [f"V1: {problem}"]


def plan_is_reproved(plan: ExecutionPlan, bound: BoundGraph, core: Core, profile: Profile) -> bool:
    """Can the plan's bound, and its optimality, be derived again?"""
    from ..exact.z3_solver import SolverSteps
    from ..search.axis_search import bound_holds_along_all, derived_along_all
    from ..search.portfolio import STEPS, bound_is_confirmed, bound_is_reproved

    bound, axes = replace(bound, stores=stored_on(plan, bound)), axes_in(plan)

    def build_problem(form: BoundGraph) -> ProgramProblem:
        only = None if plan.space.every_axis else axes
        built = problem_of(form, profile, chunks=min(CHUNKS, chunks_of_bound(plan)), axes=only)
        return with_directives(built, core, _objectives(plan), bound)[0]

    def formed(chosen: tuple[PhaseId, ...]) -> ProgramProblem:
        return build_problem(bound_in_form(bound, chosen))

    program = formed(plan.form)
    every = _every_form(bound, build_problem)
    said = bound_with_distributed_loops(every, cost_context_of(program, profile))
    if said is not None:
        return plan.prediction is not None and plan.prediction.lower_bound <= max(said, 0)
    answer, along = answer_of(plan, program.along_axes(axes)), program.along_axes(axes).problem
    narrower = ((replace(along, chunks=1 if name == "whole" else answer.chunks), answer.proof.detail.get(name, 0))
                for name in ("axes", "whole"))  # fmt: skip
    if not all(bound_is_confirmed(problem, least, SolverSteps(STEPS)) for problem, least in narrower):
        return False
    if not bound_is_reproved(program.problem, answer, derive=derived_along_all):
        return False
    others: list[Problem] = []
    for divided, _ in divided_forms(bound, build_problem):
        form = bound_in_form(bound, divided)
        others += [formed((*one, *divided)).problem for one in every_form(form) if (*one, *divided) != plan.form]
        others += [] if every_form(form) else [relaxed(form, build_problem)]
    if program.problem.objectives[:1] != (Objective.LATENCY,):
        return not others or answer.lower_bound == 0
    return all(bound_holds_along_all(other, answer.lower_bound, SolverSteps(STEPS)) for other in others)


def _objectives(plan: ExecutionPlan) -> tuple[Objective, ...]:
    known = {objective.value: objective for objective in Objective}
    said = () if plan.prediction is None else plan.prediction.objectives
    return tuple(known[name] for name, _ in said if name in known)


# ---------------------------------------------------------------------------------------------------- Pareto fronts
#
# The Pareto front of a program's plans, latency against another objective; and the best plan within one deadline.
#
# Note [Epsilon constraint].  The ends of the front are the best plans by latency and by the other objective.  Between two
# neighbours lies a rectangle of undecided points; the largest is searched next, by minimising the other objective with the
# latency limited to the geometric mean of theirs.  Each point is a plan that both verifiers accept; dominated points are dropped.
# A search with a deadline also certifies a floor, a lower bound of the other objective within that deadline.

@dataclass(frozen=True, slots=True)
class ParetoPoint:
    """A plan, its latency in nanoseconds and its value of the other objective."""

    planned: PlannedProgram
    ns: int
    value: int


@dataclass(frozen=True, slots=True)
class ParetoFront:
    """`points` by latency, the other objective falling; `floors`: (nanoseconds, lower bound of the other objective within that
    time).  `lower_bound_ns`: of latency; `smallest_space_plan`: a plan whose space is contained in the spaces of all bounds."""

    objective: Objective
    points: tuple[ParetoPoint, ...]
    floors: tuple[tuple[int, int], ...]
    lower_bound_ns: int
    smallest_space_plan: ExecutionPlan

    def chosen(self, weights: Mapping[Objective, float]) -> ParetoPoint:
        """The point with the least weighted sum of seconds and the other objective in its unit (`unit_of`)."""
        return min(self.points, key=lambda point: (self.cost(point.ns, point.value, weights), point.ns))

    def cost(self, ns: int, value: int, weights: Mapping[Objective, float]) -> float:
        unit = 1e-3 if self.objective is Objective.ENERGY else 1.0
        return weights.get(Objective.LATENCY, 0.0) * ns * 1e-9 + weights.get(self.objective, 0.0) * value * unit


def pareto_front_of(
    core: Core, bound: BoundGraph, profile: Profile, objective: Objective, *, count: int = 8, budget: Budget = DEFAULT
) -> ParetoFront:  # fmt: skip
    """At most `count` plans.  See Note [Epsilon constraint].  Raises as `plan_program`."""
    def planned(first: Objective, second: Objective, search_deadline: SearchDeadline | None = None) -> PlannedProgram:
        return plan_program(core, bound, profile, objectives=(first, second), budget=budget, search_deadline=search_deadline)

    quickest = planned(Objective.LATENCY, objective)
    cheapest = planned(objective, Objective.LATENCY)
    tick_ns = quickest.plan.tick_ns
    points = [_pareto_point(quickest, objective), _pareto_point(cheapest, objective)]
    floors, bounded = {points[1].ns: cheapest.floor}, [quickest.plan, cheapest.plan]
    asked: set[int] = set()
    while len(asked) + 2 < count:
        deadline = _next_deadline(_undominated(points), asked, tick_ns)
        if deadline is None:
            break
        asked.add(deadline)
        try:
            more = planned(objective, Objective.LATENCY, SearchDeadline(deadline, cheapest.answer))
        except RhoError:  # none was found within the budget
            continue
        points.append(_pareto_point(more, objective))
        floors[deadline] = more.floor
        bounded.append(more.plan)
    narrowest = min(bounded, key=lambda plan: (plan.space.chunks, len(plan.space.dealt)))
    return ParetoFront(
        objective, _undominated(points), tuple(_undominated_floors(floors)), quickest.answer.lower_bound * tick_ns, narrowest
    )


def _pareto_point(planned: PlannedProgram, objective: Objective) -> ParetoPoint:
    schedule = planned.answer.schedule
    assert schedule is not None
    problem = planned.program.problem
    return ParetoPoint(planned, schedule.makespan * problem.tick_ns, objective_value(problem, schedule, objective))


def _undominated(points: Sequence[ParetoPoint]) -> tuple[ParetoPoint, ...]:
    """The undominated points by latency, each better in the other objective than all before it."""
    undominated: list[ParetoPoint] = []
    for point in sorted(points, key=lambda one: (one.ns, one.value)):
        if not undominated or point.value < undominated[-1].value:
            undominated.append(point)
    return tuple(undominated)


def _next_deadline(points: Sequence[ParetoPoint], asked: set[int], tick_ns: int) -> int | None:
    """The deadline for the largest undecided rectangle in which some tick has not been searched."""
    pairs = sorted(pairwise(points), key=lambda pair: (pair[0].ns - pair[1].ns) * (pair[0].value - pair[1].value))
    for first, last in pairs:
        deadline = isqrt(first.ns * last.ns) // tick_ns * tick_ns
        if first.ns <= deadline < last.ns and deadline not in asked and last.value + 1 < first.value:
            return deadline
    return None


def _undominated_floors(floors: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """The undominated floors: a floor holds for every earlier deadline too."""
    falling: list[tuple[int, int]] = []
    for ns in sorted(floors, reverse=True):
        if floors[ns] > (falling[-1][1] if falling else 0):
            falling.append((ns, floors[ns]))
    yield from reversed(falling)


def plan_within_deadline(
    core: Core, bound: BoundGraph, profile: Profile, ns: int, *, objectives: Sequence[Objective] = (), budget: Budget = DEFAULT
) -> PlannedProgram:  # fmt: skip
    """The best plan that ends within `ns` nanoseconds.  Raises as `plan_program`; Rejected SCH106 if there is none."""
    free = plan_program(core, bound, profile, objectives=objectives, budget=budget)
    schedule = free.answer.schedule
    if schedule is not None and schedule.makespan * free.program.problem.tick_ns <= ns:
        return free
    soon = plan_program(
        core, bound, profile, objectives=objectives, budget=budget, search_deadline=SearchDeadline(ns, free.answer)
    )
    objective, value = soon.program.problem.objectives[0], soon.answer.values[0]
    if soon.floor >= value:
        said = f"no {plans_text(soon.plan)} that ends within {time_text(ns)} is better"
    else:
        floor = amount(objective.value, soon.floor, soon.plan.tick_ns)
        said = f"no {plans_text(soon.plan)} that ends within {time_text(ns)} is below {floor}"
    span = Span(core.sources[0].name if core.sources else "", 0, 0)
    return replace(soon, diagnostics=(*soon.diagnostics, Diagnostic(Code.SCH302, said, span, Severity.NOTE)))


# ---------------------------------------------------------------------------------------------------- check of schedule blocks
#
# Errors in the schedule blocks of a program that is only checked: it has no sizes and possibly no devices.
#
# Directives are resolved as for planning, on a problem with one phase per name and the data flow of the core.  Without devices:
# orders that contradict each other or the data (SCH101, SCH102).  With a profile: unknown devices and classes (SCH107, SCH201,
# SCH202), input and output off home (SCH105), a phase on two devices (SCH101).  Errors that depend on sizes and times are left to
# planning.

ONCE = Ticks(((1, 1),))


def check_blocks(core: Core, profile: Profile | None = None) -> tuple[Diagnostic, ...]:
    """Errors and warnings in the schedule blocks of an accepted program, whose names the checker has resolved."""
    if not core.schedules:
        return ()
    names = _names(core)
    groups = _mentioned_devices(core, names) if profile is None else to_devices(profile)[0]
    problem = _problem(core, names, groups)
    scope = DirectiveScope(problem, {name: [NamedPhase(PhaseIndex(p))] for p, name in enumerate(names)})
    texts = {source.name: source for source in core.sources}
    diagnostics: list[Diagnostic] = []
    directives: list[Directive] = []
    for block in core.schedules:
        known = [words for words in block.directives if not _needs_phases(words)]
        resolved = resolve(known, scope, texts.get(block.span.file, Source(block.span.file, "")))
        directives += resolved.directives
        diagnostics += resolved.diagnostics if profile is not None else ()
    if any(diagnostic.is_error for diagnostic in diagnostics):
        return tuple(diagnostics)
    asked = Problem(problem.devices, (), problem.phases, problem.edges, tuple(directives))
    conflict = order_conflict(asked) or (None if profile is None else placement_conflict(asked))
    if conflict is not None:
        diagnostics.append(conflict_diagnostic(conflict, core.schedules[0].span, 1))
    return tuple(diagnostics)


def _needs_phases(words: Words) -> bool:
    """Does a directive speak of axes or numbers of phases, which a program without sizes does not have?"""
    texts = [word.text for word in words.words if isinstance(word, DirectiveWord)]
    return texts[:1] == ["cut"] or any(NUMBERED.fullmatch(text) for text in texts)


def _names(core: Core) -> list[str]:
    """The names of values, and of the phases that print them."""
    printed = [op.arg for op in core.block.ops if isinstance(op, CorePrint)]
    named = list(dict.fromkeys(core.names.values()))
    return [*named, *dict.fromkeys(f"{PRINT} {core.names[arg]}" for arg in printed if arg in core.names), PRINT]


def _problem(core: Core, names: Sequence[str], groups: Sequence[DeviceGroup]) -> Problem:
    """A problem with a phase for each name, of one row that every device can run, and an edge for each dependence of data."""
    index_of = {name: PhaseIndex(at) for at, name in enumerate(names)}
    inputs = {entry.name for entry in core.inputs}
    ticks = {group.kind: ONCE for group in groups}
    phases = tuple(
        PhaseTask(name, ticks, rows=2, home=name in inputs or name.partition(" ")[0] == PRINT) for name in names
    )  # fmt: skip
    edges = [Edge(index_of[source], index_of[target]) for target, needed in _flow(core).items() for source in needed]
    edges += [Edge(index_of[one], index_of[f"{PRINT} {one}"]) for one in names if f"{PRINT} {one}" in index_of]
    return Problem(tuple(groups), (), phases, tuple(edges))


def _flow(core: Core) -> dict[str, list[str]]:
    """By the name of each value, the nearest named values that it is computed from."""
    of: dict[ValueId, list[str]] = {}
    predecessors: dict[str, list[str]] = {}
    for op in core.block.ops:
        read = (*operands_of(op), *(value for block in blocks_of(op) for value in captured(block)))
        needed = list(dict.fromkeys(name for value in read for name in _known(value, core, of)))
        for result in results_of(op):
            of[result] = needed
            if (name := core.names.get(result)) is not None:
                predecessors[name] = [one for one in needed if one != name]
    return predecessors


def _known(value: ValueId, core: Core, of: Mapping[ValueId, list[str]]) -> list[str]:
    return [core.names[value]] if value in core.names else of.get(value, [])


class _PhaseNameReader(DirectiveReader[str]):
    def phase(self, word: DirectiveWord) -> str:
        return word.text


def devices_mentioned(block: ScheduleBlock, names: Sequence[str] = ()) -> Iterator[str]:
    """The devices, ranges and classes of the directives of a block that are well formed; `names`: of phases."""
    reader = _PhaseNameReader(frozenset(names))
    for words in block.directives:
        reader.read(words)
    yield from (word.text for one in reader.resolved for word in one.devices)


def _mentioned_devices(core: Core, names: Sequence[str]) -> tuple[DeviceGroup, ...]:
    """The devices that the blocks mention, as if they existed."""
    count: dict[str, int] = {"cpu0": 1}
    for word in (word for block in core.schedules for word in devices_mentioned(block, names)):
        base, _, numbers = word.partition("[")
        last = numbers.removesuffix("]").rpartition("..")[2]
        most = int(last) + 1 if last.isascii() and last.isdigit() and len(last) < 5 else 1
        count[base] = max(count.get(base, 1), most)
    return tuple(DeviceGroup(name, name, number, home=index == 0) for index, (name, number) in enumerate(count.items()))
