"""Compares how Rho, pyrefly and jaxtyping find the mistakes in shapes of `tests/typechecker/mistakes.md`.

    pip install jax torch jaxtyping beartype pyrefly pyrefly-torch-stubs jax-pyrefly-stubs    (Python 3.12)
    python benchmarks/shape_mistakes.py [--show 17] [-o benchmarks/results/shape_mistakes.md]

The pairs of that file are written once more as typed Python functions (`PAIRS`), in PyTorch, or in JAX where its stubs say more.
A shape is written `f32[n 512]` there; `f32` may be `bool`, `c64` or `idx10` (integers below 10), and `int[h]` is an integer whose
value is a size.  From this the script writes the annotations that each tool documents:

* `Tensor[[n, 512]]` with type parameters `[n: IntVar]`, for pyrefly;
* `Float[Tensor, "n 512"]`, which beartype checks at each call, and which pyrefly reads in a function that declares its sizes.

What pyrefly misses is run.  The result type of a mistake is what its author believes.  `--show` prints the functions of one pair.
The script ends with 1 if a repair fails when it runs, as that would be a fault of the pair.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import Enum
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

import rho
from rho.shell.execution.doctest_parser import LineCase, markdown_cases

MISTAKES: Final = Path(__file__).parents[1] / "tests" / "typechecker" / "mistakes.md"
PACKAGES: Final = (
    "pyrefly", "pyrefly-torch-stubs", "jax-pyrefly-stubs", "pyrefly-shape-extensions", "jaxtyping", "beartype", "torch", "jax",
)  # fmt: skip
SIZES: Final = {"n": 13, "m": 11, "t": 70, "b": 6}
"""The numbers for the names of sizes in a run."""


class Detection(Enum):
    """When a mistake is detected."""

    BEFORE = "before running"
    ANNOTATION = "when run, by an annotation"
    LIBRARY = "when run, by the operation"
    NEVER = "never: a wrong result"


LABELS: Final = {Detection.BEFORE: "", Detection.ANNOTATION: "run, annotation: ", Detection.LIBRARY: "run: "}
MASKED: Final = "what a mask selects has an unknown shape"
INDEX: Final = "values of indices have no types"
REASONS: Final = {
    10: "a quotient of sizes is rounded down",
    11: "the sum of the 100 by 100 differences is a number, as expected",
    17: MASKED,
    19: "a stack of unequal symbolic lengths has an unknown shape",
    28: INDEX,
    29: INDEX,
    30: INDEX,
    61: MASKED,
    62: MASKED,
}
"""The reason why pyrefly misses a mistake, as its `reveal_type` shows."""

NOTES: Final = """\
How to read this:

* The list was written beside Rho's checker, some rules of which were mended for it; the other tools see it for the first time.
* A mistake that pyrefly misses is run then: without annotations, or with those of jaxtyping if pyrefly read these. With
  pyrefly 1.4.0, the version of the stubs, the figures are the same. Rho warns of 30 before it fails.
* Python functions state their results, which Rho infers. Spellings favour the tools: convolutions have batches, 34 and 35 are
  modules, 40 to 42 and 44 are JAX (the stubs of PyTorch accept determinants of any matrix and unequal sizes in `lstsq`), 59 has
  sizes as arguments. Rho pairs axes from the first, NumPy from the last: 11, 13 to 15, 26 and 54 are mirrored.
* Without annotations PyTorch and JAX find nearly all when they run, with data of the stated sizes. Annotations of jaxtyping find
  three that have no error of their own (27, 37, 54) and report three at the call (36, 38, 59). 28 is found if the data have it.
