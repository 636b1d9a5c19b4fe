"""Progressions: views of indices whose items count up or down are computed, not loaded; so are single indices.

An index that is loaded is data: its bounds are unknown and what it reads is gathered.  Most index vectors of array programs are
`⍳n`, `k+⍳n` and their reversals, most single indices a few or a few less than a size.  Who runs the program has them at hand, and
says so here; the program is then right for such indices only.

Neighbours: `backend.run.cpu.regions` (looks at the vectors), `folding` (makes indices affine).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import TypeAlias

from ....lang.records import dataclass
from ....typechecker.elements import Kind
from ..forms import minus
from ..ir import ONE, Apply, Constant, For, If, Index, Load, Number, Program, Role, Statement, Store, plus, uses, walk
from .rewriting import Names


class Direction(Enum):
    """Item i is first + i, or first + length - 1 - i."""

    UP = 1
    DOWN = -1


@dataclass(frozen=True, slots=True)
class Progression:
    first: int
    direction: Direction = Direction.UP

    def item(self, place: Index, length: Index) -> Index:
        """The item at a place, as an index."""
        up = place if self.direction is Direction.UP else minus(minus(length, ONE), place)
        return plus(up, Index((), self.first))


Known: TypeAlias = Progression | Index
"""What a view of rank 1, or of rank 0, holds."""


def single(program: Program) -> tuple[str, ...]:
    """The views of one index that is part of others."""
    views = {view.name for view in program.views if view.kind is Kind.I64 and not view.shape and view.role is Role.INPUT}
    loaded = {s.name: s.view for s in walk(program.body) if isinstance(s, Load) and s.view in views}
    used = {name for s in walk(program.body) if isinstance(s, Load | Store | Number) for name in uses(s)}
    return tuple(dict.fromkeys(view for name, view in loaded.items() if name in used))


def run(program: Program, known: Mapping[str, Known]) -> Program:
    """The program for views of kind i64 that hold this."""
    if not known:
        return program
    computing = _Computing(program, known)
    return replace(program, body=computing.block(program.body))


class _Computing:
    def __init__(self, program: Program, known: Mapping[str, Known]) -> None:
        self.known, self.names = known, Names(program)
        self.lengths = {view.name: view.shape[0] for view in program.views if view.shape}

    def block(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        done: list[Statement] = []
        for statement in body:
            match statement:
                case Load() if statement.view in self.known:
                    done += self.load(statement)
                case For():
                    done.append(replace(statement, body=self.block(statement.body)))
                case If(_, then, otherwise, _):
                    done.append(replace(statement, then=self.block(then), otherwise=self.block(otherwise)))
                case _:
                    done.append(statement)
        return tuple(done)

    def load(self, load: Load) -> list[Statement]:
        item = self.known[load.view]
        if isinstance(item, Progression):
            item = item.item(load.indices[0], self.lengths[load.view])
        if load.mask is None:
            return [Number(load.name, item)]
        value, nothing = self.names.fresh("item"), self.names.fresh("nothing")
        chosen = Apply(load.name, Kind.I64, "select", (load.mask, value, nothing), Kind.I64)
        return [Number(value, item), Constant(nothing, Kind.I64, 0), chosen]
