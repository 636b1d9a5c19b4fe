"""Calls programs in every layout and size, and reports: `python -m rho.tests.calls.worker REPEATS THREADS NUMBER…`.

The numbers are those of programs.  Before each its number is printed, so that whoever runs this knows which one ended the
process; then what is wrong with it, one line each.  `RHO_KERNELS` is the mode.

A result is compared, bit for bit, with what NumPy makes of contiguous copies of the arguments (`RHO_KERNELS=off`), which the
reference is asked about too.  Memory that calls may be given is filled with other numbers beforehand; results are looked at
again after later calls, and arguments after each.
"""

from __future__ import annotations

import faulthandler
import json
import random
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.jit import tiering
from rho.backend.vm import executor
from rho.tests.calls.cases import LAYOUTS, SIZES, Array, Program, programs, values
from rho.tests.harness.tiers import Value, by_reference, checked, difference, longest, rounds

ENOUGH = 3
"""Problems of a program that are told."""
KEPT = 6
"""Results of a case that are looked at again."""
POISON = 113
MANY = 200
"""Calls of a case; with fewer, some layouts are drawn."""
SOME = 0.2


@dataclass
class Case:
    """Arguments that lie so, and the result."""

    name: str
    arguments: tuple[Array, ...]
    before: tuple[bytes, ...]
    expected: Any


def parts(result: Any) -> tuple[Array, ...]:
    return tuple(np.asarray(part) for part in (result if isinstance(result, tuple) else (result,)))


def same(left: Any, right: Any) -> bool:
    """The same bits; all NaNs are one."""
    return len(parts(left)) == len(parts(right)) and all(
        a.dtype == b.dtype and a.shape == b.shape and (a.tobytes() == b.tobytes() or _same_but_for_missing(a, b))
        for a, b in zip(parts(left), parts(right), strict=True)
    )


def _same_but_for_missing(a: Array, b: Array) -> bool:
    if a.dtype.kind not in "fc":
        return False
    missing = np.isnan(a)
    return bool(np.array_equal(missing, np.isnan(b)) and a[~missing].tobytes() == b[~missing].tobytes())


def plainly(function: Callable[..., Any], *arguments: Array) -> Any:
    """What NumPy makes of copies, by a function that is called here alone; the error that says why it makes nothing."""
    copies = [np.array(argument, order="C") for argument in arguments]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor, "native_program", lambda *_: None)
        patch.setattr(tiering, "mode", lambda: tiering.Mode.OFF)
        try:
            return function(*copies)
        except rho.RhoError as error:
            return error


def cases(program: Program, chance: np.random.Generator, share: float) -> Iterator[Case]:
    """Each size in each layout (or a share of these) of each argument, the others in any."""
    names, plain = list(LAYOUTS), rho.compile(program.text)
    for number, sizes in enumerate(SIZES):
        given = [
            values(kind, program.shape(place, sizes), chance) if axes else values(kind, (1,), chance).reshape(())
            for place, (kind, axes) in enumerate(program.arguments)
        ]
        for place, name in ((place, name) for place in range(len(given)) for name in names):
            if name != "rows" and chance.random() > share:
                continue
            ways = [name if other == place else str(chance.choice(names)) for other in range(len(given))]
            laid = tuple(LAYOUTS[way](one) if one.ndim else one for way, one in zip(ways, given, strict=True))
            before = tuple(one.tobytes() for one in laid)
            yield Case(f"size {number}, {' and '.join(ways)}", laid, before, plainly(plain, *laid))


def poison(result: Any) -> None:
    """Whoever gets this memory next finds no results in it."""
    for part in parts(result):
        others = [np.full(part.shape, POISON, part.dtype) for _ in range(2)]
        if part.flags.writeable and part.size:
            part.fill(POISON)
        del others


