"""Tables of functions, values and types by their names in Python, NumPy, JAX, R, MATLAB and Julia, with their spelling in Rho.

A spelling with a dotted name (`stats.median`) needs a `use` line, which the fix adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .equivalence_domains import RhoSpelling

PACKAGES: Final = ("np", "numpy", "math", "jnp", "jax", "torch", "scipy", "cmath", "statistics", "operator")
SUBPACKAGES: Final = ("numpy", "linalg", "fft", "special", "nn", "functional", "lax")
"""Subpackages whose functions have the meaning of their names; `scipy.stats` is not one (`scipy.stats.norm` is a
distribution)."""

CONSTANTS: Final[Mapping[str, str]] = {
    "True": "1", "False": "0", "true": "1", "false": "0", "pi": "○1", "inf": "∞", "Inf": "∞", "infinity": "∞",
    "newaxis": "", "None": "⎕nan", "nan": "⎕nan", "NaN": "⎕nan",
}  # fmt: skip
"""Constants of other languages."""

KINDS_OF_WORDS: Final[Mapping[str, str]] = {
    "float32": "f32", "float64": "f64", "float": "f64", "int32": "i32", "int64": "i64", "int": "i64", "bool": "bool",
    "uint8": "u8", "complex128": "c128", "complex": "c128",
}  # fmt: skip
"""Element types of other languages."""

NO_BOOL: Final = "ifg"
"""A domain of integers and floats: of truth values and u8 NumPy makes 16-bit floats here."""
_PRODUCT: Final = RhoSpelling("×/,", "bifgz", "+", "", [RhoSpelling("×/i64 ,", "u")])

MONADIC_FUNCTIONS: Final[Mapping[str, str]] = {
    "sum": RhoSpelling("+/,", "", "+"), "prod": _PRODUCT, "product": _PRODUCT,
    "mean": RhoSpelling("(+/÷≢),", "", "f"), "average": RhoSpelling("(+/÷≢),", "", "f"), "avg": RhoSpelling("(+/÷≢),", "", "f"),
    "max": RhoSpelling("⌈/,", "", "="), "amax": RhoSpelling("⌈/,", "", "="), "min": RhoSpelling("⌊/,", "", "="),
    "amin": RhoSpelling("⌊/,", "", "="), "len": "≢", "length": "≢", "shape": "⍴", "reshape": "⍴", "T": "⍉", "transpose": "⍉",
    "arange": RhoSpelling("⍳", "0 i", "i"), "range": RhoSpelling("⍳", "0 i", "i"), "print": "⎕←", "println": "⎕←",
    "abs": RhoSpelling("|", "if", "="), "sqrt": RhoSpelling("√", "ifgz", ""), "exp": RhoSpelling("*", NO_BOOL, "f"),
    "log": RhoSpelling("⍟", NO_BOOL, "f"), "ln": RhoSpelling("⍟", NO_BOOL, "f"), "floor": RhoSpelling("⌊", "", "="),
    "ceil": RhoSpelling("⌈", "", "="), "argsort": RhoSpelling("(⍋⍤1)", "123", "i"),
    "argmax": RhoSpelling("⊃⍒,", "bi | sure", "i", "NaN is the greatest and the least there"),
    "argmin": RhoSpelling("⊃⍋,", "bi | sure", "i", "NaN is the greatest and the least there"), "cumsum": RhoSpelling("+\\,", "",
    "+"),
    "cumprod": RhoSpelling("×\\,", "bifgz", "+", "", [RhoSpelling("×\\i64 ,", "u")]),
    "unique": RhoSpelling("sort.up ∪,", "bi | sure", "=", "several NaN are one there"),
    "ravel": ",", "flatten": ",", "reverse": RhoSpelling("⊖", "1", "=", "of a matrix all axes are reversed elsewhere"),
    "any": RhoSpelling("∨/0≠,", "", "b"), "all": RhoSpelling("∧/0≠,", "", "b"), "sin": RhoSpelling("1○", NO_BOOL, "f"),
    "cos": RhoSpelling("2○", NO_BOOL, "f"), "tan": RhoSpelling("3○", NO_BOOL, "f"), "array": "", "list": "", "asarray": "",
    "int": RhoSpelling("{(⌊⍵)+(⍵<0)∧⍵≠⌊⍵}", "0", "i"), "float": "f64 ",
    "str": RhoSpelling("⍕", "0 i ≥0", "c", "signs are `¯`, and floats without `.0`"),
    "round": RhoSpelling("{n←⌊⍵ ⋄ d←⍵-n ⋄ n+(0.5<d)∨(0.5=d)∧1=2|n}", NO_BOOL, "="),
    "sort": RhoSpelling("(sort.up⍤1) ", "123", "="),
    "sorted": RhoSpelling("sort.up ", "1", "="), "median": RhoSpelling("stats.median ,", "", "f"),
    "std": RhoSpelling("stats.deviation ,", "", "f"), "var": RhoSpelling("stats.variance ,", "", "f"),
    "zeros": RhoSpelling("0.0⍴⍨", "", "f"), "ones": RhoSpelling("1.0⍴⍨", "", "f"),
    "diff": RhoSpelling("2-⍨/", "123 if", "=", "of truth values it is `≠`"),
    "where": RhoSpelling("⍸", "1", "i", "there are positions for each axis there"),
    "nonzero": RhoSpelling("⍸", "1", "i", "there are positions for each axis there"), "inv": RhoSpelling("⌹", "2", "f"),
    "sign": RhoSpelling("×", "if", "="), "factorial": RhoSpelling("!", "0 i ≥0 ≤20", "i",
    "factorials beyond are no longer exact"),
    "slogdet": RhoSpelling("⎕slogdet ", "2"), "det": RhoSpelling("⎕det ", "2", "f"), "isnan": RhoSpelling("≠⍨", "",
    "b"),
    "size": "⍴", "numel": "×/⍴", "ndim": "≢⍴", "reversed": RhoSpelling("⊖", "123", "="), "flip": "{(⍴⍵)⍴⌽,⍵}",
    "flipud": RhoSpelling("⊖", "123", "="), "fliplr": RhoSpelling("⌽", "2", "="), "rot90": RhoSpelling("⊖⍉", "2", "="),
    "eye": RhoSpelling("f64 ∘.=⍨⍳", "0 i", "f"), "identity": RhoSpelling("f64 ∘.=⍨⍳", "0 i", "f"),
    "square": RhoSpelling("×⍨", "if", "="), "cbrt": RhoSpelling("{(×⍵)×(|⍵)*÷3}", NO_BOOL, "f"),
    "log2": RhoSpelling("2⍟", NO_BOOL, "f"),
    "log10": RhoSpelling("10⍟", NO_BOOL, "f"), "log1p": RhoSpelling("⎕log1p ", NO_BOOL, "f"), "expm1": RhoSpelling("⎕expm1 ",
    NO_BOOL, "f"),
    "exp2": RhoSpelling("2.0*", NO_BOOL, "f"), "sinh": RhoSpelling("5○", NO_BOOL, "f"), "cosh": RhoSpelling("6○", NO_BOOL, "f"),
    "tanh": RhoSpelling("7○", NO_BOOL, "f"), "arcsin": RhoSpelling("¯1○", NO_BOOL, "f"), "asin": RhoSpelling("¯1○", NO_BOOL, "f"),
    "arccos": RhoSpelling("¯2○", NO_BOOL, "f"), "acos": RhoSpelling("¯2○", NO_BOOL, "f"),
    "arctan": RhoSpelling("¯3○", NO_BOOL, "f"),
    "atan": RhoSpelling("¯3○", NO_BOOL, "f"), "arcsinh": RhoSpelling("¯5○", NO_BOOL, "f"), "arccosh": RhoSpelling("¯6○", NO_BOOL,
    "f"),
    "arctanh": RhoSpelling("¯7○", NO_BOOL, "f"), "erf": RhoSpelling("⎕erf ", "", "f"), "erfc": RhoSpelling("⎕erfc ", "", "f"),
    "lgamma": RhoSpelling("⎕lgamma ", "", "f"), "gammaln": RhoSpelling("⎕lgamma ", "", "f"),
    "digamma": RhoSpelling("⎕digamma ", "", "f"), "deg2rad": RhoSpelling("(○÷180)×", NO_BOOL, "f"),
    "rad2deg": RhoSpelling("(180÷○1)×", NO_BOOL, "f"), "negative": RhoSpelling("-", "if", "="), "logical_not": RhoSpelling("0=",
    "", "b"),
    "isfinite": RhoSpelling("∞>|", "", "b"), "isinf": RhoSpelling("∞=|", "", "b"), "count_nonzero": RhoSpelling("+/0≠,", "", "i"),
    "flatnonzero": RhoSpelling("⍸0≠,", "", "i"), "findall": RhoSpelling("⍸", "1 b", "i"), "ptp": RhoSpelling("{(⌈/⍵)-⌊/⍵},",
    "if", "="),
    "norm": RhoSpelling("√+/×⍨f64 |,", "01 bifuz | 23 bifuz", "f"),
    "trace": RhoSpelling("+/0 0⍉", "2", "+"), "diagonal": RhoSpelling("0 0⍉",
    "2", "="),
    "triu": RhoSpelling("{((⍳≢⍵)∘.≤⍳(⍴⍵)[1]) ¿ (⍵ ⋄ 0)}", "2", "=", "of a higher rank it works on the last two axes there"),
    "tril": RhoSpelling("{((⍳≢⍵)∘.≥⍳(⍴⍵)[1]) ¿ (⍵ ⋄ 0)}", "2", "=", "of a higher rank it works on the last two axes there"),
    "tri": RhoSpelling("f64 ∘.≥⍨⍳", "0 i", "f"),
    "gradient": RhoSpelling("{d←2-⍨/⍵ ⋄ (1↑d),(((2↓⍵)-¯2↓⍵)÷2),¯1↑d}", "1 if", "f", "of a matrix there is one for each axis"),
    "bincount": RhoSpelling("{+⌿⍵∘.=⍳1+⌈/⍵}", "1 bi ≥0", "i"), "nansum": RhoSpelling("+/{(⍵=⍵)/⍵},", "", "+"),
    "nanmean": RhoSpelling("(+/÷≢){(⍵=⍵)/⍵},", "", "f"), "nanmax": RhoSpelling("⌈/{(⍵=⍵)/⍵},", "", "="),
    "nanmin": RhoSpelling("⌊/{(⍵=⍵)/⍵},", "", "="), "copy": "", "tolist": "", "item": "⊃,", "fft": RhoSpelling("⎕fft ", "1"),
    "ifft": RhoSpelling("⎕ifft ", "1"), "rfft": RhoSpelling("⎕rfft ", "1"), "cholesky": RhoSpelling("⎕cholesky ", "2", "f"),
    "relu": RhoSpelling("0⌈", "", "="), "sigmoid": RhoSpelling("{÷1+*-⍵}", "", "f"),
    "softmax": RhoSpelling("{e÷+/e←*⍵-⌈/⍵}", "", "f"), "upper": RhoSpelling("text.upper ", "1 c", "c"),
    "lower": RhoSpelling("text.lower ", "1 c", "c"), "strip": RhoSpelling("text.trim ", "1 c", "c"),
    "trunc": RhoSpelling("{(⌊⍵)+(⍵<0)∧⍵≠⌊⍵}", "", "="), "fix": RhoSpelling("{(⌊⍵)+(⍵<0)∧⍵≠⌊⍵}", "", "="),
    "zeros_like": RhoSpelling("{(⍴⍵)⍴0}", "i", "=", "", [RhoSpelling("{(⍴⍵)⍴0.0}", "f", "="), RhoSpelling("{(⍴⍵)⍴0≠0}", "b",
    "=")]),
    "ones_like": RhoSpelling("{(⍴⍵)⍴1}", "i", "=", "", [RhoSpelling("{(⍴⍵)⍴1.0}", "f", "="), RhoSpelling("{(⍴⍵)⍴1=1}", "b",
    "=")]),
    "maximum": RhoSpelling("⌈/,", "", "="), "minimum": RhoSpelling("⌊/,", "", "="),
    "logsumexp": RhoSpelling("{m+⍟+/*⍵-m←⌈/⍵},", "", "f"),
    "collect": "", "abs2": "×⍨|", "float64": "f64 ", "float32": "f32 ", "fabs": RhoSpelling("|", "", "f"),
    "absolute": RhoSpelling("|", "if", "="), "positive": "",
    "real": RhoSpelling("9○", "bifgu", "=", "", [RhoSpelling("9○", "z")]),
    "imag": RhoSpelling("11○", "bifgu", "=", "", [RhoSpelling("11○", "z")]),
    "angle": RhoSpelling("12○", "", "f"),
}  # fmt: skip
"""Functions of one argument: the text left of it."""

CALLS: Final[Mapping[tuple[str, int], str]] = {
    ("full", 2): RhoSpelling("{0}⍴{1}", "; 0"),
    ("linspace", 3): RhoSpelling("{0}+({1}-{0})×(⍳{2})÷{2}-1", "0 bif finite ; 0 bif finite ; 0 i ≥2", "f",
              "of one point it is the first"),
    ("full_like", 2): RhoSpelling("(⍴{0})⍴{1}", "i ; 0 i | f ; 0 f | b ; 0 b", "=",
              "the result has the type of the first argument there"),
    ("maximum", 2): RhoSpelling("{0}⌈{1}", "fits", "=", "axes match from the left here"),
    ("minimum", 2): RhoSpelling("{0}⌊{1}", "fits", "=", "axes match from the left here"),
    ("fmax", 2): RhoSpelling("{0}⌈{1}", "bi fits ; bi | sure fits ; sure", "=", "NaN is passed over there"),
    ("fmin", 2): RhoSpelling("{0}⌊{1}", "bi fits ; bi | sure fits ; sure", "=", "NaN is passed over there"),
    ("power", 2): RhoSpelling("{0}*{1}", "fits ; i ≥0 | f fits ; bif | bif fits ; f", "=",
              "negative powers of integers are refused there, and axes match from the left here"),
    ("pow", 2): RhoSpelling("{0}*{1}", "fits ; i ≥0 | f fits ; bif | bif fits ; f", "=",
              "negative powers of integers are refused there, and axes match from the left here"),
    ("outer", 2): RhoSpelling("(,{0})∘.×,{1}", "", "="),
    ("arctan2", 2): RhoSpelling("{0} ⎕atan2 {1}", "if fits ; bif | bif fits ; if", "f", "axes match from the left here"),
    ("atan2", 2): RhoSpelling("{0} ⎕atan2 {1}", "if fits ; bif | bif fits ; if", "f", "axes match from the left here"),
    ("roll", 2): RhoSpelling("(⍴{0})⍴(-{1})⌽,{0}", "; 0 i", "", "of several counts each axis is turned there"),
    ("where", 3): RhoSpelling("{0} ¿ ({1} ⋄ {2})", "b fits ; bif ; bif", "",
              "axes match from the left here", [RhoSpelling("(0≠{0}) ¿ ({1} ⋄ {2})", "if fits ; bif ; bif")]),
    ("tile", 2): RhoSpelling("({{({1}×≢⍵)⍴⍵}}⍤1) {0}", "123 ; 0 i ≥0", "", "of several counts each axis is repeated there"),
    ("solve", 2): RhoSpelling("{1}⌹{0}", "2 ; 12", "f"),
    ("dot", 2): RhoSpelling("{0}+.×{1}", "1 ; 1 if | 1 if ; 1 | 2 ; 2 if | 2 if ; 2 | 2 ; 1 if | 2 if ; 1 | 1 ; 2 if | 1 if ; 2",
              "=", "of truth values it is `∨.∧`, of higher ranks another product there", [RhoSpelling("{0}×{1}",
              "0 ; if | 0 if ; bif | if ; 0 | bif ; 0 if", "=")]),
    ("matmul", 2): RhoSpelling("{0}+.×{1}",
              "1 ; 1 if | 1 if ; 1 | 2 ; 2 if | 2 if ; 2 | 2 ; 1 if | 2 if ; 1 | 1 ; 2 if | 1 if ; 2", "=",
              "of truth values it is `∨.∧`, of higher ranks there are many products there"),
    ("inner", 2): RhoSpelling("{0}+.×⍉{1}",
              "1 ; 1 if | 1 if ; 1 | 2 ; 2 if | 2 if ; 2 | 2 ; 1 if | 2 if ; 1 | 1 ; 2 if | 1 if ; 2", "=",
              "of truth values it is `∨.∧`"),
    ("vdot", 2): RhoSpelling("(,{0})+.×,{1}", "; if | if", "=", "of truth values it is `∨.∧`"),
    ("hypot", 2): RhoSpelling("√({0}*2)+{1}*2", "if ≥¯1e9 ≤1e9 fits ; bif ≥¯1e9 ≤1e9 | bif ≥¯1e9 ≤1e9 fits ; if ≥¯1e9 ≤1e9", "f",
              "no square overflows there, and the hypotenuse beside ∞ is ∞"),
    ("clip", 3): RhoSpelling("{2}⌊{1}⌈{0}", "fits", "=", "axes match from the left here"),
    ("mod", 2): RhoSpelling("{1}|{0}",
              "bi fits ; i ≠0 | f finite fits ; f ≠0 finite | f finite fits ; i ≠0 exact | i exact fits ; f ≠0 finite", "=",
              "`0|x` is x here and 0 or NaN there"),
    ("remainder", 2): RhoSpelling("{1}|{0}",
              "bi fits ; i ≠0 | f finite fits ; f ≠0 finite | f finite fits ; i ≠0 exact | i exact fits ; f ≠0 finite", "=",
              "`0|x` is x here and 0 or NaN there"),
    ("floor_divide", 2): RhoSpelling("⌊{0}÷{1}", "bi exact fits ; bi exact ≠0", "=",
              "integers beyond 2⁵³ are rounded here, and floats are rounded otherwise there", [RhoSpelling("0⌷(0,{1})⊤{0}",
              "i ; 0 i ≥1", "=")]),
    ("add", 2): RhoSpelling("{0}+{1}", "if fits ; bif | bif fits ; if | if fits | fits ; if", "=",
              "of truth values it is a truth value there, and axes match from the left here"),
    ("subtract", 2): RhoSpelling("{0}-{1}", "if fits ; bif | bif fits ; if | if fits | fits ; if", "=",
              "axes match from the left here"),
    ("multiply", 2): RhoSpelling("{0}×{1}", "if fits ; bif | bif fits ; if | if fits | fits ; if", "=",
              "of truth values it is a truth value there, and axes match from the left here"),
    ("divide", 2): RhoSpelling("{0}÷{1}", "fits", "f", "axes match from the left here"),
    ("true_divide", 2): RhoSpelling("{0}÷{1}", "fits", "f", "axes match from the left here"),
    ("logical_and", 2): RhoSpelling("(0≠{0})∧0≠{1}", "fits", "b", "axes match from the left here"),
    ("logical_or", 2): RhoSpelling("(0≠{0})∨0≠{1}", "fits", "b", "axes match from the left here"),
    ("logical_xor", 2): RhoSpelling("(0≠{0})≠0≠{1}", "fits", "b", "axes match from the left here"),
    ("equal", 2): RhoSpelling("{0}={1}",
              "b fits ; bif | bif fits ; b | i fits ; i | f fits ; f | exact fits ; exact | c fits ; c", "b",
              "integers beyond 2⁵³ are compared with floats as floats there, and axes match from the left here"),
    ("not_equal", 2): RhoSpelling("{0}≠{1}",
              "b fits ; bif | bif fits ; b | i fits ; i | f fits ; f | exact fits ; exact | c fits ; c", "b",
              "integers beyond 2⁵³ are compared with floats as floats there, and axes match from the left here"),
    ("greater", 2): RhoSpelling("{0}>{1}",
              "b fits ; bif | bif fits ; b | i fits ; i | f fits ; f | exact fits ; exact | c fits ; c", "b",
              "integers beyond 2⁵³ are compared with floats as floats there, and axes match from the left here"),
    ("less", 2): RhoSpelling("{0}<{1}", "b fits ; bif | bif fits ; b | i fits ; i | f fits ; f | exact fits ; exact | c fits ; c",
              "b", "integers beyond 2⁵³ are compared with floats as floats there, and axes match from the left here"),
    ("greater_equal", 2): RhoSpelling("{0}≥{1}",
              "b fits ; bif | bif fits ; b | i fits ; i | f fits ; f | exact fits ; exact | c fits ; c", "b",
              "integers beyond 2⁵³ are compared with floats as floats there, and axes match from the left here"),
    ("less_equal", 2): RhoSpelling("{0}≤{1}",
              "b fits ; bif | bif fits ; b | i fits ; i | f fits ; f | exact fits ; exact | c fits ; c", "b",
              "integers beyond 2⁵³ are compared with floats as floats there, and axes match from the left here"),
    ("isin", 2): RhoSpelling("{0}∊{1}", "", "b"), ("in1d", 2): RhoSpelling("{0}∊{1}", "", "b"),
    ("searchsorted", 2): RhoSpelling("+⌿(,{0})∘.<{1}", "1 sorted ; bif sure", "i",
              "the first must be in order there, and NaN is the greatest"), ("repeat", 2): RhoSpelling("{1}/,{0}", "; 0 i ≥0"),
    ("take", 2): RhoSpelling("(,{0})[{1}]", "; i ≥0"), ("cross", 2): RhoSpelling("{0} linalg.cross {1}", "1 if ; 1 if", "="),
    ("array_equal", 2): RhoSpelling("{0}≡{1}", "", "b"),
    ("gcd", 2): RhoSpelling("{0}∨{1}", "i fits ; i", "i", "axes match from the left here"),
    ("lcm", 2): RhoSpelling("|{0}∧{1}", "i fits ; i", "i", "axes match from the left here"),
    ("allclose", 2): RhoSpelling("∧/,(|{0}-{1})≤1e¯8+1e¯5×|{1}", "bi fits ; bi | finite fits ; finite", "b",
              "∞ is close to ∞ there"),
    ("isclose", 2): RhoSpelling("(|{0}-{1})≤1e¯8+1e¯5×|{1}", "bi fits ; bi | finite fits ; finite", "b", "∞ is close to ∞ there"),
    ("divmod", 2): RhoSpelling("(⌊{0}÷{1}),{1}|{0}", "0 bi exact ; 0 bi exact ≠0", "",
              "it is two arrays there, and floats are rounded otherwise"),
    ("bitwise_and", 2): RhoSpelling("{0} ⎕band {1}", "i fits ; i", "i",
              "of integers it is `⎕band`, of truth values `∧`", [RhoSpelling("{0}∧{1}", "b fits ; b", "b")]),
    ("bitwise_or", 2): RhoSpelling("{0} ⎕bor {1}", "i fits ; i", "i",
              "of integers it is `⎕bor`, of truth values `∨`", [RhoSpelling("{0}∨{1}", "b fits ; b", "b")]),
    ("bitwise_xor", 2): RhoSpelling("{0} ⎕bxor {1}", "i fits ; i", "i",
              "of integers it is `⎕bxor`, of truth values `≠`", [RhoSpelling("{0}≠{1}", "b fits ; b", "b")]),
    ("startswith", 2): RhoSpelling("{0} text.starts {1}", "1 c ; 1 c", "b"),
    ("endswith", 2): RhoSpelling("{0} text.ends {1}", "1 c ; 1 c", "b"), ("compress", 2): RhoSpelling("{0}⌿,{1}", "1 b ; bif"),
    ("union1d", 2): RhoSpelling("sort.up ∪(,{0}),,{1}", "bi ; bi | sure ; sure", "=", "several NaN are one there"),
    ("intersect1d", 2): RhoSpelling("sort.up ∪(,{0})∩,{1}", "bi ; bi | sure ; sure", "=", "several NaN are one there"),
    ("setdiff1d", 2): RhoSpelling("sort.up ∪(,{0})~,{1}", "bi ; bi | sure ; sure", "", "several NaN are one there"),
    ("fill", 2): RhoSpelling("{1}⍴{0}", "0"), ("log", 2): RhoSpelling("{1}⍟{0}", "", "f"),
    ("average", 2): RhoSpelling("(+/,{0}×{1})÷+/,{1}", "1 ; 1", "f", "weights of a matrix go along an axis there"),
    ("var", 2): RhoSpelling("{{(+/×⍨⍵-(+/÷≢)⍵)÷(≢⍵)-{1}}},{0}", "", "f"),
    ("std", 2): RhoSpelling("√{{(+/×⍨⍵-(+/÷≢)⍵)÷(≢⍵)-{1}}},{0}", "", "f"),
    ("cld", 2): RhoSpelling("⌈{0}÷{1}", "bi exact fits ; bi exact ≠0", "i", "integers beyond 2⁵³ are rounded here"),
    ("copysign", 2): RhoSpelling("(|{0})×(0≤{1})-0>{1}", "bif fits ; bi | bif fits ; ≠0", "f", "¯0.0 has a sign there"),
    ("comb", 2): RhoSpelling("{1}!{0}", "0 i ≥0 ≤50 ; 0 i ≥0 ≤50", "i", "large ones are no longer exact here"),
    ("binom", 2): RhoSpelling("{1}!{0}", "0 i ≥0 ≤50 ; 0 i ≥0 ≤50", "f", "large ones are no longer exact here"),
    ("round", 2): RhoSpelling("({{n←⌊⍵ ⋄ d←⍵-n ⋄ n+(0.5<d)∨(0.5=d)∧1=2|n}}{0}×10*{1})÷10*{1}", "f ; 0 i ≥0 ≤15", "f",
              "integers stay integers there, and are rounded to tens by negative digits"),
    ("left_shift", 2): RhoSpelling("{0}×2*{1}", "i fits ; i ≥0 ≤62", "i", "floats and negative counts are refused there"),
    ("right_shift", 2): RhoSpelling("⌊{0}÷2*{1}", "i exact fits ; i ≥0 ≤62", "i", "integers beyond 2⁵³ are rounded here"),
    ("contained", 2): RhoSpelling("{0}∊{1}", "0 ; 123", "b"),
    ("both", 2): RhoSpelling("{0}∧{1}", "b fits ; b", "b", "of what is no truth value it is the smallest common multiple here"),
    ("either", 2): RhoSpelling("{0}∨{1}", "b fits ; b", "b", "of what is no truth value it is the greatest common divisor here"),
}  # fmt: skip
"""Functions by name and number of arguments, as templates over the arguments."""

BUILTINS: Final[Mapping[tuple[str, int], str]] = {
    ("max", 2): RhoSpelling("{0}⌈{1}", "0 b ; 0 b | 0 i ; 0 i | 0 f sure ; 0 f sure", "=",
              "of arrays the second argument is elsewhere an axis"),
    ("min", 2): RhoSpelling("{0}⌊{1}", "0 b ; 0 b | 0 i ; 0 i | 0 f sure ; 0 f sure", "=",
              "of arrays the second argument is elsewhere an axis"),
    ("div", 2): RhoSpelling("{{(⌊⍵)+(⍵<0)∧⍵≠⌊⍵}}{0}÷{1}", "bi exact fits ; bi exact ≠0", "i",
              "integers beyond 2⁵³ are rounded here"),
}  # fmt: skip
"""Functions that have another meaning after a package or an array, where the second argument is an axis."""

_OF_VECTORS: Final = "of a matrix Python goes by rows or refuses, MATLAB by columns, and R and Julia by all items"
BARE_FUNCTIONS: Final[Mapping[str, RhoSpelling]] = {
    **dict.fromkeys(("sum", "prod", "product", "max", "min", "maximum", "minimum", "any", "all", "mean", "average", "avg",
                     "median", "norm", "ptp"), RhoSpelling("", "01", "", _OF_VECTORS)),
    **dict.fromkeys(("cumsum", "cumprod", "sort", "unique", "diff", "flip", "count_nonzero", "argsort"),
                    RhoSpelling("", "1", "", _OF_VECTORS)),
    "length": RhoSpelling("", "1", "", "of a matrix it is the longest axis in MATLAB, and the number of items in R and Julia"),
    "dot": RhoSpelling("", "1 ; 1", "", "of matrices it has one product a column in MATLAB, and one of all items in Julia"),
    "round": RhoSpelling("", "0", "i", "MATLAB rounds halves away from zero"),
    **dict.fromkeys(("floor", "ceil", "trunc"),
                    RhoSpelling("", "123", "", "of one number `math` has an integer, and NumPy, R and Julia have a float")),
    **dict.fromkeys(("factorial", "comb", "binom"), RhoSpelling("", "never", "", "it is an integer in Python, a float in R")),
    "reshape": RhoSpelling("", "never", "", "MATLAB, R and Julia fill columns; `2 3⍴x` fills rows"),
    **dict.fromkeys(("zeros", "ones"), RhoSpelling("", "1", "", "of one number it is a square matrix in MATLAB")),
    "repeat": RhoSpelling("", "never", "", "`2/x` repeats each item, and `(2×≢x)⍴x` all"),
    "cat": RhoSpelling("", "never", "", "`x⍪y` joins along the first axis, `x,y` along the last"),
    "identity": RhoSpelling("", "never", "", "it is its argument in R and Julia, and a matrix in NumPy"),
}  # fmt: skip
"""The domains in which functions without a package have one meaning in the languages that have them; other functions differ in
none."""

JOINING_FUNCTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("concatenate", "cat"), RhoSpelling("⍪", "123 fits")),
    "hstack": RhoSpelling(",", "12 fits", "", "of a higher rank it is the second axis there"),
    "vstack": RhoSpelling("⍪", "23 fits", "", "of vectors it is the matrix `[x ⋄ y]`"), "vcat": RhoSpelling("⍪", "123 fits"),
    "hcat": RhoSpelling(",", "2 fits", "", "of vectors it is a matrix of columns there"),
    "append": RhoSpelling(",", "1 fits", "", "arrays of a higher rank are made vectors there"),
}  # fmt: skip
"""Functions of a list of arrays, or of several arrays."""

ALONG_FIRST_AXIS: Final[Mapping[str, str]] = {
    "sum": "+⌿", "prod": "×⌿", "max": "⌈⌿", "min": "⌊⌿", "amax": "⌈⌿", "amin": "⌊⌿", "any": "∨⌿0≠", "all": "∧⌿0≠",
    "cumsum": "+⍀", "cumprod": "×⍀", "diff": "2-⍨⌿", "mean": "(+⌿÷≢)", "average": "(+⌿÷≢)", "std": "stats.deviation",
    "var": "stats.variance", "count_nonzero": "+⌿0≠", "flip": "⊖", "ptp": "{(⌈⌿⍵)-⌊⌿⍵}",
}  # fmt: skip
"""Functions along the first axis."""

ROW_BY_ROW: Final[Mapping[str, str]] = {
    "argmax": "{⊃⍒⍵}", "argmin": "{⊃⍋⍵}", "argsort": "⍋", "sort": "sort.up", "median": "stats.median", "norm": "{√+/×⍨f64 |⍵}",
}  # fmt: skip
"""Functions of a vector, applied row by row."""

UNTRANSLATED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("rand", "randn", "randint", "random", "normal", "uniform"),
                    "`key?shape` gives numbers from 0 to 1, the same for the same key"),
    **dict.fromkeys(("zip", "enumerate"), "functions of two arguments go item by item, as `x+y`, and `x f¨y` does so for any f"),
    **dict.fromkeys(("map", "apply", "sapply", "lapply", "vmap", "pmap", "vectorize", "apply_along_axis"),
                    "`f¨x` is f of each item, `f⍤1 ⊢ x` of each row"),
    **dict.fromkeys(("filter", "extract"), "`m⌿x` keeps what a mask m says, as in `(x>2)⌿x`"),
    **dict.fromkeys(("reduce", "accumulate", "scan"), "`f/x` folds with f, `f\\x` keeps what comes on the way"),
    **dict.fromkeys(("fori_loop", "while_loop"), "`f⍣n ⊢ x` repeats f, `{…⍺…}⍣(⍳n) ⊢ x` counts"),
    **dict.fromkeys(("einsum", "tensordot"), "`x+.×y` sums products over the last axis of x and the first of y"),
    **dict.fromkeys(("meshgrid", "broadcast_to"), "`x∘.f y` is f of each item of x with each of y"),
    **dict.fromkeys(("read_csv", "loadtxt", "genfromtxt", "load", "open"), "`input x : f64[n m] ← \"file.csv\"` reads a file"),
    **dict.fromkeys(("savetxt", "save", "to_csv"), "`output x ← …` names a result, and `rho run --out x=FILE` writes it"),
    **dict.fromkeys(("quantile", "percentile"), "`use stats` and `stats.median x` is the middle one; `x[⍋x]` has all in order"),
    **dict.fromkeys(("cov", "corrcoef"), "`use stats` and `x stats.covariance y`, `x stats.correlation y` are of two vectors"),
    **dict.fromkeys(("squeeze", "expand_dims", "ravel_multi_index"), "`shape⍴x` gives x other axes"),
    **dict.fromkeys(("convolve", "correlate"), "`n f↕x` applies f to each window of n items"),
    **dict.fromkeys(("swapaxes", "moveaxis", "permute"), "`1 0 2⍉x` puts the axes in another order"),
    **dict.fromkeys(("split", "array_split", "chunk"), "`k n⍴x` has k cells of n items; parts of unlike lengths have no array"),
    **dict.fromkeys(("polyfit", "lstsq"), "`y⌹A` is the least squares solution, `y⌹x∘.*0 1` a line"),
    **dict.fromkeys(("argwhere",), "`⍸m` has the positions of the ones of a mask"),
    **dict.fromkeys(("invert", "bitwise_not"), "`~m` is not, of a mask; `⎕bnot n` turns the bits of integers"),
    "reciprocal": "`÷x` is one over x, a float for integers too",
    **dict.fromkeys(("eig", "eigvals"), "`(values vectors) ← ⎕eigh A` is of symmetric matrices; no function is of others"),
    "eigh": "`(values vectors) ← ⎕eigh A` has them in the same order; a vector may have the other sign",
    "svd": "`(u s v) ← ⎕svd A` has as many columns in u and rows in v as singular values; vectors may have the other sign",
    "qr": "`(q r) ← ⎕qr A` has no negative number on the diagonal of r, so columns of q and rows of r may have the other sign",
    **dict.fromkeys(("diag",), "`0 0⍉A` is the diagonal of a matrix, `x×∘.=⍨⍳≢x` the matrix with the diagonal x"),
    **dict.fromkeys(("input",), "`input x : f64[n]` in a line of its own names what a program is given"),
    **dict.fromkeys(("grad", "value_and_grad"), "gradients (`f∂ x`) are refused for now"),
    **dict.fromkeys(("jit", "njit"), "every program is compiled"),
}  # fmt: skip
"""Functions without a translation, each with a hint."""
