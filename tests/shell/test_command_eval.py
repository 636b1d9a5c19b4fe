"""`rho eval`: values, JSON, lines, standard input."""

from __future__ import annotations

import json

import pytest

from .conftest import Rho


@pytest.mark.parametrize(
    "words", [("eval", "+/⍳10"), ("-c", "+/⍳10"), ("eval", "+/`iota 10"), ("eval", "+/", "⍳10"), ("eval", "--", "+/⍳10")]
)
def test_eval_prints_the_value(rho: Rho, words: tuple[str, ...]) -> None:
    ran = rho(*words)
    assert (ran.code, ran.out, ran.err) == (0, "45\n", "")


def test_eval_reads_standard_input(rho: Rho) -> None:
    assert rho("eval", "-", stdin="x ← 2 3⍴⍳6\nx\n+/x").out == "0 1 2\n3 4 5\n3 12\n"


def test_an_expression_may_start_with_a_minus(rho: Rho) -> None:
    assert rho("eval", "-3").out == "¯3\n"
    assert rho("eval", "-/5 2").out == "3\n"


def test_eval_json_has_the_documented_shape(rho: Rho) -> None:
    found = rho("eval", "x ← 2 2⍴⍳4 ⋄ x ⋄ ⎕←'ab'", "--json").json()
    assert set(found) == {"values", "printed", "diagnostics", "plan"}
    assert found["printed"] == ["0 1\n2 3", "ab"]
    first, second = found["values"]
    assert (first["name"], first["shape"], first["elem"], first["data"]) == ("x", [2, 2], "i64", [[0, 1], [2, 3]])
    assert (second["shape"], second["elem"], second["data"]) == ([2], "char", "ab")
    assert found["plan"]["devices"] == ["cpu0"]


@pytest.mark.parametrize(
    ("expression", "data"),
    [
        ("÷0 ¯0.5", ["inf", -2.0]),
        ("-÷0", "-inf"),
        ("(÷0)-÷0", "nan"),
        ("1J2 3", [[1.0, 2.0], [3.0, 0.0]]),
        ("2 2⍴'abcd'", ["ab", "cd"]),
        ("'a'", "a"),
        ("⍬", []),
        ("2 0⍴0", [[], []]),
        ("1 2=1 3", [True, False]),
    ],
)
def test_json_data(rho: Rho, expression: str, data: object) -> None:
    assert rho("eval", "--json", expression).json()["values"][-1]["data"] == data


def test_a_rejected_expression(rho: Rho) -> None:
    ran = rho("eval", "--json", "1 2 + 1 2 3")
    assert ran.code == 3
    found = ran.json()
    assert found["values"] == [] and found["printed"] == []
    assert found["diagnostics"][0]["code"] == "E101"
    assert "error[E101]" in ran.err


def test_nothing_is_printed_when_a_later_statement_fails(rho: Rho) -> None:
    ran = rho("eval", "1 ⋄ i ← 5+⌊1?1 ⋄ (⍳2)[i]")
    assert (ran.code, ran.out) == (1, "")
    assert "error[E310]" in ran.err


def test_verify_agrees_with_the_reference(rho: Rho) -> None:
    ran = rho("eval", "--verify", "(+/÷1+⍳1000) ⋄ 3 3⍴⍳9 ⋄ 'text' ⋄ ÷0")
    assert ran.code == 0, ran.err


def test_eval_without_an_expression(rho: Rho) -> None:
    ran = rho("eval")
    assert ran.code == 2
    assert "needs an expression" in ran.err


def test_lines_are_separate_programs(rho: Rho) -> None:
    ran = rho("eval", "--lines", "-", "--json", stdin="x ← 3 ⋄ x\nx\n\n1 2+1 2 3\n⍝ nothing\n2×3\n")
    assert ran.code == 0
    objects = [json.loads(line) for line in ran.out.splitlines()]
    assert [found["exit"] for found in objects] == [0, 3, 0, 3, 0, 0]
    assert [found["printed"] for found in objects] == [["3"], [], [], [], [], ["6"]]
    assert objects[1]["diagnostics"][0]["code"] == "E001"
    assert ran.err == ""


def test_lines_as_text(rho: Rho) -> None:
    ran = rho("eval", "--lines", "-", stdin="1+1\n1 2+1 2 3\n3\n")
    assert (ran.code, ran.out) == (3, "2\n3\n")
    assert "<line 2>:1:" in ran.err
