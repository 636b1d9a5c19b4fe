"""`table.inner` gives the pairs of equal rows that comparing each with each gives, in that order, in memory for what there is."""

from __future__ import annotations

import itertools
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import SEED, repeats

import rho

KINDS = {"keys": ("f64[n]", "f64[m]"), "rows": ("i64[n 2]", "i64[m 2]")}


def pairs(left: Any, right: Any) -> list[tuple[int, int]]:
    return [(i, j) for i, j in itertools.product(range(len(left)), range(len(right))) if np.all(left[i] == right[j])]


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., rho.Program]:
    def made(kind: str, shown: str = "output l\noutput r\n") -> rho.Program:
        first, second = KINDS[kind]
        path = tmp_path / f"{kind}.rho"
        path.write_text(f"use table\ninput a : {first}\ninput b : {second}\n(l r) ← a table.inner b\n{shown}", encoding="utf-8")
        return rho.load(path)

    return made


@pytest.mark.parametrize("kernels", ["off", "always"])
def test_all_pairs_in_the_order_of_the_first(
    kernels: str, program: Callable[..., rho.Program], monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setenv("RHO_KERNELS", kernels)
    keys, rows = program("keys"), program("rows")
    rng = random.Random(SEED * 1_000_003 + 71)
    for _ in range(repeats(60)):
        sizes = rng.choice([0, 1, 2, 9, 40]), rng.choice([0, 1, 2, 9, 40])
        values = [0.0, -0.0, 1.0, 2.0, float("nan"), float("inf")] + [float(n) for n in range(rng.choice([0, 30]))]
        a, b = (np.array([rng.choice(values) for _ in range(size)]) for size in sizes)
        found = keys.run(a=a, b=b)
        assert list(zip(found["l"].tolist(), found["r"].tolist(), strict=True)) == pairs(a, b), (SEED, a, b)
        c, d = (np.array([[rng.randrange(3), rng.randrange(2)] for _ in range(size)], np.int64).reshape(-1, 2) for size in sizes)
        found = rows.run(a=c, b=d)
        assert list(zip(found["l"].tolist(), found["r"].tolist(), strict=True)) == pairs(c, d), (SEED, c, d)


def test_a_join_of_many_keys_takes_memory_for_the_pairs_that_there_are(program: Callable[..., rho.Program]) -> None:
    join = program("keys", "s ← (≢l),+/l≠r\noutput s\n")
    keys = np.random.default_rng(1).permutation(9_000).astype(float)
    join.run(a=keys[:10], b=keys[:10])
    tracemalloc.start()
    try:
        found = join.run(a=keys, b=keys[::-1].copy())
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found["s"].tolist() == [9_000, 9_000]
    assert used < 8 << 20
