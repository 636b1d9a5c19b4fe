"""Common subexpressions: what is computed or loaded already is not computed or loaded again.

A register is shared where its first definition dominates.  A load is shared, or takes the value that was stored, as long as
nothing in between may have written the item: stores to other views, and stores beside it by a constant distance, have not.

Neighbours: `hoisting` (brings equal statements into one block), `dead` (removes stores that nobody loads any more).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from ..ir import Apply, Call, Constant, For, If, Index, Load, Number, Program, Statement, Store, index
from .rewriting import rebuilt, stored_views

Expression: TypeAlias = tuple[object, ...]
Item: TypeAlias = tuple[str, tuple[Index, ...], str | None]


def run(program: Program) -> Program:
    """Compute and load once."""
    sharing = _Sharing()
    body = sharing.block(program.body, {}, {})
    return program if body == program.body else replace(program, body=body)


class _Sharing:
    def __init__(self) -> None:
        self.same: dict[str, str] = {}
        self.joins: set[str] = set()

    def use(self, name: str) -> str:
        return self.same.get(name, name)

    def form(self, form: Index) -> Index:
        if not any(name in self.same for name, _ in form.terms):
            return form
        return index(*((self.use(name), c) for name, c in form.terms), constant=form.constant)

    def block(self, body: tuple[Statement, ...], known: dict[Expression, str], items: dict[Item, str]) -> tuple[Statement, ...]:
        """A block, after which `known` and `items` hold what its end knows."""
        kept: list[Statement] = []
        for original in body:
            statement: Statement
            if isinstance(original, For | If):
                for view in stored_views((original,)):
                    _forget(items, view)

                def inner(block: tuple[Statement, ...]) -> tuple[Statement, ...]:
                    return self.block(block, dict(known), dict(items))

                if isinstance(original, For):
                    self.joins.update(c.yielded for c in original.carried if c.reduction is not None)
                kept.append(rebuilt(original, self.use, self.form, inner))
                continue
            statement = rebuilt(original, self.use, self.form, lambda block: block)
            match statement:
                case Constant() | Number() | Apply():
                    key = _expression(statement)
                    if key in known and statement.name not in self.joins:
                        self.same[statement.name] = known[key]
                        continue
                    known[key] = statement.name
                case Load():
                    place = (statement.view, statement.indices, statement.mask)
                    present = items.get(place)
                    if present is not None:
                        self.same[statement.name] = present
                        continue
                    items[place] = statement.name
                case Store():
                    _forget(items, statement.view, statement.indices)
                    if statement.mask is None and statement.join is None:
                        items[(statement.view, statement.indices, None)] = statement.value
                case Call():
                    for view in stored_views((statement,)):
                        _forget(items, view)
            kept.append(statement)
        return tuple(kept)


def _expression(statement: Constant | Number | Apply) -> Expression:
    match statement:
        case Constant(_, kind, bits):
            return "constant", kind, bits
        case Number(_, form):
            return "number", form
        case Apply():
            return (statement.function, statement.kind, statement.compute, statement.parameter, statement.args)


def _forget(items: dict[Item, str], view: str, indices: tuple[Index, ...] | None = None) -> None:
    """A store to the view, at the indices or anywhere: what it may have written is not known any more."""
    for place in [p for p in items if p[0] == view and not (indices is not None and _beside(p[1], indices))]:
        del items[place]


def _beside(left: tuple[Index, ...], right: tuple[Index, ...]) -> bool:
    """Are these places of different items, whatever the registers?"""
    return any(a.terms == b.terms and a.constant != b.constant for a, b in zip(left, right, strict=True))
