"""Words of control and of cells in linked calls: what they hold is drafted once, and jumped over or back to.

State is an array of its own that each turn takes from what the turn made; cells are bases that hold their addresses.  What a
turn or an arm makes is dropped at its end.  Long work is left to the plan, which hears interrupts.

Neighbours: `linker` (asks, drafts the words inside), `words.program` (the words), `words.interpret` (the same in Python).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ....typechecker.sizes import Size
from ...graph.phases import ValueId
from ..native.words import Operation
from ..words.program import Arm, Cell, Choose, Put, Refuse, Register, Repeat, Room, Share, Test, Word
from .drafting import Refused, Verdict, address_of_array
from .kinds import DTYPES
from .linked_values import Values
from .space import common_stride

_STEP_NANOSECONDS: Final = 40.0
"""An operation that launches nothing."""


def link_control(linker: Values, word: Word) -> None:
    """A word that launches nothing itself."""
    match word:
        case Repeat():
            _repeat(linker, word)
        case Choose():
            _choose(linker, word)
        case Test():
            linker.registers[word.register] = linker.loaded(word.value)
        case Share():
            for name, value in zip(word.names, word.values, strict=True):
                linker.examples[name], linker.roots[name] = linker.examples[value], linker.roots[value]
        case Cell():
            _cell(linker, word)
        case Room():
            _name(linker, word.value, _made(linker, word.value))
        case Put():
            _put(linker, word)
        case Refuse():
            _check(linker, word.size)
        case _:
            raise Refused(Verdict.NEVER)


def _repeat(linker: Values, word: Repeat) -> None:
    if word.index is not None:
        raise Refused(Verdict.NEVER)
    trip = linker.types.number(word.trip)
    state = [linker.own(value, len(linker.bases), []) for value in word.initial]
    left, at = linker.new(None), linker.new(None)
    linker.registers[word.at] = at
    top, end = linker.label(), linker.label()
    linker.steps += [(Operation.SET, left, trip), (Operation.SET, at, trip - 1 if word.backwards else word.first)]
    linker.steps += [(Operation.LABEL, top), (Operation.BRANCH, left, end)]
    start, before = len(linker.steps), linker.duration
    for value in word.state:
        linker.roots.pop(value, None)
    scope = _Scope(linker)
    for value, number in zip(word.state, state, strict=True):
        _name(linker, value, number)
    made = scope.words(word.words, word.next)
    for number in state:
        linker.steps.append((Operation.FREE, number))
    _move(linker, made, state)
    way = -1 if word.backwards else 1
    linker.steps += [(Operation.COMPUTE, left, left, left, 0, -1), (Operation.COMPUTE, at, at, at, 0, way)]
    linker.steps.append((Operation.JUMP, top) if word.stop is None else (Operation.BRANCH, linker.registers[word.stop], top))
    linker.steps.append((Operation.LABEL, end))
    steps = sum(step[0] is not Operation.SETTLED for step in linker.steps[start:])
    linker.work((linker.duration - before + steps * _STEP_NANOSECONDS) * max(0, trip))
    if word.results:
        for value, number in zip(word.results, state, strict=True):
            linker.settle(value, number)
    else:
        for number in state:
            linker.drop(number)


def _choose(linker: Values, word: Choose) -> None:
    if isinstance(word.by, Size):
        _check(linker, word.by)
        for inner in word.arms[0].words:
            linker.word(inner)
        return
    results = [linker.new(np.empty(linker.types.shape(value), DTYPES[linker.types.kind(value)])) for value in word.results]
    sizes = [linker.new(None) for _ in word.defines]
    otherwise, end = linker.label(), linker.label()
    linker.steps.append((Operation.BRANCH, linker.registers[word.by], otherwise))
    duration = linker.duration
    _arm(linker, word.arms[0], results, sizes)
    linker.steps += [(Operation.JUMP, end), (Operation.LABEL, otherwise)]
    _arm(linker, word.arms[1], results, sizes)
    linker.duration = max(duration, linker.duration)
    linker.steps.append((Operation.LABEL, end))
    for base, variable in zip(sizes, word.defines, strict=True):
        linker.define(variable, base)
    for value, number in zip(word.results, results, strict=True):
        linker.settle(value, number)


def _arm(linker: Values, arm: Arm, results: Sequence[int], sizes: Sequence[int]) -> None:
    _move(linker, _Scope(linker).words(arm.words, arm.gives), results)
    linker.steps += [(Operation.SET, base, linker.types.number(size)) for base, size in zip(sizes, arm.sizes, strict=True)]


class _Scope:
    """What words inside others make: nothing of it is left but what they give."""

    def __init__(self, linker: Values) -> None:
        self.linker = linker
        self.known, self.prints, self.values = set(linker.roots), linker.prints, len(linker.bases)

    def words(self, words: Sequence[Word], gives: Sequence[ValueId]) -> list[int]:
        """The numbers of what they give, each a whole array of its own."""
        linker, pinned = self.linker, self.linker.pinned
        linker.pinned = frozenset(range(self.values))
        for word in words:
            linker.word(word)
        linker.pinned = pinned
        taken: list[int] = []
        for value in gives:
            taken.append(linker.own(value, self.values, taken))
        for value in set(linker.roots) - self.known:
            linker.examples.pop(value, None)
            linker.roots.pop(value, None)
        if self.known - set(linker.roots) or linker.prints != self.prints:
            raise Refused(Verdict.NEVER)
        for number in range(self.values, len(linker.bases)):
            if linker.bases[number] is not None and number not in taken:
                linker.drop(number)
        return taken


def _cell(linker: Values, word: Cell) -> None:
    """A base for its address."""
    if word.axes not in (0, len(word.frame)):
        raise Refused(Verdict.NEVER)
    example, root = linker.examples[word.of], linker.roots[word.of]
    step = common_stride(example.shape[: word.axes], example.strides[: word.axes])
    if root is None or step is None or not example.size:
        raise Refused(Verdict.NEVER)
    whole = linker.bases[root]
    assert whole is not None
    first: tuple[Any, ...] = (*[slice(0, 1)] * word.axes, ...)
    cell = example[first].reshape(example.shape[word.axes :])
    if not np.may_share_memory(cell, example):
        raise Refused(Verdict.LAYOUT)
    number = linker.new(cell)
    linker.lent.add(number)
    ahead = address_of_array(example) - address_of_array(whole)
    linker.steps.append((Operation.COMPUTE, number, root, _place(linker, word.at), step if word.axes else 0, ahead))
    _name(linker, word.value, number)


def _put(linker: Values, word: Put) -> None:
    whole, cell = linker.roots[word.value], linker.examples[word.cell]
    assert whole is not None
    if cell.size:
        place = linker.new(None)
        linker.steps.append((Operation.COMPUTE, place, whole, _place(linker, word.at), cell.nbytes, word.ahead * cell.nbytes))
        linker.copy(cell, linker.base(cell, word.cell, None), linker.types.kind(word.value), place)
        linker.steps.append((Operation.SETTLED, whole))


def _place(linker: Values, at: Register | Size) -> int:
    """The base of a number."""
    if not isinstance(at, Size):
        return linker.registers[at]
    number = linker.new(None)
    linker.steps.append((Operation.SET, number, linker.types.number(at)))
    return number


def _check(linker: Values, size: Size) -> None:
    """The call is for others where a size is 0."""
    number = linker.types.number(size)
    if number < 1:
        raise Refused(Verdict.NEVER)
    linker.steps.append((Operation.CHECK, number - 1))


def _made(linker: Values, value: ValueId) -> int:
    return linker.make(linker.types.shape(value), DTYPES[linker.types.kind(value)])


def _name(linker: Values, value: ValueId, number: int) -> None:
    example = linker.bases[number]
    assert example is not None
    linker.examples[value], linker.roots[value] = example, number


def _move(linker: Values, sources: Sequence[int], targets: Sequence[int]) -> None:
    for source, target in zip(sources, targets, strict=True):
        linker.steps.append((Operation.MOVE, target, source))
        linker.bases[source] = None
