"""An index outside its axis is told in the same words on every path: the reference, Python's words, native ones, machine code of
regions, streams, several devices."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from share import drawing, seeds

import rho
from rho import backend
from rho.backend.cpu.backend import CpuBackend
from rho.backend.distributed.buffers import QueueClock
from rho.backend.jit import tiering
from rho.backend.reference.interpreter import interpret
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.vm.executor import execute_plan
from rho.backend.vm.values import from_numpy
from rho.lang.diagnostics.model import RunFailed
from rho.shell.pipeline import Session
from rho.tests.backend.quick import split_evenly
from rho.tests.backend.test_programs_on_devices import run, ticks_of, topology
from rho.tests.harness.tiers import checked
from rho.tests.streams.running import loaded

pytestmark = pytest.mark.long

X = np.arange(20.0).reshape(4, 5)
GOOD = np.arange(2000) % 4
BAD = GOOD.copy()
BAD[1217] = 7
IN_A_LOOP = {
    "one of two axes": ("{x←⍺ ⋄ k←⍵ ⋄ {⍵+x[k[⍺];2]}⍣(⍳≢k) ⊢ 0.0}", "of length 4: [7;2]"),
    "the other": ("{x←⍉⍺ ⋄ k←⍵ ⋄ {⍵+x[2;k[⍺]]}⍣(⍳≢k) ⊢ 0.0}", "of length 4: [2;7]"),
    "what is replaced": ("{k←⍵ ⋄ {s←⍵ ⋄ s[1;k[⍺]]←7.0 ⋄ s}⍣(⍳≢k) ⊢ ⍉⍺}", "of length 4: [1;7]"),
    "both": ("{x←⍺ ⋄ k←⍵ ⋄ {⍵+x[k[⍺];1+k[⍺]]}⍣(⍳≢k) ⊢ 0.0}", "of length 4: [7;8]"),
    "both are replaced": ("{k←⍵ ⋄ {s←⍵ ⋄ s[k[⍺];1+k[⍺]]←7.0 ⋄ s}⍣(⍳≢k) ⊢ ⍺}", "of length 4: [7;8]"),
    "three axes": ("{x←1 4 5⍴⍺ ⋄ k←⍵ ⋄ {⍵+x[0;k[⍺];3]}⍣(⍳≢k) ⊢ 0.0}", "of length 4: [0;7;3]"),
    "picked": ("{x←⍺ ⋄ k←⍵ ⋄ {⍵+(k[⍺],2)⊃x}⍣(⍳≢k) ⊢ 0.0}", "of length 4: [7;2]"),
    "a row at numbers": ("{x←⍺ ⋄ k←⍵ ⋄ {⍵+x[k[⍺];0 2]}⍣(⍳≢k) ⊢ 0.0 0.0}", "of length 4: [7;]"),
    "a vector": ("{x←⍺[;0] ⋄ k←⍵ ⋄ {⍵+x[k[⍺]]}⍣(⍳≢k) ⊢ 0.0}", "of length 4"),
}


@pytest.mark.parametrize("mode", ["off", "auto", "always"])
@pytest.mark.parametrize("name", IN_A_LOOP)
def test_in_loops(name: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, where = IN_A_LOOP[name]
    monkeypatch.setenv(tiering.SWITCH, mode)
    function = rho.compile(text)
    for runs in (1, 4) if mode == "off" else (1, 4, 40):  # native words come after some runs, and not without kernels
        for _ in range(runs):
            function(X, GOOD)
        with pytest.raises(rho.RunFailed) as caught:
            function(X, BAD)
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.code.name == "E310"
        assert diagnostic.message == f"index 7 (counted from 0) is outside an axis {where}"
        assert [label.message for label in diagnostic.labels] == ["in iteration 1,217 (counted from 0)"]


PROGRAMS = {
    "one of two axes": ("x[k;1]", "of length 4: [7;1]"),
    "the other": ("(⍉x)[1;k]", "of length 4: [1;7]"),
    "both, the last first": ("x[k;k]", "of length 5: [;7]"),
    "cells along an axis": ("k⌷[1]⍉x", "of length 4: [;7]"),
    "what is replaced": ("{y←⍉⍵ ⋄ y[0 1;k]←7.0 ⋄ y} x", "of length 4: [0;7]"),
    "a number before": ("x[k[1217];k]", "of length 4: [7;0]"),
    "items of both axes": ("{y←⍵ ⋄ y[k;k]←7.0 ⋄ y} x", "of length 5: [0;7]"),
    "the first item of both": ("{y←⍵ ⋄ y[⌽k[⍳1218];k]←7.0 ⋄ y} x", "of length 4: [7;0]"),
    "a vector": ("x[;0][k]", "of length 4"),
}
TEXT = "input x : f64[4 5]\ninput k : i64[n]\ny ← "


@pytest.mark.parametrize("name", PROGRAMS)
def test_at_once(name: str, tmp_path: Path) -> None:
    expression, where = PROGRAMS[name]
    message = f"index 7 (counted from 0) is outside an axis {where}"
    core = checked(TEXT + expression + "\noutput y")
    assert core is not None
    data = {"x": X, "k": BAD}
    for path, array in data.items():
        np.save(tmp_path / f"{path}.npy", array)
    bound = backend.load(core, data)
    with pytest.raises(RunFailed) as said:
        interpret(core, {name: from_numpy(value) for name, value in data.items()}, {})
    assert message in str(said.value)
    for mode in ("off", "always"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(tiering.SWITCH, mode)
            with pytest.raises(RunFailed) as one:
                backend.execute(backend.plan(bound), bound, data)
            assert [d.message for d in one.value.diagnostics] == [message]
    chance = drawing(name)
    made = problem_of(bound, topology(chance), ticks_of=ticks_of(chance))
    answer = split_evenly(made.problem)
    assert answer is not None
    with pytest.raises(RunFailed) as many:
        run(plan_of(made, answer), bound, data)
    assert [d.message for d in many.value.diagnostics] == [message]


def test_in_a_stream(tmp_path: Path) -> None:
    wide = np.tile(GOOD, 500)
    wide[750_000] = 7
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "k.npy", wide)
    program = loaded("input x : f64[4 5]\ninput k : i64[n]\ny ← +/x[k;1]\noutput y", tmp_path, 4_000_000, write=False)
    with pytest.raises(RunFailed) as caught:
        Session().run(program)
    assert [d.message for d in caught.value.diagnostics] == ["index 7 (counted from 0) is outside an axis of length 4: [7;1]"]


@pytest.mark.parametrize("expression", ["x[k;1]", "+/x[k;1]", "x[;0][k]", "4⌷[1]⍉x[k;]"])
@pytest.mark.parametrize("pace", QueueClock)
def test_the_first_item_is_told_whichever_device_met_one_first(expression: str, pace: QueueClock) -> None:
    bad = np.arange(20_000) % 4
    bad[10::500] = 100 + np.arange(40)
    data = {"x": X, "k": bad}
    core = checked(TEXT + expression + "\noutput y")
    assert core is not None
    bound = backend.load(core, data)
    for seed in seeds(6, least=2):
        chance = random.Random(seed)
        made = problem_of(bound, topology(chance), ticks_of=ticks_of(chance))
        answer = split_evenly(made.problem)
        assert answer is not None
        plan = plan_of(made, answer)
        with pytest.raises(RunFailed, match="index 100 "):
            execute_plan(plan, bound, data, {device.id: CpuBackend() for device in plan.devices}, pace=pace)


@pytest.mark.parametrize("mode", ["off", "always"])
def test_the_first_item_is_told_whichever_thread_met_one_first(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, mode)
    bad = np.arange(200_000) % 4
    bad[10_000::500] = 100 + np.arange(380)
    for text in ("{⍺[⍵;1]}", "{+/2×⍺[⍵;1]}", "{x←⍺ ⋄ {k←⍵ ⋄ {⍵+x[k;1]}⍣2 ⊢ 0.0}¨⍵}", "{4+⌸(⍵ ⋄ f64 ⍵)}"):
        function = rho.compile(text)
        arguments = (X, bad) if "⍺" in text else (bad,)
        for _ in range(12):
            with pytest.raises(rho.RunFailed, match="index 100 "):
                function(*arguments)

SPANS = {
    "items of two arrays": "{⍵+x[p[⍺]]+y[q[⍺]]}⍣(⍳≢p) ⊢ 0.0",
    "an item of a matrix": "m←3 3⍴x ⋄ {⍵+m[p[⍺];q[⍺]]}⍣(⍳≢p) ⊢ 0.0",
    "an item is replaced": "{s←⍵ ⋄ s[p[⍺];q[⍺]]←1.0 ⋄ s}⍣(⍳≢p) ⊢ 3 3⍴x",
    "items of vectors": "y[p]+x[q]",
    "conversions in a loop": "{⍵+(u8 p×100)+(u8 q×100)}⍣3 ⊢ q",
    "conversions of numbers in a loop": "{⍵+(u8 p[⍺]×100)+u8 q[⍺]×100}⍣(⍳≢p) ⊢ 0",
}


@pytest.mark.parametrize("mode", ["off", "auto", "always"])
@pytest.mark.parametrize("name", SPANS)
def test_the_index_that_failed_is_marked(name: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, mode)
    text = "{x←⍺[0;] ⋄ y←⍺[1;] ⋄ p←⍵[0;] ⋄ q←⍵[1;] ⋄ " + SPANS[name] + "}"
    function, body = rho.compile(text), text.index(SPANS[name])
    for row, name in enumerate("pq"):
        indices = np.tile([0, 1, 2], (2, 1))
        function(X[:2, :3], indices)
        indices[row, 2] = 7
        with pytest.raises(rho.RunFailed) as caught:
            function(X[:2, :3], indices)
        (diagnostic,) = caught.value.diagnostics
        after = text[diagnostic.span.start :].removeprefix("u8 ").removeprefix("(")
        assert diagnostic.span.start > body and after.startswith(name)


@pytest.mark.parametrize("mode", ["off", "always"])
def test_indices_are_counted_as_the_program_does(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, mode)
    for expression, said in (
        ("x[k;2]", "index 8 (counted from 1) is outside an axis of length 4: [8;2]"),
        ("{y←⍵ ⋄ y[1;k]←7.0 ⋄ y} ⍉x", "index 8 (counted from 1) is outside an axis of length 4: [1;8]"),
        ("{⍵+x[k[⍺];2]}⍣(⍳≢k) ⊢ 0.0", "index 8 (counted from 1) is outside an axis of length 4: [8;2]"),
        ("(0×⊢)@k ⊢ x", "index 8 (counted from 1) is outside an axis of length 4: [8;]"),
        ("4 +⌸ (k ⋄ 1)", "index 8 (counted from 1) is outside an axis of length 4"),
    ):
        core = checked("⎕IO←1\n" + TEXT + expression + "\noutput y")
        assert core is not None
        data = {"x": X, "k": BAD + 1}
        bound = backend.load(core, data)
        with pytest.raises(RunFailed) as slow:
            interpret(core, {name: from_numpy(value) for name, value in data.items()}, {})
        with pytest.raises(RunFailed) as quick:
            backend.execute(backend.plan(bound), bound, data)
        assert [d.message for d in slow.value.diagnostics] == [d.message for d in quick.value.diagnostics] == [said]
