"""Programs in tiles against the same in memory: the same bits, within the limit, each byte of the file read once a pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from share import SHARE

from rho.backend.schedule.plan.model import StreamStep

from .programs import CASES, Case, data
from .running import loaded, results, same_bits

SIZES = (1_000_003, 786_432, 1_048_577) if SHARE >= 1 else (1_000_003,)


@pytest.fixture(scope="module", params=SIZES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("stored")
    for name, array in data(request.param).items():
        np.save(made / f"{name}.npy", array)
    yield made
    for path in made.iterdir():
        path.unlink()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_bits_are_those_in_memory(case: Case, folder: Path) -> None:
    whole = loaded(case.text, folder, None)
    assert not whole.plan.stores
    expected = results(whole)
    for limit in (case.limit, case.limit * 5 // 8):
        program = loaded(case.text, folder, limit)
        steps = [step for step in program.plan.main.queues[0].steps if isinstance(step, StreamStep)]
        assert len(steps) == case.passes
        assert max(count for _, count in program.plan.main.peak) <= limit
        assert all(step.tiles > 1 for step in steps)
        assert same_bits(results(program), expected)