* An expression of sizes but `n+1` and `n-1` is an invalid annotation where pyrefly reads those of jaxtyping (33 and 59).
* In 5, 7 and 16 pyrefly refuses sizes that may be equal, such as `n` and 5. Rho reports what is false for all sizes and names the
  fact that is needed for others: hence `where n ≥ 6` in 5."""


@dataclass(frozen=True)
class Pair:
    """The parameters and result type of two functions (`mistake | repair` where it differs) and their statements between `; `."""

    parameters: str
    result: str
    mistake: str
    repair: str
    helper: str = ""
    library: str = "torch"

    def definitions(self, repaired: bool) -> str:
        """The text of the mistake or its repair, before annotations are written for a tool."""
        *statements, value = (self.repair if repaired else self.mistake).split("; ")
        result = self.result.split(" | ")[-1 if repaired else 0]
        body = "\n".join(f"    {statement}" for statement in (*statements, f"return {value}"))
        return f"{self.helper}def program({self.parameters}) -> {result}:\n{body}\n"


PAIRS = (
    Pair("x: f32[n 512], w: f32[256 10], v: f32[512 10]", "f32[n 10]", "x @ w", "x @ v"),
    Pair("x: f32[n 784], w: f32[10 784]", "f32[n 10]", "x @ w", "x @ w.T"),
    Pair("x: f32[n 16 5 5], w: f32[400 120]", "f32[n 120]", "x @ w", "x.flatten(1) @ w"),
    Pair("x: f32[n 16 53 53], w: f32[400 120], v: f32[44944 120]", "f32[n 120]", "x.flatten(1) @ w", "x.flatten(1) @ v"),
    Pair("x: f32[n 5], y: f32[n 5]", "f32[5 5]", "x @ y / len(x)", "x.T @ y / len(x)"),
    Pair("A: f32[3 3], x: f32[1 3]", "f32[3]", "A @ x", "A @ x.flatten()"),
    Pair("q: f32[t 64], k: f32[t 64]", "f32[t t]", "q @ k", "q @ k.T"),
    Pair("s: f32[7 9], v: f32[9 4]", "f32[7 4]", "v @ s", "s @ v"),
    Pair("R: f32[3 3], p: f32[100 3]", "f32[100 3]", "R @ p", "p @ R.T"),
    Pair("x: f32[t 512]", "f32[t 7 73] | f32[t 8 64]", "x.view(x.shape[0], 7, -1)", "x.view(x.shape[0], 8, -1)"),
    Pair("p: f32[100 1], y: f32[100]", "f32[]", "(p - y).sum()", "(p.squeeze(1) - y).sum()"),
    Pair("x: f32[n 3], w: f32[3 4], b: f32[3], c: f32[4]", "f32[n 4]", "x @ w + b", "x @ w + c"),
    Pair("A: f32[10 4]", "f32[10 4]", "A - A.mean(1)", "A - A.mean(1, keepdim=True)"),
    Pair("A: f32[6 4]", "f32[4]", "A.sum(0) / A.sum(1)", "A.sum(0) / A.sum()"),
    Pair("x: f32[3 32 48], s: f32[3]", "f32[3 32 48]", "s * x", "s[:, None, None] * x"),
    Pair("x: f32[t 64], p: f32[512 64]", "f32[t 64]", "x + p", "x + p[: x.shape[0]]"),
    Pair("x: f32[10 2], m: bool[9], k: bool[10]", "f32[_ 2]", "x[m]", "x[k]"),
    Pair("y: f32[n]", "f32[n-1]", "y[1:] - y", "y[1:] - y[:-1]"),
    Pair(
        "x: f32[n], y: f32[n]",
        "f32[n 2] | f32[n-1 2]",
        "slopes = (y[1:] - y[:-1]) / (x[1:] - x[:-1]); torch.stack([x, slopes], dim=1)",
        "slopes = (y[1:] - y[:-1]) / (x[1:] - x[:-1]); torch.stack([x[1:], slopes], dim=1)",
    ),
    Pair("a: f32[n 3], b: f32[m 4]", "f32[n+m 3]", "torch.cat([a, b])", "torch.cat([a, b[:, :3]])"),
    Pair("a: f32[10 3], b: f32[20 3]", "f32[30 3]", "torch.cat([a, b], dim=1)", "torch.cat([a, b])"),
    Pair(
        "a: f32[n 3]",
        "f32[n+1 3]",
        "torch.cat([a, torch.tensor([[1.0, 2.0]])])",
        "torch.cat([a, torch.tensor([[1.0, 2.0, 0.0]])])",
    ),
    Pair("a: f32[28 28], b: f32[32 32]", "f32[2 28 28]", "torch.stack([a, b])", "torch.stack([a, b[:28, :28]])"),
    Pair("x: f32[b 3 32 32]", "int", "c, h, w = x.shape; h", "n, c, h, w = x.shape; h"),
    Pair("s: f32[50 10], y: idx10[50]", "i64[]", "(s.argmax(0) == y).sum()", "(s.argmax(1) == y).sum()"),
    Pair("s: f32[50 10], y: f32[50]", "bool[50 10]", "s == y", "s == y[:, None]"),
    Pair(
        "p: f32[64 10], y: idx10[32], z: idx10[64]",
        "f32[64]",
        "p.gather(1, y[:, None]).squeeze(1)",
        "p.gather(1, z[:, None]).squeeze(1)",
    ),
    Pair("t: idx101[n], e: f32[100 8], d: f32[101 8]", "f32[n 8]", "e[t]", "d[t]"),
    Pair("x: f32[10]", "f32[]", "x[10]", "x[9]"),
    Pair(
        "x: f32[10]",
        "f32[10] | f32[9]",
        "torch.stack([x[i + 1] - x[i] for i in range(10)])",
        "torch.stack([x[i + 1] - x[i] for i in range(9)])",
    ),
    Pair("x: f32[n]", "f32[n] | f32[n-6]", "x - x.unfold(0, 7, 1).mean(1)", "x[6:] - x.unfold(0, 7, 1).mean(1)"),
    Pair(
        "x: f32[n 1 28 28], w: f32[1 1 3 3]",
        "f32[n 1 28 28] | f32[n 1 26 26]",
        "x + F.conv2d(x, w)",
        "x[:, :, 1:-1, 1:-1] + F.conv2d(x, w)",
    ),
    Pair(
        "x: f32[15]",
        "f32[15] | f32[14]",
        "y = x[0:14:2]; x + up(y)",
        "y = x[0:14:2]; x[:14] + up(y)",
        "def up(v: f32[k]) -> f32[2*k]:\n    return v.repeat_interleave(2)\n",
    ),
    Pair("x: f32[n 28 28 3]", "f32[n 8 24 24]", "nn.Conv2d(3, 8, 5)(x)", "nn.Conv2d(3, 8, 5)(x.permute(0, 3, 1, 2))"),
    Pair("x: f32[n 1 28 28]", "f32[n 8 24 24]", "nn.Conv2d(3, 8, 5)(x)", "nn.Conv2d(3, 8, 5)(torch.cat([x, x, x], dim=1))"),
    Pair("x: f32[3 28 28]", "f32[1 3]", "f(x)", "f(x[None])", "def f(x: f32[b c h w]) -> f32[b c]:\n    return x.sum((2, 3))\n"),
    Pair(
        "x: f32[32 20 8]",
        "f32[32 8]",
        "f(x)",
        "f(x.permute(1, 0, 2))",
        "def f(x: f32[20 b 8]) -> f32[b 8]:\n    return x.sum(0)\n",
    ),
    Pair(
        "x: f32[8], s: f32[16], w: f32[40 32], v: f32[24 16]",
        "f32[16]",
        "cell(x, s, w)",
        "cell(x, s, v)",
        "def cell(x: f32[i], s: f32[h], w: f32[i+h h]) -> f32[h]:\n    return torch.cat([x, s]) @ w\n",
    ),
    Pair("x: f32[n 10], z: f32[m 9], y: f32[m 10]", "f32[m 10]", "z - x.mean(0)", "y - x.mean(0)"),
    Pair("A: f32[3 3], b: f32[4], c: f32[3]", "f32[3]", "jnp.linalg.solve(A, b)", "jnp.linalg.solve(A, c)", library="jax.numpy"),
    Pair("A: f32[3 4]", "f32[4 3] | f32[3 3]", "jnp.linalg.inv(A)", "jnp.linalg.inv(A @ A.T)", library="jax.numpy"),
    Pair("A: f32[3 4]", "f32[]", "jnp.linalg.det(A)", "jnp.linalg.det(A @ A.T)", library="jax.numpy"),
    Pair("x: f32[3], y: f32[4]", "f32[3 4]", "x @ y", "torch.outer(x, y)"),
    Pair(
        "x: f32[20], y: f32[19], z: f32[20]",
        "f32[2]",
        "jnp.linalg.lstsq(jnp.stack([jnp.ones(20), x], axis=1), y)[0]",
        "jnp.linalg.lstsq(jnp.stack([jnp.ones(20), x], axis=1), z)[0]",
        library="jax.numpy",
    ),
    Pair(
        "e: f32[11], x: f32[n]",
        "f32[10]",
        "c: f32[10] = torch.histogram(x, e).hist; e * c",
        "c: f32[10] = torch.histogram(x, e).hist; e[:-1] * c",
    ),
    Pair(
        "x: f32[n]", "f32[n]", "x / torch.cat([torch.zeros(1), x.cumsum(0)])", "x / torch.cat([torch.zeros(1), x.cumsum(0)])[:-1]"
    ),
    Pair("x: f32[1024], h: f32[1024]", "c64[1024] | c64[513]", "h * torch.fft.rfft(x)", "h[:513] * torch.fft.rfft(x)"),
    Pair(
        "y: f32[11]",
        "f32[11]",
        "w = torch.cat([torch.tensor([0.5]), torch.ones(8), torch.tensor([0.5])]); y * w",
        "w = torch.cat([torch.tensor([0.5]), torch.ones(9), torch.tensor([0.5])]); y * w",
    ),
    Pair(
        "x: f32[40], y: f32[30]",
        "f32[30 40]",
        "z = y[:, None] + x; z * torch.outer(x, y)",
        "z = y[:, None] + x; z * torch.outer(y, x)",
    ),
    Pair("a: f32[480 640], m: bool[640 480]", "f32[480 640]", "a * m", "a * m.T"),
    Pair("p: f32[n 2]", "f32[n 2]", "p - torch.tensor([0.0, 0.0, 1.0])", "p - torch.tensor([0.0, 1.0])"),
    Pair("x: f32[12], w: f32[11], v: f32[12]", "f32[]", "(x * w).sum() / w.sum()", "(x * v).sum() / v.sum()"),
    Pair("w: f32[5 3], g: f32[3 5]", "f32[5 3]", "w - 0.1 * g", "w - 0.1 * g.T"),
    Pair("w: f32[5 1], x: f32[n 5], r: f32[n]", "f32[5 1]", "w - x.T @ r", "w - (x.T @ r)[:, None]"),
    Pair(
        "t: idx90[n], s: f32[n 90]",
        "f32[n-1]",
        'F.cross_entropy(s, t[1:], reduction="none")',
        'F.cross_entropy(s[:-1], t[1:], reduction="none")',
    ),
    Pair("a: f32[b 3 4], c: f32[b 5 6], d: f32[b 4 6]", "f32[b 3 6]", "a @ c", "a @ d"),
    Pair("a: f32[8 3 4], c: f32[7 4 6], d: f32[8 4 6]", "f32[8 3 6]", "a @ c", "a @ d"),
    Pair("x: f32[10]", "f32[3 3] | f32[5 2]", "x.reshape(3, -1)", "x.reshape(5, -1)"),
    Pair(
        "x: f32[100 96], y: f32[96 96]",
        "f32[6 6 256]",
        "patches(x.shape[0] // 16, x.shape[1] // 16, x)",
        "patches(y.shape[0] // 16, y.shape[1] // 16, y)",
        "def patches(rows: int[h], columns: int[w], x: f32[16*h 16*w]) -> f32[h w 256]:\n"
        "    return x.reshape(rows, 16, columns, 16).permute(0, 2, 1, 3).reshape(rows, columns, 256)\n",
    ),
    Pair(
        "x: f32[n]",
        "f32[]",
        "a, b, c = f(x); a",
        "a, b = f(x); a",
        "def f(x: f32[n]) -> tuple[f32[], f32[]]:\n    return x.sum(), (x * x).sum()\n",
    ),
    Pair("x: f32[n]", "f32[n]", "m = x > 0; x - x[m]", "m = x > 0; x - x * m"),
    Pair("x: f32[n], y: f32[n]", "f32[_]", "x[x > 0] - y[y > 0]", "x[x > 0] - y[x > 0]"),
)

# ------------------------------------------------------------------------------------------------- annotations

SHAPE: Final = re.compile(r"\b(f32|c64|bool|i64|idx\d+)\[([^\]]*)\]")
SIZE: Final = re.compile(r"\b(\w+): int\[(\w+)\]")
NAME: Final = re.compile(r"[A-Za-z]\w*")
DTYPES: Final = {"f32": "Float", "c64": "Complex", "bool": "Bool"}
ARRAYS: Final = {"torch": "Tensor", "jax.numpy": "Array"}
IMPORTS: Final = {
    "torch": "import torch\nfrom torch import Tensor, nn\nimport torch.nn.functional as F\n",
    "jax.numpy": "import jax.numpy as jnp\nfrom jax import Array\n",
}


def sizes_of(line: str) -> list[str]:
    """The names of sizes in a line."""
    return list(dict.fromkeys(name for match in SHAPE.finditer(line) for name in NAME.findall(match[2]) if name != "_"))


def plain_text(pair: Pair, repaired: bool) -> str:
    """The functions without shapes."""
    text = SIZE.sub(r"\1: int", pair.definitions(repaired))
    return IMPORTS[pair.library] + SHAPE.sub(ARRAYS[pair.library], text)


def jaxtyping_text(pair: Pair, repaired: bool) -> str:
    """Annotations of jaxtyping, which beartype checks at a call, and pyrefly with the names that the decorator declares."""

    def annotated(line: str) -> str:
        values = {size: f"{{{name}}}" for name, size in SIZE.findall(line)}

        def annotation(match: re.Match[str]) -> str:
            axes = NAME.sub(lambda name: values.get(name[0], name[0]), match[2])
            return f'{DTYPES.get(match[1], "Int")}[{ARRAYS[pair.library]}, "{axes}"]'

        names = " ".join(sizes_of(line))
        decorators = f'@static_jaxtyping("{names}")\n@jaxtyped(typechecker=beartype)\n' if line.startswith("def ") else ""
        return decorators + SHAPE.sub(annotation, SIZE.sub(r"\1: int", line))

    imports = "from beartype import beartype\nfrom jaxtyping import Bool, Complex, Float, Int, jaxtyped\n"
    imports += "from shape_extensions import static_jaxtyping\n"
    return imports + IMPORTS[pair.library] + "\n".join(map(annotated, pair.definitions(repaired).splitlines())) + "\n"


def pyrefly_text(pair: Pair, repaired: bool) -> str:
    def annotated(line: str) -> str:
        names = sizes_of(line)

        def annotation(match: re.Match[str]) -> str:
            return f"{ARRAYS[pair.library]}[[{', '.join('int' if axis == '_' else axis for axis in match[2].split())}]]"

        text = SHAPE.sub(annotation, SIZE.sub(r"\1: Int[\2]", line))
        parameters = f"[{', '.join(f'{name}: IntVar' for name in names)}]" if names else ""
        return re.sub(r"^def (\w+)", rf"def \1{parameters}", text)

    imports = "from __future__ import annotations\n\nfrom shape_extensions import Int, IntVar\n"
    return imports + IMPORTS[pair.library] + "\n" + "\n".join(map(annotated, pair.definitions(repaired).splitlines())) + "\n"


# ------------------------------------------------------------------------------------------------- runs


def arguments(pair: Pair) -> Iterator[Any]:
    """Data for the parameters of the program: vectors of numbers are sorted, labels contain the greatest one."""
    draw = np.random.default_rng(1)
    for kind, axes in SHAPE.findall(pair.parameters):
        shape = tuple(SIZES[axis] if axis in SIZES else int(axis) for axis in axes.split())
        count = int(np.prod(shape))
        if kind.startswith("idx"):
            array: Any = (int(kind[3:]) - 1 - np.arange(count).reshape(shape)) % int(kind[3:])
        elif kind == "bool":
            array = np.arange(count).reshape(shape) % 3 == 0
        else:
            array = draw.standard_normal(shape, np.float32)
            array = np.sort(array) if len(shape) == 1 else array
        yield importlib.import_module(pair.library).asarray(array)


def run_python(pair: Pair, text: str) -> tuple[Detection, str]:
    """The time at which a run of the program detects a mistake, and the class of the error."""
    names: dict[str, Any] = {}
    exec(compile(text, "<pair>", "exec", dont_inherit=True), names)
    try:
        names["program"](*arguments(pair))
    except Exception as error:
        chain = type(error).__mro__
        annotation = any(one.__module__.partition(".")[0] in ("jaxtyping", "beartype") for one in chain)
        return (Detection.ANNOTATION if annotation else Detection.LIBRARY), type(error).__name__
    return Detection.NEVER, ""


def run_pyrefly(text: Callable[[Pair, bool], str]) -> dict[tuple[int, bool], str]:
    """The kind of the first error of each program that has one, by its number and whether it is repaired.

    An annotation that pyrefly cannot read is no detection of a mistake, and a false alarm on a repair."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, pair in enumerate(PAIRS, 1):
            for repaired in (False, True):
                (folder / f"program_{number}_{int(repaired)}.py").write_text(text(pair, repaired), encoding="utf-8")
        packages = [path for path in sys.path if path.endswith("site-packages")]
        settings = f'python-version = "3.12"\nsite-package-path = {json.dumps(packages)}\n'
        (folder / "pyrefly.toml").write_text(settings, encoding="utf-8")
        command = [sys.executable, "-m", "pyrefly", "--threads", "1", "check", "--output-format", "json"]
        answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    kinds: dict[tuple[int, bool], str] = {}
    for error in json.loads(answer.stdout)["errors"]:
        if error["name"] in ("missing-import", "parse-error", "unknown-name"):
            raise SystemExit(f"{error['path']}: {error['description']}")
        _, index, repair = Path(error["path"]).stem.split("_")
        if repair == "1" or error["name"] != "invalid-annotation":
            kinds.setdefault((int(index), repair == "1"), error["name"])
    return kinds


