"""Writing and reading `golden.txt`.

    python -m rho.tests.bits.golden           # writes the file anew from the reference interpreter
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from rho.tests.harness.tiers import accepted, arrays, by_reference

from .golden_programs import Close, Program, programs

FILE: Final = Path(__file__).with_name("golden.txt")
SHORT: Final = 32
"""Bytes of a value that stand in the file themselves; longer ones of exact programs have a digest."""
HEAD: Final = """\
# Golden bits: what each program gives, from the reference interpreter.  A redesign keeps them.
# Written by `python -m rho.tests.bits.golden`; look at the difference, every changed line is a changed result.
# A line: how close (= the bits, u 8 units in the last place, n by the largest item), the results, a tab, the program.
# A result: dtype[shape]:hexadecimal bytes, or dtype[shape]#digest of them; NaN is one NaN.  Inputs: golden_programs.py.
"""


def described(value: np.ndarray, close: Close) -> str:
    """One result as the file has it."""
    value = np.ascontiguousarray(value).reshape(value.shape)
    if value.dtype.kind in "fc":
        value = canonical(value)
    raw = value.tobytes()
    sizes = " ".join(map(str, value.shape))
    if close is Close.EXACT and len(raw) > SHORT:
        return f"{value.dtype.str}[{sizes}]#{hashlib.sha256(raw).hexdigest()[:24]}"
    return f"{value.dtype.str}[{sizes}]:{raw.hex()}"


def canonical(value: np.ndarray) -> np.ndarray:
    """Every NaN is the same one."""
    copy = value.copy()
    parts = copy.view(copy.real.dtype) if copy.ndim else copy.reshape(1).view(copy.real.dtype)
    parts[np.isnan(parts)] = np.nan
    return copy if copy.ndim else parts.view(value.dtype).reshape(())


def stored(text: str) -> np.ndarray | None:
    """The value of a result whose bytes the file has; None of one with a digest."""
    head, colon, raw = text.partition(":")
    if not colon:
        return None
    dtype, _, sizes = head.partition("[")
    return np.frombuffer(bytes.fromhex(raw), np.dtype(dtype)).reshape([int(n) for n in sizes[:-1].split()])


def line_of(program: Program, results: Sequence[np.ndarray]) -> str:
    return f"{program.close.value} {', '.join(described(r, program.close) for r in results)}\t{program.text}"


def read() -> dict[str, tuple[Close, list[str]]]:
    """Each program with how close and its results."""
    found = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            results, _, text = line.partition("\t")
            found[text] = (Close(results[0]), results[2:].split(", "))
    return found


def main() -> None:
    lines = [line_of(p, arrays(by_reference(accepted(p.source()), p.inputs()))) for p in programs()]
    FILE.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} programs")


if __name__ == "__main__":
    main()
