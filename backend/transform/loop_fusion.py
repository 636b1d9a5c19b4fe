"""Fusion: two loops, one behind the other, that look at the same memory, become one.

The second loop may be *delayed*: in the iteration of the first one with index i it does what it did at i minus the delay, so that
the first one has read what the second one overwrites, or written what it reads.  Where the loops do not begin and end together,
branches leave out what one of them did not do.  Only loops around loops are delayed: innermost ones are to be vectors.

Legal where no iteration of the second loop touches an item that an iteration of the first one touches which now comes later, one
of them storing it; VECTOR and PARALLEL loops must stay independent, too.  Loops that may leave the program, or end early, stay.
Scalars between the loops are done before them.  Inner loops that now stand behind each other are fused in their turn, so that
`redundancy` can hand on what is stored and loaded at one point.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...typechecker.elements import Kind
from ..loopir.facts import Definitions, Facts, facts_of
from ..loopir.ir import (
    ONE,
    Apply,
    Call,
    ConstantStatement,
    For,
    If,
    Index,
    IndexStatement,
    Load,
    LoopKind,
    LoopProgram,
    Statement,
    Store,
    blocks,
    defined_in_iteration,
    index,
    loaded_views,
    minus,
    plus,
    uses,
    walk,
)
from ..loopir.verifier import ViewAccess, accesses, may_fail
from .rewriting import FreshNames, fails, renamed, statements, views_stored_in

_MOST_STATEMENTS: Final = 100
"""Of a fused body."""
_MOST_DELAY: Final = 2


def fuse_loops(program: LoopProgram) -> LoopProgram:
    """Fuse loops."""
    fusing = _Fusing(program)
    body = fusing.block(program.body, facts_of(program, fusing.definitions))
    return replace(program, body=body) if fusing.has_fused else program


class _Fusing:
    def __init__(self, program: LoopProgram) -> None:
        self.definitions, self.names = Definitions(program), FreshNames(program)
        self.private = {view.name for view in program.views if view.private}
        self.has_fused = False

    def block(self, body: tuple[Statement, ...], facts: Facts) -> tuple[Statement, ...]:
        done: list[Statement] = []
        for statement in body:
            while isinstance(statement, For):
                before, statement = statement, self.joined(done, statement, facts)
                if statement is before:
                    break
            done.append(statement)
        # Inner blocks last: fusion has made them what they are.
        return tuple(self.inside(statement, facts) for statement in done)

    def inside(self, statement: Statement, facts: Facts) -> Statement:
        match statement:
            case For() if _has_loops(statement):
                return replace(statement, body=self.block(statement.body, facts.in_iteration(statement)))
            case If(condition, then, otherwise, _):
                arms = self.block(then, facts.assuming(condition)), self.block(otherwise, facts.assuming(condition, False))
                return replace(statement, then=arms[0], otherwise=arms[1])
        return statement

    def joined(self, done: list[Statement], second: For, facts: Facts) -> For:
        """The loop, fused with the last one of `done`, which it then takes the place of."""
        position = len(done) - 1
        while position >= 0 and not isinstance(done[position], For | If | Store | Call):
            position -= 1
        first = done[position] if position >= 0 else None
        between = tuple(done[position + 1 :])
        if not isinstance(first, For) or not _is_alike(first, second) or not _may_move(between, first):
            return second
        results = {c.result for c in first.carried}
        if any(name in results for s in (second, *walk(second.body)) for name in uses(s)):
            return second
        delay = self.delay(first, second, facts)
        if delay is None:
            return second
        fused = self.fused(first, second, delay)
        self.definitions.add((fused,))
        self.has_fused = True
        done[position:] = between
        return fused

    # ------------------------------------------------------------------------------------------- delays

    def delay(self, first: For, second: For, facts: Facts) -> int | None:
        """The least delay with which the loops may be fused."""
        may_wait = first.kind is LoopKind.SERIAL and not (first.carried or second.carried)
        may_wait = may_wait and _has_loops(first) and _has_loops(second)
        delays = [d for d in range(1 + _MOST_DELAY if may_wait else 1) if self.edges(first, second, d) is not None]
        if not delays:
            return None
        stored, also_stored = views_stored_in(first.body), views_stored_in(second.body)
        views = _loaded(first) & also_stored | stored & (_loaded(second) | also_stored)
        if first.kind is LoopKind.PARALLEL:
            views -= self.private
        earlier, other = (
            [a for a in accesses(loop.body, facts.in_iteration(loop)) if a.node.view in views] if views else []
            for loop in (first, second)
        )
        pairs = [
            (a, b) for a in earlier for b in other
            if a.node.view == b.node.view and (isinstance(a.node, Store) or isinstance(b.node, Store))
        ]  # fmt: skip
        may_wait = may_wait and any(isinstance(a.node, Store) and isinstance(b.node, Load) for a, b in pairs)
        for delay in delays if may_wait else [d for d in delays if not d]:
            if (may_wait or self.edges(first, second, delay) == (0, 0)) and self.is_legal(first, second, pairs, delay):
                return delay
        return None

    def edges(self, first: For, second: For, delay: int) -> tuple[int, int] | None:
        """How many iterations before the second loop the first one begins, and ends; None where that is not known."""
        if not delay and all(
            set(map(self.definitions.expand, bounds)) == set(map(self.definitions.expand, other))
            for bounds, other in ((first.lower, second.lower), (first.upper, second.upper))
        ):
            return 0, 0
        if any(len(bounds) > 1 for bounds in (first.lower, first.upper, second.lower, second.upper)):
            return None
        begins, ends = (
            self.definitions.expand(minus(plus(later, Index((), delay)), other))
            for later, other in ((second.lower[0], first.lower[0]), (second.upper[0], first.upper[0]))
        )
        if begins.terms or ends.terms or begins.constant < 0 or ends.constant < 0:
            return None
        return begins.constant, ends.constant

    def is_legal(self, first: For, second: For, pairs: list[tuple[ViewAccess, ViewAccess]], delay: int) -> bool:
        defined = defined_in_iteration(first)
        behind = index(first.index, (second.index, -1), constant=-1 - delay)
        orders = [behind] if first.kind is LoopKind.SERIAL else [behind, index(second.index, (first.index, -1), constant=-1)]
        for a, b in pairs:
            inner = [form for form in a.facts.assumed if any(name in defined for name, _ in form.terms)]
            distances = [minus(x, y) for x, y in zip(a.node.indices, b.node.indices, strict=True)]
            for order in orders:
                both = b.facts.with_facts([*inner, order])
                if not both.unreachable and not a.facts.unreachable and not any(map(both.proves_nonzero, distances)):
                    return False
        return True

    def fused(self, first: For, second: For, delay: int) -> For:
        edges = self.edges(first, second, delay)
        assert edges is not None
        body, other = first.body, renamed(second.body, {second.index: first.index})
        if delay:
            other = IndexStatement(second.index, index(first.index, constant=-delay)), *second.body
        if edges[1]:
            body = self.guarded(minus(first.upper[0], plus(index(first.index), ONE)), body)
        if edges[0]:
            other = self.guarded(minus(index(first.index, constant=-delay), second.lower[0]), other)
        upper = tuple(plus(form, Index((), delay)) for form in second.upper) if delay or edges[1] else first.upper
        return replace(first, upper=upper, body=body + other, carried=first.carried + second.carried)

    def guarded(self, form: Index, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """A block that is done where a form is not negative."""
        left, nothing, holds = map(self.names.fresh, ("left", "nothing", "holds"))
        condition = Apply(holds, Kind.BOOL, "ge", (left, nothing), Kind.I64)
        return IndexStatement(left, form), IndexStatement(nothing, Index((), 0)), condition, If(holds, body)


def _is_alike(first: For, second: For) -> bool:
    """Do the loops run in the same way and look at the same memory?"""
    if (first.kind, first.step, first.until, second.until) != (second.kind, second.step, None, None):
        return False
    if statements(first.body) + statements(second.body) > _MOST_STATEMENTS or fails(first.body) or fails(second.body):
        return False
    views, other = ({s.view for s in walk(loop.body) if isinstance(s, Load | Store)} for loop in (first, second))
    return bool(views & other)


def _loaded(loop: For) -> set[str]:
    return {view for s in walk(loop.body) for view in loaded_views(s)}


def _has_loops(loop: For) -> bool:
    return any(blocks(s) for s in loop.body)


def _may_move(between: tuple[Statement, ...], first: For) -> bool:
    """May these scalars be done before the loop?"""
    results, stores = {c.result for c in first.carried}, views_stored_in((first,))
    for statement in between:
        match statement:
            case ConstantStatement() | IndexStatement() | Apply() | Load():
                if any(name in results for name in uses(statement)) or (isinstance(statement, Load) and statement.view in stores):
                    return False
                if isinstance(statement, Apply) and may_fail(statement):
                    return False
            case _:
                return False
    return True
