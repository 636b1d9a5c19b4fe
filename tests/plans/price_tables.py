"""Tables of a device profile's TOML, and what they have at a size (docs/devices.md, Tables): without `backend.schedule`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isqrt
from typing import Any

GRAIN = 1 << 16
NEAR = {
    "bool": ("u8", "i32", "i64", "f64"), "u8": ("bool", "i32", "i64", "f64"), "i32": ("i64", "f32", "f64"),
    "i64": ("i32", "f64", "f32"), "f32": ("f64", "i32", "i64"), "f64": ("f32", "i64", "i32"),
    "c64": ("c128", "f32", "f64"), "c128": ("c64", "f64", "f32"), "char": ("i32", "i64", "f32", "f64"),
}  # fmt: skip
WIDTHS = {"bool": 1, "u8": 1, "i32": 4, "i64": 8, "f32": 4, "f64": 8, "c64": 8, "c128": 16, "char": 4}


class NoTable(Exception):
    """The device has no table for this."""


@lru_cache(maxsize=100_000)
def looked_up(sizes: tuple[int, ...], times: tuple[int, ...], size: int) -> int:
    """Log-log: between two points their geometric means are on the curve; six halvings, then a straight line."""
    if size <= 0:
        return 0
    if size <= sizes[0]:
        return times[0] * GRAIN
    if size >= sizes[-1]:
        return times[-1] * GRAIN * size // sizes[-1]
    right = next(i for i, point in enumerate(sizes) if size <= point)
    if sizes[right] == size:
        return times[right] * GRAIN
    low, high = sizes[right - 1] << 32, sizes[right] << 32
    first, last = times[right - 1] << 32, times[right] << 32
    for _ in range(6):
        half, mean = isqrt(low * high), isqrt(first * last)
        if size << 32 > half:
            low, first = half, mean
        else:
            high, last = half, mean
    above = (size << 32) - low
    return (first * GRAIN * (high - low) + (last - first) * GRAIN * above) // ((high - low) << 32)


class Device:
    """One group of a profile file."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.name: str = fields["name"]
        self.count: int = fields.get("count", 1)
        self.launch: int = fields.get("launch_ns", 0)
        self.dispatch: int = fields.get("host_dispatch_ns", 0)
        self.sync: int = fields.get("sync_ns", 0)
        self.memory: int | None = fields.get("memory_bytes")
        if self.memory is not None:
            self.memory = int(self.memory * (1 - fields.get("memory_reserve", 0)))
        power = fields.get("power", {})
        self.idle_mw, self.active_mw = round(power.get("idle_w", 0) * 1000), round(power.get("active_w", 0) * 1000)
        self.tables = {name: (tuple(t["size"]), tuple(t["ns"])) for name, t in fields.get("op", {}).items()}

    def at(self, stems: Sequence[str], kind: str, size: int) -> int:
        """The first table that exists, names before wider names, of each the element types nearest first."""
        for stem in stems:
            for near in (kind, *NEAR[kind]):
                if f"{stem}.{near}" in self.tables:
                    return looked_up(*self.tables[f"{stem}.{near}"], size)
        raise NoTable(f"{stems[0]}.{kind}")

    def rate(self, stems: Sequence[str], kind: str, size: int) -> int:
        """In proportion beyond the ends of the table."""
        name = next(f"{stem}.{near}" for stem in stems for near in (kind, *NEAR[kind]) if f"{stem}.{near}" in self.tables)
        sizes, times = self.tables[name]
        nearest = min(max(size, sizes[0]), sizes[-1])
        return looked_up(sizes, times, nearest) * size // nearest

    def has(self, stems: Sequence[str], kind: str) -> bool:
        return any(f"{stem}.{near}" in self.tables for stem in stems for near in (kind, *NEAR[kind]))
