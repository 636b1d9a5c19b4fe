"""How long things take by the cost model, in words: `~0.3 ms`.  Nothing is run; of data at most the headers are read.

Neighbours: `backend.devices.cost` (the model), `shell.execution.profiles` (whose tables), the live line, lenses, progress.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ...lang.diagnostics import RhoError
from ...lang.records import dataclass
from ...typechecker.sizes import Size, SizeOrigin, SizeVariable, capacity
from ..execution.sizing import sized_by_headers
from .durations import duration

if TYPE_CHECKING:
    from ...backend.devices.profile import DeviceProfile, Profile
    from ...backend.graph.bind import BoundGraph
    from ...typechecker.core_blocks import Core
    from ...typechecker.elaborate.sampling import Instance

ASSUMED: Final = 1000
"""What a size is taken to be where nothing says."""
MOST_ELEMENTS: Final = 10**15


@dataclass(frozen=True, slots=True)
class WallTime:
    """What one run takes on one device: the point, and between which the middle eight in ten runs are expected.  `turns`: the
    loop that most of it goes to, by its number of turns and the nanoseconds of each."""

    ns: int
    p10: int
    p90: int
    turns: tuple[int, int] | None = None


def wall_time(bound: BoundGraph, profile: Profile, device: DeviceProfile) -> WallTime | None:
    """What one run takes on a device of a profile; None without tables for it."""
    from ...backend.devices.cost import numbers_of, step_ns
    from ...backend.graph.phases import Constant, Input, Loop, Output, Print

    number = numbers_of(bound)
    ns, low, high = 0, 0, 0
    turns: tuple[int, int] | None = None
    most = 0
    for phase in bound.graph.phases:
        if isinstance(phase, Constant | Input | Output | Print):
            continue
        estimate = step_ns(phase, bound, device, profile.calibration, 1)
        if estimate is None:
            return None
        ns, low, high = ns + estimate.ns, low + estimate.p10, high + estimate.p90
        if isinstance(phase, Loop) and estimate.ns > most and (trip := number(phase.trip)) > 1:
            most, turns = estimate.ns, (trip, estimate.ns // trip)
    return WallTime(ns, low, high, turns if 2 * most > ns else None)


def predicted_ns(bound: BoundGraph) -> int | None:
    """What one run takes on this machine; None without tables for it."""
    found = wall_time_here(bound)
    return None if found is None else found.ns


def wall_time_here(bound: BoundGraph) -> WallTime | None:
    """What one run takes on this machine; None without tables for it."""
    from ..execution.profiles import this_machine

    profile = this_machine()
    return wall_time(bound, profile, profile.home)


def time_line(bound: BoundGraph) -> list[str]:
    """What `rho plan` ends with: `time    about 3.2 ms on this machine (2.9 ms to 3.8 ms): 100 iterations of 30 µs`; `at most`
    where a loop may end before its last iteration."""
    from ...backend.graph.phases import Loop

    found = wall_time_here(bound)
    if found is None:
        return ["time    unknown: no table of this machine is for some phase (`rho devices --calibrate`)"]
    turns = "" if found.turns is None else f": {found.turns[0]} iterations of {duration(found.turns[1])}"
    between = f"({duration(found.p10)} to {duration(found.p90)}){unmeasured()}"
    ends_early = any(isinstance(phase, Loop) and phase.until is not None for phase in bound.graph.phases)
    bounded = "at most" if ends_early else "about"
    return [f"time    {bounded} {duration(found.ns)} on this machine {between}{turns}"] if found.ns else []


def unmeasured() -> str:
    """What is put behind an estimate that no measurement of this machine stands behind: ` (uncalibrated)`,
    and why a stored one is not used."""
    from ..execution.profiles import this_machine

    found = this_machine().calibration
    if found.calibrated is not None:
        return ""
    return f" (uncalibrated: {found.unusable})" if found.unusable else " (uncalibrated)"


def time_of_program(core: Core, folder: str) -> str:
    """`~0.3 ms with n=150` by the headers of its data; empty where they cannot be read or do not fit."""
    try:
        bound = sized_by_headers(core, folder)
        return "" if bound is None else _said(predicted_ns(bound), {one.name: n for one, n in bound.sizes.items()}, "with")
    except RhoError:
        return ""


def bound_at_assumed_sizes(core: Core) -> BoundGraph:
    """The program with every size `ASSUMED`, params as they are given.  Refused: its facts forbid that."""
    from ...backend.graph import bind, lower, optimise, settle

    return settle(bind(optimise(lower(core)), _assumed(core, {one.name: one.default for one in core.params})))


def _assumed(core: Core, params: Mapping[str, int]) -> dict[SizeVariable, int]:
    """Every size that no other bounds, by the order in which they were made."""
    every = {size for type_ in core.types.values() for item in type_.shape for size in item.variables() if size.cap is None}
    ordered = sorted(every, key=lambda size: size.key)
    return {size: params.get(size.name, ASSUMED) if size.origin is SizeOrigin.PARAM else ASSUMED for size in ordered}


def time_at_assumed_sizes(way: Instance, params: Mapping[str, int]) -> str:
    """`~12 µs at n=1000` for a way to apply a function, `params` as they are given; empty where its facts forbid such sizes."""
    from ...backend.graph import bind, lower, optimise
    from ...backend.graph.bind import in_terms_of

    sizes = {size: number for size, number in _assumed(way.program, params).items() if size not in way.equal}
    try:
        bound = bind(in_terms_of(optimise(lower(way.program)), way.equal), sizes)
        if any(_volume(type_.shape) > MOST_ELEMENTS for type_ in bound.graph.types.values()):
            return ""
        return _said(predicted_ns(bound), {size.name: number for size, number in sizes.items()}, "at")
    except (RhoError, OverflowError, KeyError):  # KeyError: a size that only a use has
        return ""


def _volume(shape: tuple[Size, ...]) -> int:
    volume = 1
    for size in shape:
        volume *= capacity(size).evaluate({})
    return volume


def _said(ns: int | None, sizes: Mapping[str, int], word: str) -> str:
    if not ns:
        return ""
    shown = [f"{name}={number:,}".replace(",", "") for name, number in list(sizes.items())[:3]]
    more = " …" if len(sizes) > 3 else ""
    return f"~{duration(ns)}" + (f" {word} {' '.join(shown)}{more}" if shown else "")
