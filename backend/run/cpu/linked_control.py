"""Loops, branches, maps and folds in linked calls: what is inside them is drafted once, and jumped over or back to.

State is an array of its own that each turn takes from what the turn made; cells of arguments are bases that hold their addresses.
What a body makes is dropped at its end.  Long work is left to the plan, which hears interrupts.

Neighbours: `linker` (asks, drafts the steps inside), `run.control` (the same in Python).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from ...graph.phases import Branch, Fold, Loop, Map, SubGraph, ValueId
from ...schedule.plan.model import BranchStep, CellsStep, LoopStep, SubPlan
from ..native.words import Operation
from .drafting import Refused, Verdict, address_of_array
from .kinds import DTYPES, NumArray
from .linked_values import Values
from .space import common_stride

_STEP_NANOSECONDS: Final = 40.0
"""An operation that launches nothing."""


class _Body:
    """A sub-graph drafted in place: nothing of it is left but the results' values."""

    def __init__(self, linker: Values, graph: SubGraph, plan: SubPlan) -> None:
        self.linker, self.graph, self.plan = linker, graph, plan

    def draft(self, given: Sequence[int]) -> list[int]:
        """The numbers of the results, each a whole array of its own, where the params are these values."""
        values = self.begin(given)
        results = [self.linker.own(value, values, []) for value in self.graph.results]
        if len(set(results)) < len(results):
            taken: list[int] = []
            for place, value in enumerate(self.graph.results):
                results[place] = self.linker.own(value, values, taken)
                taken.append(results[place])
        self.end(values, results)
        return results

    def condition(self, given: Sequence[int]) -> int:
        """The base of what a sub-graph that gives a truth value gives."""
        values = self.begin(given)
        made = self.linker.loaded(self.graph.results[0])
        self.end(values, ())
        return made

    def begin(self, given: Sequence[int]) -> int:
        linker = self.linker
        self.known, self.prints, values = set(linker.roots), linker.prints, len(linker.bases)
        for param, number in zip(self.graph.params, given, strict=True):
            example = linker.bases[number]
            assert example is not None
            linker.examples[param], linker.roots[param] = example, number
        pinned = linker.pinned
        linker.pinned = frozenset(range(values))
        (queue,) = self.plan.queues
        for step in queue.steps:
            linker.step(step)
        linker.pinned = pinned
        return values

    def end(self, values: int, results: Sequence[int]) -> None:
        """Drop what was made since there were so many values."""
        linker = self.linker
        for value in set(linker.roots) - self.known:
            linker.examples.pop(value, None)
            linker.roots.pop(value, None)
        if self.known - set(linker.roots) or linker.prints != self.prints:
            raise Refused(Verdict.NEVER)
        for number in range(values, len(linker.bases)):
            if linker.bases[number] is not None and number not in results:
                linker.drop(number)


def link_branch(linker: Values, phase: Branch, step: BranchStep) -> None:
    """One of two."""
    taken = linker.loaded(phase.condition)
    results = [linker.new(np.empty(linker.types.shape(v), DTYPES[linker.types.kind(v)])) for v in phase.results]
    sizes = [linker.new(None) for _ in phase.defines]
    otherwise, end = linker.label(), linker.label()
    linker.steps.append((Operation.BRANCH, taken, otherwise))
    duration = linker.duration
    sizes_of = [then for _, then, _ in phase.defines], [other for _, _, other in phase.defines]
    for graph, plan, own in ((phase.then, step.then, sizes_of[0]), (phase.otherwise, step.otherwise, sizes_of[1])):
        made = _Body(linker, graph, plan).draft(())
        _move(linker, made, results)
        linker.steps += [(Operation.SET, base, linker.types.number(size)) for base, size in zip(sizes, own, strict=True)]
        if graph is phase.then:
            linker.steps += [(Operation.JUMP, end), (Operation.LABEL, otherwise)]
    linker.duration = max(duration, linker.duration)
    linker.steps.append((Operation.LABEL, end))
    for base, (variable, _, _) in zip(sizes, phase.defines, strict=True):
        linker.define(variable, base)
    for value, number in zip(phase.results, results, strict=True):
        linker.settle(value, number)


