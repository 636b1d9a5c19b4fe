"""Rho as a tool of GradBench (github.com/gradbench/gradbench): messages on standard input, answers on standard output.

The twelve evaluations are the programs beside this file: each has an output for a function of the evaluation, and a run
computes the one that is asked for.  All derivatives are by reverse mode; those by few arguments (`ht`) are by reverse mode
twice, which is forward mode.  Of `particle` and `saddle`, which ask for each mode of each of two nested derivatives, the
four functions are the same.

    gradbench run --eval "gradbench repo eval lse" --tool "python benchmarks/gradbench/tool.py"
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

import rho

HERE = Path(__file__).resolve().parent
_OUTPUT = re.compile(r"^output (\w+) .*\n", re.MULTILINE)
Values = Mapping[str, Any]


def _arrays(*names: str, **renamed: str) -> Callable[[Values], dict[str, Any]]:
    """The arguments with these names, and others under names of their own, as arrays of floats."""
    pairs = dict(zip(names, names, strict=True)) | renamed
    return lambda given: {own: np.array(given[theirs], float) for own, theirs in pairs.items()}


def _determinant(given: Values) -> dict[str, Any]:
    return {"a": np.array(given["A"], float).reshape(given["ell"], given["ell"])}


def _mixture(given: Values) -> dict[str, Any]:
    """Inverse covariances are q and l, or one array `icf` of both."""
    d, values = given["d"], _arrays("alpha", "x")(given)
    if "icf" in given:
        factors = np.array(given["icf"], float)
    else:
        factors = np.hstack([given["q"], np.array(given["l"], float).reshape(given["k"], -1)])
    means = given.get("means", given.get("mu"))
    return values | {
        "mu": np.array(means, float), "q": factors[:, :d], "l": factors[:, d:],
        "gamma": float(given["gamma"]), "m": int(given["m"]),
    }  # fmt: skip


def _mixture_gradient(given: Values, result: Values) -> list[float]:
    slopes = result["jacobian"]
    if "icf" not in given:
        return list(slopes.tolist())
    k, d = given["k"], given["d"]
    at = k + k * d
    factors = np.hstack([slopes[at : at + k * d].reshape(k, d), slopes[at + k * d :].reshape(k, -1)])
    return [*slopes[:at].tolist(), *factors.ravel().tolist()]


def _bundle(given: Values) -> dict[str, Any]:
    n, m, p = given["n"], given["m"], given["p"]
    tiles = {"cams": ("cam", n), "points": ("x", m), "feats": ("feat", p)}
    tiled = {own: np.tile(np.array(given[name], float), (count, 1)) for own, (name, count) in tiles.items()}
    return tiled | {
        "weights": np.full(p, float(given["w"])), "camera": np.arange(p) % n, "point": np.arange(p) % m,
    }  # fmt: skip


def _bundle_errors(given: Values, result: Values) -> dict[str, Any]:
    """Observations are all alike, so the first stands for all."""
    repeated = {"repeated": given["p"]}
    return {
        "reproj_error": {"elements": result["reproj_error"][0].tolist()} | repeated,
        "w_err": {"element": float(result["w_err"][0])} | repeated,
    }


def _bundle_jacobian(given: Values, result: Values) -> dict[str, Any]:
    """Rows of 15 (camera, point, weight) for each coordinate of each observation, then a row of one for each weight."""
    n, m, p = given["n"], given["m"], given["p"]
    each = np.arange(p)
    first_point, first_weight = 11 * n, 11 * n + 3 * m
    of_camera, of_point = 11 * (each % n)[:, None] + np.arange(11), first_point + 3 * (each % m)[:, None] + np.arange(3)
    columns = np.hstack([of_camera, of_point, first_weight + each[:, None]])
    return {
        "rows": [*range(0, 30 * p, 15), *range(30 * p, 31 * p + 1)],
        "cols": [*np.repeat(columns, 2, axis=0).ravel().tolist(), *(first_weight + each).tolist()],
        "vals": [*result["blocks"].ravel().tolist(), *result["weight_slopes"].tolist()],
    }


def _hand(given: Values) -> dict[str, Any]:
    """Without us, a point belongs to a vertex: to the first corner of a triangle."""
    data, model = given["data"], given["data"]["model"]
    at = np.array(data["correspondences"], int)
    us = np.array(given["us"], float).reshape(-1, 2)
    corners = np.array(model["triangles"], int).reshape(-1, 3)[at] if len(us) else np.repeat(at[:, None], 3, axis=1)
    positions = np.array(model["base_positions"], float)
    positions = np.hstack([positions, np.ones((len(positions), 1))]) if positions.shape[1] == 3 else positions
    return _arrays("base_relatives", "inverse_base_absolutes", vertex_weights="weights")(model) | {
        "parents": np.array(model["parents"], int), "base_positions": positions, "corners": corners,
        "points": np.array(data["points"], float), "theta": np.array(given["theta"], float),
        "us": us if len(us) else np.tile([1.0, 0.0], (len(at), 1)), "mirrored": int(model["is_mirrored"]),
    }  # fmt: skip


def _hand_jacobian(given: Values, result: Values) -> list[list[float]]:
    slopes = result["jacobian"]
    return list(slopes.reshape(len(slopes), -1)[0 if len(given["us"]) else 2 :].T.tolist())


def _flat(_: Values, result: Values) -> Any:
    (value,) = result.values()
    return np.asarray(value).ravel().tolist()


class Evaluation(NamedTuple):
    """`arguments` of an evaluation as inputs of its program; its `functions`, each with the outputs that it needs and how
    these are written."""

    arguments: Callable[[Values], dict[str, Any]]
    functions: Mapping[str, tuple[tuple[str, ...], Callable[[Values, Values], Any]]]


def _plain(*names: str, **renamed: str) -> dict[str, tuple[tuple[str, ...], Callable[[Values, Values], Any]]]:
    """Functions whose values are outputs as they are."""
    pairs = (*zip(names, names, strict=True), *renamed.items())
    return {function: ((name,), lambda _, result, name=name: np.asarray(result[name]).tolist()) for function, name in pairs}


EVALUATIONS: Final = {
    "hello": Evaluation(lambda given: {"x": float(given)}, _plain("square", "double")),
    "lse": Evaluation(_arrays("x"), _plain("primal", "gradient")),
    "llsq": Evaluation(lambda given: _arrays("x")(given) | {"points": given["n"]}, _plain("primal", "gradient")),
    "ode": Evaluation(lambda given: _arrays("x")(given) | {"s": given["s"]}, _plain("primal", "gradient")),
    "det": Evaluation(
        _determinant, _plain("primal") | {"gradient": (("gradient",), _flat)}
    ),
    "kmeans": Evaluation(_arrays("points", "centroids"), _plain("cost", "dir")),
    "lstm": Evaluation(_arrays("main_params", "extra_params", "state", "sequence"), _plain("objective", "jacobian")),
    "gmm": Evaluation(_mixture, _plain("objective") | {"jacobian": (("jacobian",), _mixture_gradient)}),
    "ba": Evaluation(
        _bundle,
        {"objective": (("reproj_error", "w_err"), _bundle_errors), "jacobian": (("blocks", "weight_slopes"), _bundle_jacobian)},
    ),
    "ht": Evaluation(
        _hand, {"objective": (("objective",), _flat), "jacobian": (("jacobian",), _hand_jacobian)}
    ),
    "saddle": Evaluation(_arrays("start"), _plain(ff="saddle", fr="saddle", rf="saddle", rr="saddle")),
    "particle": Evaluation(lambda given: {"w": float(given["w"])}, _plain(ff="best", fr="best", rf="best", rr="best")),
}  # fmt: skip


class Tool:
    """The programs of the evaluations that have been defined, by evaluation and outputs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs: dict[tuple[str, tuple[str, ...]], rho.Program] = {}

    def define(self, module: str) -> None:
        """Check the programs of an evaluation's functions.  KeyError: no such evaluation."""
        text = (HERE / f"{module}.rho").read_text(encoding="utf-8") if module in EVALUATIONS else ""
        for names in {names for names, _ in EVALUATIONS[module].functions.values()}:
            path = self.folder / f"{module}_{names[0]}.rho"
            needed = _OUTPUT.sub(lambda line, names=names: line[0] if line[1] in names else "", text)
            path.write_text(needed, encoding="utf-8")
            self.programs[module, names] = rho.load(path)

    def evaluate(self, module: str, function: str, given: Any) -> tuple[Any, list[int]]:
        """The value of a function, and the nanoseconds of each of its runs."""
        evaluation = EVALUATIONS[module]
        names, written = evaluation.functions[function]
        program = self.programs[module, names]
        values = evaluation.arguments(given)
        least, seconds = (given.get("min_runs", 1), given.get("min_seconds", 0.0)) if isinstance(given, dict) else (1, 0.0)
        times: list[int] = []
        while len(times) < least or sum(times) < 1e9 * seconds:
            start = time.perf_counter_ns()
            result = program.run(**values)
            times.append(time.perf_counter_ns() - start)
        return written(given, result), times

    def answer(self, message: Values) -> dict[str, Any]:
        match message["kind"]:
            case "start":
                return {"tool": "rho", "config": {"version": rho.__version__}}
            case "define":
                try:
                    self.define(message["module"])
                except (KeyError, rho.RhoError) as error:
                    return {"success": False, "error": str(error)}
                return {"success": True}
            case "evaluate":
                try:
                    value, times = self.evaluate(message["module"], message["function"], message["input"])
                except (KeyError, ValueError, rho.RhoError) as error:
                    return {"success": False, "error": str(error)}
                timings = [{"name": "evaluate", "nanoseconds": nanoseconds} for nanoseconds in times]
                return {"success": True, "output": value, "timings": timings}
        return {}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(Path(folder))
        for line in sys.stdin:
            message = json.loads(line)
            print(json.dumps({"id": message["id"]} | tool.answer(message)), flush=True)


if __name__ == "__main__":
    main()
