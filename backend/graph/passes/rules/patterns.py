"""What a rule looks for: library phases and reductions over values that are named.

A pattern is matched against a phase, then against the makers of its operands.  A name stands for one value: where it is there
twice, both must be that value.

Neighbours: `rule` (a pattern, a condition and a replacement), `table` (all of them).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from .....lang.records import dataclass
from ...cells import frame_of, framed_of
from ...phases import Constant, LibraryPhase, Phase, Read, ReadNode, Structured, ValueId
from ..rewriting import is_view


@dataclass(frozen=True, slots=True)
class Item:
    """Any value."""

    name: str


@dataclass(frozen=True, slots=True)
class Written:
    """A constant."""

    name: str


@dataclass(frozen=True, slots=True)
class Op:
    """A library phase; `attributes` are those that matter, and None is an attribute that must be absent or False.  In a frame
    every operand carries it."""

    op: str
    args: tuple[Pattern, ...]
    attributes: Mapping[str, object] = field(default_factory=dict)
    framed: bool = False


@dataclass(frozen=True, slots=True)
class Reduced:
    """The items along the last axis of a value that is named already, and nothing else, reduced with one of some functions."""

    functions: frozenset[str]
    arg: Item


Pattern: TypeAlias = Item | Written | Op | Reduced


@dataclass(slots=True)
class Match:
    """`values` by the names of the pattern, `phases` in its order from the outside in."""

    values: dict[str, ValueId]
    phases: list[Phase]

    def __getitem__(self, name: str) -> ValueId:
        return self.values[name]

    @property
    def root(self) -> LibraryPhase:
        (first, *_) = self.phases
        assert isinstance(first, LibraryPhase)
        return first

    def library(self, place: int) -> LibraryPhase:
        phase = self.phases[place]
        assert isinstance(phase, LibraryPhase)
        return phase


def matched(pattern: Op, phase: Phase, makers: Mapping[ValueId, Phase]) -> Match | None:
    """How the phase fits the pattern; None if it does not."""
    match = Match({}, [])
    return match if _phase(pattern, phase, makers, match) else None


def _phase(pattern: Op, phase: Phase | None, makers: Mapping[ValueId, Phase], match: Match) -> bool:
    if not isinstance(phase, LibraryPhase) or phase.op != pattern.op or len(phase.args) != len(pattern.args):
        return False
    if frame_of(phase) and not (pattern.framed and all(framed_of(phase))):
        return False
    for name, wanted in pattern.attributes.items():
        found = phase.attributes.get(name)
        if found != wanted and not (wanted is None and found is False):
            return False
    match.phases.append(phase)
    return all(_value(own, arg, makers, match) for own, arg in zip(pattern.args, phase.args, strict=True))


def _value(pattern: Pattern, value: ValueId, makers: Mapping[ValueId, Phase], match: Match) -> bool:
    match pattern:
        case Item():
            return match.values.setdefault(pattern.name, value) == value
        case Written():
            return isinstance(makers.get(value), Constant) and match.values.setdefault(pattern.name, value) == value
        case Op():
            return _phase(pattern, makers.get(value), makers, match)
        case Reduced():
            phase = makers.get(value)
            if not isinstance(phase, Structured):
                return False
            read = _reduced(phase, value, pattern.functions)
            match.phases.append(phase)
            own = match.values.get(pattern.arg.name)
            return read is not None and own is not None and _is_of(read, own, makers)


def _reduced(phase: Structured, value: ValueId, functions: frozenset[str]) -> Read | None:
    """What is reduced as it is."""
    result = next(result for result in phase.results if result.value == value)
    node = phase.body[result.node]
    return phase.reads[node.index] if result.reduction in functions and isinstance(node, ReadNode) else None


def _is_of(read: Read, value: ValueId, makers: Mapping[ValueId, Phase]) -> bool:
    """Are the items those of a value, which may be a view that is read through?"""
    if read.value == value and not read.projection.stages:
        return True
    view = makers.get(value)
    return view is not None and is_view(view) and isinstance(view, Structured) and view.reads[0] == read
