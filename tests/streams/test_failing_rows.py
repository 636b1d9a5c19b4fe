"""A check that fails in memory fails in tiles, whichever rows the rest of the program wants: what streams ends as the run in
memory does, in values or in the message; what does not is refused."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from share import seeds

from rho.lang.diagnostics.model import Refused, RhoError

from .running import loaded, results, same_bits

pytestmark = pytest.mark.long

LIMIT, ROWS = 500_000, 200_003
_HEAD = "input x : f64[n] where n ≥ 8\ninput y : f64[n]\ninput k : idx<9>[n]\ninput b : bool[n]\n"
PARTS = (
    "5↑⌊x", "+/5↓⌊x", "⊃⌊x", "(⌊x)[3]", "¯5↑⌊x", "o ← 5↓⌊x\noutput o", "o ← ¯5↓⌊x\noutput o", "y ← ⌊x\n⌈/(1↓y)-¯1↓y",
    "+/(x>0.5)/⌊x", "y ← ⌊x\n+/5↑y\n+/x", "+/5↓x-⌊x", "y ← ⌊x\nz ← 3↓y\n+/x", "y ← 3↑⌊x\n+/x", "u ← u8 x\n+/x",
    "o ← +\\3↓⌊x\noutput o",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, draw = tmp_path_factory.mktemp("failing"), np.random.default_rng(5)
    np.save(folder / "x.npy", draw.standard_normal(ROWS))
    np.save(folder / "y.npy", draw.standard_normal(ROWS))
    np.save(folder / "k.npy", draw.integers(0, 9, ROWS))
    np.save(folder / "b.npy", draw.random(ROWS) < 0.4)
    for name, place in (("first", 2), ("middle", ROWS // 2), ("last", ROWS - 2)):
        values = draw.random(ROWS)
        values[place] = 1e300
        np.save(folder / f"{name}.npy", values)
    return folder


def ended(text: str, folder: Path, limit: int | None, files: dict[str, str] | None = None) -> tuple[str, Any]:
    """`refused`, or what the run ends with."""
    try:
        return "values", results(loaded(text, folder, limit, files=files))
    except Refused as refused:
        return "refused", " ".join(refused.diagnostics[0].notes)
    except RhoError as error:
        (first, *_) = error.diagnostics
        return first.code, (first.message, first.span)


def is_alike(streamed: tuple[str, Any], whole: tuple[str, Any]) -> bool:
    if streamed[0] == "refused":
        return "it cannot stream from its files: `" in streamed[1]
    if streamed[0] != whole[0]:
        return False
    return same_bits(streamed[1], whole[1]) if streamed[0] == "values" else bool(streamed[1] == whole[1])


@pytest.mark.parametrize("program", PARTS)
@pytest.mark.parametrize("name", ["first", "middle", "last"])
def test_rows_that_nothing_reads_are_checked(program: str, name: str, folder: Path) -> None:
    text, files = "input x : f64[n] where n ≥ 8\n" + program, {"x": f"{name}.npy"}
    streamed, whole = ended(text, folder, LIMIT, files), ended(text, folder, None, files)
    assert whole[0] == "E703" and is_alike(streamed, whole), streamed


def _vector(draw: Random, depth: int, names: list[str]) -> str:
    if depth == 0 or draw.random() < 0.15:
        return draw.choice(["x", "y", "x", "k", *names])
    a, c = (_vector(draw, depth - 1, names) for _ in range(2))
    return draw.choice([
        f"(-{a})", f"(0.5×{a})", f"({a}+{c})", f"({a}>0.25)", f"({a}={c})", f"(+\\{a})", f"(⌈\\{a})", f"({a}⌊{c})", f"(~{a}>0)",
        f"({a}-(+/{a})÷≢x)", f"(⌊{a})", f"(i64 ⌊{a})", f"(b∧{a}>0)", f"(⌽{a})", "b",
    ])  # fmt: skip


def _end(draw: Random, place: int, names: list[str]) -> str:
    v, w = draw.choice(names), draw.choice([*names, "y", "b"])
    return draw.choice([
        f"≡/{v}", f"3↑{v}[⍒{v}]", f"2↑⍋{v}", f"o{place} ← {v}[⍒{v}]\noutput o{place}", f"{w}≡{v}", f"+/{v}", f"≠/{v}>0",
        f"9 +⌸ (k ⋄ {v})", f"o{place} ← i64 {v}\noutput o{place}", f"+/u8 {v}", f"o{place} ← +\\{v}\noutput o{place}",
        f"({v}>0.25)/{w}", f"⊃{v}", f"¯1↑{v}", f"{v}⍳1", f"+/1⌽{v}", f"-/{v}", f"⊃⌽{v}", f"⌊/{v}[⍋{v}]", f"=/{v}>0", f"+/5↓{v}",
        f"o{place} ← b/{v}\noutput o{place}\n+/b/{v}", f"+/(5↓{v})>0.5",
    ])  # fmt: skip


@pytest.mark.parametrize("seed", seeds(150, 770109, 770127, 31010069))
def test_random_programs_with_values_that_nothing_reads(seed: int, folder: Path) -> None:
    draw, names, lines = Random(seed), list[str](), list[str]()
    for place in range(draw.choice([1, 1, 2, 3])):
        lines.append(f"v{place} ← {_vector(draw, draw.randint(0, 2), names)}")
        names.append(f"v{place}")
    lines += [f"u{place} ← {_vector(draw, 2, names)}" for place in range(draw.choice([0, 1, 3]))]
    lines += [_end(draw, place, names) for place in range(draw.choice([1, 1, 1, 2, 3]))]
    text = _HEAD + "\n".join(lines)
    streamed = ended(text, folder, LIMIT)
    assert streamed[0] == "refused" or is_alike(streamed, ended(text, folder, None)), text
