"""Removal of redundant statements: loop-invariant code motion, common subexpression elimination, dead code elimination.

Loop-invariant statements move before the loop, innermost loops first, so that a statement leaves as many loops as it can.  Not
hoisted are statements that may fail, costly ones in a branch, loads of an item that the loop may write, and loads that may leave
their view if the loop has no iteration.
"""

from __future__ import annotations

from typing import TypeAlias

from ...lang.support.records import replace
from ..loopir.facts import Definitions, Facts, facts_of
from ..loopir.ir import (
    ONE,
    Apply,
    Call,
    Carried,
    ConstantStatement,
    Fail,
    For,
    If,
    Index,
    IndexStatement,
    Load,
    LoopKind,
    LoopProgram,
    Statement,
    Store,
    ViewRole,
    blocks,
    defined,
    head_uses,
    index,
    loaded_views,
    minus,
    stored_views,
    uses,
    walk,
)
from ..loopir.verifier import may_fail
from .rewriting import rebuilt, views_stored_in

# ----------------------------------------------------------------------------------------- loop-invariant code

def hoist_invariants(program: LoopProgram) -> LoopProgram:
    """Moves loop-invariant statements out of loops."""
    hoisting = _Hoisting(program)
    body = hoisting.block(program.body, facts_of(program, hoisting.definitions), None)
    return program if body == program.body else replace(program, body=body)


class _LoopBody:
    """A loop under analysis: the registers that vary with its iterations, its stores, and the statements hoisted from it."""

    def __init__(self, loop: For, facts: Facts) -> None:
        self.varying = {loop.index, *(c.inside for c in loop.carried)}
        self.stores = [statement for statement in walk(loop.body) if isinstance(statement, Store)]
        self.called = {view for s in walk(loop.body) if isinstance(s, Call) for view in stored_views(s)}
        self.facts = facts
        self.is_private = loop.kind is LoopKind.PARALLEL
        self.hoisted: list[Statement] = []


class _Hoisting:
    def __init__(self, program: LoopProgram) -> None:
        self.definitions = Definitions(program)
        self.views = {view.name: view for view in program.views}

    def block(self, body: tuple[Statement, ...], facts: Facts, loop: _LoopBody | None, *, in_branch: bool = False
              ) -> tuple[Statement, ...]:  # fmt: skip
        """A block of the body of `loop`, whose invariant statements go to `loop.hoisted`."""
        remaining: list[Statement] = []
        for statement in body:
            leaving: list[Statement] = [statement]
            match statement:
                case For():
                    inner = _LoopBody(statement, facts)
                    inner_body = self.block(statement.body, facts.in_iteration(statement), inner)
                    leaving = [*inner.hoisted, replace(statement, body=inner_body)]
                case If(condition, then, otherwise, _):
                    arms = [
                        self.block(arm, facts.assuming(condition, value), loop, in_branch=True)
                        for arm, value in ((then, True), (otherwise, False))
                    ]
                    leaving = [replace(statement, then=arms[0], otherwise=arms[1])]
                case Fail(_, condition, _):
                    facts = facts.assuming(condition, False)
            for part in leaving:
                if loop is not None and self.is_invariant(part, loop, in_branch):
                    loop.hoisted.append(part)
                else:
                    remaining.append(part)
                    if loop is not None:
                        loop.varying.update(defined(part))
        return tuple(remaining)

    def is_invariant(self, statement: Statement, loop: _LoopBody, in_branch: bool) -> bool:
        """Can the statement move before the loop?"""
        if any(name in loop.varying for name in uses(statement)):
            return False
        match statement:
            case ConstantStatement() | IndexStatement():
                return True
            case Apply():
                return not in_branch and not may_fail(statement)
            case Load():
                view = self.views[statement.view]
                if view.name in loop.called or (view.private and loop.is_private):
                    return False
                if not all(_never_aliases(statement, store, loop.facts) for store in loop.stores):
                    return False
                return self.is_in_bounds(statement, loop.facts)
            case For():
                return not in_branch and all(self.is_invariant_arithmetic(inside, loop) for inside in walk(statement.body))
        return False

    def is_invariant_arithmetic(self, statement: Statement, loop: _LoopBody) -> bool:
        """Is the statement arithmetic without checks, on operands that do not vary?"""
        if any(name in loop.varying for name in uses(statement)) or (isinstance(statement, Apply) and may_fail(statement)):
            return False
        return isinstance(statement, ConstantStatement | IndexStatement | Apply | For)

    def is_in_bounds(self, load: Load, facts: Facts) -> bool:
        """Is the loaded item provably in its view before the loop?"""
        there = facts.assuming(load.mask)
        shape = self.views[load.view].shape
        return all(
            there.proves(form) and there.proves(minus(minus(length, form), ONE))
            for form, length in zip(load.indices, shape, strict=True)
        )


