"""Refuses programs before they run: a planned peak above the memory, or work that cannot be done in the time limit.

A refusal names the three largest buffers, at the expressions that compute them, and for each size the largest number that would
fit.  Bisection finds that number by planning again, since the peak grows with every size.

Note [The rate].  A time limit is checked at 10¹¹ operations a second on each core, which no processor exceeds on 64-bit numbers,
so that a refused program could not have ended in time.  `shell.execution.running` stops a run that takes longer than its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Never

from ...backend.graph import traverse
from ...backend.graph.bind_sizes import BoundGraph, bind
from ...backend.graph.lowering.blocks import lower
from ...backend.graph.passes.pipeline import optimise, optimise_with_sizes
from ...backend.graph.phases import Input, LibraryPhase, Loop, Output, PhaseId, Structured, ValueId
from ...backend.graph.symbolic_costs import cost_of, graph_cost
from ...backend.schedule.plan.plan import BranchStep, Buffer, CellsStep, ExecutionPlan, LoopStep, Role, SubPlan
from ...backend.schedule.program_facts.scratch_memory import Numbers, workspace
from ...backend.schedule.single_device import Detail, plan_one_device
from ...lang.diagnostics.model import Code, Diagnostic, Label, Refused
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Source, Span, line_text
from ...typechecker.core.operations import Core
from ...typechecker.diagnostics import show_type
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import Size, SizeVariable, variable
from . import stored_plans

if TYPE_CHECKING:
    from ...backend.schedule.streams.pass_partitioning import CannotStream

OPERATIONS_A_SECOND: Final = 10**11
"""The assumed operations a second on each core; see Note [The rate]."""
_MOST_BUFFERS: Final = 3
_MOST_TRIED: Final = 64
"""The most numbers below a fitting size that are tried until the program's guards accept one."""
_MOST_CHARACTERS: Final = 40
_STORED: Final = "with inputs in .npy files of their types"
_TEXT_SHARE: Final = 4
"""The bytes that reading an array of characters takes in addition to the array, for each of its bytes."""


@dataclass(frozen=True, slots=True)
class PlanCandidate:
    """A planned program that may be too large; `sources` are its texts, `outputs` the files of outputs by name."""

    core: Core
    bound: BoundGraph
    sources: Mapping[str, Source]
    main: Source
    outputs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FileMemory:
    """The most bytes that reading or writing one file takes in addition to its array; `is_written`: writing a file takes them."""

    bytes: int = 0
    which: str = ""
    is_written: bool = False


def exceeded_memory(plan: ExecutionPlan, limit: int | None, files: FileMemory = FileMemory()) -> int | None:  # noqa: B008
    """The available bytes (`limit`, else this machine's), if the planned peak with `files` exceeds them; else None."""
    allowed = stored_plans.memory() if limit is None else limit
    return None if _peak(plan) + files.bytes <= allowed or (limit is None and not allowed) else allowed


def refuse_memory(
    candidate: PlanCandidate, plan: ExecutionPlan, limit: int | None, files: FileMemory, streams: CannotStream | None = None, *,
    advice: tuple[str, ...] = (),
) -> Never:  # fmt: skip
    """Raise Refused E702 with the largest buffers, sizes that would fit, the phase that prevents a plan in tiles, and advice."""
    allowed = stored_plans.memory() if limit is None else limit
    need = _peak(plan) + files.bytes
    has = f"this machine has {_exact(allowed)}" if limit is None else f"the limit is {_exact(allowed)}"
    full = plan_one_device(candidate.bound, plan.devices[0], detail=Detail.FULL)
    labels = [*_largest_buffers(candidate, full)]
    of_files = [f"of these {_exact(files.bytes)} are for {files.which}"] if files.bytes else []
    fitting = _fitting_in_memory(candidate, files, allowed)
    tiles = [_streams_note(candidate, streams)] if streams is not None and streams.why else []
    in_memory = "with all of its values in memory"
    held = [f"{in_memory}{' and ' if note.startswith(_STORED) else ', '}{note}" for note in fitting] if tiles else fitting
    notes = [*of_files, *_sizes_note(candidate), *_counts_note(candidate), *held, *tiles, *advice]
    message = f"this program needs {_exact(need)} at once{f' {in_memory}' if tiles else ''}, and {has}"
    span, label = (labels[0].span, labels[0].message) if labels else (Span(candidate.main.name, 0, 0), "")
    raise Refused([Diagnostic(Code.E702, message, span, label=label, labels=tuple(labels[1:]), notes=tuple(notes))])


