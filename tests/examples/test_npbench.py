"""The kernels of NPBench in Rho (`benchmarks/npbench`), at small sizes against independent NumPy computations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import rho

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "npbench"
Array = np.ndarray[Any, Any]
Wanted = Mapping[str, Array]

TESTS: dict[str, Callable[[np.random.Generator], tuple[dict[str, Any], Wanted]]] = {}


def kernel(make: Callable[[np.random.Generator], tuple[dict[str, Any], Wanted]]) -> None:
    """The arguments of a program, and what it must give."""
    TESTS[make.__name__] = make


def complexes(random: np.random.Generator, *shape: int) -> Array:
    return random.random(shape) + 1j * random.random(shape)


def definite(random: np.random.Generator, n: int) -> Array:
    lower = np.tril(random.random((n, n))) + np.eye(n)
    return lower @ lower.T


# ------------------------------------------------------------------------------------ linear algebra


@kernel
def trisolv(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    lower, b = random.random((9, 9)) + np.eye(9), random.random(9)
    return {"L": lower, "b": b}, {"x": np.linalg.solve(np.tril(lower), b)}


@kernel
def lu(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    a, factors = definite(random, 8), np.zeros((8, 8))
    left = a.copy()
    for i in range(8):  # by rank-one updates of what is left
        factors[i, i:], factors[i + 1 :, i] = left[i, i:], left[i + 1 :, i] / left[i, i]
        left -= np.outer(left[:, i] / left[i, i], left[i])
    return {"A": a}, {"LU": factors}


@kernel
def cholesky(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    a = definite(random, 8)
    return {"A": a}, {"L": np.linalg.cholesky(a) + np.triu(a, 1)}


@kernel
def durbin(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    r = random.random(7) * 0.1
    far = abs(np.subtract.outer(np.arange(7), np.arange(7)))
    return {"r": r}, {"y": np.linalg.solve(np.r_[1.0, r[:-1]][far], -r)}


@kernel
def gemver(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    a, (u1, v1, u2, v2, w, x, y, z) = random.random((6, 6)), random.random((8, 6))
    new = a + u1[:, None] * v1 + u2[:, None] * v2
    moved = x + 1.2 * (y[:, None] * new).sum(0) + z
    given = {"A": a, "u1": u1, "v1": v1, "u2": u2, "v2": v2, "w": w, "x": x, "y": y, "z": z, "alpha": 1.5, "beta": 1.2}
    return given, {"A": new, "x": moved, "w": w + 1.5 * (new * moved).sum(1)}


@kernel
def correlation(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    data = random.random((9, 5)) * 10
    return {"data": data, "float_n": 9.0}, {"corr": np.corrcoef(data, rowvar=False)}


@kernel
def spmv(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    dense = random.random((7, 6)) * (random.random((7, 6)) < 0.4)
    dense[3] = 0.0
    rows, columns = np.nonzero(dense)
    starts, x = np.searchsorted(rows, np.arange(8)), random.random(6)
    return {"A_row": starts, "A_col": columns, "A_val": dense[rows, columns], "x": x}, {"y": dense @ x}


@kernel
def contour_integral(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    ham, points, y = complexes(random, 3, 4, 4), complexes(random, 5), complexes(random, 4, 6)
    found = [np.linalg.solve(np.polyval(ham, z) / z, y) * (-1 if abs(z) < 1 else 1) for z in points]
    weighted = [z * x for z, x in zip(points, found, strict=True)]
    return {"Ham": ham, "int_pts": points, "Y": y}, {"P0": np.sum(found, 0), "P1": np.sum(weighted, 0)}


# -------------------------------------------------------------------------------- dynamic programs, bits


@kernel
def nussinov(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    seq = random.integers(0, 4, 13).astype(np.int32)

    @cache
    def most(i: int, j: int) -> int:
        if j <= i:
            return 0
        pair = int(seq[i] + seq[j] == 3 and i < j - 1)
        return max(most(i, j - 1), most(i + 1, j), most(i + 1, j - 1) + pair, *(most(i, k) + most(k + 1, j) for k in range(i, j)))

    return {"seq": seq}, {"table": np.array([[most(i, j) for j in range(13)] for i in range(13)], np.int32)}


@kernel
def floyd_warshall(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    path = random.integers(1, 50, (9, 9)).astype(np.int32)
    best = path
    for _ in range(4):  # paths of twice as many edges
        best = np.minimum(best, (best[:, :, None] + best[None]).min(1))
    return {"path": path}, {"path": best}


@kernel
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


# ------------------------------------------------------------------------------------------- stencils


@kernel
def jacobi_2d(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    a, b = random.random((2, 7, 7))
    edge = np.ones((7, 7), bool)
    edge[1:-1, 1:-1] = False

    def half(x: Array, y: Array) -> Array:
        around = x + np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1)
        return np.where(edge, y, 0.2 * around)

    new, old = a, b
    for _ in range(3):
        old = half(new, old)
        new = half(old, new)
    return {"A": a, "B": b, "TSTEPS": 4}, {"A": new, "B": old}


@kernel
def seidel_2d(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    a = random.random((6, 6))
    new = a.copy()
    for _ in range(3):
        for i in range(1, 5):
            for j in range(1, 5):
                new[i, j] = new[i - 1 : i + 2, j - 1 : j + 2].mean()
    return {"A": a, "TSTEPS": 4}, {"A": new}


@kernel
def fdtd_2d(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    (ex, ey, hz), pulse = random.random((3, 5, 6)), random.random(4)
    x, y, z = ex.copy(), ey.copy(), hz.copy()
    for value in pulse:
        y = np.vstack([np.full(6, value), y[1:] - 0.5 * np.diff(z, axis=0)])
        x = np.column_stack([x[:, 0], x[:, 1:] - 0.5 * np.diff(z, axis=1)])
        z[:-1, :-1] -= 0.7 * (np.diff(x, axis=1)[:-1] + np.diff(y, axis=0)[:, :-1])
    return {"ex": ex, "ey": ey, "hz": hz, "fict": pulse}, {"ex": x, "ey": y, "hz": z}


@kernel
def hdiff(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    field, coeff = random.random((8, 9, 2)), random.random((4, 5, 2))

    def lap(i: int, j: int) -> Array:
        return 4 * field[i, j] - field[i + 1, j] - field[i - 1, j] - field[i, j + 1] - field[i, j - 1]

    def flux(i: int, j: int, p: int, q: int) -> Array:
        step, slope = lap(p, q) - lap(i, j), field[p, q] - field[i, j]
        return np.where(step * slope > 0, 0, step)

    made = np.empty((4, 5, 2))
    for i in range(2, 6):
        for j in range(2, 7):
            out = flux(i, j, i + 1, j) - flux(i - 1, j, i, j) + flux(i, j, i, j + 1) - flux(i, j - 1, i, j)
            made[i - 2, j - 2] = field[i, j] - coeff[i - 2, j - 2] * out
    return {"in_field": field, "coeff": coeff}, {"out_field": made}


@kernel
def adi(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    n, steps, u = 7, 3, random.random((7, 7))
    along, across = 2 * n * n / steps, n * n / steps

    def solved(lines: Array, own: float, middle: float, other: float) -> Array:
        """Systems along the rows of the result, whose ends are 1, from lines across them."""
        system = middle * np.eye(n) + own * (np.eye(n, k=1) + np.eye(n, k=-1))
        system[0], system[-1] = np.eye(n)[0], np.eye(n)[-1]
        right = np.ones((n, n - 2))
        right[1:-1] = -other * (lines[:, :-2] + lines[:, 2:]) + (1 + 2 * other) * lines[:, 1:-1]
        return np.linalg.solve(system, right)

    new = u.copy()
    for _ in range(steps):
        v = solved(new[1:-1], -along / 2, 1 + across, -across / 2)
        new[1:-1] = solved(v.T, -across / 2, 1 + across, -along / 2).T
    return {"u": u, "TSTEPS": steps}, {"u": new}


@kernel
def vadv(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    shape, dtr = (3, 4, 5), 0.15
    stage, u, position, utens = random.random((4, *shape))
    wcon = random.random((4, 4, 5))
    g = 0.25 * (wcon[1:] + wcon[:-1])
    made = np.empty(shape)
    for i, j in np.ndindex(3, 4):
        lower, upper = -0.5 * g[i, j, 1:], 0.5 * g[i, j, 1:]
        system = np.diag(dtr - np.r_[0, lower] - np.r_[upper, 0]) + np.diag(lower, -1) + np.diag(upper, 1)
        slope = np.diff(u[i, j])
        right = dtr * position[i, j] + utens[i, j] + stage[i, j] + np.r_[0, lower * slope] - np.r_[upper * slope, 0]
        made[i, j] = dtr * (np.linalg.solve(system, right) - position[i, j])
    given = {"utens_stage": stage, "u_stage": u, "wcon": wcon, "u_pos": position, "utens": utens, "dtr_stage": dtr}
    return given, {"utens_stage": made}


@kernel
def cavity_flow(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    u, v, p = random.random((3, 6, 7)) * 0.1
    dx, dy, dt, rho_, nu = 0.3, 0.4, 0.01, 1.1, 0.1

    def inner(x: Array, i: int, j: int) -> Array:
        """The interior moved by i rows and j columns."""
        return x[1 + i : x.shape[0] - 1 + i, 1 + j : x.shape[1] - 1 + j]

    def slopes(x: Array) -> tuple[Array, Array]:
        return (inner(x, 0, 1) - inner(x, 0, -1)) / (2 * dx), (inner(x, 1, 0) - inner(x, -1, 0)) / (2 * dy)

    a, b, c = u.copy(), v.copy(), p.copy()
    for _ in range(2):
        (ax, ay), (bx, by) = slopes(a), slopes(b)
        source = rho_ * ((ax + by) / dt - ax**2 - 2 * ay * bx - by**2)
        for _ in range(3):
            new = c.copy()
            pull = (inner(c, 0, 1) + inner(c, 0, -1)) * dy**2 + (inner(c, 1, 0) + inner(c, -1, 0)) * dx**2
            new[1:-1, 1:-1] = (pull - dx**2 * dy**2 * source) / (2 * (dx**2 + dy**2))
            new[:, -1] = new[:, -2]
            new[0] = new[1]
            new[:, 0] = new[:, 1]
            new[-1] = 0
            c = new
        made = []
        for w, force in zip((a, b), slopes(c), strict=True):
            back_x, back_y = inner(w, 0, 0) - inner(w, 0, -1), inner(w, 0, 0) - inner(w, -1, 0)
            carried = inner(a, 0, 0) * dt / dx * back_x + inner(b, 0, 0) * dt / dy * back_y
            bend_x = (inner(w, 0, 1) - 2 * inner(w, 0, 0) + inner(w, 0, -1)) / dx**2
            bend_y = (inner(w, 1, 0) - 2 * inner(w, 0, 0) + inner(w, -1, 0)) / dy**2
            made.append(np.pad(inner(w, 0, 0) - carried - dt / rho_ * force + nu * dt * (bend_x + bend_y), 1))
        a, b = made
        a[-1] = 1
    given = {"u": u, "v": v, "p": p, "dt": dt, "dx": dx, "dy": dy, "rho": rho_, "nu": nu, "nt": 2, "nit": 3}
    return given, {"u": a, "v": b, "p": c}


# ------------------------------------------------------------------------------- signals and pictures


@kernel
def deriche(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    image, alpha = random.random((6, 7)), 0.25
    e = np.exp(-alpha)
    k = (1 - e) ** 2 / (1 + alpha * e - np.exp(2 * alpha))

    def filtered(line: Array) -> Array:
        n = len(line)
        forth, back, x = np.zeros(n + 2), np.zeros(n + 2), np.r_[0.0, 0.0, line, 0.0, 0.0]
        for i in range(n):
            forth[i + 2] = k * (x[i + 2] + e * (alpha - 1) * x[i + 1]) + 2**-alpha * forth[i + 1] - e * e * forth[i]
        for i in reversed(range(n)):
            back[i] = k * (e * (alpha + 1) * x[i + 3] - e * e * x[i + 4]) + 2**-alpha * back[i + 1] - e * e * back[i + 2]
        return forth[2:] + back[:n]

    along = np.apply_along_axis(filtered, 1, image)
    return {"imgIn": image, "alpha": alpha}, {"imgOut": np.apply_along_axis(filtered, 0, along)}


@kernel
def stockham_fft(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    x = complexes(random, 81)
    return {"x": x, "R": 3, "K": 4}, {"y": np.fft.fft(x)}


@kernel
def azimint_naive(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    data, radius = random.random((2, 300))
    rings = np.minimum((radius / radius.max() * 5).astype(int), 5)
    return {"data": data, "radius": radius, "npt": 5}, {"res": np.array([data[rings == ring].mean() for ring in range(5)])}


@kernel
def mandelbrot1(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    last, steps = np.zeros((5, 6), complex), np.zeros((5, 6), np.int64)
    for (row, column), _ in np.ndenumerate(steps):
        c = complex(-2.25 + 3 * column / 5, -1.25 + 2.5 * row / 4)
        z, n = 0j, 0
        while n < 20 and abs(z) < 2:
            z, n = z * z + c, n + 1
        last[row, column], steps[row, column] = z, (n - 1) % 19
    given = {"xmin": -2.25, "xmax": 0.75, "ymin": -1.25, "ymax": 1.25, "XN": 6, "YN": 5, "maxiter": 20, "horizon": 2}
    return given, {"Z": last, "N": steps}


@kernel
def lenet(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    shapes = {"x": (2, 28, 28, 1), "conv1": (5, 5, 1, 6), "conv1bias": (6,), "conv2": (5, 5, 6, 16), "conv2bias": (16,),
              "fc1w": (256, 120), "fc1b": (120,), "fc2w": (120, 84), "fc2b": (84,), "fc3w": (84, 10), "fc3b": (10,)}  # fmt: skip
    given = {name: random.random(shape).astype(np.float32) for name, shape in shapes.items()}
    x = given["x"].astype(float)
    for weights, bias in (("conv1", "conv1bias"), ("conv2", "conv2bias")):
        made = np.einsum("nijcpq,pqcf->nijf", sliding_window_view(x, (5, 5), (1, 2)), given[weights]) + given[bias]
        n, h, w, f = np.maximum(made, 0).shape
        x = np.maximum(made, 0).reshape(n, h // 2, 2, w // 2, 2, f).max((2, 4))
    x = x.reshape(2, -1)
    for layer in ("fc1", "fc2", "fc3"):
        x = x @ given[f"{layer}w"] + given[f"{layer}b"]
        x = x if layer == "fc3" else np.maximum(x, 0)
    return given, {"y": x}


@kernel
def mlp(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    shapes = {"x": (4, 3), "w1": (3, 7), "b1": (7,), "w2": (7, 6), "b2": (6,), "w3": (6, 5), "b3": (5,)}
    given = {name: random.random(shape).astype(np.float32) for name, shape in shapes.items()}
    x = given["x"].astype(float)
    for layer in "12":
        x = np.maximum(x @ given[f"w{layer}"] + given[f"b{layer}"], 0)
    scores = np.exp(x @ given["w3"] + given["b3"])
    return given, {"y": scores / scores.sum(1, keepdims=True)}


# --------------------------------------------------------------------------------------------- physics


@kernel
def nbody(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    mass, pos, vel = random.random((5, 1)), random.random((5, 3)), random.random((5, 3))
    dt, g, soft = 0.05, 1.5, 0.1

    def pull(x: Array) -> Array:
        made = np.zeros((5, 3))
        for i, j in np.ndindex(5, 5):
            made[i] += g * mass[j] * (x[j] - x[i]) / (((x[j] - x[i]) ** 2).sum() + soft**2) ** 1.5
        return made

    def energies(x: Array, v: Array) -> tuple[float, float]:
        pairs = [(i, j) for i in range(5) for j in range(i)]
        potential = -sum(g * mass[i, 0] * mass[j, 0] / np.linalg.norm(x[i] - x[j]) for i, j in pairs)
        return float((mass * v**2).sum() / 2), float(potential)

    x, v = pos.copy(), vel - (mass * vel).mean(0) / mass.mean()
    seen = [energies(x, v)]
    for _ in range(6):
        v = v + pull(x) * dt / 2
        x = x + v * dt
        v = v + pull(x) * dt / 2
        seen.append(energies(x, v))
    kinetic, potential = np.array(seen).T
    return {"mass": mass, "pos": pos, "vel": vel, "dt": dt, "G": g, "softening": soft, "Nt": 6}, {"KE": kinetic, "PE": potential}


@kernel
def scattering_self_energies(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    neighbours = random.integers(0, 4, (4, 2))
    dh, g, d = complexes(random, 4, 2, 2, 3, 3), complexes(random, 2, 5, 4, 3, 3), complexes(random, 2, 3, 4, 2, 2, 2)
    sigma = np.zeros_like(g)
    for w in range(3):
        near = g[:, : 5 - w, neighbours]
        sigma[:, w:] += np.einsum("keabop,abipr,abjrs,qabij->keaos", near, dh, dh, d[:, w], optimize=True)
    return {"neigh_idx": neighbours, "dH": dh, "G": g, "D": d}, {"Sigma": sigma}


# ------------------------------------------------------------------------------------------ arithmetic


@kernel
def compute(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    x, y = random.integers(-20, 30, (2, 5, 6))
    return {"array_1": x, "array_2": y, "a": 4, "b": 3, "c": 9}, {"y": 4 * np.clip(x, 2, 10) + 3 * y + 9}


@kernel
def go_fast(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    a = random.random((6, 6))
    return {"a": a}, {"y": a + np.tanh(a.diagonal()).sum()}


def test_every_program_is_tested() -> None:
    assert {path.stem for path in PROGRAMS.glob("*.rho")} == set(TESTS)


@pytest.mark.parametrize("name", TESTS)
def test_kernel(name: str) -> None:
    given, wanted = TESTS[name](np.random.default_rng(7))
    before = {key: np.array(value) for key, value in given.items()}
    found = rho.load(str(PROGRAMS / f"{name}.rho")).run(**given)
    assert set(found) == set(wanted)
    for key, value in wanted.items():
        single = name in ("lenet", "mlp")
        np.testing.assert_allclose(found[key], value, rtol=1e-4 if single else 1e-9, atol=1e-12)
    for key, value in before.items():
        assert np.array_equal(given[key], value), f"{key} was changed"
