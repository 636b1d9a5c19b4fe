"""Signals, pictures, physics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from . import Array, Wanted, complexes


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


def stockham_fft(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    x = complexes(random, 81)
    return {"x": x, "R": 3, "K": 4}, {"y": np.fft.fft(x)}


def azimint_naive(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    data, radius = random.random((2, 300))
    rings = np.minimum((radius / radius.max() * 5).astype(int), 5)
    return {"data": data, "radius": radius, "npt": 5}, {"res": np.array([data[rings == ring].mean() for ring in range(5)])}


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


def mlp(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    shapes = {"x": (4, 3), "w1": (3, 7), "b1": (7,), "w2": (7, 6), "b2": (6,), "w3": (6, 5), "b3": (5,)}
    given = {name: random.random(shape).astype(np.float32) for name, shape in shapes.items()}
    x = given["x"].astype(float)
    for layer in "12":
        x = np.maximum(x @ given[f"w{layer}"] + given[f"b{layer}"], 0)
    scores = np.exp(x @ given["w3"] + given["b3"])
    return given, {"y": scores / scores.sum(1, keepdims=True)}


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


def scattering_self_energies(random: np.random.Generator) -> tuple[dict[str, Any], Wanted]:
    neighbours = random.integers(0, 4, (4, 2))
    dh, g, d = complexes(random, 4, 2, 2, 3, 3), complexes(random, 2, 5, 4, 3, 3), complexes(random, 2, 3, 4, 2, 2, 2)
    sigma = np.zeros_like(g)
    for w in range(3):
        near = g[:, : 5 - w, neighbours]
        sigma[:, w:] += np.einsum("keabop,abipr,abjrs,qabij->keaos", near, dh, dh, d[:, w], optimize=True)
    return {"neigh_idx": neighbours, "dH": dh, "G": g, "D": d}, {"Sigma": sigma}
