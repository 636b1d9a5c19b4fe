"""Dead code: values that nobody reads, scratch that nobody loads, stores of what is there or is overwritten, loops and branches
that do nothing.

What may leave the program stays.  Invariant: what is stored to OUTPUT views, and which record a run leaves, is unchanged.
"""

from __future__ import annotations

from dataclasses import replace

from ..check import may_fail
from ..ir import (
    Apply,
    Call,
    Carried,
    Fail,
    For,
    If,
    Index,
    Load,
    Program,
    Role,
    Statement,
    Store,
    blocks,
    head_uses,
    loaded_views,
    stored_views,
    uses,
    walk,
)


def run(program: Program) -> Program:
    """Remove what nobody needs; scratch views that are not used any more go, too."""
    while True:
        loaded = {view for s in walk(program.body) for view in loaded_views(s)}
        scratch = {view.name for view in program.views if view.role is Role.SCRATCH}
        idle: set[int] = set()
        _idle(program.body, idle)
        _overwritten(program.body, idle)
        live = _Live(scratch - loaded, idle)
        live.roots(program.body)
        live.close()
        body = live.block(program.body)
        if body == program.body:
            break
        program = replace(program, body=body)
    used = {view for s in walk(program.body) for view in (*loaded_views(s), *stored_views(s))}
    views = tuple(view for view in program.views if view.role is not Role.SCRATCH or view.name in used)
    return program if len(views) == len(program.views) else replace(program, views=views)


def _idle(body: tuple[Statement, ...], idle: set[int]) -> set[str]:
    """Note stores of the item that was loaded from there, with no store to the view in between; the views that are stored."""
    loaded: dict[str, set[tuple[tuple[Index, ...], str]]] = {}
    stored: set[str] = set()
    for statement in body:
        match statement:
            case Load(name, view, indices, None):
                loaded.setdefault(view, set()).add((indices, name))
            case Store(view, indices, value, join=None) if (indices, value) in loaded.get(view, ()):
                idle.add(id(statement))
                stored.add(view)
            case _:
                inside = set(stored_views(statement)).union(*(_idle(block, idle) for block in blocks(statement)))
                stored |= inside
                for view in inside:
                    loaded.pop(view, None)
    return stored


def _overwritten(body: tuple[Statement, ...], idle: set[int]) -> None:
    """Note stores of an item that is stored again in the same block, with no load of the view in between, nor a way out."""
    later: set[tuple[str, tuple[Index, ...]]] = set()
    for statement in reversed(body):
        for block in blocks(statement):
            _overwritten(block, idle)
        inside = list(walk((statement,)))
        if any(isinstance(s, Fail | Call) or (isinstance(s, Apply) and may_fail(s)) for s in inside):
            later.clear()
        if isinstance(statement, Store) and statement.join is None:
            if (statement.view, statement.indices) in later:
                idle.add(id(statement))
            elif statement.mask is None:
                later.add((statement.view, statement.indices))
            continue
        loaded = {view for s in inside for view in loaded_views(s)}
        later = {(view, indices) for view, indices in later if view not in loaded}


class _Live:
    """The registers that something needs.  `unread`: views to which stores are in vain; `idle`: stores that are, by identity."""

    def __init__(self, unread: set[str], idle: set[int]) -> None:
        self.unread, self.idle = unread, idle
        self.live: set[str] = set()
        self.waiting: list[str] = []
        self.needs: dict[str, tuple[str, ...]] = {}
        """What a register needs to be known."""

    def acts(self, statement: Statement) -> bool:
        """Does a statement itself do something but define registers?"""
        match statement:
            case Store():
                return statement.view not in self.unread and id(statement) not in self.idle
            case Apply():
                return may_fail(statement)
            case Fail() | Call():
                return True
        return False

    def roots(self, body: tuple[Statement, ...]) -> bool:
        """Note what each register needs, and what is needed anyway; does the block do something?"""
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
                    if self.acts(statement):
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
        kept: list[Statement] = []
        for statement in body:
            match statement:
                case For():
                    carried = tuple(c for c in statement.carried if self.wanted(c))
                    inner = self.block(statement.body)
                    if inner or carried:
                        kept.append(replace(statement, carried=carried, body=inner))
                case If():
                    results = tuple(r for r in statement.results if r.name in self.live)
                    then, otherwise = self.block(statement.then), self.block(statement.otherwise)
                    if then or otherwise or results:
                        kept.append(replace(statement, then=then, otherwise=otherwise, results=results))
                case Store() | Fail() | Call():
                    if self.acts(statement):
                        kept.append(statement)
                case _:
                    if statement.name in self.live or self.acts(statement):
                        kept.append(statement)
        return tuple(kept)

    def wanted(self, carried: Carried) -> bool:
        return carried.result in self.live or carried.inside in self.live
