"""Tools of the transformations: fresh names, renaming and copying of blocks, and predicates on blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...lang.support.records import replace
from ..loopir.facts import Facts
from ..loopir.ir import (
    Apply,
    Box,
    Call,
    ConstantStatement,
    Fail,
    For,
    If,
    Index,
    IndexStatement,
    Load,
    LoopProgram,
    Statement,
    Store,
    defined_in_iteration,
    defined_within,
    index,
    stored_views,
    substitute,
    walk,
)
from ..loopir.verifier import accesses, are_disjoint, may_fail


class FreshNames:
    """Makes names that the program does not contain yet: `v.1`, `v.2`, …"""

    def __init__(self, program: LoopProgram) -> None:
        self._used = {*program.parameters, *(name for s in walk(program.body) for name in defined_within(s))}
        self._next: dict[str, int] = {}

    def fresh(self, name: str) -> str:
        stem = name.split(".")[0]
        while True:
            self._next[stem] = self._next.get(stem, 0) + 1
            candidate = f"{stem}.{self._next[stem]}"
            if candidate not in self._used:
                self._used.add(candidate)
                return candidate


def rebuilt(
    statement: Statement,
    use: Callable[[str], str],
    form: Callable[[Index], Index],
    block: Callable[[tuple[Statement, ...]], tuple[Statement, ...]],
    define: Callable[[str], str] = lambda name: name,
) -> Statement:
    """A statement with each register that it reads replaced by `use`, each affine form by `form`, each block by `block` and each
    name that it defines by `define`."""

    def forms(many: tuple[Index, ...]) -> tuple[Index, ...]:
        return tuple(map(form, many))

    def perhaps(name: str | None) -> str | None:
        return None if name is None else use(name)

    match statement:
        case ConstantStatement():
            return ConstantStatement(define(statement.name), statement.kind, statement.bits)
        case IndexStatement():
            return IndexStatement(define(statement.name), form(statement.index))
        case Apply():
            args = tuple(map(use, statement.args))
            return Apply(define(statement.name), statement.kind, statement.function, args, statement.compute,
                         statement.parameter, statement.check)  # fmt: skip
        case Load():
            return Load(define(statement.name), statement.view, forms(statement.indices), perhaps(statement.mask))
        case Store():
            return Store(statement.view, forms(statement.indices), use(statement.value), perhaps(statement.mask),
                         statement.join)  # fmt: skip
        case Fail():
            return Fail(statement.check, use(statement.condition), tuple(map(use, statement.values)))
        case Call():

            def box(old: Box) -> Box:
                return Box(old.view, forms(old.start), tuple(None if size is None else form(size) for size in old.shape))

            return Call(statement.routine, tuple(map(box, statement.reads)), tuple(map(box, statement.writes)),
                        forms(statement.numbers))  # fmt: skip
        case For():
            lower, upper = forms(statement.lower), forms(statement.upper)
            initial = [use(c.initial) for c in statement.carried]
            name, inside = define(statement.index), [define(c.inside) for c in statement.carried]
            body = block(statement.body)
            carried = tuple(
                replace(c, inside=register, initial=first, yielded=use(c.yielded), result=define(c.result))
                for c, register, first in zip(statement.carried, inside, initial, strict=True)
            )
            return For(name, lower, upper, statement.kind, body, carried, perhaps(statement.until), statement.step)
        case If():
            condition, then, otherwise = use(statement.condition), block(statement.then), block(statement.otherwise)
            results = tuple(
                replace(c, name=define(c.name), then=use(c.then), otherwise=use(c.otherwise)) for c in statement.results
            )
            return If(condition, then, otherwise, results)


def renamed(body: tuple[Statement, ...], registers: dict[str, str]) -> tuple[Statement, ...]:
    """A block with the registers that it reads replaced; the names that it defines stay."""
    if not registers:
        return body
    forms = {old: index(new) for old, new in registers.items()}

    def block(inner: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(
            rebuilt(s, lambda name: registers.get(name, name), lambda form: substitute(form, forms), block) for s in inner
        )

    return block(body)


def copied(
    body: tuple[Statement, ...], names: FreshNames, registers: dict[str, str]
) -> tuple[tuple[Statement, ...], dict[str, str]]:
    """A copy of a block with fresh names for all that it defines, and the map from old to new names; `registers`: replacements
    for other registers."""
    known = dict(registers)

    def define(name: str) -> str:
        known[name] = names.fresh(name)
        return known[name]

    def use(name: str) -> str:
        return known.get(name, name)

    def form(form: Index) -> Index:
        if not any(name in known for name, _ in form.terms):
            return form
        return index(*((use(name), c) for name, c in form.terms), constant=form.constant)

    def block(inner: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(rebuilt(s, use, form, block, define) for s in inner)

    return block(body), known


def views_stored_in(body: Iterable[Statement]) -> set[str]:
    """The views that a block writes."""
    return {view for s in walk(tuple(body)) for view in stored_views(s)}


def may_exit(body: tuple[Statement, ...]) -> bool:
    """May a block exit the program?"""
    return any(isinstance(s, Fail | Call) or (isinstance(s, Apply) and may_fail(s)) for s in walk(body))


def is_independent(loop: For, facts: Facts) -> bool:
    """Does provably no iteration of a loop access an item that another one stores?"""
    touched, inner = accesses(loop.body, facts.in_iteration(loop)), frozenset(defined_in_iteration(loop))
    return all(
        are_disjoint(store, other, loop, inner) and are_disjoint(other, store, loop, inner)
        for store in touched if isinstance(store.node, Store)
        for other in touched if other.node.view == store.node.view
    )  # fmt: skip


def statement_count(body: tuple[Statement, ...]) -> int:
    return sum(1 for _ in walk(body))
