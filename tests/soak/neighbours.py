"""What the neighbours net calls; as a script, the digests of what it gives: `python -m rho.tests.soak.neighbours`."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

import numpy as np

import rho

Array = Any
_LINES: Final = r"""
{⍵+.×⍵} v
{⍵+.×⍵} w
{(⍉⍵)+.×⍵} m
{⍵+.×⍉⍵} m
{⍵+.×⍵} s
{⍵+.×⍉⍵} l
{⍵+.×⍵[;0]} s
{⍵[0;]+.×⍵} s
{⍵+.×⍤2 2⊢⍵} t
{⍵+.×⍤2 1⊢+/⍵} t
{z←⍵+0J1×⌽⍵ ⋄ z+.×z} s
{z←⍵+0J1×⌽⍵ ⋄ z+.×⍤2 2⊢z} t
{i←⌊⍵×1000 ⋄ i+.×i} s
{⍺⌈.+⍵}⍨ s
{+/⍵} v
{+/⍵×⍵} w
{+/⍵} m
{+⌿⍵} m
{⌈/⍵} m
{×/1+⍵×0.001} m
{+\⍵} v
{+\⍵} m
{+⍀⍵} m
{⌈\⍵} v
{∧\⍵>0} v
{*⍵} v
{1○⍵} v
{⍵*1.5} w
{⍟∣⍵} v
{5∣⍵} v
{⌊⍵} v
{⍵>0} v
{⍋⍵} v
{⍒⍵} w
{⍋⍤1⊢⍵} m
{⍵[⍋⍵]} v
{⊃⍋⍵}⍤1 m
{(⍵>0)/⍵} v
{⍸⍵>0} m
{∪⌊⍵×9} v
{(⌊⍵×9)⍳⌊⍵×3} v
{(⌊⍵×9)∊⌊⍵×3} v
{⍵[2∣⍳≢⍵]} v
{1⌽⍵} m
{⍉⍵} m
{⍵,⍵} m
{⍵⍪⍵} m
{2 3↑⍵} m
{3+/⍵} v
{⍵∘.×⍵} u
{{e←*⍵-⌈/⍵ ⋄ e÷+/e}⍤1⊢⍵} m
{d←⍵-(+/⍵)÷≢⍵ ⋄ d÷√(+/d×d)÷≢⍵} v
{{⍟+/*⍵}⍤1⊢⍵} m
{{0.25×(1⌽⍵)+(¯1⌽⍵)+(1⊖⍵)+¯1⊖⍵}⍣5⊢⍵} m
{{(⍵×0.5)+1}⍣9⊢⍵} v
{⍺-2×⍵}/ m
{⍺-2×⍵}\ m
{10⊥⍵} m
{2 3⊤⌊∣⍵} u
⌹ s
{⍵⌹⍉⍵} s
{(+/⍵)⌹⍵[;⍳9]} m
⎕det s
{⎕cholesky (⍵+.×⍉⍵)+(≢⍵)×(⍳≢⍵)∘.=⍳≢⍵} s
⎕qr m
⎕svd k
{⎕eigh ⍵+⍉⍵} s
⎕fft u
⎕rfft v
⍕ k
"""
TEXTS: Final = _LINES.strip().splitlines()
"""Each ends with the name of its argument."""


def arguments() -> dict[str, Array]:
    """Vectors, matrices, a batch, of sizes at which BLAS would take several threads."""
    chance = np.random.default_rng(3)
    shapes: dict[str, tuple[int, ...]] = {"v": (30_000,), "w": (70_001,), "u": (300,), "k": (30, 20), "t": (6, 60, 60)}
    shapes |= {"m": (200, 300), "s": (120, 120), "l": (250, 190)}
    return {name: chance.normal(size=shape) for name, shape in shapes.items()}


def parts(result: Any) -> list[Array]:
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


def digest(result: Any) -> str:
    """Of the bits."""
    made = hashlib.sha256()
    for part in parts(result):
        made.update(f"{part.dtype} {part.shape}".encode())
        made.update(np.ascontiguousarray(part).tobytes())
    return made.hexdigest()[:16]


def functions() -> list[tuple[str, Any, Array]]:
    """Each text, compiled, and its argument."""
    given = arguments()
    return [(line, rho.compile(line[:-2]), given[line[-1]]) for line in TEXTS]


def main() -> None:
    print(json.dumps({text: [digest(function(argument)) for _ in range(6)] for text, function, argument in functions()}))


if __name__ == "__main__":
    main()
