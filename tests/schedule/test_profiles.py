"""Profiles as data: reading and writing, tables between their points, devices of a problem."""

from __future__ import annotations

import dataclasses
import os
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from rho.backend.devices.cost_functions import Duplex
from rho.backend.devices.profile import CPU, GRAIN, Calibration, CostTable, DeviceProfile, LinkProfile, Power, Profile
from rho.backend.devices.profile_toml import canonical, fingerprint, read_profile
from rho.backend.devices.this_machine import (
    HostFacts,
    keep_calibration,
    load_profile,
    machine_profile,
    merged,
    profile_text,
    shipped_names,
)
from rho.backend.schedule.instances.instance_json import to_devices
from rho.lang.diagnostics.model import Refused
from rho.lang.diagnostics.render import Ink, render_text
from rho.lang.syntax.source import Source

BAD = Path(__file__).parent / "bad_profiles"

MINIMAL = 'schema = "device-profile/1"\n[[device]]\nname = "cpu0"\nclass = "cpu"\n'


STORES = """
[[store]]
name = "disk"
paths = ["/data", "/data/new"]
[[store]]
name = "tape"
paths = ["/data/old", "/one.npy"]
[[link]]
from = "disk"
to = "cpu0"
latency_ns = 10
[[link]]
from = "cpu0"
to = "tape"
latency_ns = 10
"""


def test_a_store_has_the_files_that_it_names_and_those_in_the_nearest_folder() -> None:
    profile = read_profile("stores.toml", MINIMAL + STORES)
    assert read_profile("again", canonical(profile)) == profile
    lies = {"/data/a": "disk", "/data/old/a": "tape", "/data/older": "disk", "/one.npy": "tape", "/one.npy2": None}
    assert {path: profile.store_of(path) for path in lies} == lies
    assert [group.kind for group in to_devices(profile)[0]] == ["cpu", "store/disk", "store/tape"]


# ------------------------------------------------------------------------------------------ tables


def test_a_table_is_exact_at_its_points_level_below_and_proportional_above() -> None:
    table = CostTable((100, 1000, 10_000), (50, 200, 3000))
    assert [table.at(size) for size in (100, 1000, 10_000)] == [50 * GRAIN, 200 * GRAIN, 3000 * GRAIN]
    assert table.at(1) == table.at(99) == 50 * GRAIN
    assert table.at(20_000) == 6000 * GRAIN
    assert table.at(0) == 0


def test_between_two_points_a_table_is_straight_on_log_log_paper() -> None:
    table = CostTable((100, 10_000), (100, 1_000_000))  # ns = size² / 100
    for size in (150, 1000, 5000):
        assert abs(table.at(size) / GRAIN - size * size / 100) < 0.002 * size * size / 100


def tables(*, rising: bool) -> st.SearchStrategy[CostTable]:
    points = st.dictionaries(st.integers(1, 10**12), st.integers(0, 10**12), min_size=1, max_size=6)
    return points.map(lambda found: CostTable(tuple(sorted(found)), tuple(sorted(found.values())) if rising
                                          else tuple(found[size] for size in sorted(found))))  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(tables(rising=True), st.integers(1, 10**13), st.integers(1, 10**13))
