"""One binding for all values of a size that a run finds: its words at some values, and what each of them is at the others.

What is bound is asked for at the ends of a range and at places between.  Every word has to be a whole number of times the size,
and a constant; of layouts the first length may be such a number, and nothing else changes.  Where that does not hold the range is
made smaller, or there is none: then each value of the size has a binding of its own.

Neighbours: `sites` (asks), `run.c` (Note [Tuning]), `layouts` (tables of lengths), `cpu.bindings` (whose words these are).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from .layouts import MOST_CELLS, Layouts

LEAST: Final = 2
"""Of one item nothing is told: its axis has no stride."""
LEAST_RANGE: Final = 16
"""Values of the size for which it is worth the trouble."""
TRIALS: Final = 11
"""Sizes within a range that are tried; odd, so that all remainders by a power of two are met."""


@dataclass(frozen=True, slots=True)
class Example:
    """The words of a binding for one value of the size.

    `layouts`, `rooms`: the places of layouts of values and of memory to work in; `loose`: of what any value of the size may
    have as another has it; `keep`: what the words mention."""

    words: list[int]
    layouts: frozenset[int]
    rooms: frozenset[int]
    loose: frozenset[int]
    keep: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Tuned:
    """The words of a binding, and its `struct tuning`."""

    words: list[int]
    tuning: list[int]
    keep: tuple[object, ...]


def tuned(example: Callable[[int], Example | None], layouts: Layouts, size: int, most: int) -> Tuned | None:
    """For a range about `size`, the only one that the run has found, at most `most`; None: for no range worth it."""
    near = size + 1 if size < most else size - 1
    if size < LEAST or near < LEAST:
        return None
    first, second = example(size), example(near)
    if first is None or second is None or len(first.words) != len(second.words):
        return None
    fit = _Fit(layouts, example, size, first, [first, second])
    if not fit.starts(near, second):
        return None
    least, greatest = fit.reached(LEAST), fit.reached(most)
    if greatest - least < LEAST_RANGE:
        return None
    trials = {least + (greatest - least) * place // (TRIALS + 1) + place % 2 for place in range(1, TRIALS + 1)}
    if not all(map(fit.holds, sorted(trials))):
        return None
    last = example(greatest)
    return None if last is None else fit.finished(least, greatest, last)


@dataclass(slots=True)
class _Fit:
    layouts: Layouts
    example: Callable[[int], Example | None]
    size: int
    first: Example
    kept: list[Example]
    """So that no address is used twice."""
    numbers: list[tuple[int, Any]] = field(default_factory=list)
    factors: list[int] = field(default_factory=list)

    def read(self, example: Example) -> list[tuple[int, Any]]:
        """Each word as a number, and what has to be the same whatever the size."""
        made: list[tuple[int, Any]] = []
        for place, word in enumerate(example.words):
            if place in example.layouts or place in example.rooms:
                dtype, shape, strides = self.layouts.key(word)
                made.append((shape[0] if shape else 0, (dtype, shape[1:], strides)))
            else:
                made.append((0 if place in example.loose else word, None))
        return made

    def starts(self, near: int, second: Example) -> bool:
        """Find the factors, of two sizes that are neighbours."""
        self.numbers, other = self.read(self.first), self.read(second)
        self.factors = [(b - a) * (near - self.size) for (a, _), (b, _) in zip(self.numbers, other, strict=True)]
        return self.agrees(near, second, other) and all(self.factors[place] >= 0 for place in self.first.rooms)

    def agrees(self, size: int, example: Example, numbers: list[tuple[int, Any]]) -> bool:
        """Are these the words that the factors say?"""
        if (example.layouts, example.rooms, example.loose) != (self.first.layouts, self.first.rooms, self.first.loose):
            return False
        ahead = size - self.size
        lengths = [numbers[place][0] for place in example.layouts if self.factors[place]]
        return max(lengths, default=0) <= MOST_CELLS and all(
            number == was + factor * ahead and same == before
            for (was, before), factor, (number, same) in zip(self.numbers, self.factors, numbers, strict=True)
        )

    def holds(self, size: int) -> bool:
        example = self.example(size)
        if example is None or len(example.words) != len(self.first.words):
            return False
        self.kept.append(example)
        return self.agrees(size, example, self.read(example))

    def reached(self, end: int) -> int:
        """How far towards the end of a range it holds, as far as halving tells."""
        if self.holds(end):
            return end
        good = self.size
        while abs(end - good) > 1:
            middle = (good + end) // 2
            good, end = (middle, end) if self.holds(middle) else (good, middle)
        return good

    def finished(self, least: int, most: int, last: Example) -> Tuned:
        """Rooms are as large as any size wants them."""
        changes: list[int] = []
        count = 0
        for place, ((number, same), factor) in enumerate(zip(self.numbers, self.factors, strict=True)):
            if factor and place not in last.rooms:
                table = self.layouts.lengths(*same) if place in last.layouts else 0
                changes += (place, table, number - factor * self.size, factor)
                count += 1
        return Tuned(last.words, [least, most, most, count, *changes], last.keep)
