"""Collapse: the last two axes of a view become one where the last is short and rows lie one after the other in memory.

So the printer sees that the items of a row are neighbours of those of the next (the parts of complex numbers, points of three
coordinates).  Whoever calls the program knows of which views that holds.

Neighbours: `tiling` (before it, as rows are axes there), `llvm.memory` (Note [Rows]).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from ..ir import Call, For, If, Index, Load, Program, Statement, Store, View, plus, times, walk

_LONGEST: Final = 4
"""Items of a row."""


def run(program: Program, packed: Collection[str]) -> Program:
    """`packed`: the views whose rows lie one after the other."""
    called = {box.view for s in walk(program.body) if isinstance(s, Call) for box in s.boxes}
    lengths = {view.name: view.shape[-1].constant for view in program.views
               if view.name in packed and view.name not in called and _is_short(view)}  # fmt: skip
    if not lengths:
        return program
    views = tuple(replace(v, shape=_joined(v.shape, v.shape[-2], lengths[v.name])) if v.name in lengths else v
                  for v in program.views)  # fmt: skip
    return replace(program, views=views, body=_block(program.body, lengths))


def _is_short(view: View) -> bool:
    return view.unit and len(view.shape) > 1 and not view.shape[-1].terms and 1 < view.shape[-1].constant <= _LONGEST


def _joined(forms: tuple[Index, ...], row: Index, length: int, item: Index | None = None) -> tuple[Index, ...]:
    whole = times(row, length)
    return *forms[:-2], whole if item is None else plus(whole, item)


def _block(body: tuple[Statement, ...], lengths: dict[str, int]) -> tuple[Statement, ...]:
    done: list[Statement] = []
    for statement in body:
        match statement:
            case Load(view=view, indices=forms) | Store(view=view, indices=forms) if view in lengths:
                statement = replace(statement, indices=_joined(forms, forms[-2], lengths[view], forms[-1]))
            case For():
                statement = replace(statement, body=_block(statement.body, lengths))
            case If():
                statement = replace(
                    statement, then=_block(statement.then, lengths), otherwise=_block(statement.otherwise, lengths)
                )
        done.append(statement)
    return tuple(done)
