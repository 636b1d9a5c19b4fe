"""Every status, exit code and code of refusal of `rho plan --instance`, each of them driven to happen once."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from rho.backend.schedule.problem import Status
from rho.lang.diagnostics.model import Code

from .conftest import Rho

HOME: dict[str, Any] = {"id": "h", "class": "cpu", "home": True}
FAR: dict[str, Any] = {"id": "g", "class": "gpu", "count": 2}


Edges: TypeAlias = tuple[tuple[str, str], ...]


def instance(*phases: dict[str, Any], edges: Edges = (), directives: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    named = [{"id": f"p{place}", "ticks": {"cpu": 4, "gpu": 2}, **phase} for place, phase in enumerate(phases)]
    return {"schema": "instance/1", "devices": [HOME, FAR], "phases": named, "directives": list(directives),
            "edges": [{"from": a, "to": b} for a, b in edges], **more}  # fmt: skip


TREE = instance(
    *({"ticks": {"cpu": 1}, "out_bytes": 4} for _ in range(63)), devices=[{**HOME, "mem": 20}],
    edges=tuple((f"p{2 * at + side + 1}", f"p{at}") for at in range(31) for side in (0, 1)),
)  # fmt: skip
LAYERS = instance(
    *({"ticks": {"cpu": 3 + at % 4, "gpu": 2 + at % 5}, "out_bytes": 3 + at % 3} for at in range(16)),
    edges=tuple((f"p{at}", f"p{4 * (at // 4 + 1) + (at + by) % 4}") for at in range(12) for by in (0, 1)),
    links=[{"src": "h", "dst": "g", "latency": 1, "bytes_per_tick": 2}],
)
READS = {"effect": True, "ticks": {"cpu": 1, "gpu": 1}}

OUTCOMES: list[tuple[Any, tuple[str, ...], int, str]] = [
    (instance({}), (), 0, "optimal"),
    (LAYERS, ("--fast",), 0, "gap"),
    (LAYERS, ("--fast", "--require-optimal"), 5, "SCH302"),
    (TREE, ("--fast",), 5, "aborted"),
    (instance({}, directives=("place p0 on h", "place p0 on g")), (), 3, "SCH101"),
    (instance({}, {}, edges=(("p0", "p1"),), directives=("p1 before p0",)), (), 3, "SCH102"),
    (instance({"out_bytes": 9}, devices=[{**HOME, "mem": 8}]), (), 3, "SCH103"),
    (instance({"ticks": {"cpu": 1}}, directives=("place p0 on g",)), (), 3, "SCH104"),
    (instance(READS, directives=("place p0 on g",)), (), 3, "SCH105"),
    (instance({}, directives=("deadline 1",)), ("--fast",), 3, "SCH106"),
    (instance({}, directives=("place p9 on h",)), (), 3, "SCH107"),
    (instance({}, {"id": "p0"}), (), 2, "SCH201"),
    (instance({"rows": 4}, directives=("split p0 rows over h g[0]", "keep p0 on g")), (), 3, "SCH202"),
    (instance({"rows": 4}, {"rows": 4}, edges=(("p0", "p1"),), directives=("p0 before p1",)), (), 0, "optimal"),
    (instance({"ticks": -1}), (), 2, "E705"),
    ("{", (), 2, "E705"),
]
OF_PROGRAMS = {Code.SCH203, Code.SCH204, Code.SCH301, Code.SCH303}
"""What only programs and their stored plans can have; see test_plan_refusals and the tests of plans."""


@pytest.mark.parametrize("number", range(len(OUTCOMES)))
def test_outcome(rho: Rho, tmp_path: Path, number: int) -> None:
    value, words, code, said = OUTCOMES[number]
    file = tmp_path / "i.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    ran = rho("plan", "--instance", str(file), *words)
    assert (ran.code, said in ran.out + ran.err) == (code, True), ran.out + ran.err


def test_every_status_exit_code_and_code_is_driven_to_happen() -> None:
    said = {word for _, _, _, word in OUTCOMES}
    assert said >= {status.value for status in Status if status is not Status.IMPOSSIBLE}
    assert {code for _, _, code, _ in OUTCOMES} == {0, 2, 3, 5}
    codes = {code for code in Code if re.fullmatch(r"SCH\d+", code.value)}
    assert {code.value for code in codes - OF_PROGRAMS} <= said
