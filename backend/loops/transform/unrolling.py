"""Unrolling: a serial loop of few iterations, whose number is known, becomes its iterations; so does any loop of one iteration.

A loop around loops stays, unless these vanish, too.

Neighbours: `folding` (each iteration's index is a number), `sharing` (carried values are registers already).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..definitions import Definitions
from ..forms import minus
from ..ir import Apply, For, If, Index, LoopKind, Number, Program, Statement, plus, walk
from .rewriting import Names, copied, statements

_MOST_ITERATIONS: Final = 8
_MOST_STATEMENTS: Final = 64
"""Of all iterations together."""


def run(program: Program) -> Program:
    """Unroll short loops, outer ones first, as bounds of inner ones may depend on their indices."""
    unrolling = _Unrolling(program)
    body = unrolling.block(program.body)
    return program if body == program.body else replace(program, body=body)


class _Unrolling:
    def __init__(self, program: Program) -> None:
        self.definitions = Definitions(program)
        self.names = Names(program)

    def block(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        done: list[Statement] = []
        for statement in body:
            match statement:
                case If():
                    done.append(
                        replace(statement, then=self.block(statement.then), otherwise=self.block(statement.otherwise))
                    )
                case For():
                    done += self.loop(statement)
                case _:
                    done.append(statement)
        return tuple(done)

    def loop(self, loop: For) -> list[Statement]:
        trip = self.trip(loop)
        if trip is None:
            return [replace(loop, body=self.block(loop.body))]
        done: list[Statement] = []
        values = [c.initial for c in loop.carried]
        for place in range(trip):
            start = plus(loop.lower[0], Index((), place * loop.step))
            own = self.names.fresh(loop.index)
            body, new = copied(loop.body, self.names, {loop.index: own, **_pairs(loop, values)})
            self.definitions.add((Number(own, start), *body))
            done += [Number(own, start), *self.block(body)]
            values = [new.get(c.yielded, c.yielded) for c in loop.carried]
        # A copy, which folding takes away, so that results keep their names.
        done += [Apply(c.result, c.kind, "convert", (v,), c.kind) for c, v in zip(loop.carried, values, strict=True)]
        return done

    def trip(self, loop: For) -> int | None:
        """How often the loop runs, if it is to be unrolled."""
        if len(loop.lower) > 1 or len(loop.upper) > 1:
            return None
        length = self.definitions.expand(minus(loop.upper[0], loop.lower[0]))
        if length.terms:
            return None
        trip = max(0, -(-length.constant // loop.step))
        if trip <= 1:
            return trip
        if any(not self.vanishes(inner, loop) for inner in walk(loop.body) if isinstance(inner, For)):
            return None
        is_small = trip <= _MOST_ITERATIONS and trip * self.size(loop.body) <= _MOST_STATEMENTS
        return trip if is_small and loop.kind is LoopKind.SERIAL and loop.until is None else None

    def size(self, body: tuple[Statement, ...]) -> int:
        """Statements of a body whose loops are unrolled."""
        total = 0
        for statement in body:
            if isinstance(statement, For):
                length = self.definitions.expand(minus(statement.upper[0], statement.lower[0]))
                total += self.size(statement.body) * (_MOST_ITERATIONS if length.terms else max(0, length.constant))
            else:
                total += statements((statement,))
        return total

    def vanishes(self, inner: For, loop: For) -> bool:
        """Is an inner loop of known length once the index of the loop is known?"""
        if inner.kind is not LoopKind.SERIAL or len(inner.lower) > 1 or len(inner.upper) > 1:
            return False
        length = self.definitions.expand(minus(inner.upper[0], inner.lower[0]))
        return all(name == loop.index for name, _ in length.terms)


def _pairs(loop: For, values: list[str]) -> dict[str, str]:
    return {c.inside: value for c, value in zip(loop.carried, values, strict=True)}
