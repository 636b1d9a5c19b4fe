"""`--digits` holds for what `--json` says is printed."""

from __future__ import annotations

import json

import pytest

from .conftest import Rho


@pytest.mark.parametrize(("digits", "printed"), [("3", "0.333"), ("10", "0.3333333333"), ("17", "0.33333333333333331")])
def test_printed_has_so_many_digits(digits: str, printed: str, rho: Rho) -> None:
    made = json.loads(rho("eval", "--json", "--digits", digits, "1÷3").out)
    assert made["printed"] == [printed] and made["values"][0]["data"] == 1 / 3


@pytest.mark.parametrize("digits", ["3", "10", "17"])
def test_a_text_is_the_same_however_many_digits_are_printed(digits: str, rho: Rho) -> None:
    """What a program computes does not depend on how it is shown."""
    assert rho("eval", "--digits", digits, "⍕1÷3").out == "0.3333333333\n"
