"""The planned executor gives what the reference interpreter gives, on every kind of program, with passes on and off."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from share import seeds

from rho.backend.cpu import phases
from rho.backend.vm.values import to_numpy
from rho.tests.graph.test_random import program
from rho.tests.harness.tiers import agree, checked

CORPORA = Path(__file__).parents[1] / "corpora" / "data"


def corpus(name: str, field: str) -> list[tuple[str, int]]:
    rows = [json.loads(line) for line in (CORPORA / name).read_text(encoding="utf-8").splitlines()]
    return [(row[field], row.get("io", 0)) for row in rows]


@pytest.mark.parametrize("part", range(8))
def test_expressions(part: int) -> None:
    ran = 0
    for text, origin in corpus("apl_expressions.jsonl", "expr")[part::8]:
        core = checked(text, origin)
        if core is not None and not core.inputs:
            ran += 1
            assert not agree(core, {}), text
    assert ran > 20


def test_idioms() -> None:
    ran = 0
    for text, origin in corpus("apl_idioms.jsonl", "program"):
        core = checked(text, origin)
        if core is not None and not core.inputs:
            ran += 1
            assert not agree(core, {}), text
    assert ran > 60


@pytest.mark.parametrize("seed", seeds(400))
def test_random_cores(seed: int) -> None:
    build = program(seed)
    assert not agree(build.core(), {name: to_numpy(value) for name, value in build.data.items()})


DECLARED = """input f : f64[n]
input g : f64[n]
input i : i64[n]
input b : bool[n]
input t : char[n]
input s : f32[n]
input z : c128[n]
input u : u8[n]
input A : f64[r c]
input I : i64[r c]
input B : bool[r c]
input C : f64[r]
input D : f64[c]
input k : i64[]
"""

PROGRAMS = (Path(__file__).parent / "programs.txt").read_text(encoding="utf-8").splitlines()


def data(n: int, r: int, c: int) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    rng = np.random.default_rng(n + 7 * r + 31 * c)
    wild = rng.standard_normal(n)
    wild[::5] = 0.0
    return {
        "f": wild, "g": rng.standard_normal(n), "i": rng.integers(-4, 9, n), "b": rng.random(n) < 0.5,
        "t": np.array(list("abcab ⍴d" * 3)[:n], "U1").reshape(n), "s": rng.standard_normal(n).astype(np.float32),
        "z": rng.standard_normal(n) + 1j * rng.standard_normal(n), "u": rng.integers(0, 200, n).astype(np.uint8),
        "A": rng.standard_normal((r, c)), "I": rng.integers(-9, 9, (r, c)), "B": rng.random((r, c)) < 0.7,
        "C": rng.standard_normal(r), "D": rng.standard_normal(c), "k": np.array(3),
    }  # fmt: skip


@pytest.fixture(params=["whole arrays", "slices"])
def in_slices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small spaces take the way of large ones."""
    if request.param == "slices":
        monkeypatch.setattr(phases, "WHOLE", 1)
        monkeypatch.setattr(phases, "BOX_BYTES", 24)
        monkeypatch.setattr(phases, "SUM_POINTS", 3)


@pytest.mark.usefixtures("in_slices")
@pytest.mark.parametrize("part", range(6))
def test_programs(part: int) -> None:
    """Element-wise, structural, reducing, selecting and searching programs at several sizes, none included."""
    refused = []
    for text in PROGRAMS[part::6]:
        core = checked(DECLARED + text)
        if core is None:
            refused.append(text)
            continue
        for n, r, c in ((5, 3, 4), (1, 1, 1), (0, 0, 3), (7, 2, 0), (2, 3, 2)):
            try:
                problems = agree(core, data(n, r, c))
            except Exception as error:
                raise AssertionError(f"{text} at n={n} r={r} c={c}") from error
            assert not problems, (text, n, r, c, problems)
    assert not refused