def _never_aliases(load: Load, store: Store, facts: Facts) -> bool:
    """Does the store provably never write the loaded item, in any iteration?"""
    if load.view != store.view:
        return True
    return any(facts.proves_nonzero(minus(form, other)) for form, other in zip(load.indices, store.indices, strict=True))


# -------------------------------------------------------------------------------------- common subexpressions
#
# Common subexpression elimination, also of loads.
#
# A register is shared where its first definition dominates.  A load is shared, or replaced by the stored value, if nothing in
# between may have written the item; stores to other views, and stores at a constant non-zero distance, cannot have.

Expression: TypeAlias = tuple[object, ...]
Item: TypeAlias = tuple[str, tuple[Index, ...], str | None]


def eliminate_common_subexpressions(program: LoopProgram) -> LoopProgram:
    """Removes statements that compute or load a value which a register already holds."""
    sharing = _Sharing()
    body = sharing.block(program.body, {}, {})
    return program if body == program.body else replace(program, body=body)


class _Sharing:
    def __init__(self) -> None:
        self.aliases: dict[str, str] = {}
        self.joins: set[str] = set()

    def use(self, name: str) -> str:
        return self.aliases.get(name, name)

    def form(self, form: Index) -> Index:
        if not any(name in self.aliases for name, _ in form.terms):
            return form
        return index(*((self.use(name), c) for name, c in form.terms), constant=form.constant)

    def block(self, body: tuple[Statement, ...], known: dict[Expression, str], items: dict[Item, str]) -> tuple[Statement, ...]:
        """Rewrites a block; updates `known` and `items` to the expressions and items available at its end."""
        remaining: list[Statement] = []
        for original in body:
            statement: Statement
            if isinstance(original, For | If):
                for view in views_stored_in((original,)):
                    _forget(items, view)

                def inner(block: tuple[Statement, ...]) -> tuple[Statement, ...]:
                    return self.block(block, dict(known), dict(items))

                if isinstance(original, For):
                    self.joins.update(c.yielded for c in original.carried if c.reduction is not None)
                remaining.append(rebuilt(original, self.use, self.form, inner))
                continue
            statement = rebuilt(original, self.use, self.form, lambda block: block)
            match statement:
                case ConstantStatement() | IndexStatement() | Apply():
                    key = _expression(statement)
                    if key in known and statement.name not in self.joins:
                        self.aliases[statement.name] = known[key]
                        continue
                    known[key] = statement.name
                case Load():
                    item = (statement.view, statement.indices, statement.mask)
                    present = items.get(item)
                    if present is not None:
                        self.aliases[statement.name] = present
                        continue
                    items[item] = statement.name
                case Store():
                    _forget(items, statement.view, statement.indices)
                    if statement.mask is None and statement.join is None:
                        items[(statement.view, statement.indices, None)] = statement.value
                case Call():
                    for view in views_stored_in((statement,)):
                        _forget(items, view)
            remaining.append(statement)
        return tuple(remaining)


def _expression(statement: ConstantStatement | IndexStatement | Apply) -> Expression:
    match statement:
        case ConstantStatement(_, kind, bits):
            return "constant", kind, bits
        case IndexStatement(_, form):
            return "number", form
        case Apply():
            return (statement.function, statement.kind, statement.compute, statement.parameter, statement.args)


def _forget(items: dict[Item, str], view: str, indices: tuple[Index, ...] | None = None) -> None:
    """Remove the items that a store to the view may have written, at the indices or (None) anywhere."""
    for item in [p for p in items if p[0] == view and not (indices is not None and _are_disjoint(p[1], indices))]:
        del items[item]


def _are_disjoint(left: tuple[Index, ...], right: tuple[Index, ...]) -> bool:
    """Are these the indices of different items, whatever the values of registers?"""
    return any(a.terms == b.terms and a.constant != b.constant for a, b in zip(left, right, strict=True))


# ----------------------------------------------------------------------------------------------- dead code
#
# Dead code elimination: unread values, stores to scratch that is never loaded, stores that are redundant or overwritten, and
# loops and branches without effect.
#
# Statements that may exit the program stay.  Invariant: the items of OUTPUT views and the failure record of a run do not change.

def eliminate_dead_code(program: LoopProgram) -> LoopProgram:
    """Removes dead statements, and scratch views that are no longer used."""
    while True:
        loaded = {view for s in walk(program.body) for view in loaded_views(s)}
        scratch = {view.name for view in program.views if view.role is ViewRole.SCRATCH}
        dead: set[int] = set()
        _find_redundant_stores(program.body, dead)
        _find_overwritten_stores(program.body, dead)
        live = _Liveness(scratch - loaded, dead)
        live.roots(program.body)
        live.close()
        body = live.block(program.body)
        if body == program.body:
            break
        program = replace(program, body=body)
    used = {view for s in walk(program.body) for view in (*loaded_views(s), *stored_views(s))}
    views = tuple(view for view in program.views if view.role is not ViewRole.SCRATCH or view.name in used)
    return program if len(views) == len(program.views) else replace(program, views=views)


