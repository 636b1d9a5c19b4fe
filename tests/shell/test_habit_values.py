"""What hands that know NumPy, Python, JAX and Julia type: every fix checks and gives the value that is meant there.

The texts are Python, so NumPy itself says what they mean.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from share import drawing, repeats
from values import is_within

import rho
from rho.lang.foreign import function_names
from rho.lang.syntax.source import Source
from rho.shell.console.apply_fixes import apply_safe_fixes
from rho.shell.pipeline import Session

VALUES = {
    "x": "3 1 4 1 5", "y": "2.0 0.5 1 4 3", "A": "2 3⍴3 1 4 1 5 9", "B": "3 2⍴2 0 1 7 1 8", "Q": "2 2⍴2.0 1 1 3",
    "b": "3 1 4 1 5>2", "n": "3", "s": "'hello'",
}  # fmt: skip
PYTHON = (
    "np.gradient(y)", "np.hypot(x, y)", "np.median(x)", "np.std(y)", "np.var(y)", "sorted(x)", "np.sort(x)", "np.sort(A)",
    "np.unique(x)", "np.roll(x, 1)", "x[-1]+1", "x[-1] * 2", "1 + x[-1]", "A.sum(axis=1)", "A.sum(axis=0)", "A.sum(axis=-1)",
    "A.sum(1)", "A.sum(0)", "np.sum(A, axis=0)", "np.sum(A, axis=1)", "np.mean(A, axis=0)", "A.mean(axis=1)", "A.max(axis=0)",
    "A.min(axis=1)", "np.argsort(x, kind=\"stable\")", "np.arange(2,10,2)", "np.arange(2, 10)", "np.arange(10, 2, -2)",
    "A.reshape(3, 2)", "A.reshape(-1)", "x.reshape(5, 1)", "np.reshape(A, (3, 2))", "np.zeros((2, 3))", "np.ones((2, 3))",
    "np.zeros(4)", "np.full((2, 3), 7)", "A.argmax(axis=1)", "A.cumsum(axis=0)", "np.cumsum(A, axis=1)", "np.diff(A, axis=0)",
    "np.any(A > 4, axis=0)", "np.all(A > 0, axis=1)", "np.linalg.norm(y)", "np.linalg.det(Q)", "np.trace(Q)", "np.diagonal(Q)",
    "np.cross(x[:3], x[1:4])", "np.dot(x, y)", "np.matmul(A, B)", "np.inner(x, y)", "np.abs(x - 3)", "np.floor(y)",
    "np.square(x)", "np.cbrt(y)", "np.log2(y)", "np.log10(y)", "np.log1p(y)", "np.expm1(y)", "np.sinh(y)", "np.cosh(y)",
    "np.tanh(y)", "np.arcsin(y/4)", "np.arccos(y/4)", "np.arctan(y)", "np.clip(x, 2, 4)", "np.mod(x, 2)",
    "np.remainder(x, 2)", "np.floor_divide(x, 2)", "np.add(x, 1)", "np.subtract(x, 1)", "np.multiply(x, 2)",
    "np.divide(x, 2)", "np.negative(x)", "np.logical_and(b, b)", "np.logical_or(b, b)", "np.logical_not(b)",
    "np.count_nonzero(x > 2)", "np.flatnonzero(x > 2)", "np.isin(x, [1, 5])", "np.ptp(x)", "np.average(y)", "np.bincount(x)",
    "np.searchsorted([1, 3, 4], 3)", "np.repeat(x, 2)", "np.flip(x)", "np.fliplr(A)", "np.flipud(A)", "np.rot90(A)",
    "np.stack([x, x])", "np.column_stack([x, x])", "np.triu(Q)", "np.tril(Q)", "np.tri(3)", "np.take(x, [0, 1])",
    "np.transpose(A)", "np.isfinite(y)", "np.isinf(y)", "np.nansum(y)", "np.linalg.solve(Q, y[:2])", "np.fft.fft(y)",
    "np.array([1, 2, 3])", "np.array([[1, 2], [3, 4]])", "np.array_equal(x, x)", "np.allclose(x, x)", "np.copy(x)",
    "x.copy()", "x.tolist()", "x.dot(y)", "x.astype(np.float64)", "x.std()", "x.var()", "x.any()", "x.cumprod()",
    "x.flatten()", "x.clip(2, 4)", "x.repeat(2)", "x.argsort()", "np.round(y)", "round(2.6)", "int(2.6)", "float(3)",
    "abs(-3)", "pow(2, 3)", "divmod(7, 2)", "list(range(3))", "sum([1, 2, 3])", "max(1, 2)", "max(x)", "any(b)", "all(b)",
    "len(s)", "x[-1]", "x[1:3]", "x[1:]", "x[:-1]", "x[::2]", "x[1::2]", "x[x > 2]", "A[:, 1]", "A[1, :]", "A[0:1, 1:]",
    "A[:, -1]", "A[-1, :]", "3 in x", "x @ y", "A @ B", "n // 2", "n % 2", "n & 1", "n << 1", "n >> 1", "x != 3", "x == 3",
    "1e-3", "0b101", "0o17", "1_000", "A.mean(0)", "A.mean()", "np.exp(-y)", "np.exp(-y**2/2)", "np.sqrt(np.sum((x-y)**2))",
    "np.sum(x*y)/np.sum(y)", "(x - x.mean()) / x.std()", "x / x.sum()", "np.sum(x > 2)", "x[x > 2].sum()", "x[:3].sum()",
    "np.dot(A, B)", "A @ B + 1", "A.T @ A", "np.mean(x**2)", "abs(x - 3)", "x[1:] - x[:-1]", "np.cumsum(x)[-1]",
    "np.max(A, axis=0)", "np.abs(A).max()", "A[1:, :2]", "A[:, ::-1]", "A[-1]", "A[1, -1]", "np.outer(x, y)",
    "np.linspace(0, 1, 5)", "np.arange(0, 1, 0.25)", "np.arange(n)", "np.arange(n) ** 2", "np.ones((2, 2)) * 3",
    "np.eye(2) @ Q", "round(7.5)", "min(x)", "max(x) - min(x)", "sum(x) / n", "n % 2 == 0", "x % 2 == 0", "x[x % 2 == 0]",
    "(x > 1) & (x < 5)", "~(x > 2)", "x.max() - x.min()", "sum(x > 2)", "len(x[x > 2])", "np.argmax(x)", "np.argsort(-x)",
    "x[np.argsort(x)]", "np.prod(A.shape)", "np.log(y).sum()", "np.median(A)", "np.std(A)", "A.std(axis=0)",
    "np.median(A, axis=1)", "np.linalg.inv(Q)", "np.linalg.solve(Q, Q)", "np.hstack([x, y])", "np.tile(x, 2)", "np.unique(A)",
    "np.full(3, 1.5)", "np.identity(3)", "np.zeros_like(x)", "np.count_nonzero(A == 1)", "np.array([[1.5, -2], [3, 4]])",
    "np.sum(np.array([1, 2, 3]))", "np.float64(3)", "math.sqrt(2)", "math.floor(2.7)", "math.pi * 2", "math.hypot(3, 4)",
    "math.factorial(5)", "math.gcd(12, 18)", "np.inf > 3", "x.size + 1", "A.ndim", "x.mean(axis=0)", "A.reshape(2, -1)",
    "A.reshape(-1, 2)", "A.flatten()[2]", "np.where(x > 2)[0]", "np.nonzero(x > 2)[0]", "np.nonzero(x - 1)[0]",
    "np.flip(A, axis=1)", "np.flip(A, axis=0)", "np.flip(A, 1)", "int(-2.7)", "int(2.7)", "np.sort(A, axis=0)",
    "np.argmax(A, axis=0)",
    "np.argmin(A, axis=0)", "np.median(A, axis=0)", "sorted(x, reverse=True)", "x.std(ddof=1)", "A.var(ddof=1)",
    "A[A > 2]", "A[(A > 2) & (A < 5)]", "A[A.sum(axis=1) > 9]", "A[:, [0, 2]]", "A[:, x[:3] > 2]", "x.argsort()[::-1]",
    "sorted(x)[:2]", "sorted(x)[::-1]", "np.sort(x)[1:3]", "x.astype(int).sum()", "A.sum(axis=0).max()",
    "np.average(x, weights=y)", "np.tile(A, 2)", "np.take(A, [0, 1])",
    "np.where(A > 2)[0]", "np.where(np.outer(x, x) > 2)[0]",
    "np.where(A > 2)[1]", "np.nonzero(A - 1)[0]", "np.round(y, 1)", "y.round(2)", "np.round(A / 7, 2)",
    "np.roll(A, 1, axis=0)", "np.roll(A, -2, axis=1)", "x[(x > 1) & (x < 5)]",
)  # fmt: skip
ELSEWHERE = {
    "x.roll(1)": "np.roll(x,1)", "range(2, 10, 3)": "np.arange(2,10,3)", "reversed(x)": "x[::-1]",
    "x if n else n": "(x if n else n)", "length(x)": "len(x)", "maximum(x)": "x.max()", "x .+ 1": "x+1", "x[end]": "x[-1]",
    "zeros(2, 3)": "np.zeros((2,3))", "fill(7, 3)": "np.full(3,7)", "vcat(x, y)": "np.concatenate([x,y])", "println(3)": "3",
    "mod(x, 2)": "x%2", "div(7, 2)": "3", "div(-7, 2)": "-3",
    "x[1:end]": "x", "x[2:end]": "x[1:]", "cld(7, 2)": "4", "findall(x .> 2)": "np.flatnonzero(x>2)",
    "true": "True",
    "norm(y)": "np.linalg.norm(y)", "abs2(x)": "x*x", "jnp.sum(x)": "x.sum()",
    "jax.nn.relu(y-1)": "np.maximum(y-1,0)", "jax.numpy.mean(y)": "y.mean()", "jnp.where(x > 2, x, 0)": "np.where(x>2,x,0)",
    "torch.cat([x, y])": "np.concatenate([x,y])", "torch.matmul(A, B)": "A@B", "torch.sum(A, dim=0)": "A.sum(0)",
    "1/(1+np.exp(-y))": "1/(1+np.exp(-y))", "[i*i for i in range(4)]": "[0,1,4,9]",
    "x = np.sum(A, axis=0)\nx": "A.sum(axis=0)", "z = np.median(x) + 1\nz": "np.median(x)+1",
}  # fmt: skip
"""Other languages' texts, and Python of the same meaning."""


