"""Programs in tiles against the same in memory: the same bits, within the limit, each byte of the file read once a pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import SHARE
from values import is_within

from rho.backend.schedule.plan.plan import StreamStep
from rho.backend.schedule.streams.stream_planning import MOST_KINDS
from rho.lang.diagnostics.model import Refused
from rho.shell.execution.streaming import InTiles

from .programs import CASES, DIVIDED, Case, data
from .running import loaded, results, same_bits

pytestmark = pytest.mark.long

SIZES = (1_000_003, DIVIDED, 1_048_577) if SHARE >= 1 else (1_000_003,)


@pytest.fixture(scope="module", params=SIZES)
def size(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def folder(size: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("stored")
    for name, array in data(size).items():
        np.save(made / f"{name}.npy", array)
    yield made
    for path in made.iterdir():
        path.unlink()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_bits_are_those_in_memory(case: Case, size: int, folder: Path) -> None:
    require_in_tiles(case, size, folder)


@pytest.mark.parametrize("case", [case for case in CASES if case.divided is not None], ids=lambda case: case.name)
def test_rows_that_divide_into_tiles(case: Case, tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", data(DIVIDED)["m"])
    require_in_tiles(case, DIVIDED, tmp_path)


def require_in_tiles(case: Case, size: int, folder: Path) -> None:
    whole = loaded(case.text, folder, None)
    assert not whole.plan.stores
    expected = results(whole)
    for limit in (case.limit, case.limit * 5 // 8):
        program = loaded(case.text, folder, limit)
        steps = [step for step in program.plan.main.queues[0].steps if isinstance(step, StreamStep)]
        assert len(steps) == (case.passes if case.divided is None or size != DIVIDED else case.divided)
        assert max(count for _, count in program.plan.main.peak) <= limit
        assert all(step.tiles > 1 or step.reads <= 64 for step in steps), "a row that is read alone has one tile"
        assert same_bits(results(program), expected)


def test_signs_of_zeros_missing_items_and_ties(tmp_path: Path) -> None:
    n = 1_000_003
    x = np.full(n, -0.0)
    x[700_000:] = np.random.default_rng(1).integers(-3, 4, n - 700_000)
    x[900_000] = np.nan
    k = np.where(np.arange(n) < 400_000, 1, 2)
    k[800_000:] = 4
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "k.npy", k)
    text = "input x : f64[n] where n ≥ 8\ninput k : idx<6>[n]\n"
    text += "6 +⌸ (k ⋄ x)\nx⍳⌈/x\nx⍳⌊/x\n(+/x<1)\nz ← ⌈\\x\noutput z\ny ← +\\x\noutput y"
    program = loaded(text, tmp_path, 4_000_000)
    assert program.plan.stores
    assert same_bits(results(program), results(loaded(text, tmp_path, None)))
    y = x[::-1].copy()
    np.save(tmp_path / "x.npy", np.where(np.isnan(y), 0, y))
    assert same_bits(results(loaded(text, tmp_path, 4_000_000)), results(loaded(text, tmp_path, None)))


SMALL = {
    "places of a whole value that move with the tiles": "r ← +⌿A×⌽u\noutput r",
    "a value that flows and is whole": "w ← 1+u\nr ← w,5\noutput r\n+/(0<w)/w",
    "a check whose value nothing reads": "v ← f32 x\nr ← 5↑x\noutput r",
}


@pytest.mark.parametrize("name", SMALL)
def test_a_small_value_beside_the_tiles(name: str, tmp_path: Path) -> None:
    rng, n = np.random.default_rng(1), 30_011
    data = {"x": rng.standard_normal(n), "u": rng.integers(0, 256, n).astype(np.uint8), "A": rng.standard_normal((n, 3))}
    for one, array in data.items():
        np.save(tmp_path / f"{one}.npy", array)
    limit = 1_000_000 if "A" in SMALL[name] else 300_000
    text = "input x : f64[n] where n ≥ 8\ninput u : u8[n]\ninput A : f64[n 3]\n" + SMALL[name]
    kept = "\n".join(line for line in text.splitlines() if not line.startswith("input") or line[6] in f"x{SMALL[name]}")
    program = loaded(kept, tmp_path, limit)
    assert program.plan.stores
    assert same_bits(results(program), results(loaded(kept, tmp_path, None)))


def test_the_order_of_a_stage_that_does_not_fit(tmp_path: Path) -> None:
    """It is nobody's output, so no file would help."""
    for name, array in {"x": np.zeros((30_011, 3)), "y": np.zeros(30_011)}.items():
        np.save(tmp_path / f"{name}.npy", array)
    with pytest.raises(Refused, match="E702"):
        loaded("input x : f64[n 3]\ninput y : f64[n] where n ≥ 8\nr ← x,y\noutput r\n3↑y[⍒y]", tmp_path, 60_000)