# ------------------------------------------------------------------------------------------------- Rho


def rho_programs() -> list[str]:
    """The programs of the document: each mistake, and its repair behind it."""
    cases = markdown_cases(MISTAKES.read_text(encoding="utf-8"))
    return [case.step.text for case in cases if isinstance(case, LineCase)]


def run_rho(program: str) -> tuple[Detection, str]:
    """The time at which the checker, or a run on data of the declared sizes, detects a mistake, and the code of the error."""
    errors = [one.code for one in rho.check(program).diagnostics if one.is_error]
    if errors:
        return Detection.BEFORE, errors[0]
    declared = re.findall(r"input (\w+) : f64\[([\d ]+)\]", program)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mistake.rho"
        path.write_text(program + "\n", encoding="utf-8")
        try:
            rho.load(path).run(**{name: np.ones([int(size) for size in axes.split()]) for name, axes in declared})
        except rho.RhoError as error:
            return Detection.LIBRARY, next(iter(error.diagnostics)).code
    return Detection.NEVER, ""


# ------------------------------------------------------------------------------------------------- table

Row = tuple[Detection, str]


@dataclass(frozen=True)
class Tool:
    """The detection of each mistake by one tool, and the numbers of repairs with a false alarm."""

    name: str
    rows: list[Row]
    alarms: list[int]

    @classmethod
    def measure(cls, name: str, detect: Callable[[int, bool], Row]) -> Tool:
        """Apply `detect`, which takes a pair's number and whether to take its repair, to all mistakes and repairs."""
        rows, repairs = ([detect(number, repaired) for number in range(1, len(PAIRS) + 1)] for repaired in (False, True))
        return cls(name, rows, [number for number, (when, _) in enumerate(repairs, 1) if when is not Detection.NEVER])

    def summary(self) -> str:
        counts = Counter(detection for detection, _ in self.rows)
        return " | ".join([f"| {self.name}", *(str(counts[detection]) for detection in Detection), f"{len(self.alarms)} |"])


