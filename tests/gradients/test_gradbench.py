"""The evaluations of GradBench by its protocol: values beside NumPy, gradients beside differences of the values."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import SEED, share

pytestmark = pytest.mark.long

TOOL = Path(__file__).resolve().parents[2] / "benchmarks" / "gradbench" / "tool.py"
Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(SEED)


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Any:
    spec = importlib.util.spec_from_file_location("gradbench_tool", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Tool(tmp_path_factory.mktemp("gradbench"))


def answered(tool: Any, module: str, function: str, given: Any) -> Any:
    assert tool.answer({"kind": "define", "module": module}) == {"success": True}
    answer = tool.answer({"kind": "evaluate", "module": module, "function": function, "input": given})
    assert answer.get("success"), answer
    assert len(answer["timings"]) >= 1
    return json.loads(json.dumps(answer["output"]))


def slopes(f: Callable[[Array], Any], x: Array, step: float = 1e-6) -> Array:
    """The Jacobian of f by central differences, an axis of arguments first."""
    columns = []
    for index in np.ndindex(x.shape):
        delta = np.zeros_like(x)
        delta[index] = step
        columns.append((np.asarray(f(x + delta)) - np.asarray(f(x - delta))) / (2 * step))
    return np.array(columns)


def is_near(found: Any, expected: Any, error: float) -> bool:
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    return found.shape == expected.shape and bool(np.abs(found - expected).max() <= error * max(1.0, np.abs(expected).max()))


# ------------------------------------------------------------------------------------------------------- values in NumPy

def polynomial_loss(given: Mapping[str, Any]) -> Any:
    t = -1 + np.arange(given["n"]) * 2 / (given["n"] - 1)
    return 0.5 * np.sum((np.sign(t) - np.polyval(given["x"][::-1], t)) ** 2)


def differential_equation(given: Mapping[str, Any]) -> Any:
    x, h = np.array(given["x"]), 2 / given["s"]
    y = np.zeros_like(x)
    for _ in range(given["s"]):
        k1 = x * np.concatenate([[1.0], y[:-1]])
        k2 = x * np.concatenate([[1.0], (y + h / 2 * k1)[:-1]])
        k3 = x * np.concatenate([[1.0], (y + h / 2 * k2)[:-1]])
        k4 = x * np.concatenate([[1.0], (y + h * k3)[:-1]])
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def recurrent_loss(given: Mapping[str, Any]) -> Any:
    e, sequence = np.array(given["extra_params"]), np.array(given["sequence"])
    d = e.shape[1]
    weights, state = np.array(given["main_params"]).reshape(-1, 2, 4, d), np.array(given["state"]).reshape(-1, 2, d).copy()
    total = 0.0
    for t in range(len(sequence) - 1):
        x = sequence[t] * e[0]
        for i, (w, b) in enumerate(weights):
            h, c = state[i]
            c = c * sigmoid(x * w[0] + b[0]) + sigmoid(h * w[1] + b[1]) * np.tanh(h * w[3] + b[3])
            x = sigmoid(x * w[2] + b[2]) * np.tanh(c)
            state[i] = x, c
        y = x * e[1] + e[2]
        total += sequence[t + 1] @ (y - np.log(np.exp(y).sum() + 2))
    return -total / (d * (len(sequence) - 1))


def mixture_posterior(given: Mapping[str, Any]) -> Any:
    alpha, mu, icf, x = (np.array(given[name]) for name in ("alpha", "means", "icf", "x"))
    (k, d), n, gamma, m = mu.shape, len(x), given["gamma"], given["m"]
    terms, prior = np.zeros((n, k)), 0.0
    for c in range(k):
        q = np.diag(np.exp(icf[c, :d]))
        q.T[np.triu_indices(d, 1)] = icf[c, d:]
        terms[:, c] = alpha[c] + icf[c, :d].sum() - 0.5 * np.sum(((x - mu[c]) @ q.T) ** 2, axis=1)
        prior += m * icf[c, :d].sum() - 0.5 * gamma**2 * np.sum(q**2)
    freedom = d + m + 1
    scale = freedom * d * (np.log(gamma) - 0.5 * np.log(2)) - d * (d - 1) / 4 * np.log(np.pi)
    scale -= sum(math.lgamma((freedom - j) / 2) for j in range(d))
    likelihood = np.logaddexp.reduce(terms, axis=1).sum() - n * np.logaddexp.reduce(alpha) - n * d / 2 * np.log(2 * np.pi)
    return likelihood + prior + k * scale


def hand_errors(given: Mapping[str, Any], shift: Array) -> Any:
    """By the pose and us, both moved by `shift`: of us first."""
    data, model = given["data"], given["data"]["model"]
    theta, us = np.array(given["theta"]) + shift[2:], np.array(given["us"]).reshape(-1, 2) + shift[:2]
    poses = [theta[:3], np.ones(3), theta[3:6], np.zeros(3)]
    for j in range(4, 25):
        poses.append(np.zeros(3) if j % 4 == 0 else np.array([theta[j + 1 + (j % 4 > 1)], theta[j + 2] * (j % 4 == 1), 0.0]))
    absolute: list[Array] = []
    for bone, parent in enumerate(model["parents"]):
        x, z, y = poses[bone + 3]
        turned = np.eye(4)
        turned[:3, :3] = turn(np.array([0, 0, z])) @ turn(np.array([0, y, 0])) @ turn(np.array([x, 0, 0]))
        relative = np.array(model["base_relatives"][bone]) @ turned
        absolute.append(relative if parent < 0 else absolute[parent] @ relative)
    bases, weights = np.array(model["base_positions"]), np.array(model["weights"])
    placed = sum(
        (absolute[b] @ np.array(model["inverse_base_absolutes"][b]) @ bases.T)[:3] * weights[:, b] for b in range(len(absolute))
    )
    placed = (placed * np.array([[-1.0 if model["is_mirrored"] else 1.0], [1.0], [1.0]])).T
    placed = placed @ turn(theta[:3]).T + theta[3:6]
    at = np.array(data["correspondences"])
    if not len(us):
        return (np.array(data["points"]) - placed[at]).ravel()
    corners = np.array(model["triangles"])[at]
    shares = np.hstack([us, 1 - us.sum(1, keepdims=True)])
    return (np.array(data["points"]) - np.einsum("nk,nkd->nd", shares, placed[corners])).ravel()


def turn(axis: Array) -> Array:
    """The rotation by an axis times its angle (Rodrigues)."""
    angle = np.linalg.norm(axis)
    x, y, z = axis / (angle or 1)
    across = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * across + (1 - np.cos(angle)) * across @ across


# ------------------------------------------------------------------------------------------------------- evaluations

GRADIENTS = [
    ("lse", "primal", "gradient", {"x": RNG.normal(0, 9, 7)}, ("x",), lambda given: np.logaddexp.reduce(given["x"])),
    ("llsq", "primal", "gradient", {"x": RNG.random(4), "n": 33}, ("x",), polynomial_loss),
    ("lstm", "objective", "jacobian", {
        "main_params": RNG.random((4, 12)), "extra_params": RNG.random((3, 3)), "state": RNG.random((4, 3)),
        "sequence": RNG.random((5, 3)),
    }, ("main_params", "extra_params"), recurrent_loss),
    ("gmm", "objective", "jacobian", {
        "d": 3, "k": 2, "n": 5, "alpha": RNG.normal(size=2), "means": RNG.random((2, 3)), "icf": RNG.normal(size=(2, 6)),
        "x": RNG.normal(size=(5, 3)), "gamma": 1.3, "m": 2,
    }, ("alpha", "means", "icf"), mixture_posterior),
    ("gmm", "objective", "jacobian", {
        "d": 1, "k": 3, "n": 4, "alpha": RNG.normal(size=3), "means": RNG.random((3, 1)), "icf": RNG.normal(size=(3, 1)),
        "x": RNG.normal(size=(4, 1)), "gamma": 1.0, "m": 0,
    }, ("alpha", "means", "icf"), mixture_posterior),
]  # fmt: skip


@pytest.mark.parametrize(("module", "value", "gradient", "given", "by", "reference"), share(GRADIENTS, 2))
def test_values_and_gradients(
    tool: Any, module: str, value: str, gradient: str, given: dict[str, Any], by: tuple[str, ...], reference: Callable[[Any], Any]
) -> None:
    sent = {name: x.tolist() if isinstance(x, np.ndarray) else x for name, x in given.items()}
    assert is_near(answered(tool, module, value, sent), reference(given), 1e-12)
    expected = [slopes(lambda x, name=name: reference(given | {name: x}), given[name]) for name in by]
    assert is_near(answered(tool, module, gradient, sent), np.concatenate(expected), 1e-7)


def test_ordinary_differential_equations(tool: Any) -> None:
    given = {"x": RNG.random(6), "s": 9}
    sent = {"x": given["x"].tolist(), "s": 9}
    assert is_near(answered(tool, "ode", "primal", sent), differential_equation(given), 1e-13)
    expected = slopes(lambda x: differential_equation({"x": x, "s": 9})[-1], given["x"])
    assert is_near(answered(tool, "ode", "gradient", sent), expected, 1e-8)


@pytest.mark.parametrize("size", [1, 2, 5, 7])
def test_determinants(tool: Any, size: int) -> None:
    a = RNG.random((size, size)) + np.eye(size)
    given = {"A": a.ravel().tolist(), "ell": size, "min_runs": 2, "min_seconds": 0}
    assert is_near(answered(tool, "det", "primal", given), np.linalg.det(a), 1e-12)
    assert is_near(answered(tool, "det", "gradient", given), (np.linalg.det(a) * np.linalg.inv(a).T).ravel(), 1e-11)


def test_steps_of_k_means(tool: Any) -> None:
    points = RNG.random((60, 3))
    centroids = points[-5:]
    given = {"points": points.tolist(), "centroids": centroids.tolist()}
    distances = ((points[:, None] - centroids) ** 2).sum(-1)
    nearest = np.argmin(distances, axis=1)
    assert is_near(answered(tool, "kmeans", "cost", given), distances.min(1).sum(), 1e-13)
    means = np.array([points[nearest == c].mean(axis=0) for c in range(5)])
    assert is_near(answered(tool, "kmeans", "dir", given), centroids - means, 1e-13)


def test_bundle_adjustment(tool: Any) -> None:
    n, m, p = 2, 4, 5
    camera, point, weight, feature = RNG.random(11), RNG.random(3), RNG.random(), RNG.random(2)
    given = {
        "n": n, "m": m, "p": p, "cam": camera.tolist(), "x": point.tolist(), "w": weight, "feat": feature.tolist(),
    }  # fmt: skip

    def error(v: Array) -> Array:
        seen = turn(v[:3]) @ (v[11:14] - v[3:6])
        flat = seen[:2] / seen[2]
        r = flat @ flat
        return v[14] * (v[7:9] + v[6] * flat * (1 + v[9] * r + v[10] * r * r) - feature)

    v = np.array([*camera, *point, weight])
    found = answered(tool, "ba", "objective", given)
    assert is_near(found["reproj_error"]["elements"], error(v), 1e-12)
    assert is_near(found["w_err"]["element"], 1 - weight**2, 1e-15)
    jacobian = answered(tool, "ba", "jacobian", given)
    dense = np.zeros((3 * p, 11 * n + 3 * m + p))
    for row, (start, end) in enumerate(zip(jacobian["rows"], jacobian["rows"][1:], strict=False)):
        dense[row, jacobian["cols"][start:end]] = jacobian["vals"][start:end]
    block = slopes(error, v).T
    expected = np.zeros_like(dense)
    for i in range(p):
        own = [*range(11 * (i % n), 11 * (i % n) + 11), *(11 * n + 3 * (i % m) + np.arange(3)), 11 * n + 3 * m + i]
        expected[2 * i : 2 * i + 2, own] = block
        expected[2 * p + i, own[-1]] = -2 * weight
    assert is_near(dense, expected, 1e-6)


@pytest.mark.parametrize("us", share([0, 3], 1))
def test_hand_tracking(tool: Any, us: int) -> None:
    bones, vertices, points = 22, 11, 3
    model = {
        "parents": [-1, *(int(RNG.integers(0, i)) for i in range(1, bones))], "is_mirrored": bool(us), "bone_count": bones,
        "base_relatives": RNG.random((bones, 4, 4)).tolist(), "inverse_base_absolutes": RNG.random((bones, 4, 4)).tolist(),
        "base_positions": RNG.random((vertices, 4)).tolist(), "weights": RNG.random((vertices, bones)).tolist(),
        "triangles": RNG.integers(0, vertices, (6, 3)).tolist(),
    }  # fmt: skip
    data = {
        "model": model, "correspondences": RNG.integers(0, 6, points).tolist(), "points": RNG.random((points, 3)).tolist(),
    }  # fmt: skip
    given = {"theta": RNG.random(26).tolist(), "data": data, "us": RNG.random(2 * us).tolist()}
    assert is_near(answered(tool, "ht", "objective", given), hand_errors(given, np.zeros(28)), 1e-12)
    expected = slopes(lambda shift: hand_errors(given, shift), np.zeros(28))[0 if us else 2 :].T
    assert is_near(answered(tool, "ht", "jacobian", given), expected, 1e-7)


def test_the_particle_meets_the_origin(tool: Any) -> None:
    """The value is the one that GradBench expects."""
    assert is_near(answered(tool, "particle", "rr", {"w": 0.0}), 0.2071918746486116, 1e-12)


def descent(start: Array) -> Array:
    """The descent of GradBench from a point, of the sum of squares."""
    x, rate, count = start, 1e-5, 0
    while np.linalg.norm(2 * x) > 1e-5:
        if count == 10:
            rate, count = 2 * rate, 0
            continue
        following = x - rate * 2 * x
        if np.linalg.norm(x - following) <= 1e-5:
            break
        if following @ following < x @ x:
            x, count = following, count + 1
        else:
            rate, count = rate / 2, 0
    return x


@pytest.mark.parametrize("start", share([[1.0, 1.0], [8.0, 5.0]], 1))
def test_a_saddle_point(tool: Any, start: list[float]) -> None:
    """Of |x|² - |y|², which both are minimised alone."""
    lowest = descent(np.array(start))
    assert is_near(answered(tool, "saddle", "ff", {"start": start}), [*lowest, *lowest], 1e-12)


def test_the_protocol_over_standard_input() -> None:
    messages = [
        {"id": 0, "kind": "start", "eval": "hello"}, {"id": 1, "kind": "define", "module": "hello"},
        {"id": 2, "kind": "evaluate", "module": "hello", "function": "square", "input": 3.0},
        {"id": 3, "kind": "evaluate", "module": "hello", "function": "double", "input": 3.0},
        {"id": 4, "kind": "analysis", "of": 3, "valid": True}, {"id": 5, "kind": "define", "module": "none"},
        {"id": 6, "kind": "evaluate", "module": "none", "function": "square", "input": 3.0}, {"id": 7, "kind": "end"},
    ]  # fmt: skip
    sent = "".join(json.dumps(message) + "\n" for message in messages)
    run = subprocess.run([sys.executable, str(TOOL)], input=sent, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == list(range(8))
    assert [answer.get("output") for answer in answers] == [None, None, 9.0, 6.0, None, None, None, None]
    assert [answer.get("success") for answer in answers] == [None, True, True, True, None, False, False, None]
