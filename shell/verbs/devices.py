"""`rho devices`: what this machine has.  Memory and cores are what the operating system grants; no back end is loaded."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from ..arguments import Arguments, UsageError
from ..console import Console
from ..exits import Exit
from ..results import print_json, to_json, wants_json, write_whole


def run(arguments: Arguments, console: Console) -> Exit:
    device = processor()
    if (target := arguments.value("-o")) is not None:
        try:
            write_whole(Path(target), to_json({"version": 1, "devices": [device]}) + "\n")
        except OSError as error:
            raise UsageError(f"`{target}` cannot be written: {error.strerror}") from error
    elif wants_json(arguments):
        print_json(console, {"version": 1, "devices": [device]})
    else:
        console.print(f"cpu0  {device['model']}  {device['cores']} cores  {_readable(device['memory_bytes'])}")
    return Exit.OK


def processor() -> dict[str, Any]:
    """The one CPU device: cores this process may use, memory in bytes (the control group's limit if it is lower)."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return {"name": "cpu0", "kind": "cpu", "model": _model(), "cores": cores, "memory_bytes": _memory()}


def _model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "processor"


def _memory() -> int:
    total = 0
    if hasattr(os, "sysconf"):
        try:
            total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (ValueError, OSError):
            total = 0
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
    except OSError:
        return total
    return min(total, int(limit)) if limit.isdigit() and total else total


def _readable(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} TiB"
