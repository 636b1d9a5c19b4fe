"""E702 of programs that read files: what it says fits does, and the reason that it gives for tiles is so."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest
from share import SEED, repeats

from .conftest import Rho

SUM = 'input price : f64[n] ← "o.csv:price"\n+/price\n'
GROUPS = """use set
input city : char[n w] ← "o.csv:city"
input qty : i64[n] ← "o.csv:qty"
(keys code) ← set.classes city
output total ← (≢keys) +⌸ (code ⋄ qty×2)
total
"""


def table(folder: Path, rows: int) -> None:
    r = random.Random(rows)
    lines = [f"{r.random() * 100:.2f},{r.choice(('Rome', 'Oslo', 'Lima'))},{r.randrange(99)}" for _ in range(rows)]
    (folder / "o.csv").write_text("\n".join(("price,city,qty", *lines)) + "\n", encoding="utf-8")


def test_a_sum_of_one_block_is_not_said_to_need_all(rho: Rho, tmp_path: Path) -> None:
    """`+/` was said to need all of its argument at once, and nothing to fit."""
    (tmp_path / "s.rho").write_text(SUM, encoding="utf-8")
    table(tmp_path, 4000)
    refused = rho("run", str(tmp_path / "s.rho"), "--max-memory", "300kB")
    assert refused.code == 4
    assert "`+/` (line 2) has one tile: its 4,000 items are one block, and blocks of 4,096 are not cut" in refused.err
    assert "with inputs in .npy files of their types it would fit" in refused.err
    np.save(tmp_path / "price.npy", np.ones(4000))
    assert rho("run", str(tmp_path / "s.rho"), "--in", f"price={tmp_path / 'price.npy'}", "--max-memory", "300kB").code == 0


@pytest.mark.parametrize("program,limits", [(SUM, (120_000, 3_000_000)), (GROUPS, (300_000, 2_000_000))])
def test_rows_that_are_said_to_fit_do(program: str, limits: tuple[int, int], rho: Rho, tmp_path: Path) -> None:
    r = random.Random(f"{SEED} {program}")
    (tmp_path / "p.rho").write_text(program, encoding="utf-8")
    for _ in range(repeats(10)):
        rows, limit = r.randint(2_000, 4_000), r.randint(*limits)
        table(tmp_path, rows)
        refused = rho("run", str(tmp_path / "p.rho"), "--max-memory", str(limit))
        assert refused.code in (0, 4), (limit, rows)
        if refused.code == 0:
            continue
        (said,) = re.findall(r"(n≤\d+|it) would fit", refused.err)
        most = rows if said == "it" else int(said[2:])
        table(tmp_path, most)
        from_files: list[str] = []
        if "npy" in refused.err.split("would fit")[0]:
            columns = {"price": np.ones(most), "qty": np.ones(most, np.int64), "city": np.full((most, 4), "x")}
            for name, values in columns.items():
                np.save(tmp_path / f"{name}.npy", values)
                from_files += ["--in", f"{name}={tmp_path / name}.npy"] if f"input {name} " in program else []
        assert rho("run", str(tmp_path / "p.rho"), *from_files, "--max-memory", str(limit)).code == 0, (limit, rows, most)


@pytest.mark.parametrize("program", ["+/x", "+/x×x", "⌈/x", "output y ← 2×x"])
def test_the_memory_that_a_tile_is_said_to_need_is_needed_and_enough(program: str, rho: Rho, tmp_path: Path) -> None:
    """3,072 bytes were said for 69,632."""
    (tmp_path / "p.rho").write_text(f"input x : f64[n]\n{program}\n", encoding="utf-8")
    np.save(tmp_path / "x.npy", np.ones(100_000))
    asked = ["run", str(tmp_path / "p.rho"), "--in", f"x={tmp_path / 'x.npy'}"]
    asked += ["--out", f"y={tmp_path / 'y.npy'}"] if "output" in program else []
    refused = rho(*asked, "--max-memory", "1kB")
    assert refused.code == 4
    need = sum(int(found.replace(",", "")) for found in re.findall(r"(?:at least|beside) ([\d,]+) bytes", refused.err))
    assert rho(*asked, "--max-memory", str(need - 1)).code == 4
    ran = rho(*asked, "--max-memory", str(need))
    assert ran.code == 0, (need, ran.err)


def test_a_pivot_that_is_too_large_names_the_word_that_bounds_it(rho: Rho, tmp_path: Path) -> None:
    """The advice was a limit on a length, which a pivot of codes has no place for."""
    pivot = GROUPS.replace("output total", "(items item) ← set.classes qty\noutput total").replace(
        "(≢keys) +⌸ (code ⋄ qty×2)", "(code ⋄ item) group.pivot f64 qty"
    )
    (tmp_path / "p.rho").write_text(f"use group\n{pivot}", encoding="utf-8")
    table(tmp_path, 4000)
    refused = rho("run", str(tmp_path / "p.rho"), "--max-memory", "20MB")
    assert refused.code == 4
    assert "if `≢keys` is at most 50, make it by `50 set.classes_within …`" in refused.err
    within = pivot.replace("set.classes city", "50 set.classes_within city")
    within = within.replace("set.classes qty", "99 set.classes_within qty")
    (tmp_path / "p.rho").write_text(f"use group\n{within}", encoding="utf-8")
    assert rho("run", str(tmp_path / "p.rho"), "--max-memory", "20MB").code == 0