def link_loop(linker: Values, phase: Loop, step: LoopStep) -> None:
    """A body so many times, or until something holds."""
    if step.rows is not None or not phase.is_plain:
        raise Refused(Verdict.NEVER)
    trip = linker.types.number(phase.trip)
    state = [linker.own(value, len(linker.bases), []) for value in phase.initial]
    kept = (
        [linker.make(linker.types.shape(value), DTYPES[linker.types.kind(value)]) for value in phase.results]
        if phase.keep
        else []
    )
    if kept and linker.found:
        raise Refused(Verdict.NEVER)
    left, at = linker.new(None), linker.new(None)
    top, end = linker.label(), linker.label()
    linker.steps += [(Operation.SET, left, trip), (Operation.SET, at, 0)]
    _keep(linker, state, kept, at)
    linker.steps += [(Operation.LABEL, top), (Operation.BRANCH, left, end)]
    start, before = len(linker.steps), linker.duration
    made = _Body(linker, phase.body, step.body).draft(state)
    stop = None
    if phase.until is not None and step.until is not None:
        stop = _Body(linker, phase.until, step.until).condition([*made, *state])
    for number in state:
        linker.steps.append((Operation.FREE, number))
    _move(linker, made, state)
    linker.steps += [(Operation.COMPUTE, left, left, left, 0, -1), (Operation.COMPUTE, at, at, at, 0, 1)]
    _keep(linker, state, kept, at)
    linker.steps.append((Operation.JUMP, top) if stop is None else (Operation.BRANCH, stop, top))
    linker.steps.append((Operation.LABEL, end))
    _count(linker, start, before, trip)
    if kept:
        for number in state:
            linker.drop(number)
    for value, number in zip(phase.results, kept or state, strict=True):
        linker.settle(value, number)


def _keep(linker: Values, state: Sequence[int], kept: Sequence[int], at: int) -> None:
    """The state is item `at` of what is kept."""
    for number, whole in zip(state, kept, strict=False):
        _put(linker, number, whole, at)


def _put(linker: Values, number: int, whole: int, at: int) -> None:
    """A value is the item of another at a place that a base holds."""
    cell, rows = linker.bases[number], linker.bases[whole]
    assert cell is not None
    assert rows is not None
    if cell.size:
        place = linker.new(None)
        linker.steps.append((Operation.COMPUTE, place, whole, at, cell.nbytes, 0))
        linker.copy(cell, (number, 0), linker.kind_of(cell), place)


def link_cells(linker: Values, phase: Map | Fold, step: CellsStep) -> None:
    """A body once a cell."""
    if isinstance(phase, Map):
        _link_map(linker, phase, step)
    else:
        _link_fold(linker, phase, step)


def _cells(linker: Values, value: ValueId, depth: int) -> tuple[int, int, int, NumArray]:
    """Where the cells of a value are: the base they lie in, the first one's distance, the bytes from one to the next, and one."""
    example, root = linker.examples[value], linker.roots[value]
    step = common_stride(example.shape[:depth], example.strides[:depth])
    if root is None or step is None or not example.size:
        raise Refused(Verdict.NEVER)
    whole = linker.bases[root]
    assert whole is not None
    first: tuple[Any, ...] = (*[slice(0, 1)] * depth, ...)
    cell = example[first].reshape(example.shape[depth:])
    if not np.may_share_memory(cell, example):
        raise Refused(Verdict.LAYOUT)
    return root, address_of_array(example) - address_of_array(whole), step, cell


def _cell(linker: Values, cells: tuple[int, int, int, NumArray]) -> int:
    """A base for the address of a cell."""
    number = linker.new(cells[3])
    linker.lent.add(number)
    return number


