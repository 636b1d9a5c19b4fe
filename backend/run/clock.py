"""Runs queues one after the other in this thread: the one whose next step starts first on the predicted clock goes on.

So execution is deterministic, costs no more for ten thousand devices than for their steps, and a simulated device holds at each
tick what the plan says it holds then.

Neighbours: `queues` (how each gets on), `distributed` (asks for this), `threads` (the other driver).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from .firsts import OF_THE_PROGRAM, Failure, first_of
from .queues import Course, Fences


@dataclass(slots=True)
class _Clock(Fences):
    """`ready`: when queues may go on; `waiting`: for fences."""

    ready: list[tuple[int, int]] = field(default_factory=list)
    waiting: dict[Hashable, list[int]] = field(default_factory=dict)

    def passed(self, fence: Hashable, of: int) -> None:
        Fences.passed(self, fence, of)
        for which in self.waiting.pop(fence, ()) if self.is_passed(fence) else ():
            heappush(self.ready, (self.now, which))


def run_by_clock(courses: Sequence[Course], settle: Callable[[], None]) -> Failure | None:
    """Run every queue to its end; the failure to be raised, if there is one.  `settle` is called at the end of each tick.

    After a failure of the program the other queues go on as far as they come, as in threads."""
    clock = _Clock(ready=[(0, place) for place in range(len(courses))])
    ways = [course.go(clock) for course in courses]
    place, under_way, failures = 0, len(courses), list[Failure]()
    try:
        while clock.ready:
            now, following = heappop(clock.ready)
            if now > clock.now and not failures:  # what has failed frees nothing more
                settle()
            clock.now, place = now, following
            try:
                for fence, tick in ways[place]:
                    if fence is not None and not clock.is_passed(fence):
                        clock.waiting.setdefault(fence, []).append(place)
                        break
                    if tick > now:
                        heappush(clock.ready, (tick, place))
                        break
                else:
                    under_way -= 1
            except OF_THE_PROGRAM as error:
                failures.append(Failure(courses[place].at, courses[place].which, error))
        if not failures:
            settle()
    except BaseException as error:
        failures.append(Failure(courses[place].at, courses[place].which, error))
    if under_way and not failures:
        raise AssertionError("every queue waits for another")
    return first_of(failures)
