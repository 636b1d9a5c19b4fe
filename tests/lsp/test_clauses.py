"""Clauses of `input` and `output`: hover says what each word means, completion offers those that may stand at a place."""

from __future__ import annotations

import pytest

from rho.shell.lsp.completion import completion
from rho.shell.lsp.hover import hover

from .texts import marked

INPUT = 'input d : bool[n] ← "a.csv:day" as present missing 0 sep ";" decimal ","\n'
CLAUSES = {"as", "missing", "sep", "decimal", "group"}
FORMS = {"present"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (INPUT.replace("as present", "‸as present"), "How cells are read"),
        (INPUT.replace("present", "present‸"), "filled"),
        (INPUT.replace("missing", "mis‸sing"), "`NA`"),
        (INPUT.replace("sep", "se‸p"), "separates"),
        (INPUT.replace("decimal", "‸decimal"), "decimal sign"),
        ("input x : i64[n] a‸s present\n", "How cells are read"),
        ("day ← 3\noutput day a‸s \"%Y\"\n", "dates or times are written"),
    ],
)
def test_hover_on_a_clause(text: str, says: str) -> None:
    found = hover(*marked(text))
    assert found is not None and says in found.markdown


@pytest.mark.parametrize(
    "text", ["date ← 3\nda‸te+1\n", "sep ← 1\nx ← se‸p\n", "time ← 2\noutput ti‸me\n", "input da‸te : i64[n]\n"]
)
def test_these_words_are_names_elsewhere(text: str) -> None:
    found = hover(*marked(text))
    assert found is not None and "1970" not in found.markdown and "separates" not in found.markdown


def labels(text: str) -> list[str]:
    return [item.label for item in sorted(completion(*marked(text)), key=lambda item: item.order)]


@pytest.mark.parametrize(
    "text",
    ['input d : i64[n] ← "a.csv:day" ‸', 'input d : i64[n] ← "a.csv:day" mi‸', "input d : i64 a‸", "input d : date[n] ‸"],
)
def test_clauses_are_offered_first_after_the_path_or_the_type(text: str) -> None:
    assert set(labels(text)[:5]) == CLAUSES


def test_the_forms_are_all_that_is_offered_after_as() -> None:
    assert set(labels('input d : i64[n] ← "a.csv:day" as ‸')) == FORMS


@pytest.mark.parametrize(
    "text",
    ["input d : ‸", "input d : i64[‸", "input ‸", "output ‸", "output d ← ‸", "f : i64[n] ‸", "input d : f64[n] where n ‸"],
)
def test_no_clause_is_offered_elsewhere(text: str) -> None:
    assert not (CLAUSES - {"as"} | FORMS) & set(labels(text))
    assert "as" not in labels(text)


def test_types_of_time_are_offered_in_declarations_alone() -> None:
    units = {"date", "time", "days", "duration"}
    assert units <= set(labels("input d : d‸"))
    assert not units & set(labels("x ← d‸"))