def sufficient_memory(tiles: Callable[[int], object], limit: int, plan: ExecutionPlan, files: FileMemory) -> str:
    """A note with a round limit within which the program runs: the least above `limit` for which `tiles` plans it (it raises
    CannotStream), else what it needs in memory.  Below a megabyte tiles would have few rows."""
    from ...backend.schedule.streams.pass_partitioning import CannotStream

    need = _peak(plan) + files.bytes
    limits = [one for one in _round_numbers(need) if one > max(limit, min(need, _LEAST_NAMED) - 1)]

    def fits(which: int) -> bool:
        if limits[which] >= need:
            return True
        try:
            tiles(limits[which])
        except (CannotStream, Refused):
            return False
        return True

    first = 0 if fits(0) else len(limits) - 1 - _bisect(lambda back: fits(len(limits) - 1 - back), 0, len(limits) - 1)
    in_memory = ", with all of its values in memory" * (limits[first] >= need)
    return f"`--max-memory {_short(limits[first])}` would do{in_memory}"


_LEAST_NAMED: Final = 1_000_000
_MANTISSAS: Final = (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)


def _round_numbers(most: int) -> Iterator[int]:
    """Round numbers up to the first that is at least `most`."""
    power = 1
    while True:
        for mantissa in _MANTISSAS:
            yield mantissa * power
            if mantissa * power >= most:
                return
        power *= 10


def _short(count: int) -> str:
    """A round number of bytes: `15MB`, `1200kB`."""
    unit, size = next((unit, size) for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 1000), ("B", 1)) if count % size == 0)
    return f"{count // size}{unit}"


def _streams_note(candidate: PlanCandidate, streams: CannotStream) -> str:
    """The note on the phase that prevents streaming: ``it cannot stream from its files: `⍋x` needs all of its argument at
    once``."""
    phase = streams.phase
    is_output = isinstance(phase, Output) and any(entry.name == phase.name for entry in candidate.core.outputs)  # not a stage's
    shown = f"output {phase.name}" if isinstance(phase, Output) and is_output else _text(candidate, phase.span)
    advice = _file_advice(candidate, phase.name) if isinstance(phase, Output) and is_output else ""
    line = line_text(phase.span, candidate.main, candidate.sources)
    return f"it cannot stream from its files: `{shown}`{f' ({line})' * bool(line)} {streams.why}{advice}"


def _file_advice(candidate: PlanCandidate, name: str) -> str:
    """The advice how to write an output tile by tile; empty if its file allows that."""
    (entry,) = [entry for entry in candidate.core.outputs if entry.name == name]
    path, type = candidate.outputs.get(name, ""), candidate.core.types[entry.value]
    from ...backend.io.writing import endings_in_order, sink_type  # imports NumPy

    sink = sink_type(path, type.element.kind, entry.reading)
    if sink is not None and sink.any_axis:
        return ""
    if sink is None and entry.reading.pattern:
        return "; without its format (`as`) it could be written as it comes"
    advice, endings = f"; write it with `--out {name}=FILE.npy`", endings_in_order(type.element.kind, len(type.shape))
    if not endings or sink is not None:
        return advice
    return f"{advice}; where its rows come in order FILE may also end in {', '.join(endings)}"


def check_time(candidate: PlanCandidate, seconds: float | None) -> None:
    """Raise Refused E709 if the work cannot be done in so many seconds; see Note [The rate]."""
    if seconds is None:
        return
    rate = OPERATIONS_A_SECOND * stored_plans.cores()
    work = _work(candidate.bound)
    allowed = int(seconds * rate)
    if work <= allowed:
        return
    phases = [*traverse.all_phases(candidate.bound.graph)]
    span = phases[0].span if len(phases) == 1 else Span(candidate.main.name, 0, 0)
    notes = (
        f"at 10¹¹ operations a second on each of {stored_plans.cores()} cores that is {work / rate:,.3g} seconds",
        *_sizes_note(candidate),
        *_early_note(candidate.bound),
        *_fitting_sizes(candidate, _work, allowed),
    )
    message = f"this program may do {work:,} operations, too many for the {seconds:g} seconds it is given"
    raise Refused([Diagnostic(Code.E709, message, span, notes=notes)])