def measured() -> list[Tool]:
    """The tools in the order of the table; the last one runs the pairs without annotations."""
    programs = rho_programs()
    if len(programs) != 2 * len(PAIRS):
        raise SystemExit(f"{MISTAKES.name} has {len(programs)} programs, this script {2 * len(PAIRS)}")

    def detect_by_rho(number: int, repaired: bool) -> Row:
        if not repaired:
            return run_rho(programs[2 * number - 2])
        return Detection.BEFORE if rho.check(programs[2 * number - 1]).diagnostics else Detection.NEVER, ""

    def run_all(name: str, text: Callable[[Pair, bool], str]) -> Tool:
        return Tool.measure(name, lambda number, repaired: run_python(PAIRS[number - 1], text(PAIRS[number - 1], repaired)))

    def check_first(name: str, text: Callable[[Pair, bool], str], then: Tool) -> Tool:
        kinds = run_pyrefly(text)

        def detect(number: int, repaired: bool) -> Row:
            if (number, repaired) in kinds:
                return Detection.BEFORE, kinds[number, repaired]
            return (Detection.NEVER, "") if repaired else then.rows[number - 1]

        return Tool.measure(name, detect)

    plain = run_all("no annotations", plain_text)
    annotated = run_all("jaxtyping, beartype", jaxtyping_text)
    return [
        Tool.measure("Rho", detect_by_rho),
        check_first("pyrefly", pyrefly_text, plain),
        check_first("pyrefly, jaxtyping, beartype", jaxtyping_text, annotated),
        annotated,
        plain,
    ]


