"""Costs of programs: formulas in their sizes (work, span, bytes moved, memory) for `rho type --cost` and `rho plan`, estimated
running times as text (`~0.3 ms`), types and quantities of checked programs, and measured runs (`run_measured`, for `rho run
--analyze`).

At most headers of data are read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ...lang.diagnostics.model import RhoError
from ...lang.diagnostics.render import range_json
from ...lang.support.records import dataclass, replace
from ...typechecker.core.operations import Core
from ...typechecker.sizes.polynomials import Size, SizeOrigin, SizeVariable, show_short_formula
from ...typechecker.sizes.size import upper_bound
from ..execution.modules import bind_header_sizes
from ..pipeline_types import Checked, LoadedProgram

if TYPE_CHECKING:
    from ...backend.devices.profile import DeviceProfile, Profile
    from ...backend.graph.bind_sizes import BoundGraph
    from ...backend.graph.phases import Graph
    from ...backend.graph.symbolic_costs import CriticalPath
    from ...backend.vm.run_state import Observer
    from ...typechecker.check import CheckResult
    from ..execution.run_request import Outcome


_LINE_NAMES: Final = ("work", "span", "reads", "writes")


@dataclass(frozen=True, slots=True)
class CostReport:
    """Costs as formulas in the sizes of inputs and params; a runtime size counts as its upper bound.

    `work` and `operations` (by cost class) are numbers of operations, `span` is the operations on the critical path, `bytes_read`
    and `bytes_written` are bytes, `memory` is an upper bound of the bytes live at once, including inputs and results, while the
    program runs as written: passes that need numbers may change which values are stored.
    """

    operations: Mapping[str, Size]
    work: Size
    span: CriticalPath
    bytes_read: Size
    bytes_written: Size
    memory: Size
    graph: Graph

    def formulas(self) -> dict[str, Size | CriticalPath]:
        return {"work": self.work, "span": self.span, "bytes_read": self.bytes_read, "bytes_written": self.bytes_written,
                "memory": self.memory}  # fmt: skip

    def numbers(self, sizes: Mapping[SizeVariable, int]) -> dict[str, int]:
        """The costs for these sizes, memory after the passes that need them.  Refused: the program does not take these sizes."""
        peak = upper_bound(_peak(_with_sizes(self.graph, sizes).graph)).evaluate({})
        return {name: formula.evaluate(sizes) for name, formula in self.formulas().items()} | {"memory": peak}

    def lines(
        self, sizes: Mapping[SizeVariable, int] | None = None, peak: int = 0, regrouped: Graph | None = None
    ) -> list[str]:
        """The costs as lines of text, with numbers if `sizes` are given.

        With numbers, memory is the plan's `peak`, since numbers may change which phases are fused.  `regrouped` is the graph for
        these sizes if a pass changed the order of its products; the formulas are for the order as written.
        """
        regrouped_numbers = {} if regrouped is None else _line_numbers(regrouped)
        kinds = [f"{show_short_formula(count)} {kind}" for kind, count in self.operations.items()]
        several = f" ({', '.join(kinds)})" if len(kinds) > 1 or (kinds and self.work.constant is None) else ""
        rows = (
            (_LINE_NAMES[0], self.work, "operations", several if len(kinds) != 1 else f" ({', '.join(self.operations)})"),
            (_LINE_NAMES[1], self.span, "dependent steps", ""),
            (_LINE_NAMES[2], self.bytes_read, "bytes", ""),
            (_LINE_NAMES[3], self.bytes_written, "bytes", ""),
        )
        lines = []
        for name, formula, unit, more in rows:
            line = f"{name:<8}{_with_number(formula, sizes)} {unit}{more}"
            known, other = formula.evaluate(sizes or {}) if regrouped_numbers else 0, regrouped_numbers.get(name, 0)
            lines.append(line + (f" as written, {other:,} as regrouped" if known != other else ""))
        memory = f"{_with_number(self.memory, None)} bytes as written"
        if sizes is not None:
            memory = f"{peak:,}" if self.memory.constant is not None else f"{memory}; for these sizes {peak:,}"
            memory += " bytes at most"
        return [*lines, f"memory  {memory}"]

    def json(self) -> dict[str, Any]:
        operations = {kind: str(count) for kind, count in self.operations.items()}
        return {name: str(formula) for name, formula in self.formulas().items()} | {"operations": operations}


def _line_numbers(graph: Graph) -> dict[str, int]:
    """The costs of a graph with known sizes, by the names of the lines."""
    from ...backend.graph.symbolic_costs import graph_cost, graph_span

    cost = graph_cost(graph)
    numbers = (cost.total().evaluate({}), graph_span(graph).evaluate({}), cost.read.evaluate({}), cost.written.evaluate({}))
    return dict(zip(_LINE_NAMES, numbers, strict=True))


def _with_number(formula: Size | CriticalPath, sizes: Mapping[SizeVariable, int] | None) -> str:
    from ...backend.graph.symbolic_costs import CriticalPath

    text = show_short_formula(formula.size if isinstance(formula, CriticalPath) else formula)
    constant = formula.size.constant if isinstance(formula, CriticalPath) else formula.constant
    if constant is not None:
        return f"{constant:,}"
    return text if sizes is None else f"{text} = {formula.evaluate(sizes):,}"


def _lowered(core: Core) -> Graph:
    from ...backend.graph.lowering.blocks import lower
    from ...backend.graph.passes.pipeline import optimise

    return optimise(lower(core))


def _with_sizes(graph: Graph, sizes: Mapping[SizeVariable, int]) -> BoundGraph:
    from ...backend.graph.bind_sizes import bind
    from ...backend.graph.passes.pipeline import optimise_with_sizes

    return optimise_with_sizes(bind(graph, sizes))


def _peak(graph: Graph) -> Size:
    from ...backend.schedule.program_facts.scratch_memory import peak_bound

    return peak_bound(graph)


def cost_of_program(core: Core) -> CostReport:
    """The costs of a program after the graph passes."""
    return _cost(_lowered(core))


def _cost(graph: Graph) -> CostReport:
    from ...backend.graph.symbolic_costs import graph_cost, graph_span

    cost = graph_cost(graph)
    operations = {kind: count for kind, count in sorted(cost.operations.items()) if count.constant != 0}
    return CostReport(operations, cost.total(), graph_span(graph), cost.read, cost.written, _peak(graph), graph)


@dataclass(frozen=True, slots=True)
class DefinitionCost:
    """A signature of a function, and the costs of a call in the sizes of this signature."""

    signature: str
    cost: CostReport


def costs_of_definitions(checked: CheckResult) -> dict[str, tuple[DefinitionCost, ...]]:
    """The costs of every function of the program, by name; none for a generic one."""
    from ...backend.graph.bind_sizes import substitute_sizes

    costs: dict[str, tuple[DefinitionCost, ...]] = {}
    for name, instances in checked.instances().items():
        costs[name] = tuple([
            DefinitionCost(signature, _cost(substitute_sizes(_lowered(one.program), one.equal)))
            for signature, one in instances
        ])  # fmt: skip
    return costs


def definition_lines(costs: Mapping[str, tuple[DefinitionCost, ...]]) -> list[str]:
    """Lines of text: `mean : 1 f64[n] → f64` and the costs below it."""
    lines: list[str] = []
    for name, definitions in costs.items():
        if not definitions:
            lines.append(f"{name} : {GENERIC_COST}")
        for definition in definitions:
            lines += [definition.signature, *(f"  {line}" for line in definition.cost.lines())]
    return lines


RUNS: Final = 20
MAXIMUM_SECONDS: Final = 3.0
"""Seconds for all repeated runs of `--analyze` together."""


def run_measured(loaded: LoadedProgram, execute: Callable[[Observer | None], Outcome]) -> Outcome:
    """Run a program with `execute` and add measured and predicted times of the run and its phases to the outcome's `plan`.

    The back end is imported first, so that the measured time is that of reading the data and computing.  Phases are measured in
    further runs with compiled kernels: at most `RUNS`, in at most `MAXIMUM_SECONDS` or half the time limit.
    """
    from ...backend.calibration.probes import warm_kernels
    from ...backend.jit.compiler import compilation_totals
    from ...backend.library import operation_table  # noqa: F401
    from ...backend.schedule.program_facts.partitioning import stores_of
    from ...backend.vm import executor  # noqa: F401
    from ..execution.stored_plans import this_machine
    from .analysis import ObservedTimes, analysis_rows

    before = replace(compilation_totals)
    start = time.perf_counter()
    outcome = execute(None)
    seconds = time.perf_counter() - start
    limit = loaded.request.limits.seconds
    allowed = MAXIMUM_SECONDS if limit is None else min(MAXIMUM_SECONDS, limit / 2 - seconds)
    observed = ObservedTimes()
    with warm_kernels():
        execute(None).discard()
        for _ in range(max(1, min(RUNS, int(allowed / max(seconds, 1e-6))))):
            observed.next_run()
            execute(observed).discard()
    profile = this_machine()
    known = profile.calibration
    stores = stores_of(loaded.plan)
    predicted = {str(device): count for device, count in loaded.plan.main.peak if device not in stores}
    phases = analysis_rows(loaded, observed, profile)
    code = {
        "compiled": compilation_totals.compiled - before.compiled, "from_cache": compilation_totals.stored - before.stored,
        "seconds": (compilation_totals.nanoseconds - before.nanoseconds) / 1e9, "longest": compilation_totals.longest / 1e9,
    }  # fmt: skip
    comparison = {
        "machine_code": code,
        "measured": {"seconds": seconds, "runs": observed.runs, "phases": [row.json() for row in phases]},
        "predicted": {"peak_bytes": predicted},
        "profile": {"calibrated": known.calibrated is not None, **({"unusable": known.unusable} if known.unusable else {})},
    }
    return replace(outcome, plan={**outcome.plan, **comparison})


# ---------------------------------------------------------------------------------------------------- durations
#
# Times as text; imports nothing, so that a prompt appears at once.

def duration(ns: float) -> str:
    """Nanoseconds with three digits: `1.25 ms`."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def waiting_time(seconds: float) -> str:
    """Seconds for progress lines: `3.2 s`, `4 min 10 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


# ---------------------------------------------------------------------------------------------------- estimates

ASSUMED: Final = 1000
"""The number assumed for a size that nothing determines."""
MOST_ELEMENTS: Final = 10**15


@dataclass(frozen=True, slots=True)
class WallTime:
    """The predicted time of one run on one device in nanoseconds, with its 10th and 90th percentile.

    `iterations`: if one loop takes more than half of the time, its number of iterations and the nanoseconds of each."""

    ns: int
    p10: int
    p90: int
    iterations: tuple[int, int] | None = None


def wall_time(bound: BoundGraph, profile: Profile, device: DeviceProfile) -> WallTime | None:
    """The predicted time of one run on a device of a profile; None if a cost table is missing."""
    from ...backend.devices.phase_cost import numbers_of, step_ns
    from ...backend.graph.phases import Constant, Input, Loop, Output, Print

    number = numbers_of(bound)
    ns, low, high = 0, 0, 0
    iterations: tuple[int, int] | None = None
    most = 0
    for phase in bound.graph.phases:
        if isinstance(phase, Constant | Input | Output | Print):
            continue
        estimate = step_ns(phase, bound, device, profile.calibration, 1)
        if estimate is None:
            return None
        ns, low, high = ns + estimate.ns, low + estimate.p10, high + estimate.p90
        if isinstance(phase, Loop) and estimate.ns > most and (trip := number(phase.trip)) > 1:
            most, iterations = estimate.ns, (trip, estimate.ns // trip)
    return WallTime(ns, low, high, iterations if 2 * most > ns else None)


def predicted_ns(bound: BoundGraph) -> int | None:
    """The predicted nanoseconds of one run on this machine; None if a cost table is missing."""
    time = wall_time_on_this_machine(bound)
    return None if time is None else time.ns


def wall_time_on_this_machine(bound: BoundGraph) -> WallTime | None:
    """The predicted time of one run on this machine; None if a cost table is missing."""
    from ..execution.stored_plans import this_machine

    profile = this_machine()
    return wall_time(bound, profile, profile.home)


def time_line(bound: BoundGraph) -> list[str]:
    """The last line of `rho plan`: `time    about 3.2 ms on this machine (2.9 ms to 3.8 ms): 100 iterations of 30 µs`; `at most`
    if a loop may end before its last iteration."""
    from ...backend.graph.phases import Loop

    time = wall_time_on_this_machine(bound)
    if time is None:
        return ["time    unknown: no table of this machine is for some phase (`rho devices --calibrate`)"]
    iterations = "" if time.iterations is None else f": {time.iterations[0]} iterations of {duration(time.iterations[1])}"
    between = f"({duration(time.p10)} to {duration(time.p90)}){uncalibrated_note()}"
    ends_early = any(isinstance(phase, Loop) and phase.until is not None for phase in bound.graph.phases)
    bounded = "at most" if ends_early else "about"
    return [f"time    {bounded} {duration(time.ns)} on this machine {between}{iterations}"] if time.ns else []


def uncalibrated_note() -> str:
    """The suffix of an estimate on an uncalibrated machine: ` (uncalibrated)`, with the reason if a stored calibration is not
    used."""
    from ..execution.stored_plans import this_machine

    calibration = this_machine().calibration
    if calibration.calibrated is not None:
        return ""
    return f" (uncalibrated: {calibration.unusable})" if calibration.unusable else " (uncalibrated)"


def program_cost_line(core: Core, folder: str) -> str:
    """`~0.3 ms, 450 operations, 12.0 kB with n=150` with sizes from the headers of the data; without them at assumed sizes."""
    try:
        bound = bind_header_sizes(core, folder)
        return _cost_text(bound_at_assumed_sizes(core), "at") if bound is None else _cost_text(bound, "with")
    except (RhoError, OverflowError, KeyError):
        return ""


def bound_at_assumed_sizes(core: Core) -> BoundGraph:
    """The program with every size `ASSUMED` and params at their defaults.  Refused: a guard does not hold for these sizes."""
    return _with_sizes(_lowered(core), _assumed(core, {one.name: one.default for one in core.params}))


def _assumed(core: Core, params: Mapping[str, int]) -> dict[SizeVariable, int]:
    """The assumed number of every size that has no bound by other sizes, in the order of their creation."""
    every = {size for type_ in core.types.values() for item in type_.shape for size in item.variables() if size.cap is None}
    ordered = sorted(every, key=lambda size: size.key)
    return {size: params.get(size.name, ASSUMED) if size.origin is SizeOrigin.PARAM else ASSUMED for size in ordered}


def value_cost_line(bound: BoundGraph) -> str:
    """`~12 µs, 2,000 operations, 24.1 kB` for one run with known sizes; empty if the checker knows the value."""
    try:
        return _cost_text(bound, "") if predicted_ns(bound) else ""
    except (RhoError, OverflowError, KeyError):
        return ""


def function_cost_line(checked: CheckResult, name: str) -> str:
    """`~12 µs, 2,000 operations, 24.1 kB at n=1000` for a call of a function by its first signature; empty if it is generic, or
    if a guard does not hold for these sizes."""
    from ...backend.graph.bind_sizes import bind, substitute_sizes

    params = {} if checked.core is None else {one.name: one.default for one in checked.core.params}
    try:
        for _, instance in with_one_name(checked, name).instances().get(name, ())[:1]:
            sizes = {size: number for size, number in _assumed(instance.program, params).items() if size not in instance.equal}
            graph = substitute_sizes(_lowered(instance.program), instance.equal)
            return _cost_text(bind(graph, sizes), "at")
    except (RhoError, RecursionError, OverflowError, KeyError):  # KeyError: a size that only a use has
        pass
    return ""


def with_one_name(checked: CheckResult, name: str) -> CheckResult:
    """The result restricted to one name of its program."""
    return replace(checked, elaborated=replace(checked.elaborated, names={name: checked.elaborated.names[name]}))


def _volume(shape: tuple[Size, ...]) -> int:
    volume = 1
    for size in shape:
        volume *= upper_bound(size).evaluate({})
    return volume


def _cost_text(bound: BoundGraph, word: str) -> str:
    """The time, operations and memory of one run, and the sizes that they are for; empty for arrays beyond any memory."""
    from ...backend.graph.symbolic_costs import graph_cost
    from ...backend.schedule.plan.plan_text import bytes_text

    if any(_volume(type_.shape) > MOST_ELEMENTS for type_ in bound.graph.types.values()):
        return ""
    ns, operations = predicted_ns(bound), graph_cost(bound.graph).total().evaluate({})
    parts = [*([f"~{duration(ns)}"] if ns else []), f"{operations:,} operation{'s' * (operations != 1)}"]
    parts.append(bytes_text(upper_bound(_peak(bound.graph)).evaluate({})))
    shown = [f"{size.name}={number}" for size, number in list(bound.sizes.items())[:3]]
    more = " …" if len(bound.sizes) > 3 else ""
    if not word:
        return ", ".join(parts)
    return ", ".join(parts) + (f" {word} {' '.join(shown)}{more}" if shown else "")


# ---------------------------------------------------------------------------------------------------- quantities
#
# Types and read counts of a checked program as text and as JSON, for `rho type` and `rho check --json`.

GENERIC_COST = "generic: costs at each use"


def value_lines(checked: Checked) -> list[str]:
    """`x : 2 f64[n]` for every named value: how often each element is read, and the type."""
    return [] if checked.result is None else [quantity.line() for quantity in checked.result.quantities()]


def quantity_lines(checked: Checked) -> list[str]:
    """A line for every named value, then the signatures of every function."""
    if checked.result is None:
        return []
    from ...typechecker.check import GENERIC

    text_lines = value_lines(checked)
    for name, signatures in checked.result.signatures().items():
        text_lines += signatures or (f"{name} : {GENERIC}",)
    return text_lines


def names_json(checked: Checked) -> list[dict[str, Any]]:
    """Named values as JSON objects: the type, how often each element is read, and at which spans."""
    if checked.result is None:
        return []
    from ...typechecker.usage.check_moves import grade_text

    sources = dict(checked.sources)
    return [
        {
            "name": quantity.name,
            "file": quantity.span.file,
            "range": range_json(quantity.span, sources),
            "type": quantity.type,
            "reads": grade_text(quantity.grade),
            "uses": [
                {"file": use.span.file, "range": range_json(use.span, sources), "reads": grade_text(use.grade), "why": use.why}
                for use in quantity.uses
            ],
        }
        for quantity in checked.result.quantities()
    ]


def signatures_json(checked: Checked) -> list[dict[str, Any]]:
    """Each function as a JSON object with its file and signatures; those of a function without annotation are inferred."""
    file = checked.source.name
    return [{"name": name, "file": file, "signatures": lines} for name, lines in functions_json(checked).items()]


def functions_json(checked: Checked) -> dict[str, list[str]]:
    """The signatures of each function, by name; an empty list for a generic one."""
    if checked.result is None:
        return {}
    return {name: list(signatures) for name, signatures in checked.result.signatures().items()}


# ---------------------------------------------------------------------------------------------------- back ends of this machine
#
# How this machine runs structured phases, for `rho info`.

def gpu_tier() -> str:
    """The cards that programs can use, or the reason why there are none."""
    from ...backend.gpu.device import tiers

    return tiers()


def kernel_tier() -> str:
    """The target of compiled kernels, or the reason why there are none."""
    from ...backend.jit import compiler, tiering

    if tiering.mode() is tiering.Mode.OFF:
        return f"NumPy in blocks ({tiering.SWITCH} says so)"
    processor = compiler.processor()
    if not processor:
        return "NumPy in blocks (needs llvmlite 0.45 or newer: `pip install -U llvmlite`)"
    return f"compiled for {processor}"
