"""Stencils."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import Array, Wanted


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


def seidel_2d(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    a = random.random((6, 6))
    new = a.copy()
    for _ in range(3):
        for i in range(1, 5):
            for j in range(1, 5):
                new[i, j] = new[i - 1 : i + 2, j - 1 : j + 2].mean()
    return {"A": a, "TSTEPS": 4}, {"A": new}


def fdtd_2d(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    (ex, ey, hz), pulse = random.random((3, 5, 6)), random.random(4)
    x, y, z = ex.copy(), ey.copy(), hz.copy()
    for value in pulse:
        y = np.vstack([np.full(6, value), y[1:] - 0.5 * np.diff(z, axis=0)])
        x = np.column_stack([x[:, 0], x[:, 1:] - 0.5 * np.diff(z, axis=1)])
        z[:-1, :-1] -= 0.7 * (np.diff(x, axis=1)[:-1] + np.diff(y, axis=0)[:, :-1])
    return {"ex": ex, "ey": ey, "hz": hz, "fict": pulse}, {"ex": x, "ey": y, "hz": z}


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
