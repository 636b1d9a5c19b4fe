"""Random programs with guards: an accepted one never ends in an error, and its value is that of Python.

Bodies need facts (`⊃v`, `v[t]`, `c+/v`, `v×u`, calls with a `where`); a guard before them states the facts, or almost.  Programs
without a message are run on inputs at the borders: no items, one, two, and integers at the ends of their range.  The value is
computed beside the text, by functions of the environment.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from rho.lang.syntax.source import Source
from rho.shell.pipeline import Session
from rho.tests.harness.share import seeds
from rho.tests.harness.tiers import by_reference, outcome

Env = Mapping[str, Any]
Function = Callable[[Env], Any]
PROGRAMS = 400
HEADER = """\
first : i64[n] → i64 where n ≥ 1
first ← {⊃⍵}
last : i64[n] → i64
last ← {0=≢⍵ : ¯9 ⋄ ⍵[¯1+≢⍵]}
spread : i64[n] → i64 where n ≥ 2
spread ← {⍵[1]-⍵[0]}
input x : i64[n]
input z : i64[m]
input i : i64
input j : i64
input f : f64
w ← (x>1)⌿x
"""
TOP = 2**63 - 1
INPUTS: list[dict[str, Any]] = [
    {"x": x, "z": z, "i": i, "j": j, "f": f}
    for x, z, i, j, f in (
        ([], [], 0, 0, 0.0), ([], [3], -1, 0, 1.0), ([2], [], 0, 1, float("nan")), ([0], [0], 1, 1, 2.0),
        ([2, 5], [1], 2, 1, 0.5), ([0, 1], [1, 2], 1, 0, -1.0), ([2, 0, 3], [2, 2], TOP, -1, float("nan")),
        ([3, 4, 5], [1, 0, 2], 2, TOP, 3.0), ([1, 1, 1, 4], [7, 2, 3], 3, 2, float("inf")),
        ([9, 8, 7, 6, 5], [0], 4, -TOP - 1, 0.0),
        ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], -TOP - 1, TOP, 1.5),
    )
]  # fmt: skip


def wrapped(value: int) -> int:
    return (value + TOP + 1) % (1 << 64) - TOP - 1


def item(items: list[int], index: int) -> int:
    assert 0 <= index < len(items)
    return items[index]


def fold(function: Callable[[int, int], int], items: list[int]) -> int:
    total = items[0]
    for item in items[1:]:
        total = function(total, item)
    return total


@dataclass
class Part:
    """A text, and its value in an environment."""

    text: str
    value: Function


@dataclass
class Writer:
    """Writes programs; `vectors` and `integers` are the names in scope."""

    chance: random.Random
    vectors: list[str] = field(default_factory=lambda: ["x", "z", "w"])
    integers: list[str] = field(default_factory=lambda: ["i", "j"])

    def pick(self, *options: Any) -> Any:
        return self.chance.choice(options)

    def vector(self) -> Part:
        name = self.chance.choice(self.vectors)
        return Part(name, lambda env: env[name])

    def integer(self) -> Part:
        name = self.chance.choice(self.integers)
        return self.pick(
            Part(name, lambda env: env[name]), Part(name, lambda env: env[name]),
            Part(f"({name}+1)", lambda env: wrapped(env[name] + 1)), Part(f"(1⌈{name})", lambda env: max(1, env[name])),
            Part(f"({name}×{name})", lambda env: wrapped(env[name] ** 2)),
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------ conditions

    def length(self, v: Part | None = None) -> Part:
        u = v or self.vector()
        return Part(f"(≢{u.text})", lambda env: len(u.value(env)))

    def number(self) -> Part:
        c, length, integer = self.chance.randrange(4), self.length(), self.integer()
        return self.pick(Part(str(c), lambda env: c), Part(str(c), lambda env: c), length, length, integer)

    def comparison(self, a: Part, b: Part, sign: str = "") -> Part:
        sign = sign or self.pick(*"<≤=≥>≠")
        ask = {"<": lambda p, q: p < q, "≤": lambda p, q: p <= q, "=": lambda p, q: p == q, "≥": lambda p, q: p >= q,
               ">": lambda p, q: p > q, "≠": lambda p, q: p != q}[sign]  # fmt: skip
        swapped = {"<": ">", ">": "<", "≤": "≥", "≥": "≤"}.get(sign, sign)
        if self.chance.random() < 0.3:
            return Part(f"({b.text}{swapped}{a.text})", lambda env: ask(a.value(env), b.value(env)))
        return Part(f"({a.text}{sign}{b.text})", lambda env: ask(a.value(env), b.value(env)))

    def both(self, a: Part, b: Part) -> Part:
        return self.pick(
            Part(f"({a.text}∧{b.text})", lambda env: a.value(env) and b.value(env)),
            Part(f"(~(~{a.text})∨~{b.text})", lambda env: a.value(env) and b.value(env)),
            Part(f"(({a.text}⍲{b.text})=0)", lambda env: a.value(env) and b.value(env)),
        )

    def either(self, a: Part, b: Part) -> Part:
        return self.pick(
            Part(f"({a.text}∨{b.text})", lambda env: a.value(env) or b.value(env)),
            Part(f"(~{a.text}⍱{b.text})", lambda env: a.value(env) or b.value(env)),
        )

    def opposite(self, a: Part) -> Part:
        return self.pick(Part(f"(~{a.text})", lambda env: not a.value(env)), Part(f"(0={a.text})", lambda env: not a.value(env)))

    def every(self, v: Part, low: int, high: Part) -> Part:
        return self.pick(
            Part(f"(∧/({low}≤{v.text})∧{v.text}<{high.text})",
                 lambda env: all(low <= item < high.value(env) for item in v.value(env))),
            Part(f"(~∨/({v.text}<{low})∨{v.text}≥{high.text})",
                 lambda env: all(low <= item < high.value(env) for item in v.value(env))),
        )  # fmt: skip

    def condition(self, depth: int = 2) -> Part:
        c, v = self.chance.randrange(4), self.vector()
        return self.pick(
            self.comparison(self.number(), self.number()), self.comparison(self.number(), self.number()),
            Part(f"(f>{c})", lambda env: env["f"] > c), Part(f"(∨/{v.text}>{c})", lambda env: any(a > c for a in v.value(env))),
            self.comparison(Part(f"(+/{v.text}>1)", lambda env: sum(a > 1 for a in v.value(env))), Part(str(c), lambda env: c)),
            self.every(v, 0, self.length()),
            *([self.both(self.condition(depth - 1), self.condition(depth - 1)),
               self.either(self.condition(depth - 1), self.condition(depth - 1)),
               self.opposite(self.condition(depth - 1))] if depth else []),
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------ bodies with what they need

    def body(self, depth: int) -> tuple[Part, Part]:
        """A body that is an integer, and a condition that makes it valid."""
        v, u, t, c = self.vector(), self.vector(), self.integer(), self.chance.randrange(1, 4)
        some = self.comparison(self.length(v), Part("0", lambda env: 0), self.pick(">", "≠"))
        at_least = self.comparison(Part(str(c), lambda env: c), self.length(v), "≤")
        inside = self.both(self.comparison(t, Part("0", lambda env: 0), "≥"), self.comparison(t, self.length(v), "<"))
        equal = self.pick(
            self.comparison(self.length(v), self.length(u), "="),
            Part(f"((⍴{v.text})≡⍴{u.text})", lambda env: len(v.value(env)) == len(u.value(env))),
        )
        alike = self.pick(
            self.comparison(Part(f"(+/{v.text}>1)", lambda env: len(_above(1, v.value(env)))),
                            Part(f"(+/{u.text}>{c})", lambda env: len(_above(c, u.value(env)))), "="),
            Part(f"(({v.text}>1)≡{u.text}>{c})", lambda env: [a > 1 for a in v.value(env)] == [a > c for a in u.value(env)]),
        )  # fmt: skip
        short = self.both(self.comparison(t, Part("0", lambda env: 0), "≥"), self.comparison(t, Part("3", lambda env: 3), "≤"))
        options = [
            (Part(f"(⊃{v.text})", lambda env: v.value(env)[0]), some),
            (Part(f"(⌈/{v.text})", lambda env: fold(max, v.value(env))), some),
            (Part(f"({v.text}[{t.text}])", lambda env: item(v.value(env), t.value(env))), inside),
            (Part(f"({v.text}[{t.text}])", lambda env: item(v.value(env), t.value(env))), inside),
            (Part(f"({v.text}[{c - 1}])", lambda env: v.value(env)[c - 1]), at_least),
            (Part(f"(+/{c}+/{v.text})", lambda env: _windows(c, v.value(env))), at_least),
            (Part(f"(+/{v.text}×{u.text})", lambda env: _product(v.value(env), u.value(env))), equal),
            (Part(f"(+/((({v.text}>1)⌿{v.text}))×({u.text}>{c})⌿{u.text})",
                  lambda env: _product(_above(1, v.value(env)), _above(c, u.value(env)))), alike),
            (Part(f"(+/{u.text}×{{(≢⍵)=≢{u.text} : ⍵ ⋄ {u.text}}}{v.text})".replace("⍵ ⋄ ⍵", "⍵ ⋄ x"),
                  lambda env: _product(u.value(env), v.value(env) if len(v.value(env)) == len(u.value(env)) else u.value(env))),
             some),
            (Part(f"(+/{v.text}[{u.text}])", lambda env: wrapped(sum(item(v.value(env), a) for a in u.value(env)))),
             self.every(u, 0, self.length(v))),
            (Part(f"(first {v.text})", lambda env: v.value(env)[0]), some),
            (Part(f"(last {v.text})", lambda env: v.value(env)[-1] if v.value(env) else -9), some),
            (Part(f"(spread {v.text})", lambda env: wrapped(v.value(env)[1] - v.value(env)[0])),
             self.comparison(self.length(v), Part("2", lambda env: 2), "≥")),
            (Part(f"(≢{t.text}⍴5)", lambda env: t.value(env)), short),
            (Part(f"(⌊/({v.text}>1)⌿{v.text})", lambda env: min(a for a in v.value(env) if a > 1)),
             Part(f"(∨/{v.text}>1)", lambda env: any(a > 1 for a in v.value(env)))),
            (Part(f"(≢∪{v.text})", lambda env: len(set(v.value(env)))), some),
        ]  # fmt: skip
        if depth:
            inner, needed = self.body(depth - 1)
            options += [(self.guarded(depth - 1), some), (self.each(v, depth - 1), some), (self.loop(t, depth - 1), some)]
            options.append((Part(f"(2+{inner.text})", lambda env: wrapped(2 + inner.value(env))), needed))
        return self.chance.choice(options)

    def safe(self) -> Part:
        c, v = self.chance.randrange(9), self.vector()
        return self.pick(Part(f"¯{c}", lambda env: -c), Part(f"(+/{v.text})", lambda env: wrapped(sum(v.value(env)))))

    def guarded(self, depth: int) -> Part:
        """A dfn of one to three guards, each the need of its body or close to it, on an argument or on names outside."""
        v = self.vector()
        vectors, integers = self.vectors, self.integers
        self.vectors, self.integers = [*vectors, "⍵"], [name for name in integers if name != "⍵"]
        exits: list[tuple[Part, Part]] = []
        text = ""
        rest, needed = self.body(depth)
        for _ in range(self.chance.randrange(1, 4)):
            body, own = self.body(depth)
            guard, value = (own, body) if self.chance.random() < 0.5 else (self.opposite(needed), self.safe())
            chance = self.chance.random()
            if chance < 0.15:
                guard = self.both(guard, self.condition())
            elif chance < 0.25:
                guard = self.either(guard, self.condition())
            elif chance < 0.35:
                guard = self.condition()
            exits.append((guard, value))
            text += f"{guard.text} : {value.text} ⋄ "
        self.vectors, self.integers = vectors, integers

        def value_of(env: Env) -> Any:
            inner = {**env, "⍵": v.value(env)}
            return next((value.value(inner) for guard, value in exits if guard.value(inner)), None) if any(
                guard.value(inner) for guard, _ in exits) else rest.value(inner)  # fmt: skip

        return Part(f"({{{text}{rest.text}}} {v.text})", value_of)

    def of_integer(self) -> tuple[Part, Part, Part]:
        """A body that may use the integer `⍵`, what it needs, and another value."""
        vectors, integers = self.vectors, self.integers
        self.vectors, self.integers = [name for name in vectors if name != "⍵"], [*integers, "⍵"]
        body, needed = self.body(0)
        other = self.safe()
        self.vectors, self.integers = vectors, integers
        return body, needed, other

    def each(self, v: Part, depth: int) -> Part:
        """A guarded body for each item, which is an integer in scope."""
        body, needed, other = self.of_integer()

        def value_of(env: Env) -> int:
            cells = [{**env, "⍵": item} for item in v.value(env)]
            return wrapped(sum(body.value(cell) if needed.value(cell) else other.value(cell) for cell in cells))

        return Part(f"(+/{{{needed.text} : {body.text} ⋄ {other.text}}}¨{v.text})", value_of)

    def loop(self, t: Part, depth: int) -> Part:
        """A guarded body that is repeated: its argument changes from one iteration to the next."""
        body, needed, other = self.of_integer()

        def value_of(env: Env) -> int:
            state = t.value(env)
            for _ in range(3):
                inner = {**env, "⍵": state}
                state = body.value(inner) if needed.value(inner) else other.value(inner)
            return int(state)

        return Part(f"({{{needed.text} : {body.text} ⋄ {other.text}}}⍣3 ⊢ {t.text})", value_of)


def _windows(c: int, items: list[int]) -> int:
    assert c <= len(items) + 1
    return wrapped(sum(sum(items[k : k + c]) for k in range(len(items) - c + 1)))


def _above(c: int, items: list[int]) -> list[int]:
    return [item for item in items if item > c]


def _product(a: list[int], b: list[int]) -> int:
    assert len(a) == len(b)
    return wrapped(sum(p * q for p, q in zip(a, b, strict=True)))


@pytest.mark.parametrize("seed", seeds(PROGRAMS, 200092, least=20))
def test_an_accepted_program_with_guards_has_a_value(seed: int) -> None:
    program = Writer(random.Random(seed)).guarded(2)
    text = f"{HEADER}output a ← {program.text}\n"
    checked = Session().check(Source("<test>", text))
    if checked.core is None:
        return
    warned = {diagnostic.code for diagnostic in checked.diagnostics}
    allowed = {code for warning, code in (("W201", "E701"), ("W310", "E310")) if warning in warned}
    for data in INPUTS:
        inputs = {name: np.array(value, np.float64 if name == "f" else np.int64) for name, value in data.items()}
        reference, plan = by_reference(checked.core, inputs), outcome(checked.core, inputs, "plan")
        for found in (reference, plan):
            if isinstance(found, str):
                assert found in allowed, (found, text, data)
            else:
                env = {**data, "w": [item for item in data["x"] if item > 1]}
                assert int(found[0].array) == program.value(env), (text, data)
