"""`rho.grad` and `rho.value_and_grad`."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import rho
from rho.lang.diagnostics.model import RhoError

X = np.array([0.5, -1.0, 2.0])


@pytest.mark.parametrize("text", ["{+/⍵*3}", "f ← {⍵*3}\n{+/f ⍵}", "+/(×⍨×⊢)", "f ← {+/⍵*3}\nf"])
def test_a_gradient_of_a_function_of_one_argument(text: str) -> None:
    for function in (text, rho.compile(text)):
        assert np.allclose(rho.grad(function)(X), 3 * X**2, rtol=1e-15)
        value, slope = rho.value_and_grad(function)(X)
        assert np.isclose(value, np.sum(X**3), rtol=1e-15)
        assert np.allclose(slope, 3 * X**2, rtol=1e-15)


def test_a_function_of_two_arguments_is_differentiated_by_the_right_one() -> None:
    a = np.arange(6.0).reshape(2, 3)
    assert np.allclose(rho.grad("{+/(⍺+.×⍵)*2}")(a, X), 2 * a.T @ (a @ X))
    for product in ("+.×", rho.compile("+.×")):  # a function without `⍺` in its text takes two all the same
        assert rho.grad(product)(X + 1, X).tolist() == (X + 1).tolist()


def test_gradients_of_gradients_and_pickles() -> None:
    slope = pickle.loads(pickle.dumps(rho.grad("{+/⍵*3}")))
    assert np.allclose(rho.grad("{+/0.5×{+/⍵*3}∂⍵}")(X), 3 * X)
    assert np.allclose(slope(X), 3 * X**2)


def test_gradients_of_gradients_from_python() -> None:
    third = rho.grad(rho.grad(rho.grad("{⍵*4}")))
    assert third(2.0) == 48
    assert pickle.loads(pickle.dumps(third))(2.0) == 48
    assert rho.grad(rho.grad("{⍺×⍵*3}"))(5.0, 2.0) == 60
    value, slope = rho.value_and_grad(rho.grad("∆f ← {⍵*2}\n{⍵×∆f ⍵}"))(2.0)
    assert (value, slope) == (12, 12)
    assert rho.compile("∆f ← {⍵+1}\n∆f")([1, 2]).tolist() == [2, 3]


def test_a_left_argument_may_have_a_default() -> None:
    slope = rho.grad("{⍺←2 ⋄ +/⍺×⍵*2}")
    for function in (slope, pickle.loads(pickle.dumps(slope))):
        assert function(X).tolist() == [2, -4, 8]
        assert function(1.5, X).tolist() == [1.5, -3, 6]
        assert function(X).tolist() == [2, -4, 8]
        assert function.result_type("f64[3]") == function.result_type("f64", "f64[3]") == "f64[3]"
    value, _ = rho.value_and_grad("{⍺←2 ⋄ +/⍺×⍵*2}")(X)
    assert value == 10.5
    with pytest.raises(rho.Rejected, match="needs a left argument") as caught:
        rho.grad("{+/⍺×⍵}")(X)
    assert "∆left" not in str(caught.value)


def test_a_wrong_function_is_refused() -> None:
    with pytest.raises(TypeError, match="of its text, not int"):
        rho.grad(3)  # type: ignore[arg-type]
    with pytest.raises(RhoError, match="E630"):
        rho.grad("{⍵*2}")(X)
    with pytest.raises(RhoError, match="E630"):
        rho.grad("{+/⍵}")(np.arange(3))


@pytest.mark.parametrize("x", [[1, 2, 3], np.array([1j]), 3, "abc", [True]])
def test_what_has_no_gradient_is_named_as_an_argument(x: object) -> None:
    calls = ((rho.grad("{+/⍵*2}"), (x,), "the argument"), (rho.value_and_grad("{+/⍺×⍵*2}"), (1.5, x), "the right argument"))
    for function, given, name in calls:
        with pytest.raises(rho.Rejected, match=f"E630.*: {name} has elements of type .*, and only f32 and f64") as caught:
            function(*given)
        cure = {"j": "[x.real, x.imag]", "U": "^"}.get(np.asarray(x).dtype.kind.replace("c", "j"), "numpy.asarray(x, float)")
        assert cure in str(caught.value) or (cure == "^" and "  = " not in str(caught.value))
    assert rho.grad("{+/⍺×⍵*2}")(3, [1.0, 2.0]).tolist() == [6, 12]


WRONG = ["{+/⍺×⍵*2}", "{⍵*2}", "{+/⍵+'a'}", "n ← 2\nf ← {n×⍵}\n{+/f ⍵+⍳3 3}", "{+/⍵[9]}", "+/∘⍉∘nope", "{∆f ← 3 ⋄ +/⍵+'a'}"]


@pytest.mark.parametrize("text", WRONG)
@pytest.mark.parametrize("take", [
    rho.grad, rho.value_and_grad, lambda text: rho.grad(rho.grad(text)), lambda text: rho.grad(rho.compile(text))
])  # fmt: skip
def test_errors_of_gradients_show_the_text_that_was_written(take: Any, text: str) -> None:
    for arguments in ((X,), (np.ones((2, 2)), X), (X, np.array([1j]))):
        with pytest.raises((RhoError, TypeError)) as caught:
            for again in (lambda function: function, lambda function: pickle.loads(pickle.dumps(function))):
                again(take(text))(*arguments)
        shown = [line.partition("│")[2].strip() for line in str(caught.value).splitlines() if line.lstrip()[:1].isdigit()]
        assert set(shown) <= {line.strip() for line in text.split("\n")}, caught.value
        assert "∆left" not in str(caught.value) and ("∆f" in text or "∆f" not in str(caught.value)), caught.value
        for one in caught.value.diagnostics if isinstance(caught.value, RhoError) else ():
            assert 0 <= one.span.start <= one.span.end <= len(text) + 1


@pytest.mark.parametrize("take", [rho.compile, rho.grad, rho.value_and_grad])
@pytest.mark.parametrize("text", ["mean ← {(+⌿⍵)÷≢⍵}", "use stats\nf←stats.mean", "f ← {⍵} ⋄ g ← +/∘f"])
def test_a_function_for_python_has_no_name(take: Any, text: str) -> None:
    """The cure works: the function without the name is one."""
    said = "E134.*: the last statement is the function and has no name: leave out `[a-z]+ ←`"
    with pytest.raises(rho.Rejected, match=said) as caught:
        take(text)
    (one,), text = caught.value.diagnostics, text.replace(" ⋄ ", "\n")
    assert take(text[: one.span.start] + text[one.span.end :])(X) is not None
