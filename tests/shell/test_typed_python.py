"""What type checkers say of Python that uses Rho: the sessions of the documentation, the types of results, a misspelt name."""

from __future__ import annotations

import ast
import dataclasses
import doctest
import importlib.util
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import FunctionType, MemberDescriptorType

import pytest

import rho

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if "```pycon" in path.read_text("utf-8")]

TYPES = '''\
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import rho

x = np.arange(3.0)
mean = rho.compile("{(+⌿⍵)÷≢⍵}", returns=np.float64)
assert_type(mean(x), NDArray[np.float64])
assert_type(mean(x) * 2, NDArray[np.float64])
assert_type(rho.compile("{⍵+1}")(x), NDArray[Any])
assert_type(rho.compile("⎕qr", returns=(np.float64, np.float64))(np.eye(2)), tuple[NDArray[np.float64], NDArray[np.float64]])
assert_type(rho.eval("+/⍳10", returns=np.int64), NDArray[np.int64])
assert_type(rho.eval("+/⍳10"), NDArray[Any] | tuple[NDArray[Any], ...] | None)
assert_type(rho.value_and_grad("{+/⍵*2}")(x), tuple[NDArray[Any], NDArray[Any]])
program = rho.load("examples/kmeans.rho", rho.Session(max_memory="1GB", allow_read=["examples"]))
assert_type(program.run(k=3)["label"], NDArray[Any])
assert_type(program.bounds(n=3).memory, int)
annotated: rho.Function[rho.Array[np.float64]] = mean
taken: rho.Array[np.float64] = annotated(x)
'''
WRONG = '''\
import numpy as np

import rho

rho.complie("x")
shape: int = rho.compile("{⍵}")(1).shpae
counts: rho.Array[np.int64] = rho.compile("{⍵}", returns=np.float64)(1)
rho.Session(max_memroy=3)
'''
WRONG_LINES = {5, 6, 7, 8}


def signatures_of(stub: ast.Module) -> dict[str, list[str]]:
    """The parameters of every function and method in the stub, by its name; of a property none."""
    found: dict[str, list[str]] = {}
    for node in stub.body:
        methods = node.body if isinstance(node, ast.ClassDef) else [node]
        for method in methods:
            if isinstance(method, ast.FunctionDef):
                name = method.name if method is node else f"{node.name}.{method.name}"  # type: ignore[union-attr]
                given = method.args
                found[name] = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs) if one.arg != "self"]
    return found


def test_the_stub_has_the_names_and_parameters_of_what_it_describes() -> None:
    stub = ast.parse((ROOT / "__init__.pyi").read_text(encoding="utf-8"))
    found = signatures_of(stub)
    described = {name.partition(".")[0] for name in found} | {"Array", "RhoError", "Rejected", "Refused", "RunFailed"}
    assert described >= {*rho.__all__}
    for name, parameters in found.items():
        owner, _, member = name.rpartition(".")
        value = inspect.getattr_static(getattr(rho, owner), member) if owner else getattr(rho, name)
        if name in ("Cluster.__exit__", "Result.__getitem__") or isinstance(value, (property, MemberDescriptorType)):
            continue
        if name == "Session.__init__":
            assert set(parameters) <= {field.name for field in dataclasses.fields(rho.Session)}
            continue
        value = value.__func__ if isinstance(value, staticmethod) else value
        real = [one for one in inspect.signature(value).parameters.values() if one.name != "self"]
        positional = [one.name for one in real if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        assert parameters == positional, name
    for name in ("Function", "Program", "Result", "Bounds", "Plan", "Cluster", "Checked"):
        documented = {member for member, value in vars(getattr(rho, name)).items() if isinstance(value, (property, FunctionType))}
        missing = {member for member in documented if not member.startswith("_")} - {one.rpartition(".")[2] for one in found}
        assert missing <= {"require"}, name


def script_of(page: Path) -> str:
    """The Python of a page's sessions, each in a function of its own."""
    sessions = re.findall(r"```pycon\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    examples = [example for session in sessions for example in doctest.DocTestParser().get_examples(session)]
    return "".join(example.source for example in examples)


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a user's programs and, beside it, Rho as an installation has it."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "site").mkdir()
    (folder / "site" / "rho").symlink_to(ROOT, target_is_directory=True)
    (folder / "types_of_results.py").write_text(TYPES, encoding="utf-8")
    (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
    for page in PAGES:
        (folder / f"page_{page.stem.replace('-', '_').lower()}.py").write_text(script_of(page), encoding="utf-8")
    return folder


def check(user: Path, found: dict[str, set[int]], said: str) -> None:
    assert found.pop("wrong.py") == WRONG_LINES, said
    assert not found, said


def test_mypy_strict(user: Path) -> None:
    pytest.importorskip("mypy")
    options = ["--strict", "--no-error-summary", "--config-file", os.devnull, "--cache-dir", "cache"]
    words = [sys.executable, "-m", "mypy", *options, *sorted(path.name for path in user.glob("*.py"))]
    environment = {**os.environ, "MYPYPATH": str(user / "site")}
    ran = subprocess.run(words, cwd=user, env=environment, capture_output=True, text=True, timeout=300, check=False)
    found: dict[str, set[int]] = {}
    for line in ran.stdout.splitlines():
        match = re.match(r"(?P<file>[^:]+):(?P<line>\d+): error: ", line)
        if match and "/" not in match["file"]:
            found.setdefault(match["file"], set()).add(int(match["line"]))
    check(user, found, ran.stdout + ran.stderr)


@pytest.mark.skipif(not (shutil.which("pyright") or importlib.util.find_spec("pyright")), reason="there is no pyright here")
def test_pyright_strict(user: Path) -> None:
    settings = {
        "include": ["*.py"], "extraPaths": ["site"], "typeCheckingMode": "strict", "pythonVersion": "3.11",
        "reportUnusedExpression": False,  # sessions show values
    }  # fmt: skip
    (user / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [shutil.which("pyright")] if shutil.which("pyright") else [sys.executable, "-m", "pyright"]
    words = [str(word) for word in command] + ["-p", ".", "--pythonpath", sys.executable, "--outputjson"]
    ran = subprocess.run(words, cwd=user, capture_output=True, text=True, timeout=300, check=False)
    found: dict[str, set[int]] = {}
    for one in json.loads(ran.stdout)["generalDiagnostics"]:
        if one["severity"] == "error":
            found.setdefault(Path(one["file"]).name, set()).add(one["range"]["start"]["line"] + 1)
    check(user, found, ran.stdout + ran.stderr)
