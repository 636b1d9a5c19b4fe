"""From times of whole phases to tables of their parts (`keys`, Note [Tables]).

With r, w and a for reading an operand, writing a result and one more application, all at one number of points:
    x+x = r + w + a      x+y = 2r + w + a      a chain of five = 2r + w + 5a
gives the three.  A function f then is (t - 2r - w - a)/2 of the phase that applies it twice, a reduction what a fused one
takes beyond its reads and its product, a transposed or padded read what it adds to x+y.  Parts are at least 0.

Neighbours: `measure` (the times), `backend.schedule.profiles.structured` (puts parts together again).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from ....typechecker.elements import Kind
from ....typechecker.scalars import FUNCTIONS
from ...schedule.profiles.keys import function_key
from ...schedule.profiles.profile import DeviceProfile
from ...schedule.profiles.rates import Rates
from ...schedule.profiles.structured import structured_grains
from ...schedule.profiles.tables import GRAIN, Table
from .bodies import joining, result_kind

Measured = dict[int, int]
"""Points to nanoseconds."""
Times = Mapping[tuple[Kind, tuple[str, ...]], Measured]


def tables(times: Times) -> dict[str, Table]:
    parts: dict[str, dict[int, int]] = {}
    kinds = dict.fromkeys(kind for kind, _ in times)
    for kind in kinds:
        _base(kind, times, parts)
    for (kind, name), measured in times.items():
        match name:
            case ("once", "convert", source):
                _put(parts, f"convert.{source}.{kind.value}", measured, Kind(source).bytes + kind.bytes)
            case ("once", function, parameter):
                key = f"{function_key(function, int(parameter))}.{kind.value}"
                _put(parts, key, measured, _touched(function, kind, int(parameter)))
            case ("reduce", function, layout):
                _put(parts, f"reduce.{function}.{layout}.{kind.value}", measured, kind.bytes)
            case _:
                pass
    for (kind, name), measured in times.items():
        match name:
            case ("twice", "convert", source):
                _twice(parts, f"convert.{source}.{kind.value}", measured, Kind(source), kind, Kind(source).bytes + kind.bytes)
            case ("constant", function):
                _twice(parts, f"{function}.constant.{kind.value}", measured, kind, kind, _touched(function, kind, 0))
            case ("twice", function, parameter):
                result = result_kind(function, kind, int(parameter))
                touched = _touched(function, kind, int(parameter))
                key = f"{function_key(function, int(parameter))}.{kind.value}"
                _twice(parts, key, measured, kind, result, touched, masked=FUNCTIONS[function].arity == 3)
            case _:
                pass
    for (kind, name), measured in times.items():
        match name:
            case ("fused", function, layout):
                product = "and" if kind is Kind.BOOL else "mul"
                rest = {
                    points: ns - 2 * _part(parts, "read", kind, points * kind.bytes)
                    - _part(parts, f"body.{product}", kind, 3 * points * kind.bytes)
                    for points, ns in measured.items()
                }  # fmt: skip
                _put(parts, f"body.reduce.{function}.{layout}.{kind.value}", rest, kind.bytes)
            case ("transposed",):
                base = times[kind, ("chain", "2", "1")]
                squares = {p: 1 << 2 * ((p.bit_length() - 1) // 2) for p in measured}
                rest = {squares[p]: ns - base[p] * squares[p] // p for p, ns in measured.items() if p in base}
                _put(parts, f"strided.{kind.value}", rest, kind.bytes)
            case ("padded",):
                base = times[kind, ("chain", "2", "1")]
                _put(parts, f"pad.{kind.value}", {p: ns - base[p] for p, ns in measured.items() if p in base}, kind.bytes)
            case _:
                pass
    return {key: _table(found) for key, found in parts.items() if found}


def _table(found: Mapping[int, int]) -> Table:
    return Table(tuple(sorted(found)), tuple(found[size] for size in sorted(found)))


def _base(kind: Kind, times: Times, parts: dict[str, dict[int, int]]) -> None:
    one, two, five = (times.get((kind, ("chain", *name)), {}) for name in (("1", "1"), ("2", "1"), ("2", "5")))
    reads, writes, adds = {}, {}, {}
    for points in sorted(one.keys() & two.keys() & five.keys()):
        add = max(0, (five[points] - two[points]) // 4)
        read = max(0, two[points] - one[points])
        adds[points], reads[points] = add, read
        writes[points] = max(0, (one[points] - read - add + two[points] - 2 * read - add) // 2)
    _put(parts, f"read.{kind.value}", reads, kind.bytes)
    _put(parts, f"write.{kind.value}", writes, kind.bytes)
    _put(parts, f"body.{joining(kind)}.{kind.value}", adds, 3 * kind.bytes)


def _twice(parts: dict[str, dict[int, int]], key: str, measured: Measured, source: Kind, result: Kind, touched: int, *,
           masked: bool = False) -> None:  # fmt: skip
    """See the equations above; `masked`: a truth value is read as well."""
    if key.startswith(f"{joining(result)}.") and source is result:
        return  # the base knows it
    rest = {}
    for points, ns in measured.items():
        others = 2 * _part(parts, "read", source, points * source.bytes) + _part(parts, "write", result, points * result.bytes)
        others += _part(parts, f"body.{joining(result)}", result, 3 * points * result.bytes)
        if masked:
            others += _part(parts, "read", Kind.BOOL, points)
        rest[points] = (ns - others) // 2
    _put(parts, f"body.{key}", rest, touched)


def _touched(function: str, kind: Kind, parameter: int) -> int:
    """Bytes of one application at a point."""
    arity = FUNCTIONS[function].arity
    operands = 1 + 2 * kind.bytes if arity == 3 else arity * kind.bytes
    return operands + result_kind(function, kind, parameter).bytes


def _put(parts: dict[str, dict[int, int]], key: str, measured: Measured, each: int) -> None:
    parts.setdefault(key, {}).update({points * each: max(0, ns) for points, ns in measured.items()})


def _part(parts: dict[str, dict[int, int]], stem: str, kind: Kind, size: int) -> int:
    found = parts.get(f"{stem}.{kind.value}")
    if not found:
        return 0
    return _table(found).at(size) // GRAIN


def residuals(device: DeviceProfile, checks: Iterable[tuple[Any, int]]) -> tuple[Fraction, Fraction]:
    """How far below and above the estimate the middle eight in ten measured times lie, as shares of it."""
    rates = Rates(device)
    ratios = []
    for probe, ns in checks:
        estimate = structured_grains(probe.phase, probe.types, rates, lambda size: size.evaluate({}), None)
        if estimate:
            ratios.append(Fraction(ns * GRAIN, estimate))
    if not ratios:
        return Fraction(1, 2), Fraction(1, 2)
    ratios.sort()
    low, high = ratios[len(ratios) // 10], ratios[-(len(ratios) // 10) - 1]
    return _share(1 - low), _share(high - 1)


def _share(value: Fraction) -> Fraction:
    """To three places, from 0.02 to 0.9."""
    return Fraction(round(min(max(value, Fraction(2, 100)), Fraction(9, 10)) * 1000), 1000)
