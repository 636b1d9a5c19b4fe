"""Every tier gives the golden bits (`golden.txt`): the reference, and the plan with kernels off, as they come, and always."""

from __future__ import annotations

import numpy as np
import pytest
from share import share

from rho.tests.harness.tiers import MODES, accepted, arrays, by_reference, outcome

from .golden import described, line_of, read, stored
from .golden_programs import Close, Program, programs

GOLDEN = read()
PROGRAMS = list(programs())
UNITS = 8


@pytest.mark.parametrize("program", share(PROGRAMS, seed=20), ids=lambda program: program.text)
def test_golden_bits(program: Program) -> None:
    close, expected = GOLDEN[program.text]
    assert close is program.close
    core, inputs = accepted(program.source()), program.inputs()
    for tier in ("reference", *MODES):
        results = arrays(outcome(core, inputs, tier))
        assert len(results) == len(expected)
        for place, (result, golden) in enumerate(zip(results, expected, strict=True)):
            trouble = differs(result, golden, close)
            assert not trouble, f"{tier}: result {place} {trouble}"


def differs(result: np.ndarray, golden: str, close: Close) -> str:
    """What is wrong with a result; "" where nothing is."""
    if described(result, close) == golden:
        return ""
    kept = stored(golden)
    if close is Close.EXACT or kept is None:
        told = "" if kept is None else f": {result.tolist()}, not {kept.tolist()}"
        return f"is {described(result, close)}, not {golden}{told}"
    if kept.dtype != result.dtype or kept.shape != result.shape:
        return f"is {result.dtype}{result.shape}, not {kept.dtype}{kept.shape}"
    if kept.dtype.kind not in "fc":
        return f"is {result.tolist()}, not {kept.tolist()}"
    single = np.finfo(kept.dtype).eps > 1e-10
    ours, theirs = (_parts(value) for value in (result, kept))
    unusual = ~np.isfinite(theirs)
    if not np.array_equal(ours[unusual], theirs[unusual], equal_nan=True):
        return "differs where it is not finite"
    ours, theirs = np.abs(ours[~unusual] - theirs[~unusual]).astype(np.float64), np.abs(theirs[~unusual])
    largest = float(theirs.max(initial=0.0))
    beside = np.full(theirs.shape, largest * (1e-5 if single else 1e-11))
    allowed = theirs.dtype.type(UNITS) * 2 * np.spacing(theirs / 2) if close is Close.UNITS else beside
    wrong = np.flatnonzero(~(ours <= allowed))[:5]
    return f"is off by {ours[wrong].tolist()} at {wrong.tolist()}" if wrong.size else ""


def _parts(value: np.ndarray) -> np.ndarray:
    """Real and imaginary parts one after the other; of complex numbers beside their magnitude, so that a part that cancels is
    not asked for units of its own."""
    flat = np.ascontiguousarray(value).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def test_the_file_has_every_program_once() -> None:
    assert list(GOLDEN) == [program.text for program in PROGRAMS]
    assert len(PROGRAMS) >= 300


def test_a_changed_bit_is_seen() -> None:
    program = Program("+/L")
    (result,) = arrays(by_reference(accepted(program.source()), program.inputs()))
    golden = line_of(program, [result]).split("\t")[0][2:]
    assert not differs(result, golden, Close.EXACT)
    assert differs(np.nextafter(result, np.inf), golden, Close.EXACT)
    assert not differs(np.nextafter(result, np.inf), golden, Close.UNITS)
    assert differs(result * (1 + 1e-14), golden, Close.UNITS)
    assert differs(result * (1 + 1e-10), golden, Close.NORM)
    assert differs(result.astype(np.float32), golden, Close.NORM)
