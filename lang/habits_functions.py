"""Functions, values and types by their names in Python, NumPy, JAX, R, MATLAB and Julia, and how Rho spells them: tables.

A text in Rho that holds a dotted name (`stats.median`) needs a `use` line, which the fix writes too.

Neighbours: `foreign` (calls of these as Rho writes them), `habits_spelling`, `habits` (whose patterns hold the names).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PACKAGES: Final = ("np", "numpy", "math", "jnp", "jax", "torch", "scipy", "cmath", "statistics", "operator")
SUBPACKAGES: Final = ("numpy", "linalg", "fft", "special", "nn", "functional", "lax")
"""Those whose functions mean what their names mean elsewhere; `scipy.stats.norm` is a distribution."""

CONSTANTS: Final[Mapping[str, str]] = {
    "True": "1", "False": "0", "true": "1", "false": "0", "pi": "○1", "inf": "∞", "Inf": "∞", "infinity": "∞",
    "newaxis": "", "None": "⎕nan", "nan": "⎕nan", "NaN": "⎕nan",
}  # fmt: skip
"""Values by their names elsewhere."""

KINDS_OF_WORDS: Final[Mapping[str, str]] = {
    "float32": "f32", "float64": "f64", "float": "f64", "int32": "i32", "int64": "i64", "int": "i64", "bool": "bool",
    "uint8": "u8", "complex128": "c128", "complex": "c128",
}  # fmt: skip
"""Types by their names elsewhere."""

WORDS: Final[Mapping[str, str]] = {
    "sum": "+/,", "prod": "×/,", "product": "×/,", "mean": "(+/÷≢),", "average": "(+/÷≢),", "avg": "(+/÷≢),",
    "max": "⌈/,", "amax": "⌈/,", "min": "⌊/,", "amin": "⌊/,", "len": "≢", "length": "≢", "shape": "⍴", "reshape": "⍴",
    "T": "⍉", "transpose": "⍉", "arange": "⍳", "range": "⍳", "print": "⎕←", "println": "⎕←", "abs": "|", "sqrt": "√",
    "exp": "*", "log": "⍟", "ln": "⍟", "floor": "⌊", "ceil": "⌈", "argsort": "(⍋⍤1)", "argmax": "⊃⍒,", "argmin": "⊃⍋,",
    "cumsum": "+\\,", "cumprod": "×\\,", "unique": "sort.up ∪,", "ravel": ",", "flatten": ",", "reverse": "⊖", "any": "∨/0≠,",
    "all": "∧/0≠,", "sin": "1○", "cos": "2○", "tan": "3○", "array": "", "list": "", "asarray": "", "int": "{(×⍵)×⌊|⍵}",
    "float": "f64 ", "str": "⍕", "round": "{(⌊0.5+⍵)-(0.5=1|⍵)×2|⌊0.5+⍵}", "sort": "(sort.up⍤1) ", "sorted": "sort.up ",
    "median": "stats.median ,", "std": "stats.deviation ,", "var": "stats.variance ,", "zeros": "0⍴⍨", "ones": "1⍴⍨",
    "diff": "2-⍨/", "where": "⍸", "nonzero": "⍸", "inv": "⌹", "sign": "×", "factorial": "!",
    "roll": "⌽", "slogdet": "⎕slogdet ", "det": "⎕det ", "isnan": "≠⍨", "size": "⍴", "numel": "×/⍴", "ndim": "≢⍴",
    "reversed": "⊖", "flip": "{(⍴⍵)⍴⌽,⍵}", "flipud": "⊖", "fliplr": "⌽", "rot90": "⊖⍉", "eye": "∘.=⍨⍳", "identity": "∘.=⍨⍳",
    "square": "×⍨", "cbrt": "{(×⍵)×(|⍵)*÷3}", "log2": "2⍟", "log10": "10⍟", "log1p": "⎕log1p ", "expm1": "⎕expm1 ",
    "exp2": "2*", "sinh": "5○", "cosh": "6○", "tanh": "7○", "arcsin": "¯1○", "asin": "¯1○", "arccos": "¯2○", "acos": "¯2○",
    "arctan": "¯3○", "atan": "¯3○", "arcsinh": "¯5○", "arccosh": "¯6○", "arctanh": "¯7○", "erf": "⎕erf ", "erfc": "⎕erfc ",
    "lgamma": "⎕lgamma ", "gammaln": "⎕lgamma ", "digamma": "⎕digamma ", "deg2rad": "(○÷180)×", "rad2deg": "(180÷○1)×",
    "negative": "-", "logical_not": "0=", "isfinite": "∞>|", "isinf": "∞=|",
    "count_nonzero": "+/0≠,", "flatnonzero": "⍸0≠,", "findall": "⍸", "ptp": "{(⌈/⍵)-⌊/⍵},", "norm": "√+/×⍨|,",
    "trace": "+/0 0⍉", "diagonal": "0 0⍉", "triu": "{⍵×(⍳≢⍵)∘.≤⍳(⍴⍵)[1]}", "tril": "{⍵×(⍳≢⍵)∘.≥⍳(⍴⍵)[1]}",
    "tri": "∘.≥⍨⍳", "gradient": "{d←2-⍨/⍵[⍳≢⍵] ⋄ (1↑d),(((1↓d)+¯1↓d)÷2),¯1↑d}", "bincount": "{+⌿⍵∘.=⍳1+⌈/⍵}",
    "nansum": "+/{(⍵=⍵)/⍵},", "nanmean": "(+/÷≢){(⍵=⍵)/⍵},", "nanmax": "⌈/{(⍵=⍵)/⍵},", "nanmin": "⌊/{(⍵=⍵)/⍵},",
    "copy": "", "tolist": "", "item": "⊃,", "fft": "⎕fft ", "ifft": "⎕ifft ", "rfft": "⎕rfft ", "cholesky": "⎕cholesky ",
    "eigh": "⎕eigh ", "relu": "0⌈", "sigmoid": "{÷1+*-⍵}", "softmax": "{e÷+/e←*⍵-⌈/⍵}", "upper": "text.upper ",
    "lower": "text.lower ", "strip": "text.trim ", "trunc": "{(×⍵)×⌊|⍵}", "fix": "{(×⍵)×⌊|⍵}", "zeros_like": "{(⍴⍵)⍴0}",
    "ones_like": "{(⍴⍵)⍴1}", "maximum": "⌈/,", "minimum": "⌊/,", "logsumexp": "{m+⍟+/*⍵-m←⌈/⍵},", "svd": "⎕svd ",
    "qr": "⎕qr ", "collect": "", "abs2": "×⍨|", "float64": "f64 ", "float32": "f32 ",
    "fabs": "|", "absolute": "|", "positive": "", "real": "9○", "imag": "11○", "angle": "12○",
}  # fmt: skip
"""Functions of one argument, as what is written left of it."""

CALLS: Final[Mapping[tuple[str, int], str]] = {
    ("full", 2): "{0}⍴{1}", ("linspace", 3): "{0}+({1}-{0})×(⍳{2})÷{2}-1", ("full_like", 2): "(⍴{0})⍴{1}",
    ("maximum", 2): "{0}⌈{1}", ("minimum", 2): "{0}⌊{1}", ("fmax", 2): "{0}⌈{1}", ("fmin", 2): "{0}⌊{1}",
    ("power", 2): "{0}*{1}", ("pow", 2): "{0}*{1}", ("outer", 2): "(,{0})∘.×,{1}", ("arctan2", 2): "{0} ⎕atan2 {1}",
    ("atan2", 2): "{0} ⎕atan2 {1}", ("roll", 2): "(⍴{0})⍴(-{1})⌽,{0}", ("where", 3): "{0} ¿ ({1} ⋄ {2})",
    ("tile", 2): "({{({1}×≢⍵)⍴⍵}}⍤1) {0}", ("solve", 2): "{1}⌹{0}", ("dot", 2): "{0}+.×{1}",
    ("matmul", 2): "{0}+.×{1}", ("inner", 2): "{0}+.×⍉{1}", ("vdot", 2): "(,{0})+.×,{1}", ("hypot", 2): "√({0}*2)+{1}*2",
    ("clip", 3): "{1}⌈{2}⌊{0}", ("mod", 2): "{1}|{0}", ("remainder", 2): "{1}|{0}", ("floor_divide", 2): "⌊{0}÷{1}",
    ("add", 2): "{0}+{1}", ("subtract", 2): "{0}-{1}", ("multiply", 2): "{0}×{1}", ("divide", 2): "{0}÷{1}",
    ("true_divide", 2): "{0}÷{1}", ("logical_and", 2): "(0≠{0})∧0≠{1}", ("logical_or", 2): "(0≠{0})∨0≠{1}",
    ("logical_xor", 2): "(0≠{0})≠0≠{1}", ("equal", 2): "{0}={1}", ("not_equal", 2): "{0}≠{1}", ("greater", 2): "{0}>{1}",
    ("less", 2): "{0}<{1}", ("greater_equal", 2): "{0}≥{1}", ("less_equal", 2): "{0}≤{1}", ("isin", 2): "{0}∊{1}",
    ("in1d", 2): "{0}∊{1}", ("searchsorted", 2): "+⌿(,{0})∘.<{1}", ("repeat", 2): "{1}/,{0}", ("take", 2): "(,{0})[{1}]",
    ("cross", 2): "{0} linalg.cross {1}", ("array_equal", 2): "{0}≡{1}", ("gcd", 2): "{0}∨{1}", ("lcm", 2): "{0}∧{1}",
    ("allclose", 2): "∧/,(|{0}-{1})≤1e¯8+1e¯5×|{1}", ("isclose", 2): "(|{0}-{1})≤1e¯8+1e¯5×|{1}",
    ("divmod", 2): "(⌊{0}÷{1}),{1}|{0}", ("bitwise_and", 2): "{0} ⎕band {1}", ("bitwise_or", 2): "{0} ⎕bor {1}",
    ("bitwise_xor", 2): "{0} ⎕bxor {1}", ("startswith", 2): "{0} text.starts {1}", ("endswith", 2): "{0} text.ends {1}",
    ("compress", 2): "{0}⌿,{1}", ("union1d", 2): "sort.up ∪(,{0}),,{1}", ("intersect1d", 2): "sort.up ∪(,{0})∩,{1}",
    ("setdiff1d", 2): "sort.up ∪(,{0})~,{1}", ("fill", 2): "{1}⍴{0}", ("log", 2): "{1}⍟{0}",
    ("average", 2): "(+/,{0}×{1})÷+/,{1}", ("var", 2): "{{(+/×⍨⍵-(+/÷≢)⍵)÷(≢⍵)-{1}}},{0}",
    ("std", 2): "√{{(+/×⍨⍵-(+/÷≢)⍵)÷(≢⍵)-{1}}},{0}", ("cld", 2): "⌈{0}÷{1}", ("copysign", 2): "(|{0})×(0≤{1})-0>{1}",
    ("comb", 2): "{1}!{0}", ("binom", 2): "{1}!{0}",
    ("round", 2): "({{(⌊0.5+⍵)-(0.5=1|⍵)×2|⌊0.5+⍵}}{0}×10*{1})÷10*{1}",
}  # fmt: skip
"""Functions by how many arguments they have there."""

BUILTINS: Final[Mapping[tuple[str, int], str]] = {
    ("max", 2): "{0}⌈{1}", ("min", 2): "{0}⌊{1}", ("div", 2): "{{(×⍵)×⌊|⍵}}{0}÷{1}",
}  # fmt: skip
"""Those that mean another thing after a package or an array, where a second argument is an axis."""

JOINED: Final[Mapping[str, str]] = {
    "concatenate": "⍪", "hstack": ",", "vstack": "⍪", "append": ",", "vcat": "⍪", "hcat": ",", "cat": "⍪",
}  # fmt: skip
"""Functions of a list of arrays, or of several."""

FIRST: Final[Mapping[str, str]] = {
    "sum": "+⌿", "prod": "×⌿", "max": "⌈⌿", "min": "⌊⌿", "amax": "⌈⌿", "amin": "⌊⌿", "any": "∨⌿0≠", "all": "∧⌿0≠",
    "cumsum": "+⍀", "cumprod": "×⍀", "diff": "2-⍨⌿", "mean": "(+⌿÷≢)", "average": "(+⌿÷≢)", "std": "stats.deviation",
    "var": "stats.variance", "count_nonzero": "+⌿0≠", "flip": "⊖", "ptp": "{(⌈⌿⍵)-⌊⌿⍵}",
}  # fmt: skip
"""The same along the first axis."""

ROWS: Final[Mapping[str, str]] = {
    "argmax": "{⊃⍒⍵}", "argmin": "{⊃⍋⍵}", "argsort": "⍋", "sort": "sort.up", "median": "stats.median", "norm": "{√+/×⍨|⍵}",
}  # fmt: skip
"""Functions of a vector, which go row by row."""

TOLD: Final[Mapping[str, str]] = {
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
    **dict.fromkeys(("diag",), "`0 0⍉A` is the diagonal of a matrix, `x×∘.=⍨⍳≢x` the matrix with the diagonal x"),
    **dict.fromkeys(("input",), "`input x : f64[n]` in a line of its own names what a program is given"),
    **dict.fromkeys(("grad", "value_and_grad"), "gradients (`f∂ x`) are refused for now"),
    **dict.fromkeys(("jit", "njit"), "every program is compiled"),
}  # fmt: skip
"""Functions for which no text can be offered, and what does their work."""

REMARKS: Final[Mapping[str, str]] = {
    "vstack": "of two vectors, which `⍪` joins to one, the matrix is `[x ⋄ y]`",
    "svd": "`(u s v) ← ⎕svd A` names the three",
    "round": "without halves that go to the even neighbour, `⌊0.5+x` will do",
}
"""What is said beside a fix."""
