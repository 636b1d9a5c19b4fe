"""Offers of a plan as actions of the editor: what they write is accepted, means the same, and is no offer again."""

from __future__ import annotations

import numpy as np
import pytest
from values import is_within

from rho import backend
from rho.shell.lsp.diagnostics import Action, ActionKind, actions
from rho.shell.lsp.documents import Document, Range, TextPosition

from .texts import URI, applied, document, marked

DECLARED = "input A : f64[n n]\ninput B : f64[n n]\ninput v : f64[n]\ninput w : f64[n]\n"
OFFERED = {
    "output r ← +/+/v∘.×w": "(+/v)×+/w",
    "s ← 2×(+/+/v∘.×w)+1\noutput r ← 1+s": "(+/v)×+/w",
    "output r ← +/+/(v∘.×w)×v∘.×w": "(v+.×v)×w+.×w",
    "output r ← +/+/+/A(×⍤1⍤1 2)B": "(+⌿A)+.×+⌿B",
    "output r ← +/+/A (×⍤1⍤1 2) B": "A+.×+⌿B",
    "output r ← +/+⌿v∘.×⍉A∘.×v": "((+/v)×v)∘.×+⌿A",
    "m ← v∘.×w\noutput m\noutput r ← +/+/m": "(+/v)×+/w",
    "output r ← +/+/v∘.×w ⍝ all of it": "(+/v)×+/w",
}
KEPT = ["output r ← +/v∘.×w", "output r ← {+/+/⍵∘.×⍵} v", "output r ← (+/v)×+/w", "⍝ '\noutput r ← +/'a'=+/+/v∘.×w"]


def offered(text: str) -> tuple[Document, list[Action]]:
    opened, position = marked(DECLARED + text.replace("+/+", "+‸/+", 1) if "+/+" in text else DECLARED + text + "‸")
    return opened, [one for one in actions(opened, Range(position, position)) if one.kind is ActionKind.REWRITE]


@pytest.mark.parametrize("text", OFFERED)
def test_an_offer_is_taken(text: str) -> None:
    opened, found = offered(text)
    assert [action.title.split("`")[1] for action in found] == [OFFERED[text]]
    assert "fewer operations" in found[0].title and not found[0].is_only_fix
    made = document(applied(opened, found[0].edits[URI]))
    assert OFFERED[text] in made.text and made.checked.types == opened.checked.types
    rng = np.random.default_rng(4)
    given = {"A": rng.random((9, 9)), "B": rng.random((9, 9)), "v": rng.random(9), "w": rng.random(9)}
    results = []
    for one in (opened, made):
        assert one.checked.core is not None
        bound = backend.load(one.checked.core, given)
        results.append(backend.execute(backend.plan(bound), bound, given).outputs["r"].value)
    assert is_within(*results)
    assert not [one for line in range(8) for one in actions(made, _line(line)) if one.title.startswith("write")]


def _line(line: int) -> Range:
    return Range(TextPosition(line, 0), TextPosition(line, 0))


@pytest.mark.parametrize("text", KEPT)
def test_no_offer(text: str) -> None:
    assert [action for action in offered(text)[1] if action.title.startswith("write")] == []
