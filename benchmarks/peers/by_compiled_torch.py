"""The workloads for PyTorch with `torch.compile`, of the whole function or of a loop's step; without those of library calls."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from rho.benchmarks.peers import by_torch
from rho.benchmarks.peers.sides import Sides

arrays = by_torch.arrays
LIBRARY = {"W8 matrix product", "W13 sort", "W13 stable grade", "W16 histogram", "compress"}


def sides(threads: int) -> Sides:
    torch.set_num_threads(threads)
    torch._dynamo.config.cache_size_limit = 64  # shapes and element types of a function
    compiled: Any = partial(torch.compile, dynamic=False)
    loops = {
        "W9 Mandelbrot": partial(by_torch.mandelbrot, step=compiled(by_torch.escape)),
        "W10 Life": by_torch.repeated(compiled(by_torch.life)),
        "W11 heat": by_torch.repeated(compiled(by_torch.heat)),
        "W19 primes": by_torch.primes(compiled(by_torch.sieved)),
    }
    whole = {work: compiled(call) for work, call in by_torch.FUNCTIONS.items() if work not in {*LIBRARY, *loops}}
    return {work: lambda a, call=call: call(**a) for work, call in (whole | loops).items()}  # type: ignore[misc]
