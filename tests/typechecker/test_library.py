"""Modules of the standard library: each checks as a program, and a program that uses one checks only what it reaches."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rho
from rho.lang.syntax.source import Source
from rho.shell.pipeline import Session
from rho.typechecker.signatures import check_definition

LIBRARY = sorted((Path(rho.__file__).parent / "stdlib").glob("*.rho"))


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_every_definition_of_the_library_is_checked_here(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text(encoding="utf-8")
    checked: list[str] = []
    original = check_definition._check_samples
    monkeypatch.setattr(
        check_definition, "_check_samples", lambda ctx, function: checked.append(function.name) or original(ctx, function)
    )
    assert not [one for one in Session().check(Source(str(path), text)).diagnostics if one.is_error]
    signed = re.findall(r"^(\w+) *: .*→", text, re.M)
    assert set(signed) <= set(checked)


def test_a_program_checks_what_it_reaches_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    original = check_definition._check_samples
    monkeypatch.setattr(
        check_definition, "_check_samples", lambda ctx, function: checked.append(function.name) or original(ctx, function)
    )
    result = rho.eval("use set\nset.size 3 1 3")
    assert result == 2 and checked == ["size"]
