"""Forks, joins and the like of up to some twenty members: whether they fit in T ticks, by counting, without any search.

What a device can do is a set of sets of members: those that it can end in time, in some order.  With a set all its parts are
among them too.  So a plan is a cover of all members by one such set for each device, and the number of covers is, over all sets S
of members, the sum of ±1 times the product over devices of how many of its sets are within S (inclusion and exclusion; the sign
is that of the members left out).  It is counted exactly, modulo so many numbers that their product is above all that it can be;
if it is zero there is no plan.  A plan is read off such tables, device after device.

Note [Orders].  On one device members have times at which their operands come and ticks that follow them.  Where those that come
earlier never have less to follow, one order is as good as any, and how long each set takes is known for all T.  Otherwise, for a
given T, the earliest end of a set is the least over its last members.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np

from .workers import Worker

WRAPPED: Final = 1 << 64
"""What arithmetic of 64 bits is modulo by itself."""
PRIMES: Final = (
    4294967291, 4294967279, 4294967231, 4294967197, 4294967189, 4294967161, 4294967143, 4294967111, 4294967087, 4294967029,
)  # fmt: skip
"""The largest below 2³²."""
FAR: Final = 1 << 29

Array: TypeAlias = "np.ndarray[Any, Any]"


class Covers:
    """Tables of one choice of where source and sink run."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        self.workers = list(workers)
        self.count = len(workers[0].ticks)
        self.lengths = [_lengths(worker) for worker in self.workers]
        """By worker and set of members: when all is over that follows them; None where that depends on the order."""
        left = np.zeros(1, np.int8)
        for _ in range(self.count):
            left = np.concatenate((left + np.int8(1), left))
        self.odd = (left & 1).astype(bool)
        """By set: whether the number of members that are left out is odd."""

    def able(self, makespan: int) -> list[Array]:
        """By worker: the sets that one of its devices can do."""
        return [
            ends_in_time(worker, makespan) < FAR if lengths is None else lengths <= makespan
            for worker, lengths in zip(self.workers, self.lengths, strict=True)
        ]

    def placed(self, makespan: int) -> list[tuple[int, int]] | bool | None:
        """(member, device) in an order that devices may keep; False if not all fit in so many ticks, None if no plan is found."""
        able = self.able(makespan)
        if not self.fits(able):
            return False
        chosen = self.plan(able)
        if not chosen:
            return None
        result: list[tuple[int, int]] = []
        for worker in self.workers:
            for device in worker.devices:
                mine = [member for member in range(self.count) if chosen[member] == device]
                result += [(member, device) for member in in_order(worker, mine, makespan)]
        return result

    def fits(self, able: Sequence[Array]) -> bool:
        """Whether all members can be done."""
        counts = [_within(sets) for sets in able]
        most = 1
        for worker, count in zip(self.workers, counts, strict=True):
            most *= max(1, int(count[-1])) ** len(worker.devices)
        known = 1
        for modulus in (WRAPPED, *PRIMES):
            if known > most:
                return False
            product = np.ones(1, np.uint64)
            for worker, count in zip(self.workers, counts, strict=True):
                product = _times(product, _power(count, len(worker.devices), modulus), modulus)
            if _signed(product, self.odd, modulus):
                return True
            known *= modulus
        return known <= most  # more devices than there are moduli for: not known

    def plan(self, able: list[Array]) -> list[int]:
        """The device of each member; nothing if none is found (a count may be a multiple of 2⁶⁴)."""
        queue = [(w, device) for w, worker in enumerate(self.workers) for device in worker.devices]
        todo = list(range(self.count))
        result = [-1] * self.count
        for place, (w, device) in enumerate(queue):
            product = np.ones(1 << len(todo), np.uint64)
            for later, sets in enumerate(able):
                number = sum(1 for other, _ in queue[place + 1 :] if other == later)
                if number:
                    product = _times(product, _power(_within(sets), number, WRAPPED), WRAPPED)
            rest = _exactly(product) != 0 if place + 1 < len(queue) else np.arange(1 << len(todo)) == 0
            good = np.nonzero(able[w] & rest[::-1])[0]  # the complement of a set is as far from the end
            if not len(good):
                return []
            chosen = int(good[-1])
            for bit, member in enumerate(todo):
                if chosen >> bit & 1:
                    result[member] = device
            kept = [bit for bit in range(len(todo)) if not chosen >> bit & 1]
            inner = np.zeros(1, np.int64)
            for bit in kept:
                inner = np.concatenate((inner, inner + (1 << bit)))
            able = [sets[inner] for sets in able]
            todo = [todo[bit] for bit in kept]
        return result if not todo else []


