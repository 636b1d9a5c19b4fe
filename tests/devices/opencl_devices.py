"""The OpenCL devices of this machine that run programs, and the programs that tests run on them.

Two come as wheels: PoCL (`pocl-binary-distribution`), and Oclgrind, a simulator that also runs where PoCL's compiler does not
know the processor.
"""

from __future__ import annotations

import os

os.environ.setdefault("OCLGRIND_LOCAL_MEM_SIZE", "65536")  # as real cards have; read when the first device is asked for

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from rho import backend
from rho.backend.codegen import gpu_printer
from rho.backend.gpu import opencl
from rho.backend.gpu.device import card_backend, tiers
from rho.backend.gpu.driver import CardModel
from rho.backend.vm.executor import execute_plan
from rho.backend.vm.run_state import RunResults
from rho.lang.diagnostics.model import RhoError
from rho.tests.backend import test_cuda_backend, test_cuda_fetching, test_cuda_keyed
from rho.tests.backend.test_differential import DECLARED, PROGRAMS, data
from rho.tests.harness.tiers import checked
from rho.tests.kernels.test_programs import LOOPS, STENCILS
from rho.typechecker.core.operations import Core

DEVICES: tuple[CardModel, ...] = tuple(gpu for gpu in opencl.gpus() if not gpu.lacks)
needs_opencl = pytest.mark.skipif(not DEVICES, reason=f"no OpenCL device runs programs: {tiers()}")
gpu_printer._SOME = 8  # blocks of kernels whose size only the device knows: a simulator takes a second for each hundred

Outcome = dict[str, bytes] | list[tuple[str, str]]


def cases() -> list[tuple[str, Mapping[str, Any]]]:
    """Programs with their inputs."""
    rng = np.random.default_rng(3)
    large = {"x": rng.standard_normal(9001), "y": rng.standard_normal(9001), "M": rng.standard_normal((70, 43))}
    declared = "input x : f64[n]\ninput y : f64[n]\ninput M : f64[r c]\n"
    loops = [f"output {text}" for text in (*LOOPS, *STENCILS)]
    return [
        *((DECLARED + text, given) for text in (*PROGRAMS, *loops) for given in (data(7, 2, 5), data(23, 3, 40))),
        *((f"{test_cuda_fetching.DECLARED}output r ← {text}", test_cuda_fetching.data()) for text in test_cuda_fetching.GATHERS),
        *((declared + text, large) for text in test_cuda_backend.BITS),
        *((f"{test_cuda_keyed.DECLARED}output r ← {text}", test_cuda_keyed.data(n)) for text in test_cuda_keyed.CASES
          for n in (1000, 40)),
    ]  # fmt: skip


def outcome(run: Callable[[], RunResults]) -> Outcome:
    """The bits of the outputs, or how the run fails."""
    try:
        return {name: shown.value.tobytes() for name, shown in run().outputs.items()}
    except RhoError as error:
        return [(str(one.code), one.message) for one in error.diagnostics]


def on_device(core: Core, given: Mapping[str, Any], number: int, hosted: Counter[str] | None = None) -> Outcome:
    bound = backend.load(core, given, {})
    plan, card = backend.plan(bound), card_backend("opencl", number, None)
    try:
        return outcome(lambda: execute_plan(plan, bound, given, {plan.home: card}))
    finally:
        if hosted is not None:
            hosted.update(card.hosted)


def on_processor(core: Core, given: Mapping[str, Any]) -> Outcome:
    bound = backend.load(core, given, {})
    return outcome(lambda: backend.execute(backend.plan(bound), bound, given))


def loadable(text: str, given: Mapping[str, Any]) -> Core | None:
    """The program, if these inputs are ones of it."""
    core = checked(text + "\n")
    if core is None:
        return None
    try:
        backend.load(core, given, {})
    except RhoError:
        return None
    return core
