"""Templates that call one another expand to a bounded number of operations."""

from __future__ import annotations

import pytest

from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.elaborate import context


@pytest.mark.parametrize("last", ["(g{i} ⍵)+g{i} ⍵", "g{i} ⍵"])
def test_expansion_is_bounded(last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "NODE_BUDGET", 20_000)
    monkeypatch.setattr(context, "DEPTH_LIMIT", 100)
    chain = "\n".join(f"g{i + 1}←{{{last.format(i=i)}}}" for i in range(200))
    result = check(Source("<test>", "g0←{⍵+1}\n" + chain + "\ng199 3"))
    assert [d.code for d in result.diagnostics] == ["E610"]


@pytest.mark.parametrize("signature", ["", "g{i} : f64[..s] → f64[..s]\n"])
def test_the_calls_that_multiply_are_named(signature: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "NODE_BUDGET", 1_000)
    chain = "\n".join(signature.format(i=i) + f"g{i} ← {{g{i - 1} g{i - 1} ⍵}}" for i in range(1, 16))
    (diagnostic,) = check(Source("<test>", text := signature.format(i=0) + "g0 ← {⍵+1}\n" + chain + "\ng15 3.0")).diagnostics
    spans = (diagnostic.span, *[label.span for label in diagnostic.labels])
    (called,) = {text[span.start : span.end] for span in spans}
    assert len(spans) == 2 and f"{called} {called} ⍵" in text
    assert diagnostic.notes[0].startswith(f"the program calls `{called}` at 2 places, `g")