def repaired(typed: str) -> str:
    session = Session()
    head = "".join(f"{name} ← {value}\n" for name, value in VALUES.items())
    text = apply_safe_fixes(Source("<habit>", f"{head}{typed}\n"), lambda text: session.check(text).diagnostics).source.text
    assert session.check(Source("<habit>", text)).accepted, text
    return text


def meant(typed: str) -> object:
    names = {name: np.asarray(rho.eval(value)) for name, value in VALUES.items() if name not in "ns"}
    return eval(typed, {"np": np, "math": math, "n": 3, "s": "hello", **names})


@pytest.mark.parametrize(("typed", "python"), [*((text, text) for text in PYTHON), *ELSEWHERE.items()])
def test_a_fix_has_the_value_that_is_meant(typed: str, python: str) -> None:
    text = repaired(typed)
    value, expected = np.asarray(rho.eval(text)), np.asarray(meant(python))
    assert is_within(value, expected), text


UNSURE = (
    "np.add.outer(x, y)", "np.add.reduce(A)", "np.maximum.accumulate(A)", "list(map(lambda a: a * 2, x))",
    "A.sum(axis=1, keepdims=True)", "x ^ y", "z = x ^ y", "n ^= x", "~x", "x[~x]", "np.invert(x)",
    "np.subtract.reduce(x)", "np.logical_and.reduce(b)",
    "A.sum(axis=(0, 1))", "sum(A, dims=1)", "round(2.567, 2)", "np.mean(A, axis=1, where=A > 1)",
    "A - A.mean(axis=1, out=A)", "np.searchsorted(x, 3, side='right')", "np.linspace(0, 1, 5, endpoint=False)",
    "np.average(A, axis=0, weights=y)", "x.reshape(5, 1, order='F')", "torch.std(x)",
    "np.searchsorted(x, 3)",
    "np.diag(x)", "np.interp(2, x, y)", "np.pad(x, 1)", "np.delete(x, 1)", "np.fmod(x, 2)", "math.e", "x.dtype",
    "map(lambda a: print(a), x)", "[r.sum() for r in A]",
    "A[[0, 1], [1, 2]]", "std(x)", "var(x)", "int('12')",
    "scipy.stats.norm(x)", "scipy.stats.norm(x, 2)", "scipy.ndimage.sum(x)", "np.random.power(x)",
    "np.linalg.eig(A)", "np.linalg.eigvals(A)",
    "np.reshape(x, (-1, 2))", "x.reshape(3, 2)", "np.reshape(x, (2, 3))", "reshape(A, 3, 2)", "reshape(x, 5, 1)", "zeros(3)",
    "ones(2)", "sum(A)", "max(A)", "min(A)", "any(A)", "all(A > 1)", "mean(A)", "median(A)", "cumsum(A)", "sort(A)", "unique(A)",
    "diff(A)", "unique(x)", "stack([x, y])", "size(x)", "transpose(x)", "outer(A, x)",
    "length(A)", "norm(A)", "dot(A, B)", "flip(A)", "sum(A) + 1", "y * sum(A)", "np.linalg.svd(A)", "np.linalg.qr(A)",
    "np.linalg.eigh(Q)", "svd(A)", "repeat(x, 2)", "cat(x, y)", "identity(3)", "floor(2.5)", "factorial(5)", "comb(5, 2)",
    "round(y)", "x.append(3)", "x %*% y", "x'", "5:2", "x && y", "x ||= 2", "[r + x for r in A]", "b if n else x",
    "x if n else y",
    "np.size(A)", "np.reciprocal(x)", "⎕DT x", "⎕CR x", "⎕R x", "⎕SVC x", "⎕erff x", "⎕shx x",
)  # fmt: skip
"""What has several readings, or asks for what no text is sure to give."""


