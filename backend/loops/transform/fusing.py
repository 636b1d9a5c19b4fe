"""Fusion: two loops with equal bounds, one behind the other, that look at the same memory, become one.

Legal where no iteration of the second loop touches an item that a later iteration of the first one touches, one of them storing
it; VECTOR and PARALLEL loops must stay independent, too.  Loops that may leave the program, or end early, stay.  Scalars between
the loops are done before them.  Inner loops that now stand behind each other are fused in their turn, so that `sharing` can hand
on what is stored and loaded at one point.

Neighbours: `sharing`, `dead` (scratch that is only stored disappears).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..affine import Facts, facts_of
from ..check import Access, accesses, apart, may_fail
from ..definitions import Definitions
from ..ir import Apply, Constant, For, If, Index, Load, LoopKind, Number, Program, Statement, Store, blocks, uses, walk, within
from .rewriting import fails, renamed, statements, stored_views

_MOST_STATEMENTS: Final = 100
"""Of a fused body."""


def run(program: Program) -> Program:
    """Fuse loops."""
    fusing = _Fusing(program)
    body = fusing.block(program.body, facts_of(program, fusing.definitions))
    return replace(program, body=body) if fusing.has_fused else program


class _Fusing:
    def __init__(self, program: Program) -> None:
        self.definitions = Definitions(program)
        self.private = {view.name for view in program.views if view.private}
        self.has_fused = False

    def block(self, body: tuple[Statement, ...], facts: Facts) -> tuple[Statement, ...]:
        done: list[Statement] = []
        for statement in body:
            if isinstance(statement, If):
                then, otherwise = (
                    self.block(arm, facts.assuming(statement.condition, value))
                    for arm, value in ((statement.then, True), (statement.otherwise, False))
                )
                statement = replace(statement, then=then, otherwise=otherwise)
            elif isinstance(statement, For):
                statement = self.joined(done, statement, facts)
            done.append(statement)
        # Inner blocks last: fusion has made them what they are.
        return tuple(
            replace(s, body=self.block(s.body, facts.within(s))) if isinstance(s, For) and _has_loops(s) else s for s in done
        )

    def joined(self, done: list[Statement], second: For, facts: Facts) -> For:
        """The loop, fused with the last one of `done`, which it then takes the place of."""
        place = len(done) - 1
        while place >= 0 and not isinstance(done[place], For | If | Store):
            place -= 1
        first = done[place] if place >= 0 else None
        between = tuple(done[place + 1 :])
        if not isinstance(first, For) or not self.is_alike(first, second) or not _may_move(between, first):
            return second
        results = {c.result for c in first.carried}
        if any(name in results for s in (second, *walk(second.body)) for name in uses(s)):
            return second
        moved = renamed(second.body, {second.index: first.index})
        fused = replace(first, body=first.body + moved, carried=first.carried + second.carried)
        self.definitions.add((fused,))
        here = facts.within(fused)
        if not self.is_legal(fused, accesses(first.body, here), accesses(moved, here)):
            self.definitions.add((first, second))
            return second
        self.has_fused = True
        done[place:] = between
        return fused

    def is_alike(self, first: For, second: For) -> bool:
        """Do the loops run over the same indices and look at the same memory?"""
        if (first.kind, first.step, first.until, second.until) != (second.kind, second.step, None, None):
            return False
        if any(self.forms(a) != self.forms(b) for a, b in ((first.lower, second.lower), (first.upper, second.upper))):
            return False
        if statements(first.body) + statements(second.body) > _MOST_STATEMENTS or fails(first.body) or fails(second.body):
            return False
        own, other = (
            {s.view for s in walk(loop.body) if isinstance(s, Load | Store)} for loop in (first, second)
        )
        return bool(own & other)

    def forms(self, bounds: tuple[Index, ...]) -> set[Index]:
        return set(map(self.definitions.expand, bounds))

    def is_legal(self, fused: For, first: list[Access], second: list[Access]) -> bool:
        inner = frozenset(within(fused))
        independent = fused.kind is not LoopKind.SERIAL
        for a in first:
            for b in second:
                if a.node.view != b.node.view or not (isinstance(a.node, Store) or isinstance(b.node, Store)):
                    continue
                if fused.kind is LoopKind.PARALLEL and a.node.view in self.private:
                    continue
                if not apart(b, a, fused, inner) or (independent and not apart(a, b, fused, inner)):
                    return False
        return True


def _has_loops(loop: For) -> bool:
    return any(blocks(s) for s in loop.body)


def _may_move(between: tuple[Statement, ...], first: For) -> bool:
    """May these scalars be done before the loop?"""
    results, stores = {c.result for c in first.carried}, stored_views((first,))
    for statement in between:
        match statement:
            case Constant() | Number() | Apply() | Load():
                if any(name in results for name in uses(statement)) or (isinstance(statement, Load) and statement.view in stores):
                    return False
                if isinstance(statement, Apply) and may_fail(statement):
                    return False
            case _:
                return False
    return True
