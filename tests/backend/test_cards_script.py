"""The script for whoever has a card: over the stand-in for CuPy it finds nothing wrong; without a card it says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rho.backend.gpu import cuda as bindings
from rho.benchmarks import cards
from rho.tests.backend import cuda_stub, test_cuda_backend
from rho.tests.kernels import cuda_host


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_cuda_backend, "MAKE", cuda_stub.card)  # the script puts its back end there
    monkeypatch.setattr(cards, "PART", 50)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")


@pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler")
def test_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(cards, "WORKLOADS", [replace(work, sizes=(3000,)) for work in cards.WORKLOADS])
    monkeypatch.setattr(cards, "others", lambda work, given, xp: {"CuPy": lambda: work.by_hand(given)})
    target = tmp_path / "deep" / "cards.md"
    code = cards.main(["--quick", "--rounds", "1", "--only", "W4", "--write", str(target)], cuda_stub)
    text = target.read_text(encoding="utf-8")
    assert code == 0, text
    assert text.strip() == capsys.readouterr().out.strip()
    assert text.startswith("Stub, Python") and " 0 wrong" in text
    lines = text.splitlines()
    assert sum(line.startswith("| W4 dot | f64 |") for line in lines) == 1 and "on the host" not in text.split("Milliseconds")[1]
    split = next(line for line in lines if line.startswith("| W4 dot |") and "f64" not in line)
    expected, taken = split.split("|")[4:6]
    assert float(expected) > 0 and float(taken) > 0


@pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler")
def test_what_is_wrong_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(test_cuda_backend, "disagreements", lambda core, given, hosted: ["3 is not 4"])
    assert cards.main(["--check", "--quick"], cuda_stub) == 1
    assert "3 is not 4" in capsys.readouterr().out


def test_without_a_card_it_says_why(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bindings, "cupy", lambda: None)
    assert cards.main([]) == 2
    assert "CUDA: none (cupy " in capsys.readouterr().err
