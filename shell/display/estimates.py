"""Estimated running times as text (`~0.3 ms`), and types and quantities of checked programs.  Reads at most headers of data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ...lang.diagnostics.model import RhoError
from ...lang.diagnostics.render import range_json
from ...lang.support.records import dataclass, replace
from ...typechecker.check import GENERIC
from ...typechecker.sizes.polynomials import Size, SizeOrigin, SizeVariable
from ...typechecker.sizes.size import upper_bound
from ...typechecker.usage.check_moves import grade_text
from ..execution.modules import bind_header_sizes
from ..pipeline_types import Checked

if TYPE_CHECKING:
    from ...backend.devices.profile import DeviceProfile, Profile
    from ...backend.graph.bind_sizes import BoundGraph
    from ...typechecker.check import CheckResult
    from ...typechecker.core.operations import Core


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
    from ...backend.graph.bind_sizes import bind
    from ...backend.graph.lowering.blocks import lower
    from ...backend.graph.passes.pipeline import optimise, optimise_with_sizes

    return optimise_with_sizes(bind(optimise(lower(core)), _assumed(core, {one.name: one.default for one in core.params})))


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
    from ...backend.graph.lowering.blocks import lower
    from ...backend.graph.passes.pipeline import optimise

    params = {} if checked.core is None else {one.name: one.default for one in checked.core.params}
    try:
        for _, instance in with_one_name(checked, name).instances().get(name, ())[:1]:
            sizes = {size: number for size, number in _assumed(instance.program, params).items() if size not in instance.equal}
            graph = substitute_sizes(optimise(lower(instance.program)), instance.equal)
            return _cost_text(bind(graph, sizes), "at")
    except (RhoError, RecursionError, OverflowError, KeyError):  # KeyError: a size that only a use has
        pass
    return ""


def with_one_name(checked: CheckResult, name: str) -> CheckResult:
    """The result with one name of its program."""
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
    from ...backend.schedule.single_device import peak_bound

    if any(_volume(type_.shape) > MOST_ELEMENTS for type_ in bound.graph.types.values()):
        return ""
    ns, operations = predicted_ns(bound), graph_cost(bound.graph).total().evaluate({})
    parts = [*([f"~{duration(ns)}"] if ns else []), f"{operations:,} operation{'s' * (operations != 1)}"]
    parts.append(bytes_text(upper_bound(peak_bound(bound.graph)).evaluate({})))
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
    text_lines = value_lines(checked)
    for name, signatures in checked.result.signatures().items():
        text_lines += signatures or (f"{name} : {GENERIC}",)
    return text_lines


def names_json(checked: Checked) -> list[dict[str, Any]]:
    """Named values as JSON objects: the type, how often each element is read, and at which spans."""
    if checked.result is None:
        return []
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
    """The cards that programs can use, or why there are none."""
    from ...backend.gpu.device import tiers

    return tiers()


def kernel_tier() -> str:
    """The target of compiled kernels, or why there are none."""
    from ...backend.jit import compiler, tiering

    if tiering.mode() is tiering.Mode.OFF:
        return f"NumPy in blocks ({tiering.SWITCH} says so)"
    processor = compiler.processor()
    if not processor:
        return "NumPy in blocks (needs llvmlite 0.45 or newer: `pip install -U llvmlite`)"
    return f"compiled for {processor}"
