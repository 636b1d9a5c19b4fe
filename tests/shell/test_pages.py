"""The pages of the library and of the Python API are fresh; both columns of "From NumPy" give the same."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import rho
from rho.shell.display import documentation

DOCS = Path(__file__).parents[2] / "docs"
ROWS = re.findall(r"^\| `(.+?)` \| `(.+?)` \|", (DOCS / "from-numpy.md").read_text(encoding="utf-8"), re.MULTILINE)
BEFORE = "x ← 3 1 4 1 5\nA ← 2 3⍴2 7 1 8 2 9\nB ← 3 2⍴⍳6\nm ← x>2\n"
X, A, B = np.array([3, 1, 4, 1, 5]), np.array([[2, 7, 1], [8, 2, 9]]), np.arange(6).reshape(3, 2)

REMEDY = "run python -m rho.shell.display.documentation"


def test_pages_are_fresh() -> None:
    assert (DOCS / "stdlib.md").read_text(encoding="utf-8") == documentation.stdlib_page(), REMEDY
    assert (DOCS / "python.md").read_text(encoding="utf-8") == documentation.python_page(), REMEDY


def test_the_table_is_found() -> None:
    assert len(ROWS) > 45


@pytest.mark.parametrize(("numpy", "ours"), ROWS)
def test_both_columns_give_the_same(numpy: str, ours: str) -> None:
    wanted = eval(numpy, {"np": np, "x": X, "A": A, "B": B, "m": X > 2})
    found = rho.eval(BEFORE + ours.replace("\\|", "|"))
    np.testing.assert_allclose(found, np.asarray(wanted), rtol=1e-12)
