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
