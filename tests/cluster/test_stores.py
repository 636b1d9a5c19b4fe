"""Random programs whose inputs and outputs lie in files that all devices see, and workers that are lost meanwhile."""

from __future__ import annotations

import random
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import seeds

import rho
from rho import backend
from rho.backend.cluster.cluster_transport import Process
from rho.backend.cluster.wire import Lost, shipment
from rho.backend.devices.profile import STORE, DeviceProfile, LinkProfile, Profile
from rho.backend.io.external_arrays import StoredInput, stored_input
from rho.backend.io.reading import InputSpec
from rho.backend.reference.interpreter import interpret
from rho.backend.schedule.plan.plan import PlannedFile
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.schedule.program_facts.partitioning import output_store_name
from rho.backend.schedule.verify.plan_checks import check_plan
from rho.backend.vm.values import to_numpy
from rho.lang.diagnostics.model import RhoError
from rho.shell.execution.clusters import outputs_written_in_place
from rho.shell.execution.params import UNRESTRICTED
from rho.tests.backend.quick import split_evenly, with_modes
from rho.tests.backend.test_programs_on_devices import random_modes, same_bits, ticks_of, topology
from rho.tests.cluster.residents import Spawned, Threads, cluster_of, run_on
from rho.tests.cluster.stored import NOWHERE, SHARED, by_name, cluster_plan, failure, loaded, readers
from rho.tests.graph.test_random import program
from rho.typechecker.elements import Kind

pytestmark = pytest.mark.long


def with_files(profile: Profile) -> Profile:
    """The profile with a store that all devices read."""
    store = DeviceProfile("files", STORE, STORE, "", paths=("/",))
    links = [LinkProfile("files", device.name, latency_ns=1) for device in profile.devices]
    return replace(profile, devices=(*profile.devices, store), links=(*profile.links, *links))


def saved(folder: Path, data: dict[str, Any], kinds: dict[str, Kind]) -> dict[str, StoredInput]:
    """The arrays of a program that can be read in boxes, in files, in either order of the axes."""
    found: dict[str, StoredInput] = {}
    for place, (name, array) in enumerate(data.items()):
        path = str(folder / f"{name}.npy")
        if array.dtype.kind != "U":
            np.save(path, np.asfortranarray(array) if place % 2 else array)
            made = stored_input(path, InputSpec(kinds[name], array.ndim, NOWHERE), array.shape)
            if made is not None:
                found[name] = made
    return found


@pytest.mark.parametrize("seed", seeds(100))
def test_random_programs(threads: Threads, tmp_path: Path, seed: int) -> None:
    build, chance = program(seed), random.Random(seed)
    core, data = build.core(), {name: to_numpy(value) for name, value in build.data.items()}
    try:
        interpret(core, build.data, {})
    except RhoError:
        return
    bound = backend.load(core, data)
    alone = backend.execute(backend.plan(bound), bound, data)
    stored = saved(tmp_path, data, {entry.name: core.types[entry.value].element.kind for entry in core.inputs})
    endings = ["npy", "zarr.zip"]
    targets = {entry.name: str(tmp_path / f"{entry.name}-out.{chance.choice(endings)}") for entry in core.outputs}
    sinks = outputs_written_in_place(core, bound, targets, UNRESTRICTED)
    there, given = replace(bound, stores=dict.fromkeys((*stored, *sinks), "files")), ticks_of(chance)
    here = lambda phase, group, cut, ns: None if group.id == "files" else given(phase, group, cut, ns)  # noqa: E731
    made = problem_of(there, with_files(topology(chance)), ticks_of=here)
    for answer in (split_evenly(made.problem), with_modes(made.problem, random_modes(made.problem, chance))):
        assert answer is not None
        plan = plan_of(made, answer)
        assert not check_plan(plan, there)
        begun = {name: one.anew() for name, one in sinks.items()}
        for one in begun.values():
            one.begin()
        found = run_on(threads, plan, there, data | stored | begun)
        outputs = {}
        for name, shown in found.outputs.items():
            one = begun.get(output_store_name(name))
            if one is not None:
                one.end()
                shown = shown._replace(value=one.sink.values())
            outputs[name] = shown
        assert same_bits(found._replace(outputs=outputs), alone)
        for one in begun.values():
            one.sink.discard()


def test_a_plan_is_written_once() -> None:
    plan = backend.plan(backend.load(program(3).core(), {name: to_numpy(value) for name, value in program(3).data.items()}))
    plan = replace(plan, program=(PlannedFile("p.rho", ""),))
    assert shipment(plan, ["fuse"]) is shipment(plan, {"fuse"}) is not shipment(plan, ())


def test_workers_who_are_left_keep_their_names_and_read_files(files: Path) -> None:
    spawned = Spawned(2)
    try:
        lossy = cluster_of(spawned, 2)
        home, told = lossy.connection.cluster, list[str]()
        attempt, home.tell = home.attempt, told.append

        def killed(*given: Any) -> Any:
            home.attempt = attempt
            spawned.signal(0, signal.SIGKILL)
            return attempt(*given)

        home.attempt = killed
        lost, left = (loaded(files, SHARED.replace("split y rows 1:1 over w0 w1", f"place y on {name}")) for name in ("w0", "w1"))
        code, message = failure(lambda: lost.run(cluster=lossy))[0]
        assert code == "SCH107" and "w0" in message
        assert len(told) == 1 and [one.name for one in home.members] == ["w1"]
        assert by_name(left.run(cluster=lossy)) == by_name(left.run())
        assert readers(cluster_plan(left)) == {"w1"}
        home.close()
    finally:
        spawned.close()


def test_a_block_that_names_a_lost_worker_says_that_it_was_lost(cluster: rho.Cluster, files: Path) -> None:
    home = cluster.connection.cluster
    attempt = home.attempt

    def lost(*given: Any) -> Any:
        home.attempt = attempt
        raise Lost(Process(2), "it does not answer")

    home.attempt, home.tell = lost, lambda words: None
    for _ in range(2):
        with pytest.raises(rho.RhoError) as raised:
            loaded(files, SHARED).run(cluster=cluster)
        (one,) = raised.value.diagnostics
        assert one.code == "SCH107" and "it does not answer; those that are left are w0" in one.notes[-1]
