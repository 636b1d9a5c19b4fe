"""The block of words that a kernel is given: what lies where.

Parameters; for each view its base and its strides in bytes, but a last one that is one item (scratch of a constant shape is the
function's own, where there are no calls); where there are calls, a function `i64 (i64)` that runs routines, given the number of
the call in the order of the program, and for each call the address and the sizes of each box, and its numbers; the failure
record: values, and, of a program that is run in ranges, the iteration of its outermost loop.

Neighbours: `printer` (reads and writes it), `backend.run.cpu.regions` and `routines` (the other side).
"""

from __future__ import annotations

from ..ir import MOST_VALUES, Call, Program, View, walk


def words_of(program: Program) -> int:
    """Length of the block."""
    return calls_at(program)[-1] + MOST_VALUES + runs_in_ranges(program)


def runs_in_ranges(program: Program) -> bool:
    """Does the caller hand out the iterations of the outermost loop?"""
    return program.parameters[:1] == ("first",)


def calls_at(program: Program) -> list[int]:
    """Where the words of each call begin; before the first is the function, after the last the record."""
    calls = calls_of(program)
    given = [view for view in program.views if not is_own(program, view)]
    places = [len(program.parameters) + sum(1 + strides_of(view) for view in given) + bool(calls)]
    for call in calls:
        sizes = sum(size is not None for box in call.boxes for size in box.shape)
        places.append(places[-1] + len(call.boxes) + sizes + len(call.numbers))
    return places


def is_own(program: Program, view: View) -> bool:
    """Is a view memory of the function's own?  What routines run in between may have the same."""
    return view.private and not any(length.terms for length in view.shape) and not calls_of(program)


def strides_of(view: View) -> int:
    """How many strides of a view are words."""
    return len(view.shape) - (view.unit and bool(view.shape))


def calls_of(program: Program) -> list[Call]:
    """In the order of the program."""
    return [statement for statement in walk(program.body) if isinstance(statement, Call)]
