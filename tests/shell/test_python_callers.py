"""What Python programs get: one frame of Rho in a traceback, element types that hold, limits of a session, JSON, copies."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rho

KMEANS = "input x : f64[n] where n ≥ 2\nparam k ← 2\noutput first ← k↑x\noutput total ← +/x×x\n"


@pytest.fixture
def program(tmp_path: Path) -> Any:
    (tmp_path / "p.rho").write_text(KMEANS, encoding="utf-8")
    return rho.load(tmp_path / "p.rho")


@pytest.mark.parametrize("call", [
    lambda: rho.compile("+/", "x"), lambda: rho.grad("{+/⍵}", "x"), lambda: rho.value_and_grad("{+/⍵}", "x"),
    lambda: rho.eval("1", 3), lambda: rho.check("1", 3), lambda: rho.load("nosuch.rho", [])])  # type: ignore[call-overload, arg-type]
def test_a_session_is_a_session(call: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=r"session is a rho\.Session, not (str|int|list)"):
        call()


def wrong_calls(program: Any) -> list[Callable[[], object]]:
    add = rho.compile("{⍵+1 2 3}")
    solve = rho.compile("{⌹⍵}")
    return [
        lambda: add(np.arange(4)), lambda: add("text"), lambda: add(object()), lambda: add(), lambda: add(1, 2),
        lambda: solve(np.zeros((2, 2))), lambda: rho.compile("{"), lambda: rho.compile(3), lambda: rho.compile("3"),  # type: ignore[call-overload]
        lambda: rho.eval("1 2+1 2 3"), lambda: rho.eval("⌹2 2⍴0"), lambda: rho.load("nosuch.rho"), lambda: rho.load(3),  # type: ignore[arg-type]
        lambda: rho.check(3), lambda: rho.grad(3), lambda: rho.plain(object()),  # type: ignore[arg-type]
        lambda: program.run(x=3), lambda: program.run(z=3), lambda: program.run(), lambda: program.run(x=np.ones(1)),
        lambda: program.plan(), lambda: program.bounds(m=3), lambda: rho.compile("{⍵}", returns=np.int64)(1.5),
        lambda: rho.eval("1.5", returns=np.int64), lambda: rho.compile("{⍵}", returns=3),  # type: ignore[call-overload]
    ]  # fmt: skip


def test_a_traceback_has_one_frame_of_rho(program: Any) -> None:
    for number, call in enumerate(wrong_calls(program)):
        with pytest.raises((rho.RhoError, TypeError)) as caught:
            call()
        files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert len([file for file in files if file != __file__]) == 1, (number, files)
        assert caught.value.__cause__ is None


def test_an_error_inside_keeps_its_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation that fails is a bug of Rho, and its place is what a report needs."""
    from rho.shell.embedding import evaluating

    monkeypatch.setattr(evaluating, "require_accepted", lambda checked: len(3))  # type: ignore[arg-type]
    with pytest.raises(TypeError) as caught:
        rho.eval("1+2+3+4+5+6")
    assert len(traceback.extract_tb(caught.value.__traceback__)) > 3


@pytest.mark.parametrize(
    ("text", "argument", "returns", "gives"),
    [
        ("{⍵÷2}", 3, np.float64, ""), ("{⍵>2}", 3, np.bool_, ""), ("{'abc'}", 3, np.str_, ""), ("{⍵}", 3, np.int64, ""),
        ("{⍵÷2}", 3, np.int64, "numpy.float64"), ("{⍵ ⋄ 2}", 3, np.float64, "numpy.int64"),
        ("{(⍵ ⋄ 2.5)}", 3, (np.int64, np.float64), ""), ("{(⍵ ⋄ 2.5)}", 3, np.int64, "(numpy.int64, numpy.float64)"),
        ("{⍵}", 3, (np.int64,), "numpy.int64"),
    ],
)  # fmt: skip
def test_element_types_hold(text: str, argument: int, returns: Any, gives: str) -> None:
    function = rho.compile(text, returns=returns)
    for one in (function, pickle.loads(pickle.dumps(function)), copy.deepcopy(function)):
        if gives:
            with pytest.raises(TypeError, match=rf"gives {gives.replace('(', '.').replace(')', '.')}, and returns= says"):
                one(argument)
            continue
        value = one(argument)
        for item, wanted in zip(value if isinstance(value, tuple) else (value,), np.atleast_1d(returns), strict=True):
            assert issubclass(item.dtype.type, wanted)


