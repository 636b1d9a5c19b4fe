"""How long a loop, fold or map takes that is compiled whole: its loop program, an iteration of each nest at a time.

Note [Items].  In a vector loop an application takes what `point.…` says of it, in a serial one as long as a vector of it; a load
or store takes what its bytes do from where its view lies.  Serial iterations that hand a value on take the longer of all their
applications and of the longest chain of them from what is handed in to what is handed on.  Bounds that mention an outer index are
taken at five places of it (Boole's rule).  Of a branch both arms count half.  A call is what its
phase takes by itself.

Neighbours: `loops.lower.region` (the program), `loops.iterations` (is it one?), `cost` (other loops), `points` (applications).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from ...typechecker.elements import Kind
from ..graph.phases import Fold, Loop, Map, Phase
from ..kernels.kept import Kept
from ..loops.ir import Apply, Call, Fail, For, If, Index, Load, LoopKind, Number, Statement, Store, View, uses, walk
from ..loops.iterations import iteration_of
from ..loops.lower.region import FIRST, LAST, Region, lower_region
from ..loops.lower.values import Unsupported
from ..loops.transform import runs_in_tiles
from .forms import Number as Numbers
from .forms import Types
from .points import application_rate
from .profile import Backend
from .rates import Rates
from .tables import GRAIN, Grains

BOOLE: Final = (7, 32, 12, 32, 7)
_SCALAR: Final = 0.25
"""Nanoseconds of one scalar instruction, or of going round."""
_WAITS: Final = 1.4
"""Of an application that the next waits for."""
_ENTERED: Final = 4.0
"""Of a loop that is entered, and left."""
_SCATTERED: Final = 1.0
"""Of an item that is not beside the last one."""
_LAUNCH: Final = 20_000.0
"""Of handing a region its arrays and its first range."""
_VECTOR: Final = 64
"""Bytes of a vector."""


_regions: Final[Kept[Region | None]] = Kept(64)


def region_of(phase: Loop | Fold | Map, types: Types, rates: Rates) -> Region | None:
    """None: it runs phase by phase.  The last ones are kept, because planners ask of one phase many times."""

    def make() -> Region | None:
        with suppress(Unsupported):
            region = lower_region(phase, types, rates.guards, rates.known)
            if iteration_of(phase, types).is_for_region(calls=region.calls, in_tiles=partial(runs_in_tiles, region.program)):
                return region
        return None

    if not rates.kernels or rates.device.backend is Backend.CUDA:
        return None
    return _regions.of(id(phase), (phase, types), make)


def region_grains(
    phase: Loop | Fold | Map, types: Types, rates: Rates, number: Numbers, called: Callable[[Phase], int]
) -> Grains | None:
    """Of all its iterations; `called`: what a phase takes that is a routine.  None: it runs phase by phase."""
    region = region_of(phase, types, rates)
    if region is None:
        return None
    match phase:
        case Loop():
            first, last = 0, number(phase.trip)
        case Fold():
            first, last = 1, number(types[phase.args[0]].shape[0])
        case Map():
            first, last = 0, number(phase.frame[0])
    program = region.program
    known = {FIRST: first, LAST: last}
    known |= dict(zip((name for name in program.parameters if name not in known), map(number, region.sizes), strict=True))
    routines = [0 if one.phase is None else called(one.phase) / GRAIN for one in region.routines]
    time = _Time(rates, {view.name: view for view in program.views}, routines).block(program.body, known)
    threads = rates.device.threads if region.cells or runs_in_tiles(program) else 1
    return Grains(int(_LAUNCH * GRAIN + time * GRAIN / threads))


@dataclass(slots=True)
class _Time:
    """Nanoseconds of statements."""

    rates: Rates
    views: Mapping[str, View]
    routines: Sequence[float] = ()
    each: dict[Apply, float] = field(default_factory=dict)

    def block(self, body: Sequence[Statement], known: Mapping[str, int], vector: str = "") -> float:
        total, known = 0.0, dict(known)
        for one in body:
            if isinstance(one, Number) and all(name in known for name, _ in one.index.terms):
                known[one.name] = _value(one.index, known, 0)
            total += self.statement(one, known, vector)
        return total

    def statement(self, one: Statement, known: Mapping[str, int], vector: str) -> float:
        match one:
            case Apply():
                each = self.applied(one)
                return each if vector else max(_SCALAR, each * _VECTOR / one.compute.bytes)
            case Load() | Store():
                return self.moved(one, vector, known)
            case Fail():
                return 0.0 if vector else _SCALAR
            case If():
                return (self.block(one.then, known, vector) + self.block(one.otherwise, known, vector)) / 2 + _SCALAR
            case For():
                return self.loop(one, known)
            case Call():
                return self.rates.device.launch_ns + self.routines[one.routine]
            case _:
                return 0.0

    def applied(self, one: Apply) -> float:
        key = Apply("", one.kind, one.function, (), one.compute, one.parameter)
        if key not in self.each:
            self.each[key] = application_rate(one.function, one.compute, one.kind, one.parameter, self.rates) / GRAIN
        return self.each[key]

    def moved(self, one: Load | Store, vector: str, known: Mapping[str, int]) -> float:
        view = self.views[one.view]
        size = view.kind.bytes
        for length in view.shape:
            size *= max(1, _value(length, known, 1))
        table = self.rates.require(("read",), Kind.F64)
        far = table.rate(view.kind.bytes * 1000, size) / GRAIN / 1000
        if not vector:
            return max(_SCALAR, far)
        steps = [form for form in one.indices if any(name == vector for name, _ in form.terms)]
        beside = not steps or (steps == [one.indices[-1]] and view.unit and abs(dict(steps[0].terms)[vector]) == 1)
        return far + (_SCALAR * view.kind.bytes / _VECTOR if beside else _SCATTERED)

    def loop(self, one: For, known: Mapping[str, int]) -> float:
        lower = max((_value(form, known, 0) for form in one.lower), default=0)
        upper = min((_value(form, known, lower + 1) for form in one.upper), default=lower)
        trips = max(0, -(-(upper - lower) // one.step))
        if not trips:
            return 0.0
        vector = one.index if one.kind is LoopKind.VECTOR else ""
        if any(isinstance(inner, For) and _bounds(inner, one.index) for inner in walk(one.body)):
            places = [lower + (trips - 1) * place // 4 * one.step for place in range(5)]
            each = sum(w * self.block(one.body, {**known, one.index: at}, vector) for w, at in zip(BOOLE, places, strict=True))
            each /= sum(BOOLE)
        else:
            each = self.block(one.body, {**known, one.index: lower}, vector)
        if vector:
            return _ENTERED + trips * each
        return _ENTERED + trips * max(each + _SCALAR, self.chain(one))

    def chain(self, one: For) -> float:
        """What an iteration takes of which the next waits for each step."""
        after = {carried.inside: 0.0 for carried in one.carried}
        for inner in one.body:
            waits = max((after[name] for name in uses(inner) if name in after), default=None)
            if waits is not None and isinstance(inner, Apply):
                after[inner.name] = waits + max(_WAITS, self.applied(inner) * _VECTOR / inner.compute.bytes)
            elif waits is not None and isinstance(inner, Load):
                after[inner.name] = waits + _WAITS
        return max((after.get(carried.yielded, 0.0) for carried in one.carried), default=0.0)


def _bounds(loop: For, index: str) -> bool:
    """Does a bound mention the index?"""
    return any(name == index for form in (*loop.lower, *loop.upper) for name, _ in form.terms)


def _value(form: Index, known: Mapping[str, int], otherwise: int) -> int:
    """A register that only a run knows makes the form `otherwise`."""
    total = form.constant
    for name, coefficient in form.terms:
        if name not in known:
            return otherwise
        total += coefficient * known[name]
    return total
