"""The house stays in order: few files, names that mean something, one owner of a class name, rooms that load when needed."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("lang", "typechecker", "backend", "shell")
VAGUE = (
    "place", "found", "made", "own", "told", "heard", "beside", "thing", "whole", "kept", "lies", "turn", "turns", "way", "ways",
)  # fmt: skip
MOST_FILES, MOST_LINES, MOST_VAGUE, MOST_MODULES = 420, 900, 6, 200


@cache
def trees() -> dict[str, ast.Module]:
    paths = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def test_files_are_few_and_short() -> None:
    assert len(trees()) <= MOST_FILES
    lines = {name: (ROOT / name).read_text(encoding="utf-8").count("\n") for name in trees()}
    assert not {name: count for name, count in lines.items() if count > MOST_LINES}


def test_names_have_a_meaning() -> None:
    """Variables and parameters that are called by a word that says nothing: their number only falls."""
    count = 0
    for tree in trees().values():
        for node in ast.walk(tree):
            stored = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else None
            count += (node.arg if isinstance(node, ast.arg) else stored) in VAGUE
    assert count <= MOST_VAGUE


def test_a_class_name_has_one_owner() -> None:
    owners = defaultdict[str, set[str]](set)
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                owners[node.name.lstrip("_")].add(name)
    assert not {name: modules for name, modules in owners.items() if len(modules) > 1}


def test_packages_import_no_room_inside() -> None:
    for name, tree in trees().items():
        if name.endswith("__init__.py") and name != "backend/__init__.py":
            assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)], name


SPAN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.*{},/-]+")
OUTPUTS = ("build/", ".venv/")
"""The folders of a path that only a build makes."""


@pytest.mark.parametrize("page", ["architecture", "contributing"])
def test_pages_for_developers_name_what_exists(page: str) -> None:
    """A file or folder is named by its path, or by its end if the text says the room; a module also with dots."""
    text = re.sub(r"^```.*?^```", "", (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    entries = [path.relative_to(ROOT) for path in ROOT.rglob("*") if not {".git", ".venv", "build"} & {*path.parts}]
    known = {f"/{path.as_posix()}{end}" for path in entries for end in (("", "/") if (ROOT / path).is_dir() else ("",))}
    known |= {name.removesuffix(".py") for name in known}
    named = [span for span in SPAN.findall(text) if PATH.fullmatch(span) and not span.startswith((*OUTPUTS, "--"))]
    paths = [span for span in named if "/" in span or span.endswith((".py", ".md", ".toml", ".c", ".ll", ".lock", ".in"))]
    paths += [span.replace(".", "/") for span in named if span.startswith(tuple(f"{room}." for room in ROOMS))]
    assert len(paths) > 20

    def exists(path: str) -> bool:
        if "*" in path:
            return any(ROOT.glob(path))
        return any(name.endswith(f"/{path}") for name in known)

    options = {path: path.partition("{")[2].partition("}")[0].split(",") for path in paths}
    each = {path: [re.sub(r"\{.*?\}", option, path) for option in options[path]] for path in paths}
    assert not [path for path in paths if not all(map(exists, each[path]))]


def test_a_run_of_a_table_imports_few_modules(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,y\n1.5,2\n2.5,3\n", encoding="utf-8")
    (tmp_path / "p.rho").write_text('input t : f64[n 2] ← "t.csv"\n+/,t\n', encoding="utf-8")
    script = (
        "import json, sys; from rho.shell.main import main; code = main(['run', 'p.rho']); "
        "print(json.dumps([code, sorted(name for name in sys.modules if name.startswith('rho.'))]))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    shown, answer = done.stdout.splitlines()
    code, modules = json.loads(answer)
    assert (code, shown) == (0, "9")
    assert len(modules) <= MOST_MODULES
