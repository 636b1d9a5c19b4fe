"""The body of a loop that queues run together, judged like a plan by itself: two turns of it, and what follows the last."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from ....graph import traverse
from ....graph.bind import BoundGraph
from ....graph.phases import ValueId
from ...plan.model import Box, DeviceId, Plan, SubPlan
from .facts import BEFORE, At, Fault, Piece, knows
from .turns_checked import Shared, next_turn, with_phases

Held = Mapping[tuple[DeviceId, ValueId], list[Piece]]


class Judge(Protocol):
    """Who follows the steps of a plan: what is held where, and what was wrong (`checking`)."""

    plan: Plan
    held: dict[tuple[DeviceId, ValueId], list[Piece]]
    faults: list[Fault]

    def alone(self, body: SubPlan, bound: BoundGraph) -> Judge:
        """What judges a plan inside this one by itself."""

    def judge(self) -> None:
        """Everything."""

    def need(self, device: DeviceId, value: ValueId, box: Box | None, known: Mapping[int, int], who: str) -> None:
        """Is a box of a value on a device, as far as the queue knows?"""

    def fault(self, code: str, message: str) -> None:
        """Something is wrong."""


def follow_turns(around: Judge, shared: Shared, known: Mapping[int, int], at: Mapping[DeviceId, At]) -> None:
    """Two turns and what follows the last; then the loop's results are there, made by the steps `at`."""
    there = {
        key: [Piece(p.box, BEFORE, False) for p in pieces if not p.partial and not p.freed and knows(known, p.since)]
        for key, pieces in around.held.items()
    }
    turn, body, loop = shared.turn, shared.step.body, f"loop #{shared.step.phase}"
    first = _judged(around, body, turn.bound, there, f"a turn of {loop}")
    second = _judged(
        around, body, with_phases(turn.bound, next_turn(turn)), there | _left(first, turn.next), f"the next turn of {loop}"
    )
    if turn.stop is not None:
        everything = dict.fromkeys(range(len(body.queues)), 1 << 60)
        for device in shared.rows_on(around.plan):
            second.need(device, turn.stop, None, everything, f"the end of a turn of {loop}")
    judged, last, results = [first, second], second, turn.next
    if shared.leave is not None and shared.step.leave is not None:
        last = _judged(around, shared.step.leave, shared.leave.bound, _left(second, turn.next), f"what follows {loop}")
        judged, results = [*judged, last], turn.loop.results
    last.held = defaultdict(list, _left(last, results))
    for device, rows in shared.rows_on(around.plan).items():
        if shared.leave is not None and device != around.plan.home:
            continue
        for value, result, box in zip(results, turn.loop.results, shared.boxes(rows), strict=True):
            part = None if shared.leave is not None else box
            last.need(device, value, part, {}, f"the end of {loop}")
            around.held[device, result].append(Piece(part, at[device], False))
    for one in judged:
        around.faults += one.faults


def _judged(around: Judge, body: SubPlan, bound: BoundGraph, there: Held, name: str) -> Judge:
    """A plan judged by itself on what is there before it."""
    inner = around.alone(body, bound)
    for key, pieces in there.items():
        inner.held[key] = [replace(piece) for piece in pieces]
    inner.judge()
    own = {value for phase in bound.graph.phases for value in traverse.results(phase)}
    for (device, value), pieces in inner.held.items():
        if value not in own and any(piece.freed for piece in pieces):
            inner.fault("V4", f"%{value} is freed on {device} before the loop has ended")
    inner.faults = [Fault(fault.code, f"{name}: {fault.message}") for fault in inner.faults]
    return inner


def _left(judged: Judge, values: Sequence[ValueId]) -> dict[tuple[DeviceId, ValueId], list[Piece]]:
    """The states that a turn leaves, each where it is."""
    return {
        key: [Piece(p.box, BEFORE, False) for p in pieces if not p.partial and not p.freed]
        for key, pieces in judged.held.items() if key[1] in values
    }  # fmt: skip
