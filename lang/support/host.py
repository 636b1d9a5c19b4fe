"""Cores, memory and the processor's name, as the system grants them to the process.  Imports no back end."""

from __future__ import annotations

import os
import platform

from .bounded_parsing import parse_natural
from .files import KERNEL_TEXT, read_bytes, read_text


def cores() -> int:
    """Cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def memory() -> int:
    """Bytes of memory, or the control group's limit if that is lower; 0 if the system does not say."""
    total = 0
    if hasattr(os, "sysconf"):
        try:
            total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (ValueError, OSError):
            total = 0
    try:
        limit = read_text("/sys/fs/cgroup/memory.max", KERNEL_TEXT).strip()
    except (OSError, ValueError):
        return total
    allowed = parse_natural(limit, total)
    return total if allowed is None else allowed


def model() -> str:
    """The processor's name."""
    try:
        for line in read_bytes("/proc/cpuinfo", 1 << 24).decode("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "processor"
