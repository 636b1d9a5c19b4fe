"""Gradients beside differences of the function itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rho


def gradient_and_differences(text: str, x: Any, seed: int, step: float = 1e-6) -> tuple[Any, Any]:
    """The derivatives, at x, of the sum of the items of `text` (a function) times drawn numbers: by `∂`, and by central
    differences of fourth order."""
    function: Callable[..., Any] = rho.compile(text)
    at = np.asarray(x, float)
    value = np.asarray(function(at))
    weights = np.random.default_rng(seed).uniform(-1, 1, value.shape)
    found = rho.compile(f"{{{text}∂ ⍵}}")(at) * weights if value.ndim == 0 else rho.compile(f"{{⍺ {text}∂ ⍵}}")(weights, at)
    slopes = np.zeros(at.shape)
    for index in np.ndindex(*at.shape):
        sums = []
        for times in (-2, -1, 1, 2):
            moved = at.copy()
            moved[index] += times * step
            sums.append(float(np.sum(weights * np.asarray(function(moved)))))
        slopes[index] = (8 * (sums[2] - sums[1]) - (sums[3] - sums[0])) / (12 * step)
    return np.asarray(found), slopes


def is_near(found: Any, expected: Any, tolerance: float = 1e-5) -> bool:
    """Are both finite and within the tolerance of the greatest item?"""
    if found.shape != expected.shape or not np.isfinite(found).all():
        return False
    scale = 1 + float(np.max(np.abs(expected), initial=0))
    return bool(np.all(np.abs(found - expected) <= tolerance * scale))
