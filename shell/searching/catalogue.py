"""The entries of a search with their names, descriptions and types, and search by words.

Entries are primitives, operators, idioms (short expressions), the library, and the definitions of a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ...lang.primitives.record import GlyphRole, Primitive, PrimitiveUse, Trait
from ...lang.primitives.table import PRIMITIVES, nearest
from ...lang.support.records import dataclass
from ..display import documentation

if TYPE_CHECKING:
    from ..pipeline_types import Checked


# ---------------------------------------------------------------------------------------------------- foreign names
#
# Names of primitives and library functions in other systems, and synonyms.
#
# NumPy and JAX names are with or without their module; the others are words of Futhark, Haskell and APL.

FUNCTIONS: Final[dict[str, str]] = {
    "+": "np.add plus sum conj", "-": "np.subtract negative difference", "×": "np.multiply product np.sign",
    "÷": "np.divide quotient true_divide", "*": "np.exp np.power exponent pow", "⍟": "np.log logarithm ln",
    "√": "np.sqrt square root",
    "⌊": "np.floor np.minimum fmin round down", "⌈": "np.ceil np.maximum fmax round up",
    "|": "np.abs absolute np.mod np.remainder fmod modulo %",
    "!": "gamma np.math.factorial comb choose combinations",
    "○": "np.sin np.cos np.tan trigonometric sinh cosh arctan pi angle phase np.real np.imag",
    "~": "np.logical_not invert np.setdiff1d difference exclude remove", "∧": "np.logical_and conjunction np.lcm",
    "∨": "np.logical_or disjunction np.gcd", "≠": "np.not_equal differ nub sieve unique mask",
    "=": "np.equal equality compare ==",
    "<": "np.less lower", "≤": "np.less_equal", "≥": "np.greater_equal", ">": "np.greater larger",
    "≡": "np.array_equal same identical", "≢": "len length size count number of rows np.size",
    "⍴": "np.shape np.reshape dimensions .shape zeros ones full resize unflatten",
    ",": "np.ravel np.concatenate flatten append hstack", "⍪": "np.vstack np.concatenate column",
    "⌽": "np.flip np.roll fliplr reversed shift",
    "⊖": "np.flipud np.roll upside", "⍉": "np.transpose .T swapaxes moveaxis np.diag permute rearrange",
    "↑": "np.pad head slice x[:n] prefix padding np.stack",
    "↓": "tail slice x[n:] skip", "⊃": "head x[0] item scalar at", "⌷": "np.take gather rows indexing slice",
    "⍳": "np.arange range indices enumerate np.indices position find lookup",
    "⍸": "np.nonzero np.flatnonzero np.argwhere np.where indices np.searchsorted np.digitize bisect",
    "∊": "np.isin in1d contains membership element",
    "⍷": "search pattern substring occurrences", "⍋": "np.argsort argsort sort ascending permutation order",
    "⍒": "np.argsort argsort sort descending",
    "∪": "np.unique distinct nub deduplicate dedup np.union1d", "∩": "np.intersect1d common both",
    "/": "filter np.compress np.repeat keep boolean mask select",
    "⌿": "filter np.compress np.repeat keep boolean mask rows", "\\": "np.insert spread", "⍀": "np.insert spread",
    "⊥": "np.polyval horner from base digits evaluate polynomial", "⊤": "divmod digits to base binary np.unravel_index",
    "⌹": "np.linalg.inv np.linalg.pinv np.linalg.solve np.linalg.lstsq regression least squares",
    "¿": "np.where jnp.where lax.select ternary conditional if else", "?": "np.random rand uniform jax.random rng",
    "↕": "sliding_window_view rolling im2col convolution stencil",
    "⍕": "str repr to string print", "⊂": "scalar broadcast", "⊣": "const first argument", "⊢": "identity second argument",
    "char": "chr np.char", "i64": "int ord astype cast np.int64", "f64": "float double astype cast np.float64",
    "bool": "astype cast", "c128": "complex astype",
    "⎕fft": "np.fft.fft frequency spectrum", "⎕rfft": "np.fft.rfft", "⎕svd": "np.linalg.svd singular decomposition pca",
    "⎕eigh": "np.linalg.eigh eigenvectors symmetric spectrum",
    "⎕det": "np.linalg.det", "⎕slogdet": "np.linalg.slogdet logdet log determinant likelihood",
    "⎕qr": "np.linalg.qr decomposition gram-schmidt", "⎕cholesky": "np.linalg.cholesky factor",
    "⎕erf": "scipy.special.erf gaussian normal", "⎕lgamma": "scipy.special.gammaln", "⎕log1p": "np.log1p", "⎕expm1": "np.expm1",
    "⎕atan2": "np.arctan2 math.atan2 np.angle phase polar azimuth",
}  # fmt: skip
"""Foreign names by the glyph of a function."""

OPERATORS: Final[dict[str, str]] = {
    "/": "np.add.reduce fold foldl foldr aggregate sum total insert accumulate",
    "⌿": "np.add.reduce fold axis=0 columns sum total",
    "\\": "np.cumsum np.add.accumulate lax.associative_scan prefix cumulative running accumulate",
    "⍀": "np.cumsum prefix cumulative running axis=0 accumulate",
    "¨": "map for each", "⍤": "jax.vmap vmap np.vectorize map batch rows apply_along_axis axis broadcast",
    "˘": "map jax.vmap rows",
    "⍨": "flip swap duplicate", "∘": "partial curry composition functools.partial", "⍥": "on composition",
    "⍛": "composition hook",
    "∘.": "np.outer cartesian all pairs table meshgrid einsum",
    ".": "np.matmul np.dot np.einsum einsum matrix product dot tensordot contraction @ gemm",
    "⍣": "loop for while lax.fori_loop lax.while_loop iterate power fixpoint until fixed point",
    "⍣\\": "lax.scan loop history trajectory iterate unfold",
    "@": "x.at[i].set np.put scatter update replace assign amend",
    "⌸": "np.bincount np.add.at histogram segment_sum scatter group by groupby reduce_by_index",
    "⌺": "convolution convolve filter scipy.ndimage neighbourhood kernel blur",
    "∂": "jax.grad derivative differentiate autodiff jacobian vjp",
    "⍫": "jax.custom_vjp custom gradient torch.autograd.Function straight-through",
}  # fmt: skip
"""Foreign names by the glyph of an operator."""

LIBRARY: Final[dict[str, str]] = {
    "stats.mean": "np.mean np.average", "stats.variance": "np.var", "stats.deviation": "np.std standard",
    "stats.standardise": "zscore normalise normalize scale",
    "stats.covariance": "np.cov", "stats.correlation": "np.corrcoef pearson",
    "stats.median": "np.median middle percentile quantile", "stats.range": "np.ptp spread",
    "stats.moving": "np.convolve rolling window sliding weighted average", "sort.up": "np.sort ascending sorted",
    "sort.down": "np.sort descending reverse",
    "sort.order": "np.argsort", "sort.places": "rankdata ranks", "sort.by": "sort by key sortby",
    "sort.rows": "np.lexsort lexicographic", "sort.sorted": "is sorted monotonic",
    "sort.largest": "np.argmax", "sort.smallest": "np.argmin", "set.unique": "np.unique distinct nub dedup",
    "set.union": "np.union1d", "set.intersection": "np.intersect1d common",
    "set.difference": "np.setdiff1d without", "set.member": "np.isin contains", "set.size": "nunique cardinality",
    "linalg.dot": "np.dot np.vdot scalar product inner einsum",
    "linalg.outer": "np.outer", "linalg.norm": "np.linalg.norm magnitude l2", "linalg.unit": "normalise normalize direction",
    "linalg.multiply": "np.matmul matmul gemm einsum @ product",
    "linalg.apply": "matvec gemv", "linalg.gram": "gramian covariance", "linalg.diagonal": "np.diag",
    "linalg.trace": "np.trace", "linalg.determinant": "np.linalg.det",
    "linalg.inverse": "np.linalg.inv", "linalg.solve": "np.linalg.solve linear system equations",
    "linalg.fit": "np.linalg.lstsq regression least squares ols",
    "linalg.cross": "np.cross", "linalg.distance": "scipy.spatial.distance metric", "text.upper": "str.upper uppercase capital",
    "text.lower": "str.lower lowercase",
    "text.trim": "str.strip", "text.replace": "str.translate str.replace", "text.starts": "str.startswith prefix",
    "text.ends": "str.endswith suffix", "text.count": "str.count occurrences",
    "text.words": "str.split count", "text.digits": "str.isdigit", "text.letters": "str.isalpha",
}  # fmt: skip
"""Foreign names by the name of a library function."""

SYNONYMS: Final[tuple[frozenset[str], ...]] = tuple(
    frozenset(line.split())
    for line in (
        "mean average avg", "cumulative running prefix accumulate scan partial", "sum total add plus", "product multiply times",
        "unique distinct nub deduplicate dedup different", "sort order arrange rank",
        "largest maximum max biggest greatest highest",
        "smallest minimum min least lowest", "position index indices place location offset where", "count number tally how-many",
        "reduce fold insert aggregate", "map each apply vmap", "reverse flip backwards", "rotate shift roll cyclic",
        "length size len tally",
        "shape dimensions dims", "element item entry", "matrix table 2-d", "vector list 1-d array", "transpose swap exchange",
        "inverse invert",
        "join concatenate append catenate", "select choose pick filter keep", "mask boolean condition",
        "window windows sliding rolling moving",
        "neighbour neighbor adjacent neighbours", "deviation std stddev", "variance var", "axis axes", "random uniform rng",
        "loop repeat iterate",
        "equal same identical match", "text string characters", "absolute magnitude abs", "logarithm log ln",
        "power exponent pow exponential",
        "remainder residue modulo mod", "group bin bucket key histogram", "outer cartesian pairs", "inner dot",
        "contains member in",
        "first head", "last tail", "split words", "normalise normalize standardise", "find search lookup", "all every",
        "any some",
    )
)  # fmt: skip
"""Sets of words that match each other in a search."""


# ---------------------------------------------------------------------------------------------------- idioms
#
# Short expressions for functions that have a name in other systems: `cumsum`, `argmax`, `np.where`.
#
# A test checks that the example of each row gives its value, and that its function has its signature.

@dataclass(frozen=True, slots=True)
class Idiom:
    """An expression `code` of x and y, with its description, the signature of the same as a `function`, its names in other
    systems, and an example (expression, value)."""

    code: str
    title: str
    type: str
    function: str
    foreign_names: str
    example: tuple[str, str]


def _row(code: str, title: str, type: str, function: str, foreign_names: str, expression: str, value: str) -> Idiom:
    return Idiom(code, title, type, function, foreign_names, (expression, value))


IDIOMS: tuple[Idiom, ...] = (
    _row("+/x", "the sum", "T[n] → T where T num", "{+/⍵}", "np.sum total add.reduce reduce fold aggregate", "+/1 2 3", "6"),
    _row("+⌿x", "the sum of the major cells, one a column", "T[n ..s] → T[..s] where T num", "{+⌿⍵}",
         "np.sum axis=0 column sums colsums reduce", "+⌿2 3⍴⍳6", "3 5 7"),
    _row("+/⍤1 ⊢ x", "the sum of each row", "T[n m] → T[n] where T num", "{+/⍤1 ⊢ ⍵}",
         "np.sum axis=1 axis=-1 row sums rowsums", "+/⍤1 ⊢ 2 3⍴⍳6", "3 12"),
    _row("×/x", "the product of all elements", "T[n] → T where T num", "{×/⍵}", "np.prod multiply.reduce", "×/1 2 3 4", "24"),
    _row("⌈/x", "the largest element", "f64[n] → f64 where n ≥ 1", "{⌈/⍵}", "np.max amax nanmax biggest max reduce", "⌈/3 1 4",
         "4"),
    _row("⌊/x", "the smallest element", "f64[n] → f64 where n ≥ 1", "{⌊/⍵}", "np.min amin least min reduce", "⌊/3 1 4", "1"),
    _row("+\\x", "running sums", "T[n] → T[n] where T num", "{+\\⍵}",
         "np.cumsum cumulative sum prefix sum partial sums scan accumulate add.accumulate lax.cumsum integral", "+\\1 2 3",
         "1 3 6"),
    _row("×\\x", "running products", "T[n] → T[n] where T num", "{×\\⍵}", "np.cumprod cumulative product", "×\\1 2 3", "1 2 6"),
    _row("⌈\\x", "the largest element so far", "f64[n] → f64[n]", "{⌈\\⍵}", "maximum.accumulate cummax cumulative maximum",
         "⌈\\3 1 4 2", "3 3 4 4"),
    _row("(1↓x)-¯1↓x", "differences of neighbours", "f64[n] → f64[n-1] where n ≥ 1", "{(1↓⍵)-¯1↓⍵}",
         "np.diff deltas discrete derivative ediff1d", "(1↓x)-¯1↓x ← 1 4 9", "3 5"),
    _row("(+/x)÷≢x", "the mean", "f64[n] → f64", "{(+/⍵)÷≢⍵}", "np.mean average jnp.mean avg", "(+/x)÷≢x ← 1 2 6", "3"),
    _row("x[⍋x]", "sorted upwards", "T[n] → T[n] where T ord", "{⍵[⍋⍵]}", "np.sort sort ascending order sorted",
         "x[⍋x ← 3 1 2]", "1 2 3"),
    _row("x[⍒x]", "sorted downwards", "T[n] → T[n] where T ord", "{⍵[⍒⍵]}", "sort descending reverse sort", "x[⍒x ← 3 1 2]",
         "3 2 1"),
    _row("⊃⍒x", "the position of the largest element", "T[n] → idx<n> where T ord, n ≥ 1", "{⊃⍒⍵}", "np.argmax index of maximum",
         "⊃⍒3 9 4", "1"),
    _row("⊃⍋x", "the position of the smallest element", "T[n] → idx<n> where T ord, n ≥ 1", "{⊃⍋⍵}", "np.argmin index of minimum",
         "⊃⍋3 9 4", "0"),
    _row("⍋⍋x", "the rank of each element", "T[n] → perm<n> where T ord", "{⍋⍋⍵}", "argsort argsort rankdata", "⍋⍋30 10 20",
         "2 0 1"),
    _row("mask⌿x", "the cells where a mask holds", "bool[n] → T[n] → T[k≤n]", "{⍺⌿⍵}",
         "filter compress boolean indexing select x[mask] keep", "1 0 1⌿7 8 9", "7 9"),
    _row("mask¿(x ⋄ y)", "one value where a mask holds, another elsewhere", "bool[n] → f64[n] → f64[n]", "{⍺¿(⍵ ⋄ -⍵)}",
         "np.where jnp.where lax.select ternary conditional if then else choose", "1 0 1¿(1 2 3 ⋄ 10 20 30)", "1 20 3"),
    _row("+/mask", "how many hold", "bool[n] → int<0..n>", "{+/⍵}", "np.count_nonzero count popcount", "+/1 0 1", "2"),
    _row("∧/mask", "do all hold?", "bool[n] → bool", "{∧/⍵}", "np.all every forall", "∧/1 1 0", "0"),
    _row("∨/mask", "does any hold?", "bool[n] → bool", "{∨/⍵}", "np.any some exists", "∨/0 1 0", "1"),
    _row("x+.×y", "the matrix product", "f64[n k] → f64[k m] → f64[n m]", "{⍺+.×⍵}",
         "np.matmul dot @ gemm einsum ik,kj->ij tensordot multiply matrices", "(2 2⍴1 2 3 4)+.×2 2⍴0 1 1 0", "2 1\n4 3"),
    _row("x+.×y", "a matrix applied to a vector", "f64[n m] → f64[m] → f64[n]", "{⍺+.×⍵}", "matvec gemv np.dot einsum ij,j->i",
         "(2 2⍴1 2 3 4)+.×1 1", "3 7"),
    _row("+/x×y", "the inner product of two vectors", "f64[n] → f64[n] → f64", "{+/⍺×⍵}",
         "np.dot vdot inner scalar product einsum i,i->",
         "+/1 2 3×4 5 6", "32"),
    _row("x∘.×y", "all products of an element of each", "f64[n] → f64[m] → f64[n m]", "{⍺∘.×⍵}",
         "np.outer np.multiply.outer einsum i,j->ij kron table", "1 2∘.×3 4", "3 4\n6 8"),
    _row("x∘.=y", "which elements are equal, each with each", "T[n] → T[m] → bool[n m]", "{⍺∘.=⍵}",
         "np.equal.outer one hot onehot comparison table", "1 2∘.=2 2 1", "0 0 1\n1 1 0"),
    _row("f⍤1 ⊢ x", "a function of each row", "f64[n m] → f64[n]", "{{+/⍵}⍤1 ⊢ ⍵}",
         "jax.vmap np.apply_along_axis map vectorize batch rows apply", "{+/⍵×⍵}⍤1 ⊢ 2 2⍴1 2 3 4", "5 25"),
    _row("x +⍤1 ⊢ y", "a vector added to every row", "f64[n m] → f64[m] → f64[n m]", "{⍺ +⍤1 ⊢ ⍵}",
         "broadcasting np.broadcast bias add outer expand_dims newaxis", "(2 3⍴0) +⍤1 ⊢ 1 2 3", "1 2 3\n1 2 3"),
    _row("≢∪x", "how many different elements", "T[n] → int<0..n>", "{+/≠⍵}", "nunique distinct count len set", "+/≠3 1 3 2 1",
         "3"),
    _row("k +⌸ (i ⋄ v)", "sums of the values that share an index", "idx<5>[n] → f64[n] → f64[5]", "{5 +⌸ (⍺ ⋄ ⍵)}",
         "np.bincount np.add.at histogram segment_sum scatter add group by groupby reduce_by_index hist",
         "3 +⌸ (0 2 0 ⋄ 1 2 3)", "4 0 2"),
    _row("k +/x", "sums of k neighbours", "f64[n] → f64[n-2] where n ≥ 2", "{3 +/⍵}",
         "moving sum rolling window sliding convolve convolution", "2+/1 2 3 4", "3 5 7"),
    _row("⍉x", "rows and columns exchanged", "T[n m] → T[m n]", "{⍉⍵}", "np.transpose .T swapaxes flip axes einsum ij->ji",
         "⍉2 3⍴⍳6", "0 3\n1 4\n2 5"),
    _row("0 0⍉x", "the diagonal", "T[n n] → T[n]", "{0 0⍉⍵}", "np.diag diagonal einsum ii->i", "0 0⍉2 2⍴1 2 3 4", "1 4"),
    _row("(⍳n)∘.=⍳n", "the identity matrix", "T[n] → bool[n n]", "{(⍳≢⍵)∘.=⍳≢⍵}",
         "np.eye np.identity unit matrix kronecker delta",
         "(⍳2)∘.=⍳2", "1 0\n0 1"),
    _row("n⍴0", "zeros", "T[n] → f64[n]", "{(≢⍵)⍴0.0}", "np.zeros np.ones np.full fill constant replicate", "3⍴0", "0 0 0"),
    _row("(⍳n)÷n", "evenly spaced numbers", "T[n] → f64[n]", "{(⍳≢⍵)÷≢⍵}", "np.linspace range grid", "(⍳4)÷4", "0 0.25 0.5 0.75"),
    _row("⍳n", "whole numbers from 0", "T[n] → idx<n>[n]", "{⍳≢⍵}", "np.arange range iota enumerate indices", "⍳4", "0 1 2 3"),
    _row("a⌈b⌊x", "kept between two bounds", "f64[n] → f64[n]", "{0⌈1⌊⍵}", "np.clip clamp saturate limit bound", "0⌈1⌊¯2 0.5 3",
         "0 0.5 1"),
    _row("x×x>0", "the positive part", "f64[n] → f64[n]", "{0⌈⍵}", "relu rectifier hinge", "0⌈¯1 2", "0 2"),
    _row("√+/x×x", "the Euclidean length", "f64[n] → f64", "{√+/⍵×⍵}", "np.linalg.norm magnitude l2 hypot", "√+/x×x ← 3 4", "5"),
    _row("(*x)÷+/*x", "exponentials that sum to 1", "f64[n] → f64[n] where n ≥ 1", "{e÷+/e ← *⍵-⌈/⍵}", "softmax logits normalise",
         "(*x)÷+/*x ← 0 0", "0.5 0.5"),
    _row("÷1+*-x", "the logistic function", "f64[..s] → f64[..s]", "{÷1+*-⍵}", "sigmoid logistic expit", "÷1+*-0", "0.5"),
    _row("f⍣n ⊢ x", "a function applied n times", "f64[n] → f64[n]", "{{⍵÷2}⍣3 ⊢ ⍵}",
         "loop for while lax.fori_loop lax.scan iterate power fixpoint fixed point", "{⍵×2}⍣3 ⊢ 1", "8"),
    _row("f⍣\\n ⊢ x", "all states of a function applied n times", "f64 → f64[4]", "{{⍵×2}⍣\\3 ⊢ ⍵}",
         "lax.scan history trajectory orbit iterate accumulate", "{⍵×2}⍣\\3 ⊢ 1", "1 2 4 8"),
    _row("⌽x", "backwards", "T[n] → T[n]", "{⌽⍵}", "np.flip np.flipud reversed [::-1]", "⌽1 2 3", "3 2 1"),
    _row("1⌽x", "moved round by one", "T[n] → T[n]", "{1⌽⍵}", "np.roll circular shift cyclic", "1⌽1 2 3", "2 3 1"),
    _row("x,y", "one after the other", "T[n] → T[m] → T[n+m]", "{⍺,⍵}", "np.concatenate append hstack join extend ++", "1 2,3",
         "1 2 3"),
    _row("[x ⋄ y]", "vectors as the rows of a matrix", "T[n] → T[n] → T[2 n]", "{[⍺ ⋄ ⍵]}", "np.stack vstack np.array",
         "[1 2 ⋄ 3 4]", "1 2\n3 4"),
    _row(",x", "all elements as a vector", "T[n m] → T[n×m]", "{,⍵}", "np.ravel flatten reshape(-1) view", ",2 2⍴⍳4", "0 1 2 3"),
    _row("x[;j]", "a column", "T[n 3] → T[n]", "{⍵[;1]}", "slicing x[:,j] np.take column slice", "(2 2⍴1 2 3 4)[;1]", "2 4"),
    _row("i⌷x", "the cells at positions", "idx<n>[m] → T[n ..s] → T[m ..s]", "{⍺⌷⍵}",
         "np.take gather fancy indexing lax.gather index",
         "2 0⌷7 8 9", "9 7"),
    _row("x[i]←v", "a changed copy", "f64[5] → f64[5]", "{x ← ⍵ ⋄ x[2] ← 0 ⋄ x}",
         "x.at[i].set np.put scatter update assign with", "(0@1) 7 8 9", "7 0 9"),
    _row("x∊y", "which are among others", "T[..s] → T[n] → bool[..s]", "{⍺∊⍵}", "np.isin in1d contains element membership",
         "1 2∊2 3", "0 1"),
    _row("x⍸y", "the interval each falls in", "f64[n] → f64[m] → i64[m]", "{⍺⍸⍵}",
         "np.searchsorted np.digitize bisect binary search",
         "0 10 20⍸5 25", "0 2"),
    _row("2⊥x", "the number with these binary digits", "bool[n] → i64", "{2⊥i64 ⍵}", "np.packbits polyval horner from binary",
         "2⊥1 0 1", "5"),
    _row("c⊥x", "a polynomial at a point", "f64 → f64[n] → f64", "{⍺⊥⍵}", "np.polyval horner polynomial evaluate", "2⊥1 0 3",
         "7"),
    _row("1=2|x", "which are odd", "i64[..s] → bool[..s]", "{1=2|⍵}", "x % 2 mod modulo even parity", "1=2|3 4", "1 0"),
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------- catalogue

class Origin(IntEnum):
    """The origin of an entry; equal results are in this order."""

    YOURS = 0
    LIBRARY = 1
    IDIOM = 2
    PRIMITIVE = 3


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """An entry of the catalogue.

    `name` is the text to type, `title` a description, `names` further names; `types` are signatures without the name;
    `foreign_names` are its names in other systems.
    """

    name: str
    title: str
    summary: str
    origin: Origin
    names: str
    types: tuple[str, ...] = ()
    foreign_names: str = ""

    @property
    def heading(self) -> str:
        return f"{self.name}  {self.title}" if self.title else self.name


@lru_cache(maxsize=1)
def shipped_entries() -> tuple[CatalogueEntry, ...]:
    """The entries of everything that comes with Rho."""
    return (*_library(), *_idioms(), *_primitives())


def _library() -> Iterator[CatalogueEntry]:
    for entry in documentation.entries():
        type_ = entry.source.partition("←")[0].partition(" : ")[2]
        types = (type_,) if "→" in type_ else ()
        names, foreign_names = entry.name.replace(".", " "), LIBRARY.get(entry.name, "")
        yield CatalogueEntry(entry.name, "", entry.doc, Origin.LIBRARY, names, types, foreign_names)


def _idioms() -> Iterator[CatalogueEntry]:
    for row in IDIOMS:
        expression, value = row.example
        shown = f"{expression} is {' ⋄ '.join(value.splitlines())}"
        yield CatalogueEntry(row.code, row.title, shown, Origin.IDIOM, row.title, (row.type,), row.foreign_names)


def _primitives() -> Iterator[CatalogueEntry]:
    for row in PRIMITIVES:
        uses = [use for use in (row.monadic, row.dyadic) if use is not None]
        operator = row.role in (GlyphRole.MONADIC_OPERATOR, GlyphRole.DYADIC_OPERATOR)
        foreign_names = (OPERATORS if operator else FUNCTIONS).get(row.glyph, "")
        names = " ".join([*row.names, *(use.name for use in uses)])
        summary = "; ".join(dict.fromkeys(use.doc for use in uses)) or row.doc
        types = () if operator else tuple(_types(row))
        yield CatalogueEntry(row.glyph, row.title, summary, Origin.PRIMITIVE, names, types, foreign_names)


def _types(row: Primitive) -> Iterator[str]:
    for use, dyadic in ((row.monadic, False), (row.dyadic, True)):
        if use is not None:
            is_scalar = Trait.SCALAR in use.traits and not use.type
            signature = _scalar_signature(use, dyadic) if is_scalar else signature_of(row.glyph, use)
            if signature:
                yield signature


def _scalar_signature(use: PrimitiveUse, dyadic: bool) -> str:
    result = "T"
    if Trait.COMPARISON in use.traits:
        result = "bool"
    elif Trait.FLOAT_RESULT in use.traits:
        result = "f64"
    elif use.name in ("floor", "ceiling"):
        result = "i64"
    element = "f64" if use.name in ("floor", "ceiling") else "bool" if use.name in ("not", "nand", "nor") else "T"
    result = "bool" if element == "bool" else result
    classes = " where T num" if element == "T" and Trait.COMPARISON not in use.traits else ""
    return f"{element}[..s] → {f'{element}[..s] → ' if dyadic else ''}{result}[..s]{classes}"


_SCALARS: Final = frozenset({"k", "i", "n", "key"})
_REST: Final = ("s", "u", "s′")


def signature_of(glyph: str, use: PrimitiveUse) -> str:
    """The signature of a use with a type such as `T[s n] , T[s m] : T[s n+m]`; empty if the text is no type."""
    form, colon, result = use.type.partition(" : ")
    if not colon:
        return ""
    left, operator, right = form.partition(f" {glyph} ")
    sides = [left, right] if operator else [form.removeprefix(glyph).strip()]
    parts = [_side_type(side.strip()) for side in sides] + [_result_type(result)]
    return " → ".join(parts) if all(parts) else ""


def _side_type(text: str) -> str:
    """One side of the `type` of a use as an array type."""
    if text == "any":
        return "_"
    if text in _SCALARS:
        return "i64"
    if text in ("s", "p"):
        return "i64[_]"
    if text.startswith("r["):
        text = "f64" + text[1:]
    elif text.startswith("i["):
        text = "idx<n>" + text[1:]
    opened = text.find("[")
    if opened == -1:
        return text
    out, inside = [], ""
    for character in text:
        if character in "[] ":
            out.append(_item(inside) + character)
            inside = ""
        else:
            inside += character
    return "".join([*out, inside])


def _item(word: str) -> str:
    """A word of a shape; `s` stands for any axes."""
    if word in _REST:
        return f"..{word.replace('s′', 't')}"
    return "_" if word == "×/s" else word


def _result_type(text: str) -> str:
    if text in ("n", "0 or 1"):
        return "i64"
    if text == "s as a vector":
        return "i64[_]"
    return "char[_]" if text == "text" else _side_type(text)


def entries_of_file(checked: Checked) -> tuple[CatalogueEntry, ...]:
    """The entries of a checked file's definitions, described by the comments above them."""
    if checked.result is None:
        return ()
    docs = {entry.name[2:]: entry.doc for entry in documentation.entries_of("_", checked.source.text)}
    defined = []
    for name, type_ in checked.types.items():
        lines = checked.result.describe(name) if type_ == "function" else ()
        types = tuple([line.partition(" : ")[2] for line in lines if " → " in line])
        title = "" if type_ == "function" else f": {type_}"
        defined.append(CatalogueEntry(name, title, docs.get(name, ""), Origin.YOURS, name, types))
    return tuple(defined)


