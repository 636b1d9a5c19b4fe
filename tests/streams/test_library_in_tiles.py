"""The page of streams says of each function of the library in how many passes it flows, or why it does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .library_in_tiles import CALLS, passes, store_inputs

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    stored = tmp_path_factory.mktemp("stored")
    store_inputs(stored)
    return stored


def _rows() -> dict[str, str]:
    """By function, what the page says."""
    page = (Path(__file__).parents[2] / "docs" / "streams.md").read_text(encoding="utf-8")
    section = page.partition("## The library in tiles\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([a-z][^|]*) \| (`[^|]+) \|$", section, re.MULTILINE)
    return {function: count for count, functions in rows for function in re.findall(r"`([^`]+)`", functions)}


@pytest.mark.parametrize("function", CALLS)
def test_the_page_says_how_a_function_flows(function: str, folder: Path) -> None:
    assert _rows()[function] == passes(function, folder)


def test_the_page_lists_the_functions_that_are_tried() -> None:
    assert sorted(_rows()) == sorted(CALLS)
