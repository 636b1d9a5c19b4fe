"""What is judged, whoever stated it: queues of tasks that read, make and let go of boxes of values on devices.

`schedules` and `plans` translate into this; `judge` knows nothing else.  A box has one interval an axis: of the output of an
abstract phase its units, of a value of a program its axes.

Note [Certain].  A queue completes its tasks in order.  A fence passes when the queues that it names have completed their tasks
up to a position; a wait stands before a task.  What has certainly happened before a task follows from these alone, whatever
the ticks say.

Note [Lives].  A piece takes memory from `start` on.  Where frees are stated it goes when it is freed and every transfer that
reads it has arrived; where they are not, at the end of its last use, and a task of no length holds what it reads and makes for
a tick.  There, what a task makes that may write over an operand takes memory from its end on, if there is such an operand.  What
nobody uses, or frees, stays to the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from .violation import Violation

Box: TypeAlias = tuple[tuple[int, int], ...]
Key: TypeAlias = tuple[Hashable, Hashable]
"""A device, and a value there (partial results are a value of their own)."""
Position: TypeAlias = tuple[int, int]
"""A queue, and a task of it."""
Clock: TypeAlias = Mapping[int, int]
"""By queue, its last task that is certainly complete."""


class Match(Enum):
    """How pieces answer a read."""

    COVER = "together they hold the box"
    EXACT = "one of them is the box"
    TILE = "together they are the box, each part once"


class Lack(Enum):
    """What is wrong with a read."""

    ABSENT = "not there by the ticks"
    UNCERTAIN = "there by the ticks, and not certain to be"


@dataclass(slots=True, eq=False)
class Piece:
    """A box of a value on a device.  Transfers may read it from `there` on, other tasks from `usable` on; `way`: how a copy came,
    where not every reader takes it."""

    box: Box
    start: int
    there: int
    usable: int
    size: int = 0
    way: Hashable = None
    maker: Task | None = None
    uses: list[tuple[int, Task | None]] = field(default_factory=list)
    gone: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """`way`: what it takes of copies (None: all)."""

    key: Key
    box: Box
    match: Match = Match.COVER
    way: Hashable = None


@dataclass(slots=True, eq=False)
class Task:
    """What happens in [start, end).  `by`: the tick at which all it reads must be there (None: another rule says when).

    `lanes`: what it keeps from others up to `busy`, each from a tick on; `sends`: it reads what is freed, of which the life is
    put off for it; `after`: tasks that must be complete before; `takes_place`: bytes that it may write over an operand of at
    least that size; `frees`: pieces of any of the keys that are the box (None: all)."""

    what: object
    start: int
    end: int
    by: int | None
    lanes: Mapping[Hashable, int] = field(default_factory=dict)
    busy: int = 0
    sends: bool = False
    reads: list[Read] = field(default_factory=list)
    after: list[Task] = field(default_factory=list)
    frees: Sequence[tuple[tuple[Key, ...], Box | None]] = ()
    takes_place: int = 0
    at: Position = (-1, -1)

    @property
    def leaves(self) -> int:
        """When it lets go of memory, at the earliest."""
        return max(self.end, self.start + 1)


@dataclass(slots=True)
class Execution:
    """`names`: of queues; `fences`: by fence, the positions after which it passes; `waits`: by position, the fences before it.

    `spans`: by device, memory that is no piece's (start, end, bytes); `said`: what is wrong, in the words of who stated it."""

    said: Callable[[Lack, Task, Read | Task], Violation]
    names: list[str] = field(default_factory=list)
    queues: list[list[Task]] = field(default_factory=list)
    fences: dict[Hashable, list[Position]] = field(default_factory=lambda: defaultdict(list))
    waits: dict[Position, list[Hashable]] = field(default_factory=lambda: defaultdict(list))
    pieces: dict[Key, list[Piece]] = field(default_factory=lambda: defaultdict(list))
    spans: dict[Hashable, list[tuple[int, int, int]]] = field(default_factory=lambda: defaultdict(list))
    states_frees: bool = False

    def tasks(self) -> Iterator[Task]:
        for queue in self.queues:
            yield from queue

    def make(self, key: Key, piece: Piece, maker: Task) -> None:
        piece.maker = maker
        self.pieces[key].append(piece)

    def add(self, queue: int, task: Task) -> Task:
        task.at = (queue, len(self.queues[queue]))
        self.queues[queue].append(task)
        return task
