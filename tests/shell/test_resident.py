"""Arrays that stay in memory between runs from Python, and results that are written into the caller's arrays."""

from __future__ import annotations

import copy
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.vm.values import NUMPY_NAMES
from rho.typechecker.elements import Kind

STEP = "input w : f64[n]\ninput g : f64[n]\noutput s ← +/w×w\noutput w2 ← w-0.1×g\n"
ROWS = 50_000


def program(tmp_path: Path, text: str = STEP, **limits: Any) -> Any:
    script = tmp_path / "step.rho"
    script.write_text(text, encoding="utf-8")
    return rho.load(script, rho.Session(**limits))


def address(resident: Any) -> int:
    return int(resident._value.pieces[0][2].ctypes.data)


@pytest.mark.parametrize("tier", ["off", "always", None])
@pytest.mark.parametrize("text", [STEP, STEP.replace("w-0.1×g", "{⍵-0.1×g}⍣5 ⊢ w"), STEP.replace("w-0.1×g", "w"),
    STEP + "output w3 ← w2\n", STEP + "output w3 ← w\n", STEP.replace("w-0.1×g", "w-0.1×⌽w"),
    STEP.replace("w-0.1×g", "w-0.1×w[⍋g]")])  # fmt: skip
def test_a_moved_state_has_the_values_of_arrays(
    tmp_path: Path, text: str, tier: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    if tier is not None:
        monkeypatch.setenv("RHO_KERNELS", tier)
    step, g = program(tmp_path, text), np.random.default_rng(2).uniform(size=ROWS)
    there, arrays, initial = rho.ResidentArray(g), g.copy(), g.copy()
    for _ in range(4):
        result = step.run(w=there.move(), g=g, keep={"w2": "w"})
        there = result.resident["w"]
        right = step.run(w=arrays, g=g)
        assert all(result[name].tobytes() == right[name].tobytes() for name in result)
        assert np.asarray(there).tobytes() == right["w2"].tobytes()
        arrays = right["w2"]
    assert np.array_equal(g, initial)


def test_a_moved_state_is_written_over_and_takes_less_memory(tmp_path: Path) -> None:
    step, g = program(tmp_path), np.ones(ROWS)
    state, addresses = rho.ResidentArray(np.zeros(ROWS)), set()
    for _ in range(6):
        addresses.add(address(state))
        state = step.run(w=state.move(), g=g, keep={"w2": "w"}).resident["w"]
    assert len(addresses) <= 2  # native code, from the third run on, has another array than Python before it
    needed = max(plan.peak["cpu0"] for _, plan in step._plans.values())
    tight = program(tmp_path, max_memory=needed)
    state = tight.run(w=state.move(), g=g, keep={"w2": "w"}).resident["w"]
    with pytest.raises(rho.Refused, match="E702"):  # two states, and the gradient
        tight.run(w=state, g=g, keep="w2")


def test_a_state_that_is_not_moved_stays_as_it_is(tmp_path: Path) -> None:
    step, g = program(tmp_path), np.ones(ROWS)
    state = rho.ResidentArray(np.zeros(ROWS))
    first = [np.asarray(step.run(w=state, g=g, keep="w2").resident["w2"]) for _ in range(4)]
    assert all(np.array_equal(one, first[0]) for one in first) and not np.asarray(state).any()
    copy = np.asarray(state)
    copy[...] = 7
    assert not np.asarray(state).any()


def test_what_was_moved_is_used_no_more(tmp_path: Path) -> None:
    step, g = program(tmp_path), np.ones(3)
    state = rho.ResidentArray(np.zeros(3))
    moved = state.move()
    for use in (lambda: state.shape, lambda: np.asarray(state), state.move, lambda: step.run(w=state, g=g)):
        with pytest.raises(ValueError, match="was moved: use the result"):
            use()
    step.run(w=moved, g=g)
    with pytest.raises(ValueError, match="was moved: use the result"):
        step.run(w=moved, g=g)
    assert repr(state) == repr(moved) == "<rho resident: moved>"
    both = rho.ResidentArray(np.zeros(3)).move()
    with pytest.raises(ValueError, match="was moved"):
        step.run(w=both, g=both)


def test_a_call_that_is_refused_takes_nothing(tmp_path: Path) -> None:
    step = program(tmp_path)
    moved = rho.ResidentArray(np.zeros(3)).move()
    with pytest.raises(rho.Refused):
        step.run(w=moved, g=np.ones(4))
    with pytest.raises(TypeError, match="no input or param nope"):
        step.run(w=moved, g=np.ones(3), nope=1)
    assert np.array_equal(step.run(w=moved, g=np.ones(3))["w2"], [-0.1] * 3)


def test_one_thread_of_many_takes_a_moved_state(tmp_path: Path) -> None:
    step, g = program(tmp_path), np.ones(ROWS)
    step.run(w=g, g=g)
    moved, outcomes = rho.ResidentArray(np.zeros(ROWS)).move(), []
    gate = threading.Barrier(8)

    def run() -> None:
        gate.wait()
        try:
            outcomes.append(float(step.run(w=moved, g=g)["w2"][0]))
        except ValueError:
            outcomes.append(None)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(-0.1) == 1 and outcomes.count(None) == 7


def test_another_run_takes_a_moved_state_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look at the state's shape and the copy of its elements."""
    step, g = program(tmp_path), np.ones(ROWS)
    moved, planned = rho.ResidentArray(np.zeros(ROWS)).move(), type(step)._cached_plan

    def overtaken(*args: Any, **options: Any) -> Any:
        monkeypatch.undo()
        step.run(w=moved, g=g)
        return planned(*args, **options)

    monkeypatch.setattr(type(step), "_cached_plan", overtaken)
    with pytest.raises(ValueError, match="use the result of that run"):
        step.run(w=moved, g=g)


@pytest.mark.parametrize("kind", ["bool", "u8", "i32", "i64", "f32", "f64", "c64", "c128", "char"])
def test_every_kind_stays(tmp_path: Path, kind: str) -> None:
    same = program(tmp_path, f"input x : {kind}[n]\noutput y ← ⌽x\n")
    values = np.array(list("abc")) if kind == "char" else np.array([1, 0, 1])
    state = rho.ResidentArray(values if kind == "char" else values.astype(NUMPY_NAMES[Kind(kind)]))
    for _ in range(3):
        state = same.run(x=state.move(), keep={"y": "x"}).resident["x"]
    assert np.array_equal(np.asarray(state), values[::-1]) and state.shape == (3,)
    assert state.dtype.kind == np.asarray(state).dtype.kind


def test_numbers_tables_and_narrower_kinds(tmp_path: Path) -> None:
    of_all = program(tmp_path, "input a : f64\ninput m : f64[r c]\noutput b ← a+1\noutput t ← ⍉m×a\noutput e ← (0 3)⍴m\n")
    result = of_all.run(a=rho.ResidentArray(2.0), m=rho.ResidentArray(np.arange(6, dtype=np.float32).reshape(2, 3)), keep="b t e")
    again = of_all.run(a=result.resident["b"].move(), m=result.resident["t"].move(), keep=["t", "e"])
    assert np.array_equal(np.asarray(again.resident["t"]), np.arange(6.0).reshape(2, 3) * 6)
    assert float(again["b"]) == 4 and again.resident["e"].shape == (0, 3) and dict(result) == {}


@pytest.mark.parametrize("keep", ["nope", 3, ["w2", "x"], {"w2": 1}, {"x": "w"}])
def test_keep_names_outputs(tmp_path: Path, keep: Any) -> None:
    with pytest.raises(TypeError, match="keep is names of outputs, of s, w2, not"):
        program(tmp_path).run(w=[1.0], g=[1.0], keep=keep)


def test_inputs_may_have_the_names_of_options(tmp_path: Path) -> None:
    named = program(tmp_path, "input keep : f64[n]\ninput out : f64\noutput y ← keep×out\n")
    assert named.run(keep=[1.0, 2.0], out=3.0)["y"].tolist() == [3, 6]


def test_results_are_written_into_the_callers_arrays(tmp_path: Path) -> None:
    step, target = program(tmp_path), np.full(3, 9.0)
    result = step.run(w=target, g=np.ones(3), out={"w2": target})  # it may be an input: it is written at the end
    assert result["w2"] is target and np.allclose(target, 8.9) and float(result["s"]) == 243
    double = rho.compile("{⍵×2}")
    for _ in range(4):
        assert double(target, out=target) is target
    assert np.allclose(target, 8.9 * 16)
    pair, into = rho.compile("{(+/⍵ ⋄ ⌽⍵)}"), (np.empty(()), np.empty(3))
    assert all(a is b for a, b in zip(pair(target, out=into), into, strict=True)) and into[0] == target.sum()


def _read_only() -> np.ndarray[Any, Any]:
    array = np.zeros(3)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("target", "error", "words"),
    [
        (np.zeros(4), ValueError, r"has shape \(4,\), and the result \(3,\)"),
        (np.zeros((3, 1)), ValueError, "has shape"),
        (np.zeros(3, np.float32), ValueError, "has dtype float32, and the result float64"),
        (np.zeros(6)[::2], ValueError, "is not contiguous in rows"),
        (_read_only(), ValueError, "is read-only"),
        ([0.0, 0.0, 0.0], TypeError, "is a NumPy array for the result, not list"),
    ],
)
def test_an_array_that_does_not_fit_is_not_written(tmp_path: Path, target: Any, error: type[Exception], words: str) -> None:
    sums = np.zeros(())
    with pytest.raises(error, match=words):
        rho.compile("{⍵×2}")(np.ones(3), out=target)
    with pytest.raises(error, match=words):
        program(tmp_path).run(w=np.ones(3), g=np.ones(3), out={"s": sums, "w2": target})
    assert not np.any(target) and sums == 0
    with pytest.raises(TypeError, match="out is arrays by the names of outputs, of s, w2"):
        program(tmp_path).run(w=np.ones(3), g=np.ones(3), out=target)
    with pytest.raises(TypeError, match="out is a tuple of 2 arrays"):
        rho.compile("{(⍵ ⋄ ⍵)}")(np.ones(3), out=np.zeros(3))