def report(tools: list[Tool]) -> Iterator[str]:
    titles = re.findall(r"^\d+\. (.+?)\.?$", MISTAKES.read_text(encoding="utf-8"), re.MULTILINE)
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    yield "# Mistakes in shapes\n"
    yield f"`python benchmarks/shape_mistakes.py`, {date.today()}: the {len(PAIRS)} programs with one mistake each of"
    yield f"`tests/typechecker/mistakes.md`, and their repairs, with {versions}.\n"
    yield f"| tool | {' | '.join(one.value for one in Detection)} | false alarms on repairs |\n|---|{'---|' * 5}"
    yield from (tool.summary() for tool in tools)
    yield f"\n{NOTES}\n"
    yield f"|  | mistake | {' | '.join(tool.name for tool in tools)} | why pyrefly misses it |\n|---|{'---|' * 7}"
    for number, title in enumerate(titles, 1):
        rows = [tool.rows[number - 1] for tool in tools]
        cells = ["**nothing**" if when is Detection.NEVER else f"{LABELS[when]}{kind}" for when, kind in rows]
        reason = "" if rows[1][0] is Detection.BEFORE else REASONS.get(number, "?")
        yield f"| {number} | {title} | {' | '.join(cells)} | {reason} |"
    for tool in tools:
        if tool.alarms:
            yield f"\nFalse alarms of {tool.name}: repairs {', '.join(map(str, tool.alarms))}."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", type=int, metavar="N", help="print the functions of one mistake for each tool")
    parser.add_argument("-o", "--output", type=Path, help="the file of results")
    options = parser.parse_args()
    if options.show is not None:
        for write in (pyrefly_text, jaxtyping_text):
            print(*(write(PAIRS[options.show - 1], repaired) for repaired in (False, True)), sep="\n")
        return 0
    tools = measured()
    text = "\n".join(report(tools)) + "\n"
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    return 1 if tools[-1].alarms else 0


if __name__ == "__main__":
    sys.exit(main())
