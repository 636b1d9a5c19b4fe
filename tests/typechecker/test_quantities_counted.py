"""Counted reads lie within the grades: on random programs, for all sizes 0 to 3.

`RHO_SHARE=1 pytest tests/typechecker/test_quantities_counted.py` looks at ten times as many.
"""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from documents import programs_of
from hypothesis import HealthCheck, event, given, settings, strategies as st
from share import repeats

from rho.backend.vm.values import Array
from rho.lang.diagnostics.model import Refused, RunFailed
from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.core.operations import Core
from rho.typechecker.elements import Kind
from rho.typechecker.usage.backward_analysis import demands_of

from .counting import count_reads
from .random_programs import programs

EXAMPLES = repeats(2500)
SIZES = [(n, m) for n in range(4) for m in range(4) if n or not m]  # `idx<0>[m]` has no elements


def data(core: Core, n: int, m: int, chance: random.Random) -> dict[str, Array]:
    sizes = {"n": n, "m": m}
    found: dict[str, Array] = {}
    for entry in core.inputs:
        type_ = core.types[entry.value]
        shape = tuple(size.evaluate({v: sizes.get(v.name, n) for v in size.variables()}) for size in type_.shape)
        count = math.prod(shape)
        match type_.element.kind:
            case Kind.BOOL:
                items: tuple[bool | int | float, ...] = tuple(chance.random() < 0.5 for _ in range(count))
            case Kind.I64:
                items = tuple(chance.randrange(max(n, 1)) for _ in range(count))
            case _:
                items = tuple(float(chance.randint(-3, 3)) for _ in range(count))
        found[entry.name] = Array(type_.element.kind, shape, items)
    return found


def faults(text: str, seed: int) -> tuple[int, list[str]]:
    """(runs that finished, reads outside the grades)."""
    core = check(Source("<test>", text)).core
    if core is None:
        return 0, []
    found = demands_of(core)
    chance, runs = random.Random(seed), 0
    wrong: list[str] = []
    for n, m in SIZES:
        try:
            inputs, params = data(core, n, m, chance), {"p": chance.randint(0, 3)}
            counted = count_reads(core, inputs, params, lambda v: not found.grade(v).is_zero)
        except (Refused, RunFailed):
            continue
        runs += 1
        for made in counted.made:
            grade = found.grade(made.value)
            outside = [count for count in made.reads if not grade.holds(count, counted.sizes)]
            if outside:
                wrong.append(f"n={n} m={m}: value {made.value} of grade {grade} is read {outside[0]} times")
    return runs, wrong


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.integers(0, 1000))
def test_counted_reads_lie_within_the_grades(text: str, seed: int) -> None:
    runs, wrong = faults(text, seed)
    event("runs" if runs else "refused")
    assert not wrong, text.splitlines()[-1]


def test_exact_grades_are_counted_exactly() -> None:
    text = (
        "input A : f64[n m]\ninput B : f64[m n]\ninput x : f64[n]\ninput s : f64\nparam p ← 2\n"
        "output r ← (A+.×B)+({⍵×s}⍣p ⊢ x)∘.+⌽x\n"
    )
    core = check(Source("<test>", text)).core
    assert core is not None
    chance = random.Random(1)
    found = demands_of(core)
    counted = count_reads(core, data(core, 3, 2, chance), {"p": 4}, lambda v: not found.grade(v).is_zero)
    reads = {core.names[made.value]: set(made.reads) for made in counted.made if made.value in core.names}
    assert reads["A"] == {3}
    assert reads["B"] == {3}
    assert reads["s"] == {12}
    assert reads["x"] == {1 + 3}


DOCUMENT = Path(__file__).parent / "quantities.md"


@pytest.mark.parametrize("program", list(programs_of(DOCUMENT)))
def test_counted_reads_of_the_documents_programs(program: str) -> None:
    ran, wrong = faults(program, 0)
    assert ran or check(Source("<test>", program)).core is None
    assert not wrong


TURNS = [
    "{⍵ + +/s×⍺↑x}⍣(⍳≢x) ⊢ 0.0",
    "{⍵ + +/s×(n-⍺)↑x}⍣(⍳n) ⊢ 0.0",
    "{⍵ + +/s×x[⍳⍺]}⍣(⌽⍳n) ⊢ 0.0",
    "{⍵ + +/s×(⌊⍺÷2)↑x}⍣(⍳n) ⊢ 0.0",
    "{⍵ + +/s×(⍺×⍺)⍴2.0}⍣(⍳n) ⊢ 0.0",
    "{i←⍺ ⋄ ⍵+{⍵+s×x[⍺]×x[i]}⍣(⍳i) ⊢ 0.0}⍣(⍳n) ⊢ 0.0",
    "{i←⍺ ⋄ ⍵+{⍵+s×x[⍺]}⍣((i+1)+⍳n-i+1) ⊢ 0.0}⍣(⍳n) ⊢ 0.0",
    "{⍵ + s×⍺}⍣x ⊢ x[⍳⌊n÷2]",
    "{⍵ + s×⍺}⍣\\x ⊢ 0.0",
    "{⍵ + s×⍺}⍣(x ⋄ {⍵>2}) ⊢ 0.0",
    "{⍵ + s×x[⍺]}⍣(⍳n ⋄ {⍵>2}) ⊢ 0.0",
    "{y ← ⍵ ⋄ y[⍺] ← +/s×⍺↑y ⋄ y}⍣(⍳n) ⊢ x",
]


@pytest.mark.parametrize("loop", TURNS)
def test_loops_over_their_index(loop: str) -> None:
    runs, wrong = faults(f"input x : f64[n]\ninput s : f64\nparam p ← 1\ninput m : f64[m]\nn ← ≢x\noutput r ← {loop}", 3)
    assert runs and not wrong


def test_reads_of_a_triangle_are_a_sum() -> None:
    core = check(Source("<test>", f"input x : f64[n]\ninput s : f64\nn ← ≢x\noutput r ← {TURNS[0]}")).core
    assert core is not None
    found = demands_of(core)
    assert [str(found.grade(entry.value)) for entry in core.inputs] == ["0..n", "((n×n)-n)÷2"]
