"""The functions of `by_torch` through `torch.compile`, but those whose result's shape depends on the values."""

from __future__ import annotations

import torch

from rho.benchmarks.peers import by_torch
from rho.benchmarks.peers.sides import Sides

arrays = by_torch.arrays
LIBRARY = {"W8 matrix product", "W13 sort", "W13 stable grade", "W16 histogram", "compress"}


def sides(threads: int) -> Sides:
    torch.set_num_threads(threads)
    compiled = {work: torch.compile(call, dynamic=False) for work, call in by_torch.FUNCTIONS.items() if work not in LIBRARY}
    return {work: lambda a, call=call: call(**a) for work, call in compiled.items()}  # type: ignore[misc]