def test_a_larger_size_never_costs_less(table: CostTable, one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert table.at(low) <= table.at(high)


@settings(max_examples=200, deadline=None)
@given(tables(rising=False), st.data())
def test_between_two_points_a_time_lies_between_theirs(table: CostTable, data: st.DataObject) -> None:
    if len(table.size) < 2:
        return
    place = data.draw(st.integers(0, len(table.size) - 2))
    size = data.draw(st.integers(table.size[place], table.size[place + 1]))
    low, high = sorted(table.ns[place : place + 2])
    assert low * GRAIN <= table.at(size) <= high * GRAIN


# ------------------------------------------------------------------------------- reading and writing


def test_the_smallest_profile_has_home_and_defaults() -> None:
    profile = read_profile("p.toml", MINIMAL)
    assert profile.home.name == "cpu0" and profile.home.memory is None and profile.home.backend == CPU
    assert profile.calibration == Calibration() and profile.links == ()


def test_all_fields_are_read_and_written_again() -> None:
    text = (
        'schema = "device-profile/1"\npower_off_unused = true\n\n[[device]]\nname = "cpu0"\nclass = "cpu"\nbackend = "cpu"\n'
        'node = "n0"\nhome = true\npower = { idle_w = 12.5, active_w = 140.0, source = "rapl" }\nnuma = 1\n'
        'queues = { compute = 1, copy = 2 }\n\n[[device]]\nname = "gpu"\nclass = "gpu"\nbackend = "cuda"\nnode = "n0"\n'
        "count = 4\nthreads = 2\nmemory_bytes = 8589934592\nmemory_reserve = 0.1\nlaunch_ns = 6200\nsync_ns = 9000\n"
        'host_dispatch_ns = 25000\nalloc_ns = 30\n[device.op."add.f64"]\nsize = [2400, 24000]\nns = [600, 1300]\n\n'
        '[[link]]\nfrom = "cpu0"\nto = "gpu"\nlatency_ns = 9000\nsize = [4096, 1048576]\nns = [9400, 98000]\n'
        'duplex = "full"\ngroup = "nic[i]"\nenergy_pj_per_byte = 60.5\n\n[fingerprint]\ncalibrated = 2026-11-21\n'
        'residual_p10 = 0.1\nresidual_p90 = 0.19\ncpu = "some \\"name\\""\nthreads = 1\n'
    )
    profile = read_profile("p.toml", text)
    assert canonical(profile) == text
    gpu, link = profile.devices[1], profile.links[0]
    assert gpu.memory == 7730941132 and profile.home.power == Power(12_500, 140_000, profile.home.power.source)  # type: ignore[union-attr]
    assert link.energy_pj_per_byte == Fraction(121, 2) and link.duplex is Duplex.FULL
    assert profile.calibration.calibrated == date(2026, 11, 21)


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_profiles_are_read_and_written_alike(name: str) -> None:
    profile = load_profile(name)
    again = read_profile("again", canonical(profile))
    assert again == profile and canonical(again) == canonical(profile) and fingerprint(again) == fingerprint(profile)
    groups, links = to_devices(profile, 1000)
    assert sum(group.home for group in groups) == 1 and len(links) == len(profile.links)


def test_ten_thousand_devices_are_five_groups() -> None:
    groups, _ = to_devices(load_profile("fleet10000"))
    assert len(groups) == 5 and sum(group.count for group in groups) == 10_000


def test_the_fingerprint_is_blind_to_the_date_alone() -> None:
    profile = load_profile("workstation")
    dated = dataclasses.replace(profile, calibration=Calibration(date(2026, 1, 1)))
    assert fingerprint(dated) == fingerprint(profile)
    slower = dataclasses.replace(profile, devices=(dataclasses.replace(profile.devices[0], launch_ns=1), *profile.devices[1:]))
    assert fingerprint(slower) != fingerprint(profile)


def test_a_mark_of_byte_order_is_no_fault(tmp_path: Path) -> None:
    text = profile_text("laptop")[1]
    (tmp_path / "marked.toml").write_text(text, encoding="utf-8-sig")
    assert fingerprint(load_profile(str(tmp_path / "marked.toml"))) == fingerprint(load_profile("laptop"))


@pytest.mark.parametrize("path", sorted(BAD.glob("*.toml")), ids=lambda path: path.stem)
def test_bad_profiles_say_what_is_wrong(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    with pytest.raises(Refused) as caught:
        read_profile(path.name, text)
    assert {found.code for found in caught.value.diagnostics} == {"E705"}
    said = render_text(caught.value.diagnostics, {path.name: Source(path.name, text)}, ink=Ink.PLAIN)
    golden = path.with_suffix(".txt")
    if os.environ.get("RHO_GOLDEN") == "write":
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["", "\x00", "a = [", "schema = 1", "[device]\n", "device = 3", "fingerprint = 1", "[[" * 500])
def test_no_text_breaks_the_reader(text: str) -> None:
    with pytest.raises(Refused):
        read_profile("p.toml", text)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(MINIMAL)), st.sampled_from(list('[]"=.{}\n\\#1ax')))
def test_a_character_more_is_read_or_refused(place: int, character: str) -> None:
    try:
        profile = read_profile("p.toml", MINIMAL[:place] + character + MINIMAL[place:])
    except Refused as refused:
        assert all(found.code == "E705" for found in refused.diagnostics)
    else:
        assert profile.home.name


def test_a_name_that_is_no_profile() -> None:
    with pytest.raises(Refused) as caught:
        load_profile("wrkstation")
    assert caught.value.diagnostics[0].code == "E704" and "did you mean `workstation`" in caught.value.diagnostics[0].message


# ------------------------------------------------------------------------------- devices of a problem


def test_unequal_devices_of_a_class_are_classes_of_their_own() -> None:
    assert [group.kind for group in to_devices(load_profile("workstation"))[0]] == ["cpu", "gpu/gpu0", "gpu/gpu1"]
    fast = DeviceProfile("a", "cpu", home=True, ops={"add.f64": CostTable((8,), (1,))})
    alike = Profile((fast, dataclasses.replace(fast, name="b", home=False, memory_bytes=10)))
    assert [group.kind for group in to_devices(alike)[0]] == ["cpu", "cpu"]


