"""Short expressions that have a name everywhere else: what is written for `cumsum`, `argmax`, `np.where` and the like.

Every row is tested: its example gives its value, and the checker accepts its function with its signature.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Idiom:
    """`code` as it is written of x and y, what it is, its signature and function, and its names `elsewhere`."""

    code: str
    title: str
    type: str
    function: str
    elsewhere: str
    example: tuple[str, str]


def _row(code: str, title: str, type: str, function: str, elsewhere: str, expression: str, value: str) -> Idiom:
    return Idiom(code, title, type, function, elsewhere, (expression, value))


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
