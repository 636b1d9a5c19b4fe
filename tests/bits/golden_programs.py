"""The programs whose bits are kept, and the inputs they share.

Inputs are made by Python's own generator of random bits, so that no version of NumPy moves them.  A program is one line; how
close its results must come to the golden ones is `Close`.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np


class Close(Enum):
    """How close a result must be; the letter stands in the golden file."""

    EXACT = "="
    UNITS = "u"
    """Each item within 8 units in the last place (docs/kernels.md has smaller bounds of each function): mathematics."""
    NORM = "n"
    """Within 1e¯11 (binary32: 1e¯5) of the largest item: sums of products, transforms, factorisations."""


@dataclass(frozen=True)
class Program:
    text: str
    close: Close = Close.EXACT

    def inputs(self) -> dict[str, Any]:
        words = set(re.findall(r"[A-Za-z]\w*", re.sub(r"'[^']*'", "", self.text)))
        return {name: value for name, (_, value) in INPUTS.items() if name in words}

    def source(self) -> str:
        declared = [f"input {name} : {INPUTS[name][0]}" for name in self.inputs()]
        return "\n".join([*declared, *self.text.split(" ⋄⋄ ")])


def _floats(name: str, *shape: int) -> Any:
    draw = random.Random(f"floats {name}")

    def item() -> float:
        return draw.choice((-1, 1)) * math.ldexp(1 + draw.getrandbits(52) / 2**52, draw.randint(-3, 3))

    return np.array([item() for _ in range(math.prod(shape))], np.float64).reshape(shape)


def _integers(name: str, low: int, high: int, *shape: int) -> Any:
    draw = random.Random(f"integers {name}")
    return np.array([low + draw.getrandbits(80) % (high - low + 1) for _ in range(math.prod(shape))]).reshape(shape)


_TINY = 5e-324
SPECIAL = np.array(
    [math.nan, 0.0, -0.0, math.inf, -math.inf, _TINY, -_TINY, 2.2250738585072014e-308, 1.7976931348623157e308, -1.5, 1.0,
     -1.0, 0.5, 2.0, 3.0, 1e-5, -7.25, 1e17]
)  # fmt: skip
EDGES = np.array([0, 1, -1, 2, -2, 7, -10, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 3, 255], np.int64)


def _complex(name: str, *shape: int) -> Any:
    return _floats(name, *shape) + 1j * _floats(name + "i", *shape)


def _text(name: str, *shape: int) -> Any:
    draw = random.Random(f"text {name}")
    return np.array([draw.choice("abc é⍳A") for _ in range(math.prod(shape))], "U1").reshape(shape)


def _permutation(name: str, n: int) -> Any:
    draw = random.Random(f"order {name}")
    return np.array(sorted(range(n), key=lambda _: draw.getrandbits(60)))


_PAIRED = np.array([(x, y) for x in SPECIAL for y in SPECIAL])
_PAIRED_EDGES = np.array([(x, y) for x in EDGES for y in EDGES])
POSITIVE = np.array([[4.0, 1, 0.5, 0], [1, 5, 1, 0.25], [0.5, 1, 6, 1], [0, 0.25, 1, 3]])
INPUTS: dict[str, tuple[str, Any]] = {
    "x": ("f64[9]", _floats("x", 9)), "y": ("f64[9]", np.abs(_floats("y", 9))), "A": ("f64[5 7]", _floats("A", 5, 7)),
    "B": ("f64[7 4]", _floats("B", 7, 4)), "C": ("f64[5 7]", _floats("C", 5, 7)), "T": ("f64[3 4 5]", _floats("T", 3, 4, 5)),
    "s": ("f64", np.array(0.7251)), "v": ("f64[18]", SPECIAL), "v0": ("f64[324]", _PAIRED[:, 0].copy()),
    "v1": ("f64[324]", _PAIRED[:, 1].copy()), "E": ("f64[0 3]", np.zeros((0, 3))), "F": ("f64[3 0]", np.zeros((3, 0))),
    "P": ("f64[4 4]", POSITIVE), "x4": ("f32[9]", _floats("x4", 9).astype(np.float32)),
    "A4": ("f32[5 7]", _floats("A4", 5, 7).astype(np.float32)), "B4": ("f32[7 4]", _floats("B4", 7, 4).astype(np.float32)),
    "v4": ("f32[9]", np.array([math.nan, 0, -0.0, math.inf, -math.inf, 1e-45, 3e38, -1.5, 2], np.float32)),
    "i": ("i64[9]", _integers("i", -50, 50, 9)), "I": ("i64[5 7]", _integers("I", -9, 9, 5, 7)), "k": ("i64[14]", EDGES),
    "k0": ("i64[196]", _PAIRED_EDGES[:, 0].copy()), "k1": ("i64[196]", _PAIRED_EDGES[:, 1].copy()),
    "j": ("i32[9]", _integers("j", -(2**31), 2**31 - 1, 9).astype(np.int32)),
    "J": ("i32[5 7]", _integers("J", -999, 999, 5, 7).astype(np.int32)),
    "u": ("u8[9]", _integers("u", 0, 255, 9).astype(np.uint8)),
    "U": ("u8[5 7]", _integers("U", 0, 255, 5, 7).astype(np.uint8)), "b": ("bool[9]", _integers("b", 0, 1, 9).astype(bool)),
    "M": ("bool[5 7]", _integers("M", 0, 1, 5, 7).astype(bool)), "z": ("c128[9]", _complex("z", 9)),
    "Z": ("c128[5 7]", _complex("Z", 5, 7)), "z4": ("c64[9]", _complex("z4", 9).astype(np.complex64)),
    "t": ("char[9]", _text("t", 9)), "S": ("char[5 7]", _text("S", 5, 7)), "p": ("idx<9>[9]", _permutation("p", 9)),
    "q": ("idx<5>[9]", _integers("q", 0, 4, 9)), "L": ("f64[20000]", _floats("L", 20000)),
    "LI": ("i64[9999]", _integers("LI", -9, 999, 9999)),
    "W": ("f64[120 90]", _floats("W", 120, 90)), "W4": ("f32[120 90]", _floats("W4", 120, 90).astype(np.float32)),
}  # fmt: skip


def programs() -> Iterator[Program]:
    """All of them, each once."""
    seen: set[str] = set()
    for part in (_monadic, _dyadic, _folds, _structure, _searches, _operators, _library, _phrases):
        for program in part():
            if program.text not in seen:
                seen.add(program.text)
                yield program


def _each(text: str, names: str) -> str:
    """The same of several inputs, one result each."""
    return " ⋄⋄ ".join(text.replace("$", name) for name in names.split())


def _monadic() -> Iterator[Program]:
    for glyph in "+-×|÷√":
        yield Program(_each(f"{glyph}$", "v A E s"))
        yield Program(_each(f"{glyph}$", "v4 A4"))
        yield Program(_each(f"{glyph}$", "k i j u b"), Close.UNITS if glyph == "√" else Close.EXACT)
        yield Program(_each(f"{glyph}$", "z Z z4"), Close.UNITS if glyph in "×|÷√" else Close.EXACT)
    for glyph in "⌊⌈":
        yield Program(_each(f"{glyph}$", "x A T E F x4 k u"))
        yield Program(_each(f"{glyph}$", "z"))
    for function in ("*", "⍟", "○", "1○", "2○", "3○", "5○", "6○", "7○", "¯1○", "¯2○", "¯3○", "¯5○", "¯6○", "¯7○", "⎕erf",
                     "⎕erfc", "⎕expm1", "⎕log1p"):  # fmt: skip
        yield Program(_each(f"{function} $", "v x A E"), Close.UNITS)
        yield Program(_each(f"{function} $", "v4 A4"), Close.UNITS)
    for function in ("0○", "4○", "8○", "9○", "10○", "11○", "12○", "!", "⎕lgamma", "⎕digamma"):
        yield Program(_each(f"{function} $", "v x y A E"), Close.EXACT)
    yield Program(_each("!$", "i u v4"))
    yield Program("~b ⋄⋄ ~M ⋄⋄ ~0⍴b")
    for kind in ("f64", "f32", "i64", "c128", "c64"):
        yield Program(_each(f"{kind} $", "b u j" + ("" if kind == "i64" else " k v4 x4")))
    yield Program("i64 t ⋄⋄ char 97+⍳5 ⋄⋄ u8 b ⋄⋄ i32 u")


def _dyadic() -> Iterator[Program]:
    for glyph in ("+", "-", "×", "÷", "⌊", "⌈", "|", "<", "≤", "=", "≥", ">", "≠"):
        yield Program(f"v0{glyph}v1 ⋄⋄ A{glyph}C ⋄⋄ s{glyph}T ⋄⋄ E{glyph}E")
        yield Program(f"k0{glyph}k1 ⋄⋄ i{glyph}u ⋄⋄ j{glyph}u ⋄⋄ u{glyph}u[p] ⋄⋄ b{glyph}i ⋄⋄ 3{glyph}J")
        yield Program(f"v4{glyph}x4 ⋄⋄ A4{glyph}2 ⋄⋄ x4{glyph}u ⋄⋄ x4{glyph}x ⋄⋄ i{glyph}x4")
        if glyph in "+-×÷=≠":
            yield Program(f"z{glyph}z[p] ⋄⋄ z4{glyph}z4[p] ⋄⋄ x{glyph}z", Close.UNITS if glyph == "÷" else Close.EXACT)
    for glyph in "=≠":
        yield Program(f"t{glyph}t[p] ⋄⋄ S{glyph}'a' ⋄⋄ t{glyph}i ⋄⋄ b{glyph}b[p]")
    for glyph in "∧∨⍲⍱":
        yield Program(f"b{glyph}b[p] ⋄⋄ M{glyph}0=M ⋄⋄ (0⍴b){glyph}0⍴b")
    yield Program("k0∨k1 ⋄⋄ i∨u ⋄⋄ u∨u[p]")
    yield Program("i∧u ⋄⋄ u∧u[p] ⋄⋄ 12∧I")
    for text in ("x*2", "x*3 ⋄⋄ x4*2 ⋄⋄ i*3 ⋄⋄ u*2", "k*5 ⋄⋄ j*2", "2√y ⋄⋄ 2√v"):
        yield Program(text, Close.UNITS)
    for text in ("y*x", "v0*v1", "y*0.3", "x4*1.5", "2⍟y", "10⍟y", "y⍟y[p]", "3√y", "z*2 ⋄⋄ z*0.5"):
        yield Program(text, Close.UNITS)
    yield Program("2!i ⋄⋄ (⍳6)∘.!⍳6 ⋄⋄ 2.5!y")
    yield Program("b ¿ (x ⋄ y) ⋄⋄ M ¿ (A ⋄ 0) ⋄⋄ b ¿ (t ⋄ '-')")
    yield Program("x≡x ⋄⋄ v≡v ⋄⋄ t≢t ⋄⋄ A≡C ⋄⋄ E≡F")


def _folds() -> Iterator[Program]:
    for glyph in "+×⌊⌈-":
        for operator in ("/", "⌿", "\\", "⍀"):
            yield Program(_each(f"{glyph}{operator}$", "A T W x4 v A4"))
            yield Program(_each(f"{glyph}{operator}$", "i I k J U"))
    yield Program(_each("+/$", "L LI E F M b u z Z z4"))
    yield Program(_each("×/$", "x E F b") + " ⋄⋄ +\\L")
    yield Program("⌈\\L ⋄⋄ ⌊/L ⋄⋄ ⌈/LI ⋄⋄ +\\LI ⋄⋄ ×\\i")
    yield Program("÷/x ⋄⋄ ÷\\y ⋄⋄ -\\L ⋄⋄ ÷⌿A")
    for glyph in "∧∨≠=":
        yield Program(f"{glyph}/M ⋄⋄ {glyph}⌿M ⋄⋄ {glyph}\\M ⋄⋄ {glyph}\\b ⋄⋄ {glyph}/0⍴b")
    for glyph in "<≤⍲":
        yield Program(f"{glyph}/M ⋄⋄ {glyph}\\M" if glyph != "⍲" else "⍲/M ⋄⋄ ⍲\\M")
    yield Program("3 +/x ⋄⋄ 2 -/x ⋄⋄ 4 ⌈/A ⋄⋄ 9 +/x ⋄⋄ 2 ×/i")
    yield Program("+/T ⋄⋄ +⌿T ⋄⋄ +/+/T ⋄⋄ +/,T ⋄⋄ +/⍉T")
    yield Program("+/W4 ⋄⋄ +⌿W4 ⋄⋄ ⌈/W4 ⋄⋄ +/,W4 ⋄⋄ +\\W4")


def _structure() -> Iterator[Program]:
    names = ("A", "I", "M", "S", "Z", "U", "A4", "J")
    for name in names:
        yield Program(f",{name} ⋄⋄ ⍪{name} ⋄⋄ ⍉{name} ⋄⋄ ⌽{name} ⋄⋄ ⊖{name} ⋄⋄ ⍴{name} ⋄⋄ ≢{name}")
        yield Program(f"3↑{name} ⋄⋄ ¯2↑{name} ⋄⋄ 8↑{name} ⋄⋄ 2 ¯3↓{name} ⋄⋄ 1↓{name} ⋄⋄ 0 0↑{name}")
        yield Program(f"2⌽{name} ⋄⋄ ¯1⊖{name} ⋄⋄ 7 5⍴{name} ⋄⋄ 3 _⍴,0 0↓¯1↓1⌽5 6↑{name} ⋄⋄ {name},{name} ⋄⋄ {name}⍪{name}")
        yield Program(f"{name}[2;] ⋄⋄ {name}[;1 3] ⋄⋄ {name}[4 0;⍳3] ⋄⋄ 2⌷{name} ⋄⋄ ⊃{name}")
        yield Program(f"1 0 1 1 0⌿{name} ⋄⋄ 2 0 1 3 1⌿{name} ⋄⋄ 1 0 1 1 1 0 1 1 0 1/{name}[;0 1 2 0 4 5 6 3 2 1]")
    yield Program("b/x ⋄⋄ b/t ⋄⋄ (x>0)/x ⋄⋄ b/p")
    yield Program("x[p] ⋄⋄ x[q] ⋄⋄ A[q;] ⋄⋄ p[p] ⋄⋄ t[p] ⋄⋄ A[q;0]")
    yield Program("1 0 1 1\\3↑x ⋄⋄ 1 0 1\\2↑t")
    yield Program("1 2 0⍉T ⋄⋄ 0 0⍉P ⋄⋄ 2 1 0⍉T ⋄⋄ 0 1 0⍉3 4 3⍴T")
    yield Program("⍳7 ⋄⋄ ⍳2 3 ⋄⋄ 2 3⍴⍳6 ⋄⋄ ⍳0 ⋄⋄ ⍬ ⋄⋄ ''")
    yield Program("3↕x ⋄⋄ 2↕A ⋄⋄ 2 3↕A ⋄⋄ 2↕t")
    yield Program("[x ⋄ y] ⋄⋄ [1 2 ⋄ 3 4]")
    yield Program("E⍪E ⋄⋄ ⍉E ⋄⋄ ,F ⋄⋄ 2↑E ⋄⋄ ⌽F")
    yield Program("(3 _⍴x)⍪1 ⋄⋄ 0,x ⋄⋄ x,0 ⋄⋄ 'a',t ⋄⋄ b,i")


def _searches() -> Iterator[Program]:
    for name in ("x", "v", "i", "k", "j", "u", "b", "t", "x4", "v4"):
        yield Program(f"⍋{name} ⋄⋄ ⍒{name} ⋄⋄ {name}[⍋{name}] ⋄⋄ ∪{name} ⋄⋄ ≠{name}")
        yield Program(f"{name}⍳{name}[⌽⍳≢{name}] ⋄⋄ {name}∊3↑{name} ⋄⋄ {name}~2↑{name} ⋄⋄ {name}∩4↑{name} ⋄⋄ (3↑{name})∪{name}")
    for name in ("A", "I", "S", "U"):
        yield Program(f"⍋{name} ⋄⋄ ∪{name} ⋄⋄ {name}⍳{name}[3 1;] ⋄⋄ ≠{name}⍪{name}")
    yield Program("⍸b ⋄⋄ ⍸M ⋄⋄ (⍳5)⍸i ⋄⋄ (y[⍋y])⍸x ⋄⋄ ⍸0⍴b")
    yield Program("'a '⍷t ⋄⋄ 1 0⍷b ⋄⋄ (2 2⍴M)⍷M")
    yield Program("'éabc'⍋t ⋄⋄ ⊃⍋x ⋄⋄ ⊃⍒i ⋄⋄ ⍋L[⍳500] ⋄⋄ ⍋⍋x")
    yield Program("LI⍳⍳50 ⋄⋄ ≢∪LI ⋄⋄ ⍋LI ⋄⋄ (⍳100)∊LI")


def _operators() -> Iterator[Program]:
    for text in (
        "x∘.-y ⋄⋄ x∘.≤y ⋄⋄ i∘.|u ⋄⋄ t∘.=t", "A⌈.+B ⋄⋄ I⌊.×⍉I ⋄⋄ M∨.∧⍉M", "5 +⌸ (q ⋄ x) ⋄⋄ 5 +⌸ (q ⋄ 1) ⋄⋄ 5 ×⌸ (q ⋄ i)",
        "{+/⍵×⍵}⌺3 ⊢ x ⋄⋄ ({+/,⍵}⌺3 3)A ⋄⋄ ({⌈/,⍵}⌺3 3)I", "{0.5×⍵+1÷⍵}⍣20 ⊢ 3.0 ⋄⋄ {⍵×1.01}⍣\\8 ⊢ x", "{⍵+1}⍣(50 ⋄ {⍵>20}) ⊢ 3",
        "{(+/⍵)÷≢⍵}⍤1 ⊢ A ⋄⋄ {⌈/⍵}˘A ⋄⋄ {+/⍵}⍤2 ⊢ T", "A -⍤1 ⊢ 7↑x ⋄⋄ (5↑x)×A ⋄⋄ T+⍤2 ⊢ 4 5⍴x", "{⍵>0 : ⍵ ⋄ -⍵}¨x ⋄⋄ {⍵×2}¨i",
        "-@1 3 ⊢ x ⋄⋄ 0@(x>0) ⊢ x ⋄⋄ 9@2 ⊢ i", "(+/÷≢)x ⋄⋄ (⊢-⌊/)y ⋄⋄ (⌽≡⊢)t", "+⍨x ⋄⋄ x-⍨y ⋄⋄ 2∘×x ⋄⋄ (|∘-)x ⋄⋄ x(+⍥|)y",
        "{⍺+2×⍵}/x ⋄⋄ {⍺+0.5×⍵}\\x ⋄⋄ {⍺⌈⍵}⌿A", "f ← {⍵≤1 : 1.0 ⋄ ÷⍵} ⋄⋄ f¨y", "{(⌽⍵)+⍵}⍣5 ⊢ x ⋄⋄ {(1⌽⍵)-⍵}⍣4 ⊢ i ⋄⋄ {~⍵}⍣3 ⊢ b",
        "{⍵+{3÷⍵}⍵}⍣6 ⊢ s ⋄⋄ {0.25×(1⌽⍵)+(¯1⌽⍵)+(1⊖⍵)+¯1⊖⍵}⍣9 ⊢ A", "a ← x ⋄⋄ a[2 5]←0 1 ⋄⋄ a ⋄⋄ a +← 1 ⋄⋄ a",
        "∘.×⍨⍳6 ⋄⋄ +\\⍤1 ⊢ A ⋄⋄ ⌽¨x",
        "{⍋⍵}⍤1 ⊢ A ⋄⋄ {⌈\\⍵}⍤1 ⊢ I ⋄⋄ {∧/⍵}⍤1 ⊢ M", "+\\⍣3 ⊢ x ⋄⋄ ×\\⍣2 ⊢ y",
    ):  # fmt: skip
        yield Program(text)


def _library() -> Iterator[Program]:
    yield Program("10⊥i ⋄⋄ 2⊥b ⋄⋄ 24 60⊥1 40 ⋄⋄ 10⊥u ⋄⋄ 0.5⊥x")
    yield Program("10 10 10⊤i ⋄⋄ (8⍴2)⊤u ⋄⋄ 0 60 60⊤k ⋄⋄ 10 10⊤¯9223372036854775807 ⋄⋄ 3 0.5⊤x")
    yield Program("7?3 4 ⋄⋄ 8?,5 ⋄⋄ 9?20 30")
    yield Program("⍕1700000000123 ⋄⋄ ⍕i ⋄⋄ ⍕s ⋄⋄ ⍕x ⋄⋄ ⍕A ⋄⋄ ⍕b")
    yield Program("⍕k ⋄⋄ ⍕v ⋄⋄ ⍕z[⍳2] ⋄⋄ ⍕I")
    yield Program("↑'ab' 'cde' 'f' ⋄⋄ ⎕A ⋄⋄ ⎕D")
    for text in ("A+.×B", "A4+.×B4", "Z+.×⍉Z", "3 5↑W+.×⍉W", "x+.×y ⋄⋄ A+.×7↑x ⋄⋄ (5↑x)+.×A", "T+.×⍤2 2 ⊢ 3 5 2⍴x", "P⌹⍨4↑x",
                 "⌹P", "⌹A[;0 1]", "⎕det P"):  # fmt: skip
        yield Program(text, Close.NORM)
    yield Program("I+.×⍉I ⋄⋄ U+.×⍉U ⋄⋄ M+.×⍉M ⋄⋄ J+.×⍉J ⋄⋄ (9 1⍴k[⍳9])+.×1 9⍴k[⍳9]")
    for text in ("⎕fft x ⋄⋄ ⎕ifft z ⋄⋄ ⎕fft A", "⎕rfft x ⋄⋄ ⎕irfft z[⍳5] ⋄⋄ ⎕fft z4", "⎕cholesky P",
                 "(a c) ← ⎕qr A ⋄⋄ a ⋄⋄ c", "(a c d) ← ⎕svd A ⋄⋄ a ⋄⋄ c ⋄⋄ d",
                 "(a c) ← ⎕eigh P ⋄⋄ a ⋄⋄ c"):  # fmt: skip
        yield Program(text, Close.NORM)


def _phrases() -> Iterator[Program]:
    for text, close in (
        ("{e ← *⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ A", Close.UNITS), ("3↑{e ← *⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ W", Close.UNITS), ("(+/L)÷≢L", Close.EXACT),
        ("{m ← (+/⍵)÷≢⍵ ⋄ (+/(⍵-m)*2)÷≢⍵}L", Close.UNITS), ("3↑{(⍵-(+/⍵)÷≢⍵)÷√(+/⍵×⍵)÷≢⍵}⍤1 ⊢ W", Close.UNITS),
        ("{n ← ({+/,⍵}⌺3 3)i64 ⍵ ⋄ (3=n)∨⍵∧4=n}⍣3 ⊢ M", Close.EXACT),
        ("⊃⍋+/(A-⍤1 ⊢ A[2;])*2", Close.EXACT), ("+/L×L>0", Close.EXACT), ("+/0.5×(1↓L)+¯1↓L", Close.EXACT),
        ("⌈/|L-⌽L", Close.EXACT), ("×/1+÷y", Close.EXACT), ("L[⍋L][10000]", Close.EXACT), ("(⌊/L),(⌈/L),+/L>1", Close.EXACT),
        ("W4×2 ⋄⋄ 1+W4 ⋄⋄ W4÷3", Close.EXACT), ("+/1○L", Close.NORM), ("√+/W×W", Close.UNITS), ("(W×2)+⌽W ⋄⋄ W-⍉⍉W", Close.EXACT),
        ("0⌈W ⋄⋄ (W>0)×W ⋄⋄ |W", Close.EXACT), ("L+LI[0] ⋄⋄ LI|⍨7 ⋄⋄ 1000|LI×LI", Close.EXACT), ("+\\L×0.5", Close.EXACT),
        ("{⍵+0.1×(1⌽⍵)-⍵}⍣10 ⊢ L", Close.EXACT), ("(⍳100)∘.×⍳100", Close.EXACT), ("+/⍳1000 ⋄⋄ ×/1+⍳20", Close.EXACT),
    ):  # fmt: skip
        yield Program(text, close)
