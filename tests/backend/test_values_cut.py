"""Programs of text on devices: keyed bins, scans, joins, guards and dates as values that other phases read, along any axes.

Axes, shares and chunks are drawn, or directives in a `schedule` block; the bits are those of one device.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from share import seeds

from rho import backend
from rho.backend.devices.this_machine import load_profile
from rho.backend.graph.partial_graphs import speculable_branches, speculated_branches
from rho.backend.schedule.plan.plan import decode_plan, encode_plan
from rho.backend.schedule.program.iteration_plan import bound_in_form
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.plan_program import faults_of_stored, plan_program
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.schedule.search.strategy import Budget
from rho.backend.schedule.verify.plan_checks import check_plan
from rho.backend.schedule.verify.schedule_checks import verify
from rho.lang.diagnostics.model import RhoError
from rho.tests.backend.quick import with_modes
from rho.tests.backend.test_programs_on_devices import random_modes, run, same_bits, ticks_of, topology
from rho.tests.harness.tiers import accepted, agree, by_reference

HEAD = """\
input x : i64[n] where n≥1
input z : i64[n]
input k : idx<5>[n]
input a : i64[n m] where m≥1
input f : f64[n]
input d : date[n]
input y : i64[m]
"""
OF_VECTORS = (
    "({v}+{v})", "({v}×2)", "({v}⌈{v})", "(3|{v})", "({v}-{v})", "(+\\{v})", "(⌈\\{v})", "(⌽{v})", "({v}[k⌊¯1+n])", "({v}[⍋{v}])",
    "({v}-+/{v})", "((5 +⌸ (k ⋄ {v}))[k])", "({{⍵+{v}}}⍣2 ⊢ {v})", "(n↑({v}>{v})⌿{v})", "(n↑1↓{v})", "(n↑¯1⌽{v},{v})",
    "(({v}>{v})¿({v} ⋄ {v}))", "(+/{m})", "({m}+.×y)", "(n↑2+/{v}⍪0)", "(n↑,{m})", "({{0=5|+/⍵ : ⍵×2 ⋄ ⍵+1}} {v})", "(⍋⍋{v})",
    "({{⍵>2 : ⍵×2 ⋄ ⍵}}¨{v})", "({{⍺+2×⍵}}\\{v})", "({v}∊{v})", "(0⌈{v}⍳{v})", "(i64 d-⎕days {v})", "({{x←⍵ ⋄ x[0]←7 ⋄ x}} {v})",
)  # fmt: skip
OF_MATRICES = (
    "({m}+{m})", "({m}×⍤1⊢y)", "({v}×{m})", "(+⍀{m})", "(+\\{m})", "(⌽{m})", "(⊖{m})", "({v}∘.+y)", "({m}[k⌊¯1+n;])", "(⍉⍉{m})",
    "((n m)⍴,{m})", "(⍉(m n)⍴,⍉{m})", "(n↑1↓{m})", "({m}-⍤1⊢⌈⌿{m})", "({m}-⌈/{m})", "((5 +⌸ (k ⋄ {m}))[k;])",
    "(({v}>1)¿({m} ⋄ 0))", "({m}+.×y∘.×y)",
)  # fmt: skip
ENDS = (
    "+/{v}", "⌈/{v}", "5 +⌸ (k ⋄ {v})", "5 +⌸ (k ⋄ 1)", "5 +⌸ (k ⋄ {m})", "+⌿{m}", "⌊⌿{m}", "+/{m}", "+/,{m}", "{v}+.×{v}",
    "{v}+.×{m}", "(⍉{m})+.×{m}", "{v}", "{m}", "⍉{m}", ",{m}", "({v}>1)⌿{v}", "∪{v}", "⍸{v}>2", "{v}⍪{v}", "{m}⍪{m}", "{m},{v}",
    "3↕3↑{v}", "⌈/d", "d[⍋{v}]", "({v}>1)⌿d", "{v}⍳⌈/{v}", "5 ∨⌸ (k ⋄ {v}>2)", "+/f", "+\\f", "5 +⌸ (k ⋄ f)", "⌈/⌊/{m}",
    "+/+/{m}", "(5 +⌸ (k ⋄ 1))÷1⌈5 +⌸ (k ⋄ {v})", "+/{v}∘.={v}",
)  # fmt: skip
LITTLE = Budget(5, 0, without=frozenset({"lp-relaxation", "energetic", "paths"}))


class Writer:
    """Writes programs of named values over the inputs of `HEAD`."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.names = {"v": ["x", "z", "x", "(⍳n)", "k"], "m": ["a", "a"]}

    def filled(self, text: str, depth: int) -> str:
        """The text with an expression for each `{v}` and `{m}`."""
        while "{v}" in text or "{m}" in text:
            kind = min((at, kind) for kind in "vm" if (at := text.find(f"{{{kind}}}")) >= 0)[1]
            text = text.replace(f"{{{kind}}}", self.expression(kind, depth), 1)
        return text.replace("{{", "{").replace("}}", "}")

    def expression(self, kind: str, depth: int) -> str:
        if depth <= 0 or self.chance.random() < 0.1:
            return self.chance.choice(self.names[kind])
        return self.filled(self.chance.choice(OF_VECTORS if kind == "v" else OF_MATRICES), depth - 1)

    def program(self) -> str:
        lines = []
        for number in range(self.chance.randint(1, 3)):
            kind = self.chance.choice("vvm")
            lines.append(f"{kind}{number} ← {self.expression(kind, self.chance.randint(1, 2))}")
            self.names[kind].append(f"{kind}{number}")
        ends = self.chance.choices(ENDS, k=self.chance.randint(1, 3))
        lines += [f"output o{number} ← {self.filled(end, 1)}" for number, end in enumerate(ends)]
        return HEAD + "\n".join(lines) + "\n"

    def named(self) -> list[str]:
        return [name for names in self.names.values() for name in names if name[1:].isdigit()]


