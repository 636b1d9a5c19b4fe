"""What calls kernels, as LLVM text: a team of threads that run the pieces of one launch, and a Python function that checks its
arrays and runs launches.

Written by hand, since it must do in well under a microsecond what Python does in ten.  Everything that depends on the machine
comes as a number (`Layout`) or as a symbol `rho_…`; everything about a program comes in words (Note [Words]).

Note [Words].  64-bit words.  A *launch* is: the kernel's address; the number of pieces; the words of a piece's argument block;
how many helpers may join; nanoseconds that it takes, roughly; whether the interpreter lock is released; the number of
relocations; for each of these the place of a word among the blocks of all pieces, the number of a base address, and bytes to be
added; then the blocks of all pieces.

A *call* is: the number of arguments; the number of bases (arguments first, then values that are made); the object that is
returned where the arguments are others; the type of arrays; the place of the first operation; then for each argument its dtype
(0: a Python float, 1: a Python int), its rank, and for each axis its length and stride.  An operation is a code and its words
(`Operation`).  A kernel that reports a failure, and memory that runs out, end the call as if the arguments were others:
whoever called does it again with words for it.  Any other exception (an interrupt) is raised.

Note [The team].  One word, `state`, says what there is to be taken: pieces that are left (16 bits, signed), helpers that may
still come in, pieces taken from the back.  A helper comes in by taking a piece and a place in one exchange of that word, so that
whoever is in finds a launch that stays; the caller takes from the front, waits until all places are free, and waits for none that
nobody has taken.  What a launch is lies beside the word, in one line of memory, for each line that goes from one processor to
another costs as much as a thousand items.  Helpers look for work for a while, then sleep until `wakes` changes.
They stay off the processor of whoever wakes them: threads that wait by turns (those of BLAS, for a tenth of a second after each
product) make every other processor look taken, and the system would put them on that one.  Waking them costs as much as small
work does: where nobody has come since the last time, fewer and fewer small launches wake them.  A launch that had to wait for a
helper that the system had put aside is followed by launches alone, whose time together (by their `duration`) is in proportion to
that wait, and longer each time: `alone` counts these nanoseconds down.

Neighbours: `team_text`, `launch_text`, `place_text`, `call_text` and `step_text` (the text), `store` (compiles it),
`backend.run.native` (binds it).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from .call_text import ADDRESSES, CALL
from .launch_text import LAUNCH
from .llvm_leaf import QUICK
from .place_text import NO_PLACE, PLACE
from .team_text import TEAM


class Operation(IntEnum):
    """What a call does, one after the other.  MAKE: a value, its dtype, rank, place of its shape among the words.  ROOM: a
    value, a callable, its two arguments.  LAUNCH: the place of a launch.  FREE: a value.  GIVE: the value returned.  GIVE_ALL:
    how many, and the values of the tuple returned.  ALIGN: a value, whose base moves on to a multiple of 64.
    SHOW: a value, its dtype, rank, the place of its shape, strides and distance from a base among the words, that value.

    Bases may hold numbers.  CALL: a value, what to call, how many values it is called with, these.  SET: a base, a number.
    COMBINE: a base, two others, a factor, a number: the first and the product of second and factor and the number.  PRODUCT: a
    base, two others.  LOAD: a base, the base of an integer's address, bytes ahead, its bytes.  LENGTH: a base, a value, an axis
    of it.  MAKE_AT: as MAKE, the shape in bases from that one.  SHOW_AT: as SHOW, shape and strides in bases from that one; that
    value; the base of the address.  CHECK: a base; where it is below 0 the call ends as if the arguments were others.  JUMP: the
    place of an operation.  JUMP_ZERO: a base, that place.  MOVE: a value, where it is taken from.  NUMBER: a value that is an int
    of Python's, a base.  LABEL: nothing (only in drafts).  PLACE: a base, another, whose
    address it is.  SETTLED: a value that a phase has made, once it is whole (only in drafts)."""

    MAKE = 0
    ROOM = 1
    LAUNCH = 2
    FREE = 3
    GIVE = 4
    GIVE_ALL = 5
    ALIGN = 6
    SHOW = 7
    CALL = 8
    SET = 9
    COMBINE = 10
    PRODUCT = 11
    LOAD = 12
    LENGTH = 13
    MAKE_AT = 14
    SHOW_AT = 15
    CHECK = 16
    JUMP = 17
    JUMP_ZERO = 18
    MOVE = 19
    NUMBER = 20
    LABEL = 21
    PLACE = 22
    SETTLED = 23


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the fields of Python's objects are (bytes), and constants of the system; `places`: it has processors to choose."""

    type: int
    items: int
    data: int
    rank: int
    shape: int
    strides: int
    dtype: int
    monotonic: int
    processor: str
    places: bool

    def text(self) -> str:
        """A module whose function `kernel` writes the addresses of its functions into the words it is given."""
        pause = _PAUSES.get(self.processor, "")
        names = {name: str(getattr(self, name)) for name in self.__slots__ if name not in ("processor", "places")}
        text = (PLACE if self.places else NO_PLACE) + TEAM + LAUNCH + CALL + ADDRESSES
        for name, value in (names | _FIELDS | _STATE | {"pause": pause and f"call void {pause}"}).items():
            text = text.replace(f"${name}$", value)
        return QUICK + text + (f"declare void {pause.split('(')[0]}({'i32' if 'i32' in pause else ''})\n" if pause else "")


_PAUSES: Final = {
    "x86_64": "@llvm.x86.sse2.pause()",
    "AMD64": "@llvm.x86.sse2.pause()",
    "aarch64": "@llvm.aarch64.hint(i32 1)",
    "arm64": "@llvm.aarch64.hint(i32 1)",
}

TEAM_BYTES: Final = 1024
FUNCTIONS: Final = ("worker", "launch", "call", "team")
"""What `kernel` writes the addresses of: functions, and the variable that holds the team's address."""
_FIELDS: Final = {
    name: str(place)
    for name, place in {
        "busy": 0, "latest": 8, "joined": 16, "woken": 24, "skipped": 32, "useless": 40, "alone": 48, "hurt": 56,
        "state": 128, "kernel": 136, "blocks": 144, "pitch": 152, "count": 160, "codes": 168,
        "sleepers": 256, "wakes": 264, "looking": 272, "mutex": 448, "change": 640, "listed": 768, "taken": 776, "helpers": 832,
    }.items()
}  # fmt: skip
_PIECE, _PLACE, _BEHIND = 1 << 48, 1 << 32, 1
_STATE: Final = {
    "none.left": str(_PIECE - 1), "from.front": str(-_PIECE), "from.back": str(_BEHIND - _PIECE), "place": str(_PLACE),
    "coming.in": str(_BEHIND - _PIECE - _PLACE), "places": str(_PIECE - _PLACE),
}  # fmt: skip
"""One of each thing that a team's `state` counts (Note [The team])."""
MUTEX, CHANGE, LOOKING, ALONE = (int(_FIELDS[name]) for name in ("mutex", "change", "looking", "alone"))
"""Where a team has its mutex, its condition, the nanoseconds that helpers look for work, and those of launches to come alone."""
