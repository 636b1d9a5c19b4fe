"""Hoisting: what no iteration changes is computed before the loop.

Innermost loops first, so that a statement leaves as many loops as it can.  Not hoisted: what may fail; what stands in a branch
and costs something; a load of an item that the loop may write; a load that may leave its view where the loop has no iteration.

Neighbours: `sharing` (afterwards, equal statements stand in one block).
"""

from __future__ import annotations

from dataclasses import replace

from ..affine import Facts, facts_of
from ..check import may_fail
from ..definitions import Definitions
from ..forms import minus
from ..ir import (
    ONE,
    Apply,
    Call,
    Constant,
    Fail,
    For,
    If,
    Load,
    LoopKind,
    Number,
    Program,
    Statement,
    Store,
    defined,
    stored_views,
    uses,
    walk,
)


def run(program: Program) -> Program:
    """Move invariant statements out of loops."""
    hoisting = _Hoisting(program)
    body = hoisting.block(program.body, facts_of(program, hoisting.definitions), None)
    return program if body == program.body else replace(program, body=body)


class _Inside:
    """A loop whose body is looked at: what depends on its iterations, and what it writes."""

    def __init__(self, loop: For, facts: Facts) -> None:
        self.varying = {loop.index, *(c.inside for c in loop.carried)}
        self.stores = [statement for statement in walk(loop.body) if isinstance(statement, Store)]
        self.called = {view for s in walk(loop.body) if isinstance(s, Call) for view in stored_views(s)}
        self.facts = facts
        self.is_private = loop.kind is LoopKind.PARALLEL
        self.out: list[Statement] = []


class _Hoisting:
    def __init__(self, program: Program) -> None:
        self.definitions = Definitions(program)
        self.views = {view.name: view for view in program.views}

    def block(self, body: tuple[Statement, ...], facts: Facts, loop: _Inside | None, *, in_branch: bool = False
              ) -> tuple[Statement, ...]:  # fmt: skip
        """A block of the body of `loop`, which is given what leaves it."""
        kept: list[Statement] = []
        for statement in body:
            leaving: list[Statement] = [statement]
            match statement:
                case For():
                    inner = _Inside(statement, facts)
                    inner_body = self.block(statement.body, facts.within(statement), inner)
                    leaving = [*inner.out, replace(statement, body=inner_body)]
                case If(condition, then, otherwise, _):
                    arms = [
                        self.block(arm, facts.assuming(condition, value), loop, in_branch=True)
                        for arm, value in ((then, True), (otherwise, False))
                    ]
                    leaving = [replace(statement, then=arms[0], otherwise=arms[1])]
                case Fail(_, condition, _):
                    facts = facts.assuming(condition, False)
            for own in leaving:
                if loop is not None and self.is_invariant(own, loop, in_branch):
                    loop.out.append(own)
                else:
                    kept.append(own)
                    if loop is not None:
                        loop.varying.update(defined(own))
        return tuple(kept)

    def is_invariant(self, statement: Statement, loop: _Inside, in_branch: bool) -> bool:
        """May a statement be done before the loop?"""
        if any(name in loop.varying for name in uses(statement)):
            return False
        match statement:
            case Constant() | Number():
                return True
            case Apply():
                return not in_branch and not may_fail(statement)
            case Load():
                view = self.views[statement.view]
                if view.name in loop.called or (view.private and loop.is_private):
                    return False
                if not all(_apart(statement, store, loop.facts) for store in loop.stores):
                    return False
                return self.is_there(statement, loop.facts)
            case For():
                return not in_branch and all(self.is_even(inside, loop) for inside in walk(statement.body))
        return False

    def is_even(self, statement: Statement, loop: _Inside) -> bool:
        """Is it arithmetic that no iteration changes?"""
        if any(name in loop.varying for name in uses(statement)) or (isinstance(statement, Apply) and may_fail(statement)):
            return False
        return isinstance(statement, Constant | Number | Apply | For)

    def is_there(self, load: Load, facts: Facts) -> bool:
        """Is the item in its view before the loop, too?"""
        there = facts.assuming(load.mask)
        shape = self.views[load.view].shape
        return all(
            there.proves(form) and there.proves(minus(minus(length, form), ONE))
            for form, length in zip(load.indices, shape, strict=True)
        )


def _apart(load: Load, store: Store, facts: Facts) -> bool:
    """Does a store never write the item that is loaded, whatever its iteration?"""
    if load.view != store.view:
        return True
    return any(facts.differs(minus(form, other)) for form, other in zip(load.indices, store.indices, strict=True))
