"""Code that was made while arguments were regular (a progression, all equal, one index) serves others of their layout as well."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from share import drawing, share

import rho

from .cases import KINDS, SIZES, Program, programs

LOOPS = [
    "{{⍵+⍵∊3 4 5}⍣20⊢⍵}", "{{⍵+1}⍣7⊢⍵}", "{a←⍵ ⋄ {⍵+a}⍣5⊢⍵}", "{a←⍵ ⋄ {⍵+a[a]}⍣5⊢⍵}", "{a←⍵ ⋄ {⍵[a]}⍣3⊢⌽⍵}", "{{⍺+⍵}\\⍵}",
    "{a←⍵ ⋄ {x←⍵ ⋄ x[a]←x[⌽a]+1 ⋄ x}⍣4⊢⍵}", "{a←⍵ ⋄ {+/⍵↑a}¨a}", "{a←⍵ ⋄ {⍵+a[⊃a]}⍣4⊢⍵}", "{a←⍵ ⋄ {⍵-⌽a}⍣3⊢⍵}",
]  # fmt: skip
CALLS = 12


def regular(kind: str, shape: tuple[int, ...], form: int) -> Any:
    count = int(np.prod(shape))
    items = (np.arange(count), np.arange(count)[::-1], np.zeros(count), np.arange(count) % 2)[form]
    return items.reshape(shape).astype(KINDS[kind])


def outcome(function: Any, *arguments: Any) -> Any:
    try:
        made = function(*arguments)
    except rho.RhoError as error:
        return [(one.code, one.message) for one in error.diagnostics]
    return [np.asarray(item).tobytes() for item in (made if type(made) is tuple else [made])]


@pytest.mark.parametrize("kernels", ["", "always"])
@pytest.mark.parametrize("text", LOOPS)
def test_loops_on_other_items(text: str, kernels: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", kernels)
    function, chance = rho.compile(text), np.random.default_rng(drawing("regular", text).getrandbits(32))
    for form in (0, 1, 3):
        for _ in range(CALLS):
            outcome(function, regular("i", (24,), form))
        for given in (chance.permutation(24), regular("i", (24,), 2), chance.permutation(24)):
            assert outcome(function, given) == outcome(rho.compile(text), given), form


@pytest.mark.parametrize("program", share(programs(), seed=6), ids=lambda program: program.name)
def test_programs_on_other_items(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "always")
    sizes, function = SIZES[0], rho.compile(program.text)
    kinds = [kind for kind, _ in program.arguments]
    shapes = [program.shape(place, sizes) for place in range(len(kinds))]
    chance = np.random.default_rng(7)
    for form in (0, 2):
        for _ in range(CALLS):
            outcome(function, *[regular(kind, shape, form) for kind, shape in zip(kinds, shapes, strict=True)])
        for _ in range(2):
            items = [regular(kind, shape, 0) for kind, shape in zip(kinds, shapes, strict=True)]
            given = [chance.permuted(array) if array.ndim else array for array in items]
            assert outcome(function, *given) == outcome(rho.compile(program.text), *given), form
