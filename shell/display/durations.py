"""Times in words.  Imports nothing, so that a prompt need not wait for it."""

from __future__ import annotations


def duration(ns: float) -> str:
    """Nanoseconds in three figures: `1.25 ms`."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def waiting(seconds: float) -> str:
    """How long someone waits: `3.2 s`, `4 min 10 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
