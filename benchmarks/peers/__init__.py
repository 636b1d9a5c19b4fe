"""The peers beside which Rho is measured, where they are installed (never in Rho's own environment).

Each workload is what a practised user would write for the peer; its module says how.  Peers that compute later are made to
finish, and those with arrays of their own (JAX, PyTorch) are given them before the clock starts.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from rho.benchmarks.peers.sides import Arrays, Call

PEERS = ("numexpr", "numba", "torch", "compiled torch", "jax", "jay")


def peers(threads: int, wanted: tuple[str, ...] = PEERS) -> dict[str, dict[str, Callable[[Arrays], Callable[[], Any]]]]:
    """By the workload's name: what each peer runs, once it is given the arrays."""
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