class Trial:
    """One program."""

    def __init__(self, program: Program, repeats: int) -> None:
        self.program, self.repeats = program, repeats
        self.function = rho.compile(program.text)
        self.problems: list[str] = []
        self.calls = 0

    def run(self, threads: int) -> None:
        chance = np.random.default_rng(len(self.program.name))
        found = list(cases(self.program, chance, 1.0 if self.repeats >= MANY else SOME))
        self.judge(found)
        kept = [(case, result, result_of(result)) for case in found for result in self.call(case)]
        order = random.Random(7)
        for _ in range(4 * len(found)):  # sizes and layouts that change from call to call
            case = order.choice(found)
            self.one(case)
        for case, result, copy in kept:
            if not same(result, copy):
                self.report(f"{case.name}: a result changed after later calls")
        self.together([case for case in found if not isinstance(case.expected, rho.RhoError)], threads)

    def judge(self, found: list[Case]) -> None:
        """The reference on what is expected."""
        for case in (found[0], next(case for case in found if case.name.startswith("size 1"))):
            if isinstance(case.expected, rho.RhoError | tuple):
                continue
            number = 0 if case is found[0] else 1
            types = self.program.types(SIZES[number])
            names = "ab"[: len(types)]
            inputs = "".join(f"input {name} : {type}\n" for name, type in zip(names, types, strict=True))
            applied = f"F {names}" if len(names) == 1 else "a F b"
            core = checked(f"{inputs}F ← {self.program.text}\noutput r ← {applied}\n")
            if core is None:
                self.report(f"{case.name}: not accepted as a program")
                continue
            given = {name: np.array(one, order="C") for name, one in zip(names, case.arguments, strict=True)}
            self.ask(core, given, case)

    def ask(self, core: Any, given: dict[str, Array], case: Case) -> None:
        wanted = by_reference(core, given)
        if isinstance(wanted, str):
            self.report(f"{case.name}: the reference fails with {wanted}")
            return
        made = Value("r", wanted[0].kind, np.asarray(case.expected))
        problem = difference(made, wanted[0], longest(given) if rounds(core) else 0)
        if problem:
            self.report(f"{case.name}: the reference has another value: {problem[:200]}")

    def call(self, case: Case) -> list[Any]:
        """So many calls; some of their results."""
        kept: list[Any] = []
        for turn in range(self.repeats):
            result = self.one(case, keep=turn % (self.repeats // KEPT + 1) == 0)
            if result is not None:
                kept.append(result)
        return kept

    def one(self, case: Case, keep: bool = False) -> Any:
        """The result, if it is to be kept: another is written over."""
        self.calls += 1
        try:
            result = self.function(*case.arguments)
        except rho.RhoError as error:
            if not isinstance(case.expected, rho.RhoError) or error.diagnostics[0].code != case.expected.diagnostics[0].code:
                self.report(f"{case.name}: fails with {error.diagnostics[0].code}")
            return None
        if isinstance(case.expected, rho.RhoError):
            self.report(f"{case.name}: does not fail with {case.expected.diagnostics[0].code}")
        elif not same(result, case.expected):
            self.report(f"{case.name}: call {self.calls} has other bits")
        if any(one.tobytes() != before for one, before in zip(case.arguments, case.before, strict=True)):
            self.report(f"{case.name}: an argument was written to")
        if any(np.may_share_memory(part, one) for part in parts(result) for one in case.arguments):
            self.report(f"{case.name}: a result shares memory with an argument")
        if keep:
            return result
        poison(result)
        return None

    def together(self, found: list[Case], threads: int) -> None:
        """Several threads, one function."""

        def work(seed: int) -> None:
            order = random.Random(seed)
            try:
                for _ in range(max(len(found), self.repeats)):
                    case = order.choice(found)
                    result = self.function(*case.arguments)
                    if not same(result, case.expected):
                        self.report(f"{case.name}: has other bits beside other threads")
                    poison(result)
            except BaseException as error:
                self.report(f"beside other threads: {error!r}"[:300])

        crew = [threading.Thread(target=work, args=(seed,)) for seed in range(threads)]
        for one in crew:
            one.start()
        for one in crew:
            one.join()

    def report(self, problem: str) -> None:
        self.problems.append(problem)


def result_of(result: Any) -> tuple[Array, ...]:
    return tuple(part.copy() for part in parts(result))


def main() -> None:
    faulthandler.enable()
    repeats, threads, *numbers = map(int, sys.argv[1:])
    if repeats < MANY:  # kernels come at once, not after some hundred calls
        tiering.COMPILE_NANOSECONDS = 1.0  # type: ignore[misc]
    every = programs()
    for number in numbers:
        print(json.dumps({"starts": number}), flush=True)
        trial = Trial(every[number], repeats)
        trial.run(threads)
        print(json.dumps({"ends": number, "calls": trial.calls, "problems": trial.problems[:ENOUGH]}), flush=True)


if __name__ == "__main__":
    main()
