"""Tiny instances from a seed, as JSON: what the enumeration of `document` can go through."""

from __future__ import annotations

from random import Random


def tiny(r: Random) -> dict[str, object]:
    """One to three devices, one to three phases of at most three rows, numbers that just fit or just do not."""
    names = ["d0", "d1", "d2"][: r.choice([1, 1, 2, 2, 2, 3])]
    limited = r.random() < 0.7
    devices = [device(r, name, limited) for name in names]
    devices[0]["home"] = True
    small = len(names) == 3
    phases = [phase(r, f"p{i}", names, small) for i in range(r.choice([1, 2] if small else [1, 2, 2, 3]))]
    edges = [
        {"from": a["id"], "to": b["id"]} | ({"whole": True} if r.random() < 0.2 else {})
        for at, b in enumerate(phases) for a in phases[:at] if r.random() < 0.6
    ]  # fmt: skip
    value = {"schema": "instance/1", "devices": devices, "phases": phases, "edges": edges}
    if len(names) > 1:
        value["links"] = links(r, names)
    if r.random() < 0.4:
        value["chunks"] = r.choice([2, 3]) if len(names) < 3 else 1
    if r.random() < 0.2:
        value["memory_grain"] = r.choice([2, 4])
    return value


def device(r: Random, name: str, limited: bool) -> dict[str, object]:
    found: dict[str, object] = {"id": name}
    if limited and r.random() < 0.8:
        found["mem"] = r.randint(2, 16)
    if r.random() < 0.15:
        found["sync"] = r.randint(1, 2)
    return found


def phase(r: Random, name: str, devices: list[str], small: bool) -> dict[str, object]:
    able = [name for name in devices if r.random() < 0.8] or devices[:1]
    found: dict[str, object] = {"id": name, "ticks": {one: r.choice([0, 1, 2, 3, 4, 6]) for one in able}}
    found["out_bytes"] = r.choice([0, 1, 2, 3, 4, 6, 8])
    if r.random() < 0.5:
        found["rows"] = r.choice([1, 2] if small else [1, 2, 3])
    if r.random() < 0.4:
        found["scratch"] = r.randint(1, 9)
    if r.random() < 0.4:
        found["inplace"] = True
    if r.random() < 0.2 and devices[0] in able:
        found["home"] = True
    if r.random() < 0.1:
        found["ready"] = r.randint(1, 3)
    if "rows" in found and r.random() < 0.15:
        found["combine"] = {"ticks_per_shard": r.randint(0, 2), "bytes": r.randint(0, 3)}
    return found


def links(r: Random, names: list[str]) -> list[dict[str, object]]:
    """Between all devices, written from either end, alone or in groups."""
    pairs = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :]]
    found: list[dict[str, object]] = []
    for a, b in pairs:
        source, target = (a, b) if r.random() < 0.5 else (b, a)
        kind = r.choice(["half", "full", "full", "simplex"])
        link: dict[str, object] = {"src": source, "dst": target, "duplex": kind, "latency": r.choice([0, 0, 1, 2])}
        if r.random() < 0.8:
            link["bytes_per_tick"] = r.choice([1, 2, 4])
        if r.random() < 0.6:
            link["group"] = "bus"
        found.append(link)
        if kind == "simplex":
            found.append({**link, "src": target, "dst": source, "latency": 1})
    return found
