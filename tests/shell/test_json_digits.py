"""`--digits` holds for what `--json` says is printed."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator

import pytest

from rho.shell.start import main


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """The command installs handlers of its own for signals."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(("digits", "printed"), [("3", "0.333"), ("10", "0.3333333333"), ("17", "0.33333333333333331")])
def test_printed_has_so_many_digits(
    digits: str, printed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["rho", "eval", "--json", "--digits", digits, "1÷3"])
    assert main() == 0
    made = json.loads(capsys.readouterr().out)
    assert made["printed"] == [printed] and made["values"][0]["data"] == 1 / 3


@pytest.mark.parametrize("digits", ["3", "10", "17"])
def test_a_text_is_the_same_however_many_digits_are_printed(
    digits: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a program computes does not depend on how it is shown."""
    monkeypatch.setattr(sys, "argv", ["rho", "eval", "--digits", digits, "⍕1÷3"])
    assert main() == 0
    assert capsys.readouterr().out == "0.3333333333\n"
