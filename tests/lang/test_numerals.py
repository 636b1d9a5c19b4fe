"""Numbers of users, environments and files: however long, and in whatever script."""

from __future__ import annotations

import io

import pytest

from rho.lang.support.bounded_parsing import parse_natural
from rho.shell.console.standard_streams import Console
from rho.shell.main import main
from rho.shell.plotting.charts import terminal_lines

NONE = ["", "²", "١٢", "-1", "1.0", " 1", "1_0", "0x1", "101", "9" * 5000]


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_number_up_to_a_hundred(text: str) -> None:
    assert parse_natural(text, 100) is None


def test_numbers() -> None:
    assert [parse_natural(text, 100) for text in ("0", "7", "100", "007", "0" * 5000 + "9")] == [0, 7, 100, 7, 9]


@pytest.mark.parametrize("text", [*NONE[:-2], "9" * 5000])
def test_sizes_of_terminals_that_are_none(text: str) -> None:
    console = Console(io.StringIO(), io.StringIO(), io.StringIO(), {"COLUMNS": text})
    assert console.width == 80 and console.error_width >= 20 and terminal_lines({"LINES": text}) > 0


def test_a_search_for_a_size_of_5000_digits() -> None:
    console = Console(io.StringIO(), io.StringIO(), io.StringIO(), {})
    assert main(["search", f"f64[{'9' * 5000}] → f64"], console) in (0, 2)
    assert "a bug in Rho" not in console.err.getvalue()  # type: ignore[attr-defined]