@pytest.mark.parametrize("typed", UNSURE)
def test_what_may_mean_another_value_gets_no_fix(typed: str) -> None:
    head = "".join(f"{name} ← {value}\n" for name, value in VALUES.items())
    found = [one for one in Session().check(Source("<habit>", f"{head}{typed}\n")).diagnostics if one.is_error]
    edits = [edit for one in found for fix in one.fixes for edit in fix.edits]
    assert found and not edits and "……" not in found[0].message, found


@pytest.mark.parametrize("typed", ["math.e", "x.dtype", "pd.concat(x)"])
def test_what_no_use_line_would_give_is_not_said_to_need_one(typed: str) -> None:
    (found,) = Session().check(Source("<habit>", f"x ← 3 1 2\n{typed}\n")).diagnostics
    assert not any("`use" in words for words in (found.message, *found.notes))


def test_a_mask_of_a_vector_stands_as_it_is() -> None:
    assert repaired("x[x > 2]").endswith("(x>2)⌿x\n")


def test_a_rounding_that_is_not_sure_to_be_the_same_names_what_does_its_work() -> None:
    (found,) = Session().check(Source("<habit>", "round(2.675, 2)\n")).diagnostics
    assert "`2 stats.round 2.675`" in found.message and not found.fixes[0].edits


