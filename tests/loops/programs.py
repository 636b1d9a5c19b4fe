"""Programs whose loops become regions, with arguments of many sizes; and some whose loops do not, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Make = Callable[[np.random.Generator], tuple[Any, ...]]


def vector(*sizes: int, low: float = 0.0) -> list[Make]:
    return [lambda rng, n=n: (rng.random(n) + low,) for n in sizes]  # type: ignore[misc]


def matrix(*shapes: tuple[int, int]) -> list[Make]:
    return [lambda rng, s=s: (rng.random(s),) for s in shapes]  # type: ignore[misc]


def complexes(*shapes: tuple[int, ...], dtype: type = np.complex128) -> list[Make]:
    def make(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, ...]:
        return ((rng.random(shape) - 0.5 + 1j * (rng.random(shape) - 0.5)).astype(dtype),)

    return [lambda rng, s=s: make(rng, s) for s in shapes]  # type: ignore[misc]


def integers(*sizes: int) -> list[Make]:
    return [lambda rng, n=n: (rng.integers(-9, 9, n),) for n in sizes]  # type: ignore[misc]


SIZES = (0, 1, 2, 7, 16, 31, 100, 257, 300)
SHAPES = ((1, 1), (2, 3), (7, 5), (16, 16), (33, 70), (70, 300))

REGIONS: list[tuple[str, list[Make]]] = [
    # scans and folds by any function
    ("{{(0.9×⍺)+0.1×⍵}\\⍵}", vector(1, 2, 7, 100, 5000)),
    ("{{(⍺+⍵)÷9}\\⍵}", vector(1, 9, 300)),
    ("{{⍵+⍺×0.5}/⍵}", vector(1, 2, 7, 100, 5000)),
    ("{{(⍺×0.5)+⍵}⌿⍵}", matrix(*SHAPES)),
    ("{{(⍺×0.5)+⍵}⍀⍵}", matrix(*SHAPES)),
    ("{{⍺⌈⍵-1}\\⍵}", integers(1, 5, 100)),
    ("{{(10×⍺)+⍵}/⍵}", integers(1, 5, 17)),
    # states whose items see only themselves
    ("{{0.5+0.25×⍵×1-⍵}⍣19 ⊢ ⍵}", [*vector(*SIZES), *matrix(*SHAPES)]),
    ("{{0.5+0.25×⍵×1-⍵}⍣19 ⊢ ⍵[0]}", vector(1, 2)),
    ("{z←⍵[0] ⋄ {z+0.5×⍵}⍣99 ⊢ z}", vector(1, 2)),
    ("{z←⍵[0;0] ⋄ {z+⍵×⍵}⍣5 ⊢ z}", complexes((1, 1), (3, 2))),
    ("{c←⍉⍵ ⋄ {c+0.25×⍵×⍵}⍣9 ⊢ 0×c}", matrix(*SHAPES)),
    ("{c←⍵[0;] ⋄ {c {⍺+0.5×⍵}⍤1 ⊢ ⍵}⍣9 ⊢ ⍵}", matrix(*SHAPES)),
    ("{(a b n)←{(a b n)←⍵ ⋄ l←4≥a+b ⋄ (b ⋄ l¿(a+b×b ⋄ a) ⋄ n+l)}⍣23 ⊢ (⍵ ⋄ ⍵÷2 ⋄ i64 0×⍵>1) ⋄ (a ⋄ b ⋄ n)}", matrix(*SHAPES)),
    ("{{⍵+⍵×⍵}⍣5 ⊢ ⍵}", [*complexes((1,), (7,), (33, 5), (70, 40)), *complexes((9, 2), (300,), dtype=np.complex64)]),
    ("{{~⍵}⍣9 ⊢ ⍵>0}", integers(*SIZES)),
    ("{{⌊0.5×⍵+7}⍣30 ⊢ ⍵}", integers(*SIZES)),
    ("{{{⍵+0.25×⍵×⍵}⍣3 ⊢ ⍵-+/⍵}⍣4 ⊢ ⍵}", vector(1, 7, 100)),
    # indices are checked even where an axis that is taken whole is empty
    ("{m←⍵ ⋄ k←⌊+/,⍵ ⋄ {⍵+ +/,m[⍺+k+⍳3;]}⍣(⍳3) ⊢ 0.0}", matrix((2, 0), (5, 0), (4, 0), (90, 1))),
    ("{k←⌊+/,⍵ ⋄ {x←⍵ ⋄ x[⍺+k+⍳3;]←0.5 ⋄ x}⍣(⍳3) ⊢ ⍵}", matrix((2, 0), (5, 0), (4, 0), (90, 1))),
    # points of the state, of the old one also where it is written over meanwhile
    ("{{x←⍵ ⋄ k←(≢x)|x[0;⍳3] ⋄ v←k{x[⍺;⍵]}¨3|⌽k ⋄ x[0;⍳3]←7|1+v+k ⋄ x}⍣9 ⊢ ⍵}", integers((5, 7), (9, 3), (1, 4))),
    ("{{x←⍵ ⋄ k←(≢x)|x[0;⍳3] ⋄ v←k{x[⍺;⍵]}¨⌽k ⋄ x[0;⍳3]←7|1+v+k ⋄ x}⍣9 ⊢ ⍵}", integers((5, 7), (9, 3), (1, 4))),
    ("{{x←⍵ ⋄ y←x ⋄ x[0;⍳3]←7|1+x[0;⍳3] ⋄ k←3|x[0;⍳3] ⋄ v←k{y[⍺;⍵]-x[⍵;⍺]}¨⌽k ⋄ x[1;⍳3]←v ⋄ x}⍣9 ⊢ ⍵}", integers((5, 7), (3, 3))),
    # element-wise states that read elsewhere
    ("{{(¯1⌽⍵)+0.5×1⌽⍵}⍣9 ⊢ ⍵}", vector(*SIZES)),
    ("{{0.25×(¯1⌽⍵)+(1⌽⍵)+(¯1⊖⍵)+1⊖⍵}⍣7 ⊢ ⍵}", matrix(*SHAPES)),
    ("{e←0=⍳≢⍵ ⋄ {e¿(⍵ ⋄ ¯1⌽⍵+1)}⍣6 ⊢ ⍵}", vector(*SIZES)),
    ("{{(1↓⍵),⊃⍵}⍣5 ⊢ ⍵}", vector(1, 2, 7, 100)),
    ("{{⌽⍵+1}⍣5 ⊢ ⍵}", vector(*SIZES)),
    ("{{⍉⍵}⍣5 ⊢ ⍵}", matrix((1, 1), (7, 7), (33, 33))),
    ("{{(3↑⍵),3↓⍵+1}⍣5 ⊢ ⍵}", vector(3, 7, 100)),
    # sums inside, along and across, float and exact
    ("{{⍵÷+/⍵}⍣5 ⊢ ⍵}", vector(1, 2, 3, 7, 8, 9, 100, 255, 256, 257, 4095, 4096, 4097, 9000, 20000, low=0.5)),
    ("{x←⍵ ⋄ {e←(≢x)⌊⍵×⍵ ⋄ s←e⌊⍵ ⋄ +/(s↓e↑x)×x[s↓e↑⌽⍳≢x]}¨⍳≢x}", vector(1, 2, 7, 16, 17, 33, 100, 300)),
    ("{{⍵×÷+/⍵*2}⍣3 ⊢ ⍵}", vector(1, 2, 100, 5000, low=0.5)),
    ("{{⍵÷(≢⍵) 1⍴1++/⍵}⍣3 ⊢ ⍵}", matrix(*SHAPES)),
    ("{{⍵+≢(⍵>0.5)/⍵}⍣3 ⊢ ⍵}", vector(0, 1, 30)),
    ("{{⍵-⍤1⊢(+⌿⍵)÷≢⍵}⍣3 ⊢ ⍵}", matrix(*SHAPES, (300, 70), (300, 2), (5000, 3))),
    ("{{⍵-⌈/⍵}⍣3 ⊢ ⍵}", integers(1, 2, 100, 5000)),
    ("{{⍵+7|+/⍵}⍣3 ⊢ ⍵}", integers(*SIZES)),
    ("{{⍵-⌊/⍵}⍣3 ⊢ ⍵}", vector(1, 2, 100, 5000)),
    # what one block of items decides, what none does; a sum and an extreme of the same items, few and many
    ("{{⍵×1+∨/⍵>0.99}⍣3 ⊢ ⍵}", vector(1, 100, 4096, 4097, 20000)),
    ("{{⍵×2-∧/⍵<2}⍣3 ⊢ ⍵}", vector(1, 100, 4096, 4097, 20000)),
    ("{{(⍵-⌈/⍵)÷1++/⍵}⍣3 ⊢ ⍵}", vector(1, 2, 9, 12, 16, 17, 100, 5000)),
    ("{{⍵(×⍤1 0)(⌈/⍵)-+/⍵}⍣2 ⊢ ⍵}", matrix(*SHAPES, (40, 12))),
    ("{{⌽(*⍵)×0J1}⍣3 ⊢ ⍵+0J1}", vector(0, 1, 30)),
    ("{{⍵×÷√+/⍵*2}⍣3 ⊢ ⍵}", vector(1, 7, 100, 5000)),
    ("{m←⍵ ⋄ {x←m+.×⍵ ⋄ x÷√x+.×x}⍣4 ⊢ m[0;]}", matrix((1, 1), (3, 3), (16, 16), (100, 100), (300, 300))),
    ("{{÷1+⍵+×/⍵}⍣4 ⊢ ⍵}", vector(*SIZES)),
    # those of types.md, of no iteration too
    ("{y←⍵ ⋄ {⍵+y[0]×⍺}⍣(⍳≢y) ⊢ 0.5}", vector(*SIZES)),
    ("{x←⍵ ⋄ n←≢x ⋄ {⍵ + +/(⍺↓x)×(n-⍺)↑⌽x}⍣(⍳n) ⊢ 0.0}", vector(*SIZES)),
    ("{x←⍵ ⋄ {i←⍺ ⋄ ⍵+{⍵+x[⍺]×x[i]}⍣(⍳i) ⊢ 0.0}⍣(⌽⍳≢x) ⊢ 0.0}", vector(*SIZES)),
    # updates in place and not
    ("{x←⍵ ⋄ {(a b)←⍵ ⋄ t←0.5×a+b ⋄ (a+t ⋄ b-t×a)}⍣5 ⊢ (x ⋄ 1-x)}", vector(*SIZES)),
    ("{x←⍵ ⋄ {(a b)←⍵ ⋄ t←0.5×a+1⌽b ⋄ (a+t ⋄ b-t×a)}⍣5 ⊢ (x ⋄ 1-x)}", vector(*SIZES)),
    ("{x←⍵ ⋄ {(a b)←⍵ ⋄ (b ⋄ a+b)}⍣5 ⊢ (x ⋄ 1-x)}", vector(*SIZES)),
    ("{x←⍵ ⋄ {(a b)←⍵ ⋄ (b×2 ⋄ a+b)}⍣5 ⊢ (x ⋄ 1-x)}", vector(*SIZES)),
    ("{{s←⍵ ⋄ s[0]←s[0]+1 ⋄ s}⍣50 ⊢ ⍵}", vector(1, 2, 30)),
    ("{{s←⍵ ⋄ t←s[0] ⋄ s[0]←s[1] ⋄ s[1]←t+1 ⋄ s}⍣5 ⊢ ⍵}", vector(2, 30)),
    ("{{s←⍵ ⋄ s[0]←+/s ⋄ s+⍵}⍣5 ⊢ ⍵}", vector(1, 2, 30)),
    ("{{s←⍵ ⋄ s[0;]←s[1;]+s[;0] ⋄ s}⍣5 ⊢ ⍵}", matrix((2, 2), (16, 16), (33, 33))),
    ("{{s←⍵ ⋄ s[1;]←s[0;] ⋄ s[0;]←1+s[1;] ⋄ s}⍣5 ⊢ ⍵}", matrix((2, 2), (16, 16), (33, 5))),
    ("{{r←⍵[1;] ⋄ s←⍵ ⋄ s[1;]←2×s[0;] ⋄ s[0;]←r ⋄ s}⍣5 ⊢ ⍵}", matrix((2, 2), (16, 16), (33, 5))),
    # counters, indices, several states
    ("{x←⍵ ⋄ {(a b)←⍵ ⋄ (b ⋄ 0.5×a+b)}⍣7 ⊢ (x ⋄ x+1)}", vector(*SIZES)),
    ("{x←⍵ ⋄ {(a b)←⍵ ⋄ ((0.5×a) ⋄ +/a)}⍣7 ⊢ (x ⋄ 0.0)}", vector(*SIZES)),
    ("{v←⍵ ⋄ {x←⍵ ⋄ x[⍺]←+/⍺↑x ⋄ x}⍣(⍳≢v) ⊢ v}", vector(*SIZES)),
    ("{v←⍵ ⋄ {x←⍵ ⋄ x[⍺]←+/(⍺+1)↓x ⋄ x}⍣(⌽⍳≢v) ⊢ v}", vector(*SIZES)),
    ("{v←⍵ ⋄ {⍵+⍺×0.5}⍣v ⊢ 0.0}", vector(*SIZES)),
    ("{v←⍵ ⋄ {⍵+⍺}⍣v ⊢ v[0;]}", matrix(*SHAPES)),
    ("{v←⍵ ⋄ {⍵+⍺×0.5}⍣\\v ⊢ 0.0}", vector(*SIZES)),
    (
        "{L←⍵ ⋄ b←+/L ⋄ {x←⍵ ⋄ x[⍺]←(b[⍺]-(⍺↑L[⍺;])+.×⍺↑x)÷1+L[⍺;⍺] ⋄ x}⍣(⍳≢L) ⊢ b×0}",
        matrix((1, 1), (7, 7), (33, 33), (300, 300)),
    ),
    ("{{⍵+1}⍣\\5 ⊢ ⍵}", vector(*SIZES)),
    ("{{(+/⍵)+⍵}⍣\\5 ⊢ ⍵}", vector(*SIZES)),
    ("{{⍵+⍵⍳⌈/⍵}⍣4 ⊢ ⍵}", vector(1, 2, 30, 300)),
    ("{n←≢⍵ ⋄ {,⍉(2 n)⍴⍵}⍣4 ⊢ ⍵,⍵}", vector(1, 2, 30, 300)),
    # complex numbers: maps, moves, sums along and across, products with vectors, updates, counters, ends and branches
    ("{v←⍵ ⋄ {⍵+(7|v)*⍺}⍣(⍳70) ⊢ v}", integers(0, 1, 9, 100)),
    ("{v←|⍵ ⋄ k←≢v ⋄ {⍵+3*⍺+⍳k}⍣(⍳9) ⊢ v}", integers(0, 1, 9, 100)),
    ("{{⍵+*0J0.1×○⍵}⍣3 ⊢ ⍵}", complexes((0,), (1,), (7,), (100,))),
    ("{{⌽⍵×0J1}⍣3 ⊢ ⍵+0J1}", complexes((0,), (1,), (7,), (100,))),
    ("{{(¯1⌽⍵)-0.5×÷1+⍵}⍣5 ⊢ ⍵}", complexes((0,), (1,), (7,), (100,))),
    ("{{(¯1⌽⍵)-0.5×÷1+⍵}⍣5 ⊢ ⍵}", complexes((1,), (7,), (100,), dtype=np.complex64)),
    ("{{((|⍵)×⍵)+(+⍵)÷2J1+9○⍵×11○⍵}⍣4 ⊢ ⍵}", complexes((0,), (3,), (100,))),
    ("{{⍵÷1++/⍵}⍣4 ⊢ ⍵}", complexes((1,), (7,), (9,), (257,), (4097,))),
    ("{{⍵-⍤1⊢(+⌿⍵)÷≢⍵}⍣3 ⊢ ⍵}", complexes((1, 1), (7, 5), (70, 300), (300, 2))),
    ("{m←⍵ ⋄ {x←m+.×⍵ ⋄ x÷|x+.×x}⍣4 ⊢ m[0;]}", complexes((1, 1), (3, 3), (16, 16), (100, 100))),
    ("{{s←⍵ ⋄ t←s[0] ⋄ s[0]←s[1] ⋄ s[1]←t×0J2 ⋄ s}⍣5 ⊢ ⍵}", complexes((2,), (30,))),
    ("{{s←⍵ ⋄ s[0;]←s[1;]+s[;0] ⋄ ⍉s}⍣5 ⊢ ⍵}", complexes((2, 2), (16, 16))),
    ("{x←⍵ ⋄ {(a b)←⍵ ⋄ ((0.5×a) ⋄ b×+/a)}⍣7 ⊢ (x ⋄ 1J1)}", complexes((0,), (1,), (30,))),
    ("{v←⍵ ⋄ {⍵+⍺×0.5J1}⍣v ⊢ 0J0}", complexes((0,), (1,), (30,))),
    ("{{(0.9J0.1×⍺)+0.1×⍵}\\⍵}", complexes((1,), (2,), (100,))),
    ("{{⍵+⍺×0.5J1}/⍵}", complexes((1,), (2,), (100,))),
    ("{{(3↑⍵),3↓⍵+1}⍣5 ⊢ ⍵}", complexes((3,), (100,))),
    ("{{⍵×0.9J0.3}⍣(50⋄{0.5>|+/⍵}) ⊢ ⍵}", complexes((1,), (7,))),
    ("{x←⍵ ⋄ {(|⊃⍵)>0.2:⍵×0.5J0.5 ⋄ ⍵+0.7}⍣20 ⊢ x}", complexes((1,), (7,))),
    ("{x←⍵ ⋄ {(a b)←⍵ ⋄ (|a)>2:(a×0.5 ⋄ b) ⋄ (b+a ⋄ 0J1×b)}⍣9 ⊢ (1J1 ⋄ ⊃x)}", complexes((1,), (7,))),
    ("{{+⌿{⍵×0.5J1}⍣\\4 ⊢ ⍵}⍣3 ⊢ ⍵}", complexes((1,), (30,))),
    ("{{z←⍵ ⋄ {z+⍵×⍵}⍣(9⋄{4<|⍺}) ⊢ 0J0}¨⍵}", complexes((1,), (100,))),
    # sizes that follow from the index, and from branches
    ("{x←⍵ ⋄ {⍵++/(⌊⍺÷2)↑x}⍣(⍳≢x) ⊢ 0.0}", vector(0, 1, 30)),
    ("{x←⍵ ⋄ {k←⌊⍺÷3 ⋄ ⍵++/k↓(2×k)↑x}⍣(⍳≢x) ⊢ 0.0}", vector(0, 1, 30)),
    ("{x←⍵ ⋄ {⍵++/(3|⍺)↑x}⍣(⍳≢x) ⊢ 0.0}", vector(0, 1, 30)),
    ("{x←⍵ ⋄ {⍵++/(4⌊1+⍺×⍺)↑x}⍣(⍳3) ⊢ 0.0}", vector(4, 30)),
    ("{v←⍵ ⋄ {⍵++/(9|⍺)↑1.5×⍳9}⍣v ⊢ 0.0}", integers(0, 1, 30)),
    ("{x←⍵ ⋄ {i←⍺ ⋄ ⍵++/{x[i]>0.5:i↑x ⋄ (1+i)↓x} 0}⍣(⍳≢x) ⊢ 0.0}", vector(0, 1, 30)),
    ("{x←⍵ ⋄ f←{⍵>0.5:x ⋄ 1↓x} ⋄ {⍵++/f ⍺}⍣x ⊢ 0.0}", vector(1, 30)),
    # early ends, branches
    ("{{⍵+0.25}⍣(50⋄{3<+/⍵}) ⊢ ⍵}", vector(1, 2, 7)),
    ("{x←⍵ ⋄ {(⌈/⍵)>2:⍵×0.5 ⋄ ⍵+0.7}⍣20 ⊢ x}", vector(1, 2, 7, 100)),
    ("{x←⍵ ⋄ {(+/⍵)>2:⍵[0]-⍵ ⋄ s←⍵ ⋄ s[0]←s[0]+1 ⋄ s}⍣20 ⊢ x}", vector(1, 2, 7, 100)),
    # loops inside loops
    ("{{{⍵×0.5}⍣3 ⊢ ⍵+1}⍣4 ⊢ ⍵}", vector(*SIZES)),
    ("{{{(¯1⌽⍵)×0.5}⍣3 ⊢ ⍵+1}⍣4 ⊢ ⍵}", vector(*SIZES)),
    ("{{{s←⍵ ⋄ s[0]←s[0]+1 ⋄ s}⍣3 ⊢ ⍵}⍣4 ⊢ ⍵}", vector(1, 2, 30)),
    ("{n←≢⍵ ⋄ {i←⍺ ⋄ {s←⍵ ⋄ s[i]←s[i]+s[⍺] ⋄ s}⍣(⍳i) ⊢ ⍵}⍣(⍳n) ⊢ ⍵}", vector(0, 1, 2, 30)),
    ("{{{(⍺+⍵)÷3}\\⍵}⍣4 ⊢ ⍵}", vector(1, 2, 30)),
    ("{{⍵×{⍵+⍺×0.5}/⍵}⍣4 ⊢ ⍵}", vector(1, 2, 30)),
    ("{{+⌿{⍵×0.5}⍣\\4 ⊢ ⍵}⍣3 ⊢ ⍵}", vector(0, 1, 2, 30)),
    ("{{s←⍵ ⋄ s[1;]←{(⍺+⍵)÷3}\\s[0;] ⋄ ⊖s}⍣4 ⊢ ⍵}", matrix((2, 2), (16, 16), (33, 5))),
    # maps by any function
    ("{{x←⍵ ⋄ {(x+⍵)÷2}⍣(30⋄{0.001>|⍵-⍺}) ⊢ 5.0}¨⍵}", vector(1, 2, 7, 100)),
    ("{L←⍵ ⋄ {(⍵↑L[⍵;])+.×⍵↑L[0;]}¨⍳≢L}", matrix((1, 1), (7, 7), (33, 33), (300, 300))),
]
"""Text of a function, and what makes its argument."""

ROUTINES: list[tuple[str, list[Make], str]] = [
    ("{{⍵[⍋⍵]}⍣3 ⊢ ⍵}", vector(0, 1, 7, 100), "sort"),
    ("{{⍵-⍵[⊃⍒⍵]×0.5}⍣4 ⊢ ⍵}", vector(1, 30), "gather"),
    ("{{{⍵[⍋⍵]}⍤1 ⊢ ⍉⍵}⍣3 ⊢ ⍵}", matrix((1, 1), (7, 7), (33, 33)), "sort"),
    ("{{0.1×⍵+.×⍵}⍣3 ⊢ ⍵}", matrix((2, 2), (7, 7), (30, 30), (100, 100)), "contract"),
    ("{{0.1×(⍉⍵)+.×⍵}⍣3 ⊢ ⍵}", matrix((2, 2), (30, 30), (100, 100)), "contract"),
    ("{{0.1×⍵+.×⍉1+⍵}⍣3 ⊢ ⍵}", matrix((6, 6), (40, 40), (100, 100)), "contract"),
    ("{{(0.1×⍵)+.×⍵}⍣3 ⊢ ⍵}", [lambda rng: (rng.random((30, 30)).astype(np.float32),)], "contract"),
    ("{{0.1×⍵+.×⍵}⍣3 ⊢ ⍵}", complexes((2, 2), (30, 30)), "contract"),
    ("{{0.1×⍵(+.×⍤2)⍵}⍣3 ⊢ ⍵}", [lambda rng: (rng.random((3, 5, 5)),), lambda rng: (rng.random((0, 5, 5)),)], "contract"),
    ("{{s←⍵ ⋄ s[0;;]←s[1;;]+.×s[2;;] ⋄ s}⍣3 ⊢ ⍵}", [lambda rng: (rng.random((3, 5, 5)),)], "contract"),
    ("{{⌽(⍟⍵+2)×0J1}⍣3 ⊢ ⍵+0J1}", vector(0, 1, 30), "structured"),
    ("{x←⍵+0J1 ⋄ {⍵+x*0.5J1×⍺}⍣(⍳4) ⊢ x}", vector(0, 1, 30), "structured"),
    ("{{z←1J1×⍵ ⋄ |z*2.5}⍣3 ⊢ ⍵}", vector(0, 1, 30), "structured"),
    ("{{⍵+0.1×+/(⍵>0.5)/⍵}⍣3 ⊢ ⍵}", vector(0, 1, 30), "compress"),
    ("{x←⍵ ⋄ {⍵+⍺×+/(x>0.2×⍺)/x}⍣(⍳≢x) ⊢ 0.0}", vector(0, 1, 30), "compress"),
    ("{x←⍵ ⋄ {+/{⍵÷1+≢⍵}(x>⍵)/x}¨x}", vector(0, 1, 30), "compress"),
    ("{{⍵÷1+≢∪⌊⍵×10}⍣3 ⊢ ⍵}", vector(0, 1, 30), "first_occurrence"),
    ("{{⍵-0.1×⍵∊2↑⍵}⍣3 ⊢ ⍵}", vector(2, 30), "member_of"),
    ("{{+\\⍵}⍣3 ⊢ ⍵}", vector(0, 1, 300), "scan"),
    ("{x←⍵ ⋄ {⍵++/(⍺↑x)[⍋⍺↑x]}⍣(⍳≢x) ⊢ 0.0}", vector(0, 1, 30), "sort"),
    ("{{⍵+0.1×(⍵×2)⌹((⍳≢⍵)∘.=⍳≢⍵)+⍵∘.×⍵}⍣3 ⊢ ⍵}", vector(1, 2, 14), "solve"),
    ("{{⍵⌹1 2∘.+⍵}⍣3 ⊢ ⍵}", vector(2), "solve"),
    ("{{(1⌽⍵)⌹(0×⍵)∘.×⍵}⍣3 ⊢ ⍵}", vector(4), "solve"),
    ("{x←⍵ ⋄ {⍵+((1+⍺×⍺)↑x)+.×(1+3×⍺)↑x}⍣(⍳≢x) ⊢ 0.0}", vector(0, 1, 2, 30), "nonetype"),
    ("{x←⍵ ⋄ {⍵+((1+⍺×⍺)↑x)+.×(1+3×⍺)↑x}⍣(3×⍳2) ⊢ 0.0}", vector(30), "nonetype"),
    ("{{⍵×3+.×{⍵[⍋⍵]}3↑⍵}/⍵}", vector(3, 30), "sort"),
    ("{v←⍵ ⋄ {k←⌊⍵ ⋄ (k>0)¿(⍵+1⊃⍋⍵+⍳3 ⋄ ⍵)}⍣9 ⊢ 0.5}", vector(3), "grade"),
]
"""What a region calls: text, arguments, and one of the routines."""

REFUSED: list[tuple[str, Make, str]] = []
"""Text, argument, and what `rho plan` says of what is no region."""
