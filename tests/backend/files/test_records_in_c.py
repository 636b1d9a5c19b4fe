"""Tables are read by C and by Python alike: the same bits, the same errors; and numbers as Python reads them."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from share import repeats, seeds

from rho.backend.io import records
from rho.lang.tree.program import ColumnFormat
from rho.typechecker.elements import Kind

from .tables_of_text import number, random_table, read


@pytest.mark.parametrize("seed", seeds(400, 3027))
@pytest.mark.parametrize("block", [64, 1 << 18])
def test_c_and_python_read_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, block: int) -> None:
    data, columns = random_table(seed)
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    monkeypatch.setattr(records, "TOGETHER", block)
    results = []
    for switch in ("off", "always"):
        monkeypatch.setenv("RHO_KERNELS", switch)
        assert (records._compiled(1 << 20) is None) == (switch == "off")
        results.append(read(path, columns))
    assert results[0] == results[1], data


def test_numbers_are_pythons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "always")
    chance = random.Random(f"numbers {seeds(1)[-1]}")
    texts = [str(at) for at in range(-3, 4)]
    while len(texts) < repeats(200_000):
        below = chance.getrandbits(52) | 1 << 52
        halves = [f"{below * 2 + 1}e{chance.randint(-20, 20)}", str((below * 2 + 1) << chance.randint(0, 9))]  # near ties
        texts += [number(chance), *halves, repr(np.frombuffer(chance.randbytes(8))[0].item())]
    texts = [one for one in texts if records.re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?", one)]
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "\n".join(texts) + "\n", encoding="utf-8")
    ((dtype, shape, items),) = read(path, [(":x", Kind.F64, ColumnFormat())])
    assert (dtype, shape) == ("float64", (len(texts),))
    values = np.frombuffer(items)
    expected = np.array([float(one) for one in texts])
    wrong = np.flatnonzero(values.view("i8") != expected.view("i8"))
    assert not len(wrong), texts[int(wrong[0])]
