"""Long and deep texts: they are read, or refused with a message, and never exhaust the stack."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings, strategies as st

from rho.lang.support.caches import cached_by_text
from rho.lang.syntax import source
from rho.lang.syntax.parser import Parsed, parse
from rho.lang.syntax.source import MAXIMUM_CHARACTERS, MAXIMUM_DEPTH, MAXIMUM_NESTING, Source
from rho.lang.tree import expressions


def codes(parsed: Parsed) -> list[str]:
    return [diagnostic.code for diagnostic in parsed.diagnostics]


def test_a_long_strand_is_one_token(parsed: Callable[..., Parsed]) -> None:
    text = " ".join(map(str, range(100_000)))
    assert len(source.read(text).tokens) == 1
    (statement,) = parsed("+/" + text).program.statements
    assert isinstance(statement, expressions.Evaluate) and isinstance(statement.value, expressions.Monadic)
    assert isinstance(statement.value.right, expressions.Number)
    assert statement.value.right.values == tuple(range(100_000))


@pytest.mark.parametrize("function", ["-", "1+", "+/", "{⍵}", "(-÷)"])
def test_three_hundred_functions_in_a_row(function: str, parsed: Callable[..., Parsed]) -> None:
    assert codes(parsed(function * 300 + "5")) == []


@pytest.mark.parametrize("open_close", ["()", "{}", "x[]", "[⋄]"])
@pytest.mark.parametrize("extra", [0, 1])
def test_nesting(open_close: str, extra: int, parsed: Callable[..., Parsed]) -> None:
    opening, closing = open_close[:-1], open_close[-1]
    depth = MAXIMUM_NESTING + extra
    text = opening * depth + "1" + closing * depth + ("1" if closing == "}" else "")
    assert codes(parsed("x ← 1\n" + text)) == (["E016"] if extra else [])


@pytest.mark.parametrize(
    "text",
    [
        "-" * (MAXIMUM_DEPTH + 1) + "1",
        "x ← " + "+" * (2 * MAXIMUM_DEPTH + 3),
        "-" + "¨" * (MAXIMUM_DEPTH + 1) + "1",
        "f ← {" + "-" * (MAXIMUM_DEPTH + 1) + "⍵}",
        "(" * 50_000,
        ")" * 50_000,
        "{" * 50_000 + "}" * 50_000,
        "x ← 1" + " " * MAXIMUM_CHARACTERS,
        "x : f64[n" + "+n" * 1_000 + "]",
        "x : " + "(" * 200 + "f64" + " ⋄ f64)" * 200,
        "schedule " + "{" * 200 + "}" * 200,
    ],
    ids=lambda text: text[:12],
)
def test_too_deep_or_too_long_is_a_message(text: str, parsed: Callable[..., Parsed]) -> None:
    found = codes(parsed(text))
    assert len(found) == 1 and found[0] in ("E016", "E003")


def test_the_deepest_tree_that_is_allowed(parsed: Callable[..., Parsed]) -> None:
    assert codes(parsed("-" * (MAXIMUM_DEPTH - 1) + "1")) == []
    assert codes(parsed("{" * MAXIMUM_NESTING + "-" * 1_800 + "⍵" + "}" * MAXIMUM_NESTING + "1")) == []


@pytest.mark.long
def test_many_statements_and_a_second_reading(parsed: Callable[..., Parsed], monkeypatch: pytest.MonkeyPatch) -> None:
    tokenized: list[str] = []
    depth_reached = source._depth_reached
    monkeypatch.setattr(source, "_depth_reached", lambda text: (tokenized.append(text), depth_reached(text))[1])
    text = "\n".join(f"v{i} ← (1 2 3+{i})×{{⍵+1}}⍳3" for i in range(2_000))
    assert len(parsed(text).program.statements) == 2_000
    tokenized.clear()
    assert len(parsed("first ← 0\n" + text).program.statements) == 2_001
    assert tokenized == ["first ← 0"]


def test_a_cache_of_texts_forgets_by_their_length() -> None:
    computed: list[str] = []
    cached = cached_by_text(100)(lambda text: (computed.append(text), len(text))[1])
    for text in ("", "b" * 90, "", "b" * 90, "c" * 90, "", "b" * 90):  # the generation before is asked too
        assert cached(text) == len(text)
    assert computed == ["", "b" * 90, "c" * 90]
    for letter in "defghij":
        cached(letter * 90)
    assert cached("") == 0 and computed.count("") == 2


def test_operators_in_operators_are_tried_out_a_bounded_number_of_times(parsed: Callable[..., Parsed]) -> None:
    depth = MAXIMUM_NESTING - 1
    assert codes(parsed("x ← " + "{⍺⍺ nope " * depth + "1" + "}" * depth)) == ["E001"]


@pytest.mark.long
def test_many_unknown_names_are_all_reported(parsed: Callable[..., Parsed]) -> None:
    assert len(parsed("\n".join(f"unknown{i} 1" for i in range(500))).diagnostics) == 500


CHARACTERS = "ab1 .¯_'\"`()[]{}⋄\n⍝←:;+-×/\\⍀⍤⍣∘⍨⍺⍵⍬⎕→∇#\t\r\x00é𝕩∣"


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=CHARACTERS, max_size=40))
def test_any_text_is_read_or_refused_with_spans_inside_it(text: str) -> None:
    for diagnostic in parse(Source("test", text)).diagnostics:
        spans = [diagnostic.span, *(edit.span for fix in diagnostic.fixes for edit in fix.edits)]
        assert all(0 <= span.start <= span.end <= len(text) for span in spans)
