"""Frames of lifted calls between the words."""

from __future__ import annotations

import pytest

from rho.shell.lsp.hints import HintKind, hints

from .texts import document

INPUTS = "input x : f64[n m]\ninput v : f64[m]\ninput c : f64[a b d]\nnorm : 2 f64[n] → f64\nnorm ← {√+/⍵×⍵}\n"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("norm x", "norm⟨n⟩ x"), ("norm c", "norm⟨a b⟩ c"), ("norm v", "norm v"), ("(norm x)+norm x", "(norm⟨n⟩ x)+norm⟨n⟩ x"),
        ("{⍵÷+/⍵}⍤1 ⊢ c", "{⍵÷+/⍵}⍤1⟨a b⟩ ⊢ c"), ("{⍵[⍋⍵]}˘x", "{⍵[⍋⍵]}˘⟨n⟩x"), ("⍋⍤1 ⊢ x", "⍋⍤1⟨n⟩ ⊢ x"),
        ("+/⍤1 ⊢ x", "+/⍤1⟨n⟩ ⊢ x"), ("+⌿⍤2 ⊢ c", "+⌿⍤2⟨a⟩ ⊢ c"), ("+\\⍤1 ⊢ c", "+\\⍤1⟨a b⟩ ⊢ c"), ("+/˘x", "+/˘⟨n⟩x"),
        ("x +⍤1 ⊢ v", "x +⍤1⟨n⟩ ⊢ v"), ("v ×⍤0 1 ⊢ v", "v ×⍤0 1⟨m⟩ ⊢ v"), ("x+˘x", "x+˘⟨n⟩x"), ("x +⍤¯1 ⊢ x", "x +⍤¯1⟨n⟩ ⊢ x"),
        ("+/`rank 1 ⊢ x", "+/`rank 1⟨n⟩ ⊢ x"), ("+/⍤1 ⊢ v", "+/⍤1 ⊢ v"), ("+/⍤2 ⊢ v", "+/⍤2 ⊢ v"), ("x+⍤0 1 ⊢ 3", "x+⍤0 1 ⊢ 3"),
        ("x+x", "x+x"), ("+/x", "+/x"),
    ],
)  # fmt: skip
def test_frames(line: str, wanted: str) -> None:
    opened = document(f"{INPUTS}{line}\n")
    assert opened.checked.accepted, opened.checked.diagnostics
    made = line
    for hint in reversed(hints(opened, opened.lines.full_range())):
        if hint.kind is HintKind.FRAME:
            made = f"{made[: hint.position[1]]}{hint.text}{made[hint.position[1] :]}"
            assert hint.text in hint.detail
    assert made == wanted


def test_uses_with_several_frames_show_none() -> None:
    one = document(f"{INPUTS}g ← {{norm ⍵}}\ng x\n")
    two = document(f"{INPUTS}g ← {{norm ⍵}}\ng x\ng c\n")
    assert [hint.text for hint in hints(one, one.lines.full_range()) if hint.kind is HintKind.FRAME] == ["⟨n⟩"]
    assert [hint.text for hint in hints(two, two.lines.full_range()) if hint.kind is HintKind.FRAME] == []