def _early_note(bound: BoundGraph) -> list[str]:
    """The note on how loops with a condition are counted; empty if there are none."""
    may_stop = any(isinstance(phase, Loop) and phase.until is not None for phase in traverse.all_phases(bound.graph))
    return ["a loop that may stop early is counted with its bound: `f⍣(n ⋄ p)` with a lower n may fit"] if may_stop else []


def _peak(plan: ExecutionPlan) -> int:
    return max((count for _, count in plan.main.peak), default=0)


def _planned_peak(bound: BoundGraph) -> int:
    return _peak(plan_one_device(bound, detail=Detail.STEPS))


def _work(bound: BoundGraph) -> int:
    return graph_cost(bound.graph).total().evaluate({})


def _exact(count: int) -> str:
    """`15.3 MB (15,278,592 bytes)`."""
    from ...backend.schedule.plan.plan_text import bytes_text

    return f"{bytes_text(count)} ({count:,} bytes)" if count >= 1000 else f"{count} bytes"


# -------------------------------------------------------------------------------- the largest buffers


def _largest_buffers(candidate: PlanCandidate, plan: ExecutionPlan) -> Iterator[Label]:
    """Labels at the expressions that compute the largest buffers, one for each span."""
    graph, symbolic = candidate.bound.graph, replace(optimise(lower(candidate.core)), guards=())
    known = bind(symbolic, candidate.bound.sizes).graph.types
    phases = {phase.id: phase for phase in traverse.all_phases(graph)}
    producers = {value: phase for phase in phases.values() for value in traverse.results(phase)}

    def type_of(value: ValueId) -> ArrayType:
        """The type with names for sizes if the symbolic graph has the value too, else with numbers."""
        return symbolic.types[value] if known.get(value) == graph.types[value] else graph.types[value]

    spans: dict[Span, str] = {}
    count = 0
    for buffer in sorted(_buffers(plan.main), key=lambda b: -b.bytes):
        phase = producers.get(buffer.value)
        if phase is None or count == _MOST_BUFFERS:
            continue
        count += 1
        shown = graph.names.get(buffer.value) or _text(candidate, phase.span)
        text = f"`{shown}` : {show_type(type_of(buffer.value))}, {_exact(buffer.bytes)}"
        spans[phase.span] = f"{spans[phase.span]}; {text}" if phase.span in spans else text
    phase_id, needed = _work_space(candidate.bound)
    if phase_id is not None and needed > max((b.bytes for b in _buffers(plan.main)), default=0):
        span = phases[phase_id].span
        text = f"work space of `{_text(candidate, span)}`, {_exact(needed)}"
        spans = {span: f"{text}; {spans[span]}" if span in spans else text, **{s: t for s, t in spans.items() if s != span}}
    for span, text in spans.items():
        yield Label(span, text)


def _work_space(bound: BoundGraph) -> tuple[PhaseId | None, int]:
    """The phase with the most scratch memory, and its bytes."""
    number, most, which = Numbers().cap, 0, None
    for phase in traverse.all_phases(bound.graph):
        if isinstance(phase, Structured):
            needed = workspace(phase, number)
        else:
            needed = number(cost_of(phase, bound.graph.types).scratch) if isinstance(phase, LibraryPhase) else 0
        if needed > most:
            most, which = needed, phase.id
    return which, most


def _buffers(plan: SubPlan) -> Iterator[Buffer]:
    """The buffers of a plan and of the bodies in it, without views."""
    yield from (b for b in plan.buffers if b.role is not Role.ALIAS)
    for queue in plan.queues:
        for step in queue.steps:
            match step:
                case LoopStep() | CellsStep():
                    yield from _buffers(step.body)
                case BranchStep():
                    yield from _buffers(step.then)
                    yield from _buffers(step.otherwise)
                case _:
                    pass


def _text(candidate: PlanCandidate, span: Span) -> str:
    """The program's text at a span, in one line."""
    source = candidate.sources.get(span.file)
    text = " ".join(source.text[span.start : span.end].split()) if source is not None else ""
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + "…"


# ------------------------------------------------------------------------------------ sizes that fit


def _sizes_note(candidate: PlanCandidate) -> list[str]:
    """A note with the program's sizes, if it has any."""
    sizes = ", ".join(f"{v.name}={n}" for v, n in sorted(candidate.bound.sizes.items(), key=lambda item: item[0].id))
    return [f"with {sizes}"] if sizes else []