# ---------------------------------------------------------------------------------------------------- search by words
#
# Entries are ranked by how many words they contain, then by where: in the name, a foreign name, or the description.
#
# Words are compared without their endings; synonyms (`SYNONYMS`) score less.

_WORD: Final = re.compile(r"[^\W_]+|[^\w\s]", re.UNICODE)
_STOP_WORDS: Final = frozenset(
    {"a", "an", "the", "of", "to", "in", "by", "for", "how", "do", "i", "is", "it", "with", "and", "on", "from", "at",
     "np", "jnp", "lax", "jax", "numpy", "each"}
)  # fmt: skip
NAME, FOREIGN, SAME_NAME, SAME_FOREIGN, PROSE, SAME_PROSE, START, NUMPY_NAME, TITLE = 12, 10, 7, 5, 3, 2, 3, 5, 4
COVERED = 30
SHOWN_FRACTION: Final = 0.25
"""The fraction of the best score below which an entry is not shown."""


@dataclass(frozen=True, slots=True)
class CatalogueMatch:
    score: int
    entry: CatalogueEntry


def search_words(words: Sequence[str], entries: Iterable[CatalogueEntry]) -> list[CatalogueMatch]:
    """The entries that contain as many of the words as the best one, best first."""
    query_words = _query_words(words)
    if not query_words:
        return []
    phrase = " ".join(words).lower()
    scored = [(covered, CatalogueMatch(score + _phrase_score(phrase, entry), entry)) for entry in entries
              for covered, score in [_score(query_words, phrase, entry)] if covered]  # fmt: skip
    most = max((covered for covered, _ in scored), default=0)
    best = max((one.score for covered, one in scored if covered == most), default=0) - most * COVERED
    best_hits = [one for covered, one in scored if covered == most and one.score - most * COVERED >= best * SHOWN_FRACTION]
    return sorted(best_hits, key=lambda one: (-one.score, one.entry.origin, one.entry.name))


