"""What `rho kernel install` puts in place: how the kernel is started, and its logo.

Neighbours: `shell.verbs.kernel`; jupyter_client knows where front ends look.
"""

from __future__ import annotations

import json
import struct
import sys
import tempfile
import zlib
from dataclasses import dataclass
from math import hypot
from pathlib import Path
from typing import Any, Final

NAME: Final = "rho"
_GROUND, _INK = (38, 50, 86), (255, 255, 255)
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
    for size in (32, 64):
        (folder / f"logo-{size}x{size}.png").write_bytes(_png(size))


def _png(size: int) -> bytes:
    """The logo as an image: an alpha channel, eight bits."""
    rows = b"".join(b"\0" + b"".join(_pixel(x, y, size) for x in range(size)) for y in range(size))
    header = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def _pixel(x: int, y: int, size: int) -> bytes:
    """The mean of four by four points in it."""
    points = [((x + (i + 0.5) / 4) * 64 / size, (y + (j + 0.5) / 4) * 64 / size) for i in range(4) for j in range(4)]
    ground = sum(_in_ground(*point) for point in points)
    ink = sum(_in_letter(*point) for point in points)
    colour = [(_INK[c] * ink + _GROUND[c] * (ground - ink)) // max(ground, 1) for c in range(3)]
    return bytes([*colour, ground * 255 // 16])


def _in_ground(x: float, y: float) -> bool:
    return hypot(max(12 - x, x - 52, 0.0), max(12 - y, y - 52, 0.0)) <= 12


def _in_letter(x: float, y: float) -> bool:
    return 9 <= hypot(x - 34, y - 27) <= 16 or hypot(x - 21.5, y - min(max(y, 27.0), 56.0)) <= 3.5
