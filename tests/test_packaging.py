"""What is installed is what is here."""

from __future__ import annotations

import itertools
import re
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement

from rho.backend.io.formats import FORMATS

ROOT = Path(__file__).parents[1]


ROOMS = ("lang", "typechecker", "backend", "shell", "stdlib")


def test_every_file_is_in_a_package() -> None:
    """An editable install reads files where they are; a wheel has modules of packages (`setup.py` finds them) and listed data."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    for path in (one for room in ROOMS for one in (ROOT / room).rglob("*") if one.is_file() and "__pycache__" not in one.parts):
        package = next(folder for folder in path.parents if (folder / "__init__.py").exists())
        name = ".".join(("rho", *package.relative_to(ROOT).parts))
        within = path.relative_to(package)
        assert (within.match("*.py") and len(within.parts) == 1) or any(map(within.match, data.get(name, ()))), path
    assert all((ROOT / name.removeprefix("rho").strip(".").replace(".", "/") / "__init__.py").exists() for name in data)


def test_a_source_distribution_has_all_that_is_tracked() -> None:
    """Its tests read documents, examples and benchmarks too; `MANIFEST.in` says what goes in beside the packages."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        return  # no checkout, for example a source distribution itself
    lines = [line.split() for line in (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()]
    grafted = {word for line in lines if line[:1] == ["graft"] for word in line[1:]}
    included = {word for line in lines if line[:1] == ["include"] for word in line[1:]}
    endings = {(line[1], pattern) for line in lines if line[:1] == ["recursive-include"] for pattern in line[2:]}
    for name in listed.stdout.splitlines():
        first = name.partition("/")[0]
        is_module = name.endswith(".py") and (first in ROOMS or "/" not in name)
        is_listed = first in grafted or name in included or name in ("MANIFEST.in", "pyproject.toml")
        assert is_module or is_listed or any(first == room and Path(name).match(ending) for room, ending in endings), name


def test_dependencies_are_ranges_that_what_is_installed_is_in() -> None:
    """An exact version would exclude packages that want another; a browser has only what is written in Python, and NumPy."""
    dependencies = [Requirement(line) for line in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]]
    assert {one.name for one in dependencies} == {"parsimonious", "numpy", "llvmlite", "highspy", "z3-solver", "prompt_toolkit"}
    for one in dependencies:
        assert one.specifier.contains(version(one.name)), one
        assert {clause.operator for clause in one.specifier} <= {">=", "<"}, one
    browser = {"sys_platform": "emscripten"}
    assert {one.name for one in dependencies if one.marker is None or one.marker.evaluate(browser)} == {"parsimonious", "numpy"}


def test_extras_that_hints_name_exist() -> None:
    """In messages `rho-lang[plot]`, in documents `.[plot]` or "the extra `plot`"; formats name theirs."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named: dict[str, set[str]] = {}
    other = {"node_modules", ".venv", "build", "CHANGELOG.md"}  # the last one tells of former extras
    for pattern in ("*.md", "*.py", "*.ts", "*.toml"):
        for path in ROOT.rglob(pattern):
            if not other & {*path.relative_to(ROOT).parts}:
                text = path.read_text(encoding="utf-8")
                listed = re.findall(r"(?:rho-lang|['\" ]\.)\[([a-z0-9,]+)\]", text)
                listed += re.findall(r"\b[Ee]xtra `([^`]+)`", text) + re.findall(r"missing_package\(\"([a-z0-9]*)\"", text)
                for name in filter(None, ",".join(listed).split(",")):
                    named.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    named |= {format.package[1]: {"formats"} for format in FORMATS if format.package[1]}
    assert len(named) > 10
    assert not {name: paths for name, paths in named.items() if name not in extras}


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
