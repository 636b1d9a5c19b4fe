"""Compares NumPy's references, numba, JAX and Rho on NPBench, as ratios; reports what ran as one region, and why others did not.

    python benchmarks/npbench/run.py CORPUS [--preset S] [KERNEL …] [--rounds 5] [-o FILE]

CORPUS is a folder with `NAME/info.json`, `NAME/NAME.py` (initialiser) and `NAME/NAME_numpy.py` for each kernel, as in NPBench
(they are not part of this project).  Times are the least of interleaved rounds, with copied arguments for kernels that write to
them; a kernel whose round takes more than ten seconds has one round.  Rho is `rho.load(…).run`, without reading files.  numba and
JAX, if installed, are `njit` and `jit` of the reference, if that compiles and runs within 60 s and gives NumPy's results.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

import rho
from rho.backend.cpu import regions

HERE = Path(__file__).parent
RENAMED = {"_fict_": "fict", "input": "x", "in": "x"}
PATIENCE = 60
"""The seconds allowed for compiling a kernel and its first run."""
LONG = 10
"""A kernel whose round takes more seconds has one round."""


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(loaded)
    sys.path.pop(0)
    return loaded


class Kernel:
    """One kernel at one size: its arguments by name, the reference, and the program."""

    def __init__(self, folder: Path, preset: str) -> None:
        about = json.loads((folder / "info.json").read_text())["benchmark"]
        self.name = folder.name
        self.data: dict[str, Any] = dict(about["parameters"][preset])
        init = about.get("init") or {}
        if init:
            initialise = getattr(module(folder / f"{about['module_name']}.py"), init["func_name"])
            made = initialise(*[self.data[a] for a in init["input_args"]])
            made = made if isinstance(made, tuple) and len(init["output_args"]) > 1 else (made,)
            self.data.update(zip(init["output_args"], made, strict=True))
        self.names: list[str] = about["input_args"]
        self.source, self.function = folder / f"{about['module_name']}_numpy.py", about["func_name"]
        self.reference: Callable[..., Any] = getattr(module(self.source), self.function)
        self.peers = {make.__name__[3:]: self.peer(make) for make in PEERS}
        self.program = rho.load(HERE / f"{self.name}.rho")
        wanted = {RENAMED.get(name, name): self.data[name] for name in self.names}
        self.given = {name: _stored(value) for name, value in wanted.items() if name in self.taken()}

    def taken(self) -> set[str]:
        text = (HERE / f"{self.name}.rho").read_text(encoding="utf-8")
        words = [line.split() for line in text.splitlines()]
        return {w[1].rstrip(":") for w in words if len(w) > 1 and w[0] in ("input", "param")}

    def arguments(self) -> list[Any]:
        return [np.copy(self.data[n]) if isinstance(self.data[n], np.ndarray) else self.data[n] for n in self.names]

    def by_numba(self) -> Callable[..., Any] | None:
        """`njit` of every function of the reference."""
        import numba

        written = module(self.source)
        for name, value in vars(written).copy().items():
            if isinstance(value, FunctionType) and value.__module__ == written.__name__:
                setattr(written, name, numba.njit(value))
        function: Callable[..., Any] = getattr(written, self.function)
        return function

    def by_jax(self) -> Callable[..., Any] | None:
        """`jit` of the reference with `jax.numpy` for `numpy`; arguments that are not arrays are static."""
        import jax

        jax.config.update("jax_enable_x64", True)
        written = module(self.source)
        for name, value in vars(written).copy().items():
            if value is np:
                setattr(written, name, jax.numpy)
        static = [place for place, name in enumerate(self.names) if not isinstance(self.data[name], np.ndarray)]
        jitted = jax.jit(getattr(written, self.function), static_argnums=static)
        return lambda *args: jax.block_until_ready(jitted(*args))

    def peer(self, make: Callable[[Kernel], Callable[..., Any] | None]) -> Callable[..., Any] | None:
        """The reference compiled; None if the compiler is missing, fails, takes too long or gives other results."""
        signal.signal(signal.SIGALRM, _give_up)
        signal.alarm(PATIENCE)
        try:
            function = make(self)
            args, plain = self.arguments(), self.arguments()
            result, expected = function(*args) if function else None, self.reference(*plain)
            for mine, theirs in zip((result, *args), (expected, *plain), strict=True):
                if theirs is not None and not _same(mine, theirs):
                    return None
        except ImportError:
            return None
        except Exception as error:  # each compiler has its own exceptions
            print(f"{self.name}: {make.__name__}: {type(error).__name__}: {str(error).strip()[:90]!r}", file=sys.stderr)
            return None
        finally:
            signal.alarm(0)
        return function

    def seconds(self, function: Callable[..., Any]) -> float:
        args = self.arguments()
        start = time.perf_counter()
        function(*args)
        return time.perf_counter() - start

    def rho_seconds(self) -> float:
        start = time.perf_counter()
        self.program.run(**self.given)
        return time.perf_counter() - start


PEERS: tuple[Callable[[Kernel], Callable[..., Any] | None], ...] = (Kernel.by_numba, Kernel.by_jax)


def _stored(value: Any) -> Any:
    """A value converted to an element type of Rho, which has no u32."""
    return value.astype(np.int64) if isinstance(value, np.ndarray) and value.dtype == np.uint32 else value


def _give_up(*_: object) -> None:
    raise TimeoutError


def _same(mine: Any, theirs: Any) -> bool:
    if isinstance(theirs, tuple | list):
        return all(map(_same, mine, theirs))
    if not isinstance(theirs, np.ndarray | np.generic | float | int | complex):
        return True
    return np.allclose(mine, theirs, 1e-3, equal_nan=True)


def mean_of(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def why() -> str:
    """Which of the phases that ran since the last call were regions, and why others were not."""
    runs = list(regions._runs.values())
    made = sum(bool(run.compiled) for run in runs)
    reasons = sorted({run.reason for run in runs if run.reason})
    regions._runs.clear()
    return "; ".join([f"{made} of {len(runs)}", *reasons])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--preset", default="S")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("-o", type=Path)
    given = parser.parse_args()
    names = given.kernels or sorted(path.stem for path in HERE.glob("*.rho"))
    lines = [
        f"| kernel ({given.preset}) | NumPy ms | numba ms | JAX ms | Rho ms | Rho ÷ NumPy | Rho ÷ best | regions |",
        "|---|---|---|---|---|---|---|---|",
    ]
    by_numpy: list[float] = []
    by_best: list[float] = []
    for name in names:
        try:
            kernel = Kernel(given.corpus / name, given.preset)
            functions = [kernel.reference, *filter(None, kernel.peers.values())]
            first = kernel.rho_seconds()
            for _ in range(2 if first < LONG else 0):
                kernel.rho_seconds()
            least = [math.inf] * (len(functions) + 1)
            for _ in range(given.rounds):
                start = time.perf_counter()
                times = [kernel.rho_seconds(), *map(kernel.seconds, functions)]
                least = list(map(min, least, times))
                if time.perf_counter() - start > LONG:
                    break
            ratio, best = least[0] / least[1], least[0] / min(least[1:])
            by_numpy.append(ratio)
            by_best.append(best)
            others = iter(least[2:])
            shown = [f"{least[1] * 1e3:.3f}", *(f"{next(others) * 1e3:.3f}" if p else "–" for p in kernel.peers.values())]
            row = f"| {name} | {' | '.join(shown)} | {least[0] * 1e3:.3f} | {ratio:.2f} | {best:.2f} | {why()} |"
        except Exception as error:
            row = f"| {name} | | | | | | | {type(error).__name__}: {str(error)[:90]!r} |"
        print(row, flush=True)
        lines.append(row)
    lines.append(f"\nGeometric means: Rho ÷ NumPy {mean_of(by_numpy):.2f}, Rho ÷ the best of the peers {mean_of(by_best):.2f}.")
    print(lines[-1])
    if given.o:
        given.o.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
