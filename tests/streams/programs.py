"""Programs whose inputs are streamed, with the data they are run on.

Each reads `x` (numbers), `y` and `k` (as long as `x`), `m` (a matrix), `c` (matrices) or `g` (as long as those); all of
them must stream where `limit` bytes are allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

DIVIDED = 786_432
"""Items whose rows divide into tiles."""


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    limit: int = 4_000_000
    passes: int = 1
    divided: int | None = None
    """Passes of `DIVIDED` items, if others: what another pass would make again is not collected for it, though it is small."""


_X = "input x : f64[n] where n ≥ 8\n"
_I = "input i : i64[n] where n ≥ 8\n"
_XY = "input x : f64[n] where n ≥ 8\ninput y : f64[n]\n"
_XK = _X + "input k : idx<40>[n]\n"
_M = "input m : f64[n 12] where n ≥ 8\n"
_MEANS = """nearest ← {⊃⍋⍵}⍤1
label ← {nearest {+/(m (-⍤1⍤1 2) ⍵)*2} ⍵}
step ← {l ← label ⍵ ⋄ (3 +⌸ (l ⋄ m))÷1⌈3 +⌸ (l ⋄ 1)}
centres ← step⍣3 ⊢ (3 (⌊(≢m)÷3) 12⍴m)[;0;]
l ← label centres
output l
centres"""

CASES = (
    Case("sum", _X + "+/x"),
    Case("hypotenuse", _X + "+/(1+x×x)*0.5"),
    Case("several", _X + "+/x\n⌈/x\n⌊/|x\n×/1+x÷1e6"),
    Case("two inputs", _XY + "+/x×y\n+/x>y"),
    Case("converted", "input f : f32[n] where n ≥ 8\n+/f\n⌈/f×2"),
    Case("integers", _I + "+/i\n⌈/i\n+/i×i"),
    Case("variance", _X + "c ← (+/x)÷≢x\n(+/(x-c)*2)÷≢x", passes=2),
    Case("standardised", _X + "c ← (+/x)÷≢x\ns ← ((+/(x-c)*2)÷≢x)*0.5\nz ← (x-c)÷s\noutput z\n+/z", passes=3),
    Case("written", _X + "z ← 1+x×x\noutput z"),
    Case("written twice", _XY + "a ← x+y\nb ← x×y\noutput a\noutput b\n+/a"),
    Case("differences", _X + "⌈/|(1↓x)-¯1↓x\n+/x"),
    Case("stencil", _X + "z ← ((2↓x)+(¯2↓x)-2×1↓¯1↓x)÷3\noutput z\n+/z×z"),
    Case("stencil of a stencil", _X + "a ← (1↓x)-¯1↓x\nb ← (1↓a)×¯1↓a\noutput b"),
    Case("places", _X + "+/x×⍳≢x\n+/x×⌽⍳≢x"),
    Case("parts", _X + "+/5↓x\n⌈/¯7↓x"),
    Case("reversed", _X + "z ← ⌽x\noutput z"),
    Case("rows of a matrix", _M + "r ← +/m\noutput r\n⌈/+/m×m"),
    Case("columns of a matrix", _M + "c ← +⌿m\noutput c\nc"),
    Case("all of a matrix", _M + "+/,m\n⌈/⌈/m", passes=2),
    Case("centred columns", _M + "c ← (+⌿m)÷≢m\nz ← m-(⍴m)⍴c\noutput z", passes=2),
    Case("softmax of rows", _M + "e ← *m-(⌈/m)∘.+12⍴0.0\np ← e÷(+/e)∘.+12⍴0.0\noutput p\n+/,p", passes=2),
    Case("product with a vector", _M + "w ← 0.5+⍳12\nz ← m+.×w\noutput z\n+/z"),
    Case("collected rows", _M + "r ← +/m\nr[⍋r][⍳5]"),
    Case("element-wise loop", _X + "z ← {⍵-0.1×⍵*3}⍣5 ⊢ x÷10\noutput z\n+/z"),
    Case("sums by key", _XK + "40 +⌸ (k ⋄ x)\n41 +⌸ (k ⋄ 1)\n40 ×⌸ (k ⋄ 1+x÷1e6)\n40 ∨⌸ (k ⋄ x>3)"),
    Case("rows by key", "input m : f64[n 12] where n ≥ 8\ninput g : idx<40>[n]\n41 +⌸ (g ⋄ m)\nc ← 41 +⌸ (g ⋄ 1)\nc"),
    Case("running sum", _X + "z ← +\\x\noutput z\n⌈/z"),
    Case("running greatest", _X + "z ← (⌈\\x)-⌊\\-x\noutput z\n+/z"),
    Case("running sums of columns", _M + "z ← +⍀m\noutput z", limit=6_000_000),
    Case("running sum of integers", _I + "z ← +\\i\noutput z\n+/0=2|z"),
    Case("drawdown", _X + "w ← +\\x\n⌈/(⌈\\w)-w"),
    Case("windows behind missing rows", "use rolling\n" + _X + "z ← 5 rolling.mean x\noutput z\n⌈/¯∞⌈(5 rolling.greatest x)"),
    Case("wide windows", "use rolling\n" + _X + "z ← 500 rolling.mean x\noutput z\n⌈/¯∞⌈(100 rolling.greatest x)"),
    Case("shifted", "use series\n" + _X + "y ← 3 series.change x\noutput y\nz ← ¯2 series.shift x\noutput z", passes=3),
    Case("returns", "use series\n" + _X + "y ← series.returns x\noutput y\nz ← series.log_returns x\noutput z", passes=2),
    Case("deviations of windows", "use rolling\n" + _X + "z ← 5 rolling.deviation x\noutput z"),
    Case("the first and last rows of groups", "use group\ninput g : idx<40>[n]\ngroup.first g\ngroup.last g"),
    Case("averages that fall", "use series\n" + _X + "y ← 0.1 series.ema x\noutput y\nz ← 0.1 series.ewm x\noutput z"),
    Case("an average of a computed weight", _X + "use series\na ← 2÷1+⌈/x\nz ← a series.ema x\noutput z", passes=2),
    Case("the last that is there", "use missing\n" + _X + "z ← missing.forward (x>0.5)¿(x ⋄ ⎕nan)\noutput z"),
    Case(
        "the next that is there",
        "use missing\n" + _X + "z ← missing.backward (x>0.5)¿(x ⋄ ⎕nan)\noutput z\n+/x\n+/0<z\n+/(z=z)¿(z ⋄ 0)",
        passes=2,
    ),
    Case("scans from the end", _XY + "z ← ⌽⌊\\⌽x\noutput z\nw ← y+⌽{⍵+0.5×⍺}\\⌽x\noutput w\nv ← ⌽⌈\\⌽1↓x\noutput v"),
    Case("scans of two", _XY + "(a b) ← {(p q) ← ⍺ ⋄ (r s) ← ⍵ ⋄ (p+r×s ⋄ q⌈s-p)}\\(x ⋄ y)\noutput a\noutput b"),
    Case("scans of rows", _M + "z ← {⍵+0.5×⍺}⍀m\noutput z"),
    Case("joined", _XY + "z ← 0⍪x⍪2×y\noutput z\n+/z"),
    Case("joined with itself", _X + "y ← (x×2)⍪(3↓x)⍪x\noutput y\n⌈/y\n+/y>0"),
    Case("deviation", "use stats\n" + _X + "stats.deviation x\nz ← stats.standardise x\noutput z", passes=4),
    Case("a branch that sizes decide", _X + "z ← {100>≢⍵ : ⍵ ⋄ 2×⍵} x\noutput z"),
    Case("places of extremes", _X + "x⍳⌈/x\nx⍳⌊/x\n⌈/x"),
    Case("generated", _X + "+/x×⍳≢x\n+/⍳≢x\nz ← x×⌽⍳≢x\noutput z", passes=2),
    Case("transposed", _M + "z ← ⍉m\noutput z\nw ← 1+⍉2×m\noutput w"),
    Case("transposed rows of matrices", "input c : f64[n 3 4] where n ≥ 8\nz ← 1 2 0⍉c\noutput z\ny ← 1 0 2⍉c\noutput y"),
    Case("collected across", _M + "s ← 0 1∘.=1<+/m\n(⍋⍤1 ⊢ s)[;⍳5]\n+/,s", limit=8_000_000, divided=2),
    Case("columns multiplied", _M + "b ← 0.0+m>0.3\n(⍉b)+.×b\n(⍉2×b)+.×b[;⍳3]"),
    Case("integers multiplied", _M + "input g : idx<40>[n]\nb ← (g∘.=⍳40)×g∘.+⍳40\n(⍉b)+.×1+b"),
    Case("a pass a turn", _X + "m ← {⍵+0.5×(+/x-⍵)÷≢x}⍣5 ⊢ 0.0\nm\n+/x", passes=5),
    Case("no turns", _X + "{⍵+(+/x-⍵)÷≢x}⍣0 ⊢ 0.0\n+/x"),
    Case("turns in turns", _X + "{s ← ⍵ ⋄ {⍵+s×0.5×(+/x-⍵)÷≢x}⍣2 ⊢ ⍵}⍣3 ⊢ 1.0", passes=6),
    Case("a state of two", _X + "{⌽⍵+0.5×(+/x-⍵[0])÷≢x}⍣3 ⊢ 1 2.0", passes=3),
    Case("clusters", _M + _MEANS, passes=5),
    Case("places in rows", _M + "l ← {⊃⍋⍵}⍤1 ⊢ m\noutput l\n+/l"),
    Case("sorted", _X + "z ← x[⍋x]\noutput z\n+/x", passes=2),
    Case("sorted downwards", _I + "z ← i[⍒i]\noutput z", passes=2),
    Case("sorted and used", _X + "z ← (x×x)[⍋x×x]\n+/z×⍳≢z\n⌈/(1↓z)-¯1↓z", passes=2),
    Case("quantiles", "use stats\n" + _X + "0.9 stats.quantile x\n(0 0.25 0.5 1) stats.quantile -x", passes=5),
    Case(
        "computed places", _XY + "s ← ⌈/0⌈x⌊1\np ← 0⌈(n-1)⌊⌊((n-1)×s)×0.5×⍳3\ny[p]\ny[p[2]]\n(y>0)[p]", passes=3,
    ),
    Case("computed places of rows", _M + "s ← ⌈/⌈/m\np ← 0⌈(n-1)⌊⌊s×99×⍳3\nm[p]\n(⌊9×m)[2 2⍴p,p[1]]", passes=2),
    Case("grade", _X + "g ← ⍋x\noutput g", passes=2),
    Case("grade of few", _XK + "g ← ⍒k\noutput g\n+/2×g", passes=2),
    Case("grade of a comparison", _X + "g ← ⍋x>0\noutput g", passes=2),
    Case("two orders", _XY + "a ← x[⍋x]\nb ← y[⍒y]\n+/a×b\noutput a", passes=3),
    Case("compared", _XY + "∧/x≤y+1e9\n∨/x>1e9"),
)


def data(n: int, seed: int = 1) -> dict[str, Any]:
    """The inputs by name; `m` has a twelfth of the rows."""
    draw = np.random.default_rng(seed)
    return {
        "x": draw.standard_normal(n),
        "y": draw.standard_normal(n),
        "i": draw.integers(-1000, 1000, n),
        "f": draw.standard_normal(n).astype(np.float32),
        "k": draw.integers(0, 40, n),
        "g": draw.integers(0, 40, n // 12),
        "m": draw.standard_normal((n // 12, 12)),
        "c": draw.standard_normal((n // 12, 3, 4)),
    }
