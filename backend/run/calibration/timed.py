"""A program that is timed: one of the phases of a run, a few times in a row, as programs are run.

Neighbours: `overheads` (programs ready to run), `moving`, `sharing` (what is timed).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final, TypeAlias

from ...graph.phases import Phase, Structured
from .calm import undisturbed
from .clock import low
from .overheads import Ready

IN_A_ROW: Final = 5

Seen: TypeAlias = list[tuple[Phase, int]]


@dataclass(slots=True)
class Program:
    """`of`: which of its observed phases is timed."""

    run: Ready
    of: Callable[[Seen], int]
    times: list[int] = field(default_factory=list)

    def again(self, count: int) -> None:
        self.run()
        self.times.append(undisturbed(lambda: int(median([self.of(self.run()) for _ in range(count)]))))

    @property
    def ns(self) -> int:
        return low(self.times)


def structured(place: int) -> Callable[[Seen], int]:
    return lambda seen: [ns for phase, ns in seen if isinstance(phase, Structured)][place]


def take_turns(programs: Sequence[Program], rounds: int) -> None:
    for _ in range(rounds):
        for program in programs:
            program.again(IN_A_ROW)
