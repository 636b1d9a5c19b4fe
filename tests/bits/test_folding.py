"""A constant that is folded has the bits that it would have if it were computed: every function on edge literals.

Each case is a function with its left argument; it meets all literals as right arguments.  The checker's own constants and
what the back end's pass folds are held against a run in which nothing was folded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from share import share

from rho import backend
from rho.lang.diagnostics.model import RhoError
from rho.lang.primitives.record import GlyphRole
from rho.lang.primitives.table import PRIMITIVES
from rho.lang.syntax.source import Source
from rho.typechecker.check import CheckResult, check
from rho.typechecker.core.operations import Core
from rho.typechecker.values.facts import Operand

LITERALS = (
    *("0", "1", "¯1", "2", "3", "¯3", "7", "53", "63", "¯64", "2147483648", "9007199254740993"),
    *("9223372036854775807", "¯9223372036854775807", "0.0", "¯0.0", "0.5", "¯0.5", "1.5", "¯2.5", "3.0", "53.0", "54.0"),
    *("1e15", "1e308", "5e¯324", "¯1e¯310", "9007199254740992.0", "4611686018427387904.0", "∞", "¯∞", "0J1", "2J¯0.0", "'a'"),
)
_SIZED = frozenset("⍳⍸⍴↑↓↕?/⌿\\⍀")  # a large number is a large array, or a key


def _cases() -> Iterator[tuple[str, str]]:
    for row in PRIMITIVES:
        if row.role is GlyphRole.FUNCTION and row.glyph not in {*_SIZED, "⎕regex"}:  # whose value is a tuple
            if row.monadic is not None:
                yield row.glyph, ""
            if row.dyadic is not None:
                yield from ((row.glyph, left) for left in LITERALS)


def _lines(glyph: str, left: str) -> list[str]:
    return [f"{left} {glyph} {right}".strip() for right in LITERALS]


def _accepted(lines: list[str]) -> tuple[list[str], CheckResult, Core]:
    """The lines that are no error, each with the name of its number."""
    for _ in range(len(LITERALS)):
        text = "\n".join(f"v{at} ← {line}" for at, line in enumerate(lines))
        text += "\n" + "\n".join(f"v{at}" for at in range(len(lines)))
        result = check(Source("<test>", text))
        if result.core is not None:
            return lines, result, result.core
        starts = [text.find(f"v{at} ← ") for at in range(len(lines))] + [len(text)]
        bad = {d.span.start for d in result.diagnostics if d.is_error}
        lines = [line for at, line in enumerate(lines) if not any(starts[at] <= s < starts[at + 1] for s in bad)]
    raise AssertionError("a line is refused again and again")


def _bits(values: Iterable[object]) -> str:
    """Items, every NaN alike, -0.0 apart from 0.0."""
    return repr([_item(value) for value in values])


def _flat(value: np.ndarray) -> str:  # type: ignore[type-arg]
    return _bits(value.ravel().tolist())


def _item(value: object) -> object:
    if isinstance(value, complex):
        return (_item(value.real), _item(value.imag))
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def _constants(result: CheckResult, count: int) -> Iterator[tuple[int, str]]:
    """What the checker knows of each line's value."""
    for at in range(count):
        value = result.elaborated.names[f"v{at}"]
        if isinstance(value, Operand) and value.constant is not None:
            yield at, _bits(value.constant)


def _computed(core: Core, without: frozenset[str]) -> list[np.ndarray]:
    bound = backend.load(core, {}, {}, without=without)
    return [shown.value for shown in backend.execute(backend.plan(bound), bound, {}).printed]


def _run(lines: list[str]) -> tuple[list[str], CheckResult, Core, list[np.ndarray]]:
    """The lines that neither the checker nor the run refuses, and their values with nothing folded."""
    while True:
        lines, result, core = _accepted(lines)
        try:
            return lines, result, core, _computed(core, frozenset({"constants"}))
        except RhoError as error:
            text = result.core.sources[0].text if result.core else ""
            failed = text.count("\n", 0, error.diagnostics[0].span.start)
            lines = lines[:failed] + lines[failed + 1 :]


@pytest.mark.parametrize(("glyph", "left"), share(list(_cases()), seed=12))
def test_folded_is_computed(glyph: str, left: str) -> None:
    lines, result, core, computed = _run(_lines(glyph, left))
    folded = _computed(core, frozenset())
    wanted, got = [_flat(value) for value in computed], [_flat(value) for value in folded]
    differ = [(lines[at], bits, wanted[at]) for at, bits in _constants(result, len(lines)) if bits != wanted[at]]
    differ += [(line, *bits) for line, *bits in zip(lines, got, wanted, strict=True) if bits[0] != bits[1]]
    assert differ == []


def test_a_power_of_negative_zero_keeps_its_sign() -> None:
    _, _, core, _ = _run(["1÷(¯0.0)*3", "1÷(¯0.0)*2", "1÷¯0.0*1"])
    assert [_flat(value) for value in _computed(core, frozenset())] == ["[-inf]", "[inf]", "[-inf]"]
