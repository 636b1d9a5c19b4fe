"""Random programs whose results are kept (`keep=`), written into the caller's arrays (`out=`) or run by a schedule that was
written (`--schedule`): the bits are those of a plain run; the caller's arrays are untouched or written wholly.

RHO_SHARE=1 pytest tests/shell/test_arrays_of_callers.py       # 240 programs
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from share import seeds

import rho
from rho.backend.cpu.views import DTYPES
from rho.tests.plans.test_results_of_runs import KINDS, program
from rho.typechecker.elements import Kind

from .conftest import Rho

AROUND = 64
"""Bytes before and behind an array of the caller."""


def guarded(like: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bytes of a pattern, and an array of the form of `like` inside them."""
    around = np.full(like.nbytes + 2 * AROUND, 0xA5, np.uint8)
    return around, around[AROUND : AROUND + like.nbytes].view(like.dtype).reshape(like.shape)


def same(a: object, b: np.ndarray) -> bool:
    array = np.asarray(a)
    return array.dtype == b.dtype and array.shape == b.shape and array.tobytes() == b.tobytes()


def drawn(seed: int, folder: Path) -> tuple[Random, Path, dict[str, np.ndarray]]:
    r = Random(seed)
    kind, path = r.choice(KINDS), folder / "p.rho"
    path.write_text(program(r, kind) + "\n", encoding="utf-8")
    length, draw = r.choice((1, 7, 300, 5000)), np.random.default_rng(seed)
    return r, path, {name: draw.integers(0, 100, length).astype(DTYPES[Kind(kind)]) for name in ("x", "y")}


@pytest.mark.parametrize("seed", seeds(200, least=4))
def test_results_are_where_the_caller_wants_them(seed: int, tmp_path: Path) -> None:
    r, path, data = drawn(seed, tmp_path)
    script = rho.load(path)
    plain = {name: np.array(value) for name, value in script.run(**data).items()}
    for _ in range(2):  # the second run may be native
        given = {name: array.copy() for name, array in data.items()}
        where = {name: r.choice(("out", "keep", "input", "")) for name in plain}
        rooms = {name: guarded(plain[name]) for name in plain if where[name] == "out"}
        out = {name: room for name, (_, room) in rooms.items()}
        free = list(given)
        for name, value in plain.items():
            if where[name] == "input" and free and same(given[free[0]][:0], value[:0]) and given[free[0]].shape == value.shape:
                out[name] = given[free.pop(0)]
        kept = [name for name in plain if where[name] == "keep"]
        results = script.run(**given, **({"out": out} if out else {}), **({"keep": kept} if kept else {}))
        for name, value in plain.items():
            assert same(results.resident[name] if name in kept else results[name], value), (seed, name, where)
            assert name not in out or same(out[name], value), (seed, name, where)
        for around, _ in rooms.values():
            assert (around[:AROUND] == 0xA5).all() and (around[-AROUND:] == 0xA5).all(), (seed, where)
        assert all(same(given[name], data[name]) for name in free), (seed, where)
        again = {name: results.resident[name] for name in kept if same(plain[name][:0], data["x"][:0])}
        for name, array in again.items():
            if plain[name].shape == data["x"].shape:
                expected = script.run(x=plain[name], y=data["y"])
                found = script.run(x=array, y=data["y"])
                assert all(same(found[one], np.asarray(expected[one])) for one in plain), (seed, name)
                assert same(array, plain[name])


@pytest.mark.long
@pytest.mark.parametrize("seed", seeds(40))
def test_a_written_schedule_gives_the_same_results(seed: int, tmp_path: Path, rho: Rho) -> None:
    _, path, data = drawn(seed, tmp_path)
    inputs = list[str]()
    for name, array in data.items():
        np.save(tmp_path / f"{name}.npy", array)
        inputs += ["--in", f"{name}={tmp_path / name}.npy"]
    names = [line.split()[1] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("output ")]
    devices, schedule = ("--devices", "workstation"), str(tmp_path / "s.rho")
    assert rho("plan", str(path), *inputs, *devices, "--format", "schedule", "-o", schedule).code == 0
    found = list[dict[str, bytes]]()
    for options in ((), (*devices, "--simulate", "--schedule", schedule)):
        outputs = [word for name in names for word in ("--out", f"{name}={tmp_path / name}.npy")]
        ran = rho("run", str(path), *inputs, *options, *outputs)
        assert ran.code == 0, (seed, ran.err)
        found.append({name: (tmp_path / f"{name}.npy").read_bytes() for name in names})
    assert found[0] == found[1], seed
