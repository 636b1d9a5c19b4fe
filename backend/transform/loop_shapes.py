"""Transformations of the shape of loops: unrolling, vectorisation, axis collapsing, and mapping to a GPU grid.

Unrolling replaces a serial loop with a constant small number of iterations by these, and any loop of one iteration by its body.
A loop around loops is unrolled only if the inner loops are unrolled too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from ...lang.support.records import replace
from ..loopir.facts import Definitions, Facts, facts_of
from ..loopir.ir import (
    Apply,
    Call,
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
    View,
    ViewRole,
    coefficient,
    defined_in_iteration,
    index,
    minus,
    plus,
    times,
    walk,
)
from ..loopir.verifier import problems
from .rewriting import FreshNames, copied, is_independent, may_exit, statement_count

# ---------------------------------------------------------------------------------------------------- unrolling

_MOST_ITERATIONS: Final = 8
_MOST_STATEMENTS: Final = 64
"""The most statements of all iterations of an unrolled loop."""


def unroll_loops(program: LoopProgram) -> LoopProgram:
    """Unrolls short loops, outer ones first, as bounds of inner ones may depend on their indices."""
    unrolling = _Unrolling(program)
    body = unrolling.block(program.body)
    return program if body == program.body else replace(program, body=body)


class _Unrolling:
    def __init__(self, program: LoopProgram) -> None:
        self.definitions = Definitions(program)
        self.names = FreshNames(program)

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
        for iteration in range(trip):
            start = plus(loop.lower[0], Index((), iteration * loop.step))
            counter = self.names.fresh(loop.index)
            body, new = copied(loop.body, self.names, {loop.index: counter, **_pairs(loop, values)})
            self.definitions.add((IndexStatement(counter, start), *body))
            done += [IndexStatement(counter, start), *self.block(body)]
            values = [new.get(c.yielded, c.yielded) for c in loop.carried]
        # a copy, which `simplify` removes, so that results keep their names
        done += [Apply(c.result, c.kind, "convert", (v,), c.kind) for c, v in zip(loop.carried, values, strict=True)]
        return done

    def trip(self, loop: For) -> int | None:
        """The number of iterations of a loop to unroll; None if it is not unrolled."""
        if len(loop.lower) > 1 or len(loop.upper) > 1:
            return None
        length = self.definitions.expand(minus(loop.upper[0], loop.lower[0]))
        if length.terms:
            return None
        trip = max(0, -(-length.constant // loop.step))
        if trip <= 1:
            return trip
        if any(not self.has_constant_trip(inner, loop) for inner in walk(loop.body) if isinstance(inner, For)):
            return None
        is_small = trip <= _MOST_ITERATIONS and trip * self.size(loop.body) <= _MOST_STATEMENTS
        return trip if is_small and loop.kind is LoopKind.SERIAL and loop.until is None else None

    def size(self, body: tuple[Statement, ...]) -> int:
        """The number of statements of a body with its loops unrolled."""
        total = 0
        for statement in body:
            if isinstance(statement, For):
                length = self.definitions.expand(minus(statement.upper[0], statement.lower[0]))
                total += self.size(statement.body) * (_MOST_ITERATIONS if length.terms else max(0, length.constant))
            else:
                total += statement_count((statement,))
        return total

    def has_constant_trip(self, inner: For, loop: For) -> bool:
        """Does an inner serial loop have a constant length in each iteration of the loop?"""
        if inner.kind is not LoopKind.SERIAL or len(inner.lower) > 1 or len(inner.upper) > 1:
            return False
        length = self.definitions.expand(minus(inner.upper[0], inner.lower[0]))
        return all(name == loop.index for name, _ in length.terms)


def _pairs(loop: For, values: list[str]) -> dict[str, str]:
    return {c.inside: value for c, value in zip(loop.carried, values, strict=True)}


# ---------------------------------------------------------------------------------------------------- vectorising
#
# Vectorisation: an innermost serial loop whose iterations are independent becomes a VECTOR loop.
#
# Lowering knows from phases which loops are independent; this finds loops written item by item (`x[i;j]←…`), and loops that
# became affine later.  Done if stores are contiguous along the loop, and most loads are contiguous or invariant.

def vectorise_loops(program: LoopProgram) -> LoopProgram:
    """Turns serial loops with independent iterations into vector loops."""
    vectorising = _Vectorising(program)
    body = vectorising.block(program.body, facts_of(program, vectorising.definitions))
    return replace(program, body=body) if vectorising.has_changed else program


class _Vectorising:
    def __init__(self, program: LoopProgram) -> None:
        self.definitions = Definitions(program)
        self.views = {view.name: view for view in program.views}
        self.inner: set[str] = set()
        """The registers that the current loop computes."""
        self.has_changed = False

    def block(self, body: tuple[Statement, ...], facts: Facts) -> tuple[Statement, ...]:
        done: list[Statement] = []
        for statement in body:
            match statement:
                case For():
                    done.append(self.loop(statement, facts))
                case If(condition, then, otherwise, _):
                    arms = self.block(then, facts.assuming(condition)), self.block(otherwise, facts.assuming(condition, False))
                    done.append(replace(statement, then=arms[0], otherwise=arms[1]))
                case _:
                    done.append(statement)
            if isinstance(statement, Fail):
                facts = facts.assuming(statement.condition, False)
        return tuple(done)

    def loop(self, loop: For, facts: Facts) -> For:
        if any(isinstance(s, For | If) for s in loop.body):
            return loop if loop.kind is LoopKind.VECTOR else replace(loop, body=self.block(loop.body, facts.in_iteration(loop)))
        is_plain = loop.kind is LoopKind.SERIAL and not loop.carried and loop.until is None and loop.step == 1
        if not is_plain or may_exit(loop.body) or not self.is_contiguous(loop):
            return loop
        if not is_independent(loop, facts):
            return loop
        self.has_changed = True
        return replace(loop, kind=LoopKind.VECTOR)

    def is_contiguous(self, loop: For) -> bool:
        """Are all stores contiguous along the loop, and at least half of the loads contiguous or invariant?"""
        self.inner = defined_in_iteration(loop) - {loop.index}
        stores = [self.step(s, loop.index) for s in loop.body if isinstance(s, Store)]
        loads = [self.step(s, loop.index) for s in loop.body if isinstance(s, Load)]
        scattered = sum(step is None for step in loads)
        return bool(stores) and all(step in (1, -1) for step in stores) and 2 * scattered <= len(loads)

    def step(self, access: Load | Store, index: str) -> int | None:
        """The stride of an access along the loop in items if it is 0, 1 or -1; else None."""
        view = self.views[access.view]
        forms = [self.definitions.expand(form) for form in access.indices]
        steps = [coefficient(form, index) for form in forms]
        data = any(name in self.inner for form in forms for name, _ in form.terms)
        if not steps or not any(steps):
            return None if data else 0
        return steps[-1] if view.unit and not data and not any(steps[:-1]) and abs(steps[-1]) == 1 else None


# ----------------------------------------------------------------------------------------------- axis collapsing
#
# Axis collapsing: the last two axes of a view become one if the last axis is short and rows are contiguous.
#
# The printer then vectorises across rows (the parts of complex numbers, points of three coordinates).  The caller of the program
# knows for which views rows are contiguous.

_MAX_ROW: Final = 4
"""The most items of a row."""


def collapse_loops(program: LoopProgram, packed: Collection[str]) -> LoopProgram:
    """Collapse the last two axes of views with short rows; `packed`: the views whose rows are contiguous."""
    called = {box.view for s in walk(program.body) if isinstance(s, Call) for box in s.boxes}
    lengths = {view.name: view.shape[-1].constant for view in program.views
               if view.name in packed and view.name not in called and _is_short(view)}  # fmt: skip
    if not lengths:
        return program
    views = tuple(replace(v, shape=_joined(v.shape, v.shape[-2], lengths[v.name])) if v.name in lengths else v
                  for v in program.views)  # fmt: skip
    return replace(program, views=views, body=_block(program.body, lengths))


def _is_short(view: View) -> bool:
    return view.unit and len(view.shape) > 1 and not view.shape[-1].terms and 1 < view.shape[-1].constant <= _MAX_ROW


def _joined(forms: tuple[Index, ...], row: Index, length: int, item: Index | None = None) -> tuple[Index, ...]:
    row_start = times(row, length)
    return *forms[:-2], row_start if item is None else plus(row_start, item)


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


# ---------------------------------------------------------------------------------------- mapping to a GPU grid
#
# One iteration of a loop for a GPU: each independent loop becomes a PARALLEL nest, which is one launch.
#
# The caller runs the iterations (`first` says which), unless interchange moved them into the points.  All state between
# iterations is in memory; which of two buffers holds it follows from the iteration number.

def parallelise_iteration(program: LoopProgram, parity_view: str | None) -> LoopProgram | None:
    """The program of one iteration, as independent nests; None if an iteration has other statements.

    `parity_view`: the view that says which buffer holds the state."""
    program = replace(program, views=tuple(replace(view, private=False) for view in program.views))
    known, forms = set(problems(program)), Definitions(program)

    def bounded(loop: For) -> For:
        """The loop with its bounds expressed in parameters, as far as possible."""
        lower, upper = (tuple(map(forms.expand, bounds)) for bounds in (loop.lower, loop.upper))
        return replace(loop, lower=lower, upper=upper)

    program = replace(program, body=_map_loops(program.body, bounded))
    for name in [s.index for s in walk(program.body) if isinstance(s, For) and s.kind is LoopKind.SERIAL and not s.carried]:

        def parallel(loop: For, name: str = name) -> For:
            return replace(loop, kind=LoopKind.PARALLEL) if loop.index == name else loop

        candidate = replace(program, body=_map_loops(program.body, parallel))
        if set(problems(candidate)) <= known:
            program = candidate
    inputs = [view.name for view in program.views if view.role is ViewRole.INPUT]
    if all(_is_nest(s, inputs) for s in program.body):
        return program  # interchange has moved the iterations into the points
    loops = (position for position, statement in enumerate(program.body) if isinstance(statement, For))
    position = next(loops, len(program.body))
    loop, after = program.body[position], program.body[position + 1 :]
    assert isinstance(loop, For)
    is_plain = loop.until is None and all(isinstance(s, Store) and s.view == parity_view for s in after)
    if not is_plain or not all(_is_nest(s, inputs) for s in (*program.body[:position], *loop.body)):
        return None
    here = IndexStatement(loop.index, index("first")), *(IndexStatement(c.inside, index(c.initial)) for c in loop.carried)
    views = tuple(view for view in program.views if view.name != parity_view)
    return replace(program, views=views, body=(*program.body[:position], *here, *loop.body))


def _map_loops(body: tuple[Statement, ...], change: Callable[[For], For]) -> tuple[Statement, ...]:
    """The block with `change` applied to each loop, inner ones first."""
    return tuple([change(replace(s, body=_map_loops(s.body, change))) if isinstance(s, For) else s for s in body])


def _is_nest(statement: Statement, inputs: Collection[str]) -> bool:
    """Is it a nest of independent loops, or a scalar, which each nest recomputes?"""
    inside = [*walk((statement,))]
    joins = any(isinstance(s, Call) or (isinstance(s, For) and s.kind is LoopKind.VECTOR and s.carried) for s in inside)
    if isinstance(statement, For):
        return not joins and statement.kind is not LoopKind.SERIAL
    if isinstance(statement, Load):
        return statement.view in inputs
    return isinstance(statement, ConstantStatement | IndexStatement | Apply)
