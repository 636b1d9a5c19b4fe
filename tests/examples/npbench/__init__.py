"""The kernels of NPBench by NumPy, independently of their programs: every function of these modules has the name of a program and
gives its arguments and what it must give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Wanted = Mapping[str, Array]


def complexes(random: np.random.Generator, *shape: int) -> Array:
    return random.random(shape) + 1j * random.random(shape)


def definite(random: np.random.Generator, n: int) -> Array:
    lower = np.tril(random.random((n, n))) + np.eye(n)
    return lower @ lower.T
