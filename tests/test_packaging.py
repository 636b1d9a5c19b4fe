"""What is installed is what is here."""

from __future__ import annotations

import itertools
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_package_is_listed() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    rooms = ("lang", "typechecker", "backend", "shell", "stdlib")
    found = {".".join(("rho", *p.parent.relative_to(ROOT).parts)) for room in rooms for p in (ROOT / room).rglob("__init__.py")}
    assert set(listed) == found | {"rho"}


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