def test_times_become_ticks_rounded_up_and_rates_bytes_a_tick() -> None:
    cpu = DeviceProfile("cpu0", "cpu", home=True, sync_ns=1500, memory_bytes=1000, memory_reserve=Fraction(1, 10))
    link = LinkProfile("cpu0", "cpu0", 2500, CostTable((100, 4000), (2600, 4500)))
    groups, links = to_devices(Profile((cpu,), (link,)), 1000)
    assert groups[0].sync == 2 and groups[0].memory == 900
    assert links[0].latency == 3 and links[0].bytes_per_tick == 2000 and links[0].occupied(4001) == 3


# ------------------------------------------------------------------------------------- this machine

FACTS = HostFacts(4, 1 << 30, "Some Processor")


def test_an_uncalibrated_machine_has_the_default_tables(tmp_path: Path) -> None:
    profile = machine_profile(FACTS, "numpy", "2.0", tmp_path)
    assert profile.calibration.calibrated is None and profile.home.memory_bytes == 1 << 30
    assert profile.home.threads == 4 and "add.f64" in profile.home.ops


def test_a_calibration_is_found_by_what_it_was_made_for(tmp_path: Path) -> None:
    bare = machine_profile(FACTS, "numpy", "2.0", tmp_path)
    device = dataclasses.replace(bare.home, launch_ns=77)
    dated = dataclasses.replace(bare.calibration, calibrated=date(2026, 1, 2))
    made = dataclasses.replace(bare, devices=(device,), calibration=dated)
    kept = keep_calibration(made, tmp_path)
    assert machine_profile(FACTS, "numpy", "2.0", tmp_path) == made
    for other in (machine_profile(FACTS, "llvm 1", "2.0", tmp_path), machine_profile(FACTS, "numpy", "2.1", tmp_path),
                  machine_profile(HostFacts(5, 1 << 30, "Some Processor"), "numpy", "2.0", tmp_path)):  # fmt: skip
        assert other.calibration.calibrated is None
    more = machine_profile(HostFacts(4, 1 << 31, "Some Processor"), "numpy", "2.0", tmp_path)
    assert more.home.launch_ns == 77 and more.home.memory_bytes == 1 << 31
    kept.write_text("damaged", encoding="utf-8")
    assert machine_profile(FACTS, "numpy", "2.0", tmp_path).calibration.calibrated is None


def test_a_process_with_some_of_the_cores_uses_the_calibration_with_all(tmp_path: Path) -> None:
    bare = machine_profile(FACTS, "numpy", "2.0", tmp_path)
    ops = {"team.f64": CostTable((100, 8000), (150, 2000)), "call.f64": CostTable((1,), (7,))}
    dated = dataclasses.replace(bare.calibration, calibrated=date(2026, 1, 2))
    keep_calibration(dataclasses.replace(bare, devices=(dataclasses.replace(bare.home, ops=ops),), calibration=dated), tmp_path)

    def known(cores: int, present: int = 4) -> Profile:
        return machine_profile(dataclasses.replace(FACTS, cores=cores, present=present), "numpy", "2.0", tmp_path)

    assert [known(cores).home.ops["team.f64"].ns for cores in (4, 2, 1)] == [(150, 2000), (100, 4000), (100, 8000)]
    assert known(1).calibration.calibrated == date(2026, 1, 2) and known(1).home.threads == 1
    assert known(1).home.ops["call.f64"] == ops["call.f64"], "what one thread does takes as long"
    assert known(1, 1).calibration.calibrated is None and known(5, 4).calibration.calibrated is None


def test_refining_takes_the_mean_where_both_measured() -> None:
    def calibrated(table: CostTable) -> Profile:
        return Profile((DeviceProfile("cpu0", "cpu", home=True, ops={"add.f64": table}),))

    both = merged(calibrated(CostTable((10, 20), (100, 200))), calibrated(CostTable((10, 30), (200, 300))))
    assert both.home.ops["add.f64"] == CostTable((10, 30), (150, 300))


@pytest.mark.parametrize("name", ["dask", "reference", "null"])
def test_back_ends_that_are_gone_name_their_successor(name: str) -> None:
    with pytest.raises(Refused) as told:
        read_profile("p.toml", f'schema = "device-profile/1"\n\n[[device]]\nname = "c"\nclass = "cpu"\nbackend = "{name}"\n')
    assert f'not "{name}"; processors are `cpu`' in told.value.diagnostics[0].message