def nearest_word(words: Sequence[str], entries: Iterable[CatalogueEntry]) -> str | None:
    """A word of the catalogue near an unknown one; None if there is none."""
    known = sorted({word for entry in entries for word in _tokens(f"{entry.names} {entry.foreign_names}") if len(word) > 3})
    for word in words:
        guess = nearest(word.lower(), known) if len(word) > 3 else None
        if guess is not None and guess != word.lower():
            return guess
    return None


def _query_words(words: Sequence[str]) -> list[str]:
    tokens = [token for word in words for token in _tokens(word)]
    return [word for word in tokens if word not in _STOP_WORDS] or tokens


def _score(query_words: Sequence[str], phrase: str, entry: CatalogueEntry) -> tuple[int, int]:
    """The number of query words that an entry contains, and the sum of their scores."""
    names, foreign_names, prose = _stems(f"{entry.name} {entry.names}"), _stems(entry.foreign_names), _stems(entry.summary)
    if len(query_words) > 1 and entry.name.replace("x", "").replace("y", "") == phrase.replace(" ", ""):
        return len(query_words), NAME * 10
    covered, total = 0, TITLE * (entry.title.lower() in query_words)
    for word in query_words:
        stem = _stem(word)
        same = _STEM_SYNONYMS.get(stem, frozenset())
        score = (
            NAME if stem in names else FOREIGN if stem in foreign_names else SAME_NAME if same & names
            else SAME_FOREIGN if same & foreign_names else 0
        )  # fmt: skip
        score += NUMPY_NAME * (stem in {_stem(name[3:]) for name in entry.foreign_names.split() if name.startswith("np.")})
        score += PROSE if stem in prose else SAME_PROSE if same & prose else 0
        if not score and len(word) > 2:
            begun = any(one.startswith(stem) for one in (*names, *foreign_names))
            score = START if begun else int(any(one.startswith(stem) for one in prose))
        covered += score > 0
        total += score + COVERED * (score > 0)
    return covered, total


def _phrase_score(phrase: str, entry: CatalogueEntry) -> int:
    """The extra score of an entry that contains the words as a phrase."""
    if entry.names.lower() == phrase or entry.title.lower() == phrase:
        return 25
    return 10 * (" " in phrase and phrase in f"{entry.names} · {entry.foreign_names} · {entry.summary}".lower())


def _tokens(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _tokens(text))


def _stem(word: str) -> str:
    """A word without its ending: `sort` for sorting, sorted and sorts."""
    for ending in ("ing", "ed", "es", "s", "e", "ly"):
        if word.endswith(ending) and len(word) - len(ending) > 2 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


def _synonyms_of_stems() -> dict[str, frozenset[str]]:
    stems_of: dict[str, frozenset[str]] = {}
    for group in SYNONYMS:
        stems = frozenset(_stem(word) for word in group)
        for stem in stems:
            stems_of[stem] = stems_of.get(stem, frozenset()) | (stems - {stem})
    return stems_of


_STEM_SYNONYMS: Final = _synonyms_of_stems()
