"""What a program gives is its own: every primitive beside every other on eight threads, and on one core as on all of them.

Bits are compared with those of the same call alone."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from share import repeats, share

import rho
from rho.backend.jit import tiering
from rho.tests.soak.neighbours import TEXTS, digest, functions

pytestmark = pytest.mark.long

THREADS = 8
WATCHDOG = 600
ALWAYS = [0, 1, 2, 9, 11]
"""Products, which once depended on others."""
STARTS = range(0, len(TEXTS), 8)
GROUPS = [tuple(sorted({*ALWAYS, *range(start, min(start + 8, len(TEXTS)))})) for start in STARTS]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "COMPILE_NANOSECONDS", 1.0)


def beside(numbers: tuple[int, ...], calls: int) -> list[str]:
    """Which of these programs give something else on eight threads, half of which multiply matrices."""
    every = functions()
    own = [every[number] for number in numbers]
    alone = {text: digest(function(argument)) for text, function, argument in own}
    problems: list[str] = []

    def work(seed: int) -> None:
        order = random.Random(seed)
        try:
            for turn in range(calls):
                text, function, argument = own[(seed + turn) % len(own)] if seed % 2 else order.choice(own)
                if digest(function(argument)) != alone[text]:
                    problems.append(text)
        except BaseException as error:
            problems.append(repr(error)[:300])

    crew = [threading.Thread(target=work, args=(seed,)) for seed in range(THREADS)]
    for one in crew:
        one.start()
    for one in crew:
        one.join()
    return problems


@pytest.mark.parametrize("numbers", share(GROUPS, seed=5))
def test_beside_each_other(numbers: tuple[int, ...]) -> None:
    problems = beside(numbers, max(24, repeats(400)))
    assert not problems, sorted(set(problems))


def test_inner_products_beside_products() -> None:
    """The named failure: bits of an inner product followed from how many threads BLAS had at that moment."""
    problems = beside((0, 1, 2), max(60, repeats(600)))
    assert not problems, (len(problems), sorted(set(problems)))


def test_beside_products_of_numpy() -> None:
    """Others in the process may multiply with as many threads as they like."""
    every = functions()
    own = [every[number] for number in share([*range(len(TEXTS))], seed=8)] + [every[number] for number in ALWAYS]
    alone = {text: digest(function(argument)) for text, function, argument in own}
    done = threading.Event()
    matrix = np.random.default_rng(1).random((200, 200))

    def multiply() -> None:
        while not done.is_set():
            matrix @ matrix

    crew = [threading.Thread(target=multiply) for _ in range(2)]
    for one in crew:
        one.start()
    try:
        problems = [text for text, function, argument in own * 3 if digest(function(argument)) != alone[text]]
    finally:
        done.set()
        for one in crew:
            one.join()
    assert not problems, sorted(set(problems))


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no process is bound to cores here")
@pytest.mark.parametrize("kernels", share(["auto", "off", "always"], seed=1))
def test_one_core_and_all(kernels: str) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one core")
    found = [_on(cores, kernels) for cores in (1, len(os.sched_getaffinity(0)))]
    assert {text for text in found[0] if found[0][text] != found[1][text]} == set()
    assert {text for text, digests in found[0].items() if len(set(digests)) > 1} == set()


def _on(cores: int, kernels: str) -> dict[str, Any]:
    """In a process that has so many cores from its start: BLAS counts them when it is loaded."""
    some = sorted(os.sched_getaffinity(0))[:cores]
    command = [sys.executable, "-m", "rho.tests.soak.neighbours"]
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    done = subprocess.run(
        command, env=environment | {"RHO_KERNELS": kernels}, capture_output=True, text=True, timeout=WATCHDOG, check=False,
        preexec_fn=lambda: os.sched_setaffinity(0, some),
    )  # fmt: skip
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_texts_run() -> None:
    assert len(TEXTS) > 60 and rho.compile("{⍵+.×⍵}")(np.ones(4)) == 4
