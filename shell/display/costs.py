"""What programs and definitions cost, as formulas in their sizes: work, span, bytes moved, memory.

For `rho type --cost` and `rho plan`; `measured` serves `rho run --analyze`.  Worked out only when asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ...backend.graph.bind_sizes import substitute_sizes
from ...backend.graph.lowering.blocks import lower
from ...backend.graph.passes.pipeline import optimise
from ...backend.graph.phases import Graph
from ...backend.graph.symbolic_costs import CriticalPath, graph_cost, graph_span
from ...backend.schedule.single_device import peak_bound
from ...lang.support.records import dataclass
from ...typechecker.core.blocks import Core
from ...typechecker.sizes.polynomials import Size, SizeVariable, show_short_formula
from ..execution.outcome import Outcome
from ..pipeline_types import Checked, LoadedProgram
from .estimates import GENERIC_COST

if TYPE_CHECKING:
    from ...backend.vm.run_state import Observer

_LINES: Final = ("work", "span", "reads", "writes")


@dataclass(frozen=True, slots=True)
class CostReport:
    """Formulas, in the sizes of inputs and params.  Run-time sizes count at their caps; `memory` bounds inputs, results and
    everything between."""

    operations: Mapping[str, Size]
    work: Size
    span: CriticalPath
    bytes_read: Size
    bytes_written: Size
    memory: Size

    def lines(
        self, sizes: Mapping[SizeVariable, int] | None = None, peak: int = 0, settled: Graph | None = None
    ) -> list[str]:
        """As text; with numbers where the sizes are known.  Memory is then what the plan says, its `peak`: numbers may change
        what is fused.  `settled`: the graph for these sizes if its products are regrouped; formulas are of what is written."""
        regrouped = {} if settled is None else _numbers(settled)
        kinds = [f"{show_short_formula(count)} {kind}" for kind, count in self.operations.items()]
        several = f" ({', '.join(kinds)})" if len(kinds) > 1 or (kinds and self.work.constant is None) else ""
        rows = (
            (_LINES[0], self.work, "operations", several if len(kinds) != 1 else f" ({', '.join(self.operations)})"),
            (_LINES[1], self.span, "dependent steps", ""),
            (_LINES[2], self.bytes_read, "bytes", ""),
            (_LINES[3], self.bytes_written, "bytes", ""),
        )
        lines = []
        for name, formula, unit, more in rows:
            line = f"{name:<8}{_with_number(formula, sizes)} {unit}{more}"
            known = formula.evaluate(sizes or {}) if regrouped else 0
            lines.append(line + (f" as written, {regrouped[name]:,} as regrouped" if known != regrouped.get(name, 0) else ""))
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


def _numbers(graph: Graph) -> dict[str, int]:
    """The same of a graph for some sizes, by the names of the lines."""
    cost = graph_cost(graph)
    numbers = (cost.total().evaluate({}), graph_span(graph).evaluate({}), cost.read.evaluate({}), cost.written.evaluate({}))
    return dict(zip(_LINES, numbers, strict=True))


def _with_number(formula: Size | CriticalPath, sizes: Mapping[SizeVariable, int] | None) -> str:
    text = show_short_formula(formula.size if isinstance(formula, CriticalPath) else formula)
    constant = formula.size.constant if isinstance(formula, CriticalPath) else formula.constant
    if constant is not None:
        return f"{constant:,}"
    return text if sizes is None else f"{text} = {formula.evaluate(sizes):,}"


def cost_of_program(core: Core) -> CostReport:
    """The cost after the passes."""
    return _cost(optimise(lower(core)))


def _cost(graph: Graph) -> CostReport:
    cost = graph_cost(graph)
    operations = {kind: count for kind, count in sorted(cost.operations.items()) if count.constant != 0}
    return CostReport(operations, cost.total(), graph_span(graph), cost.read, cost.written, peak_bound(graph))


@dataclass(frozen=True, slots=True)
class DefinitionCost:
    """A way to apply a function, as a signature, and what it costs in the sizes of that."""

    signature: str
    cost: CostReport


def costs_of_definitions(checked: Checked) -> dict[str, tuple[DefinitionCost, ...]]:
    """Every function of the program; none for one that is generic."""
    if checked.result is None:
        return {}
    costs: dict[str, tuple[DefinitionCost, ...]] = {}
    for name, instances in checked.result.instances().items():
        costs[name] = tuple([
            DefinitionCost(signature, _cost(substitute_sizes(optimise(lower(one.program)), one.equal)))
            for signature, one in instances
        ])  # fmt: skip
    return costs


def definition_lines(costs: Mapping[str, tuple[DefinitionCost, ...]]) -> list[str]:
    """`mean : 1 f64[n] → f64` and its costs below it."""
    lines: list[str] = []
    for name, definitions in costs.items():
        if not definitions:
            lines.append(f"{name} : {GENERIC_COST}")
        for definition in definitions:
            lines += [definition.signature, *(f"  {line}" for line in definition.cost.lines())]
    return lines


RUNS: Final = 20
MOST_SECONDS: Final = 3.0
"""Of the repeated runs of `--analyze` together."""


def measured(loaded: LoadedProgram, execute: Callable[[Observer | None], Outcome]) -> Outcome:
    """Run, and put how long it and its phases took beside what was predicted into the outcome's plan.

    The back end is loaded first, so that the time of the run is that of reading the data and computing.  Phases are measured by
    further runs, with every kernel as warm as it gets: at most `RUNS`, in at most `MOST_SECONDS` or half the time allowed."""
    from ...backend.calibration.probes import warm_kernels
    from ...backend.jit.compiler import compilation_totals
    from ...backend.library import operation_table  # noqa: F401
    from ...backend.schedule.program_facts.partitioning import stores_of
    from ...backend.vm import executor  # noqa: F401
    from ..execution.stored_plans import this_machine
    from .analysis import Observed, rows

    before = replace(compilation_totals)
    start = time.perf_counter()
    outcome = execute(None)
    seconds = time.perf_counter() - start
    limit = loaded.request.limits.seconds
    allowed = MOST_SECONDS if limit is None else min(MOST_SECONDS, limit / 2 - seconds)
    observed = Observed()
    with warm_kernels():
        execute(None).discard()
        for _ in range(max(1, min(RUNS, int(allowed / max(seconds, 1e-6))))):
            observed.next_run()
            execute(observed).discard()
    profile = this_machine()
    known = profile.calibration
    stores = stores_of(loaded.plan)
    predicted = {str(device): count for device, count in loaded.plan.main.peak if device not in stores}
    phases = rows(loaded, observed, profile)
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
