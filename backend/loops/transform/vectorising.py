"""Vectors: an innermost serial loop whose iterations are independent becomes a VECTOR loop.

Lowering knows independence from phases; what was written item by item (`x[i;j]←…`), or shown to be affine later, is found here.
Done where what is stored lies side by side along the loop, and most of what is loaded does or does not change.

Neighbours: `check` (what independent means), `fusing` (loops of one kind are fused).
"""

from __future__ import annotations

from dataclasses import replace

from ..affine import Facts, facts_of
from ..definitions import Definitions
from ..forms import coefficient
from ..ir import Fail, For, If, Load, LoopKind, Program, Statement, Store, within
from .rewriting import fails, is_independent


def run(program: Program) -> Program:
    """Make serial loops vector loops."""
    vectorising = _Vectorising(program)
    body = vectorising.block(program.body, facts_of(program, vectorising.definitions))
    return replace(program, body=body) if vectorising.has_found else program


class _Vectorising:
    def __init__(self, program: Program) -> None:
        self.definitions = Definitions(program)
        self.views = {view.name: view for view in program.views}
        self.inner: set[str] = set()
        """What the loop that is looked at computes."""
        self.has_found = False

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
            return loop if loop.kind is LoopKind.VECTOR else replace(loop, body=self.block(loop.body, facts.within(loop)))
        is_plain = loop.kind is LoopKind.SERIAL and not loop.carried and loop.until is None and loop.step == 1
        if not is_plain or fails(loop.body) or not self.lies_along(loop):
            return loop
        if not is_independent(loop, facts):
            return loop
        self.has_found = True
        return replace(loop, kind=LoopKind.VECTOR)

    def lies_along(self, loop: For) -> bool:
        """Are stores side by side along the loop, and most loads?"""
        self.inner = within(loop) - {loop.index}
        stores = [self.step(s, loop.index) for s in loop.body if isinstance(s, Store)]
        loads = [self.step(s, loop.index) for s in loop.body if isinstance(s, Load)]
        apart_from = sum(step is None for step in loads)
        return bool(stores) and all(step in (1, -1) for step in stores) and 2 * apart_from <= len(loads)

    def step(self, access: Load | Store, index: str) -> int | None:
        """By how many items an access moves in an iteration; None where that is not known to be few."""
        view = self.views[access.view]
        forms = [self.definitions.expand(form) for form in access.indices]
        steps = [coefficient(form, index) for form in forms]
        data = any(name in self.inner for form in forms for name, _ in form.terms)
        if not steps or not any(steps):
            return None if data else 0
        return steps[-1] if view.unit and not data and not any(steps[:-1]) and abs(steps[-1]) == 1 else None
