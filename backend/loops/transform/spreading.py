"""One iteration of a loop for a card: the loops in it that are independent become PARALLEL, and each is a nest.

The caller goes through the iterations (`first` says which), or points do (`interchanging`).  Nothing goes from one to the next
but what is in memory; which of two buffers holds the state follows from the iteration.

Neighbours: `lower.region` (the programs), `check` (proves independence), `cuda` (prints nests), `run.cuda.regions` (asks).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from ..check import problems
from ..definitions import Definitions
from ..ir import Apply, Call, Constant, For, Load, LoopKind, Number, Program, Role, Statement, Store, index, walk


def run(program: Program, turn: str | None) -> Program | None:
    """`turn`: the view that says which buffer holds the state.  None: not all of an iteration is nests."""
    program = replace(program, views=tuple(replace(view, private=False) for view in program.views))
    known, forms = set(problems(program)), Definitions(program)

    def bounded(loop: For) -> For:
        """In terms of parameters, as far as may be."""
        lower, upper = (tuple(map(forms.expand, bounds)) for bounds in (loop.lower, loop.upper))
        return replace(loop, lower=lower, upper=upper)

    program = replace(program, body=_with_loops(program.body, bounded))
    for name in [s.index for s in walk(program.body) if isinstance(s, For) and s.kind is LoopKind.SERIAL and not s.carried]:

        def parallel(loop: For, name: str = name) -> For:
            return replace(loop, kind=LoopKind.PARALLEL) if loop.index == name else loop

        spread = replace(program, body=_with_loops(program.body, parallel))
        if set(problems(spread)) <= known:
            program = spread
    inputs = [view.name for view in program.views if view.role is Role.INPUT]
    if all(_is_nest(s, inputs) for s in program.body):
        return program  # points go through all iterations
    place = next((place for place, statement in enumerate(program.body) if isinstance(statement, For)), len(program.body))
    loop, after = program.body[place], program.body[place + 1 :]
    assert isinstance(loop, For)
    is_plain = loop.until is None and all(isinstance(s, Store) and s.view == turn for s in after)
    if not is_plain or not all(_is_nest(s, inputs) for s in (*program.body[:place], *loop.body)):
        return None
    here = Number(loop.index, index("first")), *(Number(c.inside, index(c.initial)) for c in loop.carried)
    views = tuple(view for view in program.views if view.name != turn)
    return replace(program, views=views, body=(*program.body[:place], *here, *loop.body))


def _with_loops(body: tuple[Statement, ...], change: Callable[[For], For]) -> tuple[Statement, ...]:
    """With another loop for each."""
    return tuple([change(replace(s, body=_with_loops(s.body, change))) if isinstance(s, For) else s for s in body])


def _is_nest(statement: Statement, inputs: Collection[str]) -> bool:
    """Or a number, which each nest finds again?"""
    inside = [*walk((statement,))]
    joins = any(isinstance(s, Call) or (isinstance(s, For) and s.kind is LoopKind.VECTOR and s.carried) for s in inside)
    if isinstance(statement, For):
        return not joins and statement.kind is not LoopKind.SERIAL
    return isinstance(statement, Constant | Number | Apply) or (isinstance(statement, Load) and statement.view in inputs)
