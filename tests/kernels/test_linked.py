"""Linked calls: the same values, errors and freshness as running the plan, whatever is given, on any threads."""

from __future__ import annotations

import array
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from values import is_within

import rho
from rho.backend.jit import tiering
from rho.backend.vm import bytecode, executor, run_state, runtime
from rho.backend.vm.bytecode import NOT_APPLICABLE
from rho.shell.embedding.functions import Function

pytestmark = [pytest.mark.skipif(runtime.native() is None, reason="no native calls in this Python"), pytest.mark.long]

ENOUGH = 8
"""Calls after which a function is linked, in these tests."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are compiled when they are first asked for."""
    monkeypatch.setattr(tiering, "COMPILE_NANOSECONDS", 1.0)


def linked(text: str, *arguments: object) -> Function:
    """A function that has been called often enough to be linked for these arguments."""
    function = rho.compile(text)
    for _ in range(ENOUGH):
        function(*arguments)
    assert function._latest(*arguments) is not NOT_APPLICABLE, text
    return function


@pytest.fixture
def unlinked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(executor, "native_program", lambda *_: None)
    yield


def plainly(text: str, *arguments: object) -> Any:
    """What the plan itself gives."""
    (found,) = each_plainly(text, [arguments])
    return found


def each_plainly(text: str, calls: Iterable[Sequence[object]]) -> list[Any]:
    """What the plan itself gives for arguments of the same types and shapes: one plan serves them all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor, "native_program", lambda *_: None)
        patch.setattr(tiering, "mode", lambda: tiering.Mode.OFF)
        function = rho.compile(text)
        return [function(*arguments) for arguments in calls]


def same(left: Any, right: Any) -> bool:
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    left, right = np.asarray(left), np.asarray(right)
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


DYADS = ["{2×⍺+⍵}", "{+/⍺×⍵}", "{√+/(⍺-⍵)*2}", "{(⍺+⍵ ⋄ +/⍺ ⋄ ⌈/⍵)}", "{⍺×(+/⍵)÷≢⍵}", "{(⍺>⍵)∧⍵>0}", "{+/⍺⌊⌽⍵}", "{(⌽⍺)-⍵}"]
MONADS = ["{((((⍵×3)+2)×⍵)+1)×⍵}", "{(+⌿⍵)÷≢⍵}", "{(+⌿⍵ ⋄ ⌈⌿⍵)}", "{{⍵-(+⌿⍵)÷≢⍵}⍤1 ⊢ ⍵}", "{×/1+⍵}", "{i64 ⍵>0}", "{⍉⍵+1}"]


@pytest.mark.parametrize("size", [1, 2, 10, 257, 5000, 100_000])
@pytest.mark.parametrize("text", DYADS)
def test_of_two_vectors(text: str, size: int) -> None:
    for dtype in (np.float64, np.float32, np.int64, np.int32):
        rng = np.random.default_rng(size)
        x, y = (rng.integers(-9, 9, size).astype(dtype) for _ in range(2))
        try:
            expected = plainly(text, x, y)
        except rho.Rejected:  # a type that the function is not for
            continue
        assert same(linked(text, x, y)(x, y), expected), dtype


@pytest.mark.parametrize("text", MONADS)
def test_layouts(text: str) -> None:
    whole = np.random.default_rng(2).standard_normal((48, 64))
    whole[0, 0] = -0.0
    frozen = whole.copy()
    frozen.flags.writeable = False
    shifted = np.frombuffer(b"abc" + whole.tobytes(), np.uint8)[3:].view(np.float64).reshape(whole.shape)
    repeated = np.broadcast_to(whole[0], (5, 64))
    for given in (whole, frozen, whole[::2], whole[:, ::3], whole[::-1, ::-1], whole.T, repeated, shifted):
        assert same(linked_or_not(text, given), plainly(text, given)), given.strides


def linked_or_not(text: str, *arguments: object) -> Any:
    """Some layouts are not linked; the values are the same."""
    function = rho.compile(text)
    for _ in range(ENOUGH):
        found = function(*arguments)
    return found


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (2.5, np.arange(4.0)), (np.arange(4.0), 2.5), (3, np.arange(4)), (2.0, 3.0), (3, 4), (True, 2), (np.float64(1.5), 2.5),
        ([1.0, 2.0], [3.0, 4.0]), (array.array("d", [1.0, 2.0]), np.ones(2)), (np.ones(()), np.ones(3)), (-1, np.arange(3)),
        (np.ones(0), np.ones(0)), (np.ones((0, 3)), np.ones((0, 3))), (2**62, np.arange(3)), (float("nan"), np.ones(2)),
    ],
)  # fmt: skip
def test_things_that_are_taken_for_arrays(left: object, right: object) -> None:
    for text in ("{2×⍺+⍵}", "{⍺×⍵-1}"):
        assert same(linked_or_not(text, left, right), plainly(text, left, right))


def test_numbers_are_read_anew() -> None:
    function = linked("{⍺×⍵}", 2.0, np.arange(3.0))
    assert function(4.0, np.arange(3.0)).tolist() == [0.0, 4.0, 8.0]
    assert function(4, np.arange(3.0)).tolist() == [0.0, 4.0, 8.0]
    whole = linked("{⍺×⍵}", 2, np.arange(3))
    assert whole(-1, np.arange(3)).tolist() == [0, -1, -2]
    with pytest.raises((TypeError, rho.RhoError)):
        whole(2**64, np.arange(3))


def test_other_arguments_after_linking() -> None:
    x = np.arange(5.0)
    function = linked("{2×⍺+⍵}", x, x)
    assert function(x.astype(np.float32), x.astype(np.float32)).dtype == np.float32
    assert function(np.arange(6.0), np.arange(6.0)).shape == (6,)
    assert function(x[::-1], x).tolist() == [8.0] * 5
    assert function(x.astype(">f8"), x).tolist() == (4 * x).tolist()
    assert function(np.ma.array(x), x).tolist() == (4 * x).tolist()
    with pytest.raises(rho.Rejected):
        function(x, np.arange(6.0))
    with pytest.raises(TypeError):
        function(x, object())
    with pytest.raises(TypeError):
        function(x, x, x)
    with pytest.raises(TypeError):
        function()
    assert function(x, x).tolist() == (4 * x).tolist()


@pytest.mark.parametrize(("text", "bad"), [("{⌊⍵}", np.nan), ("{i64 ⍵}", 0.5), ("{⌊⍵×2}", 1e300)])
@pytest.mark.parametrize("size", [4, 60_000])
def test_failures_are_worded_as_ever(text: str, bad: float, size: int) -> None:
    good = np.arange(float(size))
    function = linked(text, good)
    wrong = good.copy()
    wrong[size - 1] = bad
    with pytest.raises(rho.RunFailed) as caught:
        function(wrong)
    with pytest.raises(rho.RunFailed) as expected:
        plainly(text, wrong)
    assert caught.value.diagnostics == expected.value.diagnostics
    assert same(function(good), plainly(text, good))


@pytest.mark.parametrize("size", [5, 50_000])
def test_results_are_fresh(size: int) -> None:
    x, y = np.arange(float(size)), np.ones(size)
    function = linked("{(⍺+⍵ ⋄ ⍺-⍵)}", x, y)
    results = [array for _ in range(3) for array in function(x, y)]
    places = [x, y, *results]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(places) for b in places[:i])
    results[0][:] = -1.0
    assert results[2].tolist() == (x + 1).tolist() and x[1] == 1.0
    assert all(array.flags.writeable and array.flags.c_contiguous for array in results)


VIEWS = ["{⍵}", "{⌽⍵}", "{⍉⍵}", "{2↑⍵}", "{1↓⍵}", "{⊃⍵}", "{⍴⍵}", "{≢⍵}", "{3 4 5}", "{(⍵ ⋄ ⍵)}", "{t←⍵+1 ⋄ (t ⋄ ⍉t ⋄ t)}",
         "{1↓⍵×2}", "{⍉⍵×2}", "{⌽⍉⍵+1}", "{⍵[1;]}", "{⍵[;0]×2}", "{(3 4 ⋄ 3 4 ⋄ ⍵)}"]  # fmt: skip


@pytest.mark.parametrize("text", VIEWS)
def test_what_only_shows_others(text: str) -> None:
    for given in (np.arange(12.0).reshape(3, 4), np.arange(24.0).reshape(3, 8)[:, ::2], np.arange(12).reshape(4, 3).T):
        function = linked(text, given)
        first, second = function(given), function(given)
        assert same(first, plainly(text, given)) and same(first, second)
        rows = [given, *(x for r in (first, second) for x in (r if isinstance(r, tuple) else (r,)))]
        assert not any(np.shares_memory(a, b) for i, a in enumerate(rows) for b in rows[:i])
        assert all(array.flags.writeable for array in rows)


LOOPS = ["{{⍵×0.5}⍣5 ⊢ ⍵}", "{{1+⍵×⍵}⍣3 ⊢ ⍵-1}", "{(a b) ← {(a b) ← ⍵ ⋄ (a+b ⋄ a-b)}⍣4 ⊢ (⍵ ⋄ ⍵×2) ⋄ a×b}"]


@pytest.mark.parametrize("size", [1, 7, 3000, 30_000])
@pytest.mark.parametrize("text", LOOPS)
def test_loops(text: str, size: int) -> None:
    for dtype in (np.float64, np.float32):
        given = np.random.default_rng(size).standard_normal(size).astype(dtype)
        assert same(linked(text, given)(given), plainly(text, given))


def test_a_state_that_is_written_over_is_still_read() -> None:
    given = np.random.default_rng(1).standard_normal(20_000)
    assert is_within(plainly(LOOPS[2], given), 32 * given * given)


@pytest.mark.parametrize("text", ["{⍵}", "{⌽⍵}", "{⍉⍵}"])
def test_views_are_copied(text: str) -> None:
    given = np.arange(6.0).reshape(2, 3)
    function = rho.compile(text)
    for _ in range(ENOUGH):
        assert not np.shares_memory(function(given), given)


def test_memory_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(40.0)
    large = np.ones(run_state.MIN_POOLED // 8)
    function, other = linked("{(⍵+1 ⋄ +/⍵ ⋄ ⌈/⍵)}", x), linked("{⍵×2}", large)
    types = [np.dtype(np.float64), x, NOT_APPLICABLE, run_state.pooled_empty]
    gc.collect()  # of what earlier tests left, whose buffers come back to the pool
    kept = run_state.free_bytes()
    before, counts = sys.getallocatedblocks(), [sys.getrefcount(one) for one in types]
    for _ in range(20_000):
        function(x)
        function(x[::2])
        function._latest(5)
    for _ in range(200):
        other(large)
    assert abs(sys.getallocatedblocks() - before) < 5_000
    assert all(abs(sys.getrefcount(one) - count) < 50 for one, count in zip(types, counts, strict=True))
    assert run_state.free_bytes() <= max(kept, 2 * run_state.MIN_POOLED + 4096)


def test_many_threads_call_one_function() -> None:
    x = np.arange(60_000.0)
    function = linked("{(⍺×⍵ ⋄ +/⍺×⍵)}", 1.0, x)
    wrong: list[object] = []

    def work(own: int) -> None:
        for turn in range(60):
            factor = float(own * 100 + turn)
            product, total = function(factor, x)
            if product[-1] != factor * x[-1] or total != plain[factor]:
                wrong.append(factor)

    alone = rho.compile("{(⍺×⍵ ⋄ +/⍺×⍵)}")
    plain = {float(own * 100 + turn): alone(float(own * 100 + turn), x)[1] for own in range(4) for turn in range(60)}
    threads = [threading.Thread(target=work, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("text", ["{+/⍵}", "{⌈/⍵}", "{×/1+⍵×0.00001}", "{(+/⍵ ⋄ ⌊/⍵)}", "{⍵×⍵+1}"])
@pytest.mark.parametrize("size", [70_001, 4096 * 20])
def test_bits_do_not_depend_on_the_team(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(3).standard_normal(size)
    expected = plainly(text, x)
    for threads in (1, 2, 3, 5):
        monkeypatch.setattr("rho.shell.embedding.functions.cores", lambda threads=threads: threads)
        function = linked(text, x)
        assert all(same(function(x), expected) for _ in range(20)), threads


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_a_team_of_its_own() -> None:
    x = np.arange(200_000.0)
    function = linked("{+/⍵×2}", x)
    expected = function(x)
    child = os.fork()
    if child == 0:
        good = all(function(x) == expected for _ in range(50)) and rho.compile("{+/⍵}")(x) == x.sum()
        os._exit(0 if good else 1)
    for _ in range(50):
        assert function(x) == expected
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_layouts_are_linked_each_and_not_without_end() -> None:
    function = rho.compile("{,⍵×2}")
    whole = np.arange(4.0 * 40 * 40).reshape(40, 2, 2, 40)
    layouts = [whole[:, 0, 0, :], whole[:, 0, 0, :].T, *(whole[:, 0, 0, :][::step] for step in range(1, 40))]
    for _ in range(ENOUGH):
        for given in layouts:
            assert same(function(given), plainly_cached("{,⍵×2}", given))
    programs = [plan._program for ready in function._prepared_calls.values() for plan in ready.free]
    counts = [made.words[bytecode.HEADER_WORDS + 1] for made in programs if made is not None]
    assert max(counts) > 1 and all(count <= bytecode.MAX_LAYOUTS for count in counts)


def plainly_cached(text: str, given: Any) -> Any:
    assert text == "{,⍵×2}"
    return (given * 2).reshape(-1)


def test_interrupts_and_lack_of_memory_in_the_middle_of_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    given = np.ones(run_state.MIN_POOLED // 8)
    function = linked("{(⍵+1 ⋄ ⍵×3)}", given)
    run_state.trim()

    def interrupted(wanted: int | None = None) -> None:
        raise KeyboardInterrupt

    def exhausted(wanted: int | None = None) -> None:
        raise MemoryError

    before = sys.getrefcount(given)
    with monkeypatch.context() as patch:
        patch.setattr(run_state, "trim", interrupted)
        with pytest.raises(KeyboardInterrupt):
            function(given)
    with monkeypatch.context() as patch:
        patch.setattr(run_state, "trim", exhausted)
        with pytest.raises(rho.RunFailed) as caught:
            function(given)
        assert caught.value.diagnostics[0].code == "E702"
    del caught
    assert sys.getrefcount(given) <= before + 2
    assert function(given)[1].tolist() == (given * 3).tolist()


ENDS = """
import threading, numpy as np, rho
from rho.backend.jit import tiering as policy
policy.COMPILE_NANOSECONDS = 1.0
x = np.arange(200_000.0)
f = rho.compile("{+/⍵×⍵+1}")
for _ in range(20): f(x)
begun = threading.Semaphore(0)
def work():
    while True:
        f(x)
        begun.release()
for _ in range(3): threading.Thread(target=work, daemon=True).start()
for _ in range(9): begun.acquire()
"""


def test_a_process_ends_in_the_middle_of_calls() -> None:
    done = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
