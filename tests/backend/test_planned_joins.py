"""The planned peak bounds what joins and sets allocate, in every tier: drawn keys of each kind, distinct, equal, skewed, none.

The pairs of `table.inner` are known when it has run, so its plan is for all; what it takes is for those that there are."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import SEED, repeats

import rho
from rho.lang.diagnostics.model import RhoError

from .test_planned_memory import SLACK, import_all, measured_core

ITEMS = 40_000
MOST_PAIRS = 200_000
BYTES_A_ROW, BYTES_A_PAIR = 120, 64
DECLARED = {"i64": "i64[{}]", "f64": "f64[{}]", "u8": "u8[{}]", "rows": "i64[{} 2]", "text": "char[{} 8]"}
FORMS = {
    "inner": "use table\n{}(l r) ← a table.inner b\noutput l\noutput r",
    "inner sum": "use table\n{}(l r) ← a table.inner b\ns ← (≢l),+/l≠r\noutput s",
    "lookup": "use table\n{}(i found) ← a table.lookup b\noutput i\noutput found",
    "classes": "use set\n{}(u i) ← set.classes a\noutput u\noutput i",
    "union": "use set\n{}s ← a set.union b\noutput s",
    "intersection": "use set\n{}s ← a set.intersection b\noutput s",
    "difference": "use set\n{}s ← a set.difference b\noutput s",
    "unique": "{}s ← ∪a\noutput s",
    "find": "{}s ← a⍳b\noutput s",
    "member": "{}s ← ~a∊b\noutput s",
}
TIERS = ("off", "warm", "always", "auto")


def keys(r: random.Random, kind: str, count: int, most: int) -> Any:
    """Keys of one distribution, each at most so often that `most` pairs of it are few."""
    rng = np.random.default_rng(r.randrange(1 << 30))
    match r.choice(("distinct", "distinct", "equal", "skewed", "few", "none")):
        case "none":
            numbers = np.zeros(0, np.int64)
        case "equal":
            numbers = np.full(min(count, most), 7)
        case "skewed":
            numbers = np.minimum(rng.zipf(1.5, min(count, most)), 9999)
        case "few":
            numbers = rng.integers(0, 90, min(count, 8 * most))
        case _:
            numbers = rng.permutation(count) + r.choice((0, count // 2, count))
    if kind == "rows":
        return np.stack([numbers, numbers % 3], axis=1)
    if kind == "text":
        return np.array([list(f"{number:08d}") for number in numbers.tolist()], "U1").reshape(-1, 8)
    return numbers.astype({"i64": np.int64, "f64": np.float64, "u8": np.uint8}[kind])


def pairs(a: Any, b: Any) -> int:
    """How many pairs of equal rows there are."""
    counts: dict[bytes, int] = {}
    for row in b:
        counts[row.tobytes()] = counts.get(row.tobytes(), 0) + 1
    return sum(counts.get(row.tobytes(), 0) for row in a)


def case(r: random.Random) -> tuple[str, str, dict[str, Any]] | None:
    """The form, the text of its program, and keys; None: it is not for no keys."""
    form, kind = r.choice(list(FORMS)), r.choice(list(DECLARED))
    joins = form.startswith("inner")
    data = {name: keys(r, kind, 256 if kind == "u8" and joins else ITEMS, 400 if joins else ITEMS) for name in ("a", "b")}
    declared = "".join(f"input {name} : {DECLARED[kind].format(size)}\n" for name, size in zip("ab", "nm", strict=True))
    text = FORMS[form].format(declared)
    needed = form in ("lookup", "classes")
    return None if needed and not len(data["a"]) else (form, text, data)


@pytest.mark.parametrize("tier", TIERS)
def test_no_join_takes_more_than_is_planned(tier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", tier)
    import_all()
    above: list[str] = []
    for number in range(repeats(60)):
        seed = (SEED * 1_000_003 + TIERS.index(tier) * 1013 + number) & 0xFFFFFFFF
        drawn = case(random.Random(seed))
        if drawn is None:
            continue
        form, text, data = drawn
        (tmp_path / "p.rho").write_text(text, encoding="utf-8")
        try:
            core = rho.load(tmp_path / "p.rho")._core
        except RhoError:  # sets of rows
            continue
        planned, used = measured_core(core, data, runs=4)
        if form.startswith("inner"):
            there = pairs(data["a"], data["b"])
            assert there < 8 * MOST_PAIRS, seed
            planned = min(planned, BYTES_A_ROW * (len(data["a"]) + len(data["b"])) + BYTES_A_PAIR * there)
        if used[-1] > planned + SLACK:
            above.append(f"seed {seed}: {text!r} of {len(data['a'])} and {len(data['b'])}: planned {planned:,}, used {used}")
    assert not above, "\n".join(above)
