"""The planned peak bounds what the system gives the process, for every transform and factorisation: LAPACK and pocketfft take
memory that no allocator of NumPy's sees.

One process answers for all (`resident.py`).  Blocks go back to the system at once, and OpenBLAS has one thread: what it keeps for
itself (some megabytes, once) is the slack."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from share import share

pytestmark = pytest.mark.long

SLACK = 4 << 20
LENGTHS = (1 << 19, 3**12, 500_009, 2 * 249_989, 701 * 709, 4999 * 101)
"""Powers, a prime, primes beside small factors, a product of two like primes."""
TRANSFORMS = (
    ("⎕fft", "c128"), ("⎕ifft", "c128"), ("⎕rfft", "f64"), ("⎕irfft", "c128"), ("⎕fft", "f64"), ("⎕rfft", "f32"),
    ("⎕ifft", "c64"),
)  # fmt: skip
TYPES = {"f64": "float64", "c128": "complex128", "f32": "float32", "c64": "complex64"}
Shapes = dict[str, tuple[str, list[int]]]


def cases() -> Iterator[tuple[str, Shapes]]:
    for length in LENGTHS:
        for name, kind in TRANSFORMS:
            for frame in ((), (3,)) if length == 500_009 or length == 1 << 19 else ((),):
                axes = "m n" if frame else "n"
                yield f"input x : {kind}[{axes}]\n{name} x", {"x": (TYPES[kind], [*frame, length])}
    for kind, dtype in TYPES.items():
        for shape in ([600, 600], [40, 100, 100]):
            axes = "m n n" if len(shape) == 3 else "n n"
            for results, name in (("a", "⎕det"), ("a", "⎕cholesky"), ("(a b)", "⎕eigh"), ("a", "⌹⍤2 ⊢")):
                yield f"input P : {kind}[{axes}]\n{_kept(results, f'{name} P')}", {"P": (dtype, shape)}
        for shape in ([600, 600], [40, 100, 100], [25000, 40], [40, 25000], [40, 800, 30], [40, 30, 800]):
            axes = "f m n" if len(shape) == 3 else "m n"
            for results, name in (("(a b)", "⎕qr"), ("(a b c)", "⎕svd")):
                yield f"input A : {kind}[{axes}]\n{_kept(results, f'{name} A')}", {"A": (dtype, shape)}
            if shape[-2] > shape[-1]:
                yield f"input A : {kind}[{axes}] where m≥n\n⌹⍤2 ⊢ A", {"A": (dtype, shape)}
        for rows, columns, right in ((25000, 40, 0), (25000, 40, 50), (800, 800, 0), (500, 500, 1500), (40, 40, 25000)):
            condition, size = (" where m≥n", "m") if rows > columns else ("", "n")
            given = f"b : {kind}[{size}{' q' if right else ''}]"
            yield (
                f"input A : {kind}[{size} n]{condition}\ninput {given}\nb⌹A",
                {"A": (dtype, [rows, columns]), "b": (dtype, [rows, right] if right else [rows])},
            )
        yield f"input A : {kind}[f n n]\ninput b : {kind}[f n]\nb(⌹⍤1 2)A", {"A": (dtype, [80, 60, 60]), "b": (dtype, [80, 60])}


def _kept(results: str, expression: str) -> str:
    return f"{results} ← {expression}\n" + "\n".join(results.strip("()").split())


def singular() -> Iterator[tuple[str, Shapes]]:
    """Matrices nearly without an inverse (`N`), whose rank is looked at, and some that are not finite (`I`)."""
    yield "input N : f64[n n]\n⌹N", {"N": ("float64", [600, 600])}
    yield "input I : f64[f m n]\n(a b c) ← ⎕svd I\na\nb\nc", {"I": ("float64", [10, 300, 200])}
    yield "input I : f64[n n]\n(a b) ← ⎕eigh I\na\nb", {"I": ("float64", [600, 600])}


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not say what is resident")
def test_the_planned_peak_bounds_what_the_process_holds() -> None:
    environment = os.environ | {
        "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1",
        "OPENBLAS_NUM_THREADS": "1", "RHO_KERNELS": "off",
    }  # fmt: skip
    asked = [*share(list(cases()), seed=13), *singular()]
    warming = [({"program": program, "shapes": shapes}) for program, shapes in asked[-40:]]
    questions = [*warming, *({"program": program, "shapes": shapes} for program, shapes in asked)]
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("resident.py"))], input="".join(json.dumps(q) + "\n" for q in questions),
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    answers: list[dict[str, Any]] = [json.loads(line) for line in ran.stdout.splitlines()][len(warming) :]
    assert len(answers) == len(asked)
    pairs = list(zip(asked, answers, strict=True))
    above = [f"{program} {shapes}: {a}" for (program, shapes), a in pairs if a["held"] > a["planned"] + SLACK]
    assert not above, "\n".join(above)
    large = [answer for answer in answers if answer["held"] > SLACK]
    assert statistics.median(answer["planned"] / answer["held"] for answer in large) <= 1.5


if __name__ == "__main__":
    test_the_planned_peak_bounds_what_the_process_holds()