def _link_map(linker: Values, phase: Map, step: CellsStep) -> None:
    frame = tuple(map(linker.types.number, phase.frame))
    count = prod(frame)
    if not count or linker.found or any(depth not in (0, len(frame)) for depth in phase.frames):
        raise Refused(Verdict.NEVER)
    results = [linker.make(linker.types.shape(value), DTYPES[linker.types.kind(value)]) for value in phase.results]
    args = [_cells(linker, value, depth) for value, depth in zip(phase.args, phase.frames, strict=True)]
    given = [_cell(linker, cells) for cells in args]

    def turn(at: int) -> None:
        for number, (root, ahead, pitch, _), depth in zip(given, args, phase.frames, strict=True):
            linker.steps.append((Operation.COMPUTE, number, root, at, pitch if depth else 0, ahead))
        for made, whole in zip(_Body(linker, phase.body, step.body).draft(given), results, strict=True):
            _put(linker, made, whole, at)
            linker.drop(made)

    _each(linker, 0, count, 1, turn)
    _forget(linker, given)
    for value, number in zip(phase.results, results, strict=True):
        linker.settle(value, number)


def _link_fold(linker: Values, phase: Fold, step: CellsStep) -> None:
    length = len(linker.examples[phase.args[0]])
    args = [_cells(linker, value, 1) for value in phase.args]
    if linker.found:
        linker.steps.append((Operation.CHECK, length - 1))
    first = 0 if phase.scan else length - 1
    given = [_cell(linker, cells) for cells in args]
    state: list[int] = []
    place = linker.new(None)
    linker.steps.append((Operation.SET, place, first))
    for number, (root, ahead, pitch, cell) in zip(given, args, strict=True):
        linker.steps.append((Operation.COMPUTE, number, root, place, pitch, ahead))
        state.append(linker.make(cell.shape, cell.dtype))
        linker.copy(cell, (number, 0), linker.kind_of(cell), state[-1])
    kept = [linker.make(linker.types.shape(v), DTYPES[linker.types.kind(v)]) for v in phase.results] if phase.scan else []
    _keep(linker, state, kept, place)

    def turn(at: int) -> None:
        for number, (root, ahead, pitch, _) in zip(given, args, strict=True):
            linker.steps.append((Operation.COMPUTE, number, root, at, pitch, ahead))
        made = _Body(linker, phase.body, step.body).draft([*state, *given] if phase.scan else [*given, *state])
        for number in state:
            linker.steps.append((Operation.FREE, number))
        _move(linker, made, state)
        _keep(linker, state, kept, at)

    _each(linker, 1 if phase.scan else length - 2, length - 1, 1 if phase.scan else -1, turn)
    _forget(linker, given)
    if kept:
        for number in state:
            linker.drop(number)
    for value, number in zip(phase.results, kept or state, strict=True):
        linker.settle(value, number)


def _each(linker: Values, first: int, count: int, way: int, turn: Any) -> None:
    """`turn(at)` so many times, where the base `at` holds a place that goes on by `way`."""
    left, at = linker.new(None), linker.new(None)
    top, end = linker.label(), linker.label()
    linker.steps += [(Operation.SET, left, count), (Operation.SET, at, first)]
    linker.steps += [(Operation.LABEL, top), (Operation.BRANCH, left, end)]
    start, before = len(linker.steps), linker.duration
    turn(at)
    linker.steps += [(Operation.COMPUTE, left, left, left, 0, -1), (Operation.COMPUTE, at, at, at, 0, way)]
    linker.steps += [(Operation.JUMP, top), (Operation.LABEL, end)]
    _count(linker, start, before, count)


def _count(linker: Values, start: int, before: float, turns: int) -> None:
    """What was drafted since then is done so many times."""
    steps = sum(step[0] is not Operation.SETTLED for step in linker.steps[start:])
    each = linker.duration - before + steps * _STEP_NANOSECONDS
    linker.work(each * max(0, turns))


def _move(linker: Values, sources: Sequence[int], targets: Sequence[int]) -> None:
    for source, target in zip(sources, targets, strict=True):
        linker.steps.append((Operation.MOVE, target, source))
        linker.bases[source] = None


def _forget(linker: Values, lent: Sequence[int]) -> None:
    for number in lent:
        linker.bases[number] = None
