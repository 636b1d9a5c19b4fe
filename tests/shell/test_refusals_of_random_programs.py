"""What is refused for its memory, its time or its tiles says so, whatever the program: random programs that each pass of the
graph changes, with limits just below what they need and far below it; whole values and values in files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from each_pass import drawn
from rule_patterns import PATTERNS
from share import drawing, seeds

from rho.lang.diagnostics.model import Refused
from rho.lang.syntax.source import Source
from rho.shell.execution.run_request import Limits, RunRequest
from rho.shell.pipeline import Session

from .conftest import Rho

pytestmark = pytest.mark.long

REQUIRED = re.compile(r"this program needs .* at once|may do .* operations, too many for the .* it is given")


def limits(peak: int) -> Iterator[Limits]:
    for memory in (peak - 1, peak // 2, peak // 9, 1):
        yield Limits(max(memory, 1))
    yield Limits(None, 1e-12)


def requests(folder: Path, seed: int) -> Iterator[tuple[str, RunRequest]]:
    """A program with its inputs at hand, and in files."""
    name = drawing("refused", seed).choice([*PATTERNS, ""])
    program = drawn(name, seed)
    arrays = dict(program.inputs)
    yield program.text, RunRequest(arrays=arrays)
    files: dict[str, str] = {}
    for place, (input_name, array) in enumerate(arrays.items()):
        files[input_name] = str(folder / f"{seed}-{place}.npy")
        np.save(files[input_name], array)
    outputs = {output: str(folder / f"{seed}-{output}.npy") for output in program.outputs}
    yield program.text, RunRequest(files, outputs=outputs)


def test_every_refusal_is_one(tmp_path: Path) -> None:
    session, codes, wrong = Session(), Counter[str](), list[str]()
    for seed in seeds(150):
        for text, request in requests(tmp_path, seed):
            checked = session.check(Source("p.rho", text))
            if checked.core is None:
                continue
            peak = max((count for _, count in session.load(checked, request).plan.main.peak), default=0)
            for limit in limits(peak):
                given = RunRequest(request.inputs, outputs=request.outputs, limits=limit, arrays=request.arrays)
                try:
                    made = session.load(checked, given)
                    if limit.memory is not None and max(count for _, count in made.plan.main.peak) > limit.memory:
                        wrong.append(f"seed {seed}, {limit}: not refused\n{text}")
                except Refused as refused:
                    first = refused.diagnostics[0]
                    codes[first.code] += 1
                    if not REQUIRED.search(first.message):
                        wrong.append(f"seed {seed}, {limit}: {first.message}\n{text}")
    assert not wrong, "\n".join(wrong)
    assert set(codes) == {"E702", "E709"}


def test_what_needs_most_may_be_made_for_these_sizes_only(rho: Rho, tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text(
        'input A : i64[n m] ← "A.npy"\ninput B : i64[m n] ← "B.npy"\nn ← ≢A\nm ← ≢⍉A\n'
        "output r ← +/+/⍉(m n)⍴(+/+/B)×+/A×A\n", encoding="utf-8",
    )  # fmt: skip
    np.save(tmp_path / "A.npy", np.ones((60_000, 2), np.int64))
    np.save(tmp_path / "B.npy", np.ones((2, 60_000), np.int64))
    ran = rho("run", str(tmp_path / "p.rho"), "--max-memory", "500kB")
    assert ran.code == 4 and "error[E702]: this program needs" in ran.err and "work space of `+/`" in ran.err


@pytest.mark.parametrize("effort", ["--fast"])
def test_a_plan_for_declared_devices_is_limited_by_their_memory(rho: Rho, tmp_path: Path, effort: str) -> None:
    """256 GB are declared, whatever this machine has; what exceeds them is refused."""
    (tmp_path / "mm.rho").write_text("input a : f64[n n]\ninput b : f64[n n]\noutput c ← a+.×b\n", encoding="utf-8")
    assert rho("plan", str(tmp_path / "mm.rho"), "--size", "n=60000", "--devices", "h100", effort).code == 0
    assert rho("plan", str(tmp_path / "mm.rho"), "--size", "n=600000", "--devices", "h100", effort).code not in (0, 70)
    limited = rho("plan", str(tmp_path / "mm.rho"), "--size", "n=60000", "--devices", "h100", effort, "--max-memory", "1GB")
    assert limited.code == 4 and "the limit is 1.0 GB" in limited.err
