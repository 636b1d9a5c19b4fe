"""What is installed is what is here."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_package_is_listed() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    rooms = ("lang", "typechecker", "backend", "shell", "stdlib")
    found = {".".join(("rho", *p.parent.relative_to(ROOT).parts)) for room in rooms for p in (ROOT / room).rglob("__init__.py")}
    assert set(listed) == found | {"rho"}
