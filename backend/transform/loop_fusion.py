"""Loop fusion: two successive loops that access the same memory become one.

The second loop may be *delayed* (shifted): in iteration i of the first loop it runs its iteration i - delay, so that the first
loop has read the items that the second one overwrites, or written those it reads.  Where the ranges of the loops differ, branches
skip the iterations that one of them lacks.  Only loops around loops are delayed, since innermost loops should be vectors.

Legal if no dependence is reversed: no iteration of the second loop accesses an item that an iteration of the first, which now
runs later, accesses too, one of them storing it.  VECTOR and PARALLEL loops must also stay independent.  Loops that may exit the
program or end early are not fused.  Scalars between the loops move before them.  Inner loops that become adjacent are fused next,
so that `redundancy` can forward items that are stored and loaded at the same point.
"""

from __future__ import annotations

from typing import Final

from ...lang.support.records import replace
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
from .rewriting import FreshNames, may_exit, renamed, statement_count, views_stored_in

_MOST_STATEMENTS: Final = 100
"""The most statements of a fused body."""
_MOST_DELAY: Final = 2


def fuse_loops(program: LoopProgram) -> LoopProgram:
    """Fuses adjacent loops that access the same memory."""
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
                before, statement = statement, self.fuse_with_last(done, statement, facts)
                if statement is before:
                    break
            done.append(statement)
        # Inner blocks last, since fusion has changed them.
        return tuple(self.inside(statement, facts) for statement in done)

    def inside(self, statement: Statement, facts: Facts) -> Statement:
        match statement:
            case For() if _has_loops(statement):
                return replace(statement, body=self.block(statement.body, facts.in_iteration(statement)))
            case If(condition, then, otherwise, _):
                arms = self.block(then, facts.assuming(condition)), self.block(otherwise, facts.assuming(condition, False))
                return replace(statement, then=arms[0], otherwise=arms[1])
        return statement

    def fuse_with_last(self, done: list[Statement], second: For, facts: Facts) -> For:
        """The loop, fused with the last loop of `done` (which is removed there) if that is legal; else the loop unchanged."""
        position = len(done) - 1
        while position >= 0 and not isinstance(done[position], For | If | Store | Call):
            position -= 1
        first = done[position] if position >= 0 else None
        between = tuple(done[position + 1 :])
        if not isinstance(first, For) or not _may_fuse(first, second) or not _may_move(between, first):
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
        """The least legal delay; None if the loops cannot be fused."""
        may_wait = first.kind is LoopKind.SERIAL and not (first.carried or second.carried)
        may_wait = may_wait and _has_loops(first) and _has_loops(second)
        delays = [d for d in range(1 + _MOST_DELAY if may_wait else 1) if self.offsets(first, second, d) is not None]
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
            if (may_wait or self.offsets(first, second, delay) == (0, 0)) and self.is_legal(first, second, pairs, delay):
                return delay
        return None

    def offsets(self, first: For, second: For, delay: int) -> tuple[int, int] | None:
        """The iterations by which the delayed second loop starts, and ends, after the first one; None if they are not
        constant."""
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
        edges = self.offsets(first, second, delay)
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
        """A branch that runs the block where a form is not negative."""
        left, nothing, holds = map(self.names.fresh, ("left", "nothing", "holds"))
        condition = Apply(holds, Kind.BOOL, "ge", (left, nothing), Kind.I64)
        return IndexStatement(left, form), IndexStatement(nothing, Index((), 0)), condition, If(holds, body)


def _may_fuse(first: For, second: For) -> bool:
    """Do the loops have the same kind and step, access a common view, and fuse to a small enough body?"""
    if (first.kind, first.step, first.until, second.until) != (second.kind, second.step, None, None):
        return False
    if statement_count(first.body) + statement_count(second.body) > _MOST_STATEMENTS:
        return False
    if may_exit(first.body) or may_exit(second.body):
        return False
    views, other = ({s.view for s in walk(loop.body) if isinstance(s, Load | Store)} for loop in (first, second))
    return bool(views & other)


def _loaded(loop: For) -> set[str]:
    return {view for s in walk(loop.body) for view in loaded_views(s)}


def _has_loops(loop: For) -> bool:
    return any(blocks(s) for s in loop.body)


def _may_move(between: tuple[Statement, ...], first: For) -> bool:
    """Can these scalars move before the loop?"""
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
