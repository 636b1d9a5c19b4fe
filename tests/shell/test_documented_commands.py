"""Every command of the documentation: blocks of shell run as they stand; in the text, verbs exist and have such options."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOT_RUN = (
    "pip install", "pytest", "tests/harness/", ".ci/run", ".ci/nightly",
    "jupyter", "kernel install", "--calibrate", "--refine", "rho lsp",
    "tcp://", "scheduler.json", "acme0",
)  # fmt: skip
"""What changes the machine, needs a package index or a scheduler, or measures for half a minute; other tests do our part of
it."""
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*|(?<![\w-])-[a-zA-Z](?![\w-])")


def blocks() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for number, block in enumerate(re.findall(r"^```sh\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)):
            lines = [line for line in block.splitlines() if line.strip() and not any(part in line for part in NOT_RUN)]
            if lines:
                file = "kmeans" if "--size" in block else "pi"  # it has sizes; it is planned soon
                found.append((f"{page.name}-{number}", "\n".join(lines).replace("FILE", f"examples/{file}.rho")))
    return found


def spoken() -> list[tuple[str, str]]:
    """Commands in the text: `rho verb …`."""
    texts = [(page.name, page.read_text("utf-8")) for page in PAGES]
    return [(name, command) for name, text in texts for command in re.findall(r"`(rho [a-z][^`\n]*)`", text)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    return tmp_path


@pytest.mark.parametrize(("name", "script"), blocks(), ids=[name for name, _ in blocks()])
def test_blocks_run(name: str, script: str, folder: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("verb", sorted({command.split()[1] for _, command in spoken()}))
def test_commands_in_the_text_exist(verb: str, rho) -> None:  # type: ignore[no-untyped-def]
    page = rho(verb, "--help")
    assert page.code == 0
    known = set(OPTION.findall(page.out))
    for name, command in spoken():
        if command.split()[1] == verb:
            unknown = set(OPTION.findall(re.sub(r"'[^']*'", "", command))) - known
            assert not unknown, f"{name}: `{command}` has {unknown}"


def test_the_plan_of_the_readme_is_an_excerpt_of_what_is_printed() -> None:
    excerpt = re.search(r"^```text\n(plan/.*?)^```", PAGES[0].read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert excerpt is not None
    command = [sys.executable, "-m", "rho", "plan", "examples/sunspots.rho"]
    printed = iter(subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout.splitlines())
    for line in excerpt[1].splitlines():
        assert line.strip() == "…" or line in printed, line  # an iterator: each after the last
