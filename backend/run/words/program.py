"""The words of a program: plain data about values, numbers and phases.

Values are named by their ids, which are unique in a program.  Numbers are sizes, or *registers*: what a turn of a loop counts,
and what conditions gave.  A body's values lie beside those around it; what it made is dropped once it has been handed on, so
that the buffers of a loop's state can be written again.

Neighbours: `assemble` (makes them), `interpret` and `native.encode` (go through them).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ....lang.codes import Code
from ....typechecker.sizes import Size, SizeVariable
from ...graph.phases import Constant, Fold, Input, LibraryPhase, Loop, Map, Output, Phase, Print, Structured, ValueId
from ...schedule.plan.model import StreamStep

Register: TypeAlias = int


@dataclass(frozen=True, slots=True)
class Run:
    """A phase that has no others inside; `overwrite`: a value whose buffer the first result may take."""

    phase: Structured | LibraryPhase | Constant | Input | Print | Output
    overwrite: ValueId | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain along rows: phases together, row by row."""

    members: tuple[Structured, ...]
    results: tuple[ValueId, ...]
    overwrite: ValueId | None = None


@dataclass(frozen=True, slots=True)
class Stream:
    """A pass over stored inputs, tile by tile (`run.streams`)."""

    step: StreamStep


@dataclass(frozen=True, slots=True)
class Free:
    """The values are not needed again."""

    values: tuple[ValueId, ...]


@dataclass(frozen=True, slots=True)
class Inside:
    """A phase that has others inside: by machine code for all of it where the device has that, else by these words."""

    phase: Phase
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The words once for each of `trip` turns.

    Register `at` counts from `first` upwards, or down to 0.  What `initial` names is `state` in the first turn; after each, what
    `next` names is, and `own` (which the turn made) is dropped; after the last, `results` are what `state` is.  `stop`: a
    register; the turn after which it is not 0 is the last.  `index`: the loop whose index it is, known in each turn alone.
    `of`: what these are the turns of."""

    of: Loop | Fold | Map
    trip: Size
    first: int
    backwards: bool
    at: Register
    state: tuple[ValueId, ...]
    initial: tuple[ValueId, ...]
    words: tuple[Word, ...]
    next: tuple[ValueId, ...]
    own: tuple[ValueId, ...]
    results: tuple[ValueId, ...]
    stop: Register | None = None
    index: SizeVariable | None = None


@dataclass(frozen=True, slots=True)
class Arm:
    """One side of a choice: what it gives for the results, what of it is dropped then, and the sizes that it finds."""

    words: tuple[Word, ...]
    gives: tuple[ValueId, ...]
    own: tuple[ValueId, ...]
    sizes: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Choose:
    """The first arm where a register or a size is not 0, else the second."""

    by: Register | Size
    arms: tuple[Arm, Arm]
    results: tuple[ValueId, ...]
    defines: tuple[SizeVariable, ...]


@dataclass(frozen=True, slots=True)
class Test:
    """A truth value becomes a register's number."""

    register: Register
    value: ValueId


@dataclass(frozen=True, slots=True)
class Share:
    """Values under further names."""

    names: tuple[ValueId, ...]
    values: tuple[ValueId, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A value is the cell of another at a point of some leading axes: those of `frame`, as place `at` among all its points (a
    register, or a size) says."""

    value: ValueId
    of: ValueId
    at: Register | Size
    frame: tuple[Size, ...]
    axes: int


@dataclass(frozen=True, slots=True)
class Room:
    """Memory for a value, as its type says; cells are put there."""

    value: ValueId


@dataclass(frozen=True, slots=True)
class Put:
    """A cell of a value is another: that at place `at` (and `ahead`) among the points of `frame`."""

    value: ValueId
    cell: ValueId
    at: Register | Size
    ahead: int
    frame: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Refuse:
    """The program fails where a size is 0."""

    size: Size
    code: Code
    message: str


Word: TypeAlias = Run | Chain | Stream | Free | Inside | Repeat | Choose | Test | Share | Cell | Room | Put | Refuse
