"""Random programs around arrays that are reshaped after they repeat or are transposed: ravels of outer products, of transposes,
of both; windows, turns and parts of them; their sums, scans, sorts, selections and joins."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

SUMS = (
    "+/", "⌈/", "⌊/", "+/2×", "×/1⌊", "-/", "+/⌽", "⌈/3⌽", "+\\", "⌈\\", "⍋", "⊃⍋", "≢∪", "1+", "⌽", "5↑", "1↓", "2×3⌽", "+/¯2↑",
    "⍋⌽",
)  # fmt: skip
CUT = ("+/", "+⌿", "⌈/", "⌈⌿", "-/", "+⍀", "⌈\\")
OUTER = ("+/", "⌈/", "+\\", "1+")
MASKS = ("+/", "∨/", "∧/", "≠/", "≢⍸", "+/⍸", "~", "+\\")


def inputs(rng: random.Random, rows: int, columns: int) -> tuple[str, dict[str, Any]]:
    """Declarations, and arrays: integers, or floats of whole numbers, so that sums are exact in any order."""
    kind = rng.choice(["i64", "f64", "i32"])
    dtype = {"i64": np.int64, "f64": np.float64, "i32": np.int32}[kind]
    random_of = np.random.default_rng(rng.randrange(1 << 30))
    shapes = {"a": (rows,), "b": (columns,), "A": (rows, columns), "B": (rows, columns), "C": (columns, rows)}
    axes = {"a": "r", "b": "c", "A": "r c", "B": "r c", "C": "c r"}
    text = "".join(f"input {name} : {kind}[{axes[name]}]\n" for name in shapes)
    return text, {name: random_of.integers(-50, 50, shape).astype(dtype) for name, shape in shapes.items()}


def matrix(rng: random.Random, depth: int = 2) -> str:
    """An array of rank 2 with as many items as the others."""
    made = rng.choice(["a∘.{f}b", "a∘.{f}b", "⍉A", "⍉C", "A{f}⍤1 ⊢ b", "A{f}⍉C", "A", "⍉B", "A{f}⍤1 ⊢ b", "⌽⍉A", "1⊖a∘.{f}b"])
    made = made.replace("{f}", rng.choice("+-×⌈⌊"))
    if depth and rng.random() < 0.3:
        made = f"⍉{made}"
    if depth and rng.random() < 0.3:
        made = f"({made}){rng.choice('+-⌈')}2"
    return made


def program(rng: random.Random, rows: int, columns: int) -> str:
    items = rows * columns
    flat = f",{matrix(rng)}"
    shape = rng.random()
    if shape < 0.12:
        flat = f"({flat}){rng.choice('+×⌈')}{rng.choice([flat, f',{matrix(rng)}', '1'])}" if "C" not in flat else flat
    elif shape < 0.24:
        divisor = rng.choice([d for d in (1, 2, 3, 4, 5, 8, 10) if items % d == 0])
        turned = rng.choice(["", "⍉", "⌽", "⍉⌽"])
        flat = f",{turned}({items // divisor} {divisor})⍴{flat}"
    elif shape < 0.3:
        flat = f"({flat}){rng.choice(',+')}{flat}"
    elif shape < 0.36:
        flat = f"(2×{items})⍴{flat}"
    elif shape < 0.42:
        flat = f",3↕{flat}"
    use = rng.random()
    if use < 0.55:
        return f"{rng.choice(SUMS)}{flat}"
    if use < 0.7:
        return f"{rng.choice(MASKS)}({flat}){rng.choice('><=≠')}{rng.randint(-3, 3)}"
    if use < 0.76:
        return f"x ← {flat}\n(x>{rng.randint(-3, 40)})⌿x"
    if use < 0.82:
        divisor = rng.choice([d for d in (2, 3, 4, 5, 8, 10) if items % d == 0] or [1])
        return f"{rng.choice(CUT)}({items // divisor} {divisor})⍴({items})↑{flat}"
    if use < 0.88:
        return f"x ← {flat}\nx[{rng.choice(['⌽', '⍒', '⍋', ''])}{rng.choice(['a', 'x'])}{rng.choice(['>0', '[⍳9]|9'])}+0]"
    if use < 0.94:
        return f"{rng.choice(OUTER)}({flat})∘.{rng.choice('+×')}{rng.choice(['1 2 3', '⍳2'])}"
    return f"({rng.choice(['9⌊9', '5'])}) +⌸ (5|⌊|{flat} ⋄ {flat})"
