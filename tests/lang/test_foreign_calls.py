"""Every word of foreign calls with every way to name an axis: a message, never an exception of another kind."""

from __future__ import annotations

import itertools

import pytest
from share import share

import rho
from rho.lang.foreign import python

WORDS = sorted({
    *python.MONADIC_FUNCTIONS, *python.JOINING_FUNCTIONS, *(word for word, _ in python.CALLS), "stack", "column_stack", "matmul",
})  # fmt: skip
KEYWORDS = ("axis=0", "axis=-1", "axis=1", "axis=2", "axis=0, keepdims=True", "axis=None")
ARGUMENTS = ("x", "x, y", "[x, y]")
CASES = [*itertools.product(WORDS, ARGUMENTS, KEYWORDS)]


@pytest.mark.parametrize("prefix", ("np.", ""))
def test_every_call_along_an_axis_has_a_message(prefix: str) -> None:
    for word, arguments, keyword in share(CASES, seed=len(prefix)):
        text = f"x ← 1 2\ny ← 3 4\n{prefix}{word}({arguments}, {keyword})"
        messages = [one.message for one in rho.check(text).diagnostics]
        assert not any("……" in one for one in messages), (text, messages)


@pytest.mark.parametrize(
    ("text", "written"),
    [("A ← 3 3⍴⍳9\nA[:, [0]]", "A[;,0]"), ("A ← 3 3⍴⍳9\nA[:, [0, 2]]", "A[;0 2]"), ("np.sort(3 1 2)[::-1]", None)],
)
def test_a_fix_keeps_the_axis_of_a_list_and_is_never_the_text_itself(text: str, written: str | None) -> None:
    titles = [fix.title for one in rho.check(text).diagnostics for fix in one.fixes]
    assert titles == ([] if written is None else [f"write `{written}`"])
