"""Instances read: JSON with every fault at its path, STG and DOT liberally, devices from elsewhere; what is printed."""

from __future__ import annotations

import json
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from rho.backend.devices.cost_functions import Duplex
from rho.backend.schedule.instances.instance_json import requested_devices
from rho.backend.schedule.instances.solve_instance import read_instance, result_json, solve
from rho.backend.schedule.problem import Contention, Objective, Problem
from rho.lang.diagnostics.model import Refused

SMALL: dict[str, Any] = {
    "schema": "instance/1",
    "devices": [{"id": "cpu0", "class": "cpu", "home": True}, {"id": "gpu", "count": 2, "mem": 1000}],
    "links": [{"src": "cpu0", "dst": "gpu", "latency": 10, "bytes_per_tick": [3, 2], "duplex": "full", "group": "bus"}],
    "phases": [
        {"id": "a", "ticks": {"cpu": 4, "gpu": [[1, 1], [10, 3]]}, "rows": 10, "out_bytes": 80},
        {"id": "b", "ticks": {"cpu": 1}, "ready": 2},
        {"id": "print b", "ticks": {"cpu": 0}, "effect": True},
    ],
    "edges": [{"from": "a", "to": "b", "bytes": 40}, {"from": "b", "to": "print b"}],
    "objective": ["latency", "minimize syncs"],
}


def read(value: object, **options: Any) -> Problem:
    return read_instance("i.json", json.dumps(value), **options)


def changed(path: str, value: object) -> dict[str, Any]:
    """SMALL with one field set (or removed: `...`)."""
    made = deepcopy(SMALL)
    at: Any = made
    steps = [int(step) if step.isdigit() else step for step in path.split("/")]
    for step in steps[:-1]:
        at = at[step]
    if value is ...:
        del at[steps[-1]]
    elif isinstance(at, list) and steps[-1] == len(at):
        at.append(value)
    else:
        at[steps[-1]] = value
    return made


def test_what_the_fields_mean() -> None:
    problem = read(SMALL)
    assert problem.device_names() == ("cpu0", "gpu[0]", "gpu[1]")
    assert (problem.devices[1].kind, problem.devices[1].memory) == ("gpu", 1000)
    (link,) = problem.links
    assert (link.bytes_per_tick, link.duplex, link.group, link.occupied(4)) == (Fraction(3, 2), Duplex.FULL, "bus", 3)
    a, b, effect = problem.phases
    assert [a.ticks["cpu"].at(rows) for rows in (5, 10)] == [2, 4]  # a number is of the whole phase
    assert [a.ticks["gpu"].at(rows) for rows in (1, 2, 10)] == [1, 2, 3]
    assert (b.rows, b.ready, effect.home) == (0, 2, True)
    assert problem.objectives == (Objective.LATENCY, Objective.SYNCS)


FAULTS: list[tuple[str, object, str]] = [
    ("schema", "instance/2", 'schema: must be "instance/1"'),
    ("phases", ..., "`phases` is missing"),
    ("phases", {}, "phases: must be a list"),
    ("phases/0/ticks/cpu", 2.0, "phases[0].ticks.cpu: must be a whole number from 0, not 2.0"),
    ("phases/0/ticks/cpu", True, "phases[0].ticks.cpu: must be a whole number from 0, not true"),
    ("phases/0/ticks/cpu", -1, "phases[0].ticks.cpu: must be a whole number from 0"),
    ("phases/0/ticks/cpu", 1 << 60, "phases[0].ticks.cpu: must be a whole number from 0"),
    ("phases/0/ticks/gpu", [[1, 5], [4, 3]], "phases[0].ticks.gpu: ticks must not decrease"),
    ("phases/0/ticks/gpu", [[4, 5], [4, 6]], "phases[0].ticks.gpu: rows must increase"),
    ("phases/0/ticks/gpu", [[4, 5, 6]], "phases[0].ticks.gpu[0]: must be [rows, ticks]"),
    ("phases/0/ticks/gpu", [[0, 5]], "phases[0].ticks.gpu: a single point needs at least one row"),
    ("phases/0/ticks/gpu", [], "phases[0].ticks.gpu: a table needs at least one point"),
    ("phases/1/ticks/cpu", [[1, 5], [2, 7]], "phases[1].ticks.cpu: an atomic phase"),
    ("phases/1/ticks", {}, "phases[1].ticks: no class of device can run it"),
    ("phases/1/ticks", {"tpu": 4}, "phases[1].ticks: no device is of a class it speaks of: `tpu`"),
    ("phases/1/id", "a", "phases[1].id: `a` is the id of phases[0] too"),
    ("phases/1/id", "", "phases[1].id: must be a text"),
    ("phases/1/row", 3, "phases[1].row: unknown field; did you mean `rows`?"),
    ("phases/1/combine", {"ticks_per_shard": 1}, "phases[1].combine: needs `rows`"),
    ("phases/2/ticks", {"gpu": 1}, "phases[2].home: must run on home, and has no ticks for home's class"),
    ("edges/0/from", "aa", 'edges[0].from: there is no phase "aa"; did you mean `a`?'),
    ("edges/2", {"from": "b", "to": "a"}, "edges: the phases wait for each other: a → b → a"),
    ("edges/2", {"from": "a", "to": "a"}, "edges: the phases wait for each other: a → a"),
    ("edges/2", {"from": "a", "to": "b"}, "edges[2]: the same as edges[0]"),
    ("edges/0/ticks", 3, "edges[0]: says both `bytes` and `ticks`"),
    ("edges/1/ticks", 3, "edges[1].ticks: a delay needs a problem without links"),
    ("edges/1/halo", 3, "edges[1].halo: `b` has no rows"),
    ("devices/0/home", False, "devices: no device is home"),
    ("devices/1/home", True, "devices[1].home: devices[0] is home already"),
    ("devices/1/id", "cpu0", "devices[1].id: `cpu0` is the id of devices[0] too"),
    ("devices/1/count", 0, "devices[1].count: must be a whole number from 1"),
    ("devices", [], "devices: there is no device"),
    ("links/0/dst", "gpuu", "links[0].dst: there is no device `gpuu`; did you mean `gpu`?"),
    ("links/0/dst", "cpu0", "links[0]: joins `cpu0` to itself"),
    ("links/0/bytes_per_tick", [1, 0], "links[0].bytes_per_tick: must be [numerator, denominator]"),
    ("links/0/duplex", "ful", 'links[0].duplex: must be one of half, full, simplex, not "ful"; did you mean `full`?'),
    ("contention", "on", "contention: must be one of group, off"),
]


