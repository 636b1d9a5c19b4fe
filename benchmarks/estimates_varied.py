"""Programs of many kinds for `estimates.py --set fourth`, which served to find faults of the cost model, and `--set fifth`, which
was first run when the model was finished; in the notation of `estimates.PROGRAMS`."""

from __future__ import annotations

FOURTH_SIZES = (80_000, 700_000)

FOURTH: tuple[tuple[str, str], ...] = (
    ("x:f64 y:f64", "(x-y)×(x+y)÷2"), ("x:f64", "*-x×x"), ("x:f64", "(x-⌊x×8)×8"), ("x:f32 y:f32", "√(x×x)+y×y"),
    ("i:i64 j:i64", "(i+j)-i⌊j"), ("i:i64", "i×0=2|i"), ("m:bool k:bool", "(m∨k)∧~m∧k"), ("x:f64 y:f64", "+/0<x-y"),
    ("A:f64r", "⌈⌿A"), ("A:f64r", "(+⌿A×A)÷≢A"), ("A:f64r", "(⌊/A)-⍤0 1⊢A"), ("S:f64s", "S⌈⍉S"), ("S:f64s", "⌽S"),
    ("x:f64", "⌊\\x"), ("x:f64", "(+\\x)÷1+⍳≢x"), ("i:i64", "⍒i"), ("i:i64", "(i>5)⌿i"), ("x:f64", "⍸x>0.7"),
    ("x:f64 y:f64", "x,y,x"), ("x:f64", "(100↓x)×2"), ("i:i64", "i∊3 7 11 200"), ("i:i64 x:f64", "32+⌸(32|i ⋄ 2×x)"),
    ("S:f64s T:f64s", "S+.×⍉T"), ("S:f64s v:f64q", "(⍉S)+.×v"), ("x:f64", "{⍵+0.01×⍵×1-⍵}⍣40⊢x"), ("A:f64r", "A[;⍳100]×2"),
    ("S:f64s", "{0.25×(1⌽⍵)+(¯1⌽⍵)+(1⊖⍵)+¯1⊖⍵}⍣12⊢S"), ("i:i64", "8 8 8 8⊤i"), ("x:f64", "(0.25 0.5 0.75)⍸x"),
    ("A:f64r", "{⍵÷√+/⍵×⍵}⍤1⊢A"), ("z:c128 w:c128", "(z×w)-z"), ("x:f64", "(⌽x)+x"),
)  # fmt: skip

FIFTH_SIZES = (60_000, 900_000)

FIFTH: tuple[tuple[str, str], ...] = (
    ("x:f64 y:f64", "(x×0.3)+y×0.7"), ("x:f64", "÷√1+x×x"), ("x:f64 y:f64", "¯3○x-y"), ("x:f64", "⍟1+*x"),
    ("x:f32", "(x×x)-0.5"), ("i:i64 j:i64", "(i-j)×i-j"), ("i:i64", "10|i×7"), ("m:bool k:bool", "m=k"),
    ("x:f64", "+/x<0.25"), ("x:f64 y:f64", "⌊/x+y"), ("i:i64 j:i64", "+/i×j"), ("A:f64r", "⌊/A"), ("A:f64r", "+⌿A>0.5"),
    ("A:f64r", "A-⍤1⊢⌈⌿A"), ("S:f64s", "(⍉S)×S"), ("x:f64", "+\\x×x"), ("i:i64", "⌈\\i"), ("x:f64", "x[⍋-x]"),
    ("m:bool x:f64", "m⌿x×2"), ("m:bool", "⍸~m"), ("i:i64", "⌽i"), ("x:f64 y:f64", "(x×2),y"), ("i:i64 j:i64", "j⍳i"),
    ("i:i64 x:f64", "500+⌸(500|i ⋄ x×x)"), ("S:f64s T:f64s", "(S+.×T)-S"), ("S:f64s v:f64q", "√+/(S+.×v)*2"),
    ("x:f64", "{√1+⍵}⍣15⊢x"), ("S:f64s", "{0.5×⍵+1⊖⍵}⍣10⊢S"), ("x:f64", "(x-¯1⌽x)*2"), ("A:f64r", "{(⌈/⍵)-⌊/⍵}⍤1⊢A"),
    ("z:c128", "z÷1+|z"), ("x:f64", "(x×x)÷+/x×x"), ("v:f64q w:f64q", "v∘.⌈w"),
)  # fmt: skip
