"""The block of words that a kernel is given: what lies where.

Parameters; for each view its base and its strides in bytes; a function `i64 (i64)` that runs routines, given the number of the
call in the order of the program; for each call the address and the sizes of each box, and its numbers; the failure record.

Neighbours: `printer` (reads and writes it), `backend.run.cpu.regions` and `routines` (the other side).
"""

from __future__ import annotations

from ..ir import MOST_VALUES, Call, Program, walk


def words_of(program: Program) -> int:
    """Length of the block."""
    return calls_at(program)[-1] + MOST_VALUES


def calls_at(program: Program) -> list[int]:
    """Where the words of each call begin; before the first is the function, after the last the record."""
    places = [len(program.parameters) + sum(1 + len(view.shape) for view in program.views) + 1]
    for call in calls_of(program):
        sizes = sum(size is not None for box in call.boxes for size in box.shape)
        places.append(places[-1] + len(call.boxes) + sizes + len(call.numbers))
    return places


def calls_of(program: Program) -> list[Call]:
    """In the order of the program."""
    return [statement for statement in walk(program.body) if isinstance(statement, Call)]