def data(seed: int) -> dict[str, Any]:
    chance, items = random.Random(seed), np.random.default_rng(seed)
    n, m = chance.choice([1, 2, 3, 5, 8, 13, 20]), chance.choice([1, 2, 3, 4])
    values: dict[str, Any] = {name: items.integers(-4, 6, shape) for name, shape in (("x", n), ("z", n), ("a", (n, m)), ("y", m))}
    return values | {"k": items.integers(0, 5, n), "f": items.integers(-4, 6, n).astype(float), "d": items.integers(-9, 99, n)}


@pytest.mark.parametrize("seed", seeds(40, least=3))
def test_drawn_axes_shares_and_chunks(seed: int) -> None:
    core, inputs, chance = accepted(Writer(seed).program()), data(seed), random.Random(seed)
    assert agree(core, inputs) == [], seed
    if isinstance(by_reference(core, inputs), str):
        return
    bound = backend.load(core, inputs)
    alone = backend.execute(backend.plan(bound), bound, inputs)
    apart = speculated_branches(bound.graph, [b for b in speculable_branches(bound.graph) if chance.random() < 0.7])
    every = problem_of(bound_in_form(bound, apart), topology(chance), ticks_of=ticks_of(chance))
    places = tuple(place for place, phase in enumerate(every.phases) if phase.id in apart)
    for chunks in (1, chance.choice([2, 5])):
        assert every.problem.axes is not None
        chosen = tuple(chance.randrange(len(options)) for options in every.problem.axes.phases)
        made = every.along(chosen)
        made = dataclasses.replace(made, problem=dataclasses.replace(made.problem, chunks=chunks))
        answer = with_modes(made.problem, random_modes(made.problem, chance))
        assert answer is not None
        answer = dataclasses.replace(answer, chunks=chunks)
        assert [one for one in verify(made.problem, answer) if one.code.value not in ("V7", "V10")] == [], seed
        plan = plan_of(made, dataclasses.replace(answer, speculated=places))
        assert decode_plan(encode_plan(plan)) == plan and check_plan(plan, bound) == (), seed
        parts = run(plan, bound, inputs)
        assert same_bits(parts, alone), seed
        assert all(held <= plan.peak[device] for device, held in parts.held.items()), seed


def block(chance: random.Random, values: list[str], devices: list[str]) -> str:
    forms: list[Callable[[str, str, str], str]] = [
        lambda v, d, e: f"place {v} on {d}", lambda v, d, e: f"cut {v} axis {chance.choice('0011')}",
        lambda v, d, e: f"split {v} rows 1:{chance.choice('123')} over {d} {e}",
    ]  # fmt: skip
    lines = [chance.choice(forms)(chance.choice(values), *chance.sample(devices, 2)) for _ in range(chance.randint(1, 2))]
    return "schedule {\n" + "\n".join(lines) + "\n}\n"


@pytest.mark.parametrize("seed", seeds(30, least=2))
def test_drawn_directives(seed: int) -> None:
    """What can be obeyed has the bits of one device, and its plan is accepted by both verifiers."""
    writer, profile, inputs = Writer(seed), load_profile("workstation"), data(seed)
    core = accepted(writer.program() + block(random.Random(seed), writer.named(), [device.name for device in profile.devices]))
    if isinstance(by_reference(core, inputs), str):
        return
    bound = backend.load(core, inputs)
    try:
        plan = plan_program(core, bound, profile, budget=LITTLE).plan
    except RhoError as refused:
        assert {one.code for one in refused.diagnostics} <= {"SCH101", "SCH103", "SCH107"}, (seed, refused)
        return
    assert faults_of_stored(decode_plan(encode_plan(plan)), bound, core, profile) == [], seed
    assert same_bits(run(plan, bound, inputs), backend.execute(backend.plan(bound), bound, inputs)), seed