def test_a_scan_that_is_wanted_out_of_order_is_refused(folder: Path) -> None:
    with pytest.raises(Refused) as caught:
        loaded("input x : f64[n] where n ≥ 8\ny ← +\\x\nz ← (1↓y)×¯1↓y\noutput z", folder, 4_000_000)
    assert "order than that of its items" in " ".join(caught.value.diagnostics[0].notes)


def test_scans_from_both_ends_are_refused(folder: Path) -> None:
    with pytest.raises(Refused, match="E702"):
        loaded("input x : f64[n] where n ≥ 8\nz ← (⌈\\x)+⌽⌈\\⌽x\noutput z", folder, 4_000_000)


def test_a_scan_from_the_end_is_not_written_where_rows_are_in_order(folder: Path) -> None:
    text = "input x : f64[n] where n ≥ 8\nz ← ⌽⌈\\⌽x\noutput z"
    assert loaded(text, folder, 4_000_000).plan.stores
    with pytest.raises(Refused, match="E702"):
        loaded(text, folder, 4_000_000, suffix="csv")


def test_an_input_of_which_only_the_shape_is_used_is_not_read(folder: Path) -> None:
    program = loaded("input x : f64[n]\n⍴x\n≢x\n", folder, 4_000_000)
    assert [store.name for store in program.plan.stores] == ["x"]
    assert not any(isinstance(step, StreamStep) for step in program.plan.main.queues[0].steps)
    assert same_bits(results(program), results(loaded("input x : f64[n]\n⍴x\n≢x\n", folder, None)))


@pytest.mark.parametrize("limit", [4_000_000, 2_000_000])
def test_products_over_rows_in_tiles_are_within_rounding(limit: int, folder: Path) -> None:
    text = "input m : f64[n 12] where n ≥ 8\ninput c : f64[n 3 4]\n(⍉m)+.×m\n(⍉m)+.×c\nz ← m+.×(⍉m)+.×m\noutput z"
    program = loaded(text, folder, limit)
    assert program.plan.stores
    for streamed, expected in zip(results(program), results(loaded(text, folder, None)), strict=True):
        assert is_within(streamed, expected, 64)


def test_a_matrix_of_many_tiles(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", np.random.default_rng(1).integers(0, 9, (300_000, 4)))
    text = "input m : i64[n 4] where n ≥ 8\n+⌿m\nz ← ⍉m\noutput z\n(⍉m)+.×m"
    program = loaded(text, tmp_path, 150_000)
    steps = [step for step in program.plan.main.queues[0].steps if isinstance(step, StreamStep)]
    assert all(step.tiles > MOST_KINDS for step in steps)
    assert same_bits(results(program), results(loaded(text, tmp_path, None)))


def _hard(n: int) -> dict[str, Any]:
    draw = np.random.default_rng(3)
    mixed = draw.choice(np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]), n)
    return {
        "signed zeros, infinities and NaN": mixed,
        "all the same": np.full(n, 2.0),
        "in order": np.arange(n) * 0.5,
        "in reverse": np.arange(n)[::-1] * 0.5,
        "sawtooth": np.arange(n) % 1000.0,
    }


@pytest.mark.parametrize("name", list(_hard(8)))
def test_orders_of_hard_values(name: str, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", _hard(400_003)[name])
    head = "input x : f64[n] where n ≥ 8\n"
    places = "p ← 0⌈(n-1)⌊⌊(+/x=x)×0.1×⍳11\nx[⍋x][p]\nx[⍒x][p]\nx[p]"
    for text in ("z ← x[⍋x]\noutput z", "z ← x[⍒x]\noutput z", "g ← ⍋x\noutput g", "g ← ⍒x\noutput g", places):
        program = loaded(head + text, tmp_path, 1_500_000)
        assert isinstance(program.run, InTiles) and program.run.streaming.scratch
        assert same_bits(results(program), results(loaded(head + text, tmp_path, None))), text
