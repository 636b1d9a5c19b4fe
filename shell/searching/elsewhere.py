"""What people call things: names of primitives and library functions in other systems, and words that mean the same.

Data only.  NumPy and JAX names are written with and without their module; Futhark, Haskell and APL words as they are said.
"""

from __future__ import annotations

from typing import Final

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
"""By the glyph of a function."""

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
    "∂": "jax.grad derivative differentiate autodiff jacobian",
}  # fmt: skip
"""By the glyph of an operator."""

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
"""By the name of a library function."""

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
"""Words that stand for each other in a search."""
