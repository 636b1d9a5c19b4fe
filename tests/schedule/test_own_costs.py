"""Costs of the user's own: two numbers in place of tables, and functions that write a profile."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from rho.backend.devices.op_tables import SIZES, profile_from
from rho.backend.devices.phase_cost import missing_operation, phase_ticks
from rho.backend.devices.profile import GRAIN, CostTable, DeviceProfile, Profile, Roofline
from rho.backend.devices.profile_toml import canonical, read_profile
from rho.lang.diagnostics.model import Refused
from rho.shell.console.standard_streams import Console
from rho.shell.main import main

from .test_cost_model import bound, ns

ROOF = Roofline(2 * 10**12, 4 * 10**9)


def roofed(roof: Roofline = ROOF, **ops: CostTable) -> Profile:
    named = {name.replace("__", "."): table for name, table in ops.items()}
    return Profile((DeviceProfile("cpu0", "cpu", home=True, roofline=roof, ops=named),))


def only(text: str, **shapes: tuple[int, ...]) -> tuple[object, object]:
    graph = bound(text, **shapes)
    phases = [phase for phase in graph.graph.phases if type(phase).__name__ in ("Structured", "LibraryPhase")]
    return graph, phases[-1]


@pytest.mark.parametrize("rate", [7, 10**6, 1_234_567_890, 5 * 10**10, 10**12, 3 * 10**14])
def test_a_rate_is_a_table_in_proportion(rate: int) -> None:
    table = CostTable.of_rate(rate)
    for size in (10**6, 10**9, 123_456_789_012):
        exact = size * 10**9 / rate
        assert abs(table.at(size) / GRAIN - exact) <= exact * 0.001 + table.ns[0]


def test_what_moves_is_bound_by_the_bandwidth() -> None:
    graph, phase = only("input x : f64[n]\ninput y : f64[n]\noutput z ← x+y\n", x=(10**6,), y=(10**6,))
    assert ns(graph, phase, roofed()) == 24 * 10**6 // 4


def test_what_computes_is_bound_by_the_operations() -> None:
    graph, phase = only("input x : f64[n n]\noutput z ← x+.×x\n", x=(500, 500))
    assert ns(graph, phase, roofed()) == 2 * 500**3 // 2000
    graph, phase = only("input x : f64[n]\noutput z ← " + "1+x×" * 30 + "x\n", x=(10**6,))
    slow = Roofline(10**9, 10**12)
    assert ns(graph, phase, roofed(slow)) >= 50 * 10**6, "each application is counted"


def test_a_table_goes_before_the_roofline() -> None:
    graph, phase = only("input x : f64[n]\ninput y : f64[n]\noutput z ← x+y\n", x=(1000,), y=(1000,))
    assert ns(graph, phase, roofed(add__f64=CostTable((1, 10**6), (77, 77 * 10**6)))) == 77 * 24_000


def test_nothing_is_missing_where_a_roofline_is() -> None:
    program = "input x : f64[n]\noutput g ← ⍋x\noutput s ← +\\x\noutput e ← *x\noutput i ← ⌹(∘.×⍨x)+⍨∘.=⍨x\n"
    graph = bound(program, x=(30,))
    for phase in graph.graph.phases:
        assert missing_operation(phase, graph, roofed().home) is None
    bare = Profile((DeviceProfile("cpu0", "cpu", home=True),))
    assert any(missing_operation(phase, graph, bare.home) for phase in graph.graph.phases)


def test_more_rows_never_take_less_and_bounds_hold() -> None:
    graph, phase = only("input x : f64[n 50]\noutput z ← +/*x\n", x=(4000, 50))
    ticks = phase_ticks(phase, graph, roofed(), "cpu0", axis=0, rows=4000)
    assert ticks is not None
    times = [ticks.at(rows) for rows in range(1, 4001, 97)]
    assert times == sorted(times)
    assert ticks.min_ticks(100, 300) <= min(ticks.at(rows) for rows in range(100, 301))


def test_a_roofline_is_written_and_read_again() -> None:
    text = canonical(roofed())
    assert "roofline = { flops = 2000000000000, bandwidth = 4000000000 }" in text
    assert read_profile("p.toml", text) == roofed()


# ------------------------------------------------------------------------------------------ functions

CODE = """\
def add(size):
    return 600 + size / 20

