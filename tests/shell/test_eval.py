"""`rho.eval`: a text is checked once and means the same each time; values are the caller's own."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from values import is_within

import rho
from rho.shell.embedding import evaluating


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1+1", 2), ("2×1.5 2.5", [3.0, 5.0]), ("+/⍳10", 45), ("x ← ⍳4 ⋄ x×x", [0, 1, 4, 9]), ("⌽'abc'", ["c", "b", "a"]),
     ("2 3⍴⍳6", [[0, 1, 2], [3, 4, 5]]), ("1=1 2", [True, False]), ("+/(⍳1000)÷3", sum(range(1000)) / 3), ("⍴2 3⍴0", [2, 3]),
     ("1 2\n3 4", [3, 4]), ("`iota 3", [0, 1, 2])],
)  # fmt: skip
def test_the_value_each_time(text: str, expected: object) -> None:
    for _ in range(10):
        value = rho.eval(text)
        assert type(value) is np.ndarray
        assert is_within(value, expected, 4)


@pytest.mark.parametrize("text", ["2 3 4", "2×⍳5000", "+/⍳7", "⌽⍳6"])
def test_values_are_the_callers(text: str) -> None:
    values = [rho.eval(text) for _ in range(8)]
    expected = values[-1].copy()
    assert not any(np.shares_memory(a, b) for i, a in enumerate(values) for b in values[:i])
    for value in values[:-1]:
        value[...] = -1
    assert np.array_equal(values[-1], expected) and np.array_equal(rho.eval(text), expected)


def test_nothing_is_shown() -> None:
    assert rho.eval("x ← 1") is None
    assert rho.eval("x ← 1") is None


@pytest.mark.parametrize(("text", "error"), [("1 2+1 2 3", rho.Rejected), ("⌊1e300", rho.RhoError), ("(", rho.Rejected)])
def test_errors_each_time(text: str, error: type[Exception]) -> None:
    for _ in range(3):
        with pytest.raises(error):
            rho.eval(text)


def test_inputs_are_read_each_time(tmp_path: Path) -> None:
    session = rho.Session(str(tmp_path))
    np.save(tmp_path / "x.npy", np.arange(3.0))
    text = "input x : f64[n] ← 'x.npy'\n+/x"
    assert rho.eval(text, session) == 3.0
    np.save(tmp_path / "x.npy", np.arange(4.0))
    assert rho.eval(text, session) == 6.0
    with pytest.raises(TypeError, match="no value for x"):
        rho.eval("input x : f64[n]\nx", session)


def test_modules_are_read_each_time(tmp_path: Path) -> None:
    session = rho.Session(str(tmp_path))
    (tmp_path / "m.rho").write_text("k ← 3\n", encoding="utf-8")
    assert rho.eval('use "./m.rho"\nm.k', session) == 3
    (tmp_path / "m.rho").write_text("k ← 4\n", encoding="utf-8")
    assert rho.eval('use "./m.rho"\nm.k', session) == 4


def test_texts_are_forgotten() -> None:
    for number in range(evaluating.MOST_CACHED + 20):
        assert rho.eval(f"{number}+0") == number
    assert len(evaluating._evaluators) <= evaluating.MOST_CACHED


def test_many_threads() -> None:
    wrong: list[object] = []

    def work() -> None:
        for _ in range(100):
            if rho.eval("+/2×⍳50") != 2450:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("text", ["⎕slogdet {}", "⎕qr {}", "⎕svd {}", "⎕eigh {}", "({} ⋄ 2)", "(1 ⋄ 2 ⋄ 'a')"])
def test_a_result_of_several_parts_is_a_tuple_as_of_a_function(text: str) -> None:
    text = text.format("3 3⍴4.0 1 2 1 5 3 2 3 6")
    given, compiled = rho.eval(text), rho.compile(f"{{d←⍵ ⋄ {text}}}")(1.0)
    assert isinstance(given, tuple) and len(given) == len(compiled)
    assert all(np.array_equal(one, other) for one, other in zip(given, compiled, strict=True))
    assert isinstance(rho.eval(f'use stats\n{text}'), tuple)


def test_values_shown_by_calls_of_one_function_are_not_one_result() -> None:
    assert rho.eval("f ← {⎕←⍵}\nf 1\nf 2") == 2
