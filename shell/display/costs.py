"""Costs of programs and definitions as formulas in their sizes (work, span, bytes moved, memory), and measured runs.

The formulas are for `rho type --cost` and `rho plan`, `run_measured` is for `rho run --analyze`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ...backend.graph.bind_sizes import substitute_sizes
from ...backend.graph.lowering.blocks import lower
from ...backend.graph.passes.pipeline import optimise
from ...backend.graph.phases import Graph
from ...backend.graph.symbolic_costs import CriticalPath, graph_cost, graph_span
from ...backend.schedule.single_device import peak_bound
from ...lang.support.records import dataclass, replace
from ...typechecker.core.operations import Core
from ...typechecker.sizes.polynomials import Size, SizeVariable, show_short_formula
from ..execution.run_request import Outcome
from ..pipeline_types import LoadedProgram
from .estimates import GENERIC_COST

if TYPE_CHECKING:
    from ...backend.vm.run_state import Observer
    from ...typechecker.check import CheckResult

_LINE_NAMES: Final = ("work", "span", "reads", "writes")


@dataclass(frozen=True, slots=True)
class CostReport:
    """Costs as formulas in the sizes of inputs and params; a run-time size counts as its upper bound.

    `work` and `operations` (by cost class): numbers of operations; `span`: operations on the critical path; bytes read and
    written; `memory`: an upper bound of the bytes live at once, with inputs and results."""

    operations: Mapping[str, Size]
    work: Size
    span: CriticalPath
    bytes_read: Size
    bytes_written: Size
    memory: Size

    def lines(
        self, sizes: Mapping[SizeVariable, int] | None = None, peak: int = 0, regrouped: Graph | None = None
    ) -> list[str]:
        """The costs as lines of text, with numbers if `sizes` are given.

        Memory for these sizes is the plan's `peak`, since numbers may change which phases are fused.  `regrouped`: the graph
        for these sizes if its products are regrouped; the formulas are of the products as they are written."""
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
        memory = _with_number(self.memory, None)
        if sizes is not None:
            memory = f"{peak:,}" if self.memory.constant is not None else f"{memory}; for these sizes {peak:,}"
        return [*lines, f"memory  {memory} bytes at most"]

    def json(self) -> dict[str, Any]:
        return {
            "work": str(self.work),
            "span": str(self.span),
            "operations": {kind: str(count) for kind, count in self.operations.items()},
            "bytes_read": str(self.bytes_read),
            "bytes_written": str(self.bytes_written),
            "memory": str(self.memory),
        }


def _line_numbers(graph: Graph) -> dict[str, int]:
    """The numbers of a graph with sizes, by the names of the lines."""
    cost = graph_cost(graph)
    numbers = (cost.total().evaluate({}), graph_span(graph).evaluate({}), cost.read.evaluate({}), cost.written.evaluate({}))
    return dict(zip(_LINE_NAMES, numbers, strict=True))


def _with_number(formula: Size | CriticalPath, sizes: Mapping[SizeVariable, int] | None) -> str:
    text = show_short_formula(formula.size if isinstance(formula, CriticalPath) else formula)
    constant = formula.size.constant if isinstance(formula, CriticalPath) else formula.constant
    if constant is not None:
        return f"{constant:,}"
    return text if sizes is None else f"{text} = {formula.evaluate(sizes):,}"


def cost_of_program(core: Core) -> CostReport:
    """The costs of a program after the graph passes."""
    return _cost(optimise(lower(core)))


def _cost(graph: Graph) -> CostReport:
    cost = graph_cost(graph)
    operations = {kind: count for kind, count in sorted(cost.operations.items()) if count.constant != 0}
    return CostReport(operations, cost.total(), graph_span(graph), cost.read, cost.written, peak_bound(graph))


@dataclass(frozen=True, slots=True)
class DefinitionCost:
    """A signature of a function, and the costs of a call in the sizes of this signature."""

    signature: str
    cost: CostReport


def costs_of_definitions(checked: CheckResult) -> dict[str, tuple[DefinitionCost, ...]]:
    """The costs of every function of the program, by name; none for a generic one."""
    costs: dict[str, tuple[DefinitionCost, ...]] = {}
    for name, instances in checked.instances().items():
        costs[name] = tuple([
            DefinitionCost(signature, _cost(substitute_sizes(optimise(lower(one.program)), one.equal)))
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
"""Seconds of the repeated runs of `--analyze` together."""


def run_measured(loaded: LoadedProgram, execute: Callable[[Observer | None], Outcome]) -> Outcome:
    """Run a program with `execute` and add measured and predicted times of the run and its phases to the outcome's `plan`.

    The back end is imported first, so that the time of the run is that of reading the data and computing.  Phases are measured in
    further runs with warm kernels: at most `RUNS`, in at most `MAXIMUM_SECONDS` or half the time limit."""
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