@pytest.mark.parametrize(("path", "value", "message"), FAULTS, ids=[path for path, _, _ in FAULTS])
def test_every_fault_has_its_path(path: str, value: object, message: str) -> None:
    with pytest.raises(Refused) as caught:
        read(changed(path, value))
    assert any(message in found.message for found in caught.value.diagnostics), str(caught.value)


def test_several_faults_are_reported_together() -> None:
    bad = changed("phases/0/ticks/cpu", 1.5)
    bad["links"][0]["latency"] = "x"
    bad["phases"][1]["rows"] = -3
    with pytest.raises(Refused) as caught:
        read(bad)
    assert len(caught.value.diagnostics) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema": "instance/1", "schema": "instance/1"}', "an object says `schema` twice"),
        ('{"a": NaN}', "NaN is not a number of JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": 1' + "0" * 5000 + "}", "too many digits"),
        ('{"a": }', "line 1, column 7: not JSON"),
        ("[]", "must be an object, not []"),
    ],
)
def test_texts_that_are_not_json(text: str, message: str) -> None:
    with pytest.raises(Refused, match=message.replace("[", r"\[")):
        read_instance("i.json", text)


LEAVES = st.none() | st.booleans() | st.integers(-3, 9) | st.text(max_size=3) | st.floats(allow_nan=False)
NAMES = st.sampled_from(["id", "ticks", "cpu", "rows", "from"])
VALUES = st.recursive(LEAVES, lambda each: st.lists(each, max_size=3) | st.dictionaries(NAMES, each, max_size=3), max_leaves=6)


@pytest.mark.long
@given(VALUES, st.sampled_from([path for path, _, _ in FAULTS]))
@settings(max_examples=200, deadline=None)
def test_nothing_breaks_the_reader(value: object, path: str) -> None:
    try:
        read(changed(path, value))
    except Refused as error:
        assert error.diagnostics


# ------------------------------------------------------------------ devices from elsewhere


def test_devices_replace_those_of_the_instance(tmp_path: Path) -> None:
    one_class = changed("phases/0/ticks", {"cpu": 4})
    assert read(one_class, devices=3).device_names() == ("p[0]", "p[1]", "p[2]")
    with pytest.raises(Refused, match="ticks are of the classes cpu, gpu"):
        read(SMALL, devices=3)
    file = tmp_path / "two.json"
    file.write_text(json.dumps({"devices": [{"id": "c", "class": "cpu", "home": True}], "links": []}))
    assert read(changed("edges/0/bytes", 3), devices=requested_devices(str(file))).device_names() == ("c",)
    assert read(SMALL, contention=Contention.OFF).contention is Contention.OFF


def test_a_profile_gives_devices_in_ticks() -> None:
    problem = read(changed("tick_ns", 1000), devices=requested_devices("workstation"))
    assert problem.tick_ns == 1000
    assert any(group.home for group in problem.devices)
    assert len(problem.links) >= 1


# ------------------------------------------------------------------ STG and DOT


STG = """# a comment
3

0 0 0
1   4 1 0    # after the entry
2 5 1 0

3 6 2 1 2
4 0 1 3
"""


