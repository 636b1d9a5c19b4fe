"""Rho from Python: functions of arrays, programs, errors that carry diagnostics, threads, memory that is not shared."""

from __future__ import annotations

import array
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rho


def test_a_function_of_arrays() -> None:
    mean = rho.compile("{(+⌿⍵)÷≢⍵}")
    assert mean(np.arange(10.0)) == 4.5
    assert mean(np.arange(6).reshape(3, 2)).tolist() == [2.0, 3.0]
    assert mean.result_type("f64[n 3]") == "f64[3]"


def test_names_and_modules_before_the_function() -> None:
    assert rho.compile("use stats\nhalf ← {⍵÷2}\nhalf stats.mean")([2.0, 4.0]) == 1.5
    assert rho.compile("+/  ⍝ a sum")([1, 2, 3]) == 6


def test_two_arguments_and_a_tuple_of_results() -> None:
    assert rho.compile("-")(5, [1, 2]).tolist() == [4, 3]
    reversed_, total = rho.compile("{(⌽⍵ ⋄ +/⍵)}")([1, 2, 3])
    assert reversed_.tolist() == [3, 2, 1] and total == 6


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array([1, 2], dtype=np.float32), "float32"),
        (np.array([True, False]), "bool"),
        (array.array("d", [1.0, 2.0]), "float64"),
        (memoryview(b"ab"), "uint8"),
        ([1, 2], "int64"),
        (2.5, "float64"),
        (1 + 2j, "complex128"),
    ],
)  # fmt: skip
def test_what_has_the_array_interface_keeps_its_element_type(value: object, expected: str) -> None:
    assert rho.compile("{⍵}")(value).dtype == np.dtype(expected)


def test_text_goes_in_and_comes_out() -> None:
    assert "".join(rho.compile("⌽")("abc")) == "cba"


class Shared:
    """An object that only knows DLPack."""

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self.values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.values.__dlpack_device__()


def test_dlpack() -> None:
    assert rho.compile("+/")(Shared(np.arange(4.0))) == 6.0


@pytest.mark.parametrize("text", ["{⍵}", "{⌽⌽⍵}", "{2↓⍵}", "{⍉⍵}", "{⍵⍴⍨⍴⍵}"])
def test_results_never_share_memory_with_arguments(text: str) -> None:
    given = np.arange(12.0)
    made = rho.compile(text)(given)
    assert not np.shares_memory(given, made)
    made[...] = -1.0
    assert given.tolist() == list(range(12))


def test_a_result_survives_the_next_call() -> None:
    double = rho.compile("{⍵×2}")
    first = double(np.arange(5.0))
    second = double(np.arange(5.0) + 1)
    assert (first.tolist(), second.tolist()) == ([0, 2, 4, 6, 8], [2, 4, 6, 8, 10])


def test_read_only_and_strided_arguments() -> None:
    given = np.arange(12.0).reshape(3, 4)[::-1, ::2]
    given.flags.writeable = False
    assert rho.compile("{⍵+1}")(given).tolist() == (given + 1).tolist()


def test_run_time_sizes_differ_from_call_to_call() -> None:
    keep = rho.compile("{(⍵>0)/⍵}")
    assert keep([1, -1, 2]).tolist() == [1, 2]
    assert keep([-1, -1, -1]).tolist() == []
    assert keep([3, 4, 5]).tolist() == [3, 4, 5]


@pytest.mark.parametrize(
    ("text", "code"), [("1+1", "E134"), ("{⍵+", "E003"), ("", "E002"), (")", "E003"), ("{⍵ nope 1}", "E001")]
)
def test_texts_that_are_no_function_are_rejected(text: str, code: str) -> None:
    with pytest.raises(rho.Rejected) as caught:
        rho.compile(text)
    assert caught.value.diagnostics[0].code == code
    assert "<rho.compile>:1:1\n1 │ 1+1\n" in str(caught.value) or text != "1+1"


def test_shapes_that_do_not_fit_are_rejected_before_anything_runs() -> None:
    add = rho.compile("+")
    with pytest.raises(rho.Rejected) as caught:
        add([1, 2], [1, 2, 3])
    assert [d.code for d in caught.value.diagnostics] == ["E101"]
    assert add([1, 2], [1, 2]).tolist() == [2, 4]


def test_a_failing_call_leaves_the_function_usable() -> None:
    whole = rho.compile("⌊")
    with pytest.raises(rho.RunFailed) as caught:
        whole([1.5, np.nan])
    assert caught.value.diagnostics[0].code == "E703"
    assert whole([1.5, 2.5]).tolist() == [1, 2]


@pytest.mark.parametrize("value", [np.array([1], dtype=object), object(), [[1], [1, 2]], {"a": 1}, None])
def test_values_that_are_no_arrays_are_type_errors(value: object) -> None:
    with pytest.raises(TypeError, match="the argument"):
        rho.compile("{⍵}")(value)


def test_one_function_serves_many_threads() -> None:
    square = rho.compile("{+/⍵×⍵}")
    wrong: list[object] = []

    def work(seed: int) -> None:
        for size in range(1, 40):
            given = np.arange(seed, seed + size, dtype=np.float64)
            if square(given) != (given * given).sum():
                wrong.append((seed, size))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# ------------------------------------------------------------------------------------------ programs

