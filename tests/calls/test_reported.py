"""Programs from public reports of other systems, which are right here: for several layouts, again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rho

CALLS = 6


def _life(cells: Any) -> Any:
    """Cells with at least four of eight neighbours, until nothing changes."""
    while True:
        wide = np.pad(cells, 1).astype(int)
        height, width = cells.shape
        near = sum(wide[1 + y : 1 + y + height, 1 + x : 1 + x + width] for y in (-1, 0, 1) for x in (-1, 0, 1)) - cells
        after = cells & (near >= 4)
        if (after == cells).all():
            return after
        cells = after


def _mixed() -> Any:
    random = np.random.default_rng(2)
    return random.normal(size=(10, 10)) + 1j * random.normal(size=(10, 10))


REPORTS: dict[str, tuple[str, Callable[[], Any], Callable[[Any], Any]]] = {
    "mlx 3716": ("{b←0×⍵ ⋄ b[⌽⍳≢⍵]+←2×⌽⍵ ⋄ b}", lambda: np.random.default_rng(11).random(30000), lambda x: 2 * x),
    "pytorch 198270": (
        "{x←⍵ ⋄ x[⍳≢x;]←2×x ⋄ x+⊖x}", lambda: np.random.default_rng(3).random((300, 200)), lambda x: 2 * x + 2 * x[::-1]
    ),
    "pytorch 174074": (
        "{x←⍵ ⋄ x[0 0 1 0]+←1 2 3 4 ⋄ x}", lambda: np.array([10.0, 20, 30]), lambda x: np.add(x, [4, 3, 0])
    ),
    "futhark 2335": (
        "{{a←(({+/,⍵}⌺3 3)i64 ⍵)-⍵ ⋄ ⍵∧a≥4}⍣(1000 ⋄ {∧/,⍺=⍵})⊢⍵}",
        lambda: np.random.default_rng(1).random((140, 140)) < 0.75, _life,
    ),
    "numpy 15597": (
        "{⌽⌊\\⌽⍵}", lambda: np.random.default_rng(1).random(30000), lambda x: np.minimum.accumulate(x[::-1])[::-1]
    ),
    "xarray 7541": ("{m←(+⌿⍵)÷≢⍵ ⋄ √(+⌿(|⍵-⍤1⊢m)*2)÷≢⍵}", _mixed, lambda x: x.std(0)),
}  # fmt: skip


@pytest.mark.parametrize("report", REPORTS)
def test_reports_of_others(report: str) -> None:
    text, make, expected = REPORTS[report]
    function, items = rho.compile(text), make()
    apart = np.repeat(items, 2, axis=0)[::2]
    for _ in range(CALLS):
        for given in (items, apart, np.ascontiguousarray(items[::-1])[::-1], np.asfortranarray(items)):
            np.testing.assert_allclose(function(given), expected(items), rtol=1e-14)


def test_a_quotient_beyond_64_bits_is_refused() -> None:
    function = rho.compile("{⌊⍺÷⍵}")
    for _ in range(CALLS):
        assert function(np.array([7, -7]), np.array([2, 2])).tolist() == [3, -4]
        with pytest.raises(rho.RunFailed) as caught:
            function(np.array([-(2**63)]), np.array([-1]))
        assert [one.code for one in caught.value.diagnostics] == ["E703"]
