"""Sizes that a run finds, in linked calls: which numbers they have while a call is drafted, and what is known of them.

Neighbours: `encoding` (Note [Sizes that a run finds]), `linking`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from ....typechecker.core import CoreGuard
from ....typechecker.elements import Kind
from ....typechecker.obligations import Relation
from ....typechecker.sizes import Size, SizeVariable, capacity
from ....typechecker.types import ArrayType
from ...graph.phases import Phase, ValueId
from ...graph.traverse import defines, operands, results, sizes
from ..device import Types

MOST: Final = 8191
"""Plans with larger sizes that a run finds are not linked: their kernels would be shared by threads."""
MOST_SIZES: Final = 3
MOST_LEAST: Final = 16
_STEPS: Final = (1.0, 0.0, 0.93, 0.31, 0.55, 0.02, 0.77, 0.13, 0.48, 0.99, 0.66, 0.22, 0.87)
"""Where between the least and the most the examples of a size are."""


class Unfit(Exception):
    """Examples of sizes that contradict each other."""


@dataclass
class ExampleTypes:
    """`device.Types` where sizes that a run finds have the numbers of an example."""

    types: Mapping[ValueId, ArrayType]
    guards: tuple[CoreGuard, ...]
    sizes: dict[SizeVariable, int] = field(default_factory=dict)

    def kind(self, value: ValueId) -> Kind:
        return self.types[value].element.kind

    def shape(self, value: ValueId) -> tuple[int, ...]:
        return tuple(map(self.number, self.types[value].shape))

    def cap_shape(self, value: ValueId) -> tuple[int, ...]:
        return tuple(capacity(size).evaluate({}) for size in self.types[value].shape)

    def number(self, size: Size) -> int:
        constant = size.constant
        return size.evaluate(self.sizes) if constant is None else constant

    def cap(self, variable: SizeVariable) -> int:
        return MOST if variable.cap is None else self.number(variable.cap)

    def is_fitting(self) -> bool:
        """Do the examples obey what is asserted?"""
        if any(not 0 <= value <= self.cap(variable) for variable, value in self.sizes.items() if variable.cap is not None):
            return False
        known = [guard for guard in self.guards if all(variable in self.sizes for variable in guard.variables())]
        return all(guard.holds(self.sizes) for guard in known)


def found_sizes(phases: Iterable[Phase]) -> list[SizeVariable]:
    """The sizes that these phases find, in their order."""
    return list(dict.fromkeys(variable for phase in phases for variable in defines(phase)))


def least_of(
    types: Types, phases: Iterable[Phase], known: Mapping[SizeVariable, int], found: Sequence[SizeVariable]
) -> int | None:
    """From which number on all that depends on a found size does so by polynomials; None if from none or this is not seen."""
    asked = {size for phase in phases for size in _mentioned(phase, types) if _has_nodes(size, set(found))}
    if not asked:
        return 0
    if len(found) > 1:
        return None
    (variable,) = found
    example = ExampleTypes(types.types, types.guards, dict(known))
    most, least = min(MOST, example.cap(variable)), 0
    for size in asked:
        values = [size.evaluate({**known, variable: value}) for value in range(most + 1)]
        rises = [after - before for before, after in pairwise(values)]
        bends = [after - before for before, after in pairwise(rises)]
        least = max([least, *(place + 1 for place, bend in enumerate(bends) if bend != bends[-1])])
    return least if least <= MOST_LEAST else None


def _mentioned(phase: Phase, types: Types) -> Iterator[Size]:
    yield from sizes(phase)
    for value in (*operands(phase), *results(phase)):
        yield from types.types[value].shape


def _has_nodes(size: Size, found: set[SizeVariable]) -> bool:
    atoms = [atom for monomial, _ in size.terms for atom, _ in monomial]
    return any(not isinstance(atom, SizeVariable) and any(arg.variables() & found for arg in atom.args) for atom in atoms)


def examples(types: Types, known: Mapping[SizeVariable, int], found: Sequence[SizeVariable], least: int) -> list[ExampleTypes]:
    """Types for enough examples of the sizes; fewer than wanted where they contradict what is asserted."""
    wanted = 2 + (len(found) + 1) * (len(found) + 2) // 2 + len(found)
    made: list[ExampleTypes] = []
    seen = set()
    for turn in range(4 * wanted):
        example = ExampleTypes(types.types, types.guards, dict(known))
        for place, variable in enumerate(found):
            most = example.cap(variable)
            low = min(most, max(least, variable.minimum))
            share = _STEPS[(turn * (2 * place + 1) + place * 3) % len(_STEPS)] if turn else 1.0
            example.sizes[variable] = low + round(share * (most - low))
        key = tuple(example.sizes.values())
        if key not in seen and example.is_fitting():
            seen.add(key)
            made.append(example)
            if len(made) == wanted:
                break
    return made


def conditions(example: ExampleTypes, variable: SizeVariable, least: int) -> list[int]:
    """Numbers that are not below 0 where a size just found is as it has to be.  Unfit: one is, here."""
    value, known = example.sizes[variable], example.sizes
    made = [value - least, (MOST if variable.cap is None else example.number(variable.cap)) - value]
    for guard in example.guards:
        fact = guard.fact
        mentioned = guard.variables()
        of_a_loop = guard.index is not None or guard.runs is not None
        if variable not in mentioned or of_a_loop or any(v not in known for v in mentioned):
            continue
        left, right = fact.left.evaluate(known), fact.right.evaluate(known)
        match fact.relation:
            case Relation.EQUAL:
                made += [left - right, right - left]
            case Relation.AT_MOST:
                made.append(right - left)
            case Relation.LESS:
                made.append(right - left - 1)
            case _:
                raise Unfit
    if min(made) < 0:
        raise Unfit
    return made
