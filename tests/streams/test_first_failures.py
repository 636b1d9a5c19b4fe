"""A run in tiles that fails names the phase and the item that the run in memory names, whichever tile fails first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rho.lang.diagnostics.model import RhoError

from .running import loaded, results
from .test_failing_rows import LIMIT, ROWS, ended, is_alike

pytestmark = pytest.mark.long

WIDE = 40
HEAD = f"""input x : f64[n] where n ≥ 8
input y : f64[n]
input k : idx<9>[n]
input a : f64[n {WIDE}]
"""
LIMITS = (LIMIT, 4 * LIMIT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Whole numbers with few exceptions, at different rows of each input."""
    folder, draw = tmp_path_factory.mktemp("first"), np.random.default_rng(6)
    for name, shape in (("x", (ROWS,)), ("y", (ROWS,)), ("a", (ROWS // 4, WIDE))):
        np.save(folder / f"{name}-whole.npy", draw.integers(0, 9, shape).astype(float))
    for name in "xy":
        values = np.load(folder / f"{name}-whole.npy")
        for when, rows in (("early", [7, 90_000]), ("late", [ROWS - 5, ROWS - 3]), ("both", [11, ROWS - 2])):
            broken = values.copy()
            broken[rows] = draw.random(len(rows)) + draw.integers(0, 90)
            np.save(folder / f"{name}-{when}.npy", broken)
    for when, value in (("whole", 8), ("early", 9), ("late", 10)):
        keys = draw.integers(0, 9, ROWS)
        keys[{"whole": 0, "early": 3, "late": -3}[when]] = value
        keys[-1] = 8 if when == "whole" else 12
        np.save(folder / f"k-{when}.npy", keys)
    return folder


def agrees(program: str, folder: Path, files: dict[str, str], limit: int = LIMIT) -> bool:
    """Do both end alike, or is the one in tiles refused?"""
    streamed = ended(program, folder, limit, files)
    return streamed[0] == "refused" or is_alike(streamed, ended(program, folder, None, files))


PROGRAMS = (
    "v ← x+x\np ← ⌽v\noutput p\no ← i64 v\noutput o",
    "v ← x+x\no ← i64 v\noutput o\n⊃⌽v\nq ← i64 v\noutput q",
    "u ← +\\i64 x\nw ← i64 y\no ← w+u\noutput o",
    "w ← i64 y\nu ← +\\i64 x\no ← w+u\noutput o",
    "+/i64 x-+/y\n+/u8 y",
    "+/u8 y\n+/i64 x-+/y",
    "s ← i64 x\no ← s[⍋s]\noutput o\np ← u8 y\noutput p",
    "o ← x[⍋x]\noutput o\np ← i64 x\noutput p\nq ← i64 y\noutput q",
    "o ← (y>2)/i64 x\noutput o\np ← i64 y\noutput p",
    "p ← i64 y\noutput p\no ← (2<i64 x)/x\noutput o",
    "o ← i64 x\noutput o\n9 +⌸ (k ⋄ u8 y)",
)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(("x", "y", "k"), [
    ("late", "early", "whole"), ("early", "late", "whole"), ("both", "late", "early"), ("whole", "early", "late"),
    ("whole", "whole", "late"), ("both", "early", "whole"),
])  # fmt: skip
def test_the_first_failure_is_that_in_memory(program: str, x: str, y: str, k: str, folder: Path) -> None:
    files = {"x": f"x-{x}.npy", "y": f"y-{y}.npy", "k": f"k-{k}.npy"}
    text = "".join(line + "\n" for line in HEAD.splitlines()[: 3 if "k" in program else 2]) + program
    assert agrees(text, folder, files)


def said(text: str, folder: Path, limit: int | None, files: dict[str, str]) -> str:
    with pytest.raises(RhoError) as failed:
        results(loaded(text, folder, limit, files=files))
    return failed.value.diagnostics[0].message


@pytest.mark.parametrize("k", ["early", "late"])
@pytest.mark.parametrize("program", ["o ← i64 x\noutput o\n9 +⌸ (k ⋄ y)", "+/k", "o ← ⌽k+i64 x\noutput o"])
def test_inputs_are_checked_before_all(program: str, k: str, folder: Path) -> None:
    """The message names the first item that the declared type does not allow."""
    files = {"x": "x-both.npy", "y": "y-whole.npy", "k": f"k-{k}.npy"}
    text = "".join(line + "\n" for line in HEAD.splitlines()[:3]) + program
    message = said(text, folder, LIMIT, files)
    assert f"holds {9 if k == 'early' else 10}," in message and message == said(text, folder, None, files)


@pytest.mark.parametrize("program", [
    "o ← i64 ⍉a\noutput o", "o ← ⍉i64 a\noutput o", "b ← a+0.5\n+/,a\no ← i64 ⍉b\noutput o",
    "o ← +⌿i64 a\noutput o", "+/u8 +/a", "o ← +/i64 ⍉a\noutput o",
])  # fmt: skip
@pytest.mark.parametrize("limit", [1_000_000, 4_000_000])
def test_items_are_in_order_across_tiles(program: str, limit: int, folder: Path) -> None:
    """Tiles of rows of the input are columns of what fails."""
    values = np.load(folder / "a-whole.npy")
    values[17, 30], values[40_000, 20], values[45_000, 20] = 0.1, 0.2, 0.3
    np.save(folder / "a.npy", values)
    text = f"{HEAD.splitlines()[3]}\n{program}"
    assert said(text, folder, limit, {}) == said(text, folder, None, {})