def test_a_failing_run_leaves_the_array_as_it_is() -> None:
    target = np.ones(2)
    with pytest.raises(rho.RunFailed):
        rho.compile("{⍵[⌊⍵]}")(np.array([0.0, 5.0]), out=target)
    assert target.tolist() == [1, 1]


def _sharing() -> dict[str, tuple[Any, Any]]:
    whole = np.full(7, 9.0)
    half = np.frombuffer(whole.data, dtype=np.float64)
    return {"one": (whole[:3], whole[:3]), "overlapping": (whole[:3], whole[2:5]), "by a buffer": (half[:3], whole[1:4])}


@pytest.mark.parametrize("which", sorted(_sharing()))
def test_results_are_not_written_over_each_other(tmp_path: Path, which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays that share memory are refused by name, before anything runs."""
    first, second = _sharing()[which]
    both = program(tmp_path, "input x : f64[n]\noutput a ← x+1\noutput b ← x×2\n")
    function = rho.compile("{(⍵+1 ⋄ ⍵×2)}")
    both.run(x=np.ones(3)), function(np.ones(3))
    with monkeypatch.context() as patched:
        patched.setattr(both, "_run", None)
        patched.setattr(function, "_latest", None)
        with pytest.raises(ValueError, match=r"out\['a'\] and out\['b'\] share memory, .*: give two arrays"):
            both.run(x=np.ones(3), out={"a": first, "b": second})
        with pytest.raises(ValueError, match=r"out\[0\] and out\[1\] share memory, .*: give two arrays"):
            function(np.ones(3), out=(first, second))
    assert set(first) == set(second) == {9}
    beside = np.zeros((2, 3))
    both.run(x=np.ones(3), out={"a": beside[0], "b": beside[1]})
    assert beside.tolist() == [[2] * 3] * 2
    assert function(np.ones(3), out=(beside[1], beside[0]))[0] is not None and beside.tolist() == [[2] * 3] * 2
    none = np.empty(0)
    both.run(x=none, out={"a": none, "b": none})  # there is nothing to write over


def test_a_result_has_one_place(tmp_path: Path) -> None:
    step, one = program(tmp_path), np.ones(3)
    with pytest.raises(TypeError, match="w2 is in keep, and its result is not written to out: leave it out of one of them"):
        step.run(w=one, g=one, out={"w2": np.zeros(3)}, keep="w2 s")
    with pytest.raises(TypeError, match="keep names both s and w2 w: give each a name of its own"):
        step.run(w=one, g=one, keep={"s": "w", "w2": "w"})
    with pytest.raises(TypeError, match="out is a NumPy array for the result, not MaskedArray"):
        rho.compile("{⍵×2}")(one, out=np.ma.masked_array(np.zeros(3), [0, 1, 0]))
    with pytest.raises(TypeError, match="out is a NumPy array for the result, not tuple"):
        rho.compile("{⍵×2}")(one, out=(np.zeros(3),))


def _pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, _pickled])
def test_whatever_python_gets_can_be_pickled_and_copied(tmp_path: Path, again: Any) -> None:
    script = program(tmp_path, "input x : f64[n]\noutput a ← 1+x\noutput b ← 'abc'\noutput d ← ⎕date '2026-01-02'\n42\n")
    result, kept = (script.run(x=[1.0, 2.0], keep=keep) for keep in (None, "a b d"))
    with pytest.raises(rho.Rejected) as rejected:
        rho.compile("{⍵+'a'}")(1.0)
    values = [script, script.plan(n=2), script.bounds(n=2), script.types, rho.Session(), rho.check("1+1"), rejected.value]
    assert all(repr(again(value)) == repr(value) for value in values)
    assert again(script).run(x=[3.0])["a"] == 4 and str(again(rejected.value)) == str(rejected.value)
    there = again(result)
    assert (repr(there), there.printed, list(there)) == (repr(result), ("42",), ["a", "b", "d"])
    for name, resident in again(kept).resident.items():
        for array in (there[name], np.asarray(resident)):
            assert array.dtype == result[name].dtype and np.array_equal(array, result[name])
    moved = rho.ResidentArray([1.0])
    moved.move()
    with pytest.raises(ValueError, match="was moved"):
        copy.deepcopy(moved)
