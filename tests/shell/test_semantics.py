"""docs/semantics.md points to modules: each is there, and what it says can be tried is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rho.backend.schedule.verify.judge import Rule
from rho.lang.diagnostics.help_pages import page_of
from rho.typechecker.core.operations import Core
from rho.typechecker.elements import Kind
from rho.typechecker.proof.obligations import Relation

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:lang|typechecker|backend|stdlib|shell|tests)/[\w/]*(?:\.py)?)`", TEXT)))


@pytest.mark.parametrize("path", NAMED)
def test_every_module_named_is_there(path: str) -> None:
    assert (ROOT / path).is_dir() if path.endswith("/") else (ROOT / path).is_file()


def test_most_rules_name_one() -> None:
    assert len(NAMED) >= 40
    for row in re.findall(r"^\| (?!-|rule|what|claim)(.*) \|$", TEXT, re.M):
        assert re.search(r"`[\w/]+(?:\.py|/)`", row), row


def test_the_lists_are_complete() -> None:
    assert all(kind.value in TEXT for kind in Kind)
    assert len(Relation) == 6, "the page lists the relations of facts"
    codes = {code.name for code in Rule}
    assert {f"V{number}" for number in (1, 2, 3, 4, 5, 6, 8, 9)} <= codes
    for code in re.findall(r"\b[EW]\d{3}\b", TEXT):
        assert page_of(code) is not None, code
    assert hasattr(Core, "__slots__")
