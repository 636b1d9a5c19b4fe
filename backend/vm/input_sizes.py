"""Derives sizes from the shapes of the inputs and from the params, and checks the guards.

Only shapes are needed (a file's header is enough), so this happens before any data moves.  All problems are reported together as
`Refused`: E706 where an input disagrees with its declared type; E701 where two inputs give one size different values, where a
guard fails, or where a param is not a natural number.  Guards that a solver proved are evaluated as well: a proof may come from a
file, which is trusted for checking a program but not for running it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Final

from ...lang.diagnostics.model import Code, Diagnostic, Label, Refused
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Span
from ...typechecker.core.operations import Core, CoreGuard
from ...typechecker.sizes.polynomials import Size, SizeVariable


@dataclass(frozen=True, slots=True)
class _BoundAxis:
    """One axis of an input: its declared size and its actual length."""

    name: str
    axis: int
    size: Size
    length: int
    span: Span


def bind_sizes(core: Core, shapes: Mapping[str, Sequence[int]], params: Mapping[str, int]) -> dict[SizeVariable, int]:
    """The value of every size known at load.  Raises Refused.

    `shapes`: of every input; `params`: values of params that replace their defaults."""
    problems: list[Diagnostic] = []
    sizes = _bind_params(core, params, problems)
    _bind_inputs(core, shapes, sizes, problems)
    if problems:
        raise Refused(problems)
    for guard in (*core.guards, *core.solver_assumptions):
        if all(v in sizes for v in guard.variables()) and not guard.holds(sizes):
            problems.append(broken_guard(guard, sizes))
    if problems:
        raise Refused(problems)
    return sizes


def sizes_from(core: Core, shapes: Mapping[str, Sequence[int]], known: Mapping[SizeVariable, int]) -> dict[SizeVariable, int]:
    """The sizes that follow from the shapes of some inputs; `bind_sizes` checks whether the shapes agree."""
    sizes = dict(known)
    _bind_inputs(replace(core, inputs=tuple(entry for entry in core.inputs if entry.name in shapes)), shapes, sizes, [])
    return sizes


def broken_guard(guard: CoreGuard, sizes: Mapping[SizeVariable, int]) -> Diagnostic:
    """The E701 diagnostic of a failed guard, with the values of its sizes."""
    fact, need = guard.fact, guard.obligation
    values = {v.name: sizes[v] for v in sorted(guard.variables(), key=lambda v: v.key)}
    return Diagnostic(
        Code.E701, fact.describe_failure(sizes), need.span,
        labels=need.labels, notes=(need.message, *need.notes), goal=str(fact), counterexample=values,
    )  # fmt: skip


_MAX_INT64: Final = 2**63 - 1


def _bind_params(core: Core, params: Mapping[str, int], problems: list[Diagnostic]) -> dict[SizeVariable, int]:
    sizes: dict[SizeVariable, int] = {}
    for param in core.params:
        value = params.get(param.name, param.default)
        if not 0 <= value <= _MAX_INT64:
            of = f" of i64 (up to {_MAX_INT64})" if value > 0 else ""
            problems.append(Diagnostic(Code.E701, f"param {param.name} is a natural number{of}, not {value}", param.span))
        sizes[param.variable] = min(max(0, value), _MAX_INT64)
    return sizes


def _bind_inputs(
    core: Core, shapes: Mapping[str, Sequence[int]], sizes: dict[SizeVariable, int], problems: list[Diagnostic]
) -> None:
    axes: list[_BoundAxis] = []
    for entry in core.inputs:
        if entry.name not in shapes:
            problems.append(Diagnostic(Code.E704, f"input {entry.name} has no data", entry.span))
            continue
        declared, actual = core.types[entry.value].shape, tuple(shapes[entry.name])
        if len(declared) != len(actual):
            message = f"{entry.name} is declared with {_rank(declared)}, its data has shape {_shape(actual)}"
            problems.append(Diagnostic(Code.E706, message, entry.span))
            continue
        axes += [_BoundAxis(entry.name, i, s, n, entry.span) for i, (s, n) in enumerate(zip(declared, actual, strict=True))]
    origins: dict[SizeVariable, _BoundAxis] = {}
    pending = axes
    while pending:
        later = [axis for axis in pending if not _try_bind(axis, sizes, origins, problems)]
        if len(later) == len(pending):
            break
        pending = later
    if pending and not problems:
        axis = pending[0]
        message = f"axis {axis.axis} of {axis.name}, declared {axis.size}, does not determine its sizes"
        problems.append(Diagnostic(Code.E706, message, axis.span))


def _try_bind(
    axis: _BoundAxis, sizes: dict[SizeVariable, int], origins: dict[SizeVariable, _BoundAxis], problems: list[Diagnostic]
) -> bool:
    """Checks the axis if its size is known; solves it for its only unknown variable if the size is linear in it or grows with it.

    Returns False if the axis cannot be used yet."""
    missing = [v for v in axis.size.variables() if v not in sizes]
    if not missing:
        expected = axis.size.evaluate(sizes)
        if expected != axis.length:
            problems.append(_disagreement(axis, expected, origins))
        return True
    if len(missing) > 1:
        return False
    unknown = missing[0]
    at_zero, at_one, at_two = (axis.size.evaluate({**sizes, unknown: value}) for value in (0, 1, 2))
    step = at_one - at_zero
    if step != 0 and at_two - at_one == step:
        value, rest = divmod(axis.length - at_zero, step)
    elif step > 0 and _grows(axis.size, unknown):
        lengths = range(axis.length + 1)
        value = bisect_left(lengths, axis.length, key=lambda n: axis.size.evaluate({**sizes, unknown: n}))
        rest = axis.length - axis.size.evaluate({**sizes, unknown: value})
    else:
        return False
    if rest or value < 0:
        message = f"axis {axis.axis} of {axis.name} is declared {axis.size}, which {axis.length} cannot be"
        problems.append(Diagnostic(Code.E706, message, axis.span))
        value = max(0, value)
    sizes[unknown] = value
    origins[unknown] = axis
    return True


def _grows(size: Size, unknown: SizeVariable) -> bool:
    """Is the size a polynomial in which every term with this variable has a positive coefficient, such as `a×a`?"""
    terms = [(monomial, coefficient) for monomial, coefficient in size.terms if any(atom == unknown for atom, _ in monomial)]
    plain = all(isinstance(atom, SizeVariable) for monomial, _ in size.terms for atom, _ in monomial)
    return plain and all(coefficient > 0 for _, coefficient in terms)


def _disagreement(axis: _BoundAxis, expected: int, origins: Mapping[SizeVariable, _BoundAxis]) -> Diagnostic:
    sources = [(v, origins[v]) for v in sorted(axis.size.variables(), key=lambda v: v.key) if v in origins]
    if not sources:
        return Diagnostic(Code.E706, f"axis {axis.axis} of {axis.name} is {axis.length}, but its type says {expected}", axis.span)
    labels = tuple(Label(s.span, f"{s.size} = {s.length} from axis {s.axis} of {s.name}") for _, s in sources)
    return Diagnostic(
        Code.E701, f"axis {axis.axis} of {axis.name} is {axis.length}, but {axis.size} is {expected}", axis.span, labels=labels,
        goal=f"{axis.size} = {axis.length}", counterexample={v.name: s.length for v, s in sources if s.size == axis.size},
    )  # fmt: skip


def _rank(declared: Sequence[Size]) -> str:
    return "one axis" if len(declared) == 1 else f"{len(declared)} axes"


def _shape(shape: Sequence[int]) -> str:
    return "[" + " ".join(map(str, shape)) + "]"
