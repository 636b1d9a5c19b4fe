"""The judge of an execution: it checks that operands are resident, by the ticks and by the fences alone, that tasks exclude each
other, and how much memory is in use.

It knows neither problems nor programs: `schedule_checks` and `plan_checks` translate both into an `Execution` and name its parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import accumulate, combinations, pairwise
from math import prod
from typing import TypeAlias

from ....lang.support.records import dataclass, field

# ---------------------------------------------------------------------------------------------------- violation
#
# The violations that the judge reports.

class Rule(Enum):
    V1 = "every phase is run once"
    V2 = "queues and waits give every order that is needed, without circles"
    V3 = "the shards of a phase tile its rows"
    V4 = "operands are there when a shard starts"
    V5 = "memory suffices"
    V6 = "transfers use links, carry what they say and do not collide"
    V7 = "every wait is needed"
    V8 = "directives and the order of effects are kept"
    V9 = "times are what the tables say"
    V10 = "the bound is one"


@dataclass(frozen=True, slots=True)
class Violation:
    code: Rule
    message: str

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message}"


# ---------------------------------------------------------------------------------------------------- execution
#
# The judged execution: queues of tasks that read, produce and free boxes of values on devices.
#
# A box has one interval an axis: units for the output of an abstract phase, the axes of the value for a program.  A *piece* is a
# box of a value that is resident on a device.
#
# Note [Happens before].  A queue completes its tasks in order.  A fence passes when the queues that it names have completed their
# tasks up to a position; a wait stands before a task.  What must have happened before a task follows from these alone, whatever
# the ticks say.
#
# Note [Live ranges].  A piece takes memory from `start` on, and a task of no length holds its operands and results for a tick.
# Where frees are stated (plans), a piece ends when it is freed and every transfer that reads it has arrived; a result of the run
# stays.  Where they are not (schedules), it ends with its last use, and the result of a task that may overwrite an operand takes
# memory only from the end of the task on, if it has such an operand.  A piece that nothing uses, or frees, lives to the end.

Box: TypeAlias = tuple[tuple[int, int], ...]
Key: TypeAlias = tuple[Hashable, Hashable]
"""A device, and a value there (partial results are a value of their own)."""
Position: TypeAlias = tuple[int, int]
"""A queue, and a task of it."""
Clock: TypeAlias = Mapping[int, int]
"""A vector clock: by queue, the last task that must be complete."""


class Coverage(Enum):
    """How resident pieces satisfy a read."""

    COVER = "together they hold the box"
    EXACT = "one of them is the box"
    TILE = "together they are the box, each part once"


class ReadFault(Enum):
    """A fault of a read or a precedence."""

    ABSENT = "not there by the ticks"
    UNCERTAIN = "there by the ticks, and not certain to be"


@dataclass(slots=True, eq=False)
class ResidentPiece:
    """A box of a value on a device.  Transfers may read it from `available` on, other tasks from `usable` on; `route`: how a copy
    was transferred, where only some readers accept that."""

    box: Box
    start: int
    available: int
    usable: int
    size: int = 0
    route: Hashable = None
    producer: Task | None = None
    uses: list[tuple[int, Task | None]] = field(default_factory=list)
    is_freed: bool = False


class Leaving(Enum):
    """How an array leaves the run that is not assembled from pieces."""

    ITSELF = "the piece is the result"
    COPY = "the caller has the piece already"


@dataclass(frozen=True, slots=True, eq=False)
class TaskRead:
    """A read of a box.  `route`: the copies that it accepts (None: all); `size`: bytes of the array in which the box is assembled
    where no piece has all of it; `leaves`: the array is a result of the run, which lives to the end."""

    key: Key
    box: Box
    match: Coverage = Coverage.COVER
    route: Hashable = None
    size: int = 0
    leaves: Leaving | None = None


@dataclass(slots=True, eq=False)
class Task:
    """A task that runs during [start, end).  `reads_at`: the tick at which its operands must be resident (None: another rule says
    when).

    `resources`: what it occupies exclusively up to `busy`, each from a tick on; `sends`: it is a transfer, which defers the frees
    of pieces it reads; `after`: tasks that must be complete before; `overwritable_bytes`: bytes that it may write over an
    operand of at least that size; `frees`: pieces of any of the keys that are the box (None: all), from `freed_at` on."""

    what: object
    start: int
    end: int
    reads_at: int | None
    resources: Mapping[Hashable, int] = field(default_factory=dict)
    busy: int = 0
    sends: bool = False
    reads: list[TaskRead] = field(default_factory=list)
    after: list[Task] = field(default_factory=list)
    frees: Sequence[tuple[tuple[Key, ...], Box | None]] = ()
    overwritable_bytes: int = 0
    position: Position = (-1, -1)
    freed_at: int = 0

    @property
    def releases_at(self) -> int:
        """The earliest tick at which it may release memory."""
        return max(self.end, self.start + 1)


@dataclass(slots=True)
class Execution:
    """`names`: of queues; `fences`: by fence, the positions after which it passes; `waits`: by position, the fences before it.

    `extra_memory`: by device, memory of no piece (start, end, bytes); `describe_fault`: a fault in terms of the plan or
    schedule."""

    describe_fault: Callable[[ReadFault, Task, TaskRead | Task], Violation]
    names: list[str] = field(default_factory=list)
    queues: list[list[Task]] = field(default_factory=list)
    fences: dict[Hashable, list[Position]] = field(default_factory=lambda: defaultdict(list))
    waits: dict[Position, list[Hashable]] = field(default_factory=lambda: defaultdict(list))
    pieces: dict[Key, list[ResidentPiece]] = field(default_factory=lambda: defaultdict(list))
    extra_memory: dict[Hashable, list[tuple[int, int, int]]] = field(default_factory=lambda: defaultdict(list))
    states_frees: bool = False

    def tasks(self) -> Iterator[Task]:
        for queue in self.queues:
            yield from queue

    def add_piece(self, key: Key, piece: ResidentPiece, maker: Task) -> None:
        piece.producer = maker
        self.pieces[key].append(piece)

    def add(self, queue: int, task: Task) -> Task:
        task.position = (queue, len(self.queues[queue]))
        self.queues[queue].append(task)
        return task


# ------------------------------------------------------------------------------------------ boxes


def volume(box: Box) -> int:
    return prod(stop - start for start, stop in box)


def overlap(a: Box, b: Box) -> bool:
    return all(max(p[0], q[0]) < min(p[1], q[1]) for p, q in zip(a, b, strict=True))


def reads_part_of(read: Box, piece: Box) -> bool:
    """Does a read overlap a piece?  An empty read overlaps every piece."""
    return read == piece or volume(read) == 0 or overlap(read, piece)


def is_covered(box: Box, parts: Sequence[Box]) -> bool:
    """Do boxes that are cut along at most one axis cover another?"""
    clipped = [tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(part, box, strict=True)) for part in parts]
    if volume(box) == 0 or box in clipped:
        return True
    clipped = [part for part in clipped if all(a < b for a, b in part)]
    for axis in range(len(box)):
        reach = box[axis][0]
        for part in sorted(clipped, key=lambda part: part[axis]):
            if part[axis][0] <= reach and part[:axis] + part[axis + 1 :] == box[:axis] + box[axis + 1 :]:
                reach = max(reach, part[axis][1])
        if reach >= box[axis][1]:
            return True
    return False


def is_tiled(box: Box, parts: Sequence[Box]) -> bool:
    """Do boxes tile another, each point once?  If it has an empty axis, along the others."""
    if any(start == stop for start, stop in box):
        full = [axis for axis, (start, stop) in enumerate(box) if start < stop]
        alike = all(len(part) == len(box) and all(part[x] == box[x] for x in range(len(box)) if x not in full) for part in parts)
        return alike and is_tiled(tuple(box[axis] for axis in full), [tuple(part[axis] for axis in full) for part in parts])
    inside = all(
        len(part) == len(box) and all(a <= c < d <= b for (a, b), (c, d) in zip(box, part, strict=True)) for part in parts
    )
    if not inside or sum(map(volume, parts)) != volume(box):
        return False
    ordered = sorted(parts)
    alike = all(part[1:] == ordered[0][1:] for part in ordered)
    return not any(overlap(a, b) for a, b in (pairwise(ordered) if alike else combinations(ordered, 2)))


def is_satisfied(read: TaskRead, pieces: Sequence[ResidentPiece]) -> bool:
    match read.match:
        case Coverage.COVER:
            return bool(pieces) and is_covered(read.box, [piece.box for piece in pieces])
        case Coverage.EXACT:
            return any(piece.box == read.box for piece in pieces)
        case Coverage.TILE:
            return is_tiled(read.box, [piece.box for piece in pieces])


# -------------------------------------------------------------------------------- residency and order


def candidate_pieces(execution: Execution, read: TaskRead) -> list[ResidentPiece]:
    """The pieces that a read could use, ignoring when they are resident."""
    every = execution.pieces.get(read.key, [])
    return every if read.route is None else [piece for piece in every if piece.route in (None, read.route)]


def resident_pieces(execution: Execution, task: Task, read: TaskRead) -> list[ResidentPiece]:
    """The candidate pieces that are resident when the task reads, by the ticks."""
    holders = candidate_pieces(execution, read)
    if task.reads_at is None:
        return holders
    return [
        piece
        for piece in holders
        if (piece.available if task.sends else piece.usable) <= task.reads_at and piece.producer is not task
    ]


def unresident_reads(execution: Execution) -> Iterator[Violation]:
    """V4: the reads that no resident pieces satisfy, by the ticks."""
    for task in execution.tasks():
        for read in task.reads:
            if not is_satisfied(read, resident_pieces(execution, task, read)):
                yield execution.describe_fault(ReadFault.ABSENT, task, read)


def unordered_tasks(execution: Execution) -> Iterator[Violation]:
    """V2: reads and precedences that hold by the ticks but do not follow from queues, fences and waits."""
    for wait in {fence for fences in execution.waits.values() for fence in fences} - execution.fences.keys():
        yield Violation(Rule.V2, f"nothing passes fence f{wait}")
        return
    played = 0
    for task, clock in _in_executable_order(execution):
        played += 1
        for read in task.reads:
            there = resident_pieces(execution, task, read)
            sure = [p for p in there if _is_complete(clock, p) and (task.sends or not p.is_freed)]
            if is_satisfied(read, there) and not is_satisfied(read, sure):
                yield execution.describe_fault(ReadFault.UNCERTAIN, task, read)
        for earlier in task.after:
            if clock.get(earlier.position[0], -1) < earlier.position[1]:
                yield execution.describe_fault(ReadFault.UNCERTAIN, task, earlier)
        yield from _faulty_frees(execution, task, clock)
    if played < sum(map(len, execution.queues)):
        yield Violation(Rule.V2, "queues wait for each other in a circle")


def _is_complete(clock: Clock, piece: ResidentPiece) -> bool:
    return piece.producer is None or clock.get(piece.producer.position[0], -1) >= piece.producer.position[1]


def _faulty_frees(execution: Execution, task: Task, clock: Clock) -> Iterator[Violation]:
    for keys, box in task.frees:
        meant = [piece for piece in _freed_pieces(execution, keys, box) if _is_complete(clock, piece)]
        if all(piece.is_freed for piece in meant):
            yield execution.describe_fault(ReadFault.ABSENT, task, TaskRead(keys[0], box or ()))
        for piece in meant:
            piece.is_freed = True


def _in_executable_order(execution: Execution) -> Iterator[tuple[Task, Clock]]:
    """The tasks in an order in which queues can run them, each with the clock of what must be complete when it starts."""
    places = [0] * len(execution.queues)
    clocks: list[dict[int, int]] = [{} for _ in places]
    missing = {fence: len(after) for fence, after in execution.fences.items()}
    after: dict[Position, list[Hashable]] = defaultdict(list)
    for fence, positions in execution.fences.items():
        for position in positions:
            after[position].append(fence)
    fence_clocks: dict[Hashable, dict[int, int]] = defaultdict(dict)
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    ready = list(range(len(places)))[::-1]

    def passed(which: int, position: int) -> None:
        for fence in after.get((which, position), ()):
            _join(fence_clocks[fence], {**clocks[which], which: position})
            missing[fence] -= 1
            if not missing[fence]:
                ready.extend(waiting.pop(fence, ()))

    for which in range(len(places)):
        passed(which, -1)
    while ready:
        which = ready.pop()
        queue, clock = execution.queues[which], clocks[which]
        while places[which] < len(queue):
            index = places[which]
            fences = execution.waits.get((which, index), ())
            closed = next((fence for fence in fences if missing[fence]), None)
            if closed is not None:
                waiting[closed].append(which)
                break
            for fence in fences:
                _join(clock, fence_clocks[fence])
            yield queue[index], clock
            clock[which] = index
            places[which] += 1
            passed(which, index)


def _join(clock: dict[int, int], more: Clock) -> None:
    for queue, position in more.items():
        if clock.get(queue, -1) < position:
            clock[queue] = position


def _later(first: Task, then: Task) -> Task:
    return first if first.end > then.end else then


def blocking_waits(execution: Execution) -> Iterator[tuple[Task, Task]]:
    """Waits that delay a queue beyond the ticks of its next task: that task, and the last task that it waits for."""
    latest = [list(accumulate(queue, _later)) for queue in execution.queues]
    for (which, position), fences in execution.waits.items():
        task = next((task for task in execution.queues[which][position:] if not task.frees), None)
        for awaited in [latest[q][p] for fence in fences for q, p in execution.fences[fence] if p >= 0]:
            if task is not None and awaited.end > (task.end if task.reads_at is None else task.reads_at):
                yield task, awaited


def redundant_waits(execution: Execution) -> Iterator[tuple[Position, Hashable]]:
    """V7: the waits that are implied by queue order and the other waits."""
    for (which, position), fences in execution.waits.items():
        for number, fence in enumerate(fences):
            reached: dict[int, int] = {}
            pending = [(which, position - 1)]
            pending += [at for other in (*fences[:number], *fences[number + 1 :]) for at in execution.fences[other]]
            while pending:
                queue, last = pending.pop()
                for before in range(reached.get(queue, -1) + 1, last + 1):
                    pending += [
                        at for other in execution.waits.get((queue, before), ()) if (queue, before) != (which, position)
                        for at in execution.fences[other]
                    ]  # fmt: skip
                reached[queue] = max(reached.get(queue, -1), last)
            if all(reached.get(queue, -1) >= last for queue, last in execution.fences[fence]):
                yield (which, position), fence


# ------------------------------------------------------------------------------ exclusive resources and memory


def collisions(execution: Execution) -> Iterator[tuple[Hashable, Task, Task]]:
    """Pairs of tasks that overlap on an exclusive resource."""
    lanes: dict[Hashable, list[Task]] = defaultdict(list)
    for task in execution.tasks():
        for lane in task.resources:
            lanes[lane].append(task)
    for lane, tasks in lanes.items():
        tasks.sort(key=lambda task: (task.resources[lane], task.end))
        yield from ((lane, first, then) for first, then in pairwise(tasks) if then.resources[lane] < first.busy)


def peaks(execution: Execution) -> dict[Hashable, tuple[int, int]]:
    """By device the most bytes in use, and the first tick at which that many are.  See Note [Live ranges]."""
    last = max((task.end for task in execution.tasks()), default=0)
    used: dict[Task, list[ResidentPiece]] = defaultdict(list)
    for task in execution.tasks():
        for read in task.reads if task.sends or not execution.states_frees else ():
            for piece in candidate_pieces(execution, read):
                if reads_part_of(read.box, piece.box):
                    piece.uses.append((task.releases_at, task))
                    used[task].append(piece)
    inside = _overwriting_tasks(used)
    freed = {
        piece: task.freed_at
        for task in execution.tasks() for keys, box in task.frees for piece in _freed_pieces(execution, keys, box)
    }
    spans: dict[Hashable, list[tuple[int, int, int]]] = defaultdict(list, {d: [*intervals] for d,
        intervals in execution.extra_memory.items()})
    results: set[ResidentPiece] = set()
    for task in execution.tasks():
        for read in task.reads:
            pieces = candidate_pieces(execution, read) if read.size else []
            holding = [piece for piece in pieces if _has(piece, read, task, freed.get(piece, last + 1))]
            if (len(pieces) > 1 and not holding) or read.leaves is Leaving.COPY:
                spans[read.key[0]].append((task.start, task.end if read.leaves is None else last + 1, read.size))
            elif read.leaves is Leaving.ITSELF:
                results.update(holding)
    for (device, _), pieces in execution.pieces.items():
        for piece in pieces:
            start, ends = piece.start, [end for end, _ in piece.uses]
            if execution.states_frees:
                end = max(freed.get(piece, last + 1) if piece not in results else last + 1, start, *ends)
            else:
                end = max([piece.available, start + 1, *ends]) if ends else max(last, start) + 1
                if piece.producer is not None and piece.producer in inside:
                    start = piece.producer.releases_at
                    if end <= start:
                        continue
            spans[device].append((start, end, piece.size))
    return {device: _peak(intervals) for device, intervals in spans.items()}


def _has(piece: ResidentPiece, read: TaskRead, task: Task, freed: int) -> bool:
    """Is all of a piece that a task reads resident while the task runs?"""
    inside = all(low <= start and stop <= high for (start, stop), (low, high) in zip(read.box, piece.box, strict=True))
    return inside and piece.available <= task.start and task.end <= freed


def _freed_pieces(execution: Execution, keys: Sequence[Key], box: Box | None) -> list[ResidentPiece]:
    """The pieces that a free names."""
    return [piece for key in keys for piece in execution.pieces.get(key, ()) if box in (None, piece.box)]


def _overwriting_tasks(used: dict[Task, list[ResidentPiece]]) -> set[Task]:
    """The tasks whose result lies inside an operand that no other task uses after they start."""
    return {
        task for task, operands in used.items()
        if task.overwritable_bytes and any(
            piece.size >= task.overwritable_bytes and max(piece.available, piece.start + 1) <= task.start
            and all(user is task or end <= task.start for end, user in piece.uses)
            for piece in operands
        )
    }  # fmt: skip


def _peak(spans: Sequence[tuple[int, int, int]]) -> tuple[int, int]:
    """The most bytes in use and the first tick of that maximum; an empty interval counts in its tick."""
    changes: dict[int, int] = defaultdict(int)
    for start, end, size in spans:
        changes[start] += size
        changes[max(end, start + 1)] -= size
    level = most = at = 0
    for tick in sorted(changes):
        level += changes[tick]
        if level > most:
            most, at = level, tick
    return most, at