SCRIPT = """input x : f64[n]
param k ← 3
first ← k↑x
total ← +/x
total
output first
output total
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "sums.rho"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


def test_a_program_has_a_type_and_runs_on_arrays(script: Path) -> None:
    program = rho.load(script)
    assert program.type == "x : f64[n] ⋄ k → first : f64[k] ⋄ total : f64"
    found = program.run(x=np.arange(5.0), k=2)
    assert (found["first"].tolist(), float(found["total"]), found.printed) == ([0.0, 1.0], 10.0, ("10",))
    assert list(found) == ["first", "total"]


def test_bounds_take_the_lengths_of_texts_that_are_params_from_their_defaults(tmp_path: Path) -> None:
    (tmp_path / "named.rho").write_text('input x : f64[n]\nparam name ← "abc"\noutput y ← (≢name)+x\n', encoding="utf-8")
    program = rho.load(tmp_path / "named.rho")
    assert isinstance(program.bounds(n=10).memory, int)
    assert program.bounds(n=10, name_w=3) == program.bounds(n=10)


def test_the_type_of_a_result_needs_those_of_the_arguments() -> None:
    for types in ((), ("f64", "f64", "f64")):
        with pytest.raises(TypeError, match=f"the type of each, not {len(types)} types"):
            rho.compile("{⍵+1}").result_type(*types)


def test_bounds_are_numbers_once_all_sizes_are_known(script: Path) -> None:
    program = rho.load(script)
    assert "n" in program.bounds().formulas["memory"]
    with pytest.raises(TypeError, match=r"memory depends on n: give bounds\(n=…\)"):
        program.bounds().memory  # noqa: B018
    known = program.bounds(n=10**6)
    assert isinstance(known.memory, int) and known.memory >= 8 * 10**6 and known.bytes_read == 8 * 10**6 + 24
    with pytest.raises(TypeError, match="no size m"):
        program.bounds(m=3)


def test_integers_are_taken_for_reals_and_reals_not_for_integers(tmp_path: Path) -> None:
    path = tmp_path / "t.rho"
    path.write_text("input x : i64[n]\noutput x\n", encoding="utf-8")
    program = rho.load(path)
    assert program.run(x=np.array([1, 2], dtype=np.int32))["x"].dtype == np.int64
    with pytest.raises(rho.Refused) as caught:
        program.run(x=[1.5])
    assert caught.value.diagnostics[0].code == "E706"


@pytest.mark.parametrize(
    ("values", "text"),
    [({"y": 1}, "no input or param y"), ({}, "no value for x"), ({"x": [1.0], "k": 1.5}, "param k is a natural number")],
)
def test_wrong_values_of_programs_are_type_errors(script: Path, values: dict[str, Any], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        rho.load(script).run(**values)


def test_guards_refuse_before_running(script: Path) -> None:
    with pytest.raises(rho.Refused) as caught:
        rho.load(script).run(x=np.zeros((2, 2)))
    assert caught.value.diagnostics[0].code == "E706"


def test_indices_given_as_inputs_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "t.rho"
    path.write_text("input x : f64[n]\ninput i : idx<n>[m]\ny ← x[i]\noutput y\n", encoding="utf-8")
    program = rho.load(path)
    assert program.run(x=[1.0, 2.0], i=[1, 0, 1])["y"].tolist() == [2.0, 1.0, 2.0]
    with pytest.raises(rho.RhoError):
        program.run(x=[1.0, 2.0], i=[2])


@pytest.mark.parametrize("given", [3, None, b"{\xe2\x8d\xb5}", ["1+1"]])
@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (rho.compile, "rho.compile takes the text of a function, not "),
        (rho.eval, "rho.eval takes the text of a program, not "),
        (rho.check, "rho.check takes the text of a program, not "),
        (rho.load, "rho.load takes the path of a program's file, not "),
    ],
)
def test_what_is_no_text_is_a_type_error(entry: Any, says: str, given: object) -> None:
    with pytest.raises(TypeError) as raised:
        entry(given)
    assert str(raised.value) == says + type(given).__name__


def test_check_reports_and_raises_nothing() -> None:
    found = rho.check("x ← 1 2 3+1 2")
    assert not found.accepted and found.diagnostics[0].code == "E101"
    assert rho.check("x ← ⍳5").types == {"x": "idx<5>[5]"}


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(rho.RunFailed, match="there is no file"):
        rho.load(tmp_path / "nope.rho")


@pytest.mark.parametrize(
    ("text", "arguments", "place"),
    [("{⍵+1 2}", ([1, 2, 3],), "1:3\n1 │ {⍵+1 2}\n"), ("f ← {⍵+1}\n{(f ⍵)+1 2}", ([1, 2, 3],), "2:7\n2 │ {(f ⍵)+1 2}\n"),
     ("use stats ⋄ {stats.mean ⍵+1 2}", ([1.0, 2, 3],), "2:14\n2 │ {stats.mean ⍵+1 2}\n"),
     ("+", ([1, 2, 3], [1, 2]), "1:1\n1 │ +\n"),
     ("{⍵[⍺]}", (5, [1, 2]), "1:4\n1 │ {⍵[⍺]}\n"), ("{⍵+}", (1,), "1:3\n1 │ {⍵+}\n")],
)  # fmt: skip
def test_an_error_shows_the_callers_own_lines(text: str, arguments: tuple[Any, ...], place: str) -> None:
    with pytest.raises(rho.RhoError) as caught:
        rho.compile(text)(*arguments)
    assert f"┌─ <rho.compile>:{place}" in str(caught.value) and "∆" not in str(caught.value)
    (found,) = caught.value.diagnostics
    assert found.span.end <= len(text) + 1