def _counts_note(candidate: PlanCandidate) -> list[str]:
    """The advice to limit a count, if the result of an op has a cell for each pair, as in a table of groups."""
    core = candidate.core
    pairs = {
        tuple(sorted(counts, key=lambda v: v.id))
        for type in core.types.values()
        for counts in [{v for size in type.shape for v in size.variables() if v.is_runtime}]
        if len(counts) > 1 and all(candidate.bound.sizes.get(v) is None for v in counts)
    }
    named: dict[Size, tuple[str, Span]] = {}
    for value, name in core.names.items():
        for size in core.types[value].shape[:1]:
            named.setdefault(size, (name, core.spans[value]))
    for counts in sorted(pairs, key=lambda pair: [v.id for v in pair]):
        known = [named[variable(v)] for v in counts if variable(v) in named]
        if known:
            shown, (first, span) = " × ".join(f"`≢{name}`" for name, _ in known), known[0]
            limit = f"if `≢{first}` is at most 50, write `50⌊≢{first}` where it gives a length"
            if _text(candidate, span) == (words := "set.classes"):
                limit = f"if `≢{first}` is at most 50, make it by `50 {words}_within …`"
                limit += "; `group.pairs` numbers the pairs that occur"
            return [f"there is room for {shown} cells, each as many as the data may have: {limit}"]
    return []


def _fitting_sizes(candidate: PlanCandidate, need: Callable[[BoundGraph], int], allowed: int) -> list[str]:
    """A note with the largest number that would fit for each size, the others unchanged; none if no number fits."""
    graph = replace(optimise(lower(candidate.core)), guards=())
    suggestions = []
    for which, value in sorted(candidate.bound.sizes.items(), key=lambda item: item[0].id):

        def fits(number: int, which: SizeVariable = which) -> bool:
            return need(optimise_with_sizes(bind(graph, {**candidate.bound.sizes, which: number}))) <= allowed

        if value > 1 and fits(1):
            most = _accepted_by_guards(candidate, which, _bisect(fits, 1, value))
            suggestions += [] if most is None else [f"at most {which.name}≤{most} would fit"]
    if not suggestions:
        return []
    return [", or ".join(suggestions)]


def _fitting_in_memory(candidate: PlanCandidate, files: FileMemory, allowed: int) -> list[str]:
    """A note with sizes that fit in memory.

    Files of fewer rows take less memory, so the sizes are lower bounds; if reading the files takes more than all memory, they are
    the sizes that fit from .npy files.
    """
    fitting = _fitting_sizes(candidate, lambda bound: _planned_peak(bound) + files.bytes, allowed)
    if not files.bytes:
        return fitting
    if fitting:
        return [f"{note.replace('at most ', '')}; more may, as smaller files take less" for note in fitting]
    if files.is_written:
        return []
    if _peak_from_arrays(candidate.bound) <= allowed:
        return [f"{_STORED} it would fit"]
    return [f"{_STORED} {note.replace('at most ', '')}" for note in _fitting_sizes(candidate, _peak_from_arrays, allowed)]


def _peak_from_arrays(bound: BoundGraph) -> int:
    """The planned peak if inputs came from .npy files: numbers are memory-mapped, characters are not."""
    numbers, types = Numbers(), bound.graph.types
    values = [phase.result for phase in bound.graph.phases if isinstance(phase, Input)]
    texts = [numbers.bytes(types[value]) for value in values if types[value].element.kind is Kind.CHAR]
    return _planned_peak(bound) + _TEXT_SHARE * max(texts, default=0)


def _bisect(fits: Callable[[int], bool], low: int, high: int) -> int:
    """The largest number that fits, if `low` fits and `high` does not."""
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


def _accepted_by_guards(candidate: PlanCandidate, which: SizeVariable, most: int) -> int | None:
    """The largest number up to `most` that the program's guards accept; None if there is none near."""
    sizes = candidate.bound.sizes
    facts = [guard.fact for guard in candidate.core.guards]
    facts = [fact for fact in facts if all(v in sizes for v in fact.left.variables() | fact.right.variables())]
    for number in range(most, max(0, most - _MOST_TRIED), -1):
        if all(fact.holds({**sizes, which: number}) for fact in facts):
            return number
    return None