def _find_redundant_stores(body: tuple[Statement, ...], dead: set[int]) -> set[str]:
    """Records (by identity) stores of the value that was loaded from the same item, with no store to the view in between; returns
    the views that the block stores to."""
    loaded: dict[str, set[tuple[tuple[Index, ...], str]]] = {}
    stored: set[str] = set()
    for statement in body:
        match statement:
            case Load(name, view, indices, None):
                loaded.setdefault(view, set()).add((indices, name))
            case Store(view, indices, value, join=None) if (indices, value) in loaded.get(view, ()):
                dead.add(id(statement))
                stored.add(view)
            case _:
                inside = set(stored_views(statement)).union(*(_find_redundant_stores(block, dead) for block in blocks(statement)))
                stored |= inside
                for view in inside:
                    loaded.pop(view, None)
    return stored


def _find_overwritten_stores(body: tuple[Statement, ...], dead: set[int]) -> None:
    """Records (by identity) stores to an item that the same block stores again, with no load of the view and no exit in
    between."""
    later: set[tuple[str, tuple[Index, ...]]] = set()
    for statement in reversed(body):
        for block in blocks(statement):
            _find_overwritten_stores(block, dead)
        inside = list(walk((statement,)))
        if any(isinstance(s, Fail | Call) or (isinstance(s, Apply) and may_fail(s)) for s in inside):
            later.clear()
        if isinstance(statement, Store) and statement.join is None:
            if (statement.view, statement.indices) in later:
                dead.add(id(statement))
            elif statement.mask is None:
                later.add((statement.view, statement.indices))
            continue
        loaded = {view for s in inside for view in loaded_views(s)}
        later = {(view, indices) for view, indices in later if view not in loaded}


class _Liveness:
    """The live registers of a program.  `unread`: views that are never loaded; `dead_stores`: redundant stores, by identity."""

    def __init__(self, unread: set[str], dead_stores: set[int]) -> None:
        self.unread, self.dead_stores = unread, dead_stores
        self.live: set[str] = set()
        self.waiting: list[str] = []
        self.needs: dict[str, tuple[str, ...]] = {}
        """The registers that a register's definition uses."""

    def has_effect(self, statement: Statement) -> bool:
        """Does the statement itself have an effect other than defining registers?"""
        match statement:
            case Store():
                return statement.view not in self.unread and id(statement) not in self.dead_stores
            case Apply():
                return may_fail(statement)
            case Fail() | Call():
                return True
        return False

    def roots(self, body: tuple[Statement, ...]) -> bool:
        """Records the registers that each register uses, and those that statements with effects use; returns whether the block
        has an effect."""
        acting = False
        for statement in body:
            match statement:
                case For() | If():
                    head = head_uses(statement)
                    inner = sum(self.roots(block) for block in blocks(statement)) > 0
                    if inner:
                        self.waiting += head
                    acting = acting or inner
                    if isinstance(statement, For):
                        for c in statement.carried:
                            self.needs[c.inside] = self.needs[c.result] = (c.initial, c.yielded, *head)
                    else:
                        for r in statement.results:
                            self.needs[r.name] = (r.then, r.otherwise, *head)
                case _:
                    if self.has_effect(statement):
                        self.waiting += uses(statement)
                        acting = True
                    if not isinstance(statement, Store | Fail | Call):
                        self.needs[statement.name] = uses(statement)
        return acting

    def close(self) -> None:
        while self.waiting:
            name = self.waiting.pop()
            if name not in self.live:
                self.live.add(name)
                self.waiting += self.needs.get(name, ())

    def block(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        live: list[Statement] = []
        for statement in body:
            match statement:
                case For():
                    carried = tuple(c for c in statement.carried if self.is_live(c))
                    inner = self.block(statement.body)
                    if inner or carried:
                        live.append(replace(statement, carried=carried, body=inner))
                case If():
                    results = tuple(r for r in statement.results if r.name in self.live)
                    then, otherwise = self.block(statement.then), self.block(statement.otherwise)
                    if then or otherwise or results:
                        live.append(replace(statement, then=then, otherwise=otherwise, results=results))
                case Store() | Fail() | Call():
                    if self.has_effect(statement):
                        live.append(statement)
                case _:
                    if statement.name in self.live or self.has_effect(statement):
                        live.append(statement)
        return tuple(live)

    def is_live(self, carried: Carried) -> bool:
        return carried.result in self.live or carried.inside in self.live