def _lengths(worker: Worker) -> Array | None:
    """By set, if one order of all members is as good as any."""
    count = len(worker.ticks)
    order = sorted(range(count), key=lambda m: (worker.come[m], -worker.rest[m]))
    if any(worker.rest[one] < worker.rest[other] for one, other in pairwise(order)):
        return None
    end = np.full(1, worker.free, np.int32)
    length = np.zeros(1, np.int32)
    for member in order:
        ticks = worker.ticks[member]
        after = np.maximum(end, worker.come[member]) + (ticks or 0)
        over = np.maximum(length, after + worker.rest[member]) if ticks is not None else np.full(len(end), FAR, np.int32)
        end, length = np.concatenate((end, after)), np.concatenate((length, over))
    # the last in the order is the first axis; axes are to be the last member first
    axes = [count - 1 - order.index(member) for member in reversed(range(count))]
    return np.ascontiguousarray(length.reshape((2,) * count).transpose(axes)).reshape(-1)


def ends_in_time(worker: Worker, makespan: int) -> Array:
    """By set, the earliest end of any order that is in time (FAR: none is): sets grow by one member after the other."""
    count = len(worker.ticks)
    ends = np.full(1 << count, FAR, np.int32)
    ends[0] = worker.free
    sets = np.zeros(1, np.int32)
    while len(sets):
        marks = np.zeros(1 << count, bool)
        for member, ticks in enumerate(worker.ticks):
            if ticks is None:
                continue
            without = sets[(sets >> member) & 1 == 0]
            end = np.maximum(ends[without], worker.come[member]) + ticks
            soon = end + worker.rest[member] <= makespan
            grown, end = without[soon] | (1 << member), end[soon]
            ends[grown] = np.minimum(ends[grown], end)
            marks[grown] = True
        sets = np.nonzero(marks)[0].astype(np.int32)
    return ends


def in_order(worker: Worker, chosen: Sequence[int], makespan: int) -> list[int]:
    """Members that one device can end in time, in an order in which it does."""
    ticks = tuple(worker.ticks[m] for m in chosen)
    come, rest = (tuple(values[m] for m in chosen) for values in (worker.come, worker.rest))
    ends = ends_in_time(Worker(worker.devices, worker.free, come, ticks, rest), makespan)
    result: list[int] = []
    left = (1 << len(chosen)) - 1
    while left:
        end = int(ends[left])
        last = next(
            bit
            for bit, need in enumerate(ticks)
            if left >> bit & 1 and end == max(int(ends[left ^ 1 << bit]), come[bit]) + (need or 0) <= makespan - rest[bit]
        )
        result.append(chosen[last])
        left ^= 1 << last
    return result[::-1]


def _within(sets: Array) -> Array:
    """By set, how many of `sets` are parts of it."""
    found = sets.astype(np.uint64)
    half = 1
    while half < len(found):
        pairs = found.reshape(-1, 2, half)
        pairs[:, 1] += pairs[:, 0]
        half *= 2
    return found


def _exactly(found: Array) -> Array:
    """The inverse of `_within`."""
    half = 1
    while half < len(found):
        pairs = found.reshape(-1, 2, half)
        pairs[:, 1] -= pairs[:, 0]
        half *= 2
    return found


def _times(one: Array, other: Array, modulus: int) -> Array:
    product = one * other
    return product if modulus == WRAPPED else product % np.uint64(modulus)


def _power(base: Array, exponent: int, modulus: int) -> Array:
    result: Array | None = None
    while exponent:
        if exponent & 1:
            result = base if result is None else _times(result, base, modulus)
        exponent >>= 1
        if exponent:
            base = _times(base, base, modulus)
    assert result is not None
    return result


def _signed(values: Array, odd: Array, modulus: int) -> int:
    """The sum of all values, those of odd sets taken away."""
    if modulus == WRAPPED:
        plus, minus = values[~odd].sum(dtype=np.uint64), values[odd].sum(dtype=np.uint64)
        return (int(plus) - int(minus)) % modulus
    # sums of 2²² numbers below 2³² stay below 2⁶⁴
    return (int(values[~odd].sum(dtype=np.uint64)) - int(values[odd].sum(dtype=np.uint64))) % modulus
