"""Every profile that Rho ships, and so every one measured like the defaults, has a time for whatever a program may contain."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rho import backend
from rho.backend.devices.phase_cost import missing_operation
from rho.backend.devices.this_machine import load_profile
from rho.backend.graph import traverse
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.phases import LibraryPhase, Structured
from rho.tests.backend.test_memory import INPUTS, PROGRAMS
from rho.tests.harness.tiers import checked


def bound_programs() -> Iterator[tuple[str, BoundGraph]]:
    for program in PROGRAMS:
        used = {name: INPUTS[name] for name in INPUTS if name in program.replace("⌈", "").replace("⌊", "")}
        declared = "".join(f"input {name} : {type}\n" for name, (type, _) in used.items())
        core = checked(declared + program.replace(" ⋄ ", "\n"))
        assert core is not None, program
        yield program, backend.load(core, {name: value for name, (_, value) in used.items()})


@pytest.fixture(scope="module")
def graphs() -> list[tuple[str, BoundGraph]]:
    return list(bound_programs())


@pytest.mark.parametrize("name", ["default", "default-compiled", "workstation", "laptop", "h100", "cluster40", "fleet10000"])
def test_no_phase_is_without_a_table_at_home(name: str, graphs: list[tuple[str, BoundGraph]]) -> None:
    home = next(device for device in load_profile(name).devices if device.kind != "gpu")
    missing = {
        found: program
        for program, bound in graphs
        for phase in traverse.all_phases(bound.graph)
        if isinstance(phase, Structured | LibraryPhase) and (found := missing_operation(phase, bound, home)) is not None
    }
    assert not missing