def test_stg_with_dummies_comments_and_blank_lines() -> None:
    problem = read_instance("x.stg", STG, 2)
    assert [phase.id for phase in problem.phases] == ["0", "1", "2", "3", "4"]
    assert [phase.ticks["processor"].at(1) for phase in problem.phases] == [0, 4, 5, 6, 0]
    assert [(e.source, e.target) for e in problem.edges] == [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]
    assert read_instance("x.stg", STG.replace("\n3\n\n", "\n5\n\n"), 2) == problem  # dummies counted


def test_stg_with_communication() -> None:
    problem = read_instance("x.stg", "2\n0 4 0\n1 5 1 0 7\n", 2)
    assert [edge.ticks for edge in problem.edges] == [7]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no task"),
        ("7\n0 4 0\n", "line 1: must say how many tasks follow"),
        ("1\n0 4\n", "line 2: must be: id, time"),
        ("2\n0 4 0\n1 4 1 9\n", "line 3: there is no task 9"),
        ("2\n0 4 0\n0 4 0\n", "task 0 was there before"),
        ("1\n0 x 0\n", "line 2: `x` is not a whole number"),
        ("2\n0 4 1 1\n1 4 1 0\n", "wait for each other"),
    ],
)
def test_stg_faults(text: str, message: str) -> None:
    with pytest.raises(Refused, match=message):
        read_instance("x.stg", text, 2)


def test_stg_needs_processors() -> None:
    with pytest.raises(Refused, match="give --devices N"):
        read_instance("x.stg", STG)


DOT = """// tasks
digraph "g \\"1\\"" {
  graph [TargetSystem = "Homogeneous-3", Modes="a long (\\
text)"];
  node [Weight=2]; a; "b c" [label="x", Weight="5"]
  d [Weight=7.0]
  a -> "b c" -> d [Weight=3]; /* both */
  a -> d
}
"""


def test_dot_attributes_chains_defaults_and_quotes() -> None:
    problem = read_instance("x.dot", DOT)
    assert problem.device_names() == ("p[0]", "p[1]", "p[2]")
    assert {phase.id: phase.ticks["processor"].at(1) for phase in problem.phases} == {"a": 2, "b c": 5, "d": 7}
    assert [(e.source, e.target, e.ticks) for e in problem.edges] == [(0, 1, 3), (1, 2, 3), (0, 2, 0)]
    assert problem.contention is Contention.OFF


@pytest.mark.parametrize(
    ("system", "first", "other", "count"), [("Heterogeneous-4-2", 200, 400, 4), ("Heterogeneous-8-3", 200, 600, 8)]
)
def test_dot_of_unequal_processors(system: str, first: int, other: int, count: int) -> None:
    problem = read_instance("x.dot", DOT.replace("Homogeneous-3", system))
    assert len(problem.device_names()) == count
    kinds = [group.kind for group in problem.devices for _ in range(group.count)]
    ticks = [problem.phases[0].ticks[kind].at(1) for kind in kinds]
    assert ticks == [first] + [other] * (count - 1)
    assert problem.edges[0].ticks == 300


def test_dot_devices_given_win() -> None:
    problem = read_instance("x.dot", DOT.replace("Homogeneous-3", "Heterogeneous-4-2"), 2)
    assert problem.device_names() == ("p[0]", "p[1]")
    assert problem.phases[0].ticks["processor"].at(1) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DOT.replace("Homogeneous-3", "Torus-3"), "`Torus-3` is not Homogeneous-P or Heterogeneous-P-F"),
        ("digraph g { a; }", "no TargetSystem is given"),
        ("graph g { a -- b }", "`digraph` is wanted"),
        ("digraph g { a -> }", "a name is wanted here"),
        ("digraph g { a [Weight=1", "wanted here, not `the end`"),
        ('digraph g { TargetSystem="Homogeneous-2"; a [Weight=-1] }', "the Weight of task `a` is `-1`"),
        ('digraph g { TargetSystem="Homogeneous-2"; a }', "task `a` has no Weight"),
        ('digraph g { TargetSystem="Homogeneous-2"; a [Weight=1]; a -> b [Weight=1] }', "there is no task `b`"),
        ('digraph g { TargetSystem="Homogeneous-2"; a [Weight=1]; a [Weight=2] }', "task `a` was there before"),
        ("digraph g { subgraph s { a } }", "subgraphs are not read"),
        ("digraph g { a < }", "cannot be read at `< }`"),
    ],
)
def test_dot_faults(text: str, message: str) -> None:
    with pytest.raises(Refused) as caught:
        read_instance("x.dot", text)
    assert message in str(caught.value)


def test_a_bound_beyond_all_numbers_is_null() -> None:
    value = {
        "schema": "instance/1", "devices": [{"id": "h", "home": True}, {"id": "g"}, {"id": "far"}],
        "links": [{"src": "h", "dst": "g"}],
        "phases": [{"id": "x", "ticks": {"h": 1}, "out_bytes": 8}, {"id": "y", "ticks": {"far": 1}}],
        "edges": [{"from": "x", "to": "y"}],
    }  # fmt: skip
    made = result_json(solve(read(value)))
    assert (made["status"], made["lower_bound"], made["proof"]["lower_bound"]) == ("impossible", None, None)
