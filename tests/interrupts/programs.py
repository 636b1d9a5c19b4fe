"""Programs of every kind of phase that run for longer than anybody waits; none needs more than 2 GB."""

from __future__ import annotations

from typing import Final

PROGRAMS: Final[dict[str, str]] = {
    "a map": "{⌈/√1○⍵+⍳3000000}⍣100000 ⊢ 0.5",
    "a map of a matrix": "+/{1○⍵}⍣100000 ⊢ √⍳2000000",
    "one reduction": "+/1○√⍳10000000000",
    "one reduction, exact": "⌈/1○√⍳10000000000",
    "one reduction of few rows": "⌈/+/1○(⍳3)∘.×⍳2000000000",
    "one reduction of columns": "+/+⌿1○(⍳100000)∘.×⍳100000",
    "one reduction of rows": "⌈/+/1○(⍳100000)∘.×⍳100000",
    "a windowed reduction": "+/{⍵+0.001×⌈/1000 +/⍵}⍣100000 ⊢ √⍳1000000",
    "a scan": "+/{(+\\⍵)÷1+⌈/⍵}⍣100000 ⊢ √⍳2000000",
    "a sort": "+/{⍵[⍋1○⍵]}⍣100000 ⊢ √⍳1000000",
    "distinct items": "{(≢∪⌊1000×1○⍵+⍳1000000)÷7.0}⍣100000 ⊢ 0.5",
    "a selection": "{+/(0<1○⍵+v)/v}⍣100000 ⊢ 0.5 ⊣ v←√⍳2000000",
    "a product": "+/+/{⍵+.×⍵}⍣100000 ⊢ 0.001×1○√1500 1500⍴⍳2250000",
    "an inner product": "+/+/{⍵⌊.+⍵}⍣100000 ⊢ 1○√600 600⍴⍳360000",
    "a loop of scalars": "{1|0.37+⍵×3.7}⍣100000000000 ⊢ 0.0",
    "a loop of small arrays": "+/{⍵[⍋⍵]+1}⍣100000000 ⊢ 1○⍳30",
    "each": "+/{+/1○√⍵+⍳100000}¨ √⍳1000000",
    "each row": "+/({⍵[⍋⍵]}⍤1 ⊢ 1○√100000 1000⍴⍳1000)[;0]",
    "a stencil": "+/{(1⌽⍵)+¯1⌽⍵×0.4}⍣100000000 ⊢ √⍳100000",
    "LAPACK": "a ← (⍳2400)∘.×1○⍳2400 ⋄ (values vectors) ← ⎕eigh a+⍉a ⋄ +/values",
    "a solution": "+/+/{⌹⍵}⍣1000 ⊢ 1○√2000 2000⍴⍳4000000",
    "an FFT": "+/{| ⎕fft ⍵}⍣100000 ⊢ 1○√⍳1000003",
    "encoding": "+/,(⍳1000000)⊤5",
}