def profile():
    device = {"name": "cpu0", "class": "cpu", "memory_reserve": 0.1,
              "op": {"add.f64": add, "exp.f64": {"size": [1000, 10**6], "ns": lambda size: 5 * size}}}
    return {"device": [device]}
"""


def rho(*words: str) -> tuple[int, str]:
    err = io.StringIO()
    return int(main(words, Console(io.StringIO(), err, io.StringIO(), {}))), err.getvalue()


def written(tmp_path: Path, code: str) -> str:
    (tmp_path / "costs.py").write_text(code, encoding="utf-8")
    return str(tmp_path / "costs.py")


def test_a_function_becomes_a_table(tmp_path: Path) -> None:
    home = profile_from(written(tmp_path, CODE)).home
    assert home.ops["add.f64"].size == SIZES and home.ops["add.f64"].ns[0] == 604
    assert home.ops["exp.f64"] == CostTable((1000, 10**6), (5000, 5 * 10**6))


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("size / 20", "size / 0", "ZeroDivisionError: division by zero", 2),
        ("def profile():", "def profil():", "TypeError: there is no function `profile()`", 1),
        ("return {\"device\": [device]}", "return 3", "`profile()` gives int, not a dict", 1),
        ("return 600 + size / 20", "return 'long'", 'device[0].op.add.f64: at size 64 it says "long"', 1),
        ("return 600 + size / 20", "return -size", "at size 64 it says -64, not a number of nanoseconds", 1),
        ("return 600 + size / 20", "return 1e300", "at size 64 it says ", 1),
        ("[1000, 10**6]", "[1000, 'b']", 'device[0].op.exp.f64.size: must be whole numbers, not [1000, "b"]', 1),
        ('"cpu0"', "object()", "device[0].name: object has no place in a profile", 1),
        ('"cpu0"', "3", "device[0].name: must be a text, not 3", 1),
        ('"add.f64"', '"ad.f64"', "device[0].op.ad.f64: no operation of this name is known", 1),
        ("def profile():", "def profile(:", "SyntaxError: ", 4),
        ("device = {", "raise SystemExit(0)\n    device = {", "SystemExit: 0", 5),
        ("return {\"device\": [device]}", "a = []; a.append(a); return {'device': a}", "nested too deeply", 1),
    ],
)  # fmt: skip
def test_code_that_says_no_profile(tmp_path: Path, old: str, new: str, message: str, line: int) -> None:
    assert old in CODE
    path = written(tmp_path, CODE.replace(old, new, 1))
    with pytest.raises(Refused) as refused:
        profile_from(path)
    found = refused.value.diagnostics[0]
    text = Path(path).read_text(encoding="utf-8")
    assert found.code == "E705" and message in found.message
    assert text[: found.span.start].count("\n") + 1 == line


def test_code_runs_only_where_it_is_allowed(tmp_path: Path) -> None:
    path = written(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w').close()\n" + CODE)
    code, said = rho("devices", "--from", path)
    assert code == 2 and "add --allow-code to allow it" in said and not (tmp_path / "ran").exists()
    code, _ = rho("devices", "--from", path, "--allow-code", "-o", str(tmp_path / "mine.toml"))
    assert code == 0 and (tmp_path / "ran").exists()
    assert read_profile("mine.toml", (tmp_path / "mine.toml").read_text()) == profile_from(path)
    assert rho("devices", "--allow-code")[0] == 2
    assert rho("devices", "--from", path, "--devices", "laptop", "--allow-code")[0] == 2
    assert rho("devices", "--from", path, "--allow-code", "-o", path)[0] == 2
    assert (tmp_path / "costs.py").read_text().startswith("open")
    assert rho("devices", "--from", str(tmp_path / "none.py"), "--allow-code")[0] == 4


def test_a_profile_from_code_is_planned_with(tmp_path: Path) -> None:
    rho("devices", "--from", written(tmp_path, CODE), "--allow-code", "-o", str(tmp_path / "mine.toml"))
    (tmp_path / "p.rho").write_text("x ← 1.5×⍳1000\ny ← x+x\n+/y\n", encoding="utf-8")
    assert rho("plan", str(tmp_path / "p.rho"), "--devices", str(tmp_path / "mine.toml"), "--fast")[0] == 0
