"""Makespans asked of the search over states, forwards and backwards, until plan and bound meet or the work is done.

Work is counted in numbers of states made, so an answer does not depend on the machine.  Each width keeps so many states of a
layer: narrow searches find plans, wide ones leave nothing out and so refute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from ...timeline.timing import Decisions, Mode, Queueing
from ..bounds import Bounds
from .layers import Layers
from .model import Model, mirrored, model_of

WIDTHS: Final = (100, 600, 3000, 15_000)

Verdict: TypeAlias = "Decisions | bool | None"


@dataclass(slots=True)
class States:
    """Both directions of a problem, and the work that is left."""

    sides: list[Layers]
    left: int
    lower: int = 0

    def within(self, makespan: int, most: int) -> Verdict:
        """A plan of at most so many ticks; False if there is none, None if that is not known."""
        for side in list(self.sides):
            if self.left <= 0:
                return None
            before = side.spent
            found = side.within(makespan, most, self.left)
            self.left -= side.spent - before
            if found is not None:
                self.sides.sort(key=lambda other: other is not side)  # what knew is asked first
                return found if isinstance(found, bool) else decided(side.model, found)
        return None


def states_of(bounds: Bounds, work: int) -> States | None:
    """The search of a problem, if it is one for it."""
    model = model_of(bounds)
    if model is None:
        return None
    back = mirrored(model)
    return States([Layers(model), Layers(back)], work, max(model.bound, back.bound))


def solve(states: States, lower: int, upper: int) -> tuple[int, Decisions | None]:
    """No plan takes less than the first; the best plan that was found of less than `upper` ticks."""
    best: Decisions | None = None
    lower = max(lower, states.lower)
    for most in WIDTHS:
        step = 1
        while lower < upper and states.left > 0:  # what so few states refute, by larger and larger steps
            middle = min(upper, lower + step) - 1
            found = states.within(middle, most)
            if found is False:
                lower, step = middle + 1, 2 * step
            elif isinstance(found, Decisions):
                best, upper = found, middle
            elif step > 1:
                step = 1
            else:
                break
        low = lower + 1
        while low < upper and states.left > 0:  # plans that they find
            middle = (low + upper) // 2
            found = states.within(middle, most)
            if isinstance(found, Decisions):
                best, upper = found, middle
            else:
                low = middle + 1
                lower = low if found is False else lower
        if lower >= upper or states.left <= 0:
            break
    return min(lower, upper), best


def refuted(bounds: Bounds, makespan: int, work: int) -> bool:
    """Whether there is no plan of at most so many ticks."""
    states = states_of(bounds, work)
    return states is not None and (makespan < states.lower or any(states.within(makespan, m) is False for m in WIDTHS))


def decided(model: Model, placed: list[tuple[int, int]]) -> Decisions:
    """Phases and devices of the problem, in the order of starts."""
    modes: dict[int, Mode] = {model.phases[p]: ((model.devices[d], 1),) for p, d in placed}
    order = [model.phases[p] for p, _ in placed]
    if model.backwards:
        order.reverse()
    return Decisions(tuple(modes[p] for p in range(len(modes))), tuple(order), Queueing.APPEND)
