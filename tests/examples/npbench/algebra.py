"""Linear algebra, dynamic programs, arithmetic."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from . import Wanted, complexes, definite


def trisolv(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    lower, b = random.random((9, 9)) + np.eye(9), random.random(9)
    return {"L": lower, "b": b}, {"x": np.linalg.solve(np.tril(lower), b)}


def lu(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    a, factors = definite(random, 8), np.zeros((8, 8))
    left = a.copy()
    for i in range(8):  # by rank-one updates of what is left
        factors[i, i:], factors[i + 1 :, i] = left[i, i:], left[i + 1 :, i] / left[i, i]
        left -= np.outer(left[:, i] / left[i, i], left[i])
    return {"A": a}, {"LU": factors}


def cholesky(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    a = definite(random, 8)
    return {"A": a}, {"L": np.linalg.cholesky(a) + np.triu(a, 1)}


def durbin(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    r = random.random(7) * 0.1
    far = abs(np.subtract.outer(np.arange(7), np.arange(7)))
    return {"r": r}, {"y": np.linalg.solve(np.r_[1.0, r[:-1]][far], -r)}


def gemver(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    a, (u1, v1, u2, v2, w, x, y, z) = random.random((6, 6)), random.random((8, 6))
    new = a + u1[:, None] * v1 + u2[:, None] * v2
    moved = x + 1.2 * (y[:, None] * new).sum(0) + z
    given = {"A": a, "u1": u1, "v1": v1, "u2": u2, "v2": v2, "w": w, "x": x, "y": y, "z": z, "alpha": 1.5, "beta": 1.2}
    return given, {"A": new, "x": moved, "w": w + 1.5 * (new * moved).sum(1)}


def correlation(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    data = random.random((9, 5)) * 10
    return {"data": data, "float_n": 9.0}, {"corr": np.corrcoef(data, rowvar=False)}


def spmv(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    dense = random.random((7, 6)) * (random.random((7, 6)) < 0.4)
    dense[3] = 0.0
    rows, columns = np.nonzero(dense)
    starts, x = np.searchsorted(rows, np.arange(8)), random.random(6)
    return {"A_row": starts, "A_col": columns, "A_val": dense[rows, columns], "x": x}, {"y": dense @ x}


def contour_integral(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    ham, points, y = complexes(random, 3, 4, 4), complexes(random, 5), complexes(random, 4, 6)
    found = [np.linalg.solve(np.polyval(ham, z) / z, y) * (-1 if abs(z) < 1 else 1) for z in points]
    weighted = [z * x for z, x in zip(points, found, strict=True)]
    return {"Ham": ham, "int_pts": points, "Y": y}, {"P0": np.sum(found, 0), "P1": np.sum(weighted, 0)}


def nussinov(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    seq = random.integers(0, 4, 13).astype(np.int32)

    @cache
    def most(i: int, j: int) -> int:
        if j <= i:
            return 0
        pair = int(seq[i] + seq[j] == 3 and i < j - 1)
        return max(most(i, j - 1), most(i + 1, j), most(i + 1, j - 1) + pair, *(most(i, k) + most(k + 1, j) for k in range(i, j)))

    return {"seq": seq}, {"table": np.array([[most(i, j) for j in range(13)] for i in range(13)], np.int32)}


def floyd_warshall(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    path = random.integers(1, 50, (9, 9)).astype(np.int32)
    best = path
    for _ in range(4):  # paths of twice as many edges
        best = np.minimum(best, (best[:, :, None] + best[None]).min(1))
    return {"path": path}, {"path": best}


def crc16(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    data, table = random.integers(0, 256, 33).astype(np.uint8), []
    for value in range(256):
        for _ in range(8):
            value = value // 2 ^ 0x8408 * (value % 2)
        table.append(value)
    register = 0xFFFF
    for byte in data.tolist():
        register = register // 256 ^ table[register % 256 ^ byte]
    register ^= 0xFFFF
    return {"data": data}, {"crc": np.array(register % 256 * 256 + register // 256)}


def compute(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    x, y = random.integers(-20, 30, (2, 5, 6))
    return {"array_1": x, "array_2": y, "a": 4, "b": 3, "c": 9}, {"y": 4 * np.clip(x, 2, 10) + 3 * y + 9}


def go_fast(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    a = random.random((6, 6))
    return {"a": a}, {"y": a + np.tanh(a.diagonal()).sum()}
