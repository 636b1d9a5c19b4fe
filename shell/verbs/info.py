"""`rho info`: versions for a bug report."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from ... import __version__
from ..cli.arguments import Arguments
from ..cli.console import Console
from ..cli.exits import Exit
from ..cli.results import print_json, wants_json
from ..display.tier import gpu_tier, kernel_tier

PACKAGES = (
    "numpy", "parsimonious", "z3-solver", "llvmlite", "prompt_toolkit", "pygls", "ipykernel", "matplotlib",
    "cupy-cuda12x", "cupy-cuda13x",
)  # fmt: skip


def run(arguments: Arguments, console: Console) -> Exit:
    facts = {
        "rho": __version__, "python": platform.python_version(), "platform": platform.platform(),
        "encoding": sys.getfilesystemencoding(), "kernels": kernel_tier(), "gpu": gpu_tier(),
    }  # fmt: skip
    packages = {name: _version(name) for name in PACKAGES}
    if wants_json(arguments):
        print_json(console, {**facts, "packages": packages})
        return Exit.OK
    for name, value in [*facts.items(), *packages.items()]:
        console.print(f"{name:<16}{value or 'not installed'}")
    return Exit.OK


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