def test_an_argument_by_name_that_has_no_spelling_is_named() -> None:
    (found,) = Session().check(Source("<habit>", "x ← 3 1 2\nnp.sum(x, initial=1)\n")).diagnostics
    assert "`initial=`" in found.message and not found.fixes


def test_a_library_is_taken_into_use_once_and_below_what_a_file_says_of_itself() -> None:
    source = Source("<habit>", "⍝ About this program.\n\nx ← 3 1 2\nnp.median(x)\nnp.std(x)\n")
    text = apply_safe_fixes(source, lambda text: Session().check(text).diagnostics).source.text
    assert text == "⍝ About this program.\n\nuse stats\nx ← 3 1 2\nstats.median ,x\nstats.deviation ,x\n"


@pytest.mark.parametrize("word", function_names.UNTRANSLATED)
def test_what_has_no_spelling_is_told_what_does_its_work(word: str) -> None:
    (found,) = Session().check(Source("<habit>", f"x ← 3 1 2\nnp.{word}(x)\n")).diagnostics
    assert found.message.startswith(function_names.UNTRANSLATED[word]) and not found.fixes


def test_a_function_of_the_programs_own_is_nobodys_habit() -> None:
    (found,) = Session().check(Source("<habit>", "clip ← {⍵}\nclip(x[0:1])\n")).diagnostics[:1]
    assert "there is no `clip`" not in found.message


