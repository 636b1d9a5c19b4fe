"""What `rho kernel install` puts in place: how the kernel is started, and its logo.

Neighbours: `shell.verbs.kernel`; jupyter_client knows where front ends look.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

NAME: Final = "rho"
_LOGO: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
<rect width="64" height="64" rx="12" fill="#263256"/>
<g fill="none" stroke="#fff" stroke-width="7"><circle cx="34" cy="27" r="12.5"/><path d="M21.5 27V56" stroke-linecap="round"/></g>
</svg>
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where: for the user, under a prefix, or (neither) in the environment that Rho runs in."""

    user: bool = False
    prefix: str | None = None


def install(name: str, place: Place) -> str:
    """The folder it is in now.  OSError: it cannot be written."""
    from jupyter_client.kernelspec import KernelSpecManager

    with tempfile.TemporaryDirectory(prefix="rho-kernel-") as folder:
        Path(folder).chmod(0o755)
        write(Path(folder), name)
        prefix = None if place.user else place.prefix or sys.prefix
        found: Any = KernelSpecManager().install_kernel_spec(folder, name, user=place.user, prefix=prefix)
    return str(found)


def write(folder: Path, name: str) -> None:
    """The files of a kernelspec."""
    spec = {
        "argv": [sys.executable, "-Xfrozen_modules=off", "-m", "rho.shell.jupyter", "-f", "{connection_file}"],  # for ipykernel
        "display_name": "Rho" if name == NAME else f"Rho ({name})",
        "language": "rho",
        "interrupt_mode": "signal",
        "metadata": {"debugger": False},
    }
    (folder / "kernel.json").write_text(json.dumps(spec, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "logo-svg.svg").write_text(_LOGO, encoding="utf-8")
