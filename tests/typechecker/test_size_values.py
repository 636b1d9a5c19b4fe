"""Sizes are values: names of sizes are integers in expressions, and an integer may give a size to a signature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rho.backend.vm.input_sizes import bind_sizes
from rho.lang.diagnostics.model import Refused
from rho.lang.syntax.source import Source
from rho.shell.pipeline import Session
from rho.tests.harness.tiers import PLANS, agree
from rho.typechecker.check import Checker


def checked(text: str) -> Any:
    return Session().check(Source("<test>", text))


X = np.arange(24.0).reshape(2, 3, 4)
V = np.array([3.0, 1.0, 2.0, 5.0])
VALUES: dict[str, tuple[str, Any]] = {
    "in a shape": ("input x : f64[b t e]\noutput a ← (b t (e÷2) 2)⍴x", X.reshape(2, 3, 2, 2)),
    "in a shape, with a factor": (
        "input x : f64[b t e]\ninput v : f64[h] where h ≥ 1, h∣e\noutput a ← (b t (e÷h) h)⍴x", X.reshape(2, 3, 1, 4)),
    "in arithmetic": ("input x : f64[b t e]\noutput a ← (+/,x)÷b×t×e", X.mean()),
    "in an index": ("input v : f64[n] where n ≥ 1\noutput a ← v[n-1]", 5.0),
    "in a guard": ("input v : f64[n]\noutput a ← {n=0 : 0 ⋄ ⌈/v} 0", 5.0),
    "in a function": ("input v : f64[n]\nf ← {⍵×n}\noutput a ← f v", V * 4),
    "hidden by a name": ("input v : f64[n]\nn ← 2\noutput a ← n×v", V * 2),
    "hidden in a function": ("input v : f64[n]\nf ← {n ← 3 ⋄ {n×⍵} ⍵}\noutput a ← f v", V * 3),
    "of a signature, in its body": ("mean : f64[n] → f64\nmean ← {(+/⍵)÷n}\ninput v : f64[m]\noutput a ← mean v,v", 2.75),
    "of a signature, not of the input": ("input v : f64[n]\nmean : f64[n] → f64\nmean ← {(+/⍵)÷n}\noutput a ← mean v,v", 2.75),
    "of a signature, in an inner function": (
        "input v : f64[n]\nf : f64[m] → f64[m]\nf ← {{⍵×m} ⍵}\noutput a ← f v", V * 4),
    "of a call in a call": (
        "f : f64[n] → f64\nf ← {(+/⍵)÷n}\ng : f64[n] → f64\ng ← {n×f 2↑⍵}\ninput v : f64[m]\noutput a ← g v", 8.0),
    "a size that a fact defines": (
        "half : f64[n] → f64[m] where n = 2×m\nhalf ← {m↑⍵}\ninput v : f64[n] where 2∣n\noutput a ← half v", [3.0, 1.0]),
    "a size that the mask has": ("input v : f64[n]\nh : f64[k] → f64\nh ← {k}\noutput a ← h (v>1)⌿v", 3.0),
    "the first of k": (
        "top : (k) → f64[n] → f64[k] where k ≤ n\ntop ← {⍺↑⍵[⍒⍵]}\ninput v : f64[n] where n ≥ 2\noutput a ← 2 top v", [5.0, 3.0]),
    "by the name of the size": (
        "top : (k) → f64[n] → f64[k] where k ≤ n\ntop ← {k↑⍵[⍒⍵]}\ninput v : f64[n] where n ≥ 2\noutput a ← 2 top v", [5.0, 3.0]),
    "heads": ("heads : (h) → f64[b t h×d] → f64[b t h d] where h ≥ 1\nheads ← {(b t h d)⍴⍵}\n"
              "input x : f64[b t e] where 2∣e\noutput a ← 2 heads x", X.reshape(2, 3, 2, 2)),
    "heads, the size on the right": (
        "heads : f64[b t h×d] → (h) → f64[b t h d] where h ≥ 1\nheads ← {(b t h d)⍴⍺}\n"
        "input x : f64[b t e] where 2∣e\noutput a ← x heads 2", X.reshape(2, 3, 2, 2)),
    "a param": ("param k ← 2 where k ≥ 1\nfill : (k) → f64[k]\nfill ← {k⍴1.5}\noutput a ← fill k", [1.5, 1.5]),
    "a count": ("fill : (k) → f64[k]\nfill ← {k⍴1.5}\ninput v : f64[n]\noutput a ← fill +/v>2", [1.5, 1.5]),
    "a square": (
        "square : (a) → f64[a×a] → f64[a a]\nsquare ← {(a a)⍴⍵}\ninput v : f64[n] where n = 4\n"
        "output a ← 2 square v", V.reshape(2, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_a_size_is_an_integer(name: str) -> None:
    text, wanted = VALUES[name]
    result = checked(text)
    assert result.core is not None, [d.message for d in result.diagnostics]
    params = {"k": 2} if "param k" in text else None
    inputs = {key: value for key, value in (("x", X), ("v", V)) if f"input {key} " in text}
    assert not agree(result.core, inputs, PLANS, params, wanted=[np.asarray(wanted, np.float64)])


JAX = {
    "comparisons are inconclusive": "input x : f64[a b]\noutput r ← {(a+1)≥b : 0 ⋄ 1} 0",
    "a size that was made an array is none": "input x : f64[b]\noutput r ← (b+2)⍴x",
    "a slice of b modulo 3": "input x : f64[b]\noutput r ← (3|b)↑x",
    "the k of the greatest k": "top : (k) → f64[n] → f64[k] where k ≤ n\ntop ← {k↑⍵[⍒⍵]}\ninput x : f64[n] where n ≥ 10\n"
                               "param k ← 3 where k ≤ 10\noutput r ← k top x",
    "a square length": "side : (a) → f64[a×a] → f64[a a]\nside ← {(a a)⍴⍵}\nparam a ← 3\ninput x : f64[a×a]\noutput r ← a side x",
    "two rows of b": "input x : f64[b] where 2∣b\noutput r ← 2 _⍴x",
    "two rows of b, or none": "input x : f64[b]\noutput r ← {0=2|b : 2 _⍴x ⋄ 0 0⍴x} 0",
    "from a ≥ b+8 follows a ≥ 8": "input x : f64[a b] where a ≥ b+8\noutput r ← x[⍳8;]",
    "one is another case": "input x : f64[b]\noutput r ← {b≠1 : 0 ⋄ +/x×,7} 0",
    "the first 16 of b": "input x : f64[b]\noutput r ← {b≥16 : x[⍳16] ⋄ x} 0",
}  # fmt: skip
"""What the documentation of jax.export says of symbolic dimensions: comparisons, arrays of sizes, slices by remainders, sizes
that no shape gives, nonlinear sizes, division; and its caveats."""


@pytest.mark.parametrize("name", JAX)
def test_what_symbolic_shapes_of_jax_cannot_say_is_accepted(name: str) -> None:
    result = checked(JAX[name])
    assert result.core is not None and not result.diagnostics, [d.message for d in result.diagnostics]


REFUSED = {
    "output a ← n": "E001", "y ← n\ninput x : f64[n]": "E001", "input x : (k)": "E011", "f : f64[n] → (k)\nf ← {≢⍵}": "E011",
    "f : f64[n] → f64\nf ← {⍵[0]÷T}": "E001", "input i : i64\nfill : (k) → f64[k]\nfill ← {k⍴1.5}\nfill i": "E403",
    "fill : (k) → f64[k]\nfill ← {k⍴1.5}\nfill ¯1": "E202", "fill : (k) → f64[k]\nfill ← {k⍴1.5}\nfill 1.5": "E300",
    "top : (k) → f64[n] → f64[k] where k ≤ n\ntop ← {k↑⍵}\n3 top 1 2": "E200",
    "top : (k) → f64[n] → f64[k]\ntop ← {⍵}": "E201", "f : f64[n] → f64[m]\nf ← {⍵}": "E122",
    "two : (k) → f64[k] → f64[k]\ntwo ← {⍵}\n3 two 1 2": "E200", "f : f64[n] → f64\nf ← {+/⍵}\nn": "E001",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_size_is_refused(text: str) -> None:
    assert REFUSED[text] in [d.code for d in checked(text).diagnostics if d.is_error]


def test_a_definition_that_reads_a_size_is_checked_again_when_the_input_changes() -> None:
    checker = Checker()
    text = "input x : f64[n] where n ≥ 3\nf : f64[m] → f64\nf ← {(⍳n)[2]+⊃0,⍵}\noutput a ← f x"
    for fact, codes in (("n ≥ 3", []), ("n ≥ 2", ["W310"]), ("n ≥ 3", []), ("n ≥ 1", ["W310"])):
        version = text.replace("n ≥ 3", fact)
        assert [d.code for d in checker.check(Source("<test>", version)).diagnostics] == codes


GROWING = {
    "a×a": lambda a, b: a * a, "a×a×a": lambda a, b: a**3, "(a×a)+a": lambda a, b: a * a + a,
    "(b×a)+a×a": lambda a, b: b * a + a * a, "(2×a×a)+3×b": lambda a, b: 2 * a * a + 3 * b,
    "(b×a×a)+1": lambda a, b: b * a * a + 1,
}  # fmt: skip


@pytest.mark.parametrize("size", GROWING)
def test_a_length_that_grows_with_a_size_determines_it(size: str) -> None:
    core = checked(f"input x : f64[{size}]\ninput z : f64[b]\noutput m ← a").core
    lengths = {GROWING[size](a, 3): a for a in range(7)}
    for length in range(max(lengths)):
        try:
            found = {variable.name: value for variable, value in bind_sizes(core, {"x": (length,), "z": (3,)}, {}).items()}
        except Refused as refused:
            assert length not in lengths and refused.diagnostics[0].code == "E706"
            assert refused.diagnostics[0].message.endswith(f"which {length} cannot be")
        else:
            assert found == {"a": lengths[length], "b": 3}