ARRAYS = {"x": "3 1 4", "A": "2 3⍴3 1 4 1 5 9", "F": "3 2⍴2.5 0 1 ¯7 1 8", "C": "2 3 2⍴⍳12", "v": "0.5 2 4", "w": "2 5", "n": "3"}
STRETCHED = (
    *(f"A.{word}(axis={axis}, keepdims=True)" for word in ("sum", "mean", "max", "argmax") for axis in (0, 1, -1)),
    *(f"{one}.mean(axis={axis}, keepdims=True)" for one, axis in (("C", 2), ("C", 0), ("F", -1), ("x", 0))),
    "np.sum(A, axis=1, keepdims=True)", "A.sum(keepdims=True)", "x.sum(keepdims=True)",
    "np.linalg.norm(F, axis=1, keepdims=True)",
    "A.sum(axis=0)", "A.mean(axis=1)[:, None]", "F.std(axis=0)", "C.mean(axis=0)", "C.max(axis=2, keepdims=True)",
    "w[:, None]", "v[None, :]", "w[:, np.newaxis]", "v[np.newaxis, :]", "v", "w", "x", "A", "F", "C", "n", "2",
)  # fmt: skip


def test_arrays_that_numpy_stretches_have_the_value_that_is_meant() -> None:
    head = "".join(f"{name} ← {value}\n" for name, value in ARRAYS.items())
    names = {name: np.asarray(rho.eval(value)) for name, value in ARRAYS.items()}
    session, random, count = Session(), drawing("stretched"), 0
    signs = ("-", "/", "+", "<", "==", "%")
    pairs = [(left, sign, right) for left in STRETCHED for right in STRETCHED for sign in signs]
    for typed in ("A - A.mean(axis=0)", "A / A.sum(axis=1, keepdims=True)", *map(" ".join, random.sample(pairs, repeats(200)))):
        source = Source("<habit>", f"{head}{typed}\n")
        errors = [one for one in session.check(source).diagnostics if one.is_error]
        text = apply_safe_fixes(source, lambda text: session.check(text).diagnostics).source.text
        if not errors or not session.check(Source("<habit>", text)).accepted:
            continue
        try:
            with np.errstate(all="ignore"):
                expected = np.asarray(eval(typed, {"np": np, **names}))
        except ValueError:
            continue  # NumPy cannot stretch these; the fix is one of Rho's own
        assert is_within(np.asarray(rho.eval(text)), expected), (typed, text)
        count += 1
    assert count >= 2
