"""Loops whose items see only themselves: all iterations of some rows, then of others, in one launch where that is not long.

What would take longer is done in stretches of iterations, so that interrupts are heard; from the second stretch on the state is
where the first one has left it.  Launches are kept by the layout of their operands.

Neighbours: `regions` (asks), `ranges` (the words of a launch), `tiles` (bands of rows).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...graph.phases import Loop
from ...kernels.kept import Kept
from ...library.routines import in_parts
from ...loops.iterations import Iteration
from ...loops.lower.region import Region
from ...loops.lower.values import First, State
from ..device import Types
from ..pool import room
from .compiled import layout_of
from .kinds import DTYPES, NumArray, start_of
from .ranges import Compiled, Ranges
from .sharing import Pieces


class Pointwise:
    def __init__(self, loop: Loop, region: Region, iteration: Iteration) -> None:
        self.loop, self.region, self.iteration = loop, region, iteration
        self.launches: Kept[tuple[Pieces, int]] = Kept(16)

    def repeated(self, compiled: Compiled, arrays: Mapping[str, NumArray], types: Types, trips: int, threads: int
                 ) -> tuple[Any, ...]:  # fmt: skip
        """The last state."""
        made = [room(types.shape(value), DTYPES[types.kind(value)]) for value in self.loop.results]
        arrays, done = dict(arrays) | self.shown(compiled, made, State), 0
        while True:
            pieces, turns = self.launch(compiled, arrays, types, trips, threads)
            addresses = [start_of(arrays[view.name]) for view in compiled.program.views]
            pieces.run([done, min(trips, done + turns), *addresses])
            done += turns
            if done >= trips:
                return tuple(made)
            arrays |= self.shown(compiled, made, First)

    def shown(self, compiled: Compiled, state: Sequence[NumArray], role: type[State] | type[First]) -> dict[str, NumArray]:
        """Arrays of the state as views of the program."""
        found: dict[str, NumArray] = {}
        for view in compiled.program.views:
            source = self.region.sources[view.name]
            if isinstance(source, role):
                array = state[source.place]
                found[view.name] = in_parts(array.reshape(-1) if self.region.is_flat else array)
        return found

    def launch(self, compiled: Compiled, arrays: Mapping[str, NumArray], types: Types, trips: int, threads: int
               ) -> tuple[Pieces, int]:  # fmt: skip
        """A launch on operands like these, and how many iterations it does at most."""
        views = [view.name for view in compiled.program.views]
        key = (compiled.code.address, threads, trips, layout_of([arrays[name] for name in views]))
        found = self.launches.get(key)
        if found is None:
            ranges = Ranges(self.loop, self.iteration, self.region, compiled, arrays, types, _nobody, threads)
            places = {name: 2 + place for place, name in enumerate(views)}
            found = self.launches.put(key, (), ranges.pieces(places, trips))
        return found


def _nobody(threads: int) -> Any:
    raise AssertionError("no routine is called")
