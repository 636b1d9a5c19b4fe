"""Partial plans, one phase more at a time: all of a layer together, in arrays.

A state is what matters for the rest of a plan: which phases are left, when each device is free, and what is on its way to them.
Phases are placed in the order of their starts, each as early as it can be on its device.  For a makespan of T,

* no state is kept that cannot end in time: a phase that is ready must start before its tail, and for every moment, what must
  end until then fits in what the devices have left;
* of equal states (equal devices renamed) one is kept; of two with the same phases left, one that is nowhere later is enough;
* a device is not left idle where a phase that is ready could run to its end without being of less use to anything that reads it.

If no state is left there is no plan of T ticks, provided that none was dropped for want of room.

Note [On its way].  Of the operands of a phase only three numbers count: the latest arrival of what comes from another device,
where that is made, and the latest of what is made elsewhere.

Note [Idle].  Say u is ready and could run on a device before s, the start of t, and its result is everywhere as early as if it
had been made at home from s on.  In a plan that goes on so, u starts at s or later, and could be moved into the gap.  Plans
with the least starts are never left out, so some plan is found if there is any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from .model import NEVER, Model

Array: TypeAlias = "np.ndarray[Any, Any]"
NONE: Final = -1
CHUNK: Final = 1 << 16
LOOK_BACK: Final = 3


@dataclass(slots=True)
class Layer:
    """States by row.  `left`: phases not placed, `mark`: a number that stands for them; `free`: by device; `late`, `maker`,
    `other`: by phase, see Note [On its way]; `parent`, `phase`, `device`: how each was made."""

    left: Array
    mark: Array
    free: Array
    late: Array
    maker: Array
    other: Array
    parent: Array
    phase: Array
    device: Array

    def __len__(self) -> int:
        return len(self.left)

    def taken(self, rows: Array) -> Layer:
        return Layer(*(getattr(self, name)[rows] for name in Layer.__slots__))


class Layers:
    """The search of one model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.count, self.width = len(model.phases), len(model.devices)
        n = self.count
        self.ticks = np.array(model.ticks, np.int32)
        self.tails = np.array(model.tails, np.int32)
        self.needs = np.zeros((n, n), np.float32)
        self.delay = np.full((n, n), NONE, np.int32)
        for (p, q), delay in model.delays.items():
            self.needs[p, q] = 1
            self.delay[p, q] = delay
        self.ready = np.array(model.ready, np.int32)
        self.sums: Any = np.int32 if model.horizon * sum(model.weights) < 1 << 30 else np.int64
        self.weights = np.array(model.weights, self.sums)
        weighed = self.ticks.astype(np.int64) * np.array(model.weights, np.int64)
        self.work = np.where(self.ticks < NEVER, weighed, np.iinfo(np.int64).max).min(axis=1).astype(self.sums)
        self.rest = np.where(self.ticks < NEVER, self.ticks + self.tails, NEVER).min(axis=1)
        self.after = self.tails.min(axis=1)
        self.least = self.ticks.min(axis=1)
        farthest = np.maximum(self.delay.max(axis=1), 0)
        longer = np.maximum(self.ticks + (farthest - self.least)[:, None], self.ticks)
        self.whole = np.where(self.ticks < NEVER, np.maximum(longer, 1), NEVER)
        draw = np.random.Generator(np.random.PCG64(20261121))
        self.keys = draw.integers(1, 1 << 62, n, np.int64).astype(np.uint64)
        self.names = draw.integers(1, 1 << 19, (n, 3)).astype(np.float32)
        self.kind = np.zeros(self.width, np.uint64)
        for c, members in enumerate(model.classes):
            for d in members:
                self.kind[d] = c + 1
        self.spent = 0
        """Work done so far: numbers of all states made."""

    def start(self) -> Layer:
        n, p = self.count, self.width
        none = np.full(1, NONE, np.int32)
        return Layer(
            np.ones((1, n), bool), np.zeros(1, np.uint64), np.zeros((1, p), np.int32), self.ready[None, :].copy(), np.full((1, n),
            NONE, np.int8), self.ready[None, :].copy(), none, none, none,
        )  # fmt: skip

    def within(self, makespan: int, most: int, work: int) -> list[tuple[int, int]] | bool | None:
        """(phase, device) in the order of starts of a plan of at most `makespan` ticks; False: there is none; None: not known.
        At most `most` states of a layer are kept, and no layer is begun after `work` (see `spent`)."""
        work += self.spent
        layer = self.start()
        layers = [layer]
        dropped = False
        for _ in range(self.count):
            if self.spent >= work:
                return None
            parts: list[Layer] = []
            chunk = max(1, CHUNK // max(1, self.width))
            for first in range(0, len(layer), chunk):
                part = self.following(layer, first, min(len(layer), first + chunk), makespan)
                if len(part):
                    parts.append(part)
            if not parts:
                return None if dropped else False
            layer = parts[0] if len(parts) == 1 else _joined(parts)
            layer = self.different(layer)
            if len(layer) > most:
                dropped = True
                layer = layer.taken(np.sort(np.argsort(self.worth(layer, makespan), kind="stable")[:most]))
            layers.append(layer)
        return self.traced(layers)

    def traced(self, layers: list[Layer]) -> list[tuple[int, int]]:
        row = 0
        found: list[tuple[int, int]] = []
        for layer in reversed(layers[1:]):
            found.append((int(layer.phase[row]), int(layer.device[row])))
            row = int(layer.parent[row])
        return found[::-1]

    # ------------------------------------------------------------------------------- one layer

    def following(self, layer: Layer, first: int, stop: int, makespan: int) -> Layer:
        """All that may come of some states."""
        left, free = layer.left[first:stop], layer.free[first:stop]
        late, maker, other = layer.late[first:stop], layer.maker[first:stop], layer.other[first:stop]
        blocked = left.astype(np.float32) @ self.needs
        rows, phases = np.nonzero(left & (blocked == 0))
        devices = np.arange(self.width, dtype=np.int8)
        come = np.where(maker[rows, phases][:, None] == devices, other[rows, phases][:, None], late[rows, phases][:, None])
        starts = np.maximum(free[rows], come)
        ticks = self.ticks[phases]
        fits = starts + ticks + self.tails[phases] <= makespan
        # all that is ready must fit somewhere
        dead = np.zeros(stop - first, bool)
        dead[rows[~fits.any(axis=1)]] = True
        fits &= ~dead[rows][:, None]
        idle = np.full(stop - first, NEVER, np.int32)
        runs = np.nonzero(np.diff(rows, prepend=-1))[0]
        idle[rows[runs]] = np.minimum.reduceat(np.where(ticks < NEVER, starts + self.whole[phases], NEVER).min(axis=1), runs)
        fits &= starts < idle[rows][:, None]
        # of equal devices that have nothing for anybody and are free at once, the first
        fits &= self.distinct(layer, first, stop, makespan)[rows]
        pairs, chosen = np.nonzero(fits)
        rows, phases, starts = rows[pairs], phases[pairs], starts[pairs, chosen]
        self.spent += len(rows) * (self.count + 2 * self.width)
        ends = starts + self.ticks[phases, chosen]
        return self.made(layer, rows + first, phases, chosen, starts, ends, makespan)

    def distinct(self, layer: Layer, first: int, stop: int, makespan: int) -> Array:
        free, maker = layer.free[first:stop], layer.maker[first:stop]
        kept = np.ones(free.shape, bool)
        if self.width == len(self.model.classes):
            return kept
        earliest = free.min(axis=1)
        bare = np.empty(free.shape, bool)
        for d in range(self.width):
            bare[:, d] = (free[:, d] == earliest) & ~(maker == d).any(axis=1)
        for members in self.model.classes:
            seen = np.zeros(len(free), bool)
            for d in members:
                kept[:, d] = ~(bare[:, d] & seen)
                seen |= bare[:, d]
        return kept

    def made(self, layer: Layer, rows: Array, phases: Array, devices: Array, starts: Array, ends: Array, makespan: int) -> Layer:
        """The states, those that cannot end in time left out, the others in their simplest form."""
        count = np.arange(len(rows))
        free = layer.free[rows]
        free[count, devices] = ends
        np.maximum(free, starts[:, None], out=free)
        left = layer.left[rows]
        left[count, phases] = False
        keep = self.room(left, free, makespan)
        rows, phases, devices, starts, ends = rows[keep], phases[keep], devices[keep], starts[keep], ends[keep]
        free, left = free[keep], left[keep]
        late, maker, other = layer.late[rows], layer.maker[rows], layer.other[rows]
        here = devices.astype(np.int8)[:, None]
        come = self.delay[phases]
        come = np.where(come >= 0, come + ends[:, None], -1)
        same = maker == here
        above = ~same & (come > late)
        other = np.where(above, late, np.where(same, other, np.maximum(other, come)))
        late = np.where(same | above, np.maximum(late, come), late)
        maker = np.where(above, here, maker)
        # simplest form: what has come already says nothing
        at, elsewhere = self.near_and_far(free, maker)
        late = np.where(left, np.maximum(late, elsewhere), 0)
        maker = np.where(left & (late > np.maximum(at, other)), maker, here[:0].dtype.type(NONE))
        other = np.where(maker == NONE, late, np.maximum(other, at))
        # where nothing is on its way `at` is nobody's
        keep = (~left | (np.minimum(other, late) + self.rest <= makespan)).all(axis=1)
        mark = layer.mark[rows] + self.keys[phases]
        made = Layer(left, mark, free, late, maker, other, rows.astype(np.int32), phases.astype(np.int32), here[:, 0])
        return made if keep.all() else made.taken(np.nonzero(keep)[0])

    def room(self, left: Array, free: Array, makespan: int) -> Array:
        """Whether for every moment what must end until then fits."""
        least: Array = self.spare(left, free, makespan).min(axis=1)
        return least >= 0

    def spare(self, left: Array, free: Array, makespan: int) -> Array:
        """By phase: what the devices have left until it must end, less what must end until then."""
        due = (makespan - self.after).astype(self.sums)
        space: Array = np.zeros(left.shape, self.sums)
        for d in range(self.width):
            part = np.maximum(due - free[:, d : d + 1], 0)
            space += part if self.weights[d] == 1 else part * self.weights[d]
        space -= (left * self.work).cumsum(axis=1, dtype=self.sums)
        return space

    def near_and_far(self, free: Array, maker: Array) -> tuple[Array, Array]:
        """By phase: when the device is free where the latest of its operands was made, and when the first of the others is."""
        if self.width == 1:
            return np.where(maker == NONE, 0, free), np.where(maker == NONE, free, NEVER)
        two = np.partition(free, 1, axis=1)[:, :2]
        first, second = two[:, :1], two[:, 1:]
        at = np.where(maker == NONE, 0, np.take_along_axis(free, np.maximum(maker, 0).astype(np.intp), axis=1))
        return at, np.where((maker != NONE) & (at == first), second, first)

    def different(self, layer: Layer) -> Layer:
        """Equal and dominated states left out."""
        content = np.empty((len(layer), self.width), np.uint64)
        for d in range(self.width):
            marks = ((layer.maker == d).astype(np.float32) @ self.names).astype(np.uint64)
            content[:, d] = _mixed(marks[:, 0] + (marks[:, 1] << np.uint64(20)) + (marks[:, 2] << np.uint64(40)) + self.kind[d])
        group = _mixed(layer.mark) + content.sum(axis=1, dtype=np.uint64)
        total = layer.free.sum(axis=1) * np.int64(self.count) + layer.late.sum(axis=1) + layer.other.sum(axis=1)
        order = np.lexsort((total, group))
        group = group[order]
        keep = np.ones(len(order), bool)
        same = group[1:] == group[:-1]
        several = np.nonzero(np.append(same, False) | np.append(False, same))[0]
        if len(several):
            order_of, group = order[several], group[several]
            shown, left = self.shown(layer, content, order_of), layer.left[order_of]
            for back in range(1, LOOK_BACK + 1):
                later = np.nonzero(group[back:] == group[:-back])[0] + back
                worse = (shown[later - back] <= shown[later]).all(axis=1) & (left[later - back] == left[later]).all(axis=1)
                keep[several[later[worse]]] = False
        return layer.taken(order[keep])

    def shown(self, layer: Layer, content: Array, rows: Array) -> Array:
        """By state: times of devices, renamed, and of what is on its way; all are less in a state that dominates."""
        free = layer.free[rows]
        named = np.broadcast_to(np.arange(self.width, dtype=np.int32), free.shape)
        for members in self.model.classes:
            if len(members) > 1:
                columns = np.array(members)
                place = np.lexsort((free[:, columns], content[rows[:, None], columns]), axis=1)
                named = named.copy()
                free[:, columns] = np.take_along_axis(free[:, columns], place, axis=1)
                np.put_along_axis(named, columns[place], columns[None, :].astype(np.int32), axis=1)
        maker = layer.maker[rows]
        maker = np.where(maker == NONE, np.int32(NONE), np.take_along_axis(named, np.maximum(maker, 0).astype(np.intp), axis=1))
        return np.concatenate((free, layer.late[rows], layer.other[rows], maker, -maker), axis=1)

    def worth(self, layer: Layer, makespan: int) -> Array:
        """Less is better: how little room is left."""
        room = self.spare(layer.left, layer.free, makespan)
        order: Array = -(room[:, -1] + room.min(axis=1))
        return order


def _mixed(values: Array) -> Array:
    """A bijection of 64 bits that leaves no order."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values


def _joined(parts: list[Layer]) -> Layer:
    return Layer(*(np.concatenate([getattr(part, name) for part in parts]) for name in Layer.__slots__))