@pytest.mark.parametrize("context", ["spawn"])
def test_functions_go_to_other_processes(context: str) -> None:
    square = rho.compile("{⍵×⍵}", returns=np.float64)
    square(np.arange(3.0))
    with ProcessPoolExecutor(1, multiprocessing.get_context(context)) as pool:
        assert [part.tolist() for part in pool.map(square, [np.arange(2.0), np.ones(1)])] == [[0.0, 1.0], [1.0]]


def test_results_are_json(program: Any) -> None:
    result = program.run(x=np.array([1.5, np.nan]))
    assert json.loads(json.dumps(result, default=rho.plain)) == {"first": [1.5, "nan"], "total": "nan"}
    values = {
        "⍳3": [0, 1, 2], "+/⍳3": 3, "1=1": True, "3J4": [3.0, 4.0], "'abc'": "abc", "2 2⍴'abcd'": ["ab", "cd"], "÷2": 0.5,
        "¯∞": "-inf",
    }  # fmt: skip
    for text, wanted in values.items():
        assert json.loads(json.dumps({"value": rho.eval(text)}, default=rho.plain)) == {"value": wanted}, text
    assert rho.plain((np.float64(2.5), np.int64(1), None, [np.bool_(True)])) == [2.5, 1, None, [True]]
    with pytest.raises(TypeError, match="set is no array"):
        json.dumps({1}, default=rho.plain)


def test_a_session_limits_memory_everywhere(tmp_path: Path, program: Any) -> None:
    session = rho.Session(max_memory="1 MB")
    assert session == rho.Session(max_memory=1_000_000) and hash(session) == hash(rho.Session(max_memory=10**6))
    limited = rho.load(tmp_path / "p.rho", session)
    double = rho.compile("{⌽⍵×2}", session)
    for call in (
        lambda: double(np.arange(1e6)), lambda: rho.eval("⌽(⍳1000000)÷2.5", session), lambda: limited.run(x=np.ones(10**6)),
        lambda: pickle.loads(pickle.dumps(double))(np.arange(1e6)),
    ):  # fmt: skip
        with pytest.raises(rho.Refused) as caught:
            call()
        assert [one.code for one in caught.value.diagnostics] == ["E702"]
    assert double(np.arange(3.0)).tolist() == [4, 2, 0] and float(limited.run(x=np.ones(5))["total"]) == 5.0
    for wrong, error in ((-1, ValueError), ("much", ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error):
            rho.Session(max_memory=wrong)  # type: ignore[arg-type]


def test_a_session_reads_only_what_is_allowed(tmp_path: Path) -> None:
    for name in ("allowed", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.csv").write_text("1\n2\n", encoding="utf-8")
        (tmp_path / name / "m.rho").write_text("one ← 1\n", encoding="utf-8")
    session = rho.Session(str(tmp_path), allow_read=[tmp_path / "allowed"])
    read = 'input x : f64[n] ← "{}/x.csv"\n+/x'
    assert float(rho.eval(read.format("allowed"), session, returns=np.float64)) == 3.0
    assert rho.check('use "./allowed/m.rho"\nm.one\n', session).accepted
    with pytest.raises(rho.Refused, match="E707"):
        rho.eval(read.format("other"), session)
    assert [one.code for one in rho.check('use "./other/m.rho"\nm.one\n', session).diagnostics] == ["E707"]
    nothing = rho.Session(str(tmp_path), allow_read=[])
    with pytest.raises(rho.Refused, match="E707"):
        rho.eval(read.format("allowed"), nothing)
    with pytest.raises(TypeError, match="a list of folders"):
        rho.Session(allow_read="allowed")
