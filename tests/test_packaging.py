"""What is installed is what is here."""

from __future__ import annotations

import itertools
import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_every_package_is_in_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, list[str]] = {}
    monkeypatch.setattr("setuptools.setup", lambda **options: asked.update(options))
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(ROOT / "setup.py"))
    rooms = ("lang", "typechecker", "backend", "shell", "stdlib")
    here = {".".join(("rho", *p.parent.relative_to(ROOT).parts)) for room in rooms for p in (ROOT / room).rglob("__init__.py")}
    folders = {p.parent for room in rooms for p in (ROOT / room).rglob("*.py")}
    assert set(asked["packages"]) == here | {"rho"} and all((folder / "__init__.py").exists() for folder in folders)


def test_data_of_packages_is_there() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    for package, patterns in data.items():
        folder = ROOT.joinpath(*package.split(".")[1:])
        assert (folder / "__init__.py").exists() and all(any(folder.glob(pattern)) for pattern in patterns), package


def test_the_lock_pins_what_is_asked_for_and_nothing_else() -> None:
    """Packages that nothing asks for any more need others that nobody pins: pip, which checks digests, then refuses the file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    wanted = {re.split(r"[\[<>=!~; ]", word)[0].lower().replace("_", "-") for word in asked} - {project["name"]}
    pins = re.split(r"\n(?=[a-z0-9])", (ROOT / "requirements.lock").read_text())
    assert {pin.split("==")[0] for pin in pins if "rho-lang (pyproject.toml)" in pin} == wanted
    assert all("--hash=sha256:" in pin for pin in pins)
    needed = {name for pin in pins for name in re.findall(r"(?:# via|#  ) ([a-z0-9-]+)$", pin, re.M)}
    assert needed <= {pin.split("==")[0] for pin in pins}
