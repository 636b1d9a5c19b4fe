"""Does a draft of a native call account for everything that it makes, reads and gives?

What a call makes is memory that somebody else had before.  A draft that forgets a launch (a kernel of a sort that nobody binds,
a kernel that is not there yet) would give that memory as a result.  So no draft becomes a call before its steps have been gone
through here, in their order.  Each launch says which bases it writes.  A value that a phase has made (`SETTLED`) must have been
written since another value was settled in the same memory, and whatever a step reads, moves or gives must be an argument, or
have been written before.

Loops and arms are gone through once, as they stand: what is made inside them is made again each turn.

Neighbours: `drafting` (makes the steps), `linking` (asks before it encodes them), `native.words` (what steps mean).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..native.words import Operation
from .drafting import Row

_RELOCATIONS = 6
"""Where a launch says how many bases it names; for each then a place, the base, bytes."""


def is_accounted(steps: Sequence[Row], arguments: int) -> bool:
    """Is everything written that these steps read or give?  The first bases are the arguments."""
    books = _Books(arguments)
    return all(books.enter(step) for step in steps)


class _Books:
    """`written`: the bases whose items are there; `fresh`: those of them that no value has been settled in yet.  `origin`: which
    array a base that is an address points into."""

    def __init__(self, arguments: int) -> None:
        self.written = set(range(arguments))
        self.fresh: set[int] = set()
        self.origin = {number: number for number in range(arguments)}

    def enter(self, step: Row) -> bool:
        """False: the step reads what nobody has written."""
        kind, *fields = step
        match kind:
            case Operation.MAKE:
                self.make(fields[0], fields[2])
            case Operation.LAUNCH:
                words, writes = fields
                return self.launch(words, writes)
            case Operation.CALL:
                number, _, operands = fields
                self.write(number)
                return all(map(self.is_written, operands))
            case Operation.VIEW:
                number, *_, source = fields
                self.write(number)  # it keeps what it shows
                return self.is_written(source)
            case Operation.COMPUTE | Operation.ADDRESS:
                self.point(fields[0], fields[1])
            case Operation.SET | Operation.NUMBER:
                self.write(fields[0])
            case Operation.LOAD | Operation.LENGTH:
                self.write(fields[0])
                return self.is_written(fields[1])
            case Operation.MOVE:
                target, source = fields
                self.write(target)
                return self.is_written(source)
            case Operation.SETTLED:
                was_fresh = fields[0] in self.fresh
                self.fresh.discard(fields[0])
                return was_fresh
            case Operation.FREE:
                self.written.discard(fields[0])
            case Operation.GIVE:
                return all(map(self.is_written, fields))
            case Operation.BRANCH:
                return self.is_written(fields[0])
        return True

    def make(self, number: int, shape: Sequence[object]) -> None:
        """Memory as it was left by others; none of it where there are no items."""
        self.origin[number] = number
        self.written.discard(number)
        self.fresh.discard(number)
        if 0 in shape:
            self.written.add(number)
            self.fresh.add(number)

    def write(self, number: int) -> None:
        self.origin[number] = number
        self.written.add(number)
        self.fresh.add(number)

    def point(self, number: int, into: int) -> None:
        """A base is an address in what another points into, or a number that comes from one."""
        self.origin[number] = self.origin.get(into, into)

    def is_written(self, number: int) -> bool:
        return self.origin.get(number, number) in self.written

    def launch(self, words: Sequence[int], writes: Sequence[int]) -> bool:
        first = _RELOCATIONS + 1
        named = {words[at + 1] for at in range(first, first + 3 * words[_RELOCATIONS], 3)}
        if not named >= set(writes) or not all(self.is_written(number) for number in named.difference(writes)):
            return False
        filled = {self.origin.get(number, number) for number in writes}
        self.written |= filled
        self.fresh |= filled
        return True
