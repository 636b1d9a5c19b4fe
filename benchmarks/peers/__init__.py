"""The peers that Rho is compared with, if they are installed (never in Rho's own environment).

Each peer has a module with the workloads in its idiom.  Asynchronous peers are synchronised, and those with their own arrays
(JAX, PyTorch) get them before timing starts.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from rho.benchmarks.peers.sides import Arrays, Call

PEERS = ("numexpr", "numba", "torch", "compiled torch", "jax", "jay")


def peers(threads: int, wanted: tuple[str, ...] = PEERS) -> dict[str, dict[str, Callable[[Arrays], Callable[[], Any]]]]:
    """For each workload, by peer, the function from arrays to the call that is timed."""
    found: dict[str, dict[str, Callable[[Arrays], Callable[[], Any]]]] = {}
    for name in wanted:
        try:
            peer = importlib.import_module(f"rho.benchmarks.peers.by_{name.replace(' ', '_')}")
        except ImportError:
            continue
        own = getattr(peer, "arrays", dict)
        for work, call in peer.sides(threads).items():
            found.setdefault(work, {})[name] = partial(_bound, call, own)
    return found


def _bound(call: Call, own: Callable[[Arrays], Arrays], given: Arrays) -> Callable[[], Any]:
    return partial(call, own(given))
